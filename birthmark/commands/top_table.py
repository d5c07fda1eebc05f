"""``birthmark top table``: the busiest in a table of counts."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.cells import cell_len
from rich.table import Table

from birthmark.data.common.visible import visible
from birthmark.data.generated import describe, label
from birthmark.data.settings import Busiest
from birthmark.options import Options, with_options
from birthmark.outputs import Json
from birthmark.terminal import LEAST, Terminal, numbers, shortened_apart, show

BETWEEN = 2
"""Blanks between columns."""
LEAST_PATH = 24
"""Least width of a path; narrower terminals leave out columns."""
SPARE = ("cost", "other", "write", "read", "MB written", "MB read")


@with_options
def table(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="counts, as Parquet or CSV; - is stdin")
    ],
    asked: Annotated[Busiest, Options()],
    out: Annotated[
        str | None,
        typer.Option(help="file for the table's rows of the busiest; - is CSV on stdout"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the busiest in a table that `birthmark scan` wrote."""
    from birthmark.data.scan import words
    from birthmark.data.scan.inputs import CountsTable
    from birthmark.data.scan.tables import GENERATED
    from birthmark.data.scan.top import top, write_rows

    counts, keys = CountsTable(table), words.keys(asked.by)
    busiest = top(counts, keys, asked.count, asked.order)
    if out is not None:
        write_rows(counts, out, busiest, keys)
    elif as_json:
        mark = {GENERATED: label(counts.generated)} if counts.generated else {}
        typer.echo(json.dumps([row | mark for row in busiest.to_pylist()], indent=1))
    else:
        _print_top(busiest.to_pylist(), keys, describe(counts.generated))


def _print_top(rows: list[dict[str, Any]], keys: list[str], title: str) -> None:
    columns = _top_columns(rows, keys)
    fitted = _fitted(columns, [key for key in keys if key in ("file", "directory")])
    headings = list(fitted)[len(keys) :]
    printed = Table(*keys, *numbers(*headings), box=None, pad_edge=False, title=title or None)
    printed.title_justify = "left"
    for cells in zip(*fitted.values(), strict=True):
        printed.add_row(*cells)
    show(printed, columns=500)


def _top_columns(rows: list[dict[str, Any]], keys: list[str]) -> dict[str, list[str]]:
    """Return the printed columns of rows, by heading; the first row is the total.

    A total without operations is left out: without the top directories, no row counts each
    operation once.
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
    """Return columns that fit the terminal: cut paths, and leave out columns."""
    terminal = Terminal()
    if not paths or not terminal.is_terminal:
        return columns
    fitting = dict(columns)
    for spare in ("", *SPARE):
        fitting.pop(spare, None)
        cells = ([key, *fitting[key]] for key in fitting if key not in paths)
        width = sum(max(map(cell_len, each)) for each in cells) + BETWEEN * (len(fitting) - 1)
        room = (terminal.width - width) // len(paths)
        longest = max(cell_len(each) for key in paths for each in fitting[key])
        if room >= min(longest, LEAST_PATH):
            break
    return {
        key: shortened_apart(cells, max(room, LEAST)) if key in paths else cells
        for key, cells in fitting.items()
    }
