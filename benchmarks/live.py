"""Accuracy of the service with live history, asked about each create when its call appears.

    python -m benchmarks.live --train DAY... --test DAY... --speed 1|10|max [--json OUT]

A DAY is as in ``benchmarks.accuracy``; those of --test are played, and must be captures (pcap,
plain or compressed). ``birthmark train`` learns from the first. ``birthmark follow`` goes on from
the histories that it ended with, and is fed the packets of the others through a pipe; ``birthmark
serve`` reads what it shares. A client asks over HTTP, with a token, about each create once all
packets before its call are written, and before the call's own is. It asks as one who knows

- ``full``: the directory's handle, name, mode, user, group, client and time;
- ``no_directory``: all that but the directory;
- ``bare``: as much, of a service without a live history.

Beside what was served stands what ``evaluate`` says of the same creates with their whole histories
(``full``), all but those of directories (``no_directory``), or none (``bare``). Shares are of the
creates whose outcome the capture shows. Names that links and renames make are learned from, and not
asked about: these are no creates.

At --speed 1 and 10 packets and questions keep step with the wall clock, a question being one
request about one create. At ``max`` calls within a stretch of the trace are asked about in one
request, when the follower knows all replies before the first of them: a stretch is twice as long as
followers are taken to be behind in training (``--behind``), so that they are so on average.

Packets keep their times, of the past, so that creates are asked about in the hour in which they
were made: services are let tell histories however far their follower is behind the wall clock
(``--history-lag``). How far it really is, is measured: when something is asked, for how long the
oldest reply that it does not know yet has been in the pipe.

With ``--control`` outcomes move the thresholds of each history scope, at the point ``bounded``,
as they do by default; without, they stay as calibrated, to compare served and evaluated answers.
It reports how many predicates break their bound by more than chance. Measure that at --speed 1:
thresholds move by the second.

The JSON is a list of rows, per test, predicate, level and point; in those of ``bare``, ``rules``
has what `evaluate` says of that kind, and in those at the point ``bounded``, ``over`` tells whether
false positives as served are above the bound by more than chance.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, get_args

import pyarrow as pa

from benchmarks.control_played import over
from benchmarks.live_days import Day, evaluated, expect_capture, read_day
from benchmarks.live_played import Delays, Player
from benchmarks.live_questions import LEVELS, Level
from benchmarks.live_report import report
from benchmarks.live_servers import BIRTHMARK, FOR_EVER, Asker, Follower, following, serving, token
from birthmark.data.common.arrays import Bools
from birthmark.data.ingest.run import ingest
from birthmark.predictor import Kind, Point, TrainedModel
from birthmark.predictor.answers.point import BOUNDED, POINTS
from birthmark.training.registry.published import read_published
from birthmark.training.registry.stored import load
from birthmark.training.registry.versions import Registry

IN_MEMORY = Path("/dev/shm")
Askers = dict[tuple[Level, Point], Asker]


def say(text: str) -> None:
    """Report progress on standard error."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def train(days: Sequence[Path], registry: Path, scratch: Path) -> None:
    """Publish what ``birthmark train`` learns from days: datasets, traces or folders of traces."""
    datasets = []
    for number, path in enumerate(days):
        dataset = path
        if not (path / "files").is_dir():
            dataset = scratch / f"train{number}"
            traces = sorted(each for each in path.rglob("*") if each.is_file())
            ingest(traces if path.is_dir() else [path], dataset)
        datasets.append(str(dataset))
    command = [*BIRTHMARK, "train", *datasets, "--registry", str(registry), "--no-test"]
    subprocess.run(command, check=True, stdout=sys.stderr)


def connected(
    stack: ExitStack,
    options: Sequence[str],
    points: Sequence[Point],
    model: TrainedModel,
    live: Path,
) -> Askers:
    """Start services with and without a live history, until the stack is left; connect to them."""
    remaining = live.with_name("tokens.json")
    shown, askers = token(remaining), {}
    with_history = ["--history", str(live), "--history-lag", str(FOR_EVER)]
    for point in points:
        urls = []
        for number, history in enumerate((with_history, [])):
            own = [*options, "--point", point, "--tokens", str(remaining), *history]
            log = live.with_name(f"{point}{number}.log")
            urls.append(stack.enter_context(serving(own, log)))
        for level in LEVELS:
            askers[level, point] = Asker(urls[level == "bare"], shown, list(model.predicates))
    return askers


def played(
    day: Day, follower: Follower, askers: Askers, speed: float | None, behind: float
) -> Delays:
    """Play a day, ``speed`` times as fast as it was, and ask.

    Where ``speed`` is None it is played as fast as possible, the follower being ``behind`` seconds
    behind on average.
    """
    asked = {level: day.questions.bodies(level) for level in LEVELS}
    for asker in askers.values():
        asker.begin(len(day.questions))

    def ask(first: int, last: int) -> None:
        for (level, _), asker in askers.items():
            asker.send(asked[level][first:last])
        for asker in askers.values():
            asker.receive(first)

    player = Player(day.packets, day.replies, follower.pipe, follower)
    if speed is None:
        player.at_once(day.questions, ask, round(2e6 * behind))
    else:
        player.paced(day.questions, ask, speed)
    return player.delays


def figures(answer: Bools, known: Bools, truth: Bools) -> dict[str, float]:
    """Return shares of the births whose outcome is ``known``, which ``truth`` is of."""
    yes = answer[known]
    return {
        "errors": float((yes != truth).mean()),
        "true_positives": float((yes & truth).mean()),
        "false_positives": float((yes & ~truth).mean()),
    }


def rows(day: Day, askers: Askers, model: TrainedModel, kind: Kind) -> list[dict[str, Any]]:
    """Return the rows of a day, about which ``askers`` asked.

    Predicates without known outcomes have none.
    """
    found = []
    for (level, point), asker in askers.items():
        expected = evaluated(model, kind, point, level, day.test)
        rules = evaluated(model, "rules", point, level, day.test) if level == "bare" else {}
        for place, key in enumerate(model.predicates):
            questions, own = day.of(key)
            known, truth, _ = own.answers[key]
            if not len(truth):
                continue
            row = {"test": day.name, "predicate": key, "level": level, "point": point}
            row |= {"kind": kind, "n": len(truth)}
            row["served"] = figures(asker.answers[questions, place], known, truth)
            row["evaluated"] = figures(expected[key], known, truth)
            if point == BOUNDED:
                wrong = asker.answers[questions, place][known] & ~truth
                born = own.lives["born"].cast(pa.int64()).to_numpy()[known]
                row["over"] = over(wrong, born, model.parameters["bound"])
            if rules:
                row["rules"] = figures(rules[key], known, truth)
            found.append(row)
    return found


def measure(given: argparse.Namespace, scratch: Path, memory: Path) -> list[dict[str, Any]]:
    """Train, play all days one after the other, and print; return the rows."""
    for path in given.test:
        expect_capture(path)
    registry: Path = given.registry or scratch / "registry"
    if Registry(registry).current() is None:
        say(f"training on {', '.join(day.name for day in given.train)}")
        train(given.train, registry, scratch)
    model = load(Registry(registry)).model
    kind: Kind = given.kind or read_published(Registry(registry)).kind
    found: list[dict[str, Any]] = []
    days = [
        read_day(path, scratch / f"test{number}", model) for number, path in enumerate(given.test)
    ]
    if len({day.packets.header for day in days}) > 1:
        raise SystemExit(
            "--test: expected captures that begin alike, to be played one after another"
        )
    history = memory / "history"
    with ExitStack() as stack:
        follower = stack.enter_context(
            following(registry, scratch / "followed", history, given.control)
        )
        options = ["--registry", str(registry), "--model", kind]
        askers = connected(stack, options, given.point, model, history)
        follower.pipe.write(days[0].packets.header)
        for day in days:
            say(f"playing {day.name}")
            began = time.monotonic()
            delays = played(day, follower, askers, given.speed, model.parameters["behind"])
            seconds = time.monotonic() - began
            found += (own := rows(day, askers, model, kind))
            report(own, askers, delays, seconds)
        result = follower.end()
    print(
        f"the follower decoded {result['operations']:,} operations, lost {result['gaps']:,} times"
    )
    return found


def _speed(text: str) -> float | None:
    if text == "max":
        return None
    try:
        if (speed := float(text)) > 0:
            return speed
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"expected a number above 0, or max, found {text!r}")


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--train", type=Path, nargs="+", required=True, metavar="DAY")
    parser.add_argument("--test", type=Path, nargs="+", required=True, metavar="DAY")
    parser.add_argument("--speed", type=_speed, required=True, help="1, 10, …, or max")
    parser.add_argument("--point", action="append", choices=POINTS, help="default: each")
    parser.add_argument(
        "--kind", choices=get_args(Kind), help="of the models; default: as published"
    )
    parser.add_argument(
        "--registry", type=Path, help="keep the model here; if there is one, do not train"
    )
    parser.add_argument("--control", action="store_true", help="let outcomes move thresholds")
    parser.add_argument("--json", type=Path, metavar="OUT")
    found = parser.parse_args(words)
    found.point = found.point or list(POINTS)
    return found


def main() -> None:
    """Run from the command line."""
    given = arguments()
    memory = IN_MEMORY if IN_MEMORY.is_dir() else None
    with (
        tempfile.TemporaryDirectory() as scratch,
        tempfile.TemporaryDirectory(dir=memory) as shared,
    ):
        found = measure(given, Path(scratch), Path(shared))
    if given.json:
        given.json.write_text(json.dumps(found, indent=1, allow_nan=False) + "\n")


if __name__ == "__main__":
    main()
