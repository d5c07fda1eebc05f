"""``birthmark scan``: operation counts, and what is made of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.cells import cell_len
from rich.table import Table
from typer.core import TyperGroup

from birthmark.data.common.visible import visible
from birthmark.data.generated import describe, label
from birthmark.data.settings import KEYS, Busiest, Counting, Output, Plot
from birthmark.exits import warn
from birthmark.options import Options, with_options
from birthmark.outputs import Json, output
from birthmark.terminal import LEAST, Terminal, counting, line, numbers, shortened, show

DEFAULT = "traces"
BUSIEST = 4
"""So many of each kind are shown on one screen."""
BETWEEN = 2
"""So many blanks are between columns."""
LEAST_PATH = 24
"""On so narrow a terminal that a path has less room, columns are left out."""
SPARE = ("cost", "other", "write", "read", "MB written", "MB read")


class ScanGroup(TyperGroup):
    """Takes a first word that is no command for that of ``scan traces``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command in that was left out."""
        known = {*self.commands, *ctx.help_option_names}
        if args and args[0] not in known:
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=ScanGroup,
    no_args_is_help=True,
    help="Count operations per period: `scan TRACE...` is short for `scan traces TRACE...`; "
    "the other commands take the table that it writes.",
)

_TABLE = Annotated[
    str, typer.Argument(metavar="TABLE", help="counts, as Parquet or CSV; - is stdin")
]
_Out = Annotated[Output, Options()]


@app.command(DEFAULT)
@with_options
def traces(
    traces: Annotated[
        list[str],
        typer.Argument(
            metavar="TRACE",
            help="nfsdump text, captures, operations in Parquet, datasets; - is stdin",
        ),
    ],
    asked: Annotated[Counting, Options()],
    out: Annotated[
        str | None,
        typer.Option(
            help="table of counts to write: FILE.parquet, .csv or .txt; - is CSV on stdout; or a "
            "directory, for the counts and the map of files in every format; without it, the "
            "busiest are shown"
        ),
    ] = None,
    files: Annotated[
        str | None, typer.Option(help="map of files to write: FILE.parquet, .csv or .txt")
    ] = None,
    as_json: Json = False,
) -> None:
    """Count the operations of traces per period, by any of the keys (nfsscan).

    Without --out, show the busiest users, clients, directories and files.
    """
    from birthmark.data.scan.count import Plan, scan

    if out is None and files is None:
        _show_busiest(traces, asked, as_json)
        return
    with counting("operations") as tell:
        summary = scan(traces, out, Plan.of(asked), files, tell)
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
                f"--{name}: expected --out, too: it says what is written there"
            )
    load, more = of_trace(traces, asked)
    if as_json:
        typer.echo(as_object(load.whole("ops", BUSIEST), {}, more["lost"], more["generated"]))
    else:
        print_busiest(load.whole("ops", BUSIEST), traces, BUSIEST, **more)


def _show(result: dict[str, Any]) -> None:
    aside = sum(result["records_set_aside"].values())
    if result["generated"]:
        line(describe(result["generated"]))
    lines = {
        "operations": f"{result['operations']:,}",
        "rows": f"{result['rows']:,}",
        "files": "" if result["files"] is None else f"{result['files']:,}",
        "orphans": f"{result['replies_without_call']:,}" if result["replies_without_call"] else "",
        "set aside": f"{aside:,}" if aside else "",
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
        typer.Option(help="length of the new periods, a multiple of the table's; all: one period"),
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
        typer.Option(
            metavar="KEY=VALUE,...", help="keep only rows with one of these values, as user=0"
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE,...", help="drop rows with one of these values"),
    ] = None,
    since: Annotated[
        str | None, typer.Option(help="keep only periods from this time on, as 2026-11-21T05:38:30")
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
def top(
    table: _TABLE,
    asked: Annotated[Busiest, Options()],
    out: Annotated[
        str | None,
        typer.Option(
            help="write the table's rows of the busiest to this file instead; - is CSV on stdout"
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the busiest clients, users, groups, files or directories."""
    from birthmark.data.scan import words
    from birthmark.data.scan.inputs import CountsTable
    from birthmark.data.scan.tables import GENERATED
    from birthmark.data.scan.top import top as run
    from birthmark.data.scan.top import write_rows

    counts, keys = CountsTable(table), words.keys(asked.by)
    busiest = run(counts, keys, asked.count, asked.order)
    if out is not None:
        write_rows(counts, out, busiest, keys)
    elif as_json:
        said = {GENERATED: label(counts.generated)} if counts.generated else {}
        typer.echo(json.dumps([row | said for row in busiest.to_pylist()], indent=1))
    else:
        _print_top(busiest.to_pylist(), keys, describe(counts.generated))


def _print_top(rows: list[dict[str, Any]], keys: list[str], title: str) -> None:
    columns = _top_columns(rows, keys)
    fitted = _fitted(columns, [key for key in keys if key in ("file", "directory")])
    headings = list(fitted)[len(keys) :]
    table = Table(*keys, *numbers(*headings), box=None, pad_edge=False, title=title or None)
    table.title_justify = "left"
    for cells in zip(*fitted.values(), strict=True):
        table.add_row(*cells)
    show(table, columns=500)


def _top_columns(rows: list[dict[str, Any]], keys: list[str]) -> dict[str, list[str]]:
    """Return what is printed of rows, by heading; the first row is the total of all.

    Where it is of no operation it is left out: of directories whose top was split off, no row
    holds each operation once.
    """
    total, *each = rows
    totals = [total] if total["ops"] or not each else []
    columns = {key: ["total" if key == keys[0] else ""] * len(totals) for key in keys}
    for key in keys:
        columns[key] += ["none" if row[key] is None else visible(str(row[key])) for row in each]
    shown = [*totals, *each]
    columns["total ops"] = [f"{row['ops']:,}" for row in shown]
    for name in ("read", "write", "other"):
        columns[name] = [f"{row[name]:,}" for row in shown]
    for heading, name in (("MB read", "bytes_read"), ("MB written", "bytes_written")):
        columns[heading] = [f"{row[name] / 1e6:,.1f}" for row in shown]
    columns["cost"] = [f"{row['cost']:,.0f}" for row in shown]
    return columns


def _fitted(columns: dict[str, list[str]], paths: list[str]) -> dict[str, list[str]]:
    """Return columns: where a terminal has no room, paths are cut, and columns left out."""
    terminal = Terminal()
    if not paths or not terminal.is_terminal:
        return columns
    kept = dict(columns)
    for spare in ("", *SPARE):
        kept.pop(spare, None)
        cells = ([key, *kept[key]] for key in kept if key not in paths)
        taken = sum(max(map(cell_len, each)) for each in cells) + BETWEEN * (len(kept) - 1)
        room = (terminal.width - taken) // len(paths)
        longest = max(cell_len(each) for key in paths for each in kept[key])
        if room >= min(longest, LEAST_PATH):
            break
    return {
        key: [shortened(each, max(room, LEAST)) for each in cells] if key in paths else cells
        for key, cells in kept.items()
    }


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
