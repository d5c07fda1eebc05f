"""The rule models of all predicates."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.features.columns import names_of
from birthmark.features.components import ANY
from birthmark.predictor.answers.operating_points import Scores
from birthmark.predictor.answers.point import Point
from birthmark.predictor.models.components.set import ComponentModels, as_rules
from birthmark.predictor.models.model_set import most_decisive_first
from birthmark.predictor.models.rules.model import EVIDENCE, RuleList, arrays_of
from birthmark_native import rank_components, score_components

_SHOWN = ("component", "n_m", "n_a")


class RuleModels(ComponentModels[RuleList]):
    """One ``RuleList`` per predicate."""

    kind = "rules"
    model = RuleList
    parameters = ("prefix",)
    rules_schema = EVIDENCE
    precedence = ("whole", "middle", "prefix", "last", "first", "any")

    @classmethod
    def check_rules(cls, rules: pa.Table) -> None:
        """Raise ``ValueError``, naming the expected condition, for invalid ``rules``."""
        pairs = [*pairwise((0.0, rules["lower"], rules["upper"], 1.0))]
        pairs += [*pairwise((0.0, rules["n_m"], rules["n_a"]))]
        if not all(pc.all(pc.less_equal(*pair), min_count=0).as_py() for pair in pairs):
            raise ValueError("0 <= lower <= upper <= 1 and 0 <= n_m <= n_a")
        score_components(pa.array([], pa.binary()), *arrays_of(rules), True)

    def condense(self, creates: pa.Table, keys: Iterable[str]) -> None:
        """Keep only the rules that the operating points need, on training's names and these."""
        for key in keys:
            points = self.point(key)
            at = {t for t in (points.accurate, points.bounded) if t is not None}
            self[key].condense(at.union(points.levels.cuts), self.columns(creates))
        self.__dict__.pop("index", None)
        self.__dict__.pop("rows", None)

    def scores(self, creates: pa.Table, keys: Iterable[str] | None = None) -> dict[str, Scores]:
        """Return for each row the scores of the models of ``keys`` (None: all), from 0 to 1."""
        names = names_of(self.columns(creates)).dictionary_encode("encode")
        places = np.asarray(names.indices)
        distinct = pa.table({"name": names.dictionary})
        keys = self if keys is None else keys
        return {key: self[key].scores(distinct)[places] for key in keys}

    def rules(self, point: Point) -> pa.Table:
        """Return the rules with a verdict at ``point``."""
        thresholds = {key: self.point(key).at(point) for key in self}
        return most_decisive_first(
            as_rules(key, self[key].decided(threshold))
            for key, threshold in thresholds.items()
            if threshold is not None
        )

    def evidence(self, creates: pa.Table) -> list[dict[str, tuple[float, dict[str, Any]]]]:
        """Return the rule that gives the score (``None``: no rule), and those that contradict it.

        Its ``lower`` limit is the score, unless a rule in ``against`` of higher precedence has an
        ``upper`` limit below.
        """
        return [self._weighed(name) for name in creates["name"].to_pylist()]

    def _weighed(self, name: bytes | None) -> dict[str, tuple[float, dict[str, Any]]]:
        prefix = any(model.prefix for model in self.values())
        roles = [*([] if name is None else rank_components(name, prefix)), [ANY]]
        rules_by_role: dict[str, list[list[dict[str, Any]]]] = {key: [] for key in self}
        for role in roles:
            matching: dict[str, list[dict[str, Any]]] = {}
            for component in role:
                for key, rank in self.index.get(component, ()):
                    matching.setdefault(key, []).append(self.rows[key][rank])
            for key, rules in matching.items():
                rules_by_role[key].append(rules)
        return {key: weigh(by_role) for key, by_role in rules_by_role.items()}


def weigh(roles: list[list[dict[str, Any]]]) -> tuple[float, dict[str, Any]]:
    """Return the score of rules, given by role in order of precedence, and its evidence."""
    score, ceiling, best = 0.0, 1.0, None
    for role in roles:
        strongest = max(role, key=lambda rule: float(rule["lower"]))
        ceiling = min(ceiling, *(rule["upper"] for rule in role))
        if min(strongest["lower"], ceiling) > score:
            score, best = min(strongest["lower"], ceiling), strongest
    if best is None:
        return score, {**dict.fromkeys((*_SHOWN, "lower")), "against": []}
    against = [
        {n: rule[n] for n in (*_SHOWN, "upper")}
        for role in roles
        for rule in role
        if rule["upper"] < best["lower"]
    ]
    return score, {**{n: best[n] for n in (*_SHOWN, "lower")}, "against": against}
