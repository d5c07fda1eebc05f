"""Effect of a change on speed: two commits, built and measured side by side, in turns.

    python -m benchmarks.compare OLD NEW [--rounds 5] [--only WHAT...] [--size 200e6]
                                 [--seconds 2] [--keep DIR] [--json OUT]

Both commits are checked out in a scratch folder and built as they say themselves, with the release
profile, each in a virtual environment of its own (some minutes each; ``--keep`` names a folder that
keeps builds for the next time). Then old and new are measured in turns, on the same files, by the
same script (``compare_measure.py``): decoding, lookups in images, answers of the service, replays
of a layout. A ratio is new to old within a round, so that what else the machine does has little
time to change; above 1 the new commit is faster. Printed are the median of the rounds and their
range, by the clock and by processor time, which other work on the machine changes less. A range
that lies on one side of 1 is a difference; one that holds 1 is none that so few rounds can show.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.compare_build import Build, Commit, build
from benchmarks.compare_inputs import write_inputs

MEASURE = Path(__file__).with_name("compare_measure.py")
MEASURES = ("ingest", "lookup", "serving", "layout")

Rates = dict[str, dict[str, float]]
"""By the figure, its ``rate`` and, where it is known, its ``work_rate``."""


@dataclass(frozen=True)
class Spread:
    """Results of the rounds: median, least and greatest."""

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Return that of at least one value."""
        return cls(statistics.median(values), min(values), max(values))

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.least:.2f} to {self.most:.2f})"


@dataclass(frozen=True)
class Figure:
    """A figure of both commits: rates by the clock, and ratios of new to old."""

    what: str
    name: str
    old: Spread
    new: Spread
    ratio: Spread
    work_ratio: Spread | None


def figures(what: str, rounds: Sequence[tuple[Rates, Rates]]) -> list[Figure]:
    """Return the measurements of rounds, each of the old commit and of the new."""

    def values(side: int, name: str, key: str) -> list[float]:
        return [each[side][name][key] for each in rounds if key in each[side][name]]

    def ratio(name: str, key: str) -> Spread | None:
        olds, news = values(0, name, key), values(1, name, key)
        each = [new / old for old, new in zip(olds, news, strict=True)]
        return Spread.of(each) if each else None

    found = []
    for name in rounds[0][0]:
        old, new = (Spread.of(values(side, name, "rate")) for side in (0, 1))
        by_clock = ratio(name, "rate")
        assert by_clock is not None
        found.append(Figure(what, name, old, new, by_clock, ratio(name, "work_rate")))
    return found


def table(found: Iterable[Figure], old: str, new: str) -> Table:
    """Return figures as a table."""
    shown = Table("", "", title=f"{new} to {old}, medians and ranges; above 1 is faster")
    for head in ("old", "new", "new/old", "by processor time"):
        shown.add_column(head, justify="right", no_wrap=True)
    last = None
    for each in found:
        rates = (
            f"{rate.median:,.{2 if rate.median < 100 else 0}f}" for rate in (each.old, each.new)
        )
        first = "" if each.what == last else each.what
        shown.add_row(first, each.name, *rates, str(each.ratio), str(each.work_ratio or ""))
        last = each.what
    return shown


def measured(what: str, built: Build, inputs: Path, seconds: float) -> Rates:
    """Run the measuring script in a commit's build."""
    own = built.checkout / ".measured"
    command = [*map(str, (built.python, "-P", MEASURE, what, inputs, own, seconds))]
    done = subprocess.run(
        command, cwd=built.checkout, env=built.environment, check=True, stdout=subprocess.PIPE
    )
    rates: Rates = json.loads(done.stdout or "{}")
    return rates


def say(message: str) -> None:
    """Report progress on standard error."""
    print(message, file=sys.stderr, flush=True)


def prepared(commits: Sequence[Commit], scratch: Path, size: int) -> tuple[Path, list[Build]]:
    """Return the inputs, and the builds, ready to be measured."""
    inputs, builds = scratch / "inputs", []
    say("writing what is measured on")
    write_inputs(inputs, size)
    for commit in commits:
        say(f"building {commit}")
        builds.append(build(commit, scratch))
        done = builds[-1].checkout / ".prepared"
        if not done.exists():
            say(f"training {commit}")
            measured("prepare", builds[-1], inputs, 0)
            done.touch()
    return inputs, builds


def compared(args: argparse.Namespace, scratch: Path) -> list[Figure]:
    """Build, measure in turns, and return the figures."""
    inputs, builds = prepared([args.old, args.new], scratch, args.size)
    found = []
    for what in args.only:
        rounds = []
        for number in range(args.rounds):
            say(f"{what}, round {number + 1} of {args.rounds}")
            old, new = (measured(what, each, inputs, args.seconds) for each in builds)
            rounds.append((old, new))
        found += figures(what, rounds)
    return found


def to_json(found: Iterable[Figure], args: argparse.Namespace) -> dict[str, Any]:
    """Return figures as they are written to a file."""
    return {
        "old": asdict(args.old),
        "new": asdict(args.new),
        "rounds": args.rounds,
        "load": os.getloadavg(),
        "figures": [asdict(each) for each in found],
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("old", type=Commit.named)
    parser.add_argument("new", type=Commit.named)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=MEASURES, default=MEASURES)
    parser.add_argument("--size", type=lambda text: int(float(text)), default=200_000_000)
    parser.add_argument("--seconds", type=float, default=2.0, help="of asking the service")
    parser.add_argument("--keep", type=Path, help="folder that keeps builds")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    with ExitStack() as stack:
        scratch = args.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        scratch.mkdir(parents=True, exist_ok=True)
        found = compared(args, scratch.resolve())
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(table(found, str(args.old), str(args.new)))
    console.print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    if args.json:
        args.json.write_text(json.dumps(to_json(found, args), indent=1) + "\n")


if __name__ == "__main__":
    main()
