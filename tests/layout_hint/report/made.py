"""A small comparison: counts like a replay's, from a seed, and what they say of a region."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from birthmark.layout_hint.comparison.figures import Comparison, Result, Shares, Spread
from birthmark.layout_hint.replay.conditions import Settings
from birthmark.layout_hint.replay.locality import Locality, locality
from birthmark.layout_hint.replay.region import geometry

PARTITION, REGION = 40 << 30, 4 << 20
SIZES = geometry("freebsd48", PARTITION)
"""The thesis's file system (40 GB)."""

HOT = {"Default": 0.03, "HotDir": 0.4, "HotDir+HotName": 0.6, "all three": 0.8}
"""How much of what is hot each policy brings into the region."""


def counts(policy: str, seed: int) -> pa.Table:
    """Operations on 8,000 blocks of which some are hot; the policy moves these."""
    numbers = np.random.default_rng(seed)
    groups = numbers.integers(0, SIZES.groups, 8000)
    block = groups * (SIZES.fpg // 2) + numbers.geometric(0.001, 8000) + 712
    hot = np.arange(8000) < 400
    moved = hot & (numbers.random(8000) < HOT[policy])
    block[moved] = numbers.integers(300, REGION // 4096, moved.sum())
    block, first = np.unique(block, return_index=True)
    writes = np.where(hot, numbers.pareto(0.9, 8000) * 20 + 20, numbers.integers(0, 6, 8000))
    reads = numbers.integers(0, 8, 8000)
    return pa.table(
        {
            "block": pa.array(block, pa.int64()),
            "reads": pa.array(reads[first], pa.uint32()),
            "writes": pa.array(np.minimum(writes[first], 5000).astype(np.uint32)),
        }
    )


def comparison(
    title: str = "CAMPUS",
    days: tuple[str, ...] = ("2001-10-23", "2001-10-24"),
    modes: tuple[str, ...] = ("reserved", "preferred"),
    seeds: tuple[int, ...] = (1, 2, 3),
) -> Comparison:
    """What runs of the policies of `HOT` would give."""
    settings = Settings(
        "freebsd48", PARTITION, 0, REGION, 0, 800 << 20, 3600.0, "fast", "wd1200bb", seeds
    )
    results, heat = [], {}
    for number, day in enumerate(days):
        for policy in HOT:
            for mode in (None,) if policy == "Default" else modes:
                tables = {seed: counts(policy, 100 * number + seed) for seed in seeds}
                results.append(result(day, policy, mode, tables))
                heat[day, policy, mode, "fresh"] = tables[seeds[0]]
                if policy == "HotDir+HotName":
                    results.append(result(day, policy, mode, tables, nvram=True))
    return Comparison(title, settings, days, tuple(results), heat, [{"name": "campus", "seed": 7}])


def result(
    day: str, policy: str, mode: str | None, tables: dict[int, pa.Table], nvram: bool = False
) -> Result:
    found = [locality(table, [(0, REGION)]) for table in tables.values()]
    gains = [(HOT[policy] - 0.03) / 10 + nvram * 0.03 + seed / 1000 for seed in tables]
    if policy == "Default":
        gains = [0.0 for _ in tables]
    return Result(
        day, policy, mode, "fresh", nvram,
        target=shares([each.target for each in found]),
        optimal=shares([each.optimal for each in found]),
        random=Spread(tuple(each.random for each in found)),
        reads=total(found, "reads"),
        writes=total(found, "writes"),
        elapsed=Spread(tuple(1000 * (1 - gain) for gain in gains)),
        improvement=Spread(tuple(gains)),
        speed=Spread(tuple(1e6 for _ in tables)),
        inconsistency=None,
    )  # fmt: skip


def shares(found: list[tuple[float, float, float]]) -> Shares:
    return Shares(*(Spread(tuple(each)) for each in zip(*found, strict=True)))


def total(found: list[Locality], of: str) -> Spread:
    return Spread(tuple(float(getattr(each, of)) for each in found))
