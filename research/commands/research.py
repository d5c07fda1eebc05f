"""``birthmark research``: simulations behind published claims; traces generated and replayed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from birthmark.options import Options, with_options
from birthmark.outputs import Json, folder, print_json
from birthmark.research.commands import replay, tables
from birthmark.research.commands.workload import workload
from birthmark.research.settings import AttachedOptions, PaperOptions, ReplayOptions
from birthmark.research.settings import Options as Target
from birthmark.terminal import items, line, show, working

app = typer.Typer(no_args_is_help=True, help="Check papers' claims; generate and replay traces.")


@app.command()
@with_options
def validate(
    trace: Annotated[Path, typer.Argument(help="measured requests; - is stdin")],
    asked: Annotated[Target, Options()],
    as_json: Json = False,
) -> None:
    """Compare a drive's simulated and measured response times."""
    from birthmark.research.validate import validate as run

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


@app.command("block-replay")
@with_options
def block_replay(
    trace: Annotated[Path, typer.Argument(help="trace of a block device; - is stdin")],
    asked: Annotated[ReplayOptions, Options()],
    as_json: Json = False,
) -> None:
    """Run a block replay: a block trace on a simulated drive."""
    from birthmark.research.block_replay import replay as run

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
    from birthmark.research.attached import compare

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
    from birthmark.research.papers import page, run

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


app.command()(workload)
app.add_typer(replay.app, name="replay")
