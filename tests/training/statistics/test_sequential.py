from __future__ import annotations

import numpy as np
import pytest

from birthmark.training.statistics.sequential import ALPHA, NIGHTS, evidence, growth, needed

BOUND = 0.01
HOURS = 24


def night(random: np.random.Generator, share: float, files: int = 5000) -> np.ndarray:
    """Return a night's bets on hours whose own shares scatter, as those of real hours do."""
    rows = random.multinomial(files, random.dirichlet(np.full(HOURS, 2.0))).astype(float)
    shares = np.minimum(1, random.gamma(2, share / 2, HOURS))
    return growth(random.binomial(rows.astype(int), shares).astype(float), rows, BOUND)


def test_in_a_year_of_nights_a_bound_that_holds_is_broken_at_most_at_the_error_rate() -> None:
    """One bound, at 20 times the level: at most half of 200 years may break it."""
    random = np.random.default_rng(5)
    alpha, years, nights = 0.5, 200, 60
    called = 0
    for _ in range(years):
        seen = [night(random, BOUND) for _ in range(nights)]
        # the level is for 365 nights: of 60 it is as much less
        enough = needed(1, alpha * NIGHTS / nights)
        called += any(evidence(seen[: n + 1]) >= enough for n in range(nights))
    assert called / years <= alpha
    assert needed(30) == pytest.approx(np.log10(365 * 30 / ALPHA))


@pytest.mark.parametrize(("share", "nights"), [(0.05, 1), (0.03, 2), (0.02, 10)])
def test_a_bound_that_is_broken_is_called_so_within_nights(share: float, nights: int) -> None:
    """Among 30 bounds, after three months in which it held."""
    random = np.random.default_rng(7)
    before = [night(random, BOUND / 3) for _ in range(90)]
    assert evidence(before) < needed(30)
    seen = before + [night(random, share) for _ in range(nights)]
    assert evidence(seen) >= needed(30)


def test_a_night_within_the_bound_lets_no_capital_grow_however_its_hours_scatter() -> None:
    alarms = np.array([50.0, 0, 0, 0, 0])
    assert (growth(alarms, np.full(5, 1000.0), BOUND) <= 0).all()
    assert (growth(np.zeros(3), np.array([5.0, 0, 1]), BOUND) < 0).all()
    assert (growth(np.zeros(2), np.zeros(2), BOUND) == 0).all()


def test_one_burst_tells_less_than_as_many_false_positives_apart() -> None:
    rows = np.full(HOURS, 200.0)
    burst, apart = np.zeros(HOURS), np.full(HOURS, 6.0)
    burst[3] = apart.sum()
    assert evidence([growth(apart, rows, BOUND)]) > needed(1) - 2
    assert evidence([growth(burst, rows, BOUND)]) < evidence([growth(apart, rows, BOUND)]) - 2


def test_evidence_of_no_night_is_none() -> None:
    assert evidence([]) == -np.inf
    assert evidence([np.zeros(6)]) == pytest.approx(0)
    assert evidence([np.zeros(6)] * 10) == pytest.approx(1)
