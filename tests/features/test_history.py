"""What `features.History` tells, by an oracle and by what it must not know."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from birthmark.data import lives
from birthmark.data.samples import DAYS
from birthmark.data.schema import FILES, NAMES, TIME
from birthmark.features import CREATES, HISTORY, HISTORY_BYTES, History, from_files, from_names
from birthmark.features.history import shape
from birthmark_native import HistoryKeeper
from tests.builders.lives import files_of, life
from tests.features import history_oracle as oracle

SECOND = 1_000_000
START = 1_700_000_000 * SECOND
BEGIN = datetime.fromtimestamp(START / SECOND, UTC)
BYTE = {name: index for index, (name, _) in enumerate(HISTORY)}
SUBJECTS = ("file", "name")

Days = list[pa.Table]


def operations(day: int) -> pa.Table:
    return pq.read_table(DAYS[day - 1])


def built(table: pa.Table) -> tuple[pa.Table, pa.Table]:
    return lives.tables(table.to_batches())


@pytest.fixture(scope="module")
def days() -> dict[str, Days]:
    """Return the files and the names tables of the bundled samples."""
    files, names = zip(*(built(operations(day)) for day in (1, 2)), strict=True)
    return {"file": list(files), "name": list(names)}


def file(
    name: bytes, born: float | None, died: float | None = None, /, **more: Any
) -> dict[str, Any]:
    """Return a file's life, seconds after `START`, observed for a minute."""
    lifespan = None if died is None or born is None else died - born
    known = {"fh": name, "dir_fh": b"dir", "dir_name": b"tmp", "server": "nfs", "client": "host"}
    known |= {"mode": 0o644, "gid": None, "observed_until": START + 60 * SECOND, "max_size": 0}
    known |= {"early_size": 0, "early_reads": 0, "early_writes": 0}
    return life(name, born, lifespan, day=BEGIN) | known | more


def byte(histories: pa.ChunkedArray, row: int, name: str) -> int:
    return histories[row].as_py()[BYTE[name]]


def test_every_byte_has_a_distinct_name_and_a_meaning():
    assert len(BYTE) == len(HISTORY) == HISTORY_BYTES
    assert all(meaning for _, meaning in HISTORY)


@pytest.mark.parametrize("behind", [0, 0.05, 700])
@pytest.mark.parametrize("subject", SUBJECTS)
def test_histories_of_the_samples_equal_those_of_the_oracle(days, subject, behind):
    history, slow = History(), oracle.Oracle()
    for day in (day.slice(0, 1500) for day in days[subject]):
        histories = history.follow(day, behind)
        assert histories.to_pylist() == slow.follow(day, round(behind * SECOND))
        assert len(histories) - histories.null_count > 100


def test_a_lagging_follower_has_the_earlier_history_with_elapsed_times():
    rows = [file(b"a", 0, 1), file(b"a", 10, fh=b"second")]
    histories = {
        behind: History().follow(files_of(*rows), behind)[1].as_py() for behind in (0, 8, 9.5, 11)
    }
    born, died, passed = (BYTE[f"name.{each}"] for each in ("births", "since_death", "since_birth"))
    assert histories[8] == histories[0]
    assert histories[9.5][died] == 0 < histories[0][died], "the death is not known yet"
    assert histories[9.5][passed] == histories[0][passed]
    assert [histories[behind][born] for behind in (9.5, 11)] == [histories[0][born], 1]


def test_a_lagging_follower_does_not_know_a_later_name_of_a_directory():
    looked_up = START + 9_900_000
    rows = files_of(file(b"a", 0), file(b"b", 10, dir_fh=b"other", dir_named=looked_up))
    births = {
        behind: byte(History().follow(rows, behind), 1, "place_suffix.births")
        for behind in (0, 0.1, 0.11)
    }
    assert births == {0: 2, 0.1: 2, 0.11: 0}


def test_a_birth_counts_for_its_directory_by_name_however_late_that_was_seen():
    born = START + SECOND
    rows = files_of(file(b"a", 1, dir_named=born), file(b"b", 10, dir_fh=b"other"))
    assert byte(History().follow(rows, 1), 1, "place_suffix.births") == 2


@pytest.mark.parametrize("subject", SUBJECTS)
def test_histories_contain_no_later_data(days, subject):
    """Births before a cut of a trace have the same history as in the whole trace."""
    table = operations(1)
    time = pc.coalesce(table["reply_time"], table["time"]).cast(pa.int64())
    first, last = pc.min_max(time).as_py().values()
    whole = histories_of(days[subject][0], last + 1)
    for percent in (10, 35, 50, 72, 90):
        cut = first + (last - first) * percent // 100
        early = built(table.filter(pc.less_equal(time, cut)))[SUBJECTS.index(subject)]
        before = {birth: histories for birth, histories in whole.items() if birth[-1] <= cut}
        assert histories_of(early, cut + 1) == before
        assert len(before) > 20


def histories_of(table: pa.Table, until: int) -> dict[Any, Any]:
    """Return the history of every birth before a time, by its key."""
    columns = ["server", "dir_fh", "name", "fh"]
    histories = table.select(columns).append_column("told", History().follow(table))
    histories = histories.append_column("born", table["born"].cast(pa.int64())).drop_null()
    rows = histories.filter(pc.less(histories["born"], until)).to_pylist()
    return {(*(row[c] for c in columns), row["born"]): row["told"] for row in rows}


def test_outcomes_of_a_life_do_not_change_its_history_at_birth(days):
    day = days["file"][0]
    born = pc.index_in(pc.max(day["born"]), day["born"]).as_py()
    for row in (born, *random.Random(1).sample(range(len(day)), 10)):
        known = {f.name: day[f.name][row].as_py() for f in FILES}
        later = {
            "died": known["first_seen"],
            "death_seen": True,
            "how_died": "remove",
            "last_seen": known["first_seen"],
            **dict.fromkeys(("reads", "writes", "max_size", "last_size", "early_size"), 7),
            **dict.fromkeys(("early_reads", "early_writes", "bytes_read", "bytes_written"), 9),
        }
        changed = pa.Table.from_pylist([known | later], schema=FILES)
        table = pa.concat_tables([day.slice(0, row), changed, day.slice(row + 1)])
        for follow in (day, table):
            assert follow["name"][row] == day["name"][row]
        creates = [with_history(t).slice(row, 1) for t in (day, table)]
        assert creates[0].equals(creates[1])


def with_history(table: pa.Table) -> pa.Table:
    return from_files(table.append_column("history", History().follow(table)))


def test_histories_contain_outcomes_of_earlier_births():
    histories = History().follow(
        files_of(
            file(b"a.lock", 0, 0.5),
            file(b"a.lock", 10, early_size=20_000, early_writes=6, early_reads=1),
            file(b"a.lock", 10.5),
            file(b"a.lock", 20),
        )
    )
    assert [byte(histories, row, "name.births") for row in range(4)] == [1, 2, 6, 8]
    assert [byte(histories, row, "name.known") for row in range(4)] == [1, 2, 2, 4]
    assert [byte(histories, row, "name.share_1s") for row in range(4)] == [0, 255, 255, 85]
    assert [byte(histories, row, "name.share_empty") for row in range(4)] == [0, 255, 255, 170]
    assert [byte(histories, row, "name.share_16k") for row in range(4)] == [0, 255, 255, 170]
    assert [byte(histories, row, "name.share_write_only") for row in range(4)] == [0, 1, 1, 85]
    assert byte(histories, 1, "dir_name.life") == byte(histories, 3, "dir_name.life") > 1
    assert byte(histories, 2, "dir.since_birth") == byte(histories, 1, "dir.life")
    assert byte(histories, 3, "dir.age") > byte(histories, 3, "dir.since_birth")


def test_outcomes_count_from_the_moment_at_which_they_are_known():
    rows = [file(b"a", 0, 0.5), file(b"b", 1)]
    for at, marks in [(0.4, 0), (0.5, 1), (1.9, 1), (2, 2)]:
        histories = History().follow(files_of(*rows, file(b"c", at, fh=b"late")))
        share = byte(histories, 2, "dir.share_1s")
        assert share == [0, 255, 128][marks], at
    for at, known in [(5.999, 1), (6, 2)]:
        histories = History().follow(files_of(*rows, file(b"c", at)))
        assert byte(histories, 2, "dir.known") == 1 + known


def test_births_of_one_instant_come_in_the_order_of_their_names():
    rows = [file(name, 1, died) for name, died in [(b"b", 1), (b"c", None), (b"a", 2)]]
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        histories = History().follow(files_of(*(rows[i] for i in order)))
        births = {
            rows[i]["name"]: byte(histories, row, "dir.births") for row, i in enumerate(order)
        }
        assert births == {b"a": 1, b"b": 2, b"c": 6}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_order_of_the_rows_does_not_matter(days, subject):
    day = days[subject][0]
    rows = random.Random(2).sample(range(len(day)), len(day))
    assert (
        History().follow(day.take(rows)).to_pylist() == History().follow(day).take(rows).to_pylist()
    )


def test_only_files_whose_birth_was_seen_have_a_history():
    table = files_of(
        file(b"a", 0),
        file(b"b", 1, kind="directory"),
        file(b"c", None, first_seen=START, last_seen=START, birth_seen=False),
        file(b"d", 2, kind=None),
        file(b"e", 3),
    )
    histories = History().follow(table)
    assert [value is None for value in histories.to_pylist()] == [False, True, True, True, False]
    assert byte(histories, 4, "dir.births") == 2


def test_keys_with_an_unknown_part_are_unknown():
    histories = History().follow(
        files_of(*(file(b"a", at, uid=None, dir_name=None) for at in range(3)))
    )
    known = {name.partition(".")[0] for name, index in BYTE.items() if histories[2].as_py()[index]}
    assert known == {"dir_name", "dir_shape", "dir_suffix", "dir", "name", "shape"}


def test_size_and_use_are_known_again_at_the_death():
    rows = [
        file(b"a", 0, 20, max_size=70_000, writes=3, early_size=0, early_writes=0),
        file(b"a", 6),
        file(b"a", 20, early_size=9),
    ]
    histories = History().follow(files_of(*rows))
    assert [byte(histories, row, "name.share_64k") for row in range(3)] == [0, 255, 170]
    assert [byte(histories, row, "name.write_only") for row in range(3)] == [0, 1, 2]


def test_of_names_size_and_writes_are_known_at_their_end():
    end = {"file_writes": 0, "file_max_size": 0, "birth_seen": True, "kind": "file"}
    ends = [(0, 20), (1, None), (10, None), (30, None)]
    rows = [
        end
        | {"server": "nfs", "dir_fh": b"dir", "name": b"a", "first_seen": START}
        | {"observed_until": START + 60 * SECOND, "death_seen": died is not None}
        | {"born": START + born * SECOND, "died": died and START + died * SECOND}
        for born, died in ends
    ]
    histories = History().follow(pa.Table.from_pylist(rows, schema=NAMES))
    assert [byte(histories, row, "name.share_empty") for row in range(4)] == [0, 0, 0, 255]
    assert [byte(histories, row, "name.share_5s") for row in range(4)] == [0, 0, 1, 1]
    assert byte(histories, 3, "name.share_read") == 1  # nobody wrote it
    assert (
        byte(histories, 3, "name.share_write_only")
        == byte(histories, 3, "place_suffix.births")
        == 0
    )


def test_a_lookup_returns_the_history_of_the_next_birth_and_changes_nothing(days):
    first, second = days["file"]
    history = History()
    history.follow(first)
    before = history.to_table()
    birth = second.sort_by("born").filter(pc.is_valid(second.sort_by("born")["born"])).slice(0, 1)
    asked = history.at(from_files(birth))
    assert history.to_table().equals(before)
    if birth["kind"][0].as_py() == "file":
        assert asked.to_pylist() == history.follow(birth).to_pylist()


def test_a_create_without_a_time_is_at_the_end_of_the_input():
    history = History()
    table = files_of(file(b"a", 0), file(b"a", 60))
    history.follow(table)
    ended = from_files(table).slice(1)
    time = CREATES.get_field_index("time")
    timeless = ended.set_column(time, CREATES.field(time), pa.nulls(1, TIME))
    assert history.at(timeless).to_pylist() == history.at(ended).to_pylist()


def test_pending_outcomes_are_dropped_at_the_end():
    history = History()
    history.follow(files_of(file(b"a", 40, 59), file(b"a", 57)))
    histories = history.follow(files_of(file(b"a", 600)))
    assert byte(histories, 0, "name.known") == 2
    assert byte(histories, 0, "name.births") == 6


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_snapshot_goes_on_like_the_history_it_is_of(days, subject):
    first, second = days[subject]
    history = History(max_keys=2000)
    history.follow(first)
    table = history.to_table()
    assert table.num_rows <= 2000
    again = History.from_table(table)
    assert again.to_table().equals(table, check_metadata=True)
    assert again.follow(second).equals(history.follow(second))


def test_the_keys_with_the_oldest_birth_are_evicted():
    rows = [file(b"old", 0), *(file(b"n%d" % i, i, dir_fh=b"%d" % i) for i in range(1, 40))]
    table = files_of(*rows, file(b"old", 50), file(b"n39", 51, dir_fh=b"39"))
    few, many = (History(max_keys=most).follow(table) for most in (100, 1000))
    assert (byte(few, 40, "name.births"), byte(many, 40, "name.births")) == (1, 2)
    assert byte(few, 41, "dir_name.births") == byte(many, 41, "dir_name.births") == 2
    assert byte(few, 41, "caller.births") == byte(many, 41, "caller.births")


def test_a_history_with_room_for_less_than_one_birth_is_refused():
    with pytest.raises(ValueError, match="at most 3 keys, expected at least 11"):
        History(max_keys=3)


def snapshot() -> pa.Table:
    history = History(max_keys=50)
    history.follow(files_of(file(b"a", 0), file(b"b", 1)))
    return history.to_table()


def replaced(table: pa.Table, column: str, values: list[Any]) -> pa.Table:
    index = table.schema.get_field_index(column)
    field = table.schema.field(column).with_nullable(True)
    return table.set_column(index, field, pa.array(values, field.type))


def test_a_damaged_snapshot_is_refused():
    table = snapshot()
    rows = len(table)
    damages = [
        (table.drop_columns("births"), "'births' is missing"),
        (table.replace_schema_metadata(None), "has no valid description: expected a history"),
        (replaced(table, "births", [0] * rows), 'row 0: column "births" is 0, expected at least'),
        (replaced(table, "key", [5] * rows), 'row 1: column "key" is there already'),
        (
            replaced(table, "known_1", [11] * rows),
            'row 0: column "known_1" is 11, expected at most',
        ),
        (replaced(table, "share_2", [None] * rows), 'row 0: column "share_2" is null'),
        (table.set_column(0, "key", pa.array(["a"] * rows)), 'column "key" is Utf8, expected'),
        (pa.concat_tables([table] * 5), "expected at most 50 keys"),
    ]
    for damaged, message in damages:
        with pytest.raises(ValueError, match=message.replace("'births' is", '"births" is')):
            History.from_table(damaged)


def test_a_snapshot_of_another_version_is_refused():
    table = snapshot()
    about = table.schema.metadata[b"birthmark.history"].replace(b'"version": 1', b'"version": 2')
    with pytest.raises(
        ValueError, match=f"version 2, of {HISTORY_BYTES} bytes: expected a history"
    ):
        History.from_table(table.replace_schema_metadata({"birthmark.history": about}))


def test_a_table_without_a_column_is_refused_by_its_name():
    table = files_of(file(b"a", 0))
    for column in ("early_size", "born", "kind", "client", "observed_until"):
        with pytest.raises(ValueError, match=f"no column '{column}': it has server, "):
            History().follow(table.drop_columns(column))
    with pytest.raises(ValueError, match="no column 'uid'"):
        History().at(from_files(table).drop_columns("uid"))
    wrong = table.set_column(table.schema.get_field_index("uid"), "uid", pa.array(["root"]))
    with pytest.raises(ValueError, match=r"column 'uid': .*expected uint32"):
        History().follow(wrong)


def test_the_compiled_part_refuses_columns_of_other_types():
    with pytest.raises(ValueError, match='column "name" is missing'):
        HistoryKeeper(11).at(pa.record_batch({"a": [1]}))
    with pytest.raises(ValueError, match='column "name" is Int64, expected'):
        HistoryKeeper(11).at(pa.record_batch({"name": [1]}))


def test_no_lives_are_no_histories():
    assert len(History().follow(files_of())) == 0
    assert len(History().at(CREATES.empty_table())) == 0


def test_a_create_of_a_name_carries_its_history(days):
    day = days["name"][0]
    histories = History().follow(day)
    assert from_names(day.append_column("history", histories))["history"].equals(histories)


def test_a_clock_that_jumps_back_counts_as_no_time():
    history = History()
    history.follow(files_of(file(b"a", 50)))
    histories = history.follow(files_of(file(b"a", 10), file(b"a", 20, -5)))
    assert byte(histories, 0, "name.since_birth") == 1
    assert byte(histories, 1, "name.since_birth") > 1


@given(st.lists(st.binary(max_size=40) | st.text("aB1.-_f", max_size=14).map(str.encode)))
def test_shapes_are_those_of_the_oracle(names):
    assert shape(pa.array(names, pa.binary())).to_pylist() == [oracle.shape(n) for n in names]


def test_shapes_keep_nulls_and_take_any_text():
    names = pa.chunked_array([pa.array(["a1", None]), pa.array(["café7"])])
    assert shape(names).to_pylist() == [b"a#", None, "café#".encode()]
