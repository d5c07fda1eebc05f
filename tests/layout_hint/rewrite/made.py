"""Handmade traces and their replays: operations as dicts, times in seconds."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from birthmark.data.schema import OPERATIONS
from birthmark.layout_hint.rewrite import BuildSummary, build
from tests import needs

Row = dict[str, Any]

BASE = 1_000_000_000  # the first second of the traces
HOME = b"home"  # the handle of the directory of most names
UNCHECKED, GUARDED, EXCLUSIVE = 0, 1, 2  # createmode3, RFC 1813 section 3.3.8
FILE, DIRECTORY, SYMLINK = 1, 2, 5  # ftype3, RFC 1813 section 2.6
# nfsstat3, RFC 1813 section 2.6
PERM, NOENT, ACCES, EXIST, NOTDIR, NOTEMPTY, STALE, JUKEBOX = 1, 2, 13, 17, 20, 66, 70, 10008
OWNER = os.geteuid() or 1001  # whoever runs the tests can be a caller
DEFAULTS: Row = {
    "server": "nfs",
    "server_port": 2049,
    "client": "host",
    "client_port": 700,
    "transport": "tcp",
    "version": 3,
    "xid": 1,
    "status": 0,
    "retransmits": 0,
    "duplicate_replies": 0,
    "short": False,
    "uid": OWNER,
    "gid": OWNER,
    "gids": [],
}


def op(procedure: str, time: float, fh: bytes | None, **more: object) -> Row:
    """A call on a handle and its reply, a millisecond later unless ``reply`` has another time."""
    return {"op": procedure, "time": time, "fh": fh, **more}


def lookup(time: float, name: bytes, new_fh: bytes | None = None, **more: object) -> Row:
    return op("lookup", time, HOME, **{"name": name, "new_fh": new_fh, **more})


def create(time: float, name: bytes, new_fh: bytes | None = None, **more: object) -> Row:
    found = {"how": GUARDED, "set_mode": 0o644, "ftype": FILE if new_fh else None}
    return op("create", time, HOME, **{"name": name, "new_fh": new_fh, **found, **more})


def file(size: int = 0, mode: int = 0o644, **more: object) -> Row:
    """Attributes of a file, in a reply."""
    return {
        "ftype": FILE,
        "mode": mode,
        "nlink": 1,
        "owner": OWNER,
        "group": OWNER,
        "size": size,
    } | more


def directory(mode: int = 0o755, **more: object) -> Row:
    """Attributes of a directory, in a reply."""
    return {"ftype": DIRECTORY, "mode": mode, "nlink": 2, "owner": OWNER, "group": OWNER} | more


def write_trace(path: Path, rows: list[Row]) -> Path:
    """Write operations as a trace in Parquet."""
    whole = []
    for row in rows:
        row = {**DEFAULTS, **row}
        reply = row.pop("reply", row["time"] + 0.001)
        row["reply_time"] = None if row["status"] is None else reply
        whole.append(row)
    columns = []
    for each in OPERATIONS:
        values = [row.get(each.name) for row in whole]
        if pa.types.is_timestamp(each.type):
            values = [None if v is None else round((BASE + v) * 1e6) for v in values]
        if pa.types.is_dictionary(each.type):
            columns.append(pa.array(values, pa.utf8()).dictionary_encode())
        else:
            columns.append(pa.array(values, each.type))
    pq.write_table(pa.Table.from_arrays(columns, schema=OPERATIONS), path)
    return path


@dataclass
class Replayed:
    """The replay of a trace: the build, its tables, the run, and the resulting directory."""

    built: BuildSummary
    ran: Any  # birthmark.research.replay.RunSummary
    manifest: list[Row]
    operations: list[Row]
    root: Path

    @property
    def inserted(self) -> list[tuple[str, str]]:
        """The inserted operations: the procedure and the reason, in order."""
        return [(row["op"], row["inserted"]) for row in self.operations if row["inserted"]]

    @property
    def sequence(self) -> list[str]:
        """The procedures in the order of execution, those inserted with a plus before them."""
        return [("+" if row["inserted"] else "") + row["op"] for row in self.operations]

    @property
    def paths(self) -> list[str]:
        """The paths in the manifest, with the directory of most names as ``home``."""
        return sorted(row["path"].decode() for row in self.manifest)

    def left(self) -> set[str]:
        """The final paths below the root; directories with invented names as ``home``."""
        return {str(path.relative_to(self.root)) for path in self.root.rglob("*")}


def replayed(tmp_path: Path, rows: list[Row], **options: Any) -> Replayed:
    """Build a replay of a trace and run it: everything must end as in the trace."""
    trace = write_trace(tmp_path / "trace.parquet", rows)
    found = replayed_trace(tmp_path, trace, **options)
    assert found.ran.differences == []
    assert found.ran.same + found.ran.not_compared == found.ran.operations == found.built.operations
    assert found.built.operations + sum(found.built.left_out.values()) == found.built.calls
    assert all(counts["compared"] == counts["alike"] for counts in found.ran.checks.values())
    return found


def replayed_trace(tmp_path: Path, trace: Path, **options: Any) -> Replayed:
    """Build a replay of a trace file and run it; without `research` the test is skipped."""
    run = needs.research("replay").run
    out, root = tmp_path / "build", tmp_path / "root"
    built = build([trace], out, **options)
    ran = run(out, root)
    manifest = pq.read_table(out / "manifest.parquet").to_pylist()
    operations = pq.read_table(out / "operations.parquet").to_pylist()
    return Replayed(built, ran, manifest, operations, root)
