from __future__ import annotations

import math

import numpy as np
import pytest

from birthmark.predictor.control.ledger import ABOVE, ALPHA, Ledger, most_false_positives


def first_crossing(share: np.ndarray, seed: int, bound: float = 0.01) -> bool:
    """Return whether independent outcomes ever show the bound broken."""
    wrong = np.cumsum(np.random.default_rng(seed).random(len(share)) < share)
    looks = range(1, len(share) + 1, 7)
    return any(Ledger(bound, n, int(wrong[n - 1])).is_broken for n in looks)


@pytest.mark.parametrize("share", [np.full(3000, 0.01), np.linspace(0, 0.02, 3000)])
def test_a_bound_that_is_kept_is_hardly_ever_shown_broken_at_any_time(share: np.ndarray) -> None:
    assert np.mean([first_crossing(share, seed) for seed in range(100)]) <= ALPHA


def test_a_bound_that_is_broken_is_shown_so_soon() -> None:
    assert all(first_crossing(np.full(3000, 0.03), seed) for seed in range(20))


def test_the_evidence_is_the_mean_likelihood_ratio() -> None:
    ledger, bets = Ledger(0.1, 40, 7), np.array(ABOVE) * 0.1
    ratio = np.mean((bets / 0.1) ** 7 * ((1 - bets) / 0.9) ** 33)
    assert ledger.is_broken == (ratio >= 1 / ALPHA)
    most = most_false_positives(0.1, 40)
    ratio = np.mean((bets / 0.1) ** most * ((1 - bets) / 0.9) ** (40 - most))
    assert math.isclose(ratio, math.sqrt(1 / ALPHA), rel_tol=1e-3)


@pytest.mark.parametrize("bound", [1e-6, 0.01, 0.3, 0.9])
def test_the_most_grows_with_the_outcomes_by_less_and_less_beyond_the_bound(bound: float) -> None:
    most = [most_false_positives(bound, n) for n in (0, 10, 1000, 10**5, 10**9)]
    assert most == sorted(most)
    assert most[0] > 1
    assert most[-1] < 1.1 * bound * 10**9


def test_credit_is_full_within_the_bound_and_none_is_left_at_the_most() -> None:
    most = most_false_positives(0.01, 1000)
    assert Ledger(0.01, 1000, 0).credit() == Ledger(0.01, 1000, 10).credit() == 1
    assert Ledger(0.01, 1000, most).credit() == pytest.approx(0)
    assert Ledger(0.01, 1000, 10).credit(most - 10) == pytest.approx(0)
    assert 0 < Ledger(0.01, 1000, 12).credit() < 1


def test_a_bound_is_kept_once_enough_is_seen() -> None:
    assert not Ledger(0.01, 300, 0).is_kept
    assert Ledger(0.01, 600, 0).is_kept
    assert Ledger(0.01, 30_000, 210).is_kept
    assert not Ledger(0.01, 30_000, 290).is_kept
