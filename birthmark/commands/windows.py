"""``birthmark windows``: how far back to learn from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from birthmark.outputs import named
from birthmark.terminal import show, working


def windows(
    datasets: Annotated[
        list[Path],
        typer.Argument(metavar="DATASET", help="Days, in the order of their time, by `ingest`."),
    ],
    test: Annotated[Path, typer.Option(help="The day after them, to test on.")],
    lengths: Annotated[
        list[int], typer.Option("--days", min=1, help="A window's length; may be repeated.")
    ] = [1, 3, 7, 30],  # noqa: B006  (typer copies it)
    without_loss: Annotated[
        bool, typer.Option("--without-loss", help="Leave out lives that loss may have touched.")
    ] = False,
    parquet: Annotated[
        Path | None, typer.Option(callback=named, help="Write all figures there.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all figures as JSON.")] = False,
) -> None:
    """Compare training on the last 1, 3, 7 and 30 days: which predicts the next day best."""
    from pyarrow.parquet import write_table

    from birthmark.training.config import Settings
    from birthmark.training.evaluate.windows import windows as compare
    from birthmark.training.reports.terminal import windows_table

    with working("training and testing"):
        found = compare(datasets, test, Settings(without_loss=without_loss), lengths=lengths)
    if parquet is not None:
        write_table(found, parquet)
    if as_json:
        typer.echo(json.dumps(found.to_pylist(), indent=1, allow_nan=False))
        return
    show(windows_table(found), columns=120)
