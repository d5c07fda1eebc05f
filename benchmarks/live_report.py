"""Output of ``benchmarks.live`` for a day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.live_played import Delays
from benchmarks.live_servers import Asker

SHARES = ("errors", "true_positives", "false_positives")
MOST = 0.003
"""Greatest difference of served and evaluated figures with history, as a share of files."""

Row = Mapping[str, Any]


def mean(rows: Sequence[Row], who: str, share: str) -> float:
    """Return the mean over predicates of a share, as ``served``, ``evaluated`` or ``rules``."""
    return float(np.mean([row[who][share] for row in rows]))


def difference(row: Row) -> float:
    """Return by how much what was served and what is evaluated differ at most."""
    return max(abs(row["served"][share] - row["evaluated"][share]) for share in SHARES)


def report(
    rows: Sequence[Row], askers: Mapping[tuple[str, str], Asker], delays: Delays, seconds: float
) -> None:
    """Print a day's tables, what they come to, and how fast it went."""
    console = Console(width=140)
    for (level, point), asker in askers.items():
        own = [row for row in rows if (row["level"], row["point"]) == (level, point)]
        if own:
            console.print(table(own))
            console.print(summary(own), markup=False)
        console.print(_rested_on(asker), _took("requests took", asker.seconds), markup=False)
    console.print(f"played in {seconds:.0f} s", markup=False)
    if delays.follower:
        console.print(_took("the follower was behind", delays.follower), markup=False)
        console.print(_took("questions were asked too late by", delays.client), markup=False)


def table(rows: Sequence[Row]) -> Table:
    """Return a table of the rows of one level and point."""
    some = rows[0]
    title = (
        f"{some['test']}, {some['level']}, {some['point']}, {some['kind']}:"
        " served (evaluated), percent of files"
    )
    shown = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    own = ["rules' errors"] if "rules" in some else []
    headings = ["n", "errors", "true positives", "false positives", *own]
    for heading in ("Predicate", *headings):
        shown.add_column(heading, justify="left" if heading == "Predicate" else "right")
    for row in rows:
        cells = [f"{_percent(row['served'][s])} ({_percent(row['evaluated'][s])})" for s in SHARES]
        rules = [_percent(row["rules"]["errors"])] if own else []
        far = "!" if row["level"] == "full" and difference(row) > MOST else ""
        shown.add_row(row["predicate"] + far, f"{row['n']:,}", *cells, *rules)
    shown.add_section()
    means = [
        f"{_percent(mean(rows, 'served', s))} ({_percent(mean(rows, 'evaluated', s))})"
        for s in SHARES
    ]
    shown.add_row("mean", "", *means, *([_percent(mean(rows, "rules", "errors"))] if own else []))
    return shown


def summary(rows: Sequence[Row]) -> str:
    """Return whether such answers meet their requirement, in a line."""
    most = max(rows, key=difference)
    far = sum(difference(row) > MOST for row in rows)
    answer = (
        f"served and evaluated differ by at most {100 * difference(most):.2f} points"
        f" ({most['predicate']}), by more than {100 * MOST:g} on {far} of {len(rows)}"
    )
    if "over" in rows[0]:
        broken = sum(row["over"] for row in rows)
        answer += f"; false positives above the bound, by more than chance, on {broken}"
    if "rules" in rows[0]:
        errors, rules = mean(rows, "served", "errors"), mean(rows, "rules", "errors")
        word = "at most" if errors <= rules else "MORE than"
        answer += f"; mean errors {_percent(errors)}, {word} those of rules, {_percent(rules)}"
    return answer


def _rested_on(asker: Asker) -> str:
    result = ", ".join(f"{word} {count:,}" for word, count in asker.scopes.most_common())
    why = ", ".join(f"{word} {count:,}" for word, count in asker.why_not.most_common())
    return f"rested on: {result}" + (f"; no live history: {why}" if why else "")


def _took(what: str, seconds: Sequence[float]) -> str:
    middle, most = np.percentile(seconds, (50, 99)) * 1000 if seconds else (0.0, 0.0)
    return f"{what} {middle:.2f} ms (median), {most:.2f} ms (99th percentile)"


def _percent(share: float) -> str:
    return f"{100 * share:.2f}"
