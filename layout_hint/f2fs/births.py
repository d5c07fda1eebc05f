"""A model's counts of births, by name and by suffix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Bools, Floats, Ints
from birthmark.layout_hint.f2fs.extensions import (
    LONGEST,
    Temperature,
    can_be_written,
    extensions_of,
)
from birthmark.predictor.models.model_set import ModelSet
from birthmark_native import whole_names

SHORT, LOCK, REWRITTEN = "lifespan<=30", "lock", "HotWrite"
"""The predicates that define temperatures; a lock has no data to place."""


class Births:
    """Births by name: all (``all``), and those that were short, locks, or rewritten.

    Attributes:
        level: the confidence of the limits of shares.
        rows: by suffix, the indexes of the names that have it, by the kernel's rule.
    """

    def __init__(self, rules: ModelSet[Any]) -> None:
        self.level: float = rules[SHORT].level
        self._names, self.all, self.short = _whole(rules[SHORT].counts_)
        place = {name: row for row, name in enumerate(self._names)}
        self.locks = _aligned(rules[LOCK].counts_, place)
        self.rewritten = _aligned(rules[REWRITTEN].counts_, place)
        self.rows = _rows_of(self._names)

    def agreeing(self, temperature: Temperature) -> Floats:
        """Return by name the number of births that match a list's temperature."""
        if temperature == "hot":
            return self.short
        return np.maximum(self.all - self.short - self.rewritten, 0)

    def against(self, temperature: Temperature) -> Floats:
        """Return by name the number of births that contradict a list."""
        return self.all - self.short if temperature == "hot" else self.rewritten

    def having(self, extensions: Iterable[str]) -> Bools:
        """Return which names have one of the extensions."""
        found = np.zeros(len(self.all), dtype=np.bool_)
        for extension in extensions:
            found[self.rows[extension]] = True
        return found


def _whole(counts: pa.Table) -> tuple[list[bytes], Floats, Floats]:
    """Return the whole names among components, and their counts."""
    names = whole_names(counts["component"].combine_chunks())
    own = counts.filter(names.is_valid())
    n_a, n_m = (np.asarray(own[n], dtype=np.float64) for n in ("n_a", "n_m"))
    return names.drop_null().to_pylist(), n_a, n_m


def _aligned(counts: pa.Table, place: Mapping[bytes, int]) -> Floats:
    """Return the counted births of the names in ``place``."""
    found = np.zeros(len(place))
    for name, _, n_m in zip(*_whole(counts), strict=True):
        if name in place:
            found[place[name]] = n_m
    return found


def _rows_of(names: Sequence[bytes]) -> dict[str, Ints]:
    """Return the names with each suffix, or for a long name, with its beginning.

    A suffix is the part after a period, except a number: that is a counter or a process, and does
    not predict future files.
    """
    pieces = {piece for name in names for piece in name.lower().split(b".")[1:]}
    suffixes = {piece[:LONGEST] for piece in pieces if not piece.isdigit()}
    texts = (suffix.decode("ascii", "replace") for suffix in suffixes)
    rows: dict[str, list[int]] = {text: [] for text in texts if can_be_written(text)}
    for row, name in enumerate(names):
        for extension in extensions_of(name):
            if (text := extension.decode("ascii", "replace")) in rows:
                rows[text].append(row)
    return {text: np.array(own, dtype=np.int64) for text, own in sorted(rows.items()) if own}
