"""``birthmark layout``: the effect of hints on the layout on disk (thesis chapter 7)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TaskID,
    TimeElapsedColumn,
)

from birthmark.groups import DefaultGroup
from birthmark.layout_hint.commands import f2fs
from birthmark.layout_hint.commands.region import region
from birthmark.layout_hint.settings import Options as Asked
from birthmark.options import Options, with_options
from birthmark.outputs import Json, output
from birthmark.serving.settings import variable
from birthmark.terminal import field, line, progress, show

app = typer.Typer(
    cls=DefaultGroup,
    no_args_is_help=True,
    help="""Compare layout policies; suggest regions; F2FS's lists.

    `layout TRACE...` is short for `layout compare TRACE...`.
    """,
)


def _variable(setting: str) -> str | None:
    """Return the variable of a setting that the service shares."""
    return variable(setting) if setting == "point" else None


@app.command()
@with_options
def compare(
    traces: Annotated[
        list[Path],
        typer.Argument(metavar="TRACE", help="traces, datasets, or builds of research replay"),
    ],
    model: Annotated[str, typer.Option(help="compiled image, or registry of a published model")],
    asked: Annotated[Asked, Options(named={"first": "--from", "last": "--to"}, variable=_variable)],
    builds: Annotated[
        Path | None, typer.Option(help="directory that caches the sub-snapshots")
    ] = None,
    out: Annotated[Path | None, output("directory for figures and pictures")] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="AXIS=VALUE,...",
            help="values of an option to compare, as region=2M,4M; may be repeated",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Simulate layout policies, and compare their use of the region."""
    from birthmark.layout_hint import report
    from birthmark.layout_hint.report import results
    from birthmark.layout_hint.study import study

    if out:
        results.check(out)
    if grid:
        _grid(traces, model, asked, grid, builds, out, as_json)
        return
    with _bars() as bars:
        comparison = study(traces, model, asked, builds, bars)
    written = results.write(comparison, out) if out else []
    if as_json:
        typer.echo(json.dumps(report.to_json(comparison), indent=2))
        return
    for table in report.tables(comparison):
        show(table)
    for path in written:
        line(f"written     {path}")


def _grid(
    traces: list[Path],
    model: str,
    asked: Asked,
    axes: list[str],
    builds: Path | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Compare the policies under each combination of a grid."""
    from birthmark.layout_hint.comparison.grid import read_grid, table
    from birthmark.layout_hint.report import grid, results
    from birthmark.layout_hint.study import study_grid

    axis_grid = read_grid(axes, asked)
    with _bars() as bars:
        found = study_grid(traces, model, axis_grid, builds, bars)
    written = results.write_grid(found, out) if out else []
    rows = table(found)
    if as_json:
        typer.echo(json.dumps(rows.to_pylist(), indent=2))
        return
    show(grid.table(rows, list(axis_grid[0].values)))
    for path in written:
        if path.parent == out:
            line(f"written     {path}")


@contextmanager
def _bars() -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function that shows a progress bar for each task."""
    columns = (field("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with progress(*columns) as bar:
        tasks: dict[str, TaskID] = {}

        def update(what: str, done: int, of: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=of)
            bar.update(tasks[what], completed=done, total=of)

        yield update


app.command()(region)
app.add_typer(f2fs.app, name="f2fs")
