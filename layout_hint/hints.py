"""Hints that no model gives, for scale and to do harm: with perfect knowledge, inverted, random.

A hint is a verdict on a create: bits of ``birthmark_hint.h``, in the order of
``LayoutTrace.creates()``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from predictor.hints import verdicts

from layout_hint.comparison import POLICIES
from layout_hint.place import Geometry, Room
from predictor.image import Image

ALL = POLICIES["all three"]

Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]


def of_flags(hot: Flags) -> pa.Array:
    """Return the verdicts that call these creates hot in every respect, and the others in none."""
    return pa.array(np.where(hot, ALL, 0), pa.uint8())


def inverted(image: bytes, creates: pa.Table) -> pa.Array:
    """Return the contrary of what a model says: hot is what it calls cold in every respect."""
    said = verdicts(Image(image), creates)
    return of_flags(said.to_numpy(zero_copy_only=False) == 0)


def at_random(creates: pa.Table, seed: int) -> pa.Array:
    """Return hints that call every other create hot, by chance."""
    return of_flags(np.random.default_rng(seed).random(len(creates)) < 0.5)


def oracle(objects: pa.Table, creates: int, sizes: Geometry, room: Room) -> pa.Array:
    """Return the hints that one would give who knew what becomes of every object.

    Objects are taken by how many writes they bring per byte that they take of the region, their
    inode among both (which is written once at least): those above some density, the least at which
    neither its inodes nor its fragments ever are too few for all of them that live at once. So
    what lives briefly takes room briefly.

    Args:
        objects: of a run by default: ``place``, ``writes``, ``fragments``, ``born``, ``died``.
        creates: how many there are.
        sizes: of the file system.
        room: of the region.
    """
    named = objects.filter(pc.is_valid(objects["place"]))
    place, writes, fragments = (
        named[name].to_numpy().astype(np.int64) for name in ("place", "writes", "fragments")
    )
    density = (writes + 1) / (fragments * sizes.fsize + sizes.inode_bytes)
    lives = _Lives(named, fragments)
    levels = np.unique(density)
    low, high = 0, len(levels)  # the least level that fits is one of these; at the last none is hot
    while low < high:
        middle = (low + high) // 2
        if lives.fit(density >= levels[middle], room):
            high = middle
        else:
            low = middle + 1
    hot = np.zeros(creates, np.bool_)
    if low < len(levels):
        hot[place[density >= levels[low]]] = True
    return of_flags(hot)


class _Lives:
    """When objects take room: from their birth to their death."""

    def __init__(self, objects: pa.Table, fragments: Numbers) -> None:
        born = pc.fill_null(objects["born"], -1).to_numpy()
        died = pc.fill_null(objects["died"], np.iinfo(np.int64).max).to_numpy()
        # of what happens at once, deaths are first
        self._order = np.lexsort((np.repeat([1, 0], len(born)), np.concatenate([born, died])))
        self._fragments = np.concatenate([fragments, -fragments])[self._order]
        self._inodes = np.repeat(np.array([1, -1]), len(born))[self._order]

    def fit(self, hot: Flags, room: Room) -> bool:
        """Tell whether those that are hot have room together at every time."""
        both = np.concatenate([hot, hot])[self._order]
        inodes, fragments = (
            np.cumsum(np.where(both, change, 0)).max(initial=0)
            for change in (self._inodes, self._fragments)
        )
        return bool(inodes <= room.inodes and fragments <= room.fragments)
