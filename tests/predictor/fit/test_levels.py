from __future__ import annotations

import numpy as np
import pytest

from birthmark.predictor.answers.operating_points import NO_LEVELS, Levels
from birthmark.predictor.fit.levels import STEP, levels_of


def population(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return scores that are no probabilities, and truths: the cube of the score is likely."""
    random = np.random.default_rng(seed)
    scores = random.random(n).round(3)
    return scores, random.random(n) < scores**3


def test_a_level_says_how_many_came_true_also_of_later_files() -> None:
    levels = levels_of(*population(20_000), ())
    scores, truth = population(20_000, seed=1)
    found = levels.of(scores)
    for level, probability in enumerate(levels.probabilities):
        own = truth[found == level]
        assert probability == pytest.approx(own.mean(), abs=4 * np.sqrt(0.25 / len(own)))
    assert len(levels.cuts) == 7


@pytest.mark.deep
def test_probabilities_grow_with_scores_and_nothing_is_certain() -> None:
    levels = levels_of(np.repeat([0.1, 0.2, 0.9], 1000), np.repeat([False, False, True], 1000), ())
    assert list(levels.probabilities) == sorted(levels.probabilities)
    assert levels.probabilities[0] == pytest.approx(0.5 / 2001, abs=STEP)
    assert levels.probabilities[-1] == pytest.approx(1000.5 / 1001, abs=STEP)
    never = levels_of(np.zeros(10_000_000), np.zeros(10_000_000, bool), ())
    assert never.probabilities == (STEP,)


def test_a_threshold_is_a_cut_also_where_nothing_was_scored() -> None:
    scores, truth = np.repeat([0.2, 0.4], 100), np.repeat([False, True], 100)
    levels = levels_of(scores, truth, (0.9, None, 0.0, 1.5, 0.95))
    assert levels.cuts == (0.4, 0.9, 0.95)
    assert levels.of(np.array([0.39, 0.4, 0.9, 1.0])).tolist() == [0, 1, 2, 3]
    assert levels.probabilities[1] == levels.probabilities[2] == levels.probabilities[3]


def test_of_nothing_nothing_is_known() -> None:
    assert levels_of(np.array([]), np.array([], bool), (0.5,)) == NO_LEVELS


@pytest.mark.parametrize(
    ("cuts", "probabilities"), [((0.5, 0.4), (0.1, 0.2, 0.3)), ((0.5,), (0.1,)), ((), ())]
)
def test_invalid_levels_are_refused(cuts: tuple, probabilities: tuple) -> None:
    with pytest.raises(ValueError, match="ascending cuts"):
        Levels(cuts, probabilities)
