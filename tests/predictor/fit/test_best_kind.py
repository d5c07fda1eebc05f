from __future__ import annotations

import pytest

from birthmark.predictor.answers.operating_points import OperatingPoints
from birthmark.predictor.fit.best_kind import best_kind, held_out_errors
from birthmark.predictor.models.forest.set import ForestModels
from birthmark.predictor.models.model_set import ModelSet
from birthmark.predictor.models.name.set import NameModels
from birthmark.predictor.models.rules.set import RuleModels

KEYS = ("lock", "size=zero")


def points(accurate: float | None, bounded: float | None) -> OperatingPoints:
    return OperatingPoints(0.5, n=100, accurate_errors=accurate, bounded_errors=bounded)


def models(kind: type[ModelSet], **by_told: list[OperatingPoints]) -> ModelSet:
    """Return models of ``KEYS`` that were calibrated."""
    made = kind(dict.fromkeys(KEYS, kind.model()))
    made.points = {told: dict(zip(KEYS, own, strict=True)) for told, own in by_told.items()}
    return made


def test_every_predicate_and_every_level_weighs_the_same() -> None:
    right, wrong = points(0.0, 0.1), points(0.4, 0.2)
    forest = models(
        ForestModels,
        directory=[right, right],
        caller=[right, right],
        name=[right, wrong],
        nothing=[wrong, wrong],
    )
    rules = models(RuleModels, nothing=[right, wrong])
    sets = {"rules": rules, "forest": forest}
    assert held_out_errors(sets, "accurate") == pytest.approx({"rules": 0.2, "forest": 0.15})
    assert held_out_errors(sets, "bounded") == pytest.approx({"rules": 0.15, "forest": 0.1375})


def test_who_was_calibrated_on_nothing_is_not_judged() -> None:
    unknown = points(None, None)
    sets = {
        "name": models(NameModels),
        "rules": models(RuleModels, nothing=[unknown, unknown]),
        "forest": models(ForestModels, nothing=[points(0.3, 0.3), unknown]),
    }
    assert held_out_errors(sets, "accurate") == {"forest": 0.3}


def test_the_best_errs_least_and_of_equals_the_usual_one_is_taken() -> None:
    assert best_kind({"name": 0.3, "forest": 0.1, "rules": 0.2}, "rules") == "forest"
    assert best_kind({"name": 0.2, "forest": 0.2, "rules": 0.2}, "rules") == "rules"
    assert best_kind({}, "rules") == "rules"
