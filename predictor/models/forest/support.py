"""Support: the number of training files with each value, for a forest's evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Bytes, Floats
from birthmark.data.schema import WORD
from birthmark.data.schema import field as column
from birthmark.features.encoding import CODED, COLUMNS, NULL
from birthmark.predictor.models.words import LEAST_FILES

COUNTED = (*CODED, "hour")
"""The columns whose values are counted."""

COMBINED = ("mode", "uid", "gid", "client")
"""The columns whose values are looked up together with the suffix of the name."""

_SUFFIX = COLUMNS.index("suffix")

SUPPORT = pa.schema(
    [
        column("forest", pa.uint16(), "the forest's number", nullable=False),
        column("attribute", WORD, "a column whose values are coded, or the hour", nullable=False),
        column("code", pa.uint8(), "the code of its value", nullable=False),
        column("suffix", pa.uint8(), "code of the suffix in these rows; null: of all suffixes"),
        column("known", pa.list_(pa.uint32()), "by output, rows with it whose answer is known"),
        column("true", pa.list_(pa.uint32()), "by output, those where it holds; null: not counted"),
    ]
)
"""The counts of all forests."""

Value = tuple[str, int]
"""A column, and the code of a value in it."""


@dataclass(frozen=True)
class Support:
    """The training rows that have each value of ``COUNTED``.

    ``counts`` are by output those whose answer is known, and those where it holds. ``pairs`` are
    the values of ``COMBINED`` that rows have together with a suffix. Without any no combination is
    unseen.
    """

    counts: Mapping[Value, tuple[Sequence[int], Sequence[int]]] = field(default_factory=dict)
    pairs: frozenset[tuple[int, Value]] = frozenset()

    @classmethod
    def of(cls, matrix: Bytes, answers: Floats) -> Self:
        """Return the counts of rows of bytes and their answers (rows × outputs; nan: unknown)."""
        counts: dict[Value, tuple[Sequence[int], Sequence[int]]] = {}
        for name in COUNTED:
            codes, place = np.unique(matrix[:, COLUMNS.index(name)], return_inverse=True)
            known, true = np.zeros((2, len(codes), answers.shape[1]), dtype=np.int64)
            np.add.at(known, place.ravel(), ~np.isnan(answers))
            np.add.at(true, place.ravel(), answers == 1)
            for code, *own in zip(codes.tolist(), known.tolist(), true.tolist(), strict=True):
                counts[name, code] = own[0], own[1]
        pairs: set[tuple[int, Value]] = set()
        for name in COMBINED:
            both = np.unique(matrix[:, [_SUFFIX, COLUMNS.index(name)]], axis=0)
            pairs |= {(suffix, (name, code)) for suffix, code in both.tolist()}
        return cls(counts, frozenset(pairs))

    def share(self, name: str, code: int, output: int) -> tuple[int, int] | None:
        """Return the number of true rows with a value, and the number of all rows with it.

        ``None`` if there are fewer than ``LEAST_FILES``, or the value is not given.
        """
        known, true = self.counts.get((name, code), ((), ()))
        if not known or known[output] < LEAST_FILES or (name in CODED and code <= NULL):
            return None
        return true[output], known[output]

    def unseen(self, row: Bytes) -> list[str]:
        """Return the columns whose value in ``row`` no training row has with the name's suffix."""
        if not self.pairs:
            return []
        codes = {name: int(row[COLUMNS.index(name)]) for name in COMBINED}
        suffix = int(row[_SUFFIX])
        return [n for n, c in codes.items() if c != NULL and (suffix, (n, c)) not in self.pairs]

    def to_table(self, forest: int) -> pa.Table:
        """Return the counts as a table of ``SUPPORT``."""
        rows: list[dict[str, Any]] = [
            {"forest": forest, "attribute": name, "code": code, "known": known, "true": true}
            for (name, code), (known, true) in self.counts.items()
        ]
        rows += [
            {"forest": forest, "attribute": name, "code": code, "suffix": suffix}
            for suffix, (name, code) in sorted(self.pairs)
        ]
        plain = pa.schema([f if f.type != WORD else f.with_type(pa.utf8()) for f in SUPPORT])
        return pa.Table.from_pylist(rows, schema=plain).cast(SUPPORT)

    @classmethod
    def from_table(cls, table: pa.Table, outputs: int) -> Self:
        """Read what ``to_table`` wrote; raise ``ValueError`` if it is invalid."""
        counts: dict[Value, tuple[Sequence[int], Sequence[int]]] = {}
        pairs: set[tuple[int, Value]] = set()
        for row in table.to_pylist():
            value = row["attribute"], row["code"]
            if value[0] not in COUNTED or (row["suffix"] is None) == (row["true"] is None):
                raise ValueError(f"counts of {value[0]}")
            if row["suffix"] is not None:
                pairs.add((row["suffix"], value))
            elif row["known"] and len(row["known"]) == len(row["true"]) == outputs:
                counts[value] = row["known"], row["true"]
            else:
                raise ValueError(f"counts for {outputs} outputs")
        return cls(counts, frozenset(pairs))


NO_SUPPORT = Support()
"""The support of a forest that was saved without counts."""
