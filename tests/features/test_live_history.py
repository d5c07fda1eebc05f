"""What `LiveHistory` tells, by what `features.History` tells of the finished tables."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from birthmark.data.ingest.lives import update
from birthmark.data.lives import tables
from birthmark.data.samples import DAYS
from birthmark.data.schema import FILES, NAMES
from birthmark.data.traces.reader import open_trace
from birthmark.features import CREATES, HISTORY_BYTES, History
from birthmark.predictor.control.outcomes import USES
from birthmark_native import HistoryKeeper, LiveHistory, SnapshotError
from tests.builders.operations import (
    FILE,
    GUARDED,
    NOENT,
    anything,
    batch,
    create,
    lookup,
    op,
    remove,
    rename,
)

MAX_KEYS = 1_000_000
SUBJECTS = ("file", "name")
SECOND = 1_000_000
WHO = ("server", "dir_fh", "name")

Row = dict[str, Any]


def live_history(**parameters: int) -> LiveHistory:
    return LiveHistory(HistoryKeeper(MAX_KEYS), HistoryKeeper(MAX_KEYS), **parameters)


@dataclass
class Emitted:
    """All that a live history emitted."""

    files: list[pa.RecordBatch]
    names: list[pa.RecordBatch]
    births: list[pa.RecordBatch]
    outcomes: list[pa.RecordBatch]

    def take(self, live: LiveHistory) -> bool:
        """Take what there is; return whether there were rows of lives."""
        rows = live.take_files(), live.take_names()
        self.files.append(rows[0])
        self.names.append(rows[1])
        self.births.append(live.take_births())
        self.outcomes.append(live.take_outcomes())
        return any(row.num_rows for row in rows)

    def lives(self, subject: str) -> pa.Table:
        batches, schema = (self.files, FILES) if subject == "file" else (self.names, NAMES)
        columns = [pa.RecordBatch.from_arrays(each.columns, schema=schema) for each in batches]
        return pa.Table.from_batches(columns)

    def of(self, subject: str, batches: list[pa.RecordBatch]) -> list[Row]:
        rows = [row for each in batches for row in each.to_pylist()]
        return [row for row in rows if row["subject"] == subject]

    def events(self) -> list[list[Row]]:
        return [self.of(s, rows) for rows in (self.births, self.outcomes) for s in SUBJECTS]


def nothing() -> Emitted:
    return Emitted([], [], [], [])


def followed(batches: Iterable[pa.RecordBatch], **parameters: int) -> Emitted:
    """Return all that a live history emits for operations, batch by batch."""
    live, emitted = live_history(**parameters), nothing()
    for operations in batches:
        live.update(operations)
        emitted.take(live)
    finish(live, emitted)
    return emitted


def finish(live: LiveHistory, emitted: Emitted) -> None:
    live.finish()
    while emitted.take(live):
        pass


def cut(operations: pa.RecordBatch, sizes: Sequence[int]) -> list[pa.RecordBatch]:
    """Return operations in batches of these sizes, over and over."""
    batches, start = [], 0
    while start < len(operations):
        size = sizes[len(batches) % len(sizes)]
        batches.append(operations.slice(start, size))
        start += size
    return batches


def histories_live(emitted: Emitted, subject: str) -> Counter[tuple[Any, ...]]:
    births = emitted.of(subject, emitted.births)
    return Counter((*(b[c] for c in WHO), b["time"], b["history"]) for b in births)


def histories_after(lives: pa.Table) -> Counter[tuple[Any, ...]]:
    table = lives.append_column("history", History(MAX_KEYS).follow(lives))
    rows = table.filter(pc.is_valid(table["history"])).to_pylist()
    return Counter((*(row[c] for c in WHO), row["born"], row["history"]) for row in rows)


def sensible(seed: int, count: int) -> list[Row]:
    """Operations as a server could answer them, many at one instant, on few names."""
    chance = random.Random(seed)
    there: dict[tuple[str, bytes], bytes] = {}
    rows, now = [], 0.0
    for number in range(count):
        now += chance.choice([0, 0, 0, 0.25, 1, 5])
        server = chance.choice(["b", "a"])
        mine = [name for owner, name in there if owner == server]
        name = b"n%d.%s" % (chance.randrange(9), chance.choice([b"c", b"o"]))
        about: Row = {"server": server, "reply_time": now, "uid": chance.choice([1, 2])}
        about |= {"client": chance.choice(["c1", "c2"])}
        if name not in mine:
            fh = b"F%d" % number
            about |= {"set_mode": 0o600, "nlink": 1, "size": 0, "ftype": FILE, "how": GUARDED}
            rows.append(create(now, name, fh, **about))
            there[server, name] = fh
            continue
        old = chance.choice(mine)
        fh = there[server, old]
        match chance.choice(["write", "read", "remove", "rename", "lookup"]):
            case "write":
                rows.append(
                    op("write", now, fh, count=chance.choice([1, 20_000]), offset=0, **about)
                )
            case "read":
                rows.append(op("read", now, fh, reply_count=5, **about))
            case "remove":
                rows.append(remove(now, old, **about))
                del there[server, old]
            case "rename" if old != name:
                rows.append(rename(now, old, name, **about))
                there[server, name] = there.pop((server, old))
            case _:
                rows.append(lookup(now, old, fh, **about))
    return rows


def differences(emitted: Emitted, subject: str) -> tuple[int, int, int]:
    """Return the number of births in the table, of those not emitted, and of those only emitted."""
    live, after = histories_live(emitted, subject), histories_after(emitted.lives(subject))
    return after.total(), (after - live).total(), (live - after).total()


def test_each_birth_has_the_history_of_the_finished_tables():
    operations = pq.read_table(DAYS[0]).slice(0, 12_000)
    emitted = followed(operations.to_batches(5_000))
    for subject, lives in zip(SUBJECTS, tables(operations.to_batches(5_000)), strict=True):
        assert emitted.lives(subject).equals(lives)
        births, missing, strange = differences(emitted, subject)
        assert births > 500
        assert (missing, strange) == (0, 0)


@pytest.mark.deep
@pytest.mark.parametrize("day", DAYS)
def test_on_the_whole_samples_each_birth_has_the_same_history(day):
    emitted = followed(pq.read_table(day).to_batches(10_000))
    for subject in SUBJECTS:
        births, missing, strange = differences(emitted, subject)
        assert births > 3000
        assert (missing, strange) == (0, 0)


@settings(max_examples=10)
@given(st.integers(0, 1 << 32), st.sampled_from([0, 3, 200_000]))
def test_births_and_outcomes_of_one_instant_come_in_the_order_of_history(seed, max_live):
    emitted = followed([batch(*sensible(seed, 150))], max_live=max_live)
    for subject in SUBJECTS:
        assert histories_live(emitted, subject) == histories_after(emitted.lives(subject))


@settings(max_examples=10)
@given(
    st.integers(0, 1 << 32),
    st.sampled_from([anything, sensible]),
    st.lists(st.integers(1, 60), min_size=1, max_size=5),
    st.sampled_from([0, 10, 200_000]),
)
def test_batches_of_any_size_emit_the_same(seed, made, sizes, max_live):
    operations = batch(*made(seed, 250))
    whole = followed([operations])
    parts = followed(cut(operations, sizes), max_live=max_live)
    assert parts.events() == whole.events()
    assert whole.events()[0]


@settings(max_examples=8)
@given(
    st.integers(0, 1 << 32),
    st.sampled_from([anything, sensible]),
    st.integers(1, 7),
    st.sampled_from([0, 10, 200_000]),
)
def test_a_snapshot_after_any_batch_continues_undisturbed(
    tmp_path_factory, seed, made, at, max_live
):
    batches = cut(batch(*made(seed, 240)), [30])
    whole = followed(batches, max_live=max_live)
    path = tmp_path_factory.mktemp("saved") / "live"
    live, emitted = live_history(max_live=max_live), nothing()
    for operations in batches[:at]:
        live.update(operations)
    live.save(path)
    live = LiveHistory.load(path)
    for operations in batches[at:]:
        emitted.take(live)
        live.update(operations)
    finish(live, emitted)
    assert emitted.events() == whole.events()
    for subject in SUBJECTS:
        rows = [sorted(map(repr, each.lives(subject).to_pylist())) for each in (emitted, whole)]
        assert rows[0] == rows[1]


@pytest.mark.deep
def test_a_sample_saved_and_loaded_between_batches_emits_the_same(tmp_path):
    batches = pq.read_table(DAYS[1]).to_batches(9_000)
    whole = followed(batches, max_live=2_000)
    live, emitted = live_history(max_live=2_000), nothing()
    for operations in batches:
        live.update(operations)
        live.save(tmp_path / "live")
        live = LiveHistory.load(tmp_path / "live")
        emitted.take(live)
    finish(live, emitted)
    assert emitted.events() == whole.events()
    for subject in SUBJECTS:
        rows = [Counter(map(repr, each.lives(subject).to_pylist())) for each in (emitted, whole)]
        assert rows[0] == rows[1]


def outcomes(*rows: Row, **parameters: int) -> list[list[Any]]:
    """Return the outcomes of files: seconds, number, fact, and its details."""
    emitted = followed([batch(*rows)], **parameters)
    found = emitted.of("file", emitted.outcomes)
    about = ("mark", "over", "life", "size", "reads", "writes", "bytes_written")
    return [
        [
            row["time"].timestamp(),
            row["id"],
            row["fact"],
            *(row[c] for c in about if row[c] is not None),
        ]
        for row in found
    ]


def made(time: float, name: bytes, **more: Any) -> Row:
    """Return a create whose reply comes at that time."""
    known = {"ftype": FILE, "nlink": 1, "how": GUARDED, "size": 0, "reply_time": time}
    return create(time, name, b"F" + name, **known | more)


@pytest.mark.parametrize("max_live", [1, 100], ids=["spilled", "in memory"])
def test_marks_and_use_are_emitted_when_due(max_live: int):
    writes = [
        op("write", at, b"Fa", offset=0, count=count, reply_time=at)
        for at, count in ((2, 9), (6.5, 20), (31, 7), (31.5, 50))
    ]
    others = [made(3, b"b"), made(7, b"c")]
    rows = [made(1, b"a"), writes[0], others[0], writes[1], others[1], *writes[2:]]
    events = outcomes(*rows, op("getattr", 32, b"dir", reply_time=32), max_live=max_live)
    assert [event for event in events if event[1] == 0] == [
        [2, 0, "mark", 1, False],
        [6, 0, "mark", 5, False],
        [6, 0, "young", 9, 0, 1],
        [31, 0, "mark", 30, False],
        [31, 0, "used", 20, 0, 3, 36],
    ]


def test_the_use_of_a_file_that_is_no_longer_used_is_that_of_its_row():
    emitted = followed(pq.read_table(DAYS[0]).to_batches(9_000))
    lives = emitted.lives("file").to_pylist()
    files = {(row["born"], row["dir_fh"], row["name"]): row for row in lives}
    births = emitted.of("file", emitted.births)
    rows = {row["id"]: files.get((row["time"], row["dir_fh"], row["name"])) for row in births}
    outcomes = [row for row in emitted.of("file", emitted.outcomes) if row["fact"] == "used"]
    found = [(used, row) for used in outcomes if (row := rows[used["id"]])]
    idle = [(used, row) for used, row in found if row["last_seen"] <= used["time"]]
    assert 100 < len(idle) < len(found)
    for column, use in USES.items():
        assert [used[use] for used, _ in idle] == [row[column] for _, row in idle]


def test_a_death_emits_the_remaining_marks_and_the_use():
    write = op("write", 2, b"Fa", offset=0, count=9, reply_time=2)
    gone = remove(3, b"a", reply_time=3)
    assert outcomes(made(1, b"a"), write, gone) == [
        [2, 0, "mark", 1, False],
        [3, 0, "mark", 5, True],
        [3, 0, "mark", 30, True],
        [3, 0, "died", 2 * SECOND, 9, 0, 1, 9],
        [3, 0, "young", 9, 0, 1],
    ]


def test_a_death_at_the_instant_of_a_mark_is_within_it():
    events = outcomes(made(1, b"a"), remove(2, b"a", reply_time=2))
    assert events[0] == [2, 0, "mark", 1, True]


def test_a_file_whose_end_was_missed_is_lost_and_counts_as_alive_as_it_does_in_the_tables():
    rows = [made(1, b"a"), lookup(1.5, b"a", None, status=NOENT)]
    rows += [op("lookup", 1.6, b"Fa", status=70), op("getattr", 40, b"dir")]
    events = outcomes(*rows)
    assert [row[2] for row in events] == ["lost", "mark", "mark", "young", "mark", "used"]
    assert [row[-1] for row in events if row[2] == "mark"] == [False] * 3


def test_a_create_that_turns_out_to_have_opened_a_file_was_no_birth():
    rows = [op("getattr", 0, b"F"), create(1, b"a", None), lookup(2, b"a", b"F")]
    events = outcomes(*rows, op("getattr", 60, b"dir"))
    assert [row[2] for row in events] == ["lost"]


def test_a_file_without_a_handle_is_emitted_but_is_no_row():
    rows = [create(1, b"a", None), remove(2, b"a"), op("getattr", 60, b"dir")]
    emitted = followed([batch(*rows)])
    assert [birth["name"] for birth in emitted.of("file", emitted.births)] == [b"a"]
    assert emitted.lives("file").to_pylist()[0]["fh"] == b"dir"


def test_a_name_whose_file_is_of_unknown_kind_is_not_emitted():
    rows = [rename(1, b"strange", b"a"), lookup(2, b"a", b"F", ftype=FILE)]
    emitted = followed([batch(*rows)])
    assert not emitted.of("name", emitted.births)
    assert pc.sum(emitted.lives("name")["birth_seen"]).as_py() == 1


def test_a_birth_waits_until_the_clock_moved_on():
    live, emitted = live_history(), nothing()
    live.update(batch(made(1, b"b"), made(1, b"a")))
    emitted.take(live)
    live.advance(SECOND)
    emitted.take(live)
    assert not emitted.of("file", emitted.births)
    live.advance(SECOND + 1)
    emitted.take(live)
    assert [birth["name"] for birth in emitted.of("file", emitted.births)] == [b"a", b"b"]


def test_the_outcomes_of_the_last_births_alone_are_awaited_and_the_others_are_counted():
    rows = [made(1 + 60 * i, b"%d" % i) for i in range(4)]
    rows += [remove(300, b"0", reply_time=300), remove(301, b"3", reply_time=301)]
    for max_awaited, died, dropped in ((2, [3], 2), (4, [0, 3], 0)):
        live, emitted = live_history(max_awaited=max_awaited), nothing()
        live.update(batch(*rows))
        finish(live, emitted)
        events = emitted.of("file", emitted.outcomes)
        assert [row["id"] for row in events if row["fact"] == "died"] == died
        assert live.dropped == dropped  # of the file, and of its name


def test_too_many_births_drop_the_marks_of_the_oldest():
    rows = [made(1, b"%d" % i) for i in range(4)]
    events = outcomes(*rows, op("getattr", 60, b"dir"), max_awaited=3)
    assert {row[1] for row in events} == {1, 2, 3}


def test_the_tables_of_births_have_the_columns_of_creates():
    emitted = followed([batch(made(1, b"a", uid=5, gid=6, set_mode=0o640))])
    births = pa.Table.from_batches(emitted.births)
    names = [name for name in CREATES.names if name != "name_history"]
    assert births.select(names).schema.types == [CREATES.field(name).type for name in names]
    [birth] = emitted.of("file", emitted.births)
    known = {"name": b"a", "dir_fh": b"dir", "uid": 5, "gid": 6, "mode": 0o640, "client": "host"}
    assert known.items() <= birth.items()


def test_a_history_goes_on_from_those_that_it_is_given():
    before = HistoryKeeper(MAX_KEYS)
    first = followed([batch(made(1, b"a"), op("getattr", 40, b"dir"))])
    live = LiveHistory(HistoryKeeper(MAX_KEYS), HistoryKeeper(MAX_KEYS))
    live.update(batch(made(1, b"a"), op("getattr", 40, b"dir")))
    again = LiveHistory(live.history("file"), before)
    emitted = nothing()
    again.update(batch(made(50, b"a")))
    finish(again, emitted)
    [then], [now] = (each.of("file", each.births) for each in (first, emitted))
    assert (then["history"][0], now["history"][0]) == (1, 2)
    with pytest.raises(ValueError, match="expected file or name"):
        live.history("directory")


def test_a_snapshot_that_is_damaged_anywhere_is_refused(tmp_path):
    path = tmp_path / "live"
    live = live_history()
    live.update(batch(*sensible(1, 60)))
    live.save(path)
    whole = path.read_bytes()
    for at in random.Random(1).sample(range(len(whole)), 60):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
        with pytest.raises(SnapshotError, match=f"{path}: "):
            LiveHistory.load(path)
        path.write_bytes(whole[:at])
        with pytest.raises(SnapshotError):
            LiveHistory.load(path)
    path.write_bytes(whole + b"x")
    with pytest.raises(SnapshotError, match="more behind the end"):
        LiveHistory.load(path)


def test_after_the_end_of_the_trace_the_histories_alone_can_be_saved(tmp_path):
    live = live_history()
    live.update(batch(*sensible(1, 60)))
    live.finish()
    with pytest.raises(RuntimeError, match="after the end"):
        live.save(tmp_path / "live")
    live.save_histories(tmp_path / "live")
    again = LiveHistory.load(tmp_path / "live")
    fresh = LiveHistory(live.history("file"), live.history("name"))
    for each in (again, fresh):
        each.update(batch(*sensible(2, 60)))
        each.finish()
    for subject in ("file", "name"):
        restored, expected = (each.history(subject).to_batch() for each in (again, fresh))
        assert restored.sort_by("key").equals(expected.sort_by("key"))
        assert len(restored) > 0
    assert again.take_births().equals(fresh.take_births())
    assert again.take_files().equals(fresh.take_files())


def captured(path: Path, live: LiveHistory) -> Emitted:
    """Follow a capture as an ingest does."""
    trace, emitted = open_trace(str(path)), nothing()
    live.set_losses_known(trace.tells_loss)
    for chunk in trace.chunks():
        update(live, chunk)
        emitted.take(live)
    finish(live, emitted)
    return emitted


@pytest.mark.parametrize("capture", ["tiny.pcap", "fusenfs_v3.pcap.xz", "fusenfs_v4.pcap.xz"])
def test_on_captures_each_birth_has_the_history_of_the_finished_tables(shared, capture):
    emitted = captured(shared / "captures" / capture, live_history())
    for subject in SUBJECTS:
        births, missing, strange = differences(emitted, subject)
        assert births > 0
        assert (missing, strange) == (0, 0)


@pytest.mark.deep
def test_on_captured_days_each_birth_has_the_history_of_the_finished_tables(shared):
    days = sorted((shared / "captures").glob("day*.pcap*"))
    if not days:
        pytest.skip("the captured days are not there")
    for day in days:
        emitted = captured(day, live_history())
        for subject in SUBJECTS:
            births, missing, strange = differences(emitted, subject)
            assert births > 10_000
            assert (missing, strange) == (0, 0)


@pytest.mark.deep
def test_on_a_capture_full_of_trouble_few_histories_differ(shared):
    """Replies come up to a second late, calls and replies are missing, files appear by rename.

    A birth that is late, or on only one side, counts in later histories, so that many differ by a
    little: the test bounds the births on only one side, and the bytes that differ.
    """
    emitted = captured(shared / "captures" / "trouble.pcap.xz", live_history())
    for subject in SUBJECTS:
        both_sides = histories_live(emitted, subject), histories_after(emitted.lives(subject))
        live, after = ({(*who,): history for *who, history in each} for each in both_sides)
        assert len(live.keys() ^ after.keys()) <= 0.01 * len(after)
        both = [(live[who], after[who]) for who in live.keys() & after.keys()]
        different = sum(a != b for pair in both for a, b in zip(*pair, strict=True))
        assert different <= 0.005 * HISTORY_BYTES * len(both)
