"""Cost of write-life hints for a create, their delay, and whether a create is missed.

    python -m benchmarks.write_life --helper HELPER --train DAY [--kinds rules forest]
        [--systems tmpfs ext4] [--rate 20000] [--seconds 10] [--rounds 5] [--json OUT]

HELPER is `birthmark-hintd` (`make hintd`). A day is a trace or an ingested dataset: a model is
trained on it, and files with names of that day are created, those of which the model says that
they live for a short time, so that each is hinted. They are created at a rate (``creates.c`` beside
this), by one core, in file systems of their own; the helper has another core, or the same. It asks
an image of each kind, and `birthmark serve` at a Unix socket, on its own core.

Creates are timed in turns with the helper, with one who listens to fanotify as it does and does
nothing (``listener.c``), and without: twice, and what the two differ by is what the machine alone
makes of it. What the listener costs is the kernel's share, and the rest the helper's. Of every
hundredth file the time from before its create until its hint is there is taken, in rounds of their
own: who waits for that creates nothing meanwhile. Needs root. The programs go before all others on
the machine (SCHED_FIFO), which may be shared.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.lookup import dataset
from birthmark.data.datasets.tables import read_files, read_names
from birthmark.features.creates import from_requests
from birthmark.predictor import TrainedModel, births
from birthmark.predictor.image.format import Image, predict
from birthmark.predictor.models.compile import compile_models
from birthmark.training.registry.versions import Registry

SHORT = ("lock", "lifespan<=1", "lifespan<=5", "lifespan<=30", "1<lifespan<=30")
"""Predicates whose yes is a hint."""

MODE = 0o644
NAMES = 2000
EVERY = 100
READY = 30.0
TICK = 1e6 / os.sysconf("SC_CLK_TCK")
"""Microseconds."""


def pinned(core: int) -> Any:
    """Return a command prefix that gives a process a core, before all others."""

    def apply() -> None:
        os.sched_setaffinity(0, {core})
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))

    return apply


@contextmanager
def mounted(kind: str, folder: Path) -> Iterator[Path]:
    """Mount a new file system of a kind."""
    path, image = folder / kind, folder / f"{kind}.img"
    path.mkdir()
    source, options = "tmpfs", ["-t", "tmpfs", "-o", "nr_inodes=0"]
    if kind != "tmpfs":
        with image.open("wb") as file:
            file.truncate(1 << 30)
        subprocess.run([f"mkfs.{kind}", "-q", image], check=True)
        source, options = str(image), ["-o", "loop"]
    subprocess.run(["mount", *options, source, path], check=True)
    try:
        yield path
    finally:
        subprocess.run(["umount", path], check=True)
        path.rmdir()
        image.unlink(missing_ok=True)


@dataclass
class Helper:
    """The helper while it hints."""

    process: subprocess.Popen[str]
    counts: dict[str, int]
    busy: float = 0.0
    """Its processor time in microseconds."""

    def end(self) -> None:
        """End it, and keep what it counted."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        self.busy = (int(fields[11]) + int(fields[12])) * TICK
        self.process.send_signal(signal.SIGTERM)
        answer = self.process.communicate()[1]
        pairs = [pair.split() for pair in answer.splitlines()[-1].rpartition("; ")[2].split(", ")]
        self.counts = {name: int(count) for name, count in pairs}


@contextmanager
def hinting(command: Sequence[str | Path], mount: Path, core: int) -> Iterator[Helper]:
    """Hint files in a file system while the block runs."""
    options = [f"--write-life={mount}", "--unmeasured", "--report-seconds=86400"]
    process = subprocess.Popen(
        [*command, *options], preexec_fn=pinned(core), stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    while "hints what is created" not in process.stderr.readline():
        if process.poll() is not None:
            sys.exit("write_life: the helper ended: run it by hand")
    helper = Helper(process, {})
    try:
        yield helper
    finally:
        helper.end()


@contextmanager
def listening(listener: Path, mount: Path, core: int) -> Iterator[None]:
    """Listen to the creates in a file system while the block runs, and do nothing."""
    process = subprocess.Popen(
        [listener, mount], preexec_fn=pinned(core), stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    if not process.stdout.readline():
        sys.exit("write_life: the listener ended: run it by hand")
    try:
        yield
    finally:
        process.kill()
        process.communicate()


@dataclass(frozen=True)
class Load:
    """A program that creates files, and where."""

    program: Path
    names: Path
    mount: Path
    seconds: float

    def run(self, rate: float, every: int) -> dict[str, Any]:
        """Return its cost."""
        numbers = [str(number) for number in (rate, self.seconds, every)]
        command = [self.program, self.mount, self.names, *numbers]
        done = subprocess.run(command, check=True, capture_output=True, preexec_fn=pinned(0))
        found: dict[str, Any] = json.loads(done.stdout)
        return found


def with_helper(
    load: Load, command: Sequence[str | Path], core: int, rate: float, every: int
) -> dict[str, Any]:
    """Return the latencies of creates, and their outcomes."""
    with hinting(command, load.mount, core) as helper:
        found = load.run(rate, every)
        time.sleep(0.2)  # the last files are hinted, too
    counts = helper.counts
    found["missed"] = found["made"] - counts["births"]
    found["busy"] = helper.busy / found["made"]
    return found | {"counts": counts}


def in_turns(
    load: Load, listener: Path, command: Sequence[str | Path], rate: float, rounds: int
) -> dict[str, Any]:
    """Return the latencies of creates alone, with a listener, with the helper, and without."""

    def listened() -> dict[str, Any]:
        with listening(listener, load.mount, 1):
            return load.run(rate, 0)

    ways: dict[str, Callable[[], dict[str, Any]]] = {
        "without": lambda: load.run(rate, 0),
        "fanotify alone": listened,
        "with": lambda: with_helper(load, command, 1, rate, 0),
        "again": lambda: load.run(rate, 0),
    }
    found: dict[str, list[Any]] = {which: [] for which in ways}
    order = [*ways]
    for turn in range(rounds):
        first = turn % len(order)
        for which in order[first:] + order[:first]:
            found[which].append(ways[which]())
    return found


def short_lived(image: bytes, day: Path) -> list[str]:
    """Return names of a day that an image says are short-lived, if numbers are put before them."""
    born = births(read_files(day))["name"].to_pylist()
    plain = {name for name in born if name and b"\n" not in name and len(name) < 100}
    names = sorted(plain)[:: max(1, len(plain) // (10 * NAMES))]
    requests = [{"name": b"1" + name, "mode": MODE, "uid": 0, "gid": 0} for name in names]
    answers = predict(Image(image), from_requests(requests))
    answer = np.zeros(len(names), bool)
    for key in set(SHORT).intersection(answers):
        answer |= np.asarray(answers[key])
    return [os.fsdecode(name) for name, yes in zip(names, answer, strict=True) if yes][:NAMES]


@contextmanager
def served(registry: Path, path: Path) -> Iterator[None]:
    """Run the service while the block does."""
    command = [sys.executable, "-m", "birthmark", "serve", "--registry", registry, "--uds", path]
    service = subprocess.Popen(
        command, preexec_fn=pinned(1), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    end = time.monotonic() + READY
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.05)
    try:
        yield
    finally:
        service.terminate()
        service.wait()


def compiled(name: str, folder: Path) -> Path:
    """Compile a program that lies beside this one."""
    source = Path(__file__).with_name(f"{name}.c")
    subprocess.run(["cc", "-O2", "-std=gnu11", source, "-o", folder / name], check=True)
    return folder / name


def measured(args: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    """Return a row for each way to ask, each file system, and each way to share cores."""
    day = dataset(args.train, folder / "day")
    model = TrainedModel().train(read_files(day), read_names(day), kinds=args.kinds)
    rows: list[dict[str, Any]] = []
    program, listener = (compiled(name, folder) for name in ("creates", "listener"))
    for kind in args.kinds:
        (folder / kind).write_bytes(compile_models(model.models[kind], "accurate"))
        names = folder / f"{kind}.names"
        names.write_bytes(
            b"\n".join(map(os.fsencode, short_lived((folder / kind).read_bytes(), day)))
        )
        command = [args.helper, f"--image={folder / kind}"]
        for system in args.systems:
            with mounted(system, folder) as mount:
                load = Load(program, names, mount, args.seconds)
                rows.append(
                    {
                        "asked": f"an image of {kind}",
                        "in": system,
                        "turns": in_turns(load, listener, command, args.rate, args.rounds),
                        "hints": with_helper(load, command, 1, args.rate, EVERY),
                        "one core": with_helper(load, command, 0, args.rate, 0),
                        "fastest": with_helper(load, command, 1, 0, 0),
                    }
                )
    manifest = {"serve": args.kinds[0], "point": "accurate", "trained_on": {}, "figures": []}
    Registry(folder / "registry").publish(model.save, manifest)
    command = [args.helper, f"--service=unix:{folder / 'socket'}"]
    with served(folder / "registry", folder / "socket"), mounted("tmpfs", folder) as mount:
        load = Load(program, folder / f"{args.kinds[0]}.names", mount, args.seconds)
        row = {"asked": f"the service, {args.kinds[0]}", "in": "tmpfs"}
        for rate in (args.rate, args.rate / 4):
            hints = with_helper(load, command, 1, rate, EVERY)
            rows.append(row | {"hints": hints})
    return rows


def show(rows: list[dict[str, Any]]) -> None:
    """Print the tables."""
    console = Console(width=120)
    latency = Table("asked", "in", "", "median", "p99", "p99.9", "mean", title="a create, µs")
    for row in rows:
        for which, turns in row.get("turns", {}).items():
            cells = [
                f"{statistics.median(each['create'][share] for each in turns):.2f}"
                for share in ("median", "p99", "p999", "mean")
            ]
            latency.add_row(row["asked"], row["in"], which, *cells)
    console.print(latency)
    heads = ("a second", "missed", "overflows", "median, µs", "p99, µs", "max, µs", "helper, µs")
    hints = Table("asked", "in", "", *heads, title="hints")
    for row in rows:
        for which in ("hints", "one core", "fastest"):
            if which not in row:
                continue
            one = row[which]
            times = one["hint"]
            shown = [
                f"{times[share]:,.0f}" if times["count"] else ""
                for share in ("median", "p99", "max")
            ]
            hints.add_row(
                row["asked"],
                row["in"],
                {"hints": "two cores", "fastest": "two, as fast as it goes"}.get(which, which),
                f"{one['made'] / one['seconds']:,.0f}",
                str(one["missed"]),
                str(one["counts"]["overflows"]),
                *shown,
                f"{one['busy']:.1f}",
            )
    console.print(hints)


def main() -> None:
    """Measure, print, and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--helper", type=Path, required=True)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--kinds", nargs="+", default=["rules", "forest"])
    parser.add_argument("--systems", nargs="+", default=["tmpfs", "ext4"])
    parser.add_argument("--rate", type=float, default=20_000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        rows = measured(args, Path(scratch))
    show(rows)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
