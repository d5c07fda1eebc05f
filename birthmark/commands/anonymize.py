"""``birthmark anonymize``: traces with pseudonyms for people and machines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from birthmark.data.common.plurals import counted
from birthmark.data.generated import describe
from birthmark.data.settings import Drawing
from birthmark.exits import warn
from birthmark.options import Options, with_options
from birthmark.terminal import counting, line

if TYPE_CHECKING:  # help and the other commands do without it, and start sooner
    from birthmark.data.anonymize import Summary


@with_options
def anonymize(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT...",
            help="nfsdump text (- is stdin), captures, operations or datasets",
        ),
    ],
    mapping: Annotated[Path, typer.Option(help="file of the mapping, which is made or extended")],
    out: Annotated[
        str,
        typer.Option(help="file for text (- is stdout); else directory of a dataset"),
    ],
    drawing: Annotated[Drawing, Options()],
    keep: Annotated[
        Path | None,
        typer.Option(help="TOML file of what a new mapping keeps and leaves out"),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="print one JSON object (to stderr if stdout has the text)"),
    ] = False,
) -> None:
    """Replace users, addresses and names by pseudonyms.

    Pseudonyms, also of groups, are random and consistent.
    """
    from birthmark.data.anonymize import anonymize as run
    from birthmark.data.anonymize import read_settings

    settings = read_settings(keep) if keep else None
    with counting("records") as progress:
        summary = run(inputs, out, mapping, settings, drawing.seed, progress)
    warn(summary.warnings)
    stderr = out == "-"
    if as_json:
        typer.echo(json.dumps(summary.to_json(), indent=2), err=stderr)
        return
    for each in _lines(summary):
        line(each, stderr)


def _lines(summary: Summary) -> list[str]:
    """Return the summary of a run."""
    damaged = sum(summary.damaged_dropped.values())
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in summary.damaged_dropped.items())
    lines = [f"records   {summary.records_in:,} read"]
    if summary.rows:
        rows = ", ".join(counted(count, table) for table, count in summary.rows.items())
        lines.append(f"rows      {rows}")
    else:
        lines[0] += f" = {summary.records_out:,} written"
        comments = counted(summary.comments_dropped, "comments")
        lines[0] += f" + {comments} + {damaged:,} damaged, both dropped"
    if damaged:
        lines.append(f"damaged   {reasons}")
    if summary.generated:
        lines.insert(0, describe(summary.generated))
    known = ", ".join(counted(count, f"{kind}s") for kind, count in summary.mapped.items())
    lines.append(f"mapping   {summary.mapping}: {known}")
    rate = summary.to_json()["records_per_second"] or 0
    lines.append(f"rate      {rate:,} records/s, {summary.seconds:.1f} s")
    return lines
