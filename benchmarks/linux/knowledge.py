"""Perfect knowledge of a load: the hint of each file's own future, and its room."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum

from benchmarks.linux.load import Op, Step

BLOCK = 4096
SHORT_OF_FREE, EXTREME_OF_FREE = 0.25, 4.0
"""A file's data are short-lived that die before a quarter of the free space is written, and live
extremely long if they see it written four times. Between them lies what a cleaner finds half dead.
"""


class Hint(IntEnum):
    """The write-life hints of Linux (``F_SET_RW_HINT`` in fcntl(2))."""

    NOT_SET, NONE, SHORT, MEDIUM, LONG, EXTREME = range(6)


def perfect(played: Iterable[Step], free: int) -> dict[int, int]:
    """Return by file the hint that the median life of its written blocks calls for.

    A block's life is what all writes of the load write until it is overwritten, cut off or removed,
    in bytes; ``free`` are the bytes of free space. A block that lives to the end lives on.
    """
    lives = _Lives()
    for step in played:
        lives.take(step)
    lives.end()
    return {file: _hint(own, free) for file, own in lives.ended.items() if own}


def begins(played: Sequence[Step]) -> int:
    """Return the place of the first step that is none of making what there was before."""
    made = (Op.FOLDER, Op.CREATE, Op.LINK)
    return next((n for n, step in enumerate(played) if step.op not in made), len(played))


def room_needed(played: Sequence[Step]) -> tuple[int, int]:
    """Return the bytes that a load's files fill at their fullest, and how many more than at first.

    Each file takes a block more, for its node.
    """
    lives, first, most = _Lives(), begins(played), 0
    for number, step in enumerate(played):
        if number == first:
            at_first = lives.blocks
        lives.take(step)
        most = max(most, lives.blocks)
    return most * BLOCK, (most - at_first) * BLOCK


def _hint(lives: list[float], free: int) -> Hint:
    median = sorted(lives)[len(lives) // 2]
    if median <= SHORT_OF_FREE * free:
        return Hint.SHORT
    return Hint.EXTREME if median >= EXTREME_OF_FREE * free else Hint.NOT_SET


class _Lives:
    """The blocks of each file, when each was written, and how long those lived that are gone."""

    def __init__(self) -> None:
        self.ended: dict[int, list[float]] = {}
        self._since: dict[int, dict[int, int]] = {}
        self._links: dict[int, int] = {}
        self._now = 0
        self.blocks = 0

    def take(self, step: Step) -> None:
        """Take a step."""
        if step.op in (Op.CREATE, Op.WRITE):
            self._make(step.file)
            self._write(step.file, step.offset, step.count)
        elif step.op is Op.LINK:
            self._links[step.file] = self._links.get(step.file, 1) + 1
        elif step.op is Op.TRUNCATE:
            self._cut(step.file, -(-step.offset // BLOCK))
        elif step.op is Op.REMOVE:
            self._links[step.file] = self._links.get(step.file, 1) - 1
            if not self._links[step.file]:
                self._cut(step.file, 0)
                self.blocks -= 1

    def end(self) -> None:
        """Let all existing files survive."""
        for file, blocks in self._since.items():
            self.ended.setdefault(file, []).extend([float("inf")] * len(blocks))

    def _make(self, file: int) -> None:
        if file not in self._links:
            self._links[file] = 1
            self.blocks += 1

    def _write(self, file: int, offset: int, count: int) -> None:
        blocks = self._since.setdefault(file, {})
        for block in range(offset // BLOCK, -(-(offset + count) // BLOCK)):
            if block in blocks:
                self.ended.setdefault(file, []).append(self._now - blocks[block])
            else:
                self.blocks += 1
            blocks[block] = self._now
        self._now += count

    def _cut(self, file: int, first: int) -> None:
        blocks = self._since.get(file, {})
        for block in [each for each in blocks if each >= first]:
            self.ended.setdefault(file, []).append(self._now - blocks.pop(block))
            self.blocks -= 1
