"""``birthmark evaluate versions``: stored versions side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from birthmark.commands.registry import Place, percent, stored_registry
from birthmark.data.common.without_pandas import with_pandas
from birthmark.options import with_options
from birthmark.outputs import Json, output, print_json
from birthmark.terminal import line, numbers, show, table, words, working

if TYPE_CHECKING:  # the other commands do without them, and start sooner
    from pandas import DataFrame
    from rich.table import Table


@with_options
def versions(
    versions: Annotated[
        list[str], typer.Argument(metavar="VERSION", help="stored versions, two or more")
    ],
    place: Place,
    dataset: Annotated[Path | None, typer.Option(help="dataset to test them on")] = None,
    estimators: Annotated[
        bool,
        typer.Option("--estimators", help="test custom estimators, too, which runs their code"),
    ] = False,
    parquet: Annotated[Path | None, output("file for all figures of these tests, Parquet")] = None,
    as_json: Json = False,
) -> None:
    """Compare versions: their training, and accuracy on one dataset."""
    with_pandas()
    from birthmark.data.common.durable import output as output_file
    from birthmark.training.reports import side_by_side

    stored = stored_registry(place.registry)
    if len(set(versions)) < 2:
        raise typer.BadParameter("expected two versions or more", param_hint="VERSION")
    if parquet is not None and dataset is None:
        raise typer.BadParameter("is for the tests on a --dataset", param_hint="--parquet")
    differs = side_by_side.differences(stored, versions)
    shown_values: dict[str, Any] = {"differences": json.loads(differs.to_json(orient="index"))}
    shown = [_side_by_side("What differs", differs)]
    if dataset is not None:
        with working("testing"):
            figures = side_by_side.figures(stored, versions, dataset, estimators)
        means = side_by_side.means(figures)
        shown_values["means"] = json.loads(means.reset_index().to_json(orient="records"))
        shown.append(_means("Means over the predicates of files", means))
        if parquet is not None:
            with output_file(parquet) as path:
                figures.to_parquet(path)
    if as_json:
        print_json(shown_values)
        return
    for number, each in enumerate(shown):
        if number:
            line("")
        show(each)


def _side_by_side(title: str, frame: DataFrame) -> Table:
    drawn = table("", *words(*frame.columns), title=title)
    for name, cells in frame.iterrows():
        drawn.add_row(str(name), *map(_cell, cells))
    return drawn


def _means(title: str, frame: DataFrame) -> Table:
    drawn = table("Model", "Version", *numbers("Correct", "TruePos", "FalsePos"), title=title)
    for row in frame.reset_index().to_dict("records"):
        figures = (row[column] for column in frame.columns)
        drawn.add_row(row["model"], row["version"], *map(percent, figures))
    return drawn


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if value is None or value != value:
        return "–"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
