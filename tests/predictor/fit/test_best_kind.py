from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from birthmark.features.history_scope import HISTORY_SCOPES, HistoryScope
from birthmark.predictor.answers.operating_points import OperatingPoints, Scores
from birthmark.predictor.fit.best_kind import ModelSelection, best_kind, held_out_errors
from birthmark.predictor.fit.calibration import Holdout
from birthmark.predictor.models.best import Choice
from birthmark.predictor.models.forest.set import ForestModels
from birthmark.predictor.models.model_set import ModelSet
from birthmark.predictor.models.name.set import NameModels
from birthmark.predictor.models.rules.set import RuleModels

KEYS = ("lock", "size=zero")


def points(accurate: float | None, bounded: float | None) -> OperatingPoints:
    return OperatingPoints(0.5, n=100, accurate_errors=accurate, bounded_errors=bounded)


def models(kind: type[ModelSet], **by_scope: list[OperatingPoints]) -> ModelSet:
    """Return models of ``KEYS`` that were calibrated."""
    made = kind(dict.fromkeys(KEYS, kind.model()))
    made.points = {scope: dict(zip(KEYS, own, strict=True)) for scope, own in by_scope.items()}
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


def test_kinds_without_calibration_are_not_judged() -> None:
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


N = 1000
FOLDS = Holdout(np.arange(N) // 10, np.arange(N) // (N // 5))
TRUTH = np.arange(N) % 2 == 0
LABELS = {key: pa.array(TRUTH) for key in KEYS}


def wrong(*shares: float) -> Scores:
    """Return scores by which so many answers of each fold are wrong, at a threshold of one half."""
    place = np.arange(N) % (N // 5) / (N // 5)
    correct = TRUTH ^ (place < np.array(shares)[FOLDS.fold])
    return np.where(correct, 0.9, 0.1)


SOME, LESS, LUCK = wrong(*[0.3] * 5), wrong(0.2, 0.21, 0.2, 0.19, 0.2), wrong(0.3, 0.3, 0.3, 0.3, 0)


def selection(forest: dict[HistoryScope, list[Scores]], rules: list[Scores]) -> ModelSelection:
    """Return how two kinds did by their scores of ``KEYS``."""
    by_kind: dict[str, dict[HistoryScope, list[Scores]]] = {
        "forest": forest,
        "rules": {"nothing": rules},
    }
    sets, found = {}, {}
    for kind, scores in by_kind.items():
        own: Any = {"forest": ForestModels, "rules": RuleModels}[kind]
        known = {
            scope: [
                OperatingPoints(0.5, 0.5, N, accurate_errors=share, bounded_errors=share)
                for share in (float(((each >= 0.5) != TRUTH).mean()) for each in some)
            ]
            for scope, some in scores.items()
        }
        sets[kind] = models(own, **known)
        found[kind] = [
            {
                scope: {k: s[FOLDS.fold == fold] for k, s in zip(KEYS, some, strict=True)}
                for scope, some in scores.items()
            }
            for fold in FOLDS.folds
        ]
    return ModelSelection(sets, FOLDS, LABELS, found)


def test_another_kind_answers_where_it_is_better_in_all_stretches_of_time() -> None:
    perfect = wrong(*[0.0] * 5)
    forest: dict[HistoryScope, list[Scores]] = {
        scope: [perfect, perfect] for scope in HISTORY_SCOPES
    }
    forest["nothing"] = [SOME, perfect]
    chosen = selection(forest, [LESS, SOME]).choices("bounded")
    assert chosen["lock"] == dict.fromkeys(HISTORY_SCOPES[:-1], "forest") | {"nothing": "rules"}
    assert chosen["size=zero"] == dict.fromkeys(HISTORY_SCOPES, "forest")


def test_a_kind_that_was_better_once_does_not_answer_in_place_of_the_best() -> None:
    perfect = wrong(*[0.0] * 5)
    forest: dict[HistoryScope, list[Scores]] = {scope: [SOME, perfect] for scope in HISTORY_SCOPES}
    found = selection(forest, [LUCK, SOME])
    forest_points, rules_points = (found.sets[kind].point("lock") for kind in ("forest", "rules"))
    assert rules_points.errors_at("bounded") < forest_points.errors_at("bounded")
    assert found.choices("bounded") == {
        key: dict.fromkeys(HISTORY_SCOPES, "forest") for key in KEYS
    }


def test_scores_are_those_of_the_kinds_that_are_chosen() -> None:
    forest: dict[HistoryScope, list[Scores]] = {scope: [SOME, SOME] for scope in HISTORY_SCOPES}
    found = selection(forest, [LESS, LUCK])
    lock: Choice = dict.fromkeys(HISTORY_SCOPES[:-1], "forest") | {"nothing": "rules"}
    choices = {"lock": lock, "size=zero": dict.fromkeys(HISTORY_SCOPES, "rules")}
    for scope, expected in (("caller", SOME), ("nothing", LESS)):
        scores = found.scores(choices, scope)
        assert np.array_equal(FOLDS.scored("lock", scores), expected)
        assert np.array_equal(FOLDS.scored("size=zero", scores), LUCK)


def test_without_calibration_the_usual_kind_answers() -> None:
    sets = {"forest": models(ForestModels), "rules": models(RuleModels)}
    none = Holdout(FOLDS.block, np.full(N, -1))
    found: dict[str, list[Any]] = {"forest": [], "rules": []}
    chosen = ModelSelection(sets, none, LABELS, found).choices("bounded")
    assert chosen == {key: dict.fromkeys(HISTORY_SCOPES, "rules") for key in KEYS}
    alone = ModelSelection({"forest": sets["forest"]}, none, LABELS, {"forest": []}).choices(
        "bounded"
    )
    assert alone == {key: dict.fromkeys(HISTORY_SCOPES, "forest") for key in KEYS}
