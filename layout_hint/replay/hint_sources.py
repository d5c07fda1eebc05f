"""Hints from other sources than a model: perfect knowledge, inverted, random.

A hint is a verdict on a create: bits of ``birthmark_hint.h``, in the order of
``LayoutTrace.creates()``.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.layout_hint.replay.conditions import POLICIES
from birthmark.layout_hint.replay.region import Region
from birthmark.predictor.allocation.verdicts import verdicts
from birthmark.predictor.image.format import Image

ALL = POLICIES["all three"]

Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]


def of_model(image: bytes, creates: pa.Table) -> pa.Array:
    """Return the verdicts of a model's image on each create."""
    return verdicts(Image(image), creates)


def of_flags(hot: Flags) -> pa.Array:
    """Return verdicts that call these creates hot in every respect, and the others in none."""
    return pa.array(np.where(hot, ALL, 0), pa.uint8())


def inverted(verdicts: pa.Array) -> pa.Array:
    """Return verdicts that call hot what a model calls cold in every respect."""
    return of_flags(verdicts.to_numpy(zero_copy_only=False) == 0)


def at_random(creates: int, seed: int) -> pa.Array:
    """Return random hints that call half of the creates hot."""
    return of_flags(np.random.default_rng(seed).random(creates) < 0.5)


def oracle(objects: pa.Table, lives: pa.Table, creates: int, region: Region) -> pa.Array:
    """Return the hints of perfect knowledge of every object.

    Objects are chosen by their writes per fragment of the region, as many as fit: at no time may
    the living ones exceed the inodes or the fragments, so short-lived objects occupy room only
    briefly. Objects without a block of their own need only an inode; they get the inodes that are
    left.

    Args:
        objects: of a run by default: ``id``, ``place``, ``writes``, ``fragments``.
        lives: their lifetimes, ``id``, ``born``, ``died`` (`lifetimes`).
        creates: number of creates.
        region: the region's size.
    """
    named = objects.filter(pc.is_valid(objects["place"]))
    place, writes, fragments = (
        named[name].to_numpy().astype(np.int64) for name in ("place", "writes", "fragments")
    )
    by_density = np.argsort(-writes / np.maximum(fragments, 1), kind="stable")
    filled = fragments[by_density] > 0
    own = pc.index_in(named["id"], value_set=lives["id"].combine_chunks())
    times, hot = _Lives(lives.take(own), fragments), np.zeros(len(place), np.bool_)
    for order in (by_density[filled], by_density[~filled]):
        hot = _fill(hot, order, times, region)
    flags = np.zeros(creates, np.bool_)
    flags[place[hot]] = True
    return of_flags(flags)


def _fill(hot: Flags, order: Numbers, lives: _Lives, region: Region) -> Flags:
    """Return the hot ones, and as many of the first of ``order`` as fit."""

    def first(count: int) -> Flags:
        more = hot.copy()
        more[order[:count]] = True
        return more

    counts = range(1, len(order) + 1)
    return first(bisect_left(counts, True, key=lambda count: not lives.fit(first(count), region)))


class _Lives:
    """Times at which objects occupy room: from birth to death."""

    def __init__(self, objects: pa.Table, fragments: Numbers) -> None:
        born = pc.fill_null(objects["born"], -1).to_numpy()
        died = pc.fill_null(objects["died"], np.iinfo(np.int64).max).to_numpy()
        # of simultaneous events, deaths come first
        self._order = np.lexsort((np.repeat([1, 0], len(born)), np.concatenate([born, died])))
        self._fragments = np.concatenate([fragments, -fragments])[self._order]
        self._inodes = np.repeat(np.array([1, -1]), len(born))[self._order]

    def fit(self, hot: Flags, region: Region) -> bool:
        """Return whether all hot objects fit at every time."""
        both = np.concatenate([hot, hot])[self._order]
        inodes, fragments = (
            np.cumsum(np.where(both, change, 0)).max(initial=0)
            for change in (self._inodes, self._fragments)
        )
        return bool(inodes <= region.inodes and fragments <= region.fragments)
