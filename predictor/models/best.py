"""The best kind for each predicate and history scope, as one set of models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Bools, Bytes
from birthmark.features.history_scope import HISTORY_SCOPES, HistoryScope
from birthmark.predictor.answers.operating_points import OperatingPoints, Scores
from birthmark.predictor.answers.point import Point
from birthmark.predictor.models.kinds import BEST
from birthmark.predictor.models.model_set import (
    RULES,
    ModelSet,
    history_scope_by_predicate,
    most_decisive_first,
)
from birthmark.predictor.parts import Part

Choice = Mapping[HistoryScope, str]
"""The kind of models that answers, by history scope."""


class BestModels(ModelSet[Any]):
    """Models chosen from other sets, by kind: one for each predicate and history scope.

    ``choices`` has their kinds, by key. The operating points are those of the models, but implied
    answers are derived from the chosen kinds. ``accurate`` has the best models at that point, if
    they differ.
    """

    kind = BEST
    scopes = HISTORY_SCOPES
    parameters = ()

    def __init__(
        self, sets: Mapping[str, ModelSet[Any]], accurate: BestModels | None = None
    ) -> None:
        super().__init__()
        self.sets, self.accurate = sets, accurate
        self.choices: dict[str, Choice] = {}

    def at(self, point: Point) -> BestModels:
        """Return the models that are best at ``point``."""
        return self.accurate if point == "accurate" and self.accurate is not None else self

    def choose(self, key: str, choice: Choice) -> None:
        """Let the kinds of ``choice`` answer the predicate of a key."""
        self.choices[key] = dict(choice)
        self[key] = {scope: self.sets[choice[scope]][key] for scope in HISTORY_SCOPES}

    def by_kind(self) -> Mapping[str, ModelSet[Any]]:
        """Return the sets that the models were chosen from."""
        return self.sets

    def kind_of(self, key: str, scope: HistoryScope) -> str:
        """Return the kind that answers at a history scope."""
        return self.choices[key][scope]

    def point(self, key: str, scope: HistoryScope = HISTORY_SCOPES[0]) -> OperatingPoints:
        """Return the operating points at a history scope; if not calibrated, those of the kind."""
        if any(key in points for points in self.points.values()):
            return super().point(key, scope)
        return self.sets[self.kind_of(key, scope)].point(key, scope)

    def scores(self, creates: pa.Table, keys: Iterable[str] | None = None) -> dict[str, Scores]:
        """Return for each row the scores of the models of ``keys`` (None: all), from 0 to 1."""
        keys = list(self if keys is None else keys)
        scope = history_scope_by_predicate(creates, keys)
        rows_by_kind = {key: self._rows_by_kind(key, scope[key]) for key in keys}
        by_kind = {
            kind: models.scores(creates, needed)
            for kind, models in self.sets.items()
            if (needed := [key for key in keys if kind in rows_by_kind[key]])
        }
        scores = {key: np.zeros(len(creates)) for key in keys}
        for key, kinds in rows_by_kind.items():
            for kind, rows in kinds.items():
                scores[key][rows] = by_kind[kind][key][rows]
        return scores

    def _rows_by_kind(self, key: str, scope: Bytes) -> dict[str, Bools]:
        """Return by kind the rows that it answers, given each row's index in ``HISTORY_SCOPES``."""
        kinds = np.array([self.choices[key][name] for name in HISTORY_SCOPES])[scope]
        return {str(kind): kinds == kind for kind in np.unique(kinds)}

    def least_sum(
        self, key: str, threshold: float | None, scope: HistoryScope = HISTORY_SCOPES[0]
    ) -> int | None:
        """Return the least sum of scores that reaches a threshold of the model that answers."""
        return self.sets[self.kind_of(key, scope)].least_sum(key, threshold)

    def evidence(self, creates: pa.Table) -> list[dict[str, tuple[float, dict[str, Any]]]]:
        """Return the scores and the evidence of the models that answer."""
        scope = history_scope_by_predicate(creates, self)
        used = {kind for key in self for kind in self._rows_by_kind(key, scope[key])}
        evidence = {kind: self.sets[kind].evidence(creates) for kind in used}
        return [
            {
                key: evidence[self.kind_of(key, HISTORY_SCOPES[scope[key][row]])][row][key]
                for key in self
            }
            for row in range(len(creates))
        ]

    def rules(self, point: Point) -> pa.Table:
        """Return the rules of predicates that rules answer at some history scope."""
        tables, choices = [], self.at(point).choices
        for kind, models in self.sets.items():
            keys = [key for key, choice in choices.items() if kind in choice.values()]
            with suppress(ValueError):  # from kinds without rules
                rules = models.rules(point) if keys else RULES.empty_table()
                tables.append(rules.filter(pc.is_in(rules["predicate"], pa.array(keys, pa.utf8()))))
        if not any(map(len, tables)):
            return super().rules(point)
        return most_decisive_first(tables)

    def save(self, directory: Part) -> list[str]:
        """Write nothing: the models are those of other sets."""
        return []
