"""``birthmark ingest``: traces into a dataset."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from birthmark.data.common.plurals import counted
from birthmark.data.generated import describe
from birthmark.exits import warn
from birthmark.outputs import Json, output
from birthmark.terminal import counting, line, numbers, show

if TYPE_CHECKING:  # help and the other commands do without them, and start sooner
    from birthmark.data.ingest.loss import Estimate
    from birthmark.data.ingest.summary import IngestSummary


def ingest(
    traces: Annotated[list[str], typer.Argument(help="trace files, oldest first; - is stdin")],
    out: Annotated[Path, output("dataset to write or add to")],
    as_json: Json = False,
) -> None:
    """Read captures or nfsdump text into a dataset.

    A dataset holds operations, files and names.
    """
    from birthmark.data.ingest.run import ingest as run

    with counting("operations") as progress:
        summary = run(traces, out, progress)
    warn(summary.warnings)
    if as_json:
        typer.echo(json.dumps(summary.to_json(), indent=2))
    else:
        _show(summary)


def _show(summary: IngestSummary) -> None:
    show(_table("procedure", summary.out, summary.procedures))
    if summary.compound_operations:
        show(_table("operation", "in compounds", summary.compound_operations))
    for each in _lines(summary):
        line(each)


def _table(what: str, title: str, tallies: dict[str, dict[str, int]]) -> Table:
    table = Table(what, *numbers("calls", "replies", "ok", "errors", "no reply"), title=title)
    for op, tally in sorted(tallies.items(), key=lambda item: -item[1]["calls"]):
        counts = [tally[name] for name in ("calls", "replies", "ok", "errors", "unanswered")]
        table.add_row(op, *(f"{count:,}" for count in counts))
    return table


def _loss(loss: Estimate, unread: str | None) -> str:
    """Return the estimated loss among the messages that could be read."""
    of = "the messages that could be read, estimated lost" if unread else "messages estimated lost"
    text = f"loss      {loss.fraction:.2%} of {of}"
    if loss.lost and loss.worst_period is not None and loss.worst_fraction is not None:
        worst = datetime.fromtimestamp(loss.worst_period / 1e6, UTC)
        text += f"; worst: {loss.worst_fraction:.2%} in the five minutes from {worst:%F %H:%M}"
    return text


def _again(summary: IngestSummary, partial: int) -> str:
    """Return the numbers of repeated messages and of partial ones."""
    again = (
        f"{counted(summary.retransmits, 'calls')}, {counted(summary.duplicate_replies, 'replies')}"
    )
    cut = summary.short
    if summary.captures:
        cut = min(cut, sum(each.get("cut_messages", 0) for each in summary.captures))
    line = f"again     {again}; {counted(cut, 'messages')} cut short"
    return f"{line}, {partial:,} damaged and read in part" if partial else line


def _lines(summary: IngestSummary) -> list[str]:
    out = " + ".join(
        counted(count, name.replace("_", " ")) for name, count in summary.records_out.items()
    )
    set_aside = sum(summary.records_set_aside.values())
    lines = [describe(summary.generated)] if summary.generated else []
    lines += [f"records   {summary.records_in:,} = {out or 0} + {set_aside:,} set aside"]
    for reason, count in summary.records_set_aside.items():
        lines.append(f"          set aside: {count:,} {reason}")
    if summary.not_run:
        skipped = ", ".join(f"{count:,} {op}" for op, count in summary.not_run.items())
        lines.append(f"not run   {skipped}")
    if summary.replies_without_call:
        orphans = ", ".join(f"{n:,} {kind}" for kind, n in summary.replies_without_call.items())
        lines.append(f"orphans   {orphans}")
    partial = sum(each.get("partial", 0) for each in summary.captures)
    if summary.retransmits or summary.duplicate_replies or summary.short or partial:
        lines.append(_again(summary, partial))
    if summary.loss:
        lines.append(_loss(summary.loss, summary.unread))
    if summary.period:
        first, last = (
            datetime.fromtimestamp(time / 1e6, UTC).isoformat(" ", "milliseconds")
            for time in summary.period
        )
        lines.append(f"period    {first} to {last}")
    rows = ", ".join(counted(count, table) for table, count in summary.rows.items() if count)
    lines.append(f"rows      {rows or 0}")
    if summary.others["servers"]:
        servers = counted(summary.others["servers"], "servers")
        of_them = counted(summary.others["rows"], "rows")
        lines.append(f"others    {servers} more than are kept apart, {of_them}")
    rate = summary.to_json()
    lines.append(
        f"rate      {rate['records_per_second'] or 0:,} records/s, "
        f"{(rate['bytes_per_second'] or 0) / 1e6:,.0f} MB/s, {summary.seconds:.1f} s"
    )
    return lines
