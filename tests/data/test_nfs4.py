"""NFS version 4 in real captures, compared with an independent decoder: tshark."""

from __future__ import annotations

import bz2
import lzma
import re
import subprocess
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from birthmark.data import lives
from birthmark.data.schema import OPERATIONS
from birthmark.data.traces.reader import open_trace
from tests import needs

CREATE = {"mkdir", "symlink", "mknod"}
COUNTS = {  # calls and replies by number, as tshark 4.0.17 counted them
    "eth-ipv4-tcp-nfsv4": {
        3: (1, 1),
        4: (1, 1),
        5: (1, 1),
        9: (1605, 1604),
        10: (2, 1),
        15: (1, 1),
        18: (1, 1),
        20: (1, 1),
        22: (1607, 1607),
        34: (1, 1),
        38: (1600, 1600),
    },
    "eth-ipv4-tcp-nfsv41": {
        3: (59, 51),
        4: (19, 19),
        6: (6, 6),
        8: (6, 6),
        9: (474, 448),
        10: (49, 23),
        11: (1, 1),
        15: (25, 25),
        18: (27, 27),
        22: (520, 520),
        24: (2, 2),
        25: (5, 5),
        26: (23, 23),
        28: (14, 14),
        29: (2, 2),
        31: (1, 1),
        32: (3, 3),
        34: (27, 27),
        38: (10, 10),
        42: (1, 1),
        43: (1, 1),
        44: (1, 1),
        52: (1, 1),
        53: (521, 521),
        57: (1, 1),
        58: (1, 1),
    },
    "eth-ipv4-tcp-nfsv4-incorrect_mount": {35: (2, 0)},
}
CAPTURES = ["fusenfs_v4", *COUNTS]


@pytest.fixture(scope="session")
def captures(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The captures, unpacked."""
    folder = tmp_path_factory.mktemp("nfs4")
    for name in CAPTURES:
        if name in COUNTS:
            packed = shared / "reference" / "pcap" / f"{name}.pcap.bz2"
            content = bz2.decompress(packed.read_bytes())
        else:
            content = lzma.decompress((shared / "captures" / f"{name}.pcap.xz").read_bytes())
        (folder / f"{name}.pcap").write_bytes(content)
    return {name: folder / f"{name}.pcap" for name in CAPTURES}


def read(path: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The rows of a trace, and its counts."""
    trace = open_trace(path)
    rows = [row for batch in trace for row in batch.to_pylist()]
    return rows, trace.counts()


def tallied(counts: dict[str, Any], opcodes: dict[str, int]) -> dict[int, tuple[int, int]]:
    """Calls and replies by number."""
    sums: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for op, tally in counts["compound_operations"].items():
        number = 6 if op in CREATE else opcodes[op]
        sums[number][0] += tally["calls"]
        sums[number][1] += tally["replies"]
    return {number: (calls, replies) for number, (calls, replies) in sums.items()}


OPCODES = {"setclientid": 35}  # an operation that never ran, and so has no row


@pytest.mark.parametrize("name", CAPTURES)
def test_operations_are_as_many_as_tshark_counts(
    shared: Path, captures: dict[str, Path], name: str
) -> None:
    rows, counts = read(captures[name])
    opcodes = OPCODES | {row["op"]: row["opcode"] for row in rows if row["opcode"] is not None}
    expected = COUNTS.get(name)
    if expected is None:
        text = (shared / "captures" / f"{name}.facts.txt").read_text()
        found = re.findall(r"'(call|reply) (\d+)': (\d+)", text)
        calls = {int(number): int(count) for way, number, count in found if way == "call"}
        replies = {int(number): int(count) for way, number, count in found if way == "reply"}
        expected = {number: (calls[number], replies.get(number, 0)) for number in calls}
    assert tallied(counts, opcodes) == expected
    assert (counts["damaged"], counts["orphans"], counts["short"]) == ({}, {}, 0)
    # every requested operation is a row, or was not run
    ran = Counter(row["op"] for row in rows if row["opcode"] is not None)
    asked = {op: tally["calls"] for op, tally in counts["compound_operations"].items()}
    assert ran + Counter(counts["not_run"]) == Counter(asked)
    assert not any(row["short"] for row in rows)


FIELDS = {
    "xid": "rpc.xid",
    "way": "rpc.msgtyp",
    "opcodes": "nfs.opcode",
    "statuses": "nfs.nfsstat4",
    "names": "nfs.pathname.component",
    "entries": "nfs.name",
    "handles": "nfs.fhandle",
    "sizes": "nfs.fattr4.size",
    "owners": "nfs.fattr4_owner",
    "fileids": "nfs.fattr4.fileid",
    "modes": "nfs.mode",
}


def dissected(path: Path) -> list[dict[str, list[str]]]:
    """The fields that tshark finds in each frame with one message of NFS version 4."""
    options = [option for field in FIELDS.values() for option in ("-e", field)]
    tshark = needs.program("tshark")
    command = [tshark, "-r", str(path), "-Y", "nfs.opcode", "-T", "fields", *options]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    frames = []
    for line in run.stdout.splitlines():
        values = [value.split(",") if value else [] for value in line.split("\t")]
        frame = dict(zip(FIELDS, values, strict=True))
        if len(frame["xid"]) == 1:
            frames.append(frame)
    return frames


def hexed(values: list[bytes | None]) -> list[str]:
    return [value.hex() for value in values if value is not None]


@pytest.mark.parametrize("name", CAPTURES[:3])
def test_each_compound_holds_what_tshark_finds_in_it(captures: dict[str, Path], name: str) -> None:
    rows, _ = read(captures[name])
    by_xid: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_xid[row["xid"]].append(row)
    frames = dissected(captures[name])
    assert len(frames) > 900
    for frame in frames:
        ours = by_xid[int(frame["xid"][0], 16)]
        opcodes = [str(row["opcode"]) for row in ours]
        if frame["way"] == ["0"]:
            assert opcodes == frame["opcodes"][: len(opcodes)]
            given = [row["fh"] for row in ours if row["op"] == "putfh"]
            assert hexed(given) == frame["handles"][: len(given)]
            names = [row[key] for row in ours for key in ("name", "name2") if row[key] is not None]
            assert [each.decode() for each in names] == frame["names"][: len(names)]
        else:
            assert opcodes == frame["opcodes"]
            listed = [entry["name"].decode() for row in ours for entry in row["entries"] or []]
            if any(row["op"] == "readdir" for row in ours):
                assert listed == frame["entries"]
                continue  # the attributes of entries stand among the others
            whole = ours[0]["compound_status"]
            assert [str(whole), *(str(row["status"]) for row in ours)] == frame["statuses"]
            shown = [row for row in ours if row["op"] == "getattr"]
            assert hexed([row["fh"] for row in ours if row["op"] == "getfh"]) == frame["handles"]
            for key, field in [("size", "sizes"), ("fileid", "fileids"), ("owner", "owners")]:
                values = [str(row[key]) for row in shown if row[key] is not None]
                assert values == frame[field]
            modes = [row["mode"] for row in shown if row["mode"] is not None]
            assert modes == [int(mode, 0) for mode in frame["modes"]]


def test_handles_follow_from_operation_to_operation(captures: dict[str, Path]) -> None:
    rows, _ = read(captures["eth-ipv4-tcp-nfsv41"])
    # the file that an open made is the one that is written, read and closed under its handle
    made = {row["new_fh"] for row in rows if row["op"] == "open" and row["how"] is not None}
    assert None not in made
    closed = {row["fh"] for row in rows if row["op"] == "close"}
    assert len(made) > 5
    assert made <= closed
    worked = [row for row in rows if row["op"] in {"getattr", "access", "read", "write", "close"}]
    assert all(row["fh"] is not None for row in worked)
    renames = [row for row in rows if row["op"] == "rename"]
    assert all(row["fh"] and row["fh2"] and row["name"] and row["name2"] for row in renames)


def test_a_table_of_operations_counts_as_the_capture_did(
    captures: dict[str, Path], tmp_path: Path
) -> None:
    trace = open_trace(captures["fusenfs_v4"])
    pq.write_table(pa.Table.from_batches(list(trace)), tmp_path / "operations.parquet")
    again = open_trace(tmp_path / "operations.parquet")
    rows = sum(batch.num_rows for batch in again)
    first, second = trace.counts(), again.counts()
    assert rows == sum(each["operations"] for each in first["compound_operations"].values()) + 1
    for name in ("procedures", "retransmits", "short", "period", "records"):
        assert second[name] == first[name]
    ran = {op: each["replies"] for op, each in first["compound_operations"].items()}
    assert {op: each["calls"] for op, each in second["compound_operations"].items()} == ran


def test_a_table_from_before_version_4_was_read_is_still_a_trace(
    captures: dict[str, Path], tmp_path: Path
) -> None:
    table = pa.Table.from_batches(list(open_trace(captures["eth-ipv4-tcp-nfsv41"])))
    first, end = map(OPERATIONS.get_field_index, ("minor_version", "call_form"))
    older = table.drop_columns(OPERATIONS.names[first:end])
    pq.write_table(older, tmp_path / "older.parquet")
    read_again = pa.Table.from_batches(list(open_trace(tmp_path / "older.parquet")))
    assert read_again.schema == OPERATIONS
    assert read_again["opcode"].null_count == len(table)
    assert read_again["fh"].equals(table["fh"])


def test_files_are_born_by_open_and_let_go_by_close(captures: dict[str, Path]) -> None:
    files, names = lives.tables(open_trace(captures["eth-ipv4-tcp-nfsv41"]))
    born = [row for row in files.to_pylist() if row["birth_seen"]]
    kinds = Counter((row["kind"], row["how_born"]) for row in born)
    # opens that created and succeeded, and what the two directories and four links were
    assert kinds == {("file", "create"): 9, ("symlink", "symlink"): 4, ("directory", "mkdir"): 2}
    swap = [row for row in born if row["name"] == b".Larry7.cue.swp"]
    assert [row["how_died"] for row in swap] == ["remove", "remove"]
    assert all(row["born"] < row["last_closed"] < row["died"] for row in swap)
    assert all(row["owner"] == 1000 and row["uid"] == 1000 for row in born)
    assert {row["mode"] for row in born if row["kind"] == "directory"} == {0o755}
    renamed = [row for row in names.to_pylist() if row["how_born"] == "rename"]
    assert all(row["how_born"] != "create" or row["birth_seen"] for row in names.to_pylist())
    assert len(renamed) == 2


def test_lives_are_followed_where_a_client_goes_by_paths(captures: dict[str, Path]) -> None:
    rows, _ = read(captures["fusenfs_v4"])
    opens = [row for row in rows if row["op"] == "open" and row["how"] is not None]
    made = {row["name"] for row in opens if row["status"] == 0}
    assert all(row["fh"] is None for row in opens)  # the directory is only ever named
    files, _ = lives.tables(open_trace(captures["fusenfs_v4"]))
    born = {row["name"]: row for row in files.to_pylist() if row["birth_seen"]}
    assert made <= born.keys()
    assert {b"doc", b"Mail", b"link.txt"} <= born.keys()
    home = {row["fh"] for row in files.to_pylist() if row["name"] == b"f4"}
    assert {born[b"Mail"]["dir_fh"], born[b"notes.txt"]["dir_fh"]} == home
