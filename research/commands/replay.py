"""``birthmark research replay``: sub-snapshots of a trace, and replay on them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from birthmark.data.common.plurals import counted
from birthmark.data.generated import describe
from birthmark.layout_hint.settings import Replay
from birthmark.options import Options, with_options
from birthmark.outputs import Json, output
from birthmark.terminal import counting, line, numbers, show

if TYPE_CHECKING:  # help and the other commands do without them, and start sooner
    from birthmark.layout_hint.rewrite import BuildSummary
    from birthmark.research.replay import RunSummary

app = typer.Typer(no_args_is_help=True, help="Make a benchmark from a trace, and run it.")


@app.command()
@with_options
def build(
    traces: Annotated[
        list[str],
        typer.Argument(help="traces and datasets, oldest first; - is stdin"),
    ],
    out: Annotated[Path, output("directory to make")],
    asked: Annotated[Replay, Options()],
    first: Annotated[
        str | None, typer.Option("--from", help="only calls from this time on, UTC")
    ] = None,
    last: Annotated[
        str | None, typer.Option("--to", help="only calls before this time, UTC")
    ] = None,
    as_json: Json = False,
) -> None:
    """Find the files that a trace needs, and rewrite the trace for replay."""
    from birthmark.layout_hint.rewrite import build as build_replay

    bounds = (_micros("--from", first), _micros("--to", last))
    with counting("calls") as progress:
        summary = build_replay(traces, out, *bounds, asked.unnamed, partial(progress, ""))
    if as_json:
        typer.echo(json.dumps(summary.to_json(), indent=2))
    else:
        _print(_build_lines(summary, out))


@app.command()
def run(
    build: Annotated[Path, typer.Argument(help="directory made by research replay build")],
    root: Annotated[Path, output("directory to work in: empty or new")],
    flush: Annotated[
        bool, typer.Option("--flush", help="wait for the disk after each write and commit")
    ] = False,
    results: Annotated[
        Path | None, output("file for results; default: results.json in the build")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make the files, perform the operations, and compare their results."""
    from birthmark.research.replay import run as run_replay

    with counting("operations") as progress:
        summary = run_replay(build, root, flush, results, partial(progress, ""))
    if as_json:
        typer.echo(json.dumps(summary.to_json(), indent=2))
        return
    if summary.differences:
        show(_differences(summary))
    _print(_run_lines(summary))


def _micros(option: str, text: str | None) -> int | None:
    """Read a time: seconds since the epoch, or ISO 8601, in UTC unless it has another zone."""
    if text is None:
        return None
    try:
        return round(float(text) * 1_000_000)
    except ValueError:
        pass
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"expected a time such as 2026-11-21T05:38:00 or seconds since 1970, got {text!r}",
            param_hint=option,
        ) from None
    found = found if found.tzinfo else found.replace(tzinfo=UTC)
    return round(found.timestamp() * 1_000_000)


def _print(lines: list[str]) -> None:
    for each in lines:
        line(each)


def _counted(label: str, counts: dict[str, int]) -> list[str]:
    return [f"{label:<12}{number:,} {what}" for what, number in counts.items()]


def _build_lines(summary: BuildSummary, out: Path) -> list[str]:
    left_out = sum(summary.left_out.values())
    inserted = {
        f"{op} ({why})": number
        for why, ops in summary.inserted.items()
        for op, number in ops.items()
    }
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in summary.manifest.items())
    return [
        *([describe(summary.generated)] if summary.generated else []),
        f"calls       {summary.calls:,} = {counted(summary.operations, 'operations')} + "
        f"{left_out:,} left out",
        *_counted("  left out", summary.left_out),
        f"inserted    {sum(inserted.values()):,}",
        *_counted("  inserted", inserted),
        f"manifest    {kinds or 'nothing'}; {counted(summary.names, 'names')}, "
        f"{counted(summary.bytes, 'bytes')}",
        f"unnamed     {counted(summary.unnamed_files, 'files')} ({summary.unnamed}), "
        f"{counted(summary.unnamed_directories, 'directories')} (invent)",
        f"order       {summary.reordered:,} taken before one answered earlier",
        f"superuser   {summary.as_superuser:,} that mode bits do not explain",
        f"written     {out}",
    ]


def _run_lines(summary: RunSummary) -> list[str]:
    rate = summary.to_json()["operations_per_second"] or 0
    checks = ", ".join(
        f"{what} {counts['alike']:,} of {counts['compared']:,}"
        for what, counts in summary.checks.items()
    )
    lines = [
        f"operations  {summary.operations:,} = {summary.same:,} as in the trace + "
        f"{summary.different:,} otherwise + {summary.not_compared:,} not compared",
        f"share       {summary.share:.2%} of those compared",
        f"inserted    {summary.inserted:,} ({summary.inserted_failed:,} failed)",
        f"also alike  {checks}",
        f"lenient     {summary.lenient:,} that only NFS permits, done as the superuser",
        f"rate        {rate:,} operations/s, {summary.seconds:.1f} s; "
        f"in the trace {summary.trace_seconds:.1f} s",
    ]
    if not summary.superuser:
        lines.append("            not run by the superuser: owners are not applied")
    return lines


def _differences(summary: RunSummary) -> Table:
    words = ("operation", "in the trace", "here", "why")
    table = Table(*words, *numbers("count", "first"), title="What ended otherwise")
    for each in summary.differences:
        table.add_row(
            each.op, each.expected, each.got, each.reason, f"{each.count:,}", str(each.first)
        )
    return table
