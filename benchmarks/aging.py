"""How a model ages: what it loses with the time since it was trained, if it learns no more.

    python -m benchmarks.aging --days DAY... [--json OUT] [--plot OUT]
    python -m benchmarks.aging --repositories REPOSITORY... [--json OUT] [--plot OUT]

Models of different ages answer the same births, so that only their age differs. The histories of
creates go on; the models and thresholds stay. Days (as in ``benchmarks.accuracy``) are in the order
of time: each but the first is a test of models that learned from one earlier day. Of a repository
(``benchmarks.git_history``), the ``TESTED`` births from each of ``STARTS`` on are a test of models
that learned from the last ``LEARNED`` births seen until one of ``AGES`` before.

Of each test, the predicates count whose rarer answer is more frequent than the bound. Differences
are to the youngest model of the same test, with the standard error over the tests.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.aging_plot import draw
from benchmarks.control import PREDICATES, trained
from benchmarks.control_played import over
from benchmarks.control_streams import ASKED, streams
from benchmarks.days import Day, Known, labelled_since, read_days
from benchmarks.git_history import observed, operations
from benchmarks.streams import OF_GIT
from birthmark.data.common.arrays import Ints
from birthmark.data.common.durations import SECOND
from birthmark.data.schema import LAST_US
from birthmark.predictor import TrainedModel, births
from birthmark.training.evaluate.cases import Labelled, labelled

LEARNED, TESTED, STARTS = 1000, 500, (0.7, 0.9)
"""Of a repository: births learned, births tested, and where tests begin, as shares of births."""

AGES = (0, 30, 91, 365, 730, 1461, 2922)
"""Ages of a repository's models at the beginning of a test, in days."""

SHARES = ("errors", "true_positives", "false_positives")


def figures(
    model: TrainedModel, kind: str, bound: float, test: Mapping[str, Labelled]
) -> Iterator[dict[str, Any]]:
    """Yield a row for each predicate and history scope of a test.

    ``errors`` are the wrong answers of the most accurate threshold; true and false positives are
    those of the threshold that keeps the bound, ``over`` whether it did not, by more than chance
    (``benchmarks.control_played.over``). All are shares of ``n`` births.
    """
    for stream in streams(model, kind, test):
        truths, points = stream.truths, model.of_kind(kind).point(*stream.row)
        if not len(truths) or min(truths.mean(), 1 - truths.mean()) <= bound:
            continue
        yes = stream.answers(points.bounded)
        yield {
            "predicate": stream.row[0],
            "scope": stream.row[1],
            "n": len(truths),
            "errors": float((stream.answers(points.accurate) != truths).mean()),
            "true_positives": float((yes & truths).mean()),
            "false_positives": float((yes & ~truths).mean()),
            "over": over(yes & ~truths, stream.born, bound),
        }


def day_rows(days: Sequence[Day], kind: str, bound: float) -> list[dict[str, Any]]:
    """Return the rows of days, each a test of models that learned from one earlier day.

    Models learn from the last births of a day, as many as the day with the fewest has.
    """
    known, rows, models = Known(), [], list[TrainedModel]()
    fewest = min(len(births(day.files)) for day in days)
    for day in days:
        test = labelled(PREDICATES, day.files, day.names, known)
        for age, model in enumerate(reversed(models), 1):
            about = {"test": day.name, "age": age}
            rows += [about | found for found in figures(model, kind, bound, test)]
        if day is not days[-1]:
            models.append(trained([_from(day, _times(day)[-fewest])], kind, bound))
    return rows


def repository_rows(path: Path, kind: str, bound: float) -> list[dict[str, Any]]:
    """Return the rows of a repository; none for ages at which it had too few births."""
    history = list(operations(path))
    whole = observed(path.name, history)
    born = _times(whole)
    rows = []
    for share in STARTS:
        first = int(share * len(born))
        start, end = born[first], born[min(first + TESTED, len(born)) - 1]
        test = labelled_since(_from(whole, 0, end), OF_GIT, start)
        for age in AGES:
            last = int(np.searchsorted(born, start - age * SECOND))
            if last < LEARNED:
                break
            day = observed(f"{path.name} {age} days before", history, int(born[last] - 1))
            model = trained([_from(day, born[last - LEARNED])], kind, bound, OF_GIT)
            about = {"test": f"{path.name} {share}", "age": age}
            rows += [about | found for found in figures(model, kind, bound, test)]
    return rows


def _times(day: Day) -> Ints:
    """Return the times of the births of files, ascending."""
    return np.sort(births(day.files)["born"].cast(pa.int64()).to_numpy())


def _from(day: Day, since: int, until: int = LAST_US) -> Day:
    """Return the births of a day between two times, both included."""

    def within(lives: pa.Table) -> pa.Table:
        rows = births(lives)
        times = rows["born"].cast(pa.int64()).to_numpy()
        return rows.filter(pa.array((times >= since) & (times <= until)))

    return Day(day.name, within(day.files), within(day.names))


def summary(rows: Sequence[dict[str, Any]], scope: str) -> list[dict[str, Any]]:
    """Return the means by age at a history scope: of each test's mean over its predicates.

    ``more`` has by share the difference to the youngest model of the same test and its standard
    error over the tests (None: one test). Ages of a single model in each test have no difference.
    """
    own = [row for row in rows if row["scope"] == scope]
    tests: dict[str, dict[int, list[dict[str, Any]]]] = {}
    for row in own:
        tests.setdefault(row["test"], {}).setdefault(row["age"], []).append(row)
    found = []
    for age in sorted({row["age"] for row in own}):
        some = [(by_age[age], by_age[min(by_age)]) for by_age in tests.values() if age in by_age]
        line: dict[str, Any] = {"age": age, "scope": scope, "tests": len(some), "more": {}}
        for share in (*SHARES, "over"):
            means = np.array(
                [[np.mean([r[share] for r in rows]) for rows in both] for both in some]
            )
            line[share], more = float(means[:, 0].mean()), means[:, 0] - means[:, 1]
            error = float(more.std(ddof=1) / len(more) ** 0.5) if len(more) > 1 else None
            line["more"][share] = float(more.mean()), error
        found.append(line)
    return found


def table(lines: Sequence[dict[str, Any]]) -> Table:
    """Return a table of a summary."""
    title = f"scope {lines[0]['scope']}: percent of births (difference to the youngest model)"
    shown = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("Age, days", "tests", *(s.replace("_", " ") for s in SHARES), "over the bound"):
        shown.add_column(heading, justify="right")
    for line in lines:
        cells = [_cell(line[share], *line["more"][share]) for share in SHARES]
        over_share = f"{100 * line['over']:.0f}% of predicates"
        shown.add_row(f"{line['age']:,}", str(line["tests"]), *cells, over_share)
    return shown


def _cell(share: float, more: float, error: float | None) -> str:
    spread = "" if error is None else f" ± {100 * error:.2f}"
    return f"{100 * share:.2f} ({100 * more:+.2f}{spread})"


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    tested = parser.add_mutually_exclusive_group(required=True)
    tested.add_argument("--days", type=Path, nargs="+", metavar="DAY")
    tested.add_argument("--repositories", type=Path, nargs="+", metavar="REPOSITORY")
    parser.add_argument("--kind", default="forest", help="of the models")
    parser.add_argument("--bound", type=float, default=0.01, help="false positives, share of files")
    parser.add_argument("--json", type=Path, metavar="OUT")
    parser.add_argument("--plot", type=Path, metavar="OUT", help=".svg or .png")
    asked = parser.parse_args()
    if asked.days:
        with tempfile.TemporaryDirectory() as name:
            rows = day_rows(read_days(asked.days, Path(name)), asked.kind, asked.bound)
    else:
        paths = asked.repositories
        rows = [row for path in paths for row in repository_rows(path, asked.kind, asked.bound)]
    lines = {scope: summary(rows, scope) for scope in ASKED}
    Console(width=120).print(*(table(own) for own in lines.values() if own))
    if asked.plot:
        draw(lines, asked.plot)
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1, allow_nan=False) + "\n")


if __name__ == "__main__":
    main()
