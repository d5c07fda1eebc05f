"""``birthmark storage``: drives, servers and papers in the simulator."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from birthmark.commands import storage_tables as tables
from birthmark.exits import warn
from birthmark.options import Options, with_options
from birthmark.outputs import Json, folder, print_json
from birthmark.storage.settings import AttachedOptions, PaperOptions, ReplayOptions
from birthmark.storage.settings import Options as Asked
from birthmark.storage.what_if.settings import FitOptions, WhatIfOptions
from birthmark.terminal import items, line, paragraphs, show, working

app = typer.Typer(no_args_is_help=True, help="Simulate storage, and compare it with measurements.")


@app.command()
@with_options
def validate(
    trace: Annotated[Path, typer.Argument(help="measured requests; - is stdin")],
    asked: Annotated[Asked, Options()],
    as_json: Json = False,
) -> None:
    """Simulate a drive on measured requests, and compare response times."""
    from birthmark.storage.validate import validate as run

    found = run(trace, asked.drive)
    if as_json:
        print_json(found)
        return
    rows = {"all": found, "reads": found["reads"], "writes": found["writes"]}
    rows = {name: figures for name, figures in rows.items() if figures}
    show(tables.agreement(rows))
    show(tables.parts(rows))
    if "assumed" in found:
        line(f"Assumed of the drive: {found['assumed']}")


@app.command()
@with_options
def replay(
    trace: Annotated[Path, typer.Argument(help="trace of a block device; - is stdin")],
    asked: Annotated[ReplayOptions, Options()],
    as_json: Json = False,
) -> None:
    """Run a block replay: a block trace on a simulated drive."""
    from birthmark.storage.replay import replay as run

    found = run(trace, asked)
    if as_json:
        print_json(found)
        return
    names = ("all", "reads", "writes", "traced")
    rows = {"all": found} | {name: found[name] for name in names[1:] if found[name]}
    show(tables.responses(rows))
    show(tables.parts({"all": found}))
    line(
        f"{found['seconds']:,.3f} s, the drive busy for {100 * found['busy']:.1f} % of it;"
        f" at most {found['queue_most']:,} waited"
    )
    if found["out_of_order"]:
        line(f"{found['out_of_order']:,} came after later ones in the trace, and were taken so")
    if "assumed" in found:
        line(f"Assumed of the drive: {found['assumed']}")


@app.command()
@with_options
def attached(
    load: Annotated[str, typer.Argument(help="nfs, web, or a trace in the Auspex format")],
    asked: Annotated[AttachedOptions, Options()],
    as_json: Json = False,
) -> None:
    """Compare a file server with disks attached to the network."""
    from birthmark.storage.attached import compare

    with working("both organizations"):
        found = compare(load, asked)
    if as_json:
        print_json(found)
        return
    names = {"server_disk": "server", "net_disk": "network"}
    rows = {
        f"{names[organization]}: {kind}": own[key] | {"requests": own[key]["count"]}
        for organization, own in found.items()
        for kind, key in (("all", "response"), ("data", "data"), ("metadata", "metadata"))
        if own[key]["count"]
    }
    show(tables.responses(rows))
    parts = {names[key]: {"parts_ms": own["data_parts_ms"]} for key, own in found.items()}
    show(tables.parts(parts, "Where the time of data goes, ms"))
    for organization, own in found.items():
        line(
            f"{names[organization]}: {100 * own['hit_ratio']:.1f} % of blocks in a cache; busy:"
            f" file manager {100 * own['manager_busy']:.1f} %, disks' processors"
            f" {100 * own['processors_busy']:.1f} %, disks {100 * own['disks_busy']:.1f} %"
        )


@app.command()
@with_options
def paper(
    asked: Annotated[PaperOptions, Options(arguments=("paper",))],
    out: Annotated[Path | None, folder("folder for the page (Markdown) and its pictures")] = None,
    as_json: Json = False,
) -> None:
    """Run a storage paper's experiments, and check its claims."""
    from birthmark.storage.papers import page, run

    of = run.paper(asked.paper)
    with working(f"{asked.seeds} runs"):
        runs = run.measure(asked.paper, asked.seeds, asked.jobs)
        judged = run.judged(of, runs)
    if out is not None:
        run.write(of, judged, runs, out)
    if as_json:
        print_json(page.as_json(of, judged, runs))
        return
    line(of.title)
    items(of.assumptions)
    show(tables.claims(page.HEADINGS, page.rows(judged)))
    line(page.counted(judged))
    items(page.reasons(judged))


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
