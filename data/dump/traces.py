"""Print a trace as nfsdump text, in its own order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path

from birthmark.data import generated
from birthmark.data.traces import unread
from birthmark.data.traces.reader import marks_of
from birthmark_native import TraceLines


class Dump(ABC):
    """Lines of nfsdump text: iterate over it for chunks of them.

    Attributes:
        left_out: at the end, the calls and replies, or operations, of NFS version 4, which the
            format cannot express.
        damaged: at the end, the unreadable records of a trace, by reason.
        warnings: at the end, warnings about missing or unreadable NFS.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self.left_out = 0
        self.damaged: dict[str, int] = {}
        self.warnings: list[str] = []

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._path}>"

    @abstractmethod
    def __iter__(self) -> Iterator[bytes]:
        """Give the lines."""


class TraceDump(Dump):
    """A trace, printed message by message in the order of its packets.

    Args:
        path: a capture or text; ``-`` is standard input. Lines received through a pipe are printed
            before it waits for more.
        all_attributes: print all attributes that the format has a key for, not only those that
            nfsdump 1.2.0c prints.
    """

    def __init__(self, path: str, all_attributes: bool = False) -> None:
        super().__init__(path)
        self._lines = TraceLines(path, all_attributes)

    def __iter__(self) -> Iterator[bytes]:
        yield heading(self._path)
        while (lines := self._lines.next_lines()) is not None:
            yield lines
        self.left_out, self.damaged = self._lines.left_out, self._lines.damaged
        self.warnings = unread.warnings(str(self._path), self._lines.counts())


def heading(path: Path) -> bytes:
    """Return the lines that mark a generated dataset or trace, if it was generated."""
    return b"".join(generated.comment(mark) + b"\n" for mark in marks_of(path))
