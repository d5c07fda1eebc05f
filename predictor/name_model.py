"""The name-based model (thesis section 6.3.2, Figures 6.2 and 6.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from features.components import component_text, count_components, match_components
from features.tabular import names_of, read_table
from predictor.classifier import Answers, BinaryClassifier, Scores, classes_of, read_labels

COUNTS = pa.schema(
    [
        pa.field("component", pa.binary(), nullable=False),
        pa.field("n_a", pa.uint64(), nullable=False),
        pa.field("n_m", pa.uint64(), nullable=False),
    ]
)
"""``n_a``: names that have the component. ``n_m``: those of them for which the predicate holds."""


@dataclass(frozen=True)
class Rule:
    """A component whose names are predicted to have the property, and its evidence."""

    component: bytes
    n_m: int
    n_a: int


class NameModel(BinaryClassifier):
    """Predict yes for a name that has any component of a learned set (Figures 6.2 and 6.3).

    The set holds the components that occurred in a name with the property (n_M ≥ 1), of which at
    least ``minfrac`` of the names that have them had it (n_M/n_A ≥ ``minfrac``), and at least
    ``mincount`` names in all (n_M ≥ ``mincount``; 0 leaves this optional step out). ``prefix``
    adds the optional component of the first five bytes.

    Only the column ``name`` of a table counts; of an array, the first column. Names are bytes, or
    text, which is taken as UTF-8. A row without a name has no components.

    The model is one-sided: it knows when to say yes, and otherwise says no (section 6.3.4). The
    score of a yes in ``predict_proba`` is the largest n_M/n_A among the name's components in the
    set, and 0 where none is in it: then nothing is claimed, and it is no probability of a no. So
    ``predict`` says yes exactly where the score is above 0, and a score of at least *t* ≥
    ``minfrac`` exactly where a model of the same counts with ``minfrac`` *t* says yes.

    After fitting, ``counts_`` has every component with its counts (schema ``COUNTS``), and
    ``rules_`` the set, strongest evidence first: by n_M/n_A, then n_M, then byte order.
    """

    _columns = ("name",)

    def __init__(self, minfrac: float = 0.8, mincount: int = 5, prefix: bool = True) -> None:
        self.minfrac = minfrac
        self.mincount = mincount
        self.prefix = prefix

    @classmethod
    def from_rules(
        cls, rules: pa.Table, counts: pa.Table | None = None, **parameters: Any
    ) -> NameModel:
        """Return the model that has ``rules_``, over names in a column ``name`` and booleans.

        Without ``counts``, all of ``counts_``, it predicts but can neither learn nor forget.
        """
        model = cls(**parameters)
        model.classes_ = np.array([False, True])
        model.n_features_in_, model.feature_names_in_ = 1, np.array(["name"], dtype=object)
        model.rules_ = rules
        if counts is not None:
            model.counts_ = counts
        return model

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> NameModel:
        """Learn from more rows: the model is that of all rows together.

        ``classes`` are the labels that ``y`` may have, where the first call does not show both
        and they are not booleans.
        """
        first = not hasattr(self, "classes_")
        table = read_table(self, X, reset=first, columns=self._columns)
        labels = read_labels(y, len(table))
        if first:
            self.classes_ = classes_of(labels if classes is None else np.asarray(classes))
            self.counts_ = COUNTS.empty_table()
        self._change(table, labels, 1)
        return self

    def forget(self, X: Any, y: Any) -> NameModel:
        """Undo the learning of rows: the model is that of the rows that remain.

        Raises ``ValueError``, and leaves the model as it was, where a name was not learned, or not
        with that label, or not so often.
        """
        table = self._read(X)
        self._change(table, read_labels(y, len(table)), -1)
        return self

    def explain(self, X: Any) -> list[Rule | None]:
        """Return for each row the rule of strongest evidence that says yes, or ``None``."""
        rules = self.rules_.select(["component", "n_m", "n_a"]).to_pylist()
        ranks = self._match(self._read(X)).to_pylist()
        return [None if rank is None else Rule(**rules[rank]) for rank in ranks]

    def _learn(self, table: pa.Table, positive: Answers) -> None:
        self._set_counts(self._count(table, positive))

    def _change(self, table: pa.Table, labels: npt.NDArray[Any], sign: int) -> None:
        if not hasattr(self, "counts_"):
            raise ValueError("this model was loaded without its counts: it can only predict")
        change = self._count(table, self._positive(labels))
        self._set_counts(_merged(self.counts_, change, sign))

    def _count(self, table: pa.Table, positive: Answers) -> pa.Table:
        batch = count_components(names_of(table), pa.array(positive), self.prefix)
        return pa.Table.from_batches([batch])

    def _set_counts(self, counts: pa.Table) -> None:
        self.rules_ = select_rules(counts, self.minfrac, self.mincount)
        self.counts_ = counts

    def _match(self, table: pa.Table) -> pa.Int32Array:
        rules = self.rules_["component"].combine_chunks()
        return match_components(names_of(table), rules, self.prefix)

    def _scores(self, table: pa.Table) -> Scores:
        strengths = _fractions(self.rules_).combine_chunks()
        scores = pc.fill_null(strengths.take(self._match(table)), 0.0)
        return np.asarray(scores, dtype=np.float64)

    def _is_yes(self, scores: Scores) -> Answers:
        return scores > 0


def select_rules(counts: pa.Table, minfrac: float, mincount: int) -> pa.Table:
    """Return the rows of ``counts`` that are kept as rules (Figure 6.3, steps 2 and 3).

    Strongest evidence comes first. Raises ``ValueError`` for parameters that make no sense.
    """
    if not 0 <= minfrac <= 1:
        raise ValueError(f"minfrac must be from 0 to 1, not {minfrac!r}")
    if mincount < 0:
        raise ValueError(f"mincount must be 0 or more, not {mincount!r}")
    fractions = _fractions(counts)
    enough = pc.greater_equal(counts["n_m"], max(mincount, 1))
    kept = pc.and_(pc.greater_equal(fractions, minfrac), enough)
    rules = counts.append_column("fraction", fractions).filter(kept)
    order = [("fraction", "descending"), ("n_m", "descending"), ("component", "ascending")]
    return rules.sort_by(order).drop_columns("fraction")


def _fractions(counts: pa.Table) -> pa.ChunkedArray:
    return pc.divide(counts["n_m"].cast(pa.float64()), counts["n_a"].cast(pa.float64()))


def _merged(counts: pa.Table, change: pa.Table, sign: int) -> pa.Table:
    """Return ``counts`` with those of ``change`` added (``sign`` 1) or subtracted (-1)."""
    signed = [("n_a", sign), ("n_m", sign)]
    change = pa.table(
        {"component": change["component"]}
        | {n: pc.multiply(change[n].cast(pa.int64()), by) for n, by in signed}
    )
    both = pa.concat_tables([counts.cast(change.schema), change])
    summed = both.group_by("component").aggregate([("n_a", "sum"), ("n_m", "sum")])
    summed = summed.rename_columns(COUNTS.names)
    negative = pc.or_(pc.less(summed["n_m"], 0), pc.greater(summed["n_m"], summed["n_a"]))
    never = summed.filter(negative)
    if len(never):
        example = component_text(never["component"][0].as_py())
        raise ValueError(f"cannot forget what was not learned: component {example!r}")
    return summed.filter(pc.greater(summed["n_a"], 0)).sort_by("component").cast(COUNTS)
