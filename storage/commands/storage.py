"""``birthmark storage``: servers fitted to their traffic, and variants of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from birthmark.exits import warn
from birthmark.options import Options, with_options
from birthmark.outputs import Json, folder, print_json
from birthmark.storage.commands import tables
from birthmark.storage.what_if.settings import FitOptions, WhatIfOptions
from birthmark.terminal import items, line, paragraphs, show, working

app = typer.Typer(
    no_args_is_help=True, help="Fit a server to its traffic, and rank variants of it."
)


Variants = Annotated[
    Path | None, typer.Option(help="TOML file of the server's known values, and variants")
]
Address = Annotated[
    str | None, typer.Option(help="address of the server, if the dataset has several")
]


@app.command()
@with_options
def fit(
    dataset: Annotated[Path, typer.Argument(help="dataset of captured traffic, with replies")],
    asked: Annotated[FitOptions, Options()],
    config: Variants = None,
    server: Address = None,
    as_json: Json = False,
) -> None:
    """Fit a server to half of its traffic, and test it on the other."""
    from birthmark.data.traces.unread import of_dataset
    from birthmark.storage.what_if import report
    from birthmark.storage.what_if.calls import survey
    from birthmark.storage.what_if.fit import fit as run
    from birthmark.storage.what_if.variants import questions

    known = questions(config, ()).known()
    warn(of_dataset(dataset))
    with working("fit"):
        found = run(survey(dataset, server), known, asked)
    if as_json:
        print_json(report.fit_json(found))
        return
    _show_fit(found)


@app.command("what-if")
@with_options
def what_if(
    dataset: Annotated[Path, typer.Argument(help="dataset of captured traffic, with replies")],
    asked: Annotated[WhatIfOptions, Options()],
    config: Variants = None,
    try_: Annotated[
        list[str] | None,
        typer.Option("--try", help="variant, as memory=64G,threads=16; may be repeated"),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="compiled image or registry of hints, for layout_hint")
    ] = None,
    server: Address = None,
    out: Annotated[Path | None, folder("folder for the report (HTML, JSON and Parquet)")] = None,
    as_json: Json = False,
) -> None:
    """Compare and rank variants of a server on its own traffic."""
    from birthmark.data.traces.unread import of_dataset
    from birthmark.storage.what_if import report
    from birthmark.storage.what_if.calls import survey
    from birthmark.storage.what_if.compare import compare
    from birthmark.storage.what_if.fit import fit as run
    from birthmark.storage.what_if.variants import questions

    asks = questions(config, try_ or (), model)
    if not asks.variants:
        raise typer.BadParameter("expected a variant: [variants.NAME] in --config, or --try")
    warn(of_dataset(dataset))
    with working("fit") as step:
        found = run(survey(dataset, server), asks.known(), asked)
        step("compare")
        compared = compare(found, asks.variants, asked, asks.model)
    if as_json:
        print_json(report.comparison_json(compared))
    else:
        _show_variants(compared)
        _show_fit(found)
    if out is not None:
        report.write(compared, out)
        line(f"Written: {', '.join(str(out / name) for name in report.FILES)}", stderr=as_json)


def _show_variants(compared: Any) -> None:
    """Print the verdict, and a table of the variants."""
    from birthmark.storage.what_if import report

    paragraphs(report.verdict(compared).lines())
    rows = report.variant_rows(compared)
    wrapped = ("than now", "busiest")
    show(tables.rows("Variants, best first", report.VARIANT_HEADINGS, rows, wrapped))
    items(report.conclusion(compared))


def _show_fit(found: Any) -> None:
    """Print the errors of a fitted server, then its values."""
    from birthmark.storage.what_if import report

    of = found.survey
    line(f"{of.server}: {of.rows:,} calls, {of.rows - of.replied:,} without a reply, {of.period()}")
    if marks := report.fit_json(found)["generated"]:
        line(f"Not real: {marks}")
    errors = report.error_rows(found)
    show(
        tables.rows(
            "Predicted for the half that it was not fitted to", report.ERROR_HEADINGS, errors
        )
    )
    line(report.steadiness(found))
    show(tables.rows("Fitted", report.UNKNOWN_HEADINGS, report.unknown_rows(found)))
    items(report.unknown_reasons(found))
    line(f"Now: {report.as_it_is(found)}")
