"""Positions and times of requests in a week of 1992: the form of the loads of ``research/loads``.

    python -m benchmarks.storage_places ajw.1week.srt.xz [--json]

The trace is HP's, of 30 May 1992, in DiskSim's validation suite. Reads and writes are separated.
An *episode* begins with a request more than 64 KB from the end of the one before of its kind; its
place is *new* if none of the last 200 episodes was there. What is *near* lies within a 320th of the
storage (1 MB); a *burst* ends when nothing is under way for a second; writes that come within
3 ms of one another are a *flush*.
"""

from __future__ import annotations

import argparse
import json
import lzma
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

SECTOR = 256
"""Bytes."""

UNIT = 65_536
"""Bytes that hold what belongs together."""

NEAR = 1 << 20
"""Bytes: a 320th of the storage."""

LATE = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
"""Numbers of episodes that a new one may be near one of."""

WITHIN = 200
BURST_MS = 1000.0
FLUSH_MS = 3.0
QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.99)


class Trace(NamedTuple):
    """Requests in the order in which they came; bytes, and milliseconds."""

    begin: np.ndarray
    end: np.ndarray
    came: np.ndarray
    done: np.ndarray
    reads: np.ndarray


def read(path: Path) -> Trace:
    """Return a trace in HP's format: see ``research/simulator/src/srt.rs``."""
    data = path.read_bytes()
    if path.suffix == ".xz":
        data = lzma.decompress(data)
    records = data[data.index(b"\x0c") + 1 :]
    numbers = np.frombuffer(records, ">i4").reshape(-1, 14).astype(np.int64)
    came = (numbers[:, 2] * 1_000_000 + numbers[:, 3]) / 1e3
    begin = numbers[:, 7] * SECTOR
    return Trace(
        begin=begin,
        end=begin + numbers[:, 6],
        came=came,
        done=came + numbers[:, 5] / 1e3,
        reads=(numbers[:, 11] & 1) == 1,
    )


def measure(trace: Trace) -> dict[str, Any]:
    """Return the measurements, by name."""
    return {
        "requests": len(trace.came),
        "storage_mb": float(trace.end.max()) / 1e6,
        "reads": _places(trace, trace.reads),
        "writes": _places(trace, ~trace.reads),
        "pace": _pace(trace),
        "kinds": _kinds(trace),
    }


def _places(trace: Trace, kind: np.ndarray) -> dict[str, Any]:
    begin, end = trace.begin[kind], trace.end[kind]
    gap = begin[1:] - end[:-1]
    starts = begin[np.r_[True, np.abs(gap) > UNIT]]
    rank = _rank(starts, NEAR)
    new = (_rank(starts, 0) > WITHIN) & (np.arange(len(starts)) > LATE[-1])
    found = np.flatnonzero(new & (rank <= LATE[-1]))
    far = np.abs(starts[found] - starts[found - rank[found]])
    follows = (gap >= 0) & (gap <= UNIT)
    runs = np.bincount(np.cumsum(np.r_[True, ~follows]))[1:]
    beyond = runs[runs > 1] - 1
    return {
        "requests": len(begin),
        "episodes": len(starts),
        "new": float(new.mean()),
        "new_near_one_of_the_last": {late: float((rank[new] <= late).mean()) for late in LATE},
        "distance_of_near_kb": _quantiles(far / 1024),
        "again_in_order": _in_order(starts),
        "in_the_busiest_parts": _busiest(begin),
        "in_runs": float(follows.mean()),
        "run": float(runs[runs > 1].mean()),
        "run_quantiles": _quantiles(runs[runs > 1]),
        "beyond_first_variation": float(beyond.std() / beyond.mean()),
    }


def _rank(starts: np.ndarray, within: int) -> np.ndarray:
    """Return how many episodes ago one was as near, for each; if none, one too many."""
    rank = np.full(len(starts), LATE[-1] + 1)
    for ago in range(1, LATE[-1] + 1):
        near = np.abs(starts[ago:] - starts[:-ago]) <= within
        own = rank[ago:]
        own[near & (own > LATE[-1])] = ago
    return rank


def _busiest(begin: np.ndarray) -> dict[int, float]:
    """Return the share of requests in the busiest so many 320ths of the storage."""
    counts = np.sort(np.bincount(begin // NEAR))[::-1]
    return {parts: float(counts[:parts].sum() / counts.sum()) for parts in (1, 5, 10, 20, 50)}


def _in_order(starts: np.ndarray) -> float:
    """Return the share of episodes that come again right behind the same one as the last time."""
    last: dict[int, int] = {}
    behind = []
    for number, start in enumerate(starts.tolist()):
        before = last.get(start, number)
        # What comes again at once follows itself.
        if 0 < before < number - 8:
            behind.append(starts[before - 1] == starts[number - 1])
        last[start] = number
    return float(np.mean(behind))


def _pace(trace: Trace) -> dict[str, Any]:
    idle = trace.came[1:] - np.maximum.accumulate(trace.done)[:-1]
    apart = idle > BURST_MS
    bursts = np.bincount(np.cumsum(np.r_[True, apart]))[1:]
    gap = np.abs(trace.begin[1:] - trace.end[:-1])
    both = trace.reads[1:] & trace.reads[:-1]
    waits = trace.came[1:] < trace.done[:-1]
    think = trace.came[1:] - trace.done[:-1]
    asked = both & ~waits & (think < BURST_MS)
    writes = ~trace.reads
    joined = writes[1:] & writes[:-1] & (np.diff(trace.came) < FLUSH_MS)
    number = np.cumsum(np.r_[True, ~joined])
    flushes = np.bincount(number[writes])
    flushes = flushes[flushes > 1]
    return {
        "think_before_near_read_ms": _spread(think[asked & (gap <= UNIT)]),
        "pause_before_other_read_ms": _spread(think[asked & (gap > UNIT)]),
        "near_reads_that_do_not_wait": float(waits[both & (gap <= UNIT)].mean()),
        "other_reads_that_do_not_wait": float(waits[both & (gap > UNIT)].mean()),
        "writes_that_do_not_wait": float(waits[writes[1:] & writes[:-1]].mean()),
        "burst": _spread(bursts),
        "idle_ms": _spread(idle[apart]),
        "flush": _spread(flushes),
        "writes_in_flushes": float(flushes.sum() / writes.sum()),
    }


def _kinds(trace: Trace) -> dict[str, float]:
    """Return the share of episodes with the same direction as another.

    Of a flush only the first counts. *Alike* is the share beyond what would be by chance, as in
    ``Pace`` of ``research/simulator/src/load/shape.rs``.
    """
    begins = _begins(trace)
    reads = trace.reads[begins]
    idle = trace.came[1:] - np.maximum.accumulate(trace.done)[:-1]
    burst = np.cumsum(np.r_[True, idle > BURST_MS])[begins]
    inside = np.r_[False, burst[1:] == burst[:-1]]
    before = np.r_[False, reads[:-1]]
    read_out, write_out = (_out(trace, kind)[begins] for kind in (trace.reads, ~trace.reads))
    return {
        "episodes": len(begins),
        "alike_in_a_burst": _alike(reads[inside & before], reads[inside]),
        "alike_while_a_read_is_out": _alike(reads[read_out], reads),
        "alike_while_a_write_is_out": _alike(~reads[write_out], ~reads),
    }


def _alike(found: np.ndarray, by_chance: np.ndarray) -> float:
    return float((found.mean() - by_chance.mean()) / (1 - by_chance.mean()))


def _begins(trace: Trace) -> np.ndarray:
    """Return the requests that episodes begin with."""
    begin = np.zeros(len(trace.came), bool)
    for kind in (trace.reads, ~trace.reads):
        own = np.flatnonzero(kind)
        apart = np.abs(trace.begin[own][1:] - trace.end[own][:-1]) > UNIT
        begin[own[np.r_[True, apart]]] = True
    soon = np.r_[False, np.diff(trace.came) < FLUSH_MS]
    both = ~trace.reads & ~np.r_[True, trace.reads[:-1]]
    return np.flatnonzero(begin & ~(soon & both))


def _out(trace: Trace, kind: np.ndarray) -> np.ndarray:
    """Return whether a request of a kind is under way when each comes."""
    came = np.cumsum(kind) - kind
    return came > np.searchsorted(np.sort(trace.done[kind]), trace.came, "right")


def _spread(values: np.ndarray) -> dict[str, float]:
    logarithms = np.log(values)
    return {
        "median": float(np.median(values)),
        "mean": float(values.mean()),
        "geometric_mean": float(np.exp(logarithms.mean())),
        "deviation_of_logarithm": float(logarithms.std()),
    }


def _quantiles(values: np.ndarray) -> dict[float, float]:
    return dict(zip(QUANTILES, map(float, np.quantile(values, QUANTILES)), strict=True))


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", type=Path)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    found = measure(read(arguments.trace))
    if arguments.json:
        print(json.dumps(found, indent=1))
        return
    _show("", found)


def _show(before: str, values: Mapping[Any, Any]) -> None:
    for key, value in values.items():
        if not isinstance(value, Mapping):
            print(f"{before}{key}: {value:.4g}")
        elif all(isinstance(own, float) for own in value.values()):
            print(f"{before}{key}: {', '.join(f'{name} {own:.3g}' for name, own in value.items())}")
        else:
            _show(f"{before}{key}.", value)


if __name__ == "__main__":
    main()
