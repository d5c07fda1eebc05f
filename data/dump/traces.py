"""nfsdump text out: a trace printed as it comes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path

from birthmark.data import generated
from birthmark.data.traces.reader import marks_of
from birthmark_native import TraceLines


class Dump(ABC):
    """Lines of nfsdump text: iterate over it for chunks of them.

    Attributes:
        left_out: at the end, the calls and replies, or the operations, of NFS version 4, for which
            the format has no form.
        damaged: at the end, the records of a trace that could not be read, by reason.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self.left_out = 0
        self.damaged: dict[str, int] = {}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._path}>"

    @abstractmethod
    def __iter__(self) -> Iterator[bytes]:
        """Give the lines."""


class TraceDump(Dump):
    """A trace, printed message by message in the order of its packets.

    Args:
        path: a capture or text; ``-`` is standard input. What has come through a pipe is printed
            before more is waited for.
        all_attributes: print whatever the format has a key for, not only what nfsdump 1.2.0c does.
    """

    def __init__(self, path: str, all_attributes: bool = False) -> None:
        super().__init__(path)
        self._lines = TraceLines(path, all_attributes)

    def __iter__(self) -> Iterator[bytes]:
        yield heading(self._path)
        while (lines := self._lines.next_lines()) is not None:
            yield lines
        self.left_out, self.damaged = self._lines.left_out, self._lines.damaged


def heading(path: Path) -> bytes:
    """Return the lines that say what of a dataset or a trace was generated, if any of it was."""
    return b"".join(generated.comment(mark) + b"\n" for mark in marks_of(path))
