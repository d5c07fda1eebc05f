"""A server's concurrency, estimated from calls that came while others were under way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Floats, Ints
from birthmark.storage.what_if.columns import UNKNOWN
from birthmark.storage.what_if.sample import Sample
from birthmark.storage.what_if.server import Server
from birthmark.storage.what_if.simulate import Run, each_call

THREADS = (1, 2, 4, 8, 16)
PROCESSORS = (1, 2, 4, 8)
LEAST_CALLS = 200
"""Fewest calls of a class to compare."""
_SHARES = (0.5, 0.75, 0.9, 0.95, 0.98)


class Way(NamedTuple):
    """A way of working on calls: settings of a `Server`."""

    threads: int
    processors: int
    in_turn: bool


def ways(known: Mapping[str, object]) -> list[Way]:
    """Return the ways to try, without those that contradict what is known."""
    tried = {"threads": THREADS, "processors": PROCESSORS, "in_turn": (False, True)}
    given = ([known[name]] if name in known else own for name, own in tried.items())
    found = [Way(*own) for own in product(*given)]  # type: ignore[arg-type]
    return [way for way in found if way.processors <= way.threads] or found


def latencies(
    server: Server, tried: Sequence[Way], calls: Sequence[pa.RecordBatch], seed: int
) -> dict[Way, Floats]:
    """Return the simulated latency of every call that was answered, for each way."""
    replied = np.concatenate([batch["replied"].to_numpy() for batch in calls])
    answered = replied != UNKNOWN
    found = {}
    for way in tried:
        own = server.model_copy(update=way._asdict())
        found[way] = each_call(Run(own, seed=seed), calls)[1][answered]
    return found


def distance(sample: Sample, simulated: Floats, rows: Ints) -> float:
    """Return how far the simulated latencies of calls are from the captured ones.

    That is the mean distance of quantiles, in logarithms, over the classes of calls, each twice:
    those that came while others of their connection were under way, which are most of the slow ones
    where calls take turns, and all others.
    """
    kinds, distances = sample.kind[rows] * 2 + (sample.behind[rows] > 0), []
    for kind in np.unique(kinds):
        of = rows[kinds == kind]
        if len(of) >= LEAST_CALLS:
            both = np.quantile(simulated[of], _SHARES), np.quantile(sample.latency[of], _SHARES)
            distances.append(np.abs(np.log(np.maximum(both[0], 1) / np.maximum(both[1], 1))).mean())
    return float(np.mean(distances)) if distances else 0.0
