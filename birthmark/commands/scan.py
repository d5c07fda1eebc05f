"""``birthmark scan``: operation counts, and tables and plots of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from birthmark.data.generated import describe
from birthmark.data.settings import KEYS, Counting, Output, Plot
from birthmark.exits import warn
from birthmark.groups import DefaultGroup
from birthmark.options import Options, with_options
from birthmark.outputs import Json, output
from birthmark.terminal import counting, line

BUSIEST = 4
"""Rows per key on one screen."""

app = typer.Typer(
    cls=DefaultGroup,
    no_args_is_help=True,
    help="""Count operations per period, and plot the counts.

    `scan TRACE...` is short for `scan traces TRACE...`; the other commands, and
    `birthmark top table`, read the table that it writes.
    """,
)

_TABLE = Annotated[
    str,
    typer.Argument(metavar="TABLE", help="counts of a scan, as Parquet or CSV; - is stdin"),
]
_Out = Annotated[Output, Options()]


@app.command()
@with_options
def traces(
    traces: Annotated[
        list[str],
        typer.Argument(
            metavar="TRACE",
            help="nfsdump text, captures, operations or datasets; - is stdin",
        ),
    ],
    asked: Annotated[Counting, Options()],
    out: Annotated[
        str | None,
        typer.Option(
            help="table to write: FILE.parquet, .csv or .txt; - is CSV on stdout; a directory:"
            " every format; default: show the busiest"
        ),
    ] = None,
    files: Annotated[
        str | None, typer.Option(help="map of files to write: FILE.parquet, .csv or .txt")
    ] = None,
    as_json: Json = False,
) -> None:
    """Count the operations of traces per period and by keys (nfsscan).

    Without --out, show the busiest users, clients, directories and files.
    """
    from birthmark.data.scan.count import Plan, scan

    if out is None and files is None:
        _show_busiest(traces, asked, as_json)
        return
    with counting("operations") as progress:
        summary = scan(traces, out, Plan.of(asked), files, progress)
    warn(summary.warnings)
    result = summary.to_json()
    if as_json:
        typer.echo(json.dumps(result, indent=2), err=out == "-")
    elif out != "-":
        _show(result)


def _show_busiest(traces: list[str], asked: Counting, as_json: bool) -> None:
    """Show the busiest of each kind, on one screen of 80 columns."""
    from birthmark.commands.top import of_trace
    from birthmark.commands.top_lines import as_object, print_busiest

    for name in ("period", "by", "ops"):
        if getattr(asked, name) != getattr(Counting(), name):
            raise typer.BadParameter(
                f"--{name}: expected --out, too: it is about the table written there"
            )
    load, more = of_trace(traces, asked)
    if as_json:
        typer.echo(as_object(load.whole("ops", BUSIEST), {}, more["lost"], more["generated"]))
    else:
        print_busiest(load.whole("ops", BUSIEST), traces, BUSIEST, **more)


def _show(result: dict[str, Any]) -> None:
    set_aside = sum(result["records_set_aside"].values())
    if result["generated"]:
        line(describe(result["generated"]))
    lines = {
        "operations": f"{result['operations']:,}",
        "rows": f"{result['rows']:,}",
        "files": "" if result["files"] is None else f"{result['files']:,}",
        "orphans": f"{result['replies_without_call']:,}" if result["replies_without_call"] else "",
        "set aside": f"{set_aside:,}" if set_aside else "",
        "written": ", ".join(result["out"]),
        "rate": f"{result['operations_per_second'] or 0:,} operations/s",
    }
    for what, value in lines.items():
        if value:
            line(f"{what:<10}  {value}")


@app.command()
@with_options
def agg(
    table: _TABLE,
    to: _Out,
    period: Annotated[
        str | None,
        typer.Option(help="length of new periods, a multiple of the table's; or all"),
    ] = None,
    by: Annotated[
        str | None, typer.Option(help=f"keys to keep, separated by commas: {KEYS}; or none")
    ] = None,
) -> None:
    """Add counts up: wider periods, fewer keys (ns_timeagg)."""
    from birthmark.data.common.durations import duration
    from birthmark.data.scan import words
    from birthmark.data.scan.aggregate import WHOLE, aggregate
    from birthmark.data.scan.inputs import CountsTable

    length = period if period is None or period == WHOLE else duration(period)
    aggregate(CountsTable(table), to.out, None if by is None else words.keys(by), length)


@app.command()
@with_options
def split(
    table: _TABLE,
    to: _Out,
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE,...", help="keep only rows with these values, as user=0"),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE,...", help="drop rows with these values"),
    ] = None,
    since: Annotated[
        str | None, typer.Option(help="keep only periods from this time on, as 2026-11-21T05:38")
    ] = None,
    until: Annotated[
        str | None, typer.Option(help="keep only periods that begin before this time")
    ] = None,
) -> None:
    """Keep or drop rows by their keys, operation or time (ns_split)."""
    from birthmark.data.scan import words
    from birthmark.data.scan.inputs import CountsTable
    from birthmark.data.scan.split import Condition, Rows
    from birthmark.data.scan.split import split as run

    rows = Rows(
        [Condition.parse(text) for text in keep or []],
        [Condition.parse(text) for text in drop or []],
        None if since is None else words.time(since),
        None if until is None else words.time(until),
    )
    run(CountsTable(table), to.out, rows)


@app.command()
@with_options
def view(
    table: _TABLE,
    out: Annotated[Path, output("plot to write: FILE.svg or FILE.png")],
    asked: Annotated[Plot, Options()],
) -> None:
    """Plot counts over time (ns_quickview)."""
    from birthmark.data.common.durations import duration
    from birthmark.data.scan import words
    from birthmark.data.scan.inputs import CountsTable
    from birthmark.data.scan.series import over_time, overlaid
    from birthmark.data.scan.view import draw

    where = words.zone(asked.zone)
    key = asked.by if asked.by in (None, "op") else words.key(asked.by)
    plotted = over_time(CountsTable(table), asked.measure, key, asked.lines)
    if asked.overlay is not None:
        plotted = overlaid(plotted, duration(asked.overlay), where)
    draw(plotted, out, asked.title, where)
