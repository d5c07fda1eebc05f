"""The service at work for an hour, with all that it can do switched on: is its memory flat?

    python -m benchmarks.soak [--minutes 60] [--rate 500] [--registry REGISTRY] [--json OUT]

Two services run on one registry: at a TCP port one of two workers, and at a Unix socket one for a
host's hints, both with tokens and a prediction log. They are asked (``soak_load.py``) at a bounded
rate: so many single files and hints a second; besides come lists, Arrow, evidence, metrics, pages,
long polls, errors, connections that are dropped, and a new model every 20 s, in whose place another
is put back every 30. Without a registry a model is trained on the bundled samples.

The memory of a process is its PSS (proc(5), ``smaps_rollup``: what n processes share counts an nth
in each), once a second. It is flat if

- the process never has 500 MB resident, and
- by the slope of the run's second half (the median of those of all pairs of samples, Theil and
  Sen's) it would not grow by 25 MB in another such run: 25 MB an hour, where it took an hour.

Open files and threads must be as many in the last quarter as in the third, by their medians, but
for a few. It fails, too, where a request does, or where the prediction log is not whole: a row for
each answer. Of a thousand requests one may be turned away (503), since others use the machine, too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table
from scipy.stats import theilslopes

from benchmarks.serving import BIN, CPUS, names, trained
from benchmarks.soak_load import BATCH, Load
from birthmark.serving.access import tokens

LIMIT = 500_000_000
"""The most memory that the service may have, bytes."""

GROWTH = 25.0
"""Greatest growth of memory in the length of the run, MB."""

ALLOCATOR = {"MALLOC_ARENA_MAX": "2", "MALLOC_MMAP_THRESHOLD_": "65536"}
"""The environment of glibc's allocator, as in the unit."""

TURNED_AWAY = 1e-3
"""The share of requests that may be."""

FEW = 8
"""Greatest harmless growth of open files and threads: connections come and go."""

LOG_MINUTES = 0.5
ON = ["--log-predictions", "log", "--log-minutes", str(LOG_MINUTES), "--log-access"]


@dataclass(frozen=True)
class Sample:
    """Resources of a process at one time: memory in bytes, open files, threads."""

    seconds: float
    pss: int
    resident: int
    files: int
    threads: int


@dataclass
class Service:
    """A service that runs: its name, where it answers, its process, and what was seen of all."""

    name: str
    place: str
    process: subprocess.Popen[str]
    samples: dict[int, list[Sample]] = field(default_factory=dict)

    def look(self, seconds: float) -> None:
        """Take a sample of each of its processes."""
        for process in family(self.process.pid):
            with suppress(FileNotFoundError, ProcessLookupError):  # it ended meanwhile
                self.samples.setdefault(process, []).append(sample(process, seconds))


def sample(process: int, seconds: float) -> Sample:
    """Return a process's resources."""
    own = Path(f"/proc/{process}")
    lines = (own / "smaps_rollup").read_text().splitlines()[1:]
    result = {line.split()[0]: int(line.split()[1]) * 1024 for line in lines}
    counts = (len(list((own / what).iterdir())) for what in ("fd", "task"))
    return Sample(seconds, result["Pss:"], result["Rss:"], *counts)


def family(process: int) -> list[int]:
    """Return a process and all that it has started."""
    found = [process]
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        for child in children.read_text().split():
            found += family(int(child))
    return found


@contextmanager
def started(name: str, directory: Path, *options: str | Path) -> Iterator[Service]:
    """Run a service in `directory` until the block ends; it must end as it should."""
    command = [BIN / "birthmark", "serve", *options]
    with (
        (directory / f"{name}.log").open("w") as log,
        subprocess.Popen(
            command,
            cwd=directory,
            env=os.environ | ALLOCATOR,
            text=True,
            stdout=subprocess.PIPE,
            stderr=log,
        ) as process,
    ):
        assert process.stdout is not None
        where = process.stdout.readline().split()[-1]
        unix = where.removeprefix("unix:") if where.startswith("unix:") else None
        base = "http://localhost" if unix else where
        with httpx.Client(transport=httpx.HTTPTransport(uds=unix), base_url=base) as client:
            while client.get("/readyz", timeout=60).status_code != 200:
                time.sleep(0.1)
        service = Service(name, where if unix else where.rsplit(":", 1)[1], process)
        try:
            yield service
        finally:
            process.send_signal(signal.SIGTERM)
            if status := process.wait(120):
                raise RuntimeError(f"{name}: ended with {status}")


async def watched(load: Load, services: Sequence[Service], seconds: float) -> None:
    """Ask for so many seconds, and look at the services once a second."""
    stop, begun = asyncio.Event(), time.monotonic()
    asking = asyncio.create_task(load.run(stop))
    while (passed := time.monotonic() - begun) < seconds and not asking.done():
        for service in services:
            await asyncio.to_thread(service.look, passed)
        await asyncio.sleep(1)
    stop.set()
    await asking


def grown(samples: Sequence[Sample]) -> dict[str, float]:
    """Return the trend of a process's memory, in MB, and whether files and threads are stable."""
    half = samples[len(samples) // 2 :]
    pss = [each.pss / 1e6 for each in half]
    slope, _, low, high = theilslopes(pss, [each.seconds for each in half])
    third, last = half[: len(half) // 2], half[len(half) // 2 :]
    return {
        "at first": samples[0].pss / 1e6,
        "at half-time": half[0].pss / 1e6,
        "median since": float(np.median(pss)),
        "at last": pss[-1],
        "most resident": max(each.resident for each in samples) / 1e6,
        "an hour": slope * 3600,
        "an hour, low": low * 3600,
        "an hour, high": high * 3600,
        "in another run": slope * samples[-1].seconds,
        "files, more": median(last, "files") - median(third, "files"),
        "threads, more": median(last, "threads") - median(third, "threads"),
    }


def median(samples: Sequence[Sample], what: str) -> float:
    """Return the median of one of the figures in samples."""
    return float(np.median([getattr(each, what) for each in samples]))


def named_processes(services: Sequence[Service]) -> Iterator[tuple[str, list[Sample]]]:
    """Yield the samples of each process that was there all the time, by what it is called."""
    for service in services:
        most = max(map(len, service.samples.values()))
        whole = [own for own in service.samples.values() if len(own) > most // 2]
        for number, own in enumerate(whole):
            yield f"{service.name} {number}", own


def logged(directory: Path) -> int:
    """Return the number of rows of a prediction log."""
    return sum(pq.read_metadata(path).num_rows for path in directory.rglob("*.parquet"))


def latencies(load: Load) -> dict[str, dict[str, float]]:
    """Return by kind how many requests there were, and their times, milliseconds."""
    return {
        kind: {"requests": len(times)}
        | {f"p{share}": float(np.percentile(times, share)) * 1e3 for share in (50, 99)}
        | {"most": max(times) * 1e3}
        for kind, times in load.answers.seconds.items()
    }


def soaked(args: argparse.Namespace, directory: Path) -> dict[str, Any]:
    """Return all that was found."""
    registry = directory / "registry"
    shutil.copytree(args.registry or trained(directory / "trained"), registry)
    remaining = directory / "tokens.json"
    token = tokens.add(remaining, "soak", tokens.SCOPES)
    options = ["--registry", registry, "--tokens", remaining, *ON]
    with ExitStack() as stack:
        tcp = started("TCP", directory, *options, "--port", "0", "--workers", "2")
        unix = started("Unix", directory, *options, "--uds", directory / "socket")
        services = [stack.enter_context(each) for each in (tcp, unix)]
        places = services[0].place, services[1].place
        load = Load(places, token, registry, names(BATCH), args.rate)
        asyncio.run(watched(load, services, 60 * args.minutes))
    seen = dict(named_processes(services))
    answers = load.answers.files + load.answers.hints
    return {
        "minutes": args.minutes,
        "load": os.getloadavg(),
        "processors": len(CPUS),
        "requests": latencies(load),
        "failures": dict(load.answers.failures),
        "turned away": load.answers.turned_away,
        "answers": answers,
        "logged": logged(directory / "log"),
        "memory": {name: grown(own) for name, own in seen.items()},
        "samples": {name: [asdict(each) for each in own] for name, own in seen.items()},
    }


def faults(result: dict[str, Any]) -> list[str]:
    """Return the list of faults."""
    found = [f"failed, {count} times: {what}" for what, count in result["failures"].items()]
    requests = sum(own["requests"] for own in result["requests"].values())
    if result["turned away"] > TURNED_AWAY * requests:
        found.append(f"{result['turned away']} of {requests:,} requests were turned away")
    if result["logged"] != result["answers"]:
        found.append(f"{result['answers']:,} answers, but {result['logged']:,} rows in the log")
    for name, memory in result["memory"].items():
        if memory["most resident"] > LIMIT / 1e6:
            found.append(f"{name}: had {memory['most resident']:.0f} MB")
        if memory["in another run"] > GROWTH:
            found.append(f"{name}: is not flat: {memory['an hour']:.1f} MB an hour")
        for what in ("files, more", "threads, more"):
            if memory[what] > FEW:
                found.append(f"{name}: {what}: {memory[what]:.0f} in a quarter")
    return found


def show(result: dict[str, Any], console: Console) -> None:
    """Print what was found."""
    asked = Table("asked", "requests", "p50 ms", "p99 ms", "most ms")
    for kind, own in result["requests"].items():
        figures = (f"{own[key]:,.1f}" for key in ("p50", "p99", "most"))
        asked.add_row(kind, f"{own['requests']:,}", *figures)
    columns = list(next(iter(result["memory"].values())))
    memory = Table("MB", *result["memory"])
    for key in columns:
        memory.add_row(key, *(f"{own[key]:,.1f}" for own in result["memory"].values()))
    console.print(asked)
    console.print(memory)
    console.print(f"{result['turned away']} requests were turned away")
    console.print(f"{result['answers']:,} answers, {result['logged']:,} rows in the prediction log")


def main() -> None:
    """Soak, print and write; exit with 1 where something is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--rate", type=float, default=500.0, help="single questions a second")
    parser.add_argument("--registry", type=Path)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        result = soaked(args, Path(directory))
    result["faults"] = faults(result)
    console = Console()
    show(result, console)
    for fault in result["faults"]:
        console.print(fault)
    console.print("not as it should be" if result["faults"] else "memory is flat, all was answered")
    if args.json:
        args.json.write_text(json.dumps(result, indent=1) + "\n")
    sys.exit(bool(result["faults"]))


if __name__ == "__main__":
    main()
