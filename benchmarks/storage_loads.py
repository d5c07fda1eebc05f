"""Fit a class of loads of Hsu and Smith to what they print, and write its file.

    python -m benchmarks.storage_loads P S Pm Sm [--folder storage/loads]

What is not fitted comes from the file that is there, or from a trace (``storage_places``). Fitted
are ``KNOBS``, to misses without prefetching and with three prefetchers (their Tables 2 and 3), and
of writes (Table 6), to the read service and response without prefetching (Table 2, poor), and to
the responses of all requests at a queue depth of 1 (Table 8): to nothing that a claim compares.
The seeds are none of those that claims are tried with. Slopes are of steps that are large beside
what chance does; ``scipy.optimize.least_squares``, which takes small ones, was lost in that.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from birthmark.layout_hint.disks.ultrastar import smallest
from birthmark.storage.loads import LOADS, Load, read_load
from birthmark.storage.papers.io_experiments import ENVIRONMENTS, experiments
from birthmark.storage.papers.io_fits import PRINTED, TIMES
from birthmark.storage.stacks import BLOCK, MB, serve

SEEDS = (101, 102, 103)
REQUESTS = 30_000
SCHEMES = ("none", "LFU", "RA", "CSP")
STEP = 0.35
"""Of a difference, in the logarithm: less is lost in what chance does."""

DAMPING = 0.05
FARTHEST = 0.7
"""That the search goes at once, in the logarithm."""

KNOBS: dict[str, tuple[float, float]] = {
    "again_8MB": (1e-4, 0.3),
    "again_rich": (0.01, 0.8),
    "runs": (0.03, 0.6),
    "run_length": (1.5, 16.0),
    "scattered": (0.03, 0.39),
    "scatter_length": (1.1, 6.0),
    "think_ms": (0.05, 8.0),
    "first_written": (0.3, 20.0),
    "written_exponent": (0.05, 1.0),
    "together": (0.02, 0.8),
    "flushes": (0.001, 0.6),
    "flush": (2.0, 400.0),
}
"""What is fitted, and between which bounds: all positive, and searched by their logarithms."""

STAGES = (tuple(KNOBS)[:7], tuple(KNOBS)[7:9], tuple(KNOBS)[9:])
"""What is searched together: where reads go, where writes go, and what comes at once."""

PERSONAL = ("P", "Pm")
"""Loads whose flushes hardly matter to what is fitted: they are as in the trace."""

FITTED = (
    (0, 1, 2, 3, 7, 8, 9, 10, 11),
    (4, 12),
    (5, 6, 14),
)
"""The figures that each of them is fitted to, as ``printed`` orders them.

The read response without prefetching is fitted of the poor environment alone: from that of the rich
one it would follow what a large cache takes off, which is a claim.
"""

WEIGHTS = np.array([2.0] * 5 + [1.0] * 3 + [2.0] * 5 + [1.0] * 2)
"""Misses, which hardly depend on chance, count more than times."""

WRITTEN = {"P": 1.0, "Pm": 1.0, "S": 0.4, "Sm": 0.4}
"""How many times as many episodes of writes are runs, or scattered, as of reads.

Of UNIX servers 8 to 12 % of writes and 18 to 33 % of reads are sequential (Ruemmler and Wilkes);
of personal systems it is assumed.
"""


def measured(load: Load) -> np.ndarray:
    """Return the figures that are fitted, over the seeds, in the order of ``printed``."""
    shape = load.shape(REQUESTS)
    drive = smallest(load.storage_bytes)
    grid = [
        experiments(load.name, load, environment)[each]
        for environment in ENVIRONMENTS
        for each in (*SCHEMES, "depth 1")
    ]
    runs = [serve(shape, seed, drive, grid) for seed in SEEDS]
    found: list[float] = []
    for at in range(0, len(grid), len(SCHEMES) + 1):
        own = [[run[at + number] for run in runs] for number in range(len(SCHEMES) + 1)]
        found += [_mean(each, "reads", "miss_ratio") for each in own[:-1]]
        found += [_mean(own[-1], "writes", "miss_ratio")]
        found += [_mean(own[0], "reads", "response_ms"), _mean(own[-1], "all", "response_ms")]
        if at == 0:
            found += [_mean(own[0], "reads", "service_ms")]
    return np.array(found)


def printed(name: str) -> np.ndarray:
    """Return what Hsu and Smith print of a class: of the poor environment, then of the rich one."""
    service, poor, rich, depth_poor, depth_rich = TIMES[name]
    misses_poor, misses_rich = PRINTED[name]
    return np.array([*misses_poor, poor, depth_poor, service, *misses_rich, rich, depth_rich])


def _mean(runs: list[dict[str, Any]], kind: str, figure: str) -> float:
    return float(np.mean([run[kind][figure] for run in runs]))


def knobs(load: Load) -> dict[str, float]:
    """Return what the fit starts from."""
    reads, pace = load.reads, load.pace
    return {
        "again_8MB": reads.again[-2].share,
        "again_rich": reads.again[-1].share - reads.again[-2].share,
        "runs": reads.runs,
        "run_length": reads.run_length,
        "scattered": reads.scattered,
        "scatter_length": reads.scatter_length,
        **_written(load),
        "think_ms": pace.think_ms[0],
        "together": pace.together,
        "flushes": pace.flushes,
        "flush": pace.flush[0],
    }


def _written(load: Load) -> dict[str, float]:
    """Return the power of the depth that the share of writes falls with that do not come again."""
    first, last = load.writes.again[-4], load.writes.again[-1]
    fall = math.log((1 - first.share) / (1 - last.share))
    exponent = fall / math.log(last.blocks / first.blocks)
    return {
        "first_written": (1 - last.share) * last.blocks**exponent,
        "written_exponent": exponent,
    }


def changed(load: Load, own: Mapping[str, float]) -> Load:
    """Return a load with other values of what is fitted."""
    rich = round(0.01 * load.storage_bytes / BLOCK)
    written = [4.0**power for power in range(2, 12) if 4**power < 0.4 * rich]
    written.append(0.4 * rich)
    asked = load.model_dump()
    asked["reads"] |= {
        "again": [
            {"blocks": 128, "share": own["again_8MB"] / 16},
            {"blocks": 8 * MB // BLOCK, "share": own["again_8MB"]},
            {"blocks": rich, "share": own["again_8MB"] + own["again_rich"]},
        ],
        "history_blocks": rich + rich // 4,
    }
    asked["writes"] |= {
        "again": [
            {"blocks": blocks, "share": share}
            for blocks in written
            if (share := 1 - own["first_written"] * blocks ** -own["written_exponent"]) > 0
        ],
        "history_blocks": round(0.4 * rich),
    }
    for key, part in (
        ("runs", WRITTEN[load.name]),
        ("scattered", WRITTEN[load.name]),
        ("run_length", 1),
        ("scatter_length", 1),
    ):
        asked["reads"][key] = own[key]
        asked["writes"][key] = part * own[key]
    asked["pace"] |= {
        "think_ms": (own["think_ms"], load.pace.think_ms[1]),
        "together": own["together"],
        "flushes": own["flushes"],
        "flush": (own["flush"], load.pace.flush[1]),
    }
    return Load.model_validate(asked)


def fit(load: Load, rounds: int) -> Load:
    """Return the load whose figures are nearest, by the squares of logarithms."""
    own = {key: min(max(value, KNOBS[key][0]), KNOBS[key][1]) for key, value in knobs(load).items()}
    for _ in range(rounds):
        for searched, figures in zip(STAGES, FITTED, strict=True):
            measured_there = ("flushes", "flush") if load.name in PERSONAL else ()
            stage = [key for key in searched if key not in measured_there]
            own = _step(load, own, stage, list(figures))
    return changed(load, own)


def _step(
    load: Load, own: dict[str, float], stage: Sequence[str], figures: list[int]
) -> dict[str, float]:
    """Return the best of a few values along a damped Gauss-Newton step."""
    target = printed(load.name)[figures]

    def moved(by: np.ndarray) -> dict[str, float]:
        new = dict(own)
        for key, part in zip(stage, by, strict=True):
            low, high = KNOBS[key]
            new[key] = min(max(own[key] * math.exp(part), low), high)
        return new

    def apart(by: np.ndarray) -> np.ndarray:
        found = measured(changed(load, moved(by)))[figures]
        return np.log(found / target) * WEIGHTS[figures]

    steps = np.eye(len(stage)) * STEP
    here = apart(np.zeros(len(stage)))
    slopes = np.array([(apart(step) - apart(-step)) / (2 * STEP) for step in steps]).T
    normal = slopes.T @ slopes + DAMPING * np.eye(len(stage))
    by = np.clip(np.linalg.solve(normal, -slopes.T @ here), -FARTHEST, FARTHEST)
    tried = {part: float(np.sum(apart(part * by) ** 2)) for part in (0.3, 0.6, 1.0)}
    tried[0.0] = float(np.sum(here**2))
    best = min(tried, key=lambda part: tried[part])
    print(f"{load.name} {stage[0]}...: {tried[0.0]:.4f} to {tried[best]:.4f}", flush=True)
    return moved(best * by)


def toml(load: Load) -> str:
    """Return a load's file."""
    lines = [f"name = {load.name!r}".replace("'", '"'), f'fitted = "{load.fitted}"']
    lines += [f"storage_bytes = {load.storage_bytes:.3e}", f"segment_kb = {load.segment_kb}"]
    lines += [f"streams = {load.streams}", f"read_share = {load.read_share}"]
    for section in ("reads", "writes", "pace"):
        lines += ["", f"[{section}]"]
        for key, value in getattr(load, section).model_dump().items():
            if key == "again":
                points = [
                    f"    {{ blocks = {each['blocks']:.0f}, share = {each['share']:.4f} }},"
                    for each in value
                ]
                lines += ["again = [", *points, "]"]
            elif isinstance(value, tuple):
                lines.append(f"{key} = [{value[0]:.4g}, {value[1]:g}]")
            else:
                lines.append(f"{key} = {value if isinstance(value, int) else format(value, '.4g')}")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=LOADS, nargs="+")
    parser.add_argument("--folder", type=Path, default=Path("storage/loads"))
    parser.add_argument("--rounds", type=int, default=4, help="of the search")
    arguments = parser.parse_args()
    for name in arguments.name:
        fitted = fit(read_load(name), arguments.rounds)
        path = arguments.folder / f"{name}.toml"
        heading = [line for line in path.read_text().splitlines() if line.startswith("#")]
        path.write_text("\n".join([*heading, "", toml(fitted)]))
        for own, theirs in zip(measured(fitted), printed(name), strict=True):
            print(f"{name} printed {theirs:.3f} simulated {own:.3f}")


if __name__ == "__main__":
    main()
