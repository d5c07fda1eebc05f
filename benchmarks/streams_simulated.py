"""Simulated streams of births whose scores lose their calibration.

Scores are calibrated as in training: a birth's evidence is its log likelihood ratio between two
normal distributions, and its score the probability that follows from it and the share of positives
in training. By drift, the evidence means less: both distributions move towards each other by the
share *drift*, so that true and false births get the same scores where it is 1. The first
``WARM`` of each stream is like training.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.control_streams import STEP, Stream
from birthmark.data.common.arrays import Bools, Floats, Ints
from birthmark.predictor.control import UNKNOWN
from birthmark.predictor.fit.thresholds import Limit, Slice, within_limit

BIRTHS = 20_000
"""Births of a stream, and of the training sample that its static threshold is chosen on."""

WARM = 0.2
"""The share of a stream that passes before drift may begin."""

PER_STEP, BURST = 10, 100
"""Births of a step, on average, and of a burst, which all come before any outcome of theirs."""

Random = np.random.Generator


def _stationary(at: Floats, rng: Random) -> Floats:
    return np.zeros(len(at))


def _sudden(at: Floats, rng: Random) -> Floats:
    return np.where(at >= rng.uniform(WARM, 0.8), rng.uniform(0.3, 1), 0)


def _gradual(at: Floats, rng: Random) -> Floats:
    return rng.uniform(0.3, 1) * np.clip((at - WARM) / (1 - WARM), 0, 1)


def _periodic(at: Floats, rng: Random) -> Floats:
    cycles = rng.integers(2, 9) * np.clip(at - WARM, 0, 1) / (1 - WARM)
    return rng.uniform(0.3, 1) * (1 - np.cos(2 * np.pi * cycles)) / 2


def _by_burst(at: Floats, rng: Random) -> Floats:
    """Return the drift of births in bursts; a fifth of these are of new programs."""
    _, burst = np.unique(at, return_inverse=True)
    new = rng.random(burst[-1] + 1) < 0.2
    return np.where((at >= WARM) & new[burst], rng.uniform(0.3, 1), 0)


DRIFTS: dict[str, Callable[[Floats, Random], Floats]] = {
    "stationary": _stationary,
    "sudden": _sudden,
    "gradual": _gradual,
    "periodic": _periodic,
    "prevalence": _stationary,
    "delayed": _sudden,
    "bursts": _by_burst,
}
"""The drift, from 0 to 1, at times from 0 to 1 of a stream, by kind.

In ``prevalence`` the share of positives changes, in ``delayed`` outcomes come late, and those of
one truth sooner than those of the other.
"""


def simulated(kind: str, number: int, seed: int, bound: float, births: int = BIRTHS) -> Stream:
    """Return stream ``number`` of a kind of drift; the same arguments give the same stream."""
    rng = np.random.default_rng([seed, list(DRIFTS).index(kind), number])
    separation, prevalence = rng.uniform(1, 4), rng.uniform(0.05, 0.8)
    static = _calibrated(separation, prevalence, bound, rng)
    steps = _steps(kind, births, rng)
    at = steps / steps[-1]
    drift = DRIFTS[kind](at, rng)
    positives = np.full(births, prevalence)
    if kind == "prevalence":
        positives[at >= rng.uniform(WARM, 0.8)] = rng.uniform(0.05, 0.8)
    truths = rng.random(births) < positives
    scores = _scores(truths, separation, prevalence, drift, rng)
    born = steps * STEP
    known_at = born + _delays(kind, truths, int(born[-1]), rng)
    known_at[known_at > born[-1]] = UNKNOWN
    return Stream((f"{kind} {number}", "nothing"), born, scores, truths, known_at, truths, static)


def _calibrated(separation: float, prevalence: float, bound: float, rng: Random) -> float | None:
    """Return the threshold that training would choose on as many births without drift."""
    truths = rng.random(BIRTHS) < prevalence
    scores = _scores(truths, separation, prevalence, np.zeros(BIRTHS), rng)
    return within_limit(Slice(scores, truths, np.arange(BIRTHS) // 1000), Limit(bound))


def _scores(
    truths: Bools, separation: float, prevalence: float, drift: Floats, rng: Random
) -> Floats:
    mean = np.where(truths, 1, -1) * (1 - drift) * separation**2 / 2
    evidence = rng.normal(mean, separation) + np.log(prevalence / (1 - prevalence))
    return np.asarray(1 / (1 + np.exp(-evidence)))


def _steps(kind: str, births: int, rng: Random) -> Ints:
    """Return the step of each birth, ascending from 0."""
    if kind != "bursts":
        return np.arange(births) // PER_STEP
    burst = np.cumsum(rng.random(births) < 1 / BURST)
    return (burst - burst[0]) * (BURST // PER_STEP)


def _delays(kind: str, truths: Bools, length: int, rng: Random) -> Ints:
    """Return the time from each birth to its outcome: a step, or some hundredths of the stream."""
    if kind != "delayed":
        return np.full(len(truths), STEP)
    means = length * rng.uniform(0.01, 0.1, 2)
    return rng.exponential(means[truths.astype(int)]).astype(np.int64)
