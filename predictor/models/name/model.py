"""The name-based model (thesis section 6.3.2, Figures 6.2 and 6.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Floats
from birthmark.data.common.setting_errors import check
from birthmark.features.columns import names_of
from birthmark.predictor.answers.operating_points import Scores
from birthmark.predictor.models.components.counts import ComponentCounts
from birthmark.predictor.models.learned import Answers
from birthmark.predictor.parameters import DEFAULTS, Parameters
from birthmark_native import match_components, whole_names


@dataclass(frozen=True)
class Rule:
    """A component that predicts yes for its names, and its evidence."""

    component: bytes
    n_m: int
    n_a: int


class NameRules(ComponentCounts):
    """Predict yes for a name that has any component of a learned set (Figures 6.2 and 6.3).

    The set holds the components that occurred in a name with the property (n_M ≥ 1), in at least
    the share ``minfrac`` of their names (n_M/n_A ≥ ``minfrac``) and at least ``mincount`` names
    (n_M ≥ ``mincount``; 0 leaves this optional step out). ``prefix`` adds the optional component
    of the first five bytes.

    Only the column ``name`` of a table counts. A row without a name has no components.

    The model is one-sided: its rules are for yes, and everything else is a no (section 6.3.4). The
    score of a yes is the largest n_M/n_A among the name's components in the set, and 0 if none is
    in it: that is not a probability of a no. So ``predict`` is yes exactly where the score is above
    0, and a score is at least *t* ≥ ``minfrac`` exactly where a model of the same counts with
    ``minfrac`` *t* predicts yes.

    After fitting, ``counts_`` has every component with its counts (schema ``counting.COUNTS``), and
    ``rules_`` the set, strongest evidence first: by n_M/n_A, then n_M, then byte order.
    """

    def __init__(
        self,
        minfrac: float = DEFAULTS.minfrac,
        mincount: int = DEFAULTS.mincount,
        prefix: bool = DEFAULTS.prefix,
    ) -> None:
        self.minfrac = minfrac
        self.mincount = mincount
        self.prefix = prefix

    def explain(self, X: Any) -> list[Rule | None]:
        """Return for each row the rule of strongest evidence for yes, or ``None``."""
        rules = self.rules_.select(["component", "n_m", "n_a"]).to_pylist()
        ranks = self._match(self._read(X)).to_pylist()
        return [None if rank is None else Rule(**rules[rank]) for rank in ranks]

    def decided(self) -> pa.Table:
        """Return ``rules_`` with the number of learned names whose strongest rule each is.

        Column ``decides`` is that number, ``yes`` the answer. Raises ``ValueError`` for a model
        that was loaded without its counts.
        """
        counts = self._learned()
        names = whole_names(counts["component"].combine_chunks())
        rank = match_components(
            names.drop_null(), self.rules_["component"].combine_chunks(), self.prefix
        )
        weight = counts["n_a"].filter(names.is_valid()).filter(rank.is_valid())
        decides = np.bincount(rank.drop_null(), weight, minlength=len(self.rules_))
        always = pa.array(np.ones(len(self.rules_), dtype=bool))
        return self.rules_.append_column("yes", always).append_column("decides", pa.array(decides))

    def limits(self) -> tuple[pa.Array, Floats, Floats]:
        """Return the components of the rules, each one's score, and 1: no rule is against a yes."""
        scores = np.asarray(fractions(self.rules_), dtype=np.float64)
        return self.rules_["component"].combine_chunks(), scores, np.ones(len(scores))

    def _derive(self, counts: pa.Table) -> pa.Table:
        return select_rules(counts, self.minfrac, self.mincount)

    def _match(self, table: pa.Table) -> pa.Int32Array:
        rules = self.rules_["component"].combine_chunks()
        return match_components(names_of(table), rules, self.prefix)

    def scores(self, table: pa.Table) -> Scores:
        """Return for each row the strongest n_M/n_A of its rules; 0 without any."""
        strengths = fractions(self.rules_).combine_chunks()
        scores = pc.fill_null(strengths.take(self._match(table)), 0.0)
        return np.asarray(scores, dtype=np.float64)

    def _is_yes(self, scores: Scores) -> Answers:
        return scores > 0


def select_rules(counts: pa.Table, minfrac: float, mincount: int) -> pa.Table:
    """Return the rows of ``counts`` that are kept as rules (Figure 6.3, steps 2 and 3).

    Strongest evidence comes first. Raises ``ValueError`` for invalid parameters.
    """
    check(Parameters, minfrac=minfrac, mincount=mincount)
    counts = counts.filter(pc.greater_equal(counts["n_m"], max(mincount, 1)))
    rules = counts.append_column("fraction", fractions(counts))
    rules = rules.filter(pc.greater_equal(rules["fraction"], minfrac))
    order = [("fraction", "descending"), ("n_m", "descending"), ("component", "ascending")]
    return rules.sort_by(order).drop_columns("fraction")


def fractions(counts: pa.Table) -> pa.ChunkedArray:
    """Return n_M/n_A of each row of ``COUNTS``."""
    return pc.divide(counts["n_m"].cast(pa.float64()), counts["n_a"].cast(pa.float64()))
