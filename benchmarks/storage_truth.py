"""Whether a fit finds the server again that gave the replies, and ranks its variants rightly.

Simulated servers, whose unknowns are drawn at random, answer calls. Each is fitted to the first
half of its capture; the intervals are compared with what was drawn. Then pairs of variants are
ranked, on the second half, and compared with what the same variants of the true server give.

    python -m benchmarks.storage_truth [TRIALS [FIRST]]
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pyarrow as pa

from birthmark.storage.what_if.fit import Unknown, fitted
from birthmark.storage.what_if.held_out import compared
from birthmark.storage.what_if.sample import sampled
from birthmark.storage.what_if.server import Server
from birthmark.storage.what_if.settings import FitOptions
from birthmark.storage.what_if.simulate import Run, run
from birthmark.storage.what_if.truth import capture, drawn_server
from birthmark.storage.what_if.variants import Change

CALLS = 60_000
SEEDS = 3
CHANGES = {
    "now": None,
    "processors": Change(processors=8),
    "memory": Change(memory=1 << 30),
    "less memory": Change(memory=8 << 20),
    "buffer": Change(write_buffer=64 << 20),
    "ssd": Change(ssd=True),
    "one thread": Change(threads=1, processors=1),
    "in turn": Change(in_turn=True),
}
"""The compared variants: on any drawn server, some of these change much and some little."""


def truths(server: Server) -> dict[str, float]:
    """Return the unknowns of a server under the names of a fit."""
    named = {f"{name} on the processor": own.median() for name, own in server.work.items()}
    return named | {
        "memory in use": server.memory,
        "found in memory at first": server.warm,
        "disk read": server.disk_read.median(),
        "disk write": server.disk_write.median(),
        "threads": server.threads,
        "processors": server.processors,
        "connections in turn": server.in_turn,
    }


def covered(unknown: Unknown, truth: float) -> bool | None:
    """Return whether an interval has the truth; None if nothing is stated."""
    if unknown.low is None and unknown.high is None:
        return None
    low, high = unknown.low or 0.0, np.inf if unknown.high is None else unknown.high
    return bool(low <= truth <= high)


def means(server: Server, calls: Sequence[pa.RecordBatch], start: int) -> dict[str, list[float]]:
    """Return the mean latency of each variant of a server, for each seed."""
    names = list(CHANGES)
    made = [server if own is None else own.of(server) for own in CHANGES.values()]
    runs = [Run(own, seed=seed, start=start) for own in made for seed in range(1, SEEDS + 1)]
    found = [own["kinds"]["all"]["simulated"]["mean"] for own in run(runs, calls)]
    return {name: found[at * SEEDS : (at + 1) * SEEDS] for at, name in enumerate(names)}


def ranked(
    fit: Mapping[str, Sequence[float]], truth: Mapping[str, Sequence[float]], error: float
) -> tuple[int, int, int]:
    """Return the numbers of ranked pairs, of correctly ranked ones, and of all pairs."""
    count = right = every = 0
    for one, other in combinations(fit, 2):
        ratios = np.log(fit[one]) - np.log(fit[other])
        away, every = float(np.mean(ratios)), every + 1
        if abs(away) > max(error, 2 * float(np.std(ratios, ddof=1))):
            count += 1
            right += (away < 0) == (np.mean(truth[one]) < np.mean(truth[other]))
    return count, right, every


def main(trials: int, first_trial: int) -> None:
    """Run trials, from one on; print what was covered, and what was ranked."""
    stated: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    pairs = np.zeros(3, int)
    errors = []
    for trial in range(first_trial, first_trial + trials):
        server = drawn_server(np.random.default_rng(trial))
        calls = capture(server, 2 * CALLS, trial)
        half = int(calls[0]["at"][CALLS].as_py())
        first = [calls[0].slice(0, CALLS)]
        fit, unknowns = fitted(sampled(first), first, {}, FitOptions())
        for name, value in truths(server).items():
            found = covered(unknowns[name], value) if name in unknowns else None
            stated[name] += found is not None
            inside[name] += found is True
        outcomes = run([Run(fit, seed=seed, start=half) for seed in range(1, SEEDS + 1)], calls)
        error = compared(outcomes).error("all", "mean")
        errors.append(error)
        pairs += ranked(means(fit, calls, half), means(server, calls, half), error)
        print(f"{trial}: off by {error:.1%}, pairs ranked, rightly, all: {pairs}", file=sys.stderr)
    for name, count in stated.items():
        print(f"{name}: within its interval in {inside[name]} of {count}")
    print(f"held-out error of the mean: median {np.median(errors):.1%}, most {max(errors):.1%}")
    print(f"pairs: {pairs[0]} of {pairs[2]} ranked, {pairs[1]} of them as the truth has them")


if __name__ == "__main__":
    given = [int(own) for own in sys.argv[1:]]
    main(*[*given, *(100, 0)[len(given) :]])
