"""Speed of the storage simulator in requests a second, on one core.

    python -m benchmarks.storage_speed [TRACE --drive NAME] [--requests N] [--json]

Processor time is counted, of the whole call with its reading; the best of some rounds is reported.
Without a trace, random reads and writes of an open load are made for the drive. The extension of a
checkout is built for tests; that of a wheel is faster (``pip install .``): the build is reported.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from birthmark.layout_hint.disks import read_drive
from birthmark.research.attached import NFS, WEB, System, serve
from birthmark.research.block_replay import replay
from birthmark.research.settings import IssueModel, QueueOrder, ReplayOptions

ROUNDS = 3
LOAD = 0.01
"""Seconds from one request of the open load to the next, in the mean."""


def rate(work: Callable[[], int]) -> float:
    """Return the rate of some work per second of processor time; the work returns its count."""
    best = 0.0
    for _ in range(ROUNDS):
        began = time.process_time()
        done = work()
        best = max(best, done / (time.process_time() - began))
    return best


def made(drive: str, count: int, out: Path) -> None:
    """Write an open load of so many requests of 4 KiB that the drive has room for."""
    draw = random.Random(1)
    blocks = read_drive(drive).sectors // 8
    now = 0.0
    with out.open("w") as table:
        for _ in range(count):
            now += draw.expovariate(1 / LOAD)
            kind = "R" if draw.random() < 2 / 3 else "W"
            table.write(f"{now:.6f},a,{kind},{4096 * draw.randrange(blocks)},4096\n")


def replays(trace: Path, drive: str) -> dict[str, float]:
    """Return the rates of a trace under issue models and orders."""

    def served(issue: IssueModel, order: QueueOrder) -> Callable[[], int]:
        clients = 8 if issue == "population" else 1
        asked = ReplayOptions(drive=drive, issue=issue, order=order, clients=clients, wrap=True)
        return lambda: int(replay(trace, asked)["requests"])

    return {
        "replay, open, elevator": rate(served("open", "elevator")),
        "replay, open, first come": rate(served("open", "fcfs")),
        "replay, 8 clients, elevator": rate(served("population", "elevator")),
        "replay, 8 clients, aged": rate(served("population", "aged")),
    }


def attached(count: int) -> dict[str, float]:
    """Return the rates of systems that serve files."""

    def served(system: System, load: Any) -> Callable[[], int]:
        return lambda: int(serve(system, load, requests=count)["load"]["requests"])

    return {
        "files, NFS, server": rate(served(System(), NFS)),
        "files, NFS, network": rate(served(System("net_disk"), NFS)),
        "files, Web, server": rate(served(System(), WEB)),
        "files, Web, network": rate(served(System("net_disk"), WEB)),
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", type=Path, nargs="?")
    parser.add_argument("--drive", default="cheetah9LP")
    parser.add_argument("--requests", type=int, default=300_000)
    parser.add_argument("--build", default="of a checkout (cargo profile dev)")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trace = arguments.trace
        if trace is None:
            trace = Path(folder) / "load.csv"
            made(arguments.drive, arguments.requests, trace)
        found = replays(trace, arguments.drive) | attached(arguments.requests)
    if arguments.json:
        print(json.dumps({"build": arguments.build, "requests_per_second": found}, indent=1))
        return
    print(f"build: {arguments.build}")
    for name, value in found.items():
        print(f"{name:30} {value:12,.0f} requests/s")


if __name__ == "__main__":
    main()
