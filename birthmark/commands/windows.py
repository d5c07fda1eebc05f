"""``birthmark evaluate windows``: the best training window."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from birthmark.commands.train import Configured, own_of
from birthmark.options import Options, with_options
from birthmark.outputs import output, print_json
from birthmark.terminal import show, working
from birthmark.training.config import Settings, Windows


@with_options
def windows(
    datasets: Annotated[
        list[Path],
        typer.Argument(metavar="DATASET", help="datasets of one day, oldest first"),
    ],
    test: Annotated[Path, typer.Option(help="dataset of the next day, for the test")],
    compared: Annotated[Windows, Options(named={"lengths": "--days"})],
    settings: Annotated[Settings, Options(only=("without_loss",))],
    config: Configured = None,
    parquet: Annotated[Path | None, output("file for all figures, Parquet")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print all figures as JSON")] = False,
) -> None:
    """Compare training windows by accuracy on the next day."""
    from pyarrow.parquet import write_table

    from birthmark.data.common.durable import output as output_file
    from birthmark.training.evaluate.windows import windows as compare
    from birthmark.training.reports.terminal import windows_table

    extensions = own_of(config)
    with working("training and testing"):
        found = compare(datasets, test, settings, *extensions, lengths=compared.lengths)
    if parquet is not None:
        with output_file(parquet) as path:
            write_table(found, path)
    if as_json:
        print_json(found.to_pylist())
        return
    show(windows_table(found), columns=120)
