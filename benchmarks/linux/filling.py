"""Filling and ageing a file system before a load, with files such as were there before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.linux.load import Op, Step

FOLDER = 0xF000_0000
"""The first folder of the filling; a build counts its objects from below."""

_IN_A_FOLDER = 200
_SMALLEST, _LARGEST = 4096, 4 << 20
_USUAL = (b"file", 64 << 10)


def fill(like: Sequence[Step], percent: int, room: int, seed: int) -> Iterator[Step]:
    """Yield what fills a file system until it is ``percent`` full, and ages it.

    Names and sizes are those of files that a load finds there (``like``), drawn at random; ``room``
    is that of the file system, in bytes. Then as many files as fill half of it are removed, each a
    random one of all, and others made in their places: so free space comes to lie in pieces.
    """
    rng = np.random.default_rng(seed)
    there = [(step.name[1], step.count) for step in like if step.op is Op.CREATE and step.count]
    kinds = there or [_USUAL]
    sizes = np.clip([size for _, size in kinds], _SMALLEST, _LARGEST)
    number = int(room * percent / 100 / sizes.mean() * 1.2) + 1
    made = [_file(n, kinds[k][0], int(sizes[k]), percent) for n, k in _drawn(rng, kinds, number)]
    for folder in sorted({step.name[0] for step in made}):
        yield Step(Op.FOLDER, name=(folder, b""))
    yield from made
    for place in rng.permutation(number)[: number // 2]:
        yield Step(Op.REMOVE, name=made[place].name)
        yield made[place]


def _drawn(
    rng: np.random.Generator, kinds: Sequence[tuple[bytes, int]], number: int
) -> Iterator[tuple[int, int]]:
    return enumerate(rng.integers(len(kinds), size=number).tolist())


def _file(number: int, name: bytes, size: int, percent: int) -> Step:
    """Return the step that makes a file; its number follows the first byte, before any suffix."""
    own = (name[:1] + str(number).encode() + name[1:])[:255]
    place = (FOLDER + number // _IN_A_FOLDER, own)
    return Step(Op.FILL, name=place, count=size, percent=percent)
