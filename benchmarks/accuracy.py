"""Accuracy of all models, and the files that they may answer yes for at a bound on false positives.

    python -m benchmarks.accuracy --train DAY... --test DAY... [--json OUT] [--plot OUT]
    python -m benchmarks.accuracy --workload campus [--train-days 1] [--test-days 2]

A DAY is a dataset, a trace (capture, nfsdump text or operations in Parquet; plain or compressed) or
a folder of traces; all are in the order of their time. The models and the peers
(``benchmarks.peers``) see the same columns, and what an earlier part of the trace tells of files
like the new one. The peers keep a part of the training days from learning, on which their settings
and thresholds are chosen; ours calibrate as they always do (``predictor.fit.calibration``). The
JSON is a list of rows, per model, predicate, test and bound (null: the threshold that is right most
often); shares are of n.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.days import Day, Known, generated_days, read_days
from benchmarks.peers import PEERS, Columns, Tuned, available
from benchmarks.verdicts import Figures, verdicts
from birthmark.data.settings import WORKLOADS
from birthmark.predictor import BUILT_IN, Predicate, TrainedModel
from birthmark.predictor.answers.operating_points import OperatingPoints
from birthmark.predictor.answers.point import POINTS
from birthmark.predictor.fit.calibration import Holdout
from birthmark.predictor.fit.thresholds import Slice, choose
from birthmark.training.evaluate.assessment import assess_cases
from birthmark.training.evaluate.cases import Case, Labelled, cases, labelled, majority
from birthmark.training.reports.figure import draw

CALIBRATION = 0.2
DEFAULT = [key for key, predicate in BUILT_IN.items() if predicate.subject != "directory"]
"""Directories are no creates: the peers, which learn from these, know nothing of them."""


def say(text: str) -> None:
    """Report progress on standard error."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


class Ours:
    """The project's models, the thesis's two among them.

    They learn from all of the training days, up to ``predictor.fit.calibration.CROSSED`` births.
    """

    def __init__(
        self, predicates: Mapping[str, Predicate], files: pa.Table, names: pa.Table, bound: float
    ) -> None:
        self.model = TrainedModel(bound=bound, calibration=CALIBRATION)
        self.model.train(files, names, list(predicates.values()))
        self.guesses = {key: majority(self.model.tallies[key]) for key in predicates}

    def cases(self, test: Mapping[str, Labelled]) -> Iterator[Case]:
        """Yield the cases of a test."""
        yield from cases(self.model, test)


class Peers:
    """The peers, trained on the same lives and with thresholds chosen on the same slice."""

    def __init__(
        self, train: Mapping[str, Labelled], model: TrainedModel, seed: int, budget: int
    ) -> None:
        self.bound = model.limits.yes.bound
        self.models: dict[tuple[str, str], Tuned] = {}
        self.points: dict[tuple[str, str], OperatingPoints] = {}
        for subject, own in train.items():
            holdout = Holdout.of(own.lives, CALIBRATION, crossed=False)
            held = pa.array(holdout.held)
            columns = Columns(own.creates.filter(pa.array(holdout.learned)))
            other = Columns(own.creates.filter(held))
            labels = {key: p.evaluate(own.lives) for key, p in own.predicates.items()}
            learned = {
                key: answers.filter(pa.array(holdout.learned)) for key, answers in labels.items()
            }
            truth = {key: answers.filter(held) for key, answers in labels.items()}
            for peer in available():
                say(f"training {peer.name} on {subject}s")
                tuned = self.models[peer.name, subject] = Tuned(peer, seed, budget)
                scores = tuned.fit(columns, learned, other, truth)
                for key, answers in truth.items():
                    known = answers.is_valid().to_numpy(zero_copy_only=False)
                    part = Slice(
                        scores[key][known],
                        answers.drop_null().to_numpy(zero_copy_only=False),
                        holdout.block[holdout.held][known],
                    )
                    self.points[peer.name, key] = choose(part, model.limits.yes)

    def cases(self, test: Mapping[str, Labelled], guesses: Mapping[str, bool]) -> Iterator[Case]:
        """Yield the cases of a test."""
        columns = {subject: Columns(own.creates) for subject, own in test.items()}
        for (peer, subject), tuned in self.models.items():
            scores = tuned.scores(columns[subject])
            for key in test[subject].predicates:
                points = self.points[peer, key]
                thresholds = {point: points.at(point) for point in POINTS}
                yield test[subject].case(
                    key, peer, scores[key], guesses[key], thresholds, self.bound
                )


def measure(
    train: Sequence[Day],
    tests: Sequence[Day],
    predicates: Mapping[str, Predicate],
    bound: float,
    seed: int,
    budget: int,
) -> tuple[list[dict[str, Any]], dict[str, tuple[pa.Table, pa.Table]]]:
    """Train all models on ``train``; return the rows, and by test the figures and the curves."""
    files = pa.concat_tables([day.files for day in train]).unify_dictionaries()
    names = pa.concat_tables([day.names for day in train]).unify_dictionaries()
    say(f"training ours on {', '.join(day.name for day in train)}")
    ours = Ours(predicates, files, names, bound)
    known = Known()
    peers = Peers(labelled(predicates, files, names, known), ours.model, seed, budget)
    rows, tables = [], {}
    for day in tests:
        say(f"testing on {day.name}")
        test = labelled(predicates, day.files, day.names, known)
        found = [*ours.cases(test), *peers.cases(test, ours.guesses)]
        assessed = assess_cases(found, test, day.files, seed)
        rows += [_row(row, day.name) for row in assessed.evaluation.to_pylist()]
        tables[day.name] = assessed.evaluation, assessed.curves
    return rows, tables


SHARES = ("correct", "occurs", "guess", "false_positives", "true_positives")
ENDS = [f"{name}_{end}" for name in ("correct", *SHARES[3:]) for end in ("low", "high")]


def _row(row: Mapping[str, Any], test: str) -> dict[str, Any]:
    """Return a row of ``EVALUATION`` for the JSON: shares instead of percentages."""
    about = "" if row["subject"] == "file" else f"{row['subject']}:"
    key = about + row["predicate"]
    shares = {c: None if row[c] is None else row[c] / 100 for c in (*SHARES, *ENDS, "bound")}
    remaining = ("n", "abstained", "broken", "brier", "blocks", "block_seconds", "seed")
    return {"model": row["model"], "predicate": key, "test": test, **shares} | {
        column: row[column] for column in remaining
    }


def bounded_table(figures: Figures, test: str) -> Table:
    """Return a table of true and false positives at the bound, the best model in bold."""
    some = figures.of(figures.models[0], figures.predicates[0], test, True)
    title = (
        f"{test}: true positives at false positives of at most {some['bound']:.1%}, percent of"
        " files (in brackets false positives with 95% intervals; !: over the bound by more than"
        " sampling)"
    )
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("Predicate", "Occurs", *figures.models):
        table.add_column(
            heading, no_wrap=True, justify="left" if heading == "Predicate" else "right"
        )
    for predicate in figures.predicates:
        rows = [figures.of(model, predicate, test, True) for model in figures.models]
        most = max((row["true_positives"] or 0) for row in rows)
        cells = [_cell(row, most) for row in rows]
        table.add_row(predicate, _percent(rows[0]["occurs"]), *cells)
    return table


def _cell(row: Mapping[str, Any], most: float) -> str:
    if row["abstained"]:
        return "–"
    yes, no = _percent(row["true_positives"]), _percent(row["false_positives"])
    best = row["true_positives"] == most and most > 0
    ends = ""
    if row["false_positives_high"] is not None:
        ends = f" {100 * row['false_positives_low']:.1f}–{100 * row['false_positives_high']:.1f}"
    text = f"{yes} ({no}{ends}){'!' if row['broken'] else ' '}"
    return f"[bold]{text}[/bold]" if best else text


def unbounded_table(figures: Figures, test: str) -> Table:
    """Return a table of errors without a bound, and their mean beside that of ``name``."""
    title = f"{test}: errors without a bound, percent of files"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("Predicate", "guess", *figures.models):
        table.add_column(
            heading, no_wrap=True, justify="left" if heading == "Predicate" else "right"
        )
    for predicate in figures.predicates:
        rows = [figures.of(model, predicate, test, False) for model in figures.models]
        wrong = [None if row["correct"] is None else 1 - row["correct"] for row in rows]
        guess = rows[0]["guess"]
        table.add_row(
            predicate, _percent(None if guess is None else 1 - guess), *map(_percent, wrong)
        )
    means = [figures.errors(model, test) for model in figures.models]
    table.add_section()
    table.add_row("mean", "", *map(_percent, means))
    name = figures.errors("name", test)
    table.add_row("of name's", "", *(f"{mean / name:.2f}" for mean in means))
    return table


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.2f}"


def report(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print all tables and what is met."""
    figures, console = Figures(rows), Console(width=240)
    for test in figures.tests:
        console.print(bounded_table(figures, test), unbounded_table(figures, test))
    some = figures.rows[0]
    console.print(
        f"intervals: {some['blocks']} blocks of {some['block_seconds']} s, seed {some['seed']}"
    )
    for claim, met, why in verdicts(figures):
        console.print(f"{'met' if met else 'NOT MET':8} {claim}: {why}", markup=False)


def arguments() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--train", type=Path, nargs="+", default=[], metavar="DAY")
    parser.add_argument("--test", type=Path, nargs="+", default=[], metavar="DAY")
    parser.add_argument("--workload", choices=WORKLOADS, help="generate the days instead")
    parser.add_argument("--train-days", type=int, default=1, help="of the workload")
    parser.add_argument("--test-days", type=int, default=2, help="of the workload")
    parser.add_argument("--rate", type=float, default=1.0, help="part of its usual size")
    parser.add_argument("--bound", type=float, default=0.01, help="false positives, share of files")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=int, default=3, help="candidate settings of each peer")
    parser.add_argument("--predicate", action="append", choices=DEFAULT, help="default: all")
    parser.add_argument("--json", type=Path, metavar="OUT")
    parser.add_argument("--plot", type=Path, metavar="OUT", help="a picture per test, .svg or .png")
    found = parser.parse_args()
    if not found.workload and not (found.train and found.test):
        parser.error("expected --train and --test, or --workload")
    return found


def main() -> None:
    """Run from the command line."""
    asked = arguments()
    if len(available()) < len(PEERS):
        say("without LightGBM, which is not installed: pip install '.[bench]'")
    predicates = {key: BUILT_IN[key] for key in asked.predicate or DEFAULT}
    with tempfile.TemporaryDirectory() as name:
        if asked.workload:
            number = asked.train_days + asked.test_days
            days = generated_days(asked.workload, number, asked.seed, Path(name), asked.rate)
            trained = asked.train_days
        else:
            days, trained = read_days([*asked.train, *asked.test], Path(name)), len(asked.train)
        rows, tables = measure(
            days[:trained], days[trained:], predicates, asked.bound, asked.seed, asked.budget
        )
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1, allow_nan=False) + "\n")
    report(rows)
    for test, (evaluation, curves) in tables.items() if asked.plot else ():
        path = asked.plot
        if len(tables) > 1:
            path = path.with_name(f"{path.stem}-{test}{path.suffix}")
        draw(evaluation, curves, path, title=test)


if __name__ == "__main__":
    main()
