"""Incremental models of file names that count components."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Floats
from birthmark.features.columns import names_of
from birthmark.features.components import component_text
from birthmark.predictor.models.learned import Answers, Learned
from birthmark_native import count_components

COUNTS = pa.schema(
    [
        pa.field("component", pa.binary(), nullable=False),
        pa.field("n_a", pa.uint64(), nullable=False),
        pa.field("n_m", pa.uint64(), nullable=False),
    ]
)
"""``n_a``: names that have the component. ``n_m``: those of them for which the predicate holds."""

TRACE = 1e-6
"""Greatest count that is treated as zero: a remnant of ageing or rounding."""


class ComponentCounts(Learned):
    """A model of names that depends only on the counts of their components.

    After fitting, ``counts_`` has every component with its counts, and ``rules_`` the rules that
    subclasses derive from them (``_derive``).
    """

    counts_schema: ClassVar[pa.Schema] = COUNTS
    """The schema of ``counts_``: counts may be fractions if they age."""

    prefix: bool

    @classmethod
    def from_rules(cls, rules: pa.Table, counts: pa.Table | None = None, **parameters: Any) -> Self:
        """Return the model that has ``rules_``, over names in a column ``name`` and booleans.

        ``counts`` becomes ``counts_``. Without it the model predicts but can neither learn nor
        forget.
        """
        model = cls(**parameters)._prepared(["name"])
        model.rules_ = rules
        if counts is not None:
            model.counts_ = counts
        return model

    @classmethod
    def from_counts(cls, counts: pa.Table, **parameters: Any) -> Self:
        """Return the model whose ``counts_`` are ``counts``, of boolean labels."""
        model = cls(**parameters)._prepared(["name"])
        model._set_counts(counts.cast(cls.counts_schema))
        return model

    def limits(self) -> tuple[pa.Array, Floats, Floats]:
        """Return the components of the rules, and each one's least and greatest score."""
        raise NotImplementedError

    def _learn(self, table: pa.Table, positive: Answers) -> None:
        self._set_counts(self._count(table, positive).cast(self.counts_schema))

    def _learned(self) -> pa.Table:
        if not hasattr(self, "counts_"):
            raise ValueError("this model was loaded without its counts: it can only predict")
        return self.counts_

    def _count(self, table: pa.Table, positive: Answers) -> pa.Table:
        (counts,) = count(names_of(table), {"y": pa.array(positive)}, self.prefix).values()
        return counts

    def _set_counts(self, counts: pa.Table) -> None:
        self.rules_ = self._derive(counts)
        self.counts_ = counts

    def _derive(self, counts: pa.Table) -> pa.Table:
        """Return the rules that follow from ``counts``."""
        raise NotImplementedError


def count(
    names: pa.BinaryArray, labels: Mapping[str, pa.BooleanArray], prefix: bool
) -> dict[str, pa.Table]:
    """Return for each of ``labels`` the counts (``COUNTS``) of the components of ``names``.

    It takes one pass over the names for any number of labels. Rows whose name or label is null are
    left out.
    """
    if not labels:
        return {}
    answers = pa.record_batch(list(labels.values()), names=list(labels))
    batch = count_components(names, answers, prefix)
    counts = {}
    for key, label in labels.items():
        columns = [batch["component"], batch[f"{key} n_a"], batch[f"{key} n_m"]]
        table = pa.table(columns, schema=COUNTS)
        counts[key] = table.filter(pc.greater(table["n_a"], 0)) if label.null_count else table
    return counts


def added(counts: pa.Table) -> pa.Table:
    """Return the sum of the counts of several sets of names: ``COUNTS``, a row per component."""
    summed = counts.group_by("component").aggregate([("n_a", "sum"), ("n_m", "sum")])
    columns = [summed["component"], summed["n_a_sum"], summed["n_m_sum"]]
    return pa.table(columns, schema=COUNTS).sort_by("component").combine_chunks()


def merged(counts: pa.Table, change: pa.Table, weight: float) -> pa.Table:
    """Return ``counts`` plus ``weight`` times those of ``change``.

    Raises ``ValueError`` if a count would become negative.
    """
    numbers = pa.schema([COUNTS.field("component"), ("n_a", pa.float64()), ("n_m", pa.float64())])
    change = pa.table(
        [
            change["component"],
            *(pc.multiply(change[n].cast("double"), weight) for n in ("n_a", "n_m")),
        ],
        schema=numbers,
    )
    both = pa.concat_tables([counts.cast(numbers), change])
    summed = both.group_by("component").aggregate([("n_a", "sum"), ("n_m", "sum")])
    n_a, n_m = summed["n_a_sum"], summed["n_m_sum"]
    negative = pc.or_(pc.less(n_m, -TRACE), pc.greater(n_m, pc.add(n_a, TRACE)))
    invalid = summed.filter(negative)
    if len(invalid):
        example = component_text(invalid["component"][0].as_py())
        raise ValueError(f"cannot forget what was not learned: component {example!r}")
    n_m = pc.max_element_wise(0.0, pc.min_element_wise(n_m, n_a))
    left = pa.table([summed["component"], n_a, n_m], schema=numbers)
    left = left.filter(pc.greater(n_a, TRACE)).sort_by("component")
    return left.cast(counts.schema)
