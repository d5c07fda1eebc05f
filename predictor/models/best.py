"""The best kind for each predicate and history scope, as one set of models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Bools, Bytes
from birthmark.features.history_scope import HISTORY_SCOPES, HistoryScope
from birthmark.predictor.answers.operating_points import OperatingPoints, Scores
from birthmark.predictor.answers.point import Point
from birthmark.predictor.image.format import ScopedSection, Section
from birthmark.predictor.models.kinds import BEST
from birthmark.predictor.models.model_set import (
    RULES,
    ModelSet,
    history_scope_by_predicate,
    most_decisive_first,
)

Choice = Mapping[HistoryScope, str]
"""The kind of models that answers, by history scope."""


_PLACES = range(len(HISTORY_SCOPES))


class Chosen(NamedTuple):
    """The models of one predicate, and their kinds, in the order of ``HISTORY_SCOPES``."""

    kinds: tuple[type[ModelSet[Any]], ...]
    models: tuple[Any, ...]

    def where(self, kind: type[ModelSet[Any]]) -> Bools:
        """Return the history scopes at which a kind answers, as a mask."""
        return np.array([chosen is kind for chosen in self.kinds])


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
        sets = [self.sets[choice[scope]] for scope in HISTORY_SCOPES]
        self.choices[key] = dict(choice)
        self[key] = Chosen(tuple(map(type, sets)), tuple(models[key] for models in sets))

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

    def save(self, directory: Path) -> list[str]:
        """Write nothing: the models are those of other sets."""
        return []

    @classmethod
    def sections(cls, models: Mapping[str, Any], thresholds: Mapping[str, Scores]) -> list[Section]:
        """Return the sections of all kinds, each answering where it is chosen."""
        kinds = dict.fromkeys(kind for chosen in models.values() for kind in chosen.kinds)
        return [section for kind in kinds for section in _sections(kind, models, thresholds)]


def _sections(
    kind: type[ModelSet[Any]], models: Mapping[str, Chosen], thresholds: Mapping[str, Scores]
) -> list[Section]:
    """Return the sections of one kind."""
    where = {key: mask for key, chosen in models.items() if (mask := chosen.where(kind)).any()}
    selected = {key: models[key].models[int(mask.argmax())] for key, mask in where.items()}
    limits = {key: np.where(mask, thresholds[key], np.inf) for key, mask in where.items()}
    if len(kind.scopes) > 1:  # its sections have a threshold for each history scope
        return kind.sections(selected, limits)
    answered = {key: _scopes_by_threshold(limits[key], mask) for key, mask in where.items()}
    sections: list[Section] = []
    for round_ in range(max(map(len, answered.values()), default=0)):
        chosen = {key: own[round_] for key, own in answered.items() if len(own) > round_}
        same = {key: np.full(len(HISTORY_SCOPES), limit) for key, (limit, _) in chosen.items()}
        made = kind.sections({key: selected[key] for key in chosen}, same)
        if not all(mask.all() for _, mask in chosen.values()):
            keys = [[k for k, (_, mask) in chosen.items() if mask[n]] for n in _PLACES]
            made = [ScopedSection(section, keys) for section in made]
        sections += made
    return sections


def _scopes_by_threshold(limits: Scores, mask: Bools) -> list[tuple[float, Bools]]:
    """Return the thresholds at some scopes, each with the scopes at which it decides.

    A kind that knows no history has one threshold in a section. So predicates that abstain at some
    scopes, or have another threshold there, need a section for each.
    """
    found = np.unique(limits[mask & np.isfinite(limits)])
    return [(float(limit), mask & (limits == limit)) for limit in found] or [(np.inf, mask)]
