"""A decision list over the components of names: the name-based model with confidence limits."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import NormalDist
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Floats, Ints
from birthmark.features.columns import names_of
from birthmark.features.components import ANY
from birthmark.predictor.answers.operating_points import Scores
from birthmark.predictor.models.components.counts import COUNTS, TRACE, ComponentCounts
from birthmark.predictor.models.learned import Answers
from birthmark.predictor.parameters import DEFAULTS
from birthmark_native import decide_components, prune_components, score_components, whole_names

_COMPONENT = COUNTS.field("component")

WEIGHTS = pa.schema([_COMPONENT, *(pa.field(n, pa.float64(), False) for n in ("n_a", "n_m"))])
"""As ``COUNTS``, but with ageing: older rows count less."""

EVIDENCE = pa.schema([*WEIGHTS, *(pa.field(n, pa.float64(), False) for n in ("lower", "upper"))])
"""Rules: ``lower`` and ``upper`` are confidence limits of the share n_M/n_A."""


class RuleList(ComponentCounts):
    """Predict by the components of a name, with confidence limits on each.

    The counts are those of ``NameRules``, and those of all names under the component ``.*``. A
    component's evidence is an interval for its share n_M/n_A: the limits of Wilson ("Probable
    inference, the law of succession, and statistical inference", 1927), each kept with confidence
    ``level``. (Brown, Cai and DasGupta, "Interval estimation for a binomial proportion", 2001,
    recommend it for small samples; it needs only a square root.) At a threshold *t* a component is
    a rule for yes if its lower limit is at least *t*, a rule for no if its upper limit is below
    *t*, and else says nothing: 6 of 6 is more than 1 of 1.

    Contradicting rules have a precedence: the whole name first, then the pieces between periods,
    the first five bytes (with ``prefix``), the last piece, the first, and ``.*``. The first of
    these that has a rule decides. If several pieces between periods have one, a no beats a yes;
    without any rule the answer is no. (Among the orders that begin with the whole name, and the
    levels 0.8, 0.9 and 0.95, these did best within the first captured day: the fewest errors for a
    list of a few kilobytes.)

    The score of a name is the highest *t* at which it is a yes. So a score is at least *t* exactly
    where the rules cut at *t* predict yes: lower thresholds have more rules for yes and fewer for
    no. It equals the lower limit of the deciding rule unless an upper limit of higher precedence is
    below it. ``predict`` is yes from ``threshold`` on.

    A rule is dropped if the scores of all learned names stay the same without it. The rules of
    least evidence are tried first, until all that stay are needed, though another choice might need
    fewer. ``condense`` preserves only decisions at given thresholds, and leaves some kilobytes or
    less. Names that were not learned may get another answer, if they lack the components that
    always occurred together with a dropped rule's.

    With ``half_life``, in days, older rows count less: ``age``.

    After fitting, ``counts_`` has every component with its counts (schema ``WEIGHTS``), and
    ``rules_`` the rules, those of most names first (schema ``EVIDENCE``).
    """

    counts_schema = WEIGHTS

    def __init__(
        self,
        level: float = 0.9,
        threshold: float = 0.5,
        prefix: bool = DEFAULTS.prefix,
        half_life: float | None = None,
    ) -> None:
        self.level = level
        self.threshold = threshold
        self.prefix = prefix
        self.half_life = half_life

    def condense(self, thresholds: Iterable[float], X: Any = None) -> Self:
        """Keep only the rules that decisions at ``thresholds`` need.

        Decisions stay the same for the learned names and those of ``X``. Scores are then meaningful
        only relative to these thresholds. Further learning restores all rules.
        """
        learned = self._learned()["component"].combine_chunks()
        names = [whole_names(learned).drop_null()]
        names += [] if X is None else [names_of(self._read(X))]
        at = np.unique(np.fromiter(thresholds, dtype=np.float64))
        self.rules_ = condensed(pa.concat_arrays(names), self.rules_, at, self.prefix)
        return self

    def decided(self, threshold: float) -> pa.Table:
        """Return the ``rules_`` with a verdict at ``threshold``, and how much each decides.

        Column ``yes`` is the verdict, ``decides`` the number of learned rows that it decides. The
        table is sorted by that number, largest first.
        """
        names = whole_names(self._learned()["component"].combine_chunks())
        rules = arrays_of(self.rules_)
        by = decide_components(names.drop_null(), *rules, threshold, self.prefix)
        weights = np.asarray(self.counts_["n_a"].filter(names.is_valid()))
        has_rule = np.asarray(by.is_valid())
        decides = np.bincount(
            np.asarray(by.drop_null()), weights[has_rule], minlength=len(self.rules_)
        ).astype(np.float64)
        _, lower, upper = (np.asarray(column) for column in rules)
        table = self.rules_.append_column("yes", pa.array(lower >= threshold))
        table = table.append_column("decides", pa.array(decides))
        verdict = pa.array((lower >= threshold) | (upper < threshold))
        order = [("decides", "descending"), ("component", "ascending")]
        return table.filter(verdict).sort_by(order)

    def limits(self) -> tuple[pa.Array, Floats, Floats]:
        """Return the components of the rules, and the limits of each one's evidence."""
        component, lower, upper = arrays_of(self.rules_)
        return component, np.asarray(lower), np.asarray(upper)

    def _derive(self, counts: pa.Table) -> pa.Table:
        if not 0.5 < self.level < 1:
            raise ValueError(f"level must be between 0.5 and 1, not {self.level!r}")
        names = whole_names(counts["component"].combine_chunks())
        wholes = counts.filter(names.is_valid())
        total = {n: [pc.sum(wholes[n]).as_py() or 0.0] for n in ("n_a", "n_m")}
        counts = pa.concat_tables([counts, pa.table({"component": [ANY]} | total, schema=WEIGHTS)])
        limits = interval(np.asarray(counts["n_m"]), np.asarray(counts["n_a"]), self.level)
        evidence = pa.table([*counts.columns, *limits], schema=EVIDENCE)
        return condensed(names, evidence, np.unique(np.concatenate(limits)), self.prefix)

    def scores(self, table: pa.Table) -> Scores:
        """Return for each row the highest threshold at which it is a yes."""
        return np.asarray(score_components(names_of(table), *arrays_of(self.rules_), self.prefix))

    def _is_yes(self, scores: Scores) -> Answers:
        return np.asarray(scores >= self.threshold)


def interval(n_m: Floats, n_a: Floats, level: float) -> tuple[Floats, Floats]:
    """Return the lower and upper limit of the share ``n_m``/``n_a`` (Wilson 1927, equation 8).

    Each holds with confidence ``level``. Without counts they are 0 and 1.
    """
    z2 = NormalDist().inv_cdf(level) ** 2
    share = n_m / np.maximum(n_a, TRACE)
    centre = (n_m + z2 / 2) / (n_a + z2)
    half = np.sqrt(z2 * (n_m * (1 - share) + z2 / 4)) / (n_a + z2)
    lower = np.where(n_m > 0, np.maximum(centre - half, 0), 0.0)
    return lower, np.where(n_m < n_a, np.minimum(centre + half, 1), 1.0)


def condensed(names: pa.Array, rules: pa.Table, thresholds: Floats, prefix: bool) -> pa.Table:
    """Return the ``rules`` that decisions about ``names`` at ``thresholds`` need.

    The thresholds ascend; at 0 everything is a yes. A rule decides at a threshold if its lower
    limit reaches it, or its upper limit is below it.
    """
    thresholds = thresholds[thresholds > 0]
    limits = (np.asarray(rules[n]) for n in ("lower", "upper"))
    lower, upper = (np.searchsorted(thresholds, limit, side="right") for limit in limits)
    place = np.flatnonzero((lower > 0) | (upper < len(thresholds)))
    place = place[_least_first(rules.take(place))]
    low, high = (pa.array(rank[place], pa.uint32()) for rank in (lower, upper))
    component = rules["component"].take(place).combine_chunks()
    needed = prune_components(names, component, low, high, len(thresholds), prefix)
    return rules.take(place[np.asarray(needed)][::-1]).combine_chunks()


def _least_first(rules: pa.Table) -> Ints:
    """Return the order in which ``rules`` are tried for removal: least evidence first.

    At a tie the longer component comes first, which matches fewer names.
    """
    length = pc.binary_length(rules["component"])
    keys = pa.table({"n_a": rules["n_a"], "length": length, "component": rules["component"]})
    order = [("n_a", "ascending"), ("length", "descending"), ("component", "ascending")]
    return np.asarray(pc.sort_indices(keys, order)).astype(np.int64)


def arrays_of(rules: pa.Table) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Return the components of ``rules`` and their limits."""
    component, lower, upper = (rules[n].combine_chunks() for n in ("component", "lower", "upper"))
    return component, lower, upper
