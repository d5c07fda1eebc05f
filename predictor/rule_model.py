"""A decision list over the components of names: the name-based model, with rules chosen well."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from features.components import (
    prune_components,
    score_components,
    whole_names,
)
from features.tabular import names_of
from predictor.classifier import Answers, Scores
from predictor.counting import COUNTS, TRACE, CountingModel

WEIGHTS = pa.schema(
    [COUNTS.field("component"), *(pa.field(n, pa.float64(), False) for n in ("n_a", "n_m"))]
)
"""As ``COUNTS``, but aged: rows count less the longer ago they were."""

EVIDENCE = pa.schema([*WEIGHTS, *(pa.field(n, pa.float64(), False) for n in ("lower", "upper"))])
"""Rules: ``lower`` and ``upper`` bound the share n_M/n_A of the names that have the component."""

ANY = b".*"
"""The component that every name has."""


class RuleModel(CountingModel):
    def __init__(
        self,
        confidence: float = 0.9,
        threshold: float = 0.5,
        prefix: bool = True,
        thresholds: Sequence[float] | None = None,
        half_life: float | None = None,
    ) -> None:
        self.confidence = confidence
        self.threshold = threshold
        self.prefix = prefix
        self.thresholds = thresholds
        self.half_life = half_life

    _counts = WEIGHTS

    def _derive(self, counts: pa.Table) -> pa.Table:
        names = whole_names(counts["component"].combine_chunks())
        return condensed(
            names, weighed(counts, names, self.confidence), self.thresholds, self.prefix
        )

    def _scores(self, table: pa.Table) -> Scores:
        rules = self.rules_.combine_chunks()
        columns = [rules[n].combine_chunks() for n in ("component", "lower", "upper")]
        return np.asarray(score_components(names_of(table), *columns, self.prefix))

    def _is_yes(self, scores: Scores) -> Answers:
        return scores >= self.threshold


def weighed(counts, names, confidence):
    every = counts.filter(names.is_valid())
    total = {"component": [ANY]} | {n: [pc.sum(every[n]).as_py() or 0.0] for n in ("n_a", "n_m")}
    counts = pa.concat_tables([counts, pa.table(total, schema=WEIGHTS)])
    lower, upper = interval(np.asarray(counts["n_m"]), np.asarray(counts["n_a"]), confidence)
    return pa.table([*counts.columns, lower, upper], schema=EVIDENCE)


def interval(n_m, n_a, confidence):
    z2 = NormalDist().inv_cdf(confidence) ** 2
    share = n_m / np.maximum(n_a, TRACE)
    centre = (n_m + z2 / 2) / (n_a + z2)
    half = np.sqrt(z2 * (n_m * (1 - share) + z2 / 4)) / (n_a + z2)
    return np.where(n_m > 0, centre - half, 0.0), np.where(n_m < n_a, centre + half, 1.0)


def condensed(names, rules, thresholds, prefix):
    lower, upper = (np.asarray(rules[n]) for n in ("lower", "upper"))
    at = np.unique(np.concatenate([lower, upper]) if thresholds is None else thresholds)
    low, up = (np.searchsorted(at, b, side="right").astype(np.uint32) for b in (lower, upper))
    said = np.flatnonzero((low > 0) | (up < len(at)))
    component = rules["component"].take(said).combine_chunks()
    order = np.lexsort([-said, np.asarray(rules["n_a"])[said]])
    said = said[order]
    component = rules["component"].take(said).combine_chunks()
    kept = prune_components(
        names, component, pa.array(low[said]), pa.array(up[said]), len(at), prefix
    )
    return rules.take(said).filter(kept)
