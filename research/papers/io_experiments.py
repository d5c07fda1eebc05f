"""The experiments of Hsu and Smith: each load on each stack that they compare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from birthmark.layout_hint.disks.ultrastar import smallest
from birthmark.research.loads import Load, read_load
from birthmark.research.stacks import (
    AHEAD,
    BLOCK,
    KB,
    MB,
    NOTHING,
    UNIT,
    Environment,
    Rules,
    blocks,
    defaults,
    runs,
    serve,
)

REQUESTS = 40_000
"""Requests of a load; a fifth of them warms the stack up."""

CLASSES = ("P", "S", "Ps", "Pm", "Sm")
"""Their classes of loads; Ps is P on an infinitely fast machine."""

SWEPT = ("P", "S")
"""The classes in figures over a parameter."""

ENVIRONMENTS: tuple[Environment, Environment] = ("poor", "rich")
UNITS_KB = (64, 512, 2048, 8192, 65_536, 524_288)
WEIGHTS = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 10.0)
MARKS = (0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.99)
BUFFERS = (0.0001, 0.0003, 0.0005, 0.001, 0.002)
YEAR = {"seek": 0.92, "rpm": 1.09, "linear": 1.21, "track": 1.24}
"""Yearly growth factor of each dimension of a drive."""

YEARS: dict[str, tuple[str, ...]] = {
    **{dimension: (dimension,) for dimension in YEAR},
    "areal": ("linear", "track"),
    "mechanical": ("seek", "rpm"),
    "all": tuple(YEAR),
}
Stack = tuple[Rules, Mapping[str, float]]
Found = dict[tuple[str, str, str], dict[str, Any]]
"""The figures of each class, environment and experiment."""


def measure_all(seed: int) -> Found:
    """Run all experiments with a seed."""
    found: Found = {}
    for name in CLASSES:
        load = read_load("P" if name == "Ps" else name)
        shape = load.shape(REQUESTS, None if name == "Ps" else 1.0)
        grid = {
            (name, environment, experiment): stack
            for environment in ENVIRONMENTS
            for experiment, stack in experiments(name, load, environment).items()
        }
        figures = serve(shape, seed, smallest(load.storage_bytes), list(grid.values()))
        found |= dict(zip(grid, figures, strict=True))
    return found


def experiments(name: str, load: Load, environment: Environment) -> dict[str, Stack]:
    """Return the stacks that serve a class of loads, each with the scale of its drive."""
    base = defaults(environment, load.storage_bytes, load.segment_kb)
    striped = defaults(environment, load.storage_bytes, load.segment_kb, disks=4)
    stacks: dict[str, Stack] = {
        "base": (base, {}),
        "small cache": (base | plain(NOTHING) | {"cache_blocks": blocks(512 * 1024)}, {}),
        "write through": (base | {"write_buffer": None}, {}),
        "fcfs": (base | {"order": "fcfs"}, {}),
        "striped": (striped, {}),
        "short stroke": (base, {"platters": 4}),
    }
    stacks |= {f"depth {depth}": (base | {"depth": depth}, {}) for depth in (1, 2, 4, 16)}
    stacks |= prefetching(base, load.segment_kb)
    if environment == "rich":
        stacks |= {f"year {year}": (base, _scale(own)) for year, own in YEARS.items()}
        stacks |= swept(base, striped, load.storage_bytes) if name in SWEPT else {}
    return stacks


def plain(prefetch: object) -> Rules:
    """Return the changes for prefetching that is not opportunistic."""
    return {"prefetch": prefetch, "read_on_sectors": 0, "any_free": False}


def prefetching(base: Rules, segment_kb: int) -> dict[str, Stack]:
    """Return none, each of the three schemes, and the additions to each (Tables 3 to 5)."""
    stacks: dict[str, Stack] = {"none": (base | plain(NOTHING), {})}
    for scheme, prefetch in {"LFU": UNIT, "RA": AHEAD, "CSP": runs(segment_kb)}.items():
        own = base | plain(prefetch)
        stacks[scheme] = (own, {})
        own = own | {"read_on_sectors": 128 * KB}
        stacks[f"{scheme} preemptible"] = (own, {})
        own = own | {"any_free": True}
        stacks[f"{scheme} free"] = (own, {})
        stacks[f"{scheme} late"] = (own | {"just_in_time": True}, {})
    return stacks


def swept(base: Rules, striped: Rules, storage: float) -> dict[str, Stack]:
    """Return the parameters of figures: units, age factors, marks, buffers, issuers."""
    stacks: dict[str, Stack] = {}
    for unit in UNITS_KB:
        stacks[f"unit {unit}"] = (striped | {"stripe_sectors": unit * KB}, {})
    for weight in WEIGHTS:
        stacks[f"weight {weight}"] = (base | {"order": {"aged": weight}}, {})
    for high in MARKS:
        stacks[f"mark {high}"] = (_buffered(base, high=high, low=min(0.2, high)), {})
    for share in BUFFERS:
        size = blocks(share * storage)
        stacks[f"buffer {share}"] = (_buffered(base, blocks=size, low=0, high=0), {})
    stacks["buffer 1 MB"] = (_buffered(base, blocks=MB // BLOCK, low=0, high=0), {})
    for factor in (1, 4, 16):
        slow = {"seek": factor, "rpm": 1 / factor}
        stacks[f"dependent {factor}"] = (base, slow)
        stacks[f"open {factor}"] = (base | {"open": True}, slow)
    return stacks


def _buffered(base: Rules, **changes: float) -> Rules:
    return base | {"write_buffer": base["write_buffer"] | changes}


def _scale(dimensions: tuple[str, ...]) -> dict[str, float]:
    return {dimension: YEAR[dimension] for dimension in dimensions}
