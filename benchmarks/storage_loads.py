"""Fit a class of loads of Hsu and Smith to what they print, and write its file.

    python -m benchmarks.storage_loads P S Pm Sm [--folder research/loads]

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
from joblib import Parallel, delayed

from birthmark.layout_hint.disks.ultrastar import smallest
from birthmark.research.loads import LOADS, Load, read_load
from birthmark.research.papers.io_experiments import ENVIRONMENTS, experiments
from birthmark.research.papers.io_fits import PRINTED, TIMES
from birthmark.research.stacks import BLOCK, MB, serve

SEEDS = 4
"""Requests of each round."""

REQUESTS = 60_000
SCHEMES = ("none", "LFU", "RA", "CSP")
STEP = 0.3
"""Least meaningful difference, in the logarithm: smaller ones are noise."""

DAMPINGS = (0.03, 0.3, 3.0)
"""Of a step: with the largest it is short, and hardly depends on what the slopes have in common."""

PARTS = (1.0, 0.4)
"""Of a step, that are tried."""

FARTHEST = 0.7
"""That the search goes at once, in the logarithm."""

ENOUGH = 0.98
"""The fit ends when the best step leaves more than this of the sum of squares, twice in turn."""

KNOBS: dict[str, tuple[float, float]] = {
    "again_8MB": (1e-4, 0.3),
    "again_rich": (0.01, 0.8),
    "runs": (0.03, 0.6),
    "run_length": (1.5, 16.0),
    "scattered": (0.03, 0.9),
    "scatter_length": (1.1, 6.0),
    "think_ms": (0.05, 8.0),
    "first_written": (0.3, 20.0),
    "written_exponent": (0.05, 1.0),
    "together": (0.02, 0.8),
    "flushes": (0.001, 0.6),
    "flush": (2.0, 400.0),
}
"""Fitted parameters with their bounds: all positive, and searched by their logarithms."""

PERSONAL = ("P", "Pm")
"""Loads whose flushes hardly matter to what is fitted: they are as in the trace."""

WEIGHTS = np.array([2.0] * 5 + [1.0] * 3 + [2.0] * 5 + [0.0, 1.0])
"""Misses, which hardly depend on chance, count more than times.

The read response of the rich environment does not count: from it would follow what a large cache
takes off, which is a claim.
"""

WRITTEN = {"P": 1.0, "Pm": 1.0, "S": 0.4, "Sm": 0.4}
"""How many times as many episodes of writes are runs, or scattered, as of reads.

Of UNIX servers 8 to 12 % of writes and 18 to 33 % of reads are sequential (Ruemmler and Wilkes);
of personal systems it is assumed.
"""


def measured(load: Load, seeds: Sequence[int]) -> np.ndarray:
    """Return the figures that are fitted, over the seeds, in the order of ``printed``."""
    shape = load.shape(REQUESTS)
    drive = smallest(load.storage_bytes)
    grid = [
        experiments(load.name, load, environment)[each]
        for environment in ENVIRONMENTS
        for each in (*SCHEMES, "depth 1")
    ]
    runs = [serve(shape, seed, drive, grid) for seed in seeds]
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
    """Return Hsu and Smith's figures for a class: of the poor environment, then of the rich one."""
    service, poor, rich, depth_poor, depth_rich = TIMES[name]
    misses_poor, misses_rich = PRINTED[name]
    return np.array([*misses_poor, poor, depth_poor, service, *misses_rich, rich, depth_rich])


def _mean(runs: list[dict[str, Any]], kind: str, figure: str) -> float:
    return float(np.mean([run[kind][figure] for run in runs]))


def knobs(load: Load) -> dict[str, float]:
    """Return the start of the fit."""
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
    # Of episodes none is two things.
    own = {**own, "scattered": min(own["scattered"], 0.99 - own["runs"])}
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
    missed = 0
    for number in range(1, rounds + 1):
        # Others in each round: what chance did in one is not learned.
        seeds = [100 * number + own for own in range(SEEDS)]
        here, stepped = _stepped(load, own, seeds)
        ends = _left(load, stepped, seeds)
        best = min(range(len(stepped)), key=lambda at: ends[at] @ ends[at])
        left, after = here @ here, ends[best] @ ends[best]
        print(f"{load.name}: {left:.4f} to {after:.4f}", flush=True)
        if after < ENOUGH * left:
            own, missed = stepped[best], 0
        elif missed:
            break
        else:
            missed = 1
    return changed(load, own)


def _left(
    load: Load, tried: Sequence[Mapping[str, float]], seeds: Sequence[int]
) -> list[np.ndarray]:
    """Return the distances of each load's figures from the printed ones, as weighted logarithms."""
    target = printed(load.name)
    found = Parallel(n_jobs=-1)(delayed(measured)(changed(load, own), seeds) for own in tried)
    return [np.log(each / target) * WEIGHTS for each in found]


def _stepped(
    load: Load, own: Mapping[str, float], seeds: Sequence[int]
) -> tuple[np.ndarray, list[dict[str, float]]]:
    """Return the residual, and the targets of Gauss-Newton steps with several dampings."""
    measured_there = ("flushes", "flush") if load.name in PERSONAL else ()
    searched = [key for key in KNOBS if key not in measured_there]

    def moved(by: np.ndarray) -> dict[str, float]:
        new = dict(own)
        for key, part in zip(searched, by, strict=True):
            low, high = KNOBS[key]
            new[key] = min(max(own[key] * math.exp(part), low), high)
        return new

    steps = np.eye(len(searched)) * STEP
    here, *sides = _left(load, [moved(by) for by in (0 * steps[0], *steps, *-steps)], seeds)
    ahead, behind = np.array(sides[: len(searched)]), np.array(sides[len(searched) :])
    slopes = (ahead - behind).T / (2 * STEP)
    found = []
    for damping in DAMPINGS:
        normal = slopes.T @ slopes + damping * np.eye(len(searched))
        by = np.clip(np.linalg.solve(normal, -slopes.T @ here), -FARTHEST, FARTHEST)
        found += [moved(part * by) for part in PARTS]
    return here, found


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
    parser.add_argument("--folder", type=Path, default=Path("research/loads"))
    parser.add_argument("--rounds", type=int, default=20, help="of the search, at most")
    arguments = parser.parse_args()
    for name in arguments.name:
        fitted = fit(read_load(name), arguments.rounds)
        path = arguments.folder / f"{name}.toml"
        heading = [line for line in path.read_text().splitlines() if line.startswith("#")]
        path.write_text("\n".join([*heading, "", toml(fitted)]))
        for own, theirs in zip(measured(fitted, range(11, 15)), printed(name), strict=True):
            print(f"{name} printed {theirs:.3f} simulated {own:.3f}")


if __name__ == "__main__":
    main()
