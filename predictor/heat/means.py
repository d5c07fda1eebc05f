"""Shrinkage: means of groups, each shrunk towards the mean of a coarser group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Floats
from birthmark.data.common.sums import summed
from birthmark.features.columns import decoded

_KEYS = [pa.field("level", pa.uint8(), False), pa.field("key", pa.binary(), False)]


class ShrunkenMeans:
    """Means of several values, by levels of keys from the coarse to the fine.

    A row's estimate starts as the mean of all rows. Level by level it becomes
    (sum + ``strength`` x estimate so far) / (weight + ``strength``), where sum and weight are those
    of the learned rows with the same key: a group of much weight has its own mean, a small one
    stays near the coarser group's, and a key that is new or null changes nothing. This is the
    posterior mean under a conjugate prior that is worth ``strength`` rows (the m-estimate of
    Cestnik, *Estimating probabilities*, ECAI 1990; scikit-learn's ``TargetEncoder`` has one level
    of it).

    Keys of less weight than ``least`` count as new. Without ``overall`` there is no initial
    estimate: the first level whose key was seen has its own mean, and a row with only new keys is
    estimated at 0.

    ``levels`` name the columns that each level's key is made of. After ``fit``, ``sums_`` has a
    row per level and key (level 0: all rows): ``weight``, and the weighted sum of each value.
    Learning adds to sums, so that it can go on at any time (``partial_fit``).
    """

    def __init__(
        self,
        levels: Sequence[Sequence[str]],
        values: Sequence[str],
        strength: float = 1.0,
        least: float = 0.0,
        overall: bool = True,
    ) -> None:
        if not strength > 0:
            raise ValueError(f"strength must be above 0, not {strength!r}")
        self.levels = [list(level) for level in levels]
        self.values = list(values)
        self.strength = strength
        self.least = least
        self.overall = overall
        self.sums_ = self.schema.empty_table()

    @property
    def schema(self) -> pa.Schema:
        """The columns of ``sums_``."""
        numbers = [pa.field(name, pa.float64(), False) for name in ("weight", *self.values)]
        return pa.schema([*_KEYS, *numbers])

    def partial_fit(
        self, groups: pa.Table, values: Mapping[str, Any], weight: Any = None
    ) -> ShrunkenMeans:
        """Learn rows: their key columns, their values, and how much each counts (default: 1)."""
        weights = np.ones(len(groups)) if weight is None else np.asarray(weight, dtype=np.float64)
        weighted = {name: np.asarray(values[name], np.float64) * weights for name in self.values}
        parts = [self.sums_]
        for level, key in enumerate(self._keys(groups)):
            rows = {"level": np.full(len(groups), level, np.uint8), "key": key, "weight": weights}
            table = pa.table(rows | weighted).filter(key.is_valid())
            parts.append(table.cast(self.schema))
        self.sums_ = self._summed(pa.concat_tables(parts))
        return self

    def predict(self, groups: pa.Table) -> dict[str, Floats]:
        """Return the estimate of each value for each row, and its evidence as ``weight``.

        The evidence is the weight of the learned rows with the row's finest key that was seen.
        """
        estimate = np.zeros((len(groups), len(self.values)))
        weight, begun = np.zeros(len(groups)), np.zeros(len(groups), dtype=np.bool_)
        deciding = self.deciding()
        for level, key in enumerate(self._keys(groups)):
            seen, sums = self._looked_up(deciding.filter(pc.equal(deciding["level"], level)), key)
            prior = np.where(begun, self.strength, 1e-9)  # the first mean has no prior
            estimate = (sums + prior[:, None] * estimate) / (seen + prior)[:, None]
            weight = np.where(seen > 0, seen, weight)
            begun |= seen > 0
        return {"weight": weight} | dict(zip(self.values, estimate.T, strict=True))

    def deciding(self) -> pa.Table:
        """Return the rows of ``sums_`` that estimates use: only these need to be saved."""
        enough = pc.greater_equal(self.sums_["weight"], self.least)
        return self.sums_.filter(pc.or_(enough, pc.equal(self.sums_["level"], 0)))

    def _looked_up(self, learned: pa.Table, key: pa.Array) -> tuple[Floats, Floats]:
        """Return weight and sums of the rows' keys at a level; zeros for keys not learned."""
        place = pc.index_in(key, value_set=learned["key"].combine_chunks(), skip_nulls=True)
        columns = [
            pc.fill_null(learned[name].combine_chunks().take(place), 0.0)
            for name in ("weight", *self.values)
        ]
        weight, *sums = (np.asarray(column, dtype=np.float64) for column in columns)
        return weight, np.column_stack(sums)

    def _keys(self, groups: pa.Table) -> list[pa.Array]:
        everything = pa.repeat(pa.scalar(b"" if self.overall else None, pa.binary()), len(groups))
        return [everything, *(_joined(groups.select(level)) for level in self.levels)]

    def _summed(self, rows: pa.Table) -> pa.Table:
        sums = summed(rows, ["level", "key"], self.schema.names[2:]).cast(self.schema)
        return sums.sort_by([("level", "ascending"), ("key", "ascending")])


def _joined(columns: pa.Table) -> pa.Array:
    """Return the columns of each row as one key; null if any is null."""
    texts = [_binary(column) for column in columns.columns]
    return texts[0] if len(texts) == 1 else pc.binary_join_element_wise(*texts, b"\0")


def _binary(column: pa.ChunkedArray) -> pa.Array:
    column = decoded(column)
    if not pa.types.is_binary(column.type):
        column = column.cast(pa.utf8()).cast(pa.binary())
    return column
