"""Bounds and cost of a control of thresholds, on days that differ from the training days.

    python -m benchmarks.control --train DAY... --test DAY... [--noon] [--json OUT] [--plot OUT]
    python -m benchmarks.control --workload campus [--rate 4] [--noon]
    python -m benchmarks.control --train DAY... --test DAY... --misleading BIRTHS [--json OUT]

A DAY is as in ``benchmarks.accuracy``. The models learn from the training days. Then each test day
is played: a birth is answered at the threshold in force, and its outcome moves that once it is
known (``predictor.control``). Beside the answers as served stand those at the calibrated threshold,
and at the best one in hindsight: the lowest that keeps the bound on that very day. Shares are of
the files whose outcome the trace tells; an interval is over blocks of time, as in ``evaluate``.

With ``--noon``, every user's programs change in the middle of the test day, and the picture shows
the running share of false positives, with and without control.

With ``--misleading``, one client creates that many files in each test day, to raise or to lower the
thresholds for all (``benchmarks.control_misled``). The table has what changes for the others.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.control_misled import misled, misled_table
from benchmarks.control_played import WHO, WINDOW, play
from benchmarks.control_plot import draw
from benchmarks.control_streams import ASKED, changed_at_noon, streams
from benchmarks.days import Day, generated_days, read_days
from birthmark.data.settings import WORKLOADS
from birthmark.predictor import BUILT_IN, Predicate, TrainedModel
from birthmark.predictor.control import ControlSettings
from birthmark.training.evaluate.cases import labelled

PREDICATES = {key: each for key, each in BUILT_IN.items() if each.subject != "directory"}
LEAST = 0.9
"""Least share of the best static threshold's true positives that a control must reach."""


def say(text: str) -> None:
    """Report progress on standard error."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def trained(
    days: Sequence[Day],
    kind: str,
    bound: float,
    predicates: Mapping[str, Predicate] = PREDICATES,
) -> TrainedModel:
    """Return models of a kind that learned from days."""
    say(f"training on {', '.join(day.name for day in days)}")
    files = pa.concat_tables([day.files for day in days]).unify_dictionaries()
    names = pa.concat_tables([day.names for day in days]).unify_dictionaries()
    model = TrainedModel(bound=bound, calibration=0.2)
    return model.train(files, names, list(predicates.values()), [kind])


def table(rows: Sequence[dict[str, Any]], scope: str) -> Table:
    """Return a table of the figures at a history scope."""
    title = f"{rows[0]['test']}, scope {scope}: true positives (false positives), percent of files"
    shown = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("Predicate", "served", "calibrated", "best in hindsight", "served of best"):
        shown.add_column(heading, justify="left" if heading == "Predicate" else "right")
    own = [row for row in rows if row["scope"] == scope]
    for row in own:
        cells = [_cell(row[who]) for who in WHO]
        part = _part(row)
        shown.add_row(row["predicate"], *cells, "–" if part is None else f"{part:.2f}")
    shown.add_section()
    parts = [part for row in own if (part := _part(row)) is not None]
    few = sum(part < LEAST for part in parts)
    means = [_cell(_mean(own, who)) for who in WHO]
    shown.add_row("mean", *means, f"{np.mean(parts):.2f}, {few} below {LEAST}")
    return shown


def _part(row: dict[str, Any]) -> float | None:
    best = row["best"]["true_positives"]
    return row["served"]["true_positives"] / best if best else None


def _mean(rows: Sequence[dict[str, Any]], who: str) -> dict[str, float]:
    shares = ("true_positives", "false_positives")
    return {share: float(np.mean([row[who][share] for row in rows])) for share in shares}


def _cell(figures: dict[str, Any]) -> str:
    true, false = (100 * figures[name] for name in ("true_positives", "false_positives"))
    return f"{true:.2f} ({false:.2f}){'!' if figures.get('over') else ' '}"


def report(rows: Sequence[dict[str, Any]], misleading: int | None) -> None:
    """Print tables; an exclamation mark is over the bound by more than sampling error."""
    console = Console(width=120)
    if misleading is not None:
        for test in dict.fromkeys(row["test"] for row in rows):
            console.print(misled_table([row for row in rows if row["test"] == test], misleading))
        return
    for test in dict.fromkeys(row["test"] for row in rows):
        own = [row for row in rows if row["test"] == test]
        console.print(*(table(own, scope) for scope in ASKED))
        if "back_after" in own[0]["served"]:
            console.print(noon_table(own))


def noon_table(rows: Sequence[dict[str, Any]]) -> Table:
    """Return after how many births each predicate that left its bound is back within it."""
    title = f"births after noon until the next {WINDOW} keep the bound (–: not on that day)"
    shown = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("Predicate", "scope", "with control", "calibrated"):
        shown.add_column(heading, justify="left" if heading in ("Predicate", "scope") else "right")
    for row in rows:
        back = [row[who]["back_after"] for who in WHO[:2]]
        if back != [0, 0]:
            ends = ("–" if births is None else f"{births:,}" for births in back)
            shown.add_row(row["predicate"], row["scope"], *ends)
    return shown


def arguments() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--train", type=Path, nargs="+", default=[], metavar="DAY")
    parser.add_argument("--test", type=Path, nargs="+", default=[], metavar="DAY")
    parser.add_argument("--workload", choices=WORKLOADS, help="generate the days instead")
    parser.add_argument("--rate", type=float, default=1.0, help="part of its usual size")
    parser.add_argument("--kind", default="forest", help="of the models")
    parser.add_argument("--bound", type=float, default=0.01, help="false positives, share of files")
    parser.add_argument("--noon", action="store_true", help="let programs change in the test days")
    parser.add_argument("--misleading", type=int, metavar="BIRTHS", help="of one client")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="OUT")
    parser.add_argument("--plot", type=Path, metavar="OUT", help="with --noon: .svg or .png")
    found = parser.parse_args()
    if not found.workload and not (found.train and found.test):
        parser.error("expected --train and --test, or --workload")
    return found


def main() -> None:
    """Run from the command line."""
    asked = arguments()
    with tempfile.TemporaryDirectory() as name:
        if asked.workload:
            days, n = generated_days(asked.workload, 2, asked.seed, Path(name), asked.rate), 1
        else:
            days, n = read_days([*asked.train, *asked.test], Path(name)), len(asked.train)
    model, rows = trained(days[:n], asked.kind, asked.bound), []
    for day in days[n:]:
        changed, noon = changed_at_noon(day, asked.seed) if asked.noon else (day, None)
        say(f"playing {changed.name}")
        test = labelled(PREDICATES, changed.files, changed.names, model.creates)
        found = streams(model, asked.kind, test)
        settings = ControlSettings(asked.bound)
        if asked.misleading is not None:
            some = (misled(one, settings, asked.misleading) for one in found)
            rows += [{"test": changed.name} | row for own in some for row in own]
            model.follow(day.files, day.names)
            continue
        played = list(play(found, settings))
        rows += [each.row(changed.name, asked.bound, noon) for each in played]
        if noon is not None and asked.plot:
            draw(played, noon, asked.bound, asked.plot)
        model.follow(day.files, day.names)
    report(rows, asked.misleading)
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1, allow_nan=False) + "\n")


if __name__ == "__main__":
    main()
