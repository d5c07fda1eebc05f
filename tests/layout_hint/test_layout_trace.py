"""The replay of a rewritten trace on a model of FFS, its cache and its syncer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from birthmark.layout_hint import native
from birthmark.layout_hint.rewrite.build import build
from tests.layout_hint.replays import create, later, read, remove, run, trace, write

KB = 1024
BLOCK = 16 * KB
GIB = 1 << 30
MODES = ("reserved", "data", "preferred")
TABLES = {
    **dict.fromkeys((2, 3), (0, 1)),  # the superblock, 8 KB at 8 KB
    **dict.fromkeys(range(8, 12), (1, 1)),  # the first group's maps, 16 KB at 32 KB
    **dict.fromkeys(range(12, 16), (1, 1)),  # its first inodes, 16 KB at 48 KB
    712: (0, 1),  # the summaries: fragments 1424 and 1425
}
"""What a new file in the root costs beside the root's own block and its data, on 40 GiB."""


def test_a_file_that_lives_is_written_once_after_half_a_minute() -> None:
    found = trace([create(0, b"f", 1), write(0.1, 1, 0, 8 * KB), later(200)])
    summary, counts, _ = run(found)
    # The root's entries are fragment 1426, and 8 KB fit into the five fragments behind it.
    assert counts == {**TABLES, 713: (1, 2), 714: (0, 1), 715: (0, 1)}
    disk = summary["disk"]
    assert (disk["data"]["writes"], disk["data"]["written_bytes"]) == (1, 8 * KB)
    assert (disk["directory"]["writes"], disk["directory"]["written_bytes"]) == (1, 2 * KB)
    assert (disk["inode"]["writes"], disk["group"]["writes"]) == (1, 1)
    assert disk["superblock"]["writes"] == 2


def test_nothing_is_written_before_it_is_due() -> None:
    def written(until: float) -> list[str]:
        found = trace([create(0, b"f", 1), write(0.1, 1, 0, 8 * KB), later(until)])
        disk = run(found)[0]["disk"]
        return sorted(kind for kind, traffic in disk.items() if traffic["writes"])

    assert written(27.9) == []
    assert written(28) == ["group", "inode"]
    assert written(29) == ["directory", "group", "inode"]
    assert written(30) == ["data", "directory", "group", "inode", "superblock"]


def test_a_file_gone_before_the_flush_never_reaches_the_disk() -> None:
    found = trace([create(0, b"f", 1), write(0.1, 1, 0, 8 * KB), remove(20, b"f"), later(200)])
    summary, counts, _ = run(found)
    assert counts == {**TABLES, 713: (1, 1)}
    assert summary["disk"]["data"]["writes"] == 0


def test_rewriting_within_half_a_minute_is_one_write() -> None:
    rewritten = [write(second, 1, 0, 8 * KB) for second in range(25)]
    summary, counts, _ = run(trace([create(0, b"f", 1), *rewritten, later(200)]))
    assert summary["disk"]["data"]["writes"] == 1
    assert counts[714] == (0, 1)


def test_locks_cost_their_directory_inodes_and_maps_but_no_data() -> None:
    locks = []
    for second in range(100):
        made = create(second + 0.2, b".lock", second + 1)
        locks += [made, write(second + 0.3, second + 1, 0, 20), remove(second + 0.6, b".lock")]
    summary, counts, _ = run(trace([*locks, later(200)]))
    disk = summary["disk"]
    assert disk["data"]["writes"] == 0
    # 300 changes each. Maps and inodes: at 28, 57, 86 and 115 s. The directory: 29 s after it was
    # written last, at 29, 59, 89 and 119, and in the rounds at 30, 60 and 90.
    assert [disk[kind]["writes"] for kind in ("inode", "group", "directory")] == [4, 4, 7]
    assert set(counts) == {*TABLES, 713}  # the same inode and fragment each time


def test_a_removed_file_keeps_its_place_until_the_disk_has_dropped_it() -> None:
    found = trace(
        [
            create(0, b"a", 1),
            write(0, 1, 0, BLOCK),
            remove(40, b"a"),
            create(41, b"b", 2),
            write(41, 2, 0, BLOCK),
            create(150, b"c", 3),
            write(150, 3, 0, BLOCK),
            later(300),
        ]
    )
    _, counts, _ = run(found)
    first = 1432 // 2  # the first whole block, fragments 1432 to 1439
    assert [counts[first + n] for n in range(8)] == [(0, 2)] * 4 + [(0, 1)] * 4


def test_a_file_truncated_on_the_disk_gets_another_place_and_a_new_one_the_same() -> None:
    def blocks(cut: float) -> int:
        cut_it = {"time": cut, "op": "setattr", "id": 1, "size": 0}
        rows = [create(0, b"a", 1), write(0, 1, 0, BLOCK), cut_it, write(cut, 1, 0, BLOCK)]
        _, counts, _ = run(trace([*rows, later(300)]))
        return sum(1 for block, (_, writes) in counts.items() if block >= 716 and writes)

    assert (blocks(10), blocks(40)) == (4, 8)


def test_only_what_the_cache_lost_is_read_again() -> None:
    manifest = [{"id": n, "name": b"f%d" % n, "size": BLOCK} for n in (1, 2, 3)]
    reads = [read(n, 1 + n % 3, 0, BLOCK) for n in range(9)]
    found = trace([*reads, later(20)], manifest)
    large = run(found, atime=False)[0]["disk"]["data"]
    small = run(found, atime=False, cache_bytes=2 * BLOCK)[0]["disk"]["data"]
    assert (large["reads"], large["read_bytes"]) == (3, 3 * BLOCK)
    assert (small["reads"], small["read_bytes"]) == (9, 9 * BLOCK)


def test_a_file_read_in_order_is_read_ahead_in_clusters_and_no_byte_twice() -> None:
    size = 128 * BLOCK
    reads = [read(n / 100, 1, n * 8 * KB, 8 * KB) for n in range(size // (8 * KB))]
    found = trace(reads, [{"id": 1, "name": b"f", "size": size}])
    disk = run(found)[0]["disk"]
    assert disk["data"]["read_bytes"] == size
    assert 128 // 8 <= disk["data"]["reads"] <= 128 // 8 + 8
    assert disk["indirect"]["reads"] == 1


@pytest.mark.parametrize(
    ("offsets", "blocks"),
    [
        # A file that is read from its beginning on counts as 5: a block, and 5 ahead.
        ([0], 6),
        ([0, 8], 6),
        # The mark on block 1 begins another cluster: two, for the file goes on elsewhere.
        ([0, 8, 16], 8),
        # In no order, the first read counts as 2, the next as 1, those behind it as none.
        ([800], 3),
        ([800, 320, 1600, 160], 6),
        # What is read again a moment later out of order is in the cache.
        ([800, 320, 808], 4),
    ],
)
def test_reading_ahead_follows_the_server_s_counts(offsets: list[int], blocks: int) -> None:
    reads = [read(n / 100, 1, offset * KB, 8 * KB) for n, offset in enumerate(offsets)]
    found = trace(reads, [{"id": 1, "name": b"f", "size": 128 * BLOCK}])
    assert run(found)[0]["disk"]["data"]["read_bytes"] == blocks * BLOCK


def test_a_file_written_in_order_goes_to_the_disk_in_clusters_at_once() -> None:
    writes = [write(n / 100, 1, n * 8 * KB, 8 * KB) for n in range(17)]
    summary, _, _ = run(trace([create(0, b"f", 1), *writes, later(1)]))
    assert summary["disk"]["data"]["writes"] == 1
    assert summary["disk"]["data"]["written_bytes"] == 16 * 8 * KB


def test_reading_writes_inodes_unless_access_times_are_off() -> None:
    found = trace([read(0, 1, 0, 100), later(100)], [{"id": 1, "name": b"f", "size": 100}])
    assert run(found)[0]["disk"]["inode"]["writes"] == 1
    assert run(found, atime=False)[0]["disk"]["inode"]["writes"] == 0


def test_a_commit_writes_at_once_where_that_is_wanted() -> None:
    commit = {"time": 1, "op": "commit", "id": 1}
    found = trace([create(0, b"f", 1), write(0, 1, 0, 8 * KB), commit, later(2)])
    assert run(found)[0]["disk"]["data"]["writes"] == 0
    assert run(found, flush=True)[0]["disk"]["data"]["writes"] == 1


def test_drops_the_counts_of_the_warm_up() -> None:
    rows = [create(0, b"f", 1), write(0, 1, 0, 8 * KB), later(100), write(110, 1, 0, 8 * KB)]
    found = trace([*rows, later(300)])
    summary, counts, _ = run(found, warmup_seconds=100)
    # 713 has the root's block, too, which only the create changed
    assert {block: counts.get(block) for block in (713, 714)} == {713: (0, 1), 714: (0, 1)}
    assert (summary["measured"], summary["measured_operations"]) == (True, 3)
    assert run(found, warmup_seconds=400)[0]["measured"] is False


def test_objects_know_what_their_own_blocks_cost_and_the_room_that_they_took() -> None:
    rows = [create(0, b"f", 7), write(0, 7, 0, 8 * KB), create(0, b"g", 9), later(100)]
    made = trace(rows)
    assert made.creates().select(["place", "id", "name"]).to_pylist() == [
        {"place": 0, "id": 7, "name": b"f"},
        {"place": 1, "id": 9, "name": b"g"},
    ]
    objects = run(made)[2].objects().to_pylist()
    assert [(o["id"], o["writes"], o["fragments"]) for o in objects] == [(7, 3, 4), (9, 0, 0)]


def test_hinted_files_are_in_the_region_as_far_as_the_policy_follows() -> None:
    rows = [create(0, b"f", 1), write(0, 1, 0, BLOCK), create(0, b"g", 2), write(0, 2, 0, BLOCK)]
    found = trace([*rows, later(100)])
    place = {"start": 100 << 20, "length": 1 << 20, "mode": "reserved"}

    def inside(policy: int, hints: list[int]) -> set[int]:
        summary, counts, _ = run(found, hints, region=place, policy=policy)
        assert summary["hook"]["asked"] == 2
        return {block for block in counts if (100 << 20) // 4096 <= block < (101 << 20) // 4096}

    begin = (100 << 20) // 4096
    assert inside(1, [1, 0]) == set(range(begin, begin + 4))
    assert inside(4, [1, 4]) == set(range(begin, begin + 4))
    assert inside(5, [1, 4]) == set(range(begin, begin + 8))
    assert inside(2, [1, 2]) == set()


@pytest.mark.parametrize("geometry", ["freebsd14", "freebsd15"])
def test_a_region_where_the_journal_lies_has_no_room_and_one_behind_it_has(geometry: str) -> None:
    rows = [create(0, b"f", 1), write(0, 1, 0, 2 * BLOCK), later(100)]
    sizes = json.loads(native.layout_geometry(geometry, 40 * GIB, True))
    made: dict[str, Any] = {"geometry": geometry, "bytes": 40 * GIB, "journal": True, "policy": 1}

    def placed(fragment: int) -> tuple[int, int]:
        start = fragment * sizes["fsize"]
        place = {"start": start, "length": 4 << 20, "inodes": 16384, "mode": "data"}
        hook = run(trace(rows), [1], region=place, **made)[0]["hook"]
        return hook["block_placed"], hook["blocks_full"]

    assert placed(sizes["dblkno"] + 8) == (0, 1)
    assert placed(sizes["free"]) == (1, 0)


def test_freebsd_48_has_no_journal() -> None:
    with pytest.raises(ValueError, match=r"journal: FreeBSD 4\.8 has none"):
        run(trace([later(0)]), journal=True)
    with pytest.raises(ValueError, match=r"journal: FreeBSD 4\.8 has none"):
        native.layout_geometry("freebsd48", 40 * GIB, True)


def test_another_seed_puts_directories_elsewhere_and_the_same_seed_does_not() -> None:
    made = [{"time": 0, "op": "mkdir", "name": b"d%d" % n, "new_id": n} for n in range(1, 5)]
    found = trace([*made, later(100)])
    first, again, other = (run(found, seed=seed)[1] for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_counts_impossible_operations_by_reason() -> None:
    rows = [create(0, b"f", 1), remove(1, b"f"), write(2, 1, 0, 10), remove(3, b"f")]
    summary, _, _ = run(trace(rows))
    expected = {"write: the object is not there": 1, "remove: there is no such name": 1}
    assert summary["unexpected"] == expected


def test_operations_that_failed_in_the_trace_read_but_change_nothing() -> None:
    rows = [create(0, b"f", 1, status=13), {"time": 1, "op": "lookup", "name": b"g", "status": 2}]
    found = trace([*rows, later(100)])
    assert found.creates().num_rows == 0
    summary, counts, _ = run(found)
    assert summary["unexpected"] == {}
    assert sum(writes for _, writes in counts.values()) == 0
    assert counts[713] == (1, 0)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (write(0, 5, 0, 10), "operations, row 1: id: neither in the manifest nor made"),
        (write(0, 1, 1 << 63, 10), "operations, row 1: it ends beyond 2"),
        ({"op": "setattr", "id": 1, "size": 1 << 63}, "operations, row 1: it ends beyond 2"),
        ({"op": "open", "id": 1}, 'operations, row 1: op "open"'),
        (create(0, b"a/b", 4), "operations, row 1: name: no name of an entry"),
        ({"op": "create", "name": b"f"}, "operations, row 1: new_id: expected"),
        ({"op": "rename", "name": b"f", "id2": 0}, "operations, row 1: no name2"),
    ],
)
def test_rows_that_no_build_has_are_refused_by_number(row: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        trace([later(0), row], [{"id": 1, "name": b"f"}])


def test_a_configuration_that_cannot_be_is_refused() -> None:
    found = trace([later(0)])
    with pytest.raises(ValueError, match="config: unknown field `cash`"):
        found.run('{"cash": 1}')
    with pytest.raises(ValueError, match="bytes"):
        found.run('{"bytes": -1}')
    with pytest.raises(ValueError, match="hints: expected 0 uint8"):
        found.run("{}", pa.array([1], pa.uint8()))
    with pytest.raises(ValueError, match="the region ends at byte"):
        run(found, region={"start": 0, "length": 1 << 50, "mode": "reserved"})


def test_the_sizes_of_a_file_system_are_those_of_newfs() -> None:
    sizes = json.loads(native.layout_geometry("freebsd48", 40 * GIB))
    assert (sizes["fpg"], sizes["ipg"], sizes["groups"]) == (91136, 22400, 231)
    assert (sizes["iblkno"], sizes["dblkno"]) == (24, 1424)
    with pytest.raises(ValueError, match="freebsd48"):
        native.layout_geometry("ext4", GIB)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> native.LayoutTrace:
    folder = tmp_path_factory.mktemp("sample")
    build([Path("data/samples/day1.parquet")], folder / "build")
    tables = [pq.read_table(folder / "build" / f"{n}.parquet") for n in ("manifest", "operations")]
    return native.LayoutTrace(*(table.to_batches() for table in tables))


@pytest.mark.deep
@pytest.mark.parametrize("geometry", ["freebsd48", "freebsd14"])
def test_a_sample_is_replayed_without_surprises(sample, geometry: str) -> None:
    summary, counts, _ = run(sample, geometry=geometry, bytes=8 * GIB)
    assert summary["unexpected"] == {}
    assert summary["operations"] == sample.operations == summary["measured_operations"]
    # once of each create, and of nothing else that has a number
    assert summary["hook"]["asked"] == sample.creates().num_rows
    traffic = summary["disk"].values()
    touched = sum(writes for _, writes in counts.values())
    assert touched * 4096 >= sum(each["written_bytes"] for each in traffic) > 0


@pytest.mark.parametrize(("start", "length"), [(0, 4 << 20), (3 << 20, BLOCK), (2 * GIB, 1 << 20)])
def test_no_hints_do_harm_wherever_the_region_is(sample, start: int, length: int) -> None:
    rows = sample.creates().num_rows
    random = np.random.default_rng(1).integers(0, 8, rows)
    for hints in (np.zeros(rows), np.full(rows, 7), random, 7 - random):
        for mode in MODES:
            place = {"start": start, "length": length, "mode": mode}
            answer = [int(hint) for hint in hints]
            summary, _, _ = run(sample, answer, region=place, policy=7, bytes=4 * GIB)
            assert summary["unexpected"] == {}
            assert (summary["hook"]["inode_placed"] > 0) == (sum(answer) > 0 and start == 0)
