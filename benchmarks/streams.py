"""Whether the control of thresholds keeps the bound at every time, on streams with drift.

    python -m benchmarks.streams [--streams 1000] [--seed 1] [--json OUT]
    python -m benchmarks.streams --repositories REPOSITORY...
    python -m benchmarks.streams --train DAY... --test DAY...

Streams are played as in ``benchmarks.control``, each under a controller of its own. They are

- simulated (``benchmarks.streams_simulated``);
- or the later half of the births of git repositories (``benchmarks.git_history``), for models that
  learned from what was seen of the repository until then;
- or days at whose noon every user's programs change (``benchmarks.control_streams``).

Three sources of answers are compared: the controller (served), the calibrated threshold, which
never moves, and the best static threshold in hindsight. A stream is above the bound if an
anytime-valid test shows it at any time (``benchmarks.streams_bound``). True positives are a share
of those of the best threshold. Streams in which none of the three ever says yes are left out.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.control import PREDICATES, say, trained
from benchmarks.control_played import WHO, Played, play
from benchmarks.control_streams import Stream, changed_at_noon, streams
from benchmarks.days import Day, labelled_since, read_days, with_use
from benchmarks.git_history import UNKNOWN, observed, operations
from benchmarks.streams_bound import first_above
from benchmarks.streams_simulated import BIRTHS, DRIFTS, simulated
from birthmark.predictor import TrainedModel, births
from birthmark.predictor.control import ControlSettings
from birthmark.training.evaluate.cases import labelled

OF_GIT = {key: each for key, each in PREDICATES.items() if key not in UNKNOWN}
"""The predicates that a git history can answer."""

CAN_BE_ABOVE = WHO[:2]
"""Sources of answers that know no outcomes in advance."""


def row(played: Played, kind: str, bound: float) -> dict[str, Any]:
    """Return a stream's figures for JSON: by source of answers, shares of ``n`` births.

    ``first_above`` is the number of births after which the bound is first shown broken, or null.
    """
    figures = {
        who: {
            "first_above": first_above(played.wrong(who), bound),
            "false_positives": float(played.wrong(who).mean()),
            "true_positives": float((played.answers[who] & played.stream.truths).mean()),
        }
        for who in WHO
    }
    predicate, scope = played.stream.row
    n = len(played.stream.truths)
    return {"kind": kind, "predicate": predicate, "scope": scope, "n": n} | figures


def simulated_rows(
    count: int, seed: int, births: int, settings: ControlSettings
) -> list[dict[str, Any]]:
    """Return the rows of ``count`` simulated streams, divided among the kinds of drift."""
    rows = []
    for place, kind in enumerate(DRIFTS):
        numbers = range(len(range(place, count, len(DRIFTS))))
        of_kind = [simulated(kind, number, seed, settings.bound, births) for number in numbers]
        rows += _rows(of_kind, kind, settings)
    return rows


def repository_rows(path: Path, kind: str, settings: ControlSettings) -> list[dict[str, Any]]:
    """Return the rows of a git repository's later half."""
    history = list(operations(path))
    whole = observed(path.name, history)
    whole = replace(whole, files=with_use(whole.files, history))
    half = int(np.median(births(whole.files)["born"].cast(pa.int64()).to_numpy()))
    before = observed(f"{path.name}, the earlier half", history, half)
    model = trained([before], kind, settings.bound, OF_GIT)
    test = labelled_since(whole, OF_GIT, half + 1)
    return _rows(streams(model, kind, test), path.name, settings)


def noon_rows(
    model: TrainedModel, day: Day, kind: str, seed: int, settings: ControlSettings
) -> list[dict[str, Any]]:
    """Return the rows of a day at whose noon programs change."""
    changed, _ = changed_at_noon(day, seed)
    test = labelled(PREDICATES, changed.files, changed.names, model.creates)
    return _rows(streams(model, kind, test), day.name, settings)


def _rows(batch: Sequence[Stream], kind: str, settings: ControlSettings) -> list[dict[str, Any]]:
    say(f"playing {kind}")
    return [
        row(played, kind, settings.bound)
        for played in play(batch, settings)
        if any(answers.any() for answers in played.answers.values())
    ]


def table(rows: Sequence[dict[str, Any]], title: str) -> Table:
    """Return a table with a row for each kind of stream, and one for all."""
    shown = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    headings = [f"{what}, {who}" for what in ("above", "true pos.") for who in CAN_BE_ABOVE]
    for heading in ("Kind", "streams", *headings):
        shown.add_column(heading, justify="left" if heading == "Kind" else "right")
    for kind in dict.fromkeys(each["kind"] for each in rows):
        shown.add_row(kind, *_cells([each for each in rows if each["kind"] == kind]))
    shown.add_section()
    shown.add_row("all", *_cells(rows))
    return shown


def _cells(rows: Sequence[dict[str, Any]]) -> Iterable[str]:
    yield f"{len(rows):,}"
    for who in CAN_BE_ABOVE:
        yield f"{100 * np.mean([each[who]['first_above'] is not None for each in rows]):.1f}%"
    best = sum(each["best"]["true_positives"] for each in rows)
    for who in CAN_BE_ABOVE:
        share = sum(each[who]["true_positives"] for each in rows) / best if best else float("nan")
        yield f"{share:.2f}"


def arguments() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--streams", type=int, default=1000, help="number of simulated streams")
    parser.add_argument("--births", type=int, default=BIRTHS, help="of each simulated stream")
    parser.add_argument("--repositories", type=Path, nargs="+", metavar="REPOSITORY")
    parser.add_argument("--train", type=Path, nargs="+", default=[], metavar="DAY")
    parser.add_argument("--test", type=Path, nargs="+", default=[], metavar="DAY")
    parser.add_argument("--kind", default="forest", help="of the models")
    parser.add_argument("--bound", type=float, default=0.01, help="false positives, share of files")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="OUT")
    asked = parser.parse_args()
    if bool(asked.train) != bool(asked.test):
        parser.error("expected --train and --test together")
    return asked


def main() -> None:
    """Run from the command line."""
    asked = arguments()
    settings = ControlSettings(asked.bound)
    if asked.repositories:
        title, paths = "git repositories, later half", asked.repositories
        rows = [each for path in paths for each in repository_rows(path, asked.kind, settings)]
    elif asked.train:
        title, rows = "days at whose noon programs change", []
        with tempfile.TemporaryDirectory() as name:
            days = read_days([*asked.train, *asked.test], Path(name))
        learned, later = days[: len(asked.train)], days[len(asked.train) :]
        model = trained(learned, asked.kind, asked.bound)
        for day in later:
            rows += noon_rows(model, day, asked.kind, asked.seed, settings)
            model.follow(day.files, day.names)
    else:
        title = "simulated streams"
        rows = simulated_rows(asked.streams, asked.seed, asked.births, settings)
    Console(width=120).print(table(rows, title))
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1, allow_nan=False) + "\n")


if __name__ == "__main__":
    main()
