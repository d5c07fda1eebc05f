"""nfsdump text compared with another decoder: DataSeries' converter of the Harvard traces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from birthmark.data.traces.reader import open_trace
from tests.builders.whole import Whole

# DataSeries' field -> ours, in calls and in replies
CALL = {
    "fh": "fh",
    "file": "fh",
    "name": "name",
    "fn": "name",
    "fh2": "fh2",
    "name2": "name2",
    "fn2": "name2",
    "sdata": "target",
    "off": "offset",
    "offset": "offset",
    "begoff": "begin_offset",
    "count": "count",
    "tcount": "total_count",
    "maxcnt": "max_count",
    "cookie": "cookie",
    "mode": "set_mode",
    "uid": "set_owner",
    "gid": "set_group",
    "size": "set_size",
    "atime": "set_atime",
    "mtime": "set_mtime",
    "acc": "access",
    "how": "how",
    "stable": "stable",
    "euid": "uid",
    "egid": "gid",
}
ATTRIBUTES = {
    "ftype": "ftype",
    "mode": "mode",
    "nlink": "nlink",
    "uid": "owner",
    "gid": "group",
    "size": "size",
    "used": "used",
    "rdev": "rdev_major",
    "rdev2": "rdev_minor",
    "fsid": "fsid",
    "fileid": "fileid",
    "atime": "atime",
    "mtime": "mtime",
    "ctime": "ctime",
    "blksize": "blksize",
    "blocks": "blocks",
    "pre-size": "pre_size",
    "pre-mtime": "pre_mtime",
    "pre-ctime": "pre_ctime",
}
REPLY = {
    "fh": "new_fh",
    "name": "target",
    "count": "reply_count",
    "eof": "eof",
    "stable": "reply_stable",
    "acc": "reply_access",
    "tsize": "fs_transfer_size",
    "bsize": "fs_block_size",
    "bfree": "fs_free_blocks",
    "bavail": "fs_available_blocks",
    "nfsstat": "raw_status",
}
LETTERS = {"how": "UGX", "stable": "UDF"}
OF_THE_DIRECTORY = {"remove", "rmdir", "rename"}


@pytest.fixture(scope="module")
def records(shared: Path) -> list[dict[str, str]]:
    """The converter's records, one for each line of the sample."""
    text = (shared / "reference" / "ellard.ds.txt.ref").read_text()
    head, *lines = text.split("# Extent, type='Trace::NFS::Ellard'\n")[1].splitlines()
    names = head.split()
    return [
        dict(zip(names, _padded(line.split(" "), len(names)), strict=True))
        for line in lines
        if line and not line.startswith("#")
    ]


def _padded(values: list[str], wanted: int) -> list[str]:
    # a name with spaces in it stands as several words: none does in this sample
    assert len(values) == wanted, values
    return values


@pytest.fixture(scope="module")
def rows(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], Any]:
    """Our rows by direction and time. Replies whose calls the sample lacks get one."""
    lines = (shared / "reference" / "ellard-raw-data.txt").read_text().splitlines()
    answered = {_key(line) for line in lines if line.split()[4].startswith("C")}
    whole = []
    for line in lines:
        time, server, client, transport, way, xid, number, name, *_ = line.split()
        if way.startswith("R") and _key(line) not in answered:
            call = f"{client} {server} {transport} C{way[1]} {xid} {number} {name}"
            whole.append(f"{time} {call} con = XXX len = XXX")
        whole.append(line)
    path = tmp_path_factory.mktemp("text") / "sample.txt"
    path.write_text("\n".join(whole) + "\n")
    found: dict[tuple[str, int], Any] = {}
    for batch in open_trace(path):
        for name in ("time", "reply_time", "set_atime", "set_mtime"):
            index = batch.schema.get_field_index(name)
            batch = batch.set_column(index, name, batch[name].cast("int64"))
        for row in batch.to_pylist():
            found["call", row["time"]] = row
            if row["reply_time"] is not None:
                found["reply", row["reply_time"]] = row
    return found


def _key(line: str) -> tuple[str, ...]:
    _, source, target, _, way, xid, *_ = line.split()
    return (source, target, xid) if way.startswith("C") else (target, source, xid)


def _ours(row: dict[str, Any], column: str) -> Any:
    value = row[column]
    if isinstance(value, bytes):
        return value.hex() if column.endswith("fh") or column == "fh2" else value.decode()
    if hasattr(value, "timestamp"):
        return round(value.timestamp() * 1e6)
    return int(value) if value is not None else None


def _column(record: dict[str, str], field: str) -> str:
    """Our column for a field of the converter."""
    if record["is_call"] == "call":
        # of version 2's symlink the second name is the path that the link holds (RFC 1094, 2.2.14)
        return "target" if (record["rpc_function"], field) == ("symlink", "fn2") else CALL[field]
    base = field.removesuffix("_dup")
    if base not in ATTRIBUTES or (field == "blocks" and record["rpc_function"] == "statfs"):
        return "fs_blocks" if field == "blocks" else REPLY[field]
    second = field.endswith("_dup") or record["rpc_function"] in OF_THE_DIRECTORY
    return ("dir_" if second else "") + ATTRIBUTES[base]


def _fields(record: dict[str, str]) -> list[str]:
    known = CALL if record["is_call"] == "call" else REPLY | ATTRIBUTES
    return [
        name
        for name, value in record.items()
        if value != "null" and name.removesuffix("_dup") in known
    ]


def test_every_field_agrees_with_the_converter(records: list[Any], rows: dict[Any, Any]) -> None:
    compared = 0
    for record in records:
        if record["garbage"] != "null":
            continue
        row = rows[record["is_call"], int(record["time"])]
        call = record["is_call"] == "call"
        host, port = ("source_ip", "source_port") if call else ("dest_ip", "dest_port")
        assert int(row["client"], 16) == int(record[host])
        assert row["client_port"] == int(record[port])
        assert row["xid"] == int(record["rpc_transaction_id"]) % 2**32
        assert row["version"] == int(record["nfs_version"])
        assert row["transport"].upper() == record["is_udp"]
        if not call:
            assert row["status"] == int(record["return_value"])
        for field in _fields(record):
            value, ours = record[field], _ours(row, _column(record, field))
            if value == "-1" and field in ("atime", "mtime"):  # to the server's own time
                ours, value = str(row[f"set_{field}_how"]), "1"
            elif field in LETTERS and isinstance(ours, int):
                ours = str(ord(LETTERS[field][ours]))
            elif field == "eof":
                ours = "FT"[ours]
            elif isinstance(ours, int):
                width = 2**64 if field.startswith("fsid") else 2**32 if value[0] == "-" else 2**64
                ours, value = ours % width, int(value) % width
            assert ours == value, (record["time"], field)
            compared += 1
    assert compared > 1000


def test_lines_that_the_converter_passes_through_are_set_aside(
    shared: Path, records: list[Any]
) -> None:
    trace = Whole(shared / "reference" / "ellard-raw-data.txt")
    ours = {record["bytes"].decode() for record in trace.damaged}
    garbage = {
        bytes.fromhex(record["garbage"]).decode().strip()
        for record in records
        if record["garbage"] != "null"
    }
    # one of theirs is a packet cut short, which we read as far as possible
    assert ours == {line for line in garbage if "SHORT PACKET" not in line}
    assert len(ours) == 2


def test_calls_per_operation_agree_with_the_converters_analysis(shared: Path) -> None:
    lines = (shared / "reference" / "ellard-analysis.txt.ref").read_text().splitlines()
    head = lines[0].split()
    counted: dict[str, int] = {}
    for line in lines[1:]:
        row = dict(zip(head, line.split(), strict=True))
        for op in ("read", "write", "lookup", "getattr", "access", "create", "remove"):
            counted[op] = counted.get(op, 0) + int(row[op])
    trace = open_trace(shared / "reference" / "ellard-raw-data.txt")
    list(trace)
    tallies = trace.counts()["procedures"]
    counted["lookup"] += 1  # a packet cut short, which the converter leaves undecoded
    assert {op: tallies[op]["calls"] for op in counted} == counted
