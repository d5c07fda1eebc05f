"""Whether the control of thresholds keeps the bound at every time, on streams with drift.

    python -m benchmarks.streams [--streams 1000] [--seed 1] [--json OUT]

Simulated streams (``benchmarks.streams_simulated``) are played as in ``benchmarks.control``, each
under a controller of its own. Three sources of answers are compared: the controller (served), the
calibrated threshold, which never moves, and the best static threshold in hindsight. A stream is
above the bound if an anytime-valid test shows it at any time (``benchmarks.streams_bound``). True
positives are a share of those of the best threshold.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.control import say
from benchmarks.control_played import WHO, Played, play
from benchmarks.streams_bound import first_above
from benchmarks.streams_simulated import BIRTHS, DRIFTS, simulated
from birthmark.predictor.control import ControlSettings

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


def simulated_rows(count: int, seed: int, bound: float, births: int) -> list[dict[str, Any]]:
    """Return the rows of ``count`` simulated streams, the kinds of drift in turns."""
    rows, settings = [], ControlSettings(bound)
    for index in range(count):
        number, place = divmod(index, len(DRIFTS))
        kind = list(DRIFTS)[place]
        stream = simulated(kind, number, seed, bound, births)
        rows += [row(played, kind, bound) for played in play([stream], settings)]
        if index % 100 == 99:
            say(f"{index + 1:,} streams")
    return rows


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


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--streams", type=int, default=1000, help="number of simulated streams")
    parser.add_argument("--births", type=int, default=BIRTHS, help="of each simulated stream")
    parser.add_argument("--bound", type=float, default=0.01, help="false positives, share of files")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="OUT")
    asked = parser.parse_args()
    rows = simulated_rows(asked.streams, asked.seed, asked.bound, asked.births)
    Console(width=120).print(table(rows, "simulated streams"))
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1, allow_nan=False) + "\n")


if __name__ == "__main__":
    main()
