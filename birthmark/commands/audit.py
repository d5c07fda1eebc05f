"""``birthmark audit``: the accuracy of served predictions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from birthmark.data.common.percentages import shown
from birthmark.data.common.plurals import counted
from birthmark.options import Options, described, with_options
from birthmark.outputs import Json, output, print_json
from birthmark.serving.settings import Settings as Serving
from birthmark.terminal import line, numbers, paragraphs, show, table, words, working
from birthmark.training.config import Matching, Settings
from birthmark.training.reports.labels import SUBJECTS
from birthmark.training.statistics.standing import key_of

if TYPE_CHECKING:  # the other commands do without it, and start sooner
    from birthmark.training.audit.run import Audit


@with_options
def audit(
    dataset: Annotated[
        Path, typer.Argument(metavar="DATASET", help="dataset that `birthmark ingest` made")
    ],
    registry: Annotated[str, described(Serving, "registry")],
    log: Annotated[Path, described(Serving, "log_predictions")],
    matching: Annotated[Matching, Options(named={"tolerance_seconds": "--tolerance"})],
    learning: Annotated[Settings, Options(only=("without_loss",))],
    out: Annotated[Path | None, output("also write an HTML page to this file")] = None,
    as_json: Json = False,
) -> None:
    """Compare served predictions with outcomes.

    Where more are wrong than the bound allows, the model abstains until outcomes allow a yes.
    """
    from birthmark.data.common.durable import output as output_file
    from birthmark.training.audit.page import render
    from birthmark.training.audit.run import audit as compare
    from birthmark.training.audit.run import keep
    from birthmark.training.registry.versions import Registry

    versions = Registry(registry)
    with working("auditing"):
        found = compare(versions, dataset, log, matching.joining(), learning.without_loss)
        keep(versions, found)
        if out is not None:
            with output_file(out) as page:
                page.write_text(render(found), encoding="utf-8")
    if as_json:
        print_json(found.to_json())
        return
    paragraphs(found.verdict.lines())
    for each in [*_joined(found), *_figures(found)]:
        line("")
        show(each)
    line("")
    for text in [f"bounds: {found.bounds_in_words()}", *warnings(found)]:
        line(text)


def warnings(found: Audit) -> list[str]:
    """Return one line per warning, or that nothing changed."""
    lines = [f"abstains from now on: {key}: {why}" for key, why in found.breaches.items()]
    lines += found.over()
    lines += [
        f"changed: {each.aspect} {each.value}: {each.change}, {each.before:.2f}% of all files in"
        f" training, {each.now:.2f}% now"
        for each in found.drift or []
    ]
    lines += [
        f"not judged: {counted(n, 'rows')} of {version}" for version, n in found.unknown.items()
    ]
    lines += [f"cannot be read: {path}: {why}" for path, why in found.damaged.items()]
    lines += [
        f"set aside: {counted(n, 'rows')} of {path}: times of no year from 1 to 9999"
        for path, n in found.set_aside.items()
    ]
    if found.drift is None:
        lines.append("changes among the created files cannot be judged")
    return lines or ["no change among the created files"]


_WHOSE = ("version", "model", "point")


def _joined(found: Audit) -> Iterator[Table]:
    """Yield a table of joined rows of the log for each model."""
    counts = ("asked", "joined", "ambiguous", "unmatched")
    for whose, rows in groupby(found.joined, itemgetter(*_WHOSE)):
        joined = table("Rows of the log", *numbers(*counts), title=_title(*whose))
        for row in rows:
            joined.add_row(SUBJECTS[row["subject"]], *(f"{row[n]:,}" for n in counts))
        yield joined


_FIGURES = ("n", "decided", "right", "FalsePos", "95%")


def _figures(found: Audit) -> Iterator[Table]:
    """Yield a table of outcomes for each model."""
    from birthmark.training.reports.terminal import styled

    for whose, rows in groupby(found.figures.to_pylist(), itemgetter(*_WHOSE)):
        own = list(rows)
        bounds = {row["bound"] for row in own}
        most = "".join(f", bound {bound:g}%" for bound in bounds if bound is not None)
        served = table(*words("As served"), *numbers(*_FIGURES), "standing")
        served.title, served.padding = _title(*whose) + most, 0
        for row in own:
            low, high = row["false_positives_low"], row["false_positives_high"]
            shares = (row["decided"], row["right"], row["false_positives"])
            served.add_row(
                key_of(row),
                f"{row['n']:,}",
                *map(shown, shares),
                "–" if low is None else f"{low:.2f}–{high:.2f}",
                styled(row["standing"]),
            )
        yield served


def _title(version: str, kind: str, point: str) -> str:
    return f"{version}, {kind}, {point}"
