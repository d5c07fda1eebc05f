"""Check the inputs of a command: each trace once, in the order of their time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

from birthmark.data.traces.reader import Chunk, Trace


def reject_duplicates(paths: Iterable[str | Path]) -> None:
    """Raise ValueError if two paths are the same file or directory: it would count twice."""
    seen: dict[object, str | Path] = {}
    for path in paths:
        identity = _identity(path)
        if identity in seen:
            raise ValueError(
                f"{path}: is the same as {seen[identity]}, which is named before it: name it once"
            )
        seen[identity] = path


def _identity(path: str | Path) -> object:
    """Return the identity of a file or directory; its path if it does not exist."""
    try:
        status = Path(path).stat()
    except OSError:
        return str(path)
    return status.st_dev, status.st_ino


class TraceOrderCheck:
    """The begin of traces that are read one after the other, by server.

    Lives are followed from each trace to the next, so traces of one server must be in the order of
    their time.
    """

    def __init__(self) -> None:
        self._latest: dict[str, tuple[int, str]] = {}

    def of(self, trace: Trace) -> Iterator[Chunk]:
        """Yield a trace's chunks; raise ValueError if an earlier trace begins later."""
        begun = False
        for chunk in trace.chunks():
            if chunk.operations and not begun:
                self._note(trace.path, chunk.operations[0])
                begun = True
            yield chunk

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
