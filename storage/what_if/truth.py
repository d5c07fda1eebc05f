"""Captures of simulated servers, whose unknowns are known.

A simulated server answers streams of calls that read, write, commit and look up files, with uneven
popularity. A fit must recover its settings.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Floats, Ints
from birthmark.storage.what_if.columns import CALLS, CLASSES
from birthmark.storage.what_if.server import Distribution, Server
from birthmark.storage.what_if.simulate import Run, each_call

SPREAD = 0.35
"""The standard deviation of times on the processor, in logarithms."""
_MIX = {"getattr": 0.25, "lookup": 0.2, "access": 0.1, "read": 0.3, "write": 0.1, "commit": 0.02}
_MIX = _MIX | {"create": 0.02, "list": 0.01}
_FILES = 4000
_FILE_BLOCKS = 16
_STREAMS = 12
_CONNECTIONS = 4
_BYTES = (2048, 4096, 8192, 16384)


def lognormal(median: float, spread: float, ns_per_byte: float = 0.0) -> Distribution:
    """Return a distribution with this median (μs), whose logarithms are normal to 3 deviations."""
    steps = np.linspace(-3, 3, 25)
    cumulative = np.cumsum(np.exp(-(steps**2) / 2))
    shares = (cumulative - cumulative[0]) / (cumulative[-1] - cumulative[0])
    times = median * np.exp(spread * steps)
    pairs = [(float(share), float(time)) for share, time in zip(shares, times, strict=True)]
    middle = Distribution(quantiles=pairs).median()
    scaled = [(share, time * median / middle) for share, time in pairs]
    return Distribution(quantiles=scaled, ns_per_byte=ns_per_byte)


def drawn_server(random: np.random.Generator) -> Server:
    """Return a server whose unknowns are drawn at random."""
    scale = float(np.exp(random.uniform(np.log(0.6), np.log(2.0))))
    medians: Mapping[str, float] = {
        name: scale * float(random.uniform(25, 90)) for name in CLASSES if name != "commit"
    }
    bytes_cost = float(random.uniform(0.2, 2.0))
    work = {
        name: lognormal(median, SPREAD, bytes_cost if name in ("read", "write") else 0.0)
        for name, median in medians.items()
    }
    work["commit"] = work["getattr"]
    return Server(
        threads=8,
        processors=int(random.choice([1, 2, 4])),
        memory=int(random.uniform(16, 160) * (1 << 20)),
        warm=float(random.uniform(0.2, 0.9)),
        disk_read=lognormal(float(random.uniform(400, 6000)), 0.4, 5.0),
        disk_write=lognormal(float(random.uniform(200, 2000)), 0.4, 5.0),
        work=work,
        in_turn=bool(random.random() < 0.5),
    )


def capture(server: Server, calls: int, seed: int) -> list[pa.RecordBatch]:
    """Return calls, in their order, with the replies that a server gave them."""
    asked = _asked(calls, np.random.default_rng(seed))
    batch = _batch(asked)
    came, latency, _ = each_call(Run(server, seed, "open"), [batch])
    micros = np.rint(came / 1000 + np.maximum(latency, 1))
    asked["replied"] = micros.astype(np.int64) * 1000
    return [_batch(asked)]


def _asked(count: int, random: np.random.Generator) -> dict[str, Floats | Ints]:
    """Return calls without replies: the load is light, and comes in bursts of a few calls."""
    names = list(_MIX)
    weights = np.array(list(_MIX.values()))
    drawn = random.choice(len(names), count, p=weights / weights.sum())
    kind = np.array([CLASSES.index(name) for name in names])[drawn]
    gap = np.where(random.random(count) < 0.25, random.exponential(40, count), 0)
    gap = gap + np.where(gap == 0, random.exponential(2500, count), 0)
    popular = np.minimum(random.pareto(0.5, count), 1e6)
    file = (popular * 20).astype(np.int64) % _FILES + 1
    moved = random.choice(_BYTES, count)
    data = np.isin(kind, (CLASSES.index("read"), CLASSES.index("write")))
    block = random.integers(0, _FILE_BLOCKS, count) * max(_BYTES)
    stream = random.integers(0, _STREAMS, count)
    return {
        "at": np.cumsum(gap).astype(np.int64) * 1000,
        "replied": np.zeros(count, np.int64),
        "stream": stream,
        "connection": stream % _CONNECTIONS + 1,
        "class": kind,
        "file": file,
        **{name: np.zeros(count, np.int64) for name in ("target", "directory", "hints")},
        "offset": np.where(data, block, 0),
        "bytes": np.where(data, moved, 0),
        "end": np.full(count, _FILE_BLOCKS * max(_BYTES), np.int64),
        "stable": np.where(random.random(count) < 0.3, 2, 0),
    }


def _batch(columns: Mapping[str, Floats | Ints]) -> pa.RecordBatch:
    arrays = [pa.array(columns[own.name].astype(own.type.to_pandas_dtype())) for own in CALLS]
    return pa.RecordBatch.from_arrays(arrays, schema=CALLS)
