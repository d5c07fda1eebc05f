"""What refreshes of a model gain while a day passes, beside the model as it was trained.

    python -m benchmarks.refresh --train DAY... --test DAY... [--every SECONDS] [--json OUT]

A DAY is as in ``benchmarks.accuracy``. A test day is played: its births and outcomes reach a
``predictor.control.refresh.Refresher`` when a follower would know them, and every so many seconds
of the day's time the forests are refreshed, as ``birthmark follow`` does. Each birth is scored by
the model of its time, with all history and without any. Figures are means over the predicates, in
percent of the births whose outcome the day shows: wrong answers at the most accurate threshold, and
true and false positives at the one that keeps the bound; thresholds stay as calibrated.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.control import PREDICATES, say, trained
from benchmarks.days import read_days
from birthmark.data.common.arrays import Bools, Floats, Ints
from birthmark.data.common.durations import SECOND
from birthmark.features.history_scope import HistoryScope, mask_history
from birthmark.predictor import TrainedModel
from birthmark.predictor.answers.operating_points import says_yes
from birthmark.predictor.control import outcomes
from birthmark.predictor.control.refresh import JUDGED, RecentBirths, Refresher
from birthmark.predictor.models.forest.set import ForestModels
from birthmark.training.evaluate.cases import Labelled, labelled

KIND, WHO = "forest", ("trained", "refreshed")


class Subject:
    """The births of one subject by time, and their scores by the trained and refreshed models."""

    def __init__(self, test: Labelled) -> None:
        born = test.lives["born"].cast(pa.int64()).to_numpy()
        order = np.argsort(born, kind="stable")
        self.born: Ints = born[order]
        self.creates = test.creates.take(pa.array(order))
        self.known = {
            key: (each.known_at[order], each.truths[order].astype(float))
            for key, each in outcomes(test.lives, test.predicates).items()
        }
        self.final = {key: _final(test, key)[order] for key in test.predicates}
        self.scores: dict[tuple[str, HistoryScope, str], Floats] = {
            (who, scope, key): np.zeros(len(born))
            for who in WHO
            for scope in JUDGED
            for key in test.predicates
        }
        self._parts: list[tuple[slice, RecentBirths]] = []

    def pass_by(
        self, rows: slice, now: int, models: Mapping[str, ForestModels], refresher: Refresher
    ) -> None:
        """Score births by the models of their time, and add what is known of them at the end."""
        creates = self.creates.slice(rows.start, rows.stop - rows.start)
        for who, own in models.items():
            for scope in JUDGED:
                scores = own.scores(mask_history(creates, scope), list(self.final))
                for key, column in scores.items():
                    self.scores[who, scope, key][rows] = column
        unknown = {key: np.full(len(creates), np.nan) for key in self.final}
        births = RecentBirths(creates, self.born[rows], unknown)
        self._parts.append((rows, births))
        refresher.add(births)
        for place, part in self._parts:
            for key, (at, truths) in self.known.items():
                now_known = at[place] <= now
                part.answers[key][now_known] = truths[place][now_known]


def _final(test: Labelled, key: str) -> Floats:
    known, truths, _ = test.answers[key]
    final = np.full(len(known), np.nan)
    final[known] = truths
    return final


def play(model: TrainedModel, test: Mapping[str, Labelled], every: int) -> dict[str, Any]:
    """Play a day; return the subjects, and the processor time of each refresh, seconds."""
    forests = model.of_kind(KIND)
    assert isinstance(forests, ForestModels)
    subjects = {name: Subject(each) for name, each in test.items() if len(each.lives)}
    refresher, refreshed, costs = Refresher(forests), forests, list[float]()
    now = min(own.born[0] for own in subjects.values())
    end = max(own.born[-1] for own in subjects.values())
    while now <= end:
        models = {"trained": forests, "refreshed": refreshed}
        for own in subjects.values():
            rows = slice(*np.searchsorted(own.born, (now, now + every)).tolist())
            if rows.start < rows.stop:
                own.pass_by(rows, now + every, models, refresher)
        now += every
        began = time.process_time()
        refreshed, keys = refresher.step()
        costs.append(time.process_time() - began)
        say(f"refreshed {len(keys)} predicates in {costs[-1]:.2f} s")
    return {"subjects": subjects, "costs": costs}


def rows_of(model: TrainedModel, subjects: Mapping[str, Subject]) -> list[dict[str, Any]]:
    """Return the figures of each predicate, history scope and model, as shares of births."""
    rows = []
    for own in subjects.values():
        for (who, scope, key), scores in own.scores.items():
            known = ~np.isnan(own.final[key])
            truths: Bools = own.final[key][known] == 1
            points = model.of_kind(KIND).point(key, scope)
            accurate, bounded = (
                says_yes(scores[known], t) for t in (points.accurate, points.bounded)
            )
            rows.append(
                {
                    "model": who,
                    "scope": scope,
                    "predicate": key,
                    "errors": float((accurate != truths).mean()),
                    "true_positives": float((bounded & truths).mean()),
                    "false_positives": float((bounded & ~truths).mean()),
                }
            )
    return rows


def table(day: str, rows: list[dict[str, Any]]) -> Table:
    """Return a table of the means over the predicates."""
    shown = Table(title=f"{day}: percent of births", title_justify="left", box=box.SIMPLE_HEAD)
    figures = ("errors", "true_positives", "false_positives")
    for heading in ("Scope", "Model", *(figure.replace("_", " ") for figure in figures)):
        shown.add_column(heading)
    for scope in JUDGED:
        for who in WHO:
            own = [row for row in rows if (row["scope"], row["model"]) == (scope, who)]
            means = (f"{100 * np.mean([row[figure] for row in own]):.2f}" for figure in figures)
            shown.add_row(scope, who, *means)
    return shown


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--train", type=Path, nargs="+", required=True, metavar="DAY")
    parser.add_argument("--test", type=Path, nargs="+", required=True, metavar="DAY")
    parser.add_argument("--every", type=float, default=30.0, help="seconds between refreshes")
    parser.add_argument("--json", type=Path, metavar="OUT")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        days = read_days([*asked.train, *asked.test], Path(name))
    model, found = trained(days[: len(asked.train)], KIND, 0.01), []
    for day in days[len(asked.train) :]:
        test = labelled(PREDICATES, day.files, day.names, model.creates)
        played = play(model, test, round(asked.every * SECOND))
        rows = rows_of(model, played["subjects"])
        Console(width=100).print(table(day.name, rows))
        say(f"a refresh takes {np.median(played['costs']):.2f} s of processor time")
        found += [row | {"test": day.name} for row in rows]
        model.follow(day.files, day.names)
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1, allow_nan=False) + "\n")


if __name__ == "__main__":
    main()
