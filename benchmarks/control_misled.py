"""Answers to others that change because one client creates files to mislead ``predictor.control``.

The client's births come evenly over ``WITHIN`` of the day's time, from its median birth on. The
models are as sure of them as of any birth of that day, and all have the outcome that the client
chose: false to raise thresholds, or true to lower them. Each outcome is known as early as any of
that day. So the figures are at least those of a real client, who must find such files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from rich import box
from rich.table import Table

from benchmarks.control_played import over
from benchmarks.control_streams import Stream
from birthmark.data.common.arrays import Bools
from birthmark.data.common.durations import SECOND
from birthmark.predictor.control import UNKNOWN, Controller, ControlSettings

WITHIN = 60 * SECOND
OUTCOMES = {"raise": False, "lower": True}
"""The outcome of a client's births, by what it does to thresholds."""


def with_client(stream: Stream, births: int, outcome: bool) -> tuple[Stream, Bools]:
    """Return the stream with the births of a client, and which of its births are others'."""
    start = int(stream.born[len(stream.born) // 2])
    times = start + np.arange(births, dtype=np.int64) * WITHIN // max(births, 1)
    known = stream.known_at != UNKNOWN
    delay = int((stream.known_at[known] - stream.born[known]).min())
    born = np.concatenate([stream.born, times])
    order = np.argsort(born, kind="stable")

    def joined(column: Any, added: Any) -> Any:
        return np.concatenate([column, np.broadcast_to(added, births)])[order]

    every = replace(
        stream,
        born=born[order],
        scores=joined(stream.scores, stream.scores.max()),
        truths=joined(stream.truths, outcome),
        known_at=joined(stream.known_at, times + delay),
        counted=joined(stream.counted, outcome),
    )
    return every, joined(np.full(len(stream.born), True), False)


def misled(stream: Stream, settings: ControlSettings, births: int) -> list[dict[str, Any]]:
    """Return a row for each of ``OUTCOMES``: others' answers with and without the client.

    They are of the births from the client's first on. ``before`` has the shares without it.
    """
    predicate, scope = stream.row
    later = np.arange(len(stream.born)) >= len(stream.born) // 2
    truths = stream.truths[later]
    before = stream.controlled(Controller(stream.static, settings))[later]
    rows = []
    for effect, outcome in OUTCOMES.items():
        every, others = with_client(stream, births, outcome)
        answers = every.controlled(Controller(stream.static, settings))[others][later]
        row: dict[str, Any] = {"predicate": predicate, "scope": scope, "effect": effect}
        row["changed"] = float((answers != before).mean())
        for when, own in (("before", before), ("after", answers)):
            row[f"true_positives_{when}"] = float((own & truths).mean())
            row[f"false_positives_{when}"] = float((own & ~truths).mean())
            row[f"over_{when}"] = over(own & ~truths, stream.born[later], settings.bound)
        rows.append(row)
    return rows


def misled_table(rows: Sequence[dict[str, Any]], births: int) -> Table:
    """Return the means over predicates, and the greatest false positives of any."""
    title = f"{births:,} births of one client: answers to others, percent of their births"
    shown = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("scope", "thresholds", "changed", "true positives", "false positives", "most"):
        shown.add_column(heading, justify="left" if heading == "scope" else "right")
    shown.add_column("over the bound", justify="right")
    for scope, effect in dict.fromkeys((row["scope"], row["effect"]) for row in rows):
        own = [row for row in rows if (row["scope"], row["effect"]) == (scope, effect)]
        changed = f"{100 * np.mean([row['changed'] for row in own]):.2f}"
        cells = [
            " → ".join(f"{100 * of([row[f'{share}_{w}'] for row in own]):.2f}" for w in WHEN)
            for share, of in (
                ("true_positives", np.mean),
                ("false_positives", np.mean),
                ("false_positives", np.max),
            )
        ]
        few = " → ".join(str(sum(row[f"over_{w}"] for row in own)) for w in WHEN)
        shown.add_row(scope, effect, changed, *cells, f"{few} of {len(own)}")
    return shown


WHEN = ("before", "after")
