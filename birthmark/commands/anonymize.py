"""``birthmark anonymize``: traces without the names of people and machines."""

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
            help="nfsdump text (- is stdin); or captures, operations in Parquet and datasets",
        ),
    ],
    mapping: Annotated[
        Path, typer.Option(help="file of the mapping, which is made, or extended if it is there")
    ],
    out: Annotated[
        str,
        typer.Option(
            help="file to write text to (- is stdout); for other input, directory of a dataset"
        ),
    ],
    drawing: Annotated[Drawing, Options()],
    keep: Annotated[
        Path | None,
        typer.Option(
            help="TOML file for a new mapping: what to keep as it is, and what to leave out"
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="print one JSON object (stderr when stdout has the text)")
    ] = False,
) -> None:
    """Replace users, groups, addresses and names at random, each always by the same."""
    from birthmark.data.anonymize import anonymize as run
    from birthmark.data.anonymize import read_settings

    settings = read_settings(keep) if keep else None
    with counting("records") as tell:
        summary = run(inputs, out, mapping, settings, drawing.seed, tell)
    warn(summary.warnings)
    stderr = out == "-"
    if as_json:
        typer.echo(json.dumps(summary.to_json(), indent=2), err=stderr)
        return
    for each in _lines(summary):
        line(each, stderr)


def _lines(summary: Summary) -> list[str]:
    """Return what a run did."""
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
