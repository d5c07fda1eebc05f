"""What a command is to read: each trace once, in the order of their time, and with NFS in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa


def each_once(paths: Iterable[str | Path]) -> None:
    """Raise ValueError where two paths are of one file or directory: it would count twice."""
    seen: dict[object, str | Path] = {}
    for path in paths:
        identity = _identity(path)
        if identity in seen:
            raise ValueError(
                f"{path}: is the same as {seen[identity]}, which is named before it: name it once"
            )
        seen[identity] = path


def _identity(path: str | Path) -> object:
    """Return what tells a file or directory from others: its path, where it is not there."""
    try:
        status = Path(path).stat()
    except OSError:
        return str(path)
    return status.st_dev, status.st_ino


class Beginnings:
    """When traces that are read one after the other begin, by server.

    Lives are followed from each to the next, so that those of one server must come in the order of
    their time.
    """

    def __init__(self) -> None:
        self._latest: dict[str, tuple[int, str]] = {}

    def of(self, path: str, trace: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield a trace's operations; raise ValueError if one before it begins later."""
        rows = 0
        for batch in trace:
            if not rows:
                self._note(path, batch)
            rows += batch.num_rows
            yield batch

    def _note(self, path: str, batch: pa.RecordBatch) -> None:
        columns = [batch["server"].cast(pa.utf8()), batch["time"].cast(pa.int64())]
        first = pa.table(columns, ["server", "time"]).group_by("server")
        for row in first.aggregate([("time", "min")]).to_pylist():
            self._begin(path, row["server"], row["time_min"])

    def _begin(self, path: str, server: str, time: int) -> None:
        latest, other = self._latest.get(server, (time, path))
        if time < latest:
            raise ValueError(
                f"{path}: of server {server} it begins at {_instant(time)}, and {other}, which is"
                f" named before it, at {_instant(latest)}: name traces in the order of their time"
            )
        self._latest[server] = time, path


def _instant(micros: int) -> str:
    return f"{datetime.fromtimestamp(micros / 1e6, UTC):%F %T}"


def without_nfs(path: str, counts: Mapping[str, Any]) -> str | None:
    """Return that a trace holds no message of NFS, and what it holds; None if it holds any.

    `counts` are those of `data.traces.reader.Trace.counts`.
    """
    tallies = counts["procedures"].values()
    if counts["orphans"] or any(each["calls"] or each["replies"] for each in tallies):
        return None
    return f"{path}: holds no NFS: {_held(counts)}"


def _held(counts: Mapping[str, Any]) -> str:
    """Return in words what a trace without NFS holds."""
    others = ", ".join(map(str, counts["other_programs"]))
    if others:
        return f"all RPC in it is of other programs ({others}), and NFS is program 100003"
    if "capture" in counts:
        packets = f"{counts['capture']['packets']:,} packets, none of RPC"
        return f"{packets}; expected those of NFS's port, which is 2049 as a rule"
    return f"{counts['records']:,} records, {sum(counts['damaged'].values()):,} of them damaged"
