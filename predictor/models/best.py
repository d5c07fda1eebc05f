"""The best kind for each predicate and what is told of a create, as one set of models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Bools, Bytes
from birthmark.features.told import TOLD, Told
from birthmark.predictor.answers.operating_points import OperatingPoints, Scores
from birthmark.predictor.answers.point import Point
from birthmark.predictor.image.format import Section
from birthmark.predictor.image.told import ToldSection
from birthmark.predictor.models.kinds import BEST
from birthmark.predictor.models.model_set import (
    RULES,
    ModelSet,
    most_decisive_first,
    told_by_key,
)

Choice = Mapping[Told, str]
"""By what is told of a create the kind of models that answers."""


class Chosen(NamedTuple):
    """The models of one predicate, and their kinds, for each of ``features.told.TOLD``."""

    kinds: tuple[type[ModelSet[Any]], ...]
    models: tuple[Any, ...]

    def where(self, kind: type[ModelSet[Any]]) -> Bools:
        """Return where a kind answers."""
        return np.array([own is kind for own in self.kinds])


class BestModels(ModelSet[Any]):
    """Models of other sets, by kind: of each predicate one for whatever is told of a create.

    ``choices`` has their kinds, by key. The operating points are those of the models, but what
    follows from other answers follows from answers of the chosen kinds. At the point ``accurate``
    others may be best: those of ``accurate``, if there are such.
    """

    kind = BEST
    told = TOLD
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
        every = [self.sets[choice[told]] for told in TOLD]
        self.choices[key] = dict(choice)
        self[key] = Chosen(tuple(map(type, every)), tuple(own[key] for own in every))

    def kind_of(self, key: str, told: Told) -> str:
        """Return the kind that answers where so much is told."""
        return self.choices[key][told]

    def point(self, key: str, told: Told = TOLD[0]) -> OperatingPoints:
        """Return the operating points where so much is told; not calibrated, those of the kind."""
        if any(key in own for own in self.points.values()):
            return super().point(key, told)
        return self.sets[self.kind_of(key, told)].point(key, told)

    def scores(self, creates: pa.Table, keys: Iterable[str] | None = None) -> dict[str, Scores]:
        """Return for each row how sure the models of ``keys`` (None: all) are, from 0 to 1."""
        asked = list(self if keys is None else keys)
        told = told_by_key(creates, asked)
        answers = {key: self._where(key, told[key]) for key in asked}
        found = {
            kind: models.scores(creates, own)
            for kind, models in self.sets.items()
            if (own := [key for key in asked if kind in answers[key]])
        }
        scores = {key: np.zeros(len(creates)) for key in asked}
        for key, where in answers.items():
            for kind, rows in where.items():
                scores[key][rows] = found[kind][key][rows]
        return scores

    def _where(self, key: str, told: Bytes) -> dict[str, Bools]:
        """Return by kind in which rows it answers, of which the places in ``TOLD`` are given."""
        kinds = np.array([self.choices[key][each] for each in TOLD])[told]
        return {str(kind): kinds == kind for kind in np.unique(kinds)}

    def least_sum(self, key: str, threshold: float | None, told: Told = TOLD[0]) -> int | None:
        """Return the least sum of scores that reaches a threshold of the model that answers."""
        return self.sets[self.kind_of(key, told)].least_sum(key, threshold)

    def evidence(self, creates: pa.Table) -> list[dict[str, tuple[float, dict[str, Any]]]]:
        """Return the scores and the evidence of the models that answer."""
        told = told_by_key(creates, self)
        used = {kind for key in self for kind in self._where(key, told[key])}
        found = {kind: self.sets[kind].evidence(creates) for kind in used}
        return [
            {key: found[self.kind_of(key, TOLD[told[key][row]])][row][key] for key in self}
            for row in range(len(creates))
        ]

    def rules(self, point: Point) -> pa.Table:
        """Return what decides of predicates that are answered, at least sometimes, by rules."""
        tables, choices = [], self.at(point).choices
        for kind, models in self.sets.items():
            own = [key for key, choice in choices.items() if kind in choice.values()]
            with suppress(ValueError):  # of what is not made of rules
                every = models.rules(point) if own else RULES.empty_table()
                tables.append(every.filter(pc.is_in(every["predicate"], pa.array(own, pa.utf8()))))
        if not any(map(len, tables)):
            return super().rules(point)
        return most_decisive_first(tables)

    def save(self, directory: Path) -> list[str]:
        """Write nothing: the models are those of other sets."""
        return []

    @classmethod
    def sections(cls, models: Mapping[str, Any], thresholds: Mapping[str, Scores]) -> list[Section]:
        """Return the sections of all kinds, each of which answers where it is chosen."""
        kinds = dict.fromkeys(kind for chosen in models.values() for kind in chosen.kinds)
        return [section for kind in kinds for section in _sections(kind, models, thresholds)]


def _sections(
    kind: type[ModelSet[Any]], models: Mapping[str, Chosen], thresholds: Mapping[str, Scores]
) -> list[Section]:
    """Return the sections of one kind."""
    where = {key: own for key, chosen in models.items() if (own := chosen.where(kind)).any()}
    some = {key: models[key].models[int(own.argmax())] for key, own in where.items()}
    limits = {key: np.where(own, thresholds[key], np.inf) for key, own in where.items()}
    if len(kind.told) > 1:  # its sections have a threshold for whatever is told
        return kind.sections(some, limits)
    same = {key: np.full(len(TOLD), own.min()) for key, own in limits.items()}
    sections = kind.sections(some, same)
    if all(own.all() for own in where.values()):
        return sections
    answered = [[key for key, own in where.items() if own[place]] for place in range(len(TOLD))]
    return [ToldSection(section, answered) for section in sections]
