"""``birthmark audit``: is what was served still right?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from birthmark.data.common.percentages import shown
from birthmark.data.common.plurals import counted
from birthmark.options import Options, described, with_options
from birthmark.outputs import Json, output, print_json
from birthmark.serving.settings import Settings as Serving
from birthmark.terminal import line, numbers, show, working
from birthmark.training.config import Matching, Settings

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
    """Compare what was served with what became of the files; abstain where a bound is broken."""
    from birthmark.training.audit.page import render
    from birthmark.training.audit.run import audit as compare
    from birthmark.training.audit.run import keep
    from birthmark.training.registry.versions import Registry

    versions = Registry(registry)
    with working("auditing"):
        found = compare(versions, dataset, log, matching.joining(), learning.without_loss)
        keep(versions, found)
        if out is not None:
            out.write_text(render(found), encoding="utf-8")
    if as_json:
        print_json(found.to_json())
        return
    for table in (_joined(found), _figures(found)):
        show(table, columns=160)
    for told in [f"bounds: {found.bounds_in_words()}", *warnings(found)]:
        line(told)


def warnings(found: Audit) -> list[str]:
    """Return what an administrator should know, in lines; or that nothing changed."""
    lines = [f"abstains from now on: {key}: {why}" for key, why in found.breaches.items()]
    lines += found.over()
    lines += [
        f"changed: {each.aspect} {each.value}: {each.change}, {each.before:.2f}% of all files when"
        f" the model learned, {each.now:.2f}% now"
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
        lines.append("whether the files that are created changed cannot be judged")
    return lines or ["nothing changed among the files that are created"]


def _joined(found: Audit) -> Table:
    names = ("version", "model", "point", "subject")
    counts = ("asked", "joined", "ambiguous", "unmatched")
    table = Table(*names, *numbers(*counts), title="Rows of the log")
    for row in found.joined:
        table.add_row(*(str(row[name]) for name in names), *(f"{row[n]:,}" for n in counts))
    return table


_FIGURES = (
    *("n", "unknown", "decided", "right", "precision"),
    *("false pos.", "95%", "bound"),
)


def _figures(found: Audit) -> Table:
    from birthmark.training.reports.terminal import styled

    table = Table("predicate", "subject", *numbers(*_FIGURES), "standing", title="As served")
    for row in found.figures.to_pylist():
        low, high = row["false_positives_low"], row["false_positives_high"]
        table.add_row(
            row["predicate"],
            row["subject"],
            f"{row['n']:,}",
            f"{row['n_unknown']:,}",
            *map(shown, (row["decided"], row["right"], row["precision"], row["false_positives"])),
            "–" if low is None else f"{low:.2f}–{high:.2f}",
            shown(row["bound"]),
            styled(row["standing"]),
        )
    return table
