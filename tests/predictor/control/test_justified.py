"""What counts can justify is what the controller does in the best and in the worst case."""

from __future__ import annotations

import numpy as np
import pytest

from birthmark.predictor.control import Controller, ControlSettings
from birthmark.predictor.control.justified import most_false_positives, outcomes_to_lower


@pytest.mark.parametrize("memory", [100, 1000, 10_000])
@pytest.mark.parametrize("aim", [0.5, 0.8])
@pytest.mark.parametrize("static", [0.7, None])
def test_no_threshold_is_lower_before_so_many_outcomes_though_all_come_true(
    memory: int, aim: float, static: float | None
) -> None:
    settings = ControlSettings(memory=memory, aim=aim)
    least = outcomes_to_lower(settings)

    def after(outcomes: int) -> float | None:
        controller = Controller(static, settings)
        zeros = np.zeros(outcomes)
        controller.observe(zeros, np.ones(outcomes), np.ones(outcomes, dtype=bool))
        return controller.threshold

    assert after(least - 1) == static
    assert after(least) == 0.0


def test_with_more_false_positives_nothing_is_a_yes() -> None:
    settings = ControlSettings(memory=1000, patience=2000)
    controller = Controller(0.5, settings)
    for _ in range(200):
        in_force = np.array([2.0 if controller.threshold is None else controller.threshold])
        controller.observe(np.array([0.9]), in_force, np.array([False]))
        most = most_false_positives(settings, controller.outcomes)
        assert controller.threshold is None or controller.false_positives <= most
    assert controller.threshold is None
