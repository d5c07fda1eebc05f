"""Profiles of created files: the rates of names, modes, users and clients in blocks of time.

A model's manifest has the profile of its training data (``inputs``), and every night is compared
with it (``audit.shifts``). Each value has sums over blocks of time, which give the variance of its
share, and counts by day.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Floats, Ints
from birthmark.features.columns import decoded
from birthmark.features.components import component_text, name_pieces
from birthmark.training.statistics.bootstrap import DAY, ENOUGH, UNITS, in_blocks

LISTED = 0.001
"""Least share of all creates for a value to be listed."""

ASPECTS = ("suffix", "first piece", "mode", "user", "client")
"""Aspects of a create: the last and first part of its name, mode, user and client."""


@dataclass(frozen=True)
class Count:
    """A value's creates: their number, sums over blocks, and numbers by day.

    `squares` is the sum of squares over blocks, `cross` the sum of products with the blocks'
    numbers of all creates.
    """

    hits: int
    squares: int
    cross: int
    days: tuple[int, ...]


@dataclass(frozen=True)
class Profile:
    """The creates of a period in blocks of `seconds`.

    `rows` is the number of all, in `blocks`; `squares` is the sum of squares over blocks, and
    `days` has the numbers by day. `counts` are by aspect and value.
    """

    seconds: int
    blocks: int
    rows: int
    squares: int
    days: tuple[int, ...]
    counts: Mapping[str, Mapping[str, Count]]

    def count(self, aspect: str, value: str) -> Count:
        """Return a value's count; zeros if it is too rare to be listed."""
        none = Count(0, 0, 0, (0,) * len(self.days))
        return self.counts.get(aspect, {}).get(value, none)

    def to_json(self) -> dict[str, Any]:
        """Return the profile for a manifest."""
        counts = {
            aspect: {value: [c.hits, c.squares, c.cross, list(c.days)] for value, c in own.items()}
            for aspect, own in self.counts.items()
        }
        return {**vars(self), "days": list(self.days), "counts": counts}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Profile:
        """Return a profile from the result of `to_json`."""
        counts = {
            aspect: {
                value: Count(hits, squares, cross, tuple(days))
                for value, (hits, squares, cross, days) in own.items()
            }
            for aspect, own in saved["counts"].items()
        }
        return cls(**{**saved, "days": tuple(saved["days"]), "counts": counts})


def profile(
    lives: pa.Table,
    seconds: int | None = None,
    wanted: Mapping[str, Iterable[str]] | None = None,
) -> Profile:
    """Return the profile of the births in a files table.

    Blocks are of `seconds`; None: the longest that give enough blocks. Values in `wanted`, by
    aspect, are listed however rare they are.
    """
    born = lives["born"].cast(pa.int64()).to_numpy()
    seconds = seconds or next((u for u in UNITS if in_blocks(born, u)[1] >= ENOUGH), UNITS[-1])
    (block, blocks), (day, days) = in_blocks(born, seconds), in_blocks(born, DAY)
    sizes = np.bincount(block, minlength=blocks)
    counts = {}
    for aspect, values in _values(lives).items():
        also = set(wanted.get(aspect, ())) if wanted else set()
        codes, names = _listed(values, len(lives), also)
        table = _table(codes, block, len(names), blocks)
        by_day = _table(codes, day, len(names), days)
        counts[aspect] = {
            name: Count(
                int(own.sum()), int((own**2).sum()), int(own @ sizes), tuple(map(int, of_days))
            )
            for name, own, of_days in zip(names, table, by_day, strict=True)
        }
    of_days = tuple(map(int, np.bincount(day, minlength=days)))
    return Profile(seconds, blocks, len(lives), int((sizes**2).sum()), of_days, counts)


def _values(lives: pa.Table) -> dict[str, pa.Array]:
    pieces = name_pieces(decoded(lives["name"]).cast(pa.binary()))
    found = (pieces["last"], pieces["first"], lives["mode"], lives["uid"], lives["client"])
    return {aspect: decoded(values) for aspect, values in zip(ASPECTS, found, strict=True)}


def _listed(values: pa.Array, rows: int, wanted: set[str]) -> tuple[Ints, list[str]]:
    """Return each row's value as a code, -1 if not listed, and the values as text."""
    encoded = values.dictionary_encode()
    codes = np.asarray(pc.fill_null(encoded.indices, -1).to_numpy(False), dtype=np.int64)
    often = np.bincount(codes[codes >= 0], minlength=len(encoded.dictionary)) >= LISTED * rows
    number = np.full(len(often) + 1, -1)  # the last is for null
    names: list[str] = []
    for code, value in enumerate(encoded.dictionary.to_pylist()):
        if often[code] or (wanted and _text(value) in wanted):
            number[code] = len(names)
            names.append(_text(value))
    return number[codes], names


def _text(value: Any) -> str:
    return component_text(value) if isinstance(value, bytes) else str(value)


def _table(codes: Ints, block: Ints, values: int, blocks: int) -> Floats:
    """Return the number of rows of each value in each block."""
    is_listed = codes >= 0
    flat = np.bincount(codes[is_listed] * blocks + block[is_listed], minlength=values * blocks)
    return flat.reshape(values, blocks).astype(np.float64)
