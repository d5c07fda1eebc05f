"""A live history, written as a follower does."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from birthmark.data.schema import LOOKED_UP
from birthmark_native import SharedHistory, SharedHistoryWriter

CLOCK = 1_797_770_000_000_000
"""When the last operation happened, microseconds since the epoch."""

OPERATIONS = 1_234
"""The number of operations that the follower reports."""

HANDLE = b"a directory's handle"


class Follower:
    """Writes an empty live history to `path`, in a new folder, when `says` is called."""

    def __init__(self, folder: Path, version: str = "0.1.0") -> None:
        folder.mkdir(mode=0o700)
        self.path = folder / "history"
        self._writer = SharedHistoryWriter(self.path, 100, 100, version)
        self._writer.directory(HANDLE, name=b"ada", path=b"/home/ada", time=CLOCK)

    def says(self, lag: float = 0.0, loss: float = 0.0, state: str = "following") -> None:
        """Update the history, and let readers find it."""
        self._writer.commit(CLOCK, lag, loss, state, OPERATIONS)
        self._writer.publish()


def whys() -> list[str]:
    """Return all reasons not to use a live history, as answers have them."""
    none = pa.RecordBatch.from_pylist([], pa.schema(LOOKED_UP))
    words: list[str] = SharedHistory("nowhere", 1, 1, 1).at(none)["why"].dictionary.to_pylist()
    return words
