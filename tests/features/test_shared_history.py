"""`birthmark_native.SharedHistory` returns the histories that were mirrored into it."""

from __future__ import annotations

import itertools
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from birthmark.data import lives
from birthmark.data.samples import DAYS
from birthmark.data.schema import LOOKED_UP
from birthmark.data.traces import open_trace
from birthmark.features import HISTORY_BYTES, History, from_files, history_scope
from birthmark_native import (
    HistoryChanges,
    HistoryKeeper,
    LiveHistory,
    SharedHistory,
    SharedHistoryWriter,
    handle_inode,
)

HOUR = 3600.0
ROWS = 300


def creates_of(files: pa.Table) -> pa.RecordBatch:
    creates = from_files(files)
    columns = {name: creates[name].cast(kind).combine_chunks() for name, kind in LOOKED_UP.items()}
    return pa.record_batch(columns)


def without(creates: pa.RecordBatch, names: frozenset[str]) -> pa.RecordBatch:
    """Return creates of which some columns are not known."""
    columns = {
        name: pa.nulls(len(creates), kind) if name in names else creates[name]
        for name, kind in LOOKED_UP.items()
    }
    return pa.record_batch(columns)


class Shared:
    """A history of part of a day, mirrored, and creates of the rest of it."""

    def __init__(self, path: Path) -> None:
        files, _ = lives.tables(pq.read_table(DAYS[0]).to_batches())
        files = files.sort_by("born")
        half = len(files) // 2
        self.history = History()
        self.history.follow(files.slice(0, half))
        self.creates = creates_of(files.slice(half, ROWS))
        self.writer = SharedHistoryWriter(path, 100_000, 10_000, "0.1.0")
        self.writer.put_all("file", self.history.keeper)
        self.commit()
        self.writer.publish()
        self.reader = reading(path)

    def commit(self, lag: float = 0.0, loss: float = 0.0, state: str = "following") -> None:
        self.writer.commit(self.history.keeper.clock, lag, loss, state)


def reading(path: Path) -> SharedHistory:
    return SharedHistory(path, max_age=HOUR, max_lag=1.0, max_loss=0.01)


@pytest.fixture(scope="module")
def shared_day(tmp_path_factory: pytest.TempPathFactory) -> Shared:
    return Shared(tmp_path_factory.mktemp("runtime") / "history")


def histories_of(history: History, creates: pa.RecordBatch) -> list[bytes]:
    histories: list[bytes] = history.keeper.at(creates).to_pylist()
    return histories


def scopes(answers: pa.RecordBatch) -> set[str]:
    return set(answers["told"].to_pylist())


@settings(max_examples=25)
@given(unknown=st.frozensets(st.sampled_from([*LOOKED_UP][1:])), start=st.integers(0, ROWS - 20))
def test_for_any_known_columns_the_bytes_equal_those_of_the_history(
    shared_day: Shared, unknown: frozenset[str], start: int
):
    creates = without(shared_day.creates.slice(start, 20), unknown)
    answers = shared_day.reader.at(creates)
    assert answers["history"].to_pylist() == histories_of(shared_day.history, creates)
    assert answers["why"].null_count == len(creates)
    places = history_scope.history_scopes(pa.table({"history": answers["history"]}))
    assert answers["told"].to_pylist() == [history_scope.HISTORY_SCOPES[place] for place in places]
    known = ["name"] if "uid" in unknown else ["name", "caller"]
    assert scopes(answers) <= {*known, *(["directory"] if "dir_fh" not in unknown else [])}


def test_the_bytes_tell_something(shared_day: Shared):
    histories = histories_of(shared_day.history, shared_day.creates)
    assert len(set(histories)) > 100


def test_a_single_create_has_the_same_history_as_in_a_batch(shared_day: Shared):
    (row,) = shared_day.creates.slice(7, 1).to_pylist()
    time = pc.cast(shared_day.creates["time"], pa.int64())[7].as_py()
    single = shared_day.reader.tell(**row | {"time": time})
    answer = shared_day.reader.at(shared_day.creates.slice(7, 1))
    both = (answer["history"][0].as_py(), answer["name_history"][0].as_py())
    assert single == (both, "directory", None)


def test_a_directory_is_known_by_inode_and_path_and_lends_its_name(shared_day: Shared):
    creates = shared_day.creates
    row = pc.index(creates["dir_name"].is_valid(), True).as_py()
    handle, name = creates["dir_fh"][row].as_py(), creates["dir_name"][row].as_py()
    knfsd = b"\x01\x00\x06\x01" + b"u" * 16 + b"\x07\x00\x00\x00" + b"gen!"
    shared_day.writer.directory(handle, name=name, path=b"/home/ann", time=0)
    shared_day.writer.directory(knfsd, name=name, time=0)
    shared_day.commit()
    bare = without(creates.slice(row, 1), frozenset({"dir_fh", "dir_name"}))

    def look_up(**columns: pa.Array) -> tuple[str, bytes]:
        batch = pa.record_batch(dict(zip(bare.schema.names, bare.columns, strict=True)) | columns)
        answer = shared_day.reader.at(batch).to_pylist()[0]
        return answer["told"], answer["history"]

    expected = histories_of(shared_day.history, creates.slice(row, 1))[0]
    assert look_up(directory_path=pa.array([b"/home/ann/"], pa.large_binary())) == (
        "directory",
        expected,
    )
    assert look_up(dir_fh=pa.array([handle], pa.large_binary())) == ("directory", expected)
    of_knfsd = look_up(dir_fh=pa.array([knfsd], pa.large_binary()))
    inode = {
        "directory_system": pa.array([b"u" * 16], pa.large_binary()),
        "directory_inode": pa.array([7], pa.uint64()),
    }
    assert look_up(**inode) == of_knfsd != ("directory", expected)
    shared_day.writer.remove_path(b"/home/ann")
    shared_day.commit()
    scope, _ = look_up(directory_path=pa.array([b"/home/ann"], pa.large_binary()))
    assert scope == "caller"


def test_stale_histories_give_a_reason(tmp_path: Path):
    path = tmp_path / "history"
    reader = reading(path)
    assert reader.status() == {
        "why": "absent",
        "says": "There is no live history: no follower has made one.",
    }
    assert reader.tell(b"a") == (None, "nothing", "absent")
    writer = SharedHistoryWriter(path, 100, 100, "0.1.0")
    writer.commit(5, 0.5, 0.0, "starting")
    writer.publish()
    reader = reading(path)
    assert reader.tell(b"a") == (None, "nothing", "starting")
    writer.commit(5, 1.5, 0.0, "following")
    assert reader.tell(b"a") == (None, "nothing", "behind")
    writer.commit(5, 0.5, 0.02, "following")
    assert reader.tell(b"a") == (None, "nothing", "lossy")
    writer.commit(5, 0.5, 0.01, "following", 9)
    histories, scope, why = reader.tell(b"a")
    assert histories is not None
    assert {len(history) for history in histories} == {HISTORY_BYTES}
    assert (scope, why) == ("name", None)
    status = reader.status()
    assert 0 <= status.pop("age") < HOUR
    assert status.pop("updated") > 0
    assert status.pop("generation") > 0
    assert status == {
        "why": None,
        "says": None,
        "follower": "0.1.0",
        "updates": 4,
        "state": "following",
        "clock": 5,
        "lag": 0.5,
        "loss": 0.01,
        "operations": 9,
        "keys": 0,
        "keys_gave_way": 0,
        "aliases": 0,
        "aliases_gave_way": 0,
    }
    stale = SharedHistory(path, max_age=0.0, max_lag=1.0, max_loss=0.01)
    assert stale.tell(b"a") == (None, "nothing", "stale")
    writer.commit(5, 0.5, 0.0, "stopped")
    unknown = {name: pa.nulls(1, kind) for name, kind in LOOKED_UP.items()}
    answers = reader.at(pa.record_batch(unknown))
    assert answers.to_pylist() == [
        {"history": None, "name_history": None, "told": "nothing", "why": "stopped"}
    ]


def test_rows_of_a_history_are_put_and_removed(tmp_path: Path, shared_day: Shared):
    path = tmp_path / "history"
    writer = SharedHistoryWriter(path, 100_000, 1, "")
    known = shared_day.history.keeper.to_batch()
    for start in range(0, len(known), 1000):
        writer.put("file", known.slice(start, 1000))
    writer.commit(shared_day.history.keeper.clock, 0.0, 0.0, "following")
    writer.publish()
    reader = reading(path)
    assert reader.status()["keys"] == len(known)
    answers = reader.at(shared_day.creates)
    assert answers["history"].to_pylist() == histories_of(shared_day.history, shared_day.creates)
    writer.remove("file", known["key"].cast(pa.uint64()))
    writer.commit(0, 0.0, 0.0, "following")
    assert reader.status()["keys"] == 0
    history = History()
    bare = without(shared_day.creates, frozenset({"dir_fh"}))
    assert reader.at(bare)["history"].to_pylist() == histories_of(history, bare)


def test_changes_and_everything_at_once_make_equal_copies(tmp_path: Path, shared_day: Shared):
    writers = [SharedHistoryWriter(tmp_path / name, 100_000, 10_000, "") for name in "abc"]
    mirror, copy, late = writers
    live = LiveHistory(HistoryKeeper(500), HistoryKeeper(500))  # many keys must be evicted
    evicted = 0
    for batch in pq.read_table(DAYS[0]).slice(0, 20_000).to_batches(max_chunksize=500):
        live.update(batch)
        changes = HistoryChanges()
        mirror.mirror(live, changes)
        evicted += len(changes.to_arrow()[0])
        assert len(changes.to_arrow()[1]) <= 1000
        copy.apply(changes)
        mirror.commit(0, 0.0, 0.0, "following")
    late.apply(mirror.everything())
    for writer in writers:
        writer.commit(0, 0.0, 0.0, "following")
        writer.publish()
    answers = [reading(tmp_path / name).at(shared_day.creates).to_pylist() for name in "abc"]
    statuses = [reading(tmp_path / name).status() for name in "abc"]
    assert evicted > 0
    assert answers[0] == answers[1] == answers[2]
    assert len({row["history"] for row in answers[0]}) > 10
    assert len({(each["keys"], each["aliases"]) for each in statuses}) == 1
    assert statuses[0]["aliases"] > 10


def handles_of(capture: Path) -> dict[bytes, int]:
    """Return the handles of a capture with a known inode, and that inode."""
    inodes: dict[bytes, int] = {}
    for batch in itertools.islice(open_trace(capture), 8):
        asked = pc.equal(batch["op"].cast(pa.utf8()), "getattr")
        rows = batch.select(["fh", "fileid"]).filter(asked).drop_null()
        inodes |= dict(zip(rows["fh"].to_pylist(), rows["fileid"].to_pylist(), strict=True))
    return inodes


@pytest.mark.parametrize("capture", ["tiny.pcap", "fusenfs_v4.pcap.xz"])
def test_captured_handles_have_the_inodes_of_their_server(shared: Path, capture: str):
    inodes = handles_of(shared / "captures" / capture)
    assert len(inodes) > 5
    found = {handle: handle_inode(handle) for handle in inodes}
    assert {handle: inode and inode[1] for handle, inode in found.items()} == inodes


def test_bytes_that_no_known_server_hands_out_mean_nothing():
    assert handle_inode(b"") is None
    assert handle_inode(b"\x00" * 32) is None
