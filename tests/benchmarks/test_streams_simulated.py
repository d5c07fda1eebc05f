from __future__ import annotations

import numpy as np
import pytest

from benchmarks.control_streams import Stream
from benchmarks.streams_simulated import DRIFTS, WARM, simulated
from birthmark.predictor.control import UNKNOWN

BOUND, BIRTHS = 0.01, 20_000


def wrong(stream: Stream, begin: float, end: float) -> float:
    """Return the share of false yeses at the static threshold, between two shares of the time."""
    at = stream.born / stream.born[-1]
    rows = (at >= begin) & (at <= end)
    return float((stream.answers(stream.static) & ~stream.truths)[rows].mean())


def streams(kind: str, count: int = 6) -> list[Stream]:
    return [simulated(kind, number, 1, BOUND, BIRTHS) for number in range(count)]


@pytest.mark.parametrize("kind", DRIFTS)
def test_a_stream_follows_from_its_kind_number_and_seed(kind: str) -> None:
    first, again = (simulated(kind, 1, 1, BOUND, 2000) for _ in range(2))
    for column in ("born", "scores", "truths", "known_at"):
        assert np.array_equal(getattr(first, column), getattr(again, column))
    assert not np.array_equal(first.scores, simulated(kind, 2, 1, BOUND, 2000).scores)
    assert not np.array_equal(first.scores, simulated(kind, 1, 2, BOUND, 2000).scores)
    assert (np.diff(first.born) >= 0).all()
    assert (first.known_at > first.born).all()


@pytest.mark.parametrize("kind", DRIFTS)
def test_streams_begin_like_training(kind: str) -> None:
    assert np.mean([wrong(stream, 0, WARM) for stream in streams(kind)]) <= BOUND


def test_scores_are_calibrated_without_drift() -> None:
    for stream in streams("stationary"):
        likely = stream.scores >= 0.5
        assert abs(stream.scores[likely].mean() - stream.truths[likely].mean()) < 0.03


@pytest.mark.parametrize("kind", sorted(DRIFTS.keys() - {"stationary", "prevalence"}))
def test_drift_breaks_the_static_threshold(kind: str) -> None:
    assert np.mean([wrong(stream, WARM, 1) for stream in streams(kind)]) > 2 * BOUND


def test_the_share_of_positives_shifts() -> None:
    moved = [
        np.diff([t.mean() for t in (s.truths[:4000], s.truths[-4000:])])
        for s in streams("prevalence")
    ]
    assert max(np.abs(moved)) > 0.2


def test_delayed_outcomes_come_late_and_some_never() -> None:
    for stream in streams("delayed"):
        known = stream.known_at != UNKNOWN
        assert 0 < np.mean(~known) < 0.2
        delays = (stream.known_at - stream.born)[known]
        assert np.median(delays) > stream.born[-1] / 200


def test_births_of_a_burst_are_simultaneous() -> None:
    for stream in streams("bursts"):
        _, sizes = np.unique(stream.born, return_counts=True)
        assert 50 < sizes.mean() < 200
