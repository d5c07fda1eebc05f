"""A server fitted to the first half of a dataset, and tested on the second.

Calls that came alone determine most unknowns. Calls that overlapped determine threads, processors,
and whether the calls of a connection wait for one another. An interval covers 95 of 100 fits to
resampled stretches of the same time (a block bootstrap, because calls near one another are alike),
widened by the precision of a value. Unknowns without evidence are reported as such, and never
guessed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Ints
from birthmark.storage.what_if import crowd
from birthmark.storage.what_if.calls import Survey, read
from birthmark.storage.what_if.columns import CLASSES
from birthmark.storage.what_if.drift import Drift, drift
from birthmark.storage.what_if.estimate import Estimate, estimate
from birthmark.storage.what_if.held_out import HeldOut, held_out
from birthmark.storage.what_if.memory import Memory
from birthmark.storage.what_if.sample import Sample, sampled
from birthmark.storage.what_if.server import ASSUMED_WORK, Server
from birthmark.storage.what_if.service import LEAST_CALLS
from birthmark.storage.what_if.settings import FitOptions

_BLOCKS = 40
_FLOOR = 0.05
"""Best relative precision of a median."""
_WHOLE_US = 1.0
"""Calls are timed in whole microseconds."""
_DEVIATIONS = 2.5
"""Half-width of an interval in standard deviations, as few draws are made."""
_AS_GOOD = 0.02
"""Ways of working whose latencies are farther from the captured by at most this are as likely."""
MARGIN = 4
"""Factor from the least possible to the simulated memory, if no read missed."""
_READ_AHEAD = (
    "read-ahead is taken as configured: its hits look like those of data already in memory"
)


@dataclass(frozen=True)
class Unknown:
    """One of a server's unknowns.

    Attributes:
        value: the fitted value; None: the capture has no evidence.
        low, high: the bounds of 95 of 100 fits.
        unit: the unit of all three.
        why: why there is no value, or only a bound.
    """

    value: float | None
    low: float | None
    high: float | None
    unit: str
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as one object."""
        return dict(vars(self))


@dataclass(frozen=True)
class Fit:
    """A fitted server, and the accuracy of its predictions.

    Attributes:
        survey: the dataset.
        server: the server, with known and fitted settings.
        unknowns: by name.
        held_out: the prediction of the second half.
        calls: the number of calls to which it was fitted.
        drift: the slowdown of the server itself in the second half.
    """

    survey: Survey
    server: Server
    unknowns: Mapping[str, Unknown]
    held_out: HeldOut
    calls: int
    drift: Drift


def first_half(of: Survey, most: int) -> list[pa.RecordBatch]:
    """Return the last calls of the first half, `most` or a few more."""
    held: list[pa.RecordBatch] = []
    for batch in read(of):
        at = batch["at"].to_numpy()
        held.append(batch.slice(0, int(np.searchsorted(at, of.half))))
        while len(held) > 1 and sum(map(len, held[1:])) >= most:
            held.pop(0)
        if at[-1] >= of.half:
            break
    return [batch for batch in held if len(batch)]


def fit(of: Survey, known: Mapping[str, Any], options: FitOptions) -> Fit:
    """Fit a server to the first half of a dataset, and predict the second.

    Raises ValueError if the first half has no calls to fit to.
    """
    calls = first_half(of, options.calls)
    sample = sampled(calls) if calls else None
    if sample is None or not len(sample):
        raise ValueError(f"{of.dataset}: expected calls with replies in its first half, found none")
    server, unknowns = fitted(sample, calls, known, options)
    later: list[pa.RecordBatch] = []
    predicted = held_out(of, server, options.seeds, _kept(read(of), of.half, options.calls, later))
    return Fit(of, server, unknowns, predicted, len(sample), drift(sample, sampled(later)))


def _kept(
    batches: Iterable[pa.RecordBatch], half: int, most: int, later: list[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Return all calls, and collect the first of the second half, `most` or a few more."""
    for batch in batches:
        own = batch.slice(int(np.searchsorted(batch["at"].to_numpy(), half)))
        if len(own) and sum(map(len, later)) < most:
            later.append(own)
        yield batch


def fitted(
    sample: Sample, calls: Sequence[pa.RecordBatch], known: Mapping[str, Any], options: FitOptions
) -> tuple[Server, dict[str, Unknown]]:
    """Return the server fitted to some calls, and its unknowns with their intervals."""
    drawn = _stretches(sample, options.resamples)
    best = estimate(sample)
    others = [estimate(sample.take(rows)) for rows in drawn]
    server = _server(best, known)
    tried = crowd.ways(known)
    simulated = crowd.latencies(server, tried, calls, seed=1)
    everything = np.arange(len(sample))
    chosen, likely = _ways(sample, simulated, everything, drawn)
    server = server.model_copy(update=chosen._asdict())
    unknowns = _from_lone_calls(best, others, sample, known)
    for name in ("threads", "processors"):
        if name not in known:
            own = [getattr(way, name) for way in likely]
            unknowns[name] = _counted(name, getattr(chosen, name), own)
    if "in_turn" not in known:
        unknowns["connections in turn"] = _in_turn({way.in_turn for way in likely})
    return server, unknowns


def _stretches(sample: Sample, count: int) -> list[Ints]:
    """Return the rows of `count` resampled stretches of time, each as long as the sample."""
    blocks, random = sample.blocks(_BLOCKS), np.random.default_rng(1)
    draws = random.integers(0, _BLOCKS, (count, _BLOCKS))
    return [np.concatenate([blocks[own] for own in sorted(draw)]) for draw in draws]


def _server(best: Estimate, known: Mapping[str, Any]) -> Server:
    own: dict[str, Any] = {"work": best.work, "warm": best.memory.warm}
    own["memory"] = _simulated_memory(best.memory)
    if best.disk_read is not None:
        own["disk_read"] = best.disk_read
    if best.disk_write is not None:
        own["disk_write"] = best.disk_write
    return Server(**own | dict(known))


def _simulated_memory(memory: Memory) -> int:
    """Return the memory to simulate: with a margin if only a lower bound is known."""
    if memory.bounded:
        return max(int(memory.bytes), 4096)
    return max(MARGIN * int(memory.low), 1 << 30)


def _ways(
    sample: Sample, simulated: Mapping[crowd.Way, Any], everything: Ints, drawn: Sequence[Ints]
) -> tuple[crowd.Way, list[crowd.Way]]:
    """Return the way that fits best, and those that fit best some stretches.

    A way nearly as good as the best counts as equally likely.
    """
    away = {way: crowd.distance(sample, own, everything) for way, own in simulated.items()}
    chosen = min(away, key=lambda way: (round(away[way], 2), way))
    likely = {way for way in away if away[way] <= away[chosen] + _AS_GOOD}
    for rows in drawn:
        found = {way: crowd.distance(sample, own, rows) for way, own in simulated.items()}
        likely.add(min(found, key=found.__getitem__))
    return chosen, sorted(likely)


def _in_turn(likely: Collection[bool]) -> Unknown:
    """Return whether the server works on the calls of a connection one after the other."""
    low, high = float(min(likely)), float(max(likely))
    if low == high:
        return Unknown(low, low, high, "yes or no")
    why = "calls came too seldom together on a connection"
    return Unknown(None, low, high, "yes or no", why)


def _counted(name: str, value: int, likely: Sequence[int]) -> Unknown:
    low, high = min(likely), max(likely)
    why = "" if low == high else f"calls came too seldom together to tell {low} from {high}"
    return Unknown(value, low, high, name, why)


def _from_lone_calls(
    best: Estimate, others: Sequence[Estimate], sample: Sample, known: Mapping[str, Any]
) -> dict[str, Unknown]:
    """Return the unknowns for which calls that came alone are the evidence."""
    unknowns = {
        f"{name} on the processor": _interval(
            own.median(), [each.work[name].median() for each in others if name in each.work], "μs"
        )
        for name, own in best.work.items()
    }
    if seldom := [name for name in CLASSES if name not in best.work and sample.of(name).any()]:
        unknowns["other calls on the processor"] = _seldom(seldom)
    if "memory" not in known:
        unknowns["memory in use"] = _memory(best, others)
    unknowns["found in memory at first"] = _warm(best, others)
    for name in ("disk_read", "disk_write"):
        if name not in known and "drive" not in known:
            unknowns[name.replace("_", " ")] = _disk(name, best, others)
    unknowns["link"] = _link(sample)
    return unknowns


def _interval(value: float, others: Sequence[float], unit: str) -> Unknown:
    """Return a value with its interval: the spread of other fits, at least the floor."""
    spread = _DEVIATIONS * float(np.std(others)) if len(others) > 1 else value
    spread = max(spread, _FLOOR * value, _WHOLE_US if unit == "μs" else 0)
    return Unknown(value, max(value - spread, 0.0), value + spread, unit)


def _seldom(names: Sequence[str]) -> Unknown:
    """Return an unknown for kinds with too few lone calls."""
    why = f"fewer than {LEAST_CALLS} of {', '.join(names)} came alone"
    why += f": {ASSUMED_WORK.median():g} μs assumed"
    return Unknown(None, None, None, "μs", why)


def _memory(best: Estimate, others: Sequence[Estimate]) -> Unknown:
    own = best.memory
    if not own.bounded:
        why = "no read that came back to data missed the cache: at least this is there"
        return Unknown(None, own.low, None, "bytes", why)
    bounded = [each.memory for each in others if each.memory.bounded] or [own]
    low = min(own.low, float(np.quantile([each.low for each in bounded], 0.025)))
    high = max(own.high, float(np.quantile([each.high for each in bounded], 0.975)))
    return Unknown(own.bytes, low, high, "bytes", _READ_AHEAD)


def _warm(best: Estimate, others: Sequence[Estimate]) -> Unknown:
    if best.disk_read is None:
        why = "by their latencies, no reads missed the cache: reads of data not touched before"
        return Unknown(None, None, None, "share", why + " were as quick as all others")
    spread = max(_DEVIATIONS * float(np.std([each.memory.warm for each in others])), 0.05)
    own = best.memory.warm
    return Unknown(own, max(own - spread, 0.0), min(own + spread, 1.0), "share")


def _disk(name: str, best: Estimate, others: Sequence[Estimate]) -> Unknown:
    own = getattr(best, name)
    if own is None:
        seldom = "reads that missed" if name == "disk_read" else "writes that had to be stable"
        return Unknown(None, None, None, "μs", f"the capture has too few {seldom}")
    found = [getattr(each, name) for each in others]
    return _interval(own.median(), [each.median() for each in found if each is not None], "μs")


def _link(sample: Sample) -> Unknown:
    """Return a lower bound of the link: the most that it moved in a tenth of a second."""
    periods = ((sample.at - sample.at[0]) // 100_000_000).astype(np.int64)
    most = float(np.bincount(periods, weights=sample.bytes).max()) * 10
    why = "it was never seen full: the most that went over it in a tenth of a second"
    return Unknown(None, most, None, "bytes/s", why)
