"""``birthmark ingest``: traces into a dataset."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from data.generated import describe

if TYPE_CHECKING:  # help and the other commands do without them, and start sooner
    from data.ingest_summary import IngestSummary
    from data.loss import Estimate


def ingest(
    traces: Annotated[
        list[str], typer.Argument(help="trace files, in the order of their time; - is stdin")
    ],
    out: Annotated[Path, typer.Option(help="directory of the dataset; made if need be")],
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
) -> None:
    """Read traces (nfsdump text, pcap, pcapng) into a dataset of operations, files and names."""
    from data.ingest import ingest as run

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[rows]:,} operations"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("", total=None, rows=0)
        summary = run(traces, out, lambda path, rows: bar.update(task, description=path, rows=rows))
    if as_json:
        print(json.dumps(summary.to_json(), indent=2))
    else:
        show(summary, Console())


def show(summary: IngestSummary, console: Console) -> None:
    """Print what an ingest did."""
    console.print(_table("procedure", summary.out, summary.procedures))
    if summary.compound_operations:
        console.print(_table("operation", "in compounds", summary.compound_operations))
    for line in _lines(summary):
        console.print(line, highlight=False, soft_wrap=True)


def _table(what: str, title: str, tallies: dict[str, dict[str, int]]) -> Table:
    table = Table(what, title=title)
    for heading in ("calls", "replies", "ok", "errors", "no reply"):
        table.add_column(heading, justify="right")
    for op, tally in sorted(tallies.items(), key=lambda item: -item[1]["calls"]):
        numbers = [tally[name] for name in ("calls", "replies", "ok", "errors", "unanswered")]
        table.add_row(op, *(f"{number:,}" for number in numbers))
    return table


def _loss(loss: Estimate) -> str:
    """Return what is said of messages lost."""
    line = f"loss      {loss.fraction:.2%} of messages estimated lost"
    if loss.lost and loss.worst_period is not None and loss.worst_fraction is not None:
        worst = datetime.fromtimestamp(loss.worst_period / 1e6, UTC)
        line += f"; worst: {loss.worst_fraction:.2%} in the five minutes from {worst:%F %H:%M}"
    return line


def _lines(summary: IngestSummary) -> list[str]:
    out = " + ".join(
        f"{count:,} {name.replace('_', ' ')}" for name, count in summary.records_out.items()
    )
    aside = sum(summary.records_set_aside.values())
    lines = [describe(summary.generated)] if summary.generated else []
    lines += [f"records   {summary.records_in:,} = {out or 0} + {aside:,} set aside"]
    for reason, count in summary.records_set_aside.items():
        lines.append(f"          set aside: {count:,} {reason}")
    if summary.not_run:
        skipped = ", ".join(f"{count:,} {op}" for op, count in summary.not_run.items())
        lines.append(f"not run   {skipped}")
    if summary.replies_without_call:
        orphans = ", ".join(f"{n:,} {kind}" for kind, n in summary.replies_without_call.items())
        lines.append(f"orphans   {orphans}")
    if summary.retransmits or summary.duplicate_replies or summary.short:
        lines.append(
            f"again     {summary.retransmits:,} calls, {summary.duplicate_replies:,} replies; "
            f"{summary.short:,} messages cut short"
        )
    if summary.loss:
        lines.append(_loss(summary.loss))
    if summary.period:
        first, last = (
            datetime.fromtimestamp(time / 1e6, UTC).isoformat(" ", "milliseconds")
            for time in summary.period
        )
        lines.append(f"period    {first} to {last}")
    rows = ", ".join(f"{count:,} {table}" for table, count in summary.rows.items() if count)
    lines.append(f"rows      {rows or 0}")
    if summary.others["servers"]:
        servers, of_them = summary.others["servers"], summary.others["rows"]
        lines.append(f"others    {servers:,} servers more than are kept apart, {of_them:,} rows")
    rate = summary.to_json()
    lines.append(
        f"rate      {rate['records_per_second'] or 0:,} records/s, "
        f"{(rate['bytes_per_second'] or 0) / 1e6:,.0f} MB/s, {summary.seconds:.1f} s"
    )
    return lines
