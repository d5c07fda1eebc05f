"""Figures that the claims about I/O optimizations compare, from all experiments."""

from __future__ import annotations

from collections.abc import Iterable

from birthmark.research.papers.io_experiments import (
    BUFFERS,
    CLASSES,
    ENVIRONMENTS,
    MARKS,
    SWEPT,
    UNITS_KB,
    WEIGHTS,
    YEARS,
    Found,
)

SEEK_MS, ROTATION_MS = 4.9, 3.0
"""The specified average seek of the drives, and half of a revolution."""

SCHEMES = ("LFU", "RA", "CSP")
COMPARED = (
    ("caching", "small cache", "none"),
    ("prefetching", "none", "base"),
    ("write buffer", "write through", "base"),
    ("striping", "base", "striped"),
    ("short stroke", "base", "short stroke"),
    ("scheduling", "fcfs", "base"),
    *((f"depth {depth}", "depth 1", f"depth {depth}") for depth in (2, 4, 16)),
    ("depth 8", "depth 1", "base"),
    *((scheme, "none", scheme) for scheme in SCHEMES),
    *(
        (f"{scheme} {more}", scheme, f"{scheme} {more}")
        for scheme in SCHEMES
        for more in ("preemptible", "free", "late")
    ),
)
"""A name, its baseline, and the compared experiment."""

METRICS = (
    ("reads", "response_ms"),
    ("reads", "service_ms"),
    ("writes", "response_ms"),
    ("writes", "service_ms"),
    ("all", "response_ms"),
    ("all", "service_ms"),
)


def figures(found: Found) -> dict[str, float]:
    """Return all figures of a run by name."""
    named: dict[str, float] = {}
    for environment in ENVIRONMENTS:
        for name, old, new in COMPARED:
            named |= _gains(found, environment, name, old, new)
    named |= _years(found) | _misses(found) | _parts(found) | _swept(found)
    return named


def mean(values: Iterable[float]) -> float:
    """Return the arithmetic mean of some values."""
    items = list(values)
    return sum(items) / len(items)


def _gains(found: Found, environment: str, name: str, old: str, new: str) -> dict[str, float]:
    """Return improvements in per cent of the old value, for each class and on average."""
    named: dict[str, float] = {}
    for kind, metric in METRICS:
        label = f"{name} {environment} {kind} {metric.removesuffix('_ms')}"
        for each in CLASSES:
            before = found[each, environment, old][kind][metric]
            after = found[each, environment, new][kind][metric]
            # A load too short for its writes to leave the buffer has nothing to save.
            gain = 100 * (before - after) / before if before else 0.0
            named[f"{each} {label}"] = gain
        named[label] = mean(named[f"{each} {label}"] for each in CLASSES)
    return named


def _years(found: Found) -> dict[str, float]:
    """Return a year's improvements (Table 11), in per cent of the old value.

    That table's caption has them of the new value. But the paper defines improvement by the old one
    "throughout", and only so do its numbers add up: faster seeks and rotation take 3.39 and 5.11 %
    off the service, both together 8.49; of the new value, it would be 8.86.
    """
    named: dict[str, float] = {}
    for year in YEARS:
        for metric in ("response", "service"):
            pairs = [
                [
                    found[each, "rich", stack]["all"][f"{metric}_ms"]
                    for stack in ("base", f"year {year}")
                ]
                for each in CLASSES
            ]
            named[f"year {year} {metric}"] = mean(100 * (old - new) / old for old, new in pairs)
            of_new = mean(100 * (old - new) / new for old, new in pairs)
            named[f"year {year} {metric} of new"] = of_new
    return named


def _misses(found: Found) -> dict[str, float]:
    """Return the figures to which the loads were fitted."""
    named: dict[str, float] = {}
    for each in CLASSES:
        for environment in ENVIRONMENTS:
            own = {name: found[each, environment, name] for name in ("none", *SCHEMES)}
            for name, outcome in own.items():
                named[f"{each} {environment} {name} misses"] = outcome["reads"]["miss_ratio"]
            writes = found[each, environment, "base"]["writes"]["miss_ratio"]
            named[f"{each} {environment} write misses"] = writes
            service = found[each, environment, "base"]["writes"]["service_ms"]
            named[f"{each} {environment} write service ms"] = service
            reads = own["none"]["reads"]
            named[f"{each} {environment} read ms"] = reads["response_ms"]
            named[f"{each} {environment} read service ms"] = reads["service_ms"]
            waits = found[each, environment, "depth 1"]["all"]["response_ms"]
            named[f"{each} {environment} depth 1 ms"] = waits
    return named


def _parts(found: Found) -> dict[str, float]:
    """Return where time goes in the rich environment (Figures 25 and 26)."""
    named: dict[str, list[float]] = {}
    for each in CLASSES:
        own = found[each, "rich", "base"]
        reads, writes = own["read_moves"], own["write_moves"]
        moves = reads["count"] + writes["count"]
        for part, specified in (("seek", SEEK_MS), ("rotation", ROTATION_MS)):
            total = sum(kind["count"] * kind[f"{part}_ms"] for kind in (reads, writes))
            named.setdefault(f"specified {part}", []).append(100 * total / moves / specified)
        parts = own["reads"]["parts_ms"]
        for part, ms in parts.items():
            named.setdefault(f"read part {part}", []).append(100 * ms / sum(parts.values()))
        service = sum(writes[f"{part}_ms"] for part in ("seek", "rotation", "transfer")) or 1.0
        for part in ("seek", "rotation", "transfer"):
            share = 100 * writes[f"{part}_ms"] / service
            named.setdefault(f"write part {part}", []).append(share)
    return {name: mean(values) for name, values in named.items()}


def _swept(found: Found) -> dict[str, float]:
    """Return figures over a parameter, each relative to the best or the first."""
    named: dict[str, float] = {}
    for each in SWEPT:
        own = {
            name: outcome
            for (of, environment, name), outcome in found.items()
            if (of, environment) == (each, "rich")
        }
        for unit in UNITS_KB:
            named[f"{each} unit {unit}"] = own[f"unit {unit}"]["reads"]["response_ms"]
        for weight in WEIGHTS:
            named[f"{each} weight {weight}"] = own[f"weight {weight}"]["all"]["response_ms"]
            variation = own[f"weight {weight}"]["all"]["response_variation"]
            named[f"{each} variation {weight}"] = variation
        for mark in MARKS:
            writes = own[f"mark {mark}"]["writes"]
            named[f"{each} mark {mark} misses"] = writes["miss_ratio"]
            named[f"{each} mark {mark} response"] = writes["response_ms"]
        through = own["write through"]["writes"]["response_ms"]
        for size in (*BUFFERS, "1 MB"):
            left = own[f"buffer {size}"]["writes"]["response_ms"]
            named[f"{each} buffer {size}"] = 100 * (through - left) / through
        for factor in (1, 4, 16):
            for model in ("open", "dependent"):
                response = own[f"{model} {factor}"]["all"]["response_ms"]
                named[f"{each} {model} {factor}"] = response
    return named
