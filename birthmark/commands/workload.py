"""``birthmark workload``: generated traces, calibrated to the thesis's workloads."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, SpinnerColumn, TimeElapsedColumn

from birthmark.data.common.plurals import counted
from birthmark.outputs import named
from birthmark.terminal import field, line, progress


class Name(StrEnum):
    """A workload."""

    campus = "campus"
    deas03 = "deas03"
    eecs03 = "eecs03"


class Format(StrEnum):
    """What a workload is written as."""

    operations = "operations"
    text = "text"
    pcap = "pcap"


def workload(
    name: Annotated[Name, typer.Argument(help="the workload")],
    out: Annotated[Path, typer.Option(callback=named, help="the file to write")],
    seed: Annotated[int, typer.Option(help="the same seed gives the same trace")],
    start: Annotated[
        str | None, typer.Option(help="the first day, YYYY-MM-DD  [default: the thesis's Monday]")
    ] = None,
    days: Annotated[float, typer.Option(help="the length of the trace")] = 1.0,
    rate: Annotated[float, typer.Option(help="part of the thesis's load, and of its users")] = 1.0,
    form: Annotated[
        Format | None,
        typer.Option("--format", help="what to write  [default: by the suffix of the file]"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
) -> None:
    """Generate a trace that is like one of the thesis's (it is marked as generated)."""
    from birthmark.data.workloads import Workload
    from birthmark.data.workloads.output import write
    from birthmark.data.workloads.profile import read_profile

    wanted = Workload(name.value, seed, start or read_profile(name.value).start, days, rate)
    columns = (
        SpinnerColumn(),
        BarColumn(),
        field("{task.fields[rows]:,} operations"),
        TimeElapsedColumn(),
    )
    with progress(*columns) as bar:
        task = bar.add_task("", total=1.0, rows=0)
        written = write(
            wanted, out, form, lambda part, rows: bar.update(task, completed=part, rows=rows)
        )
    result = written.to_json()
    if as_json:
        typer.echo(json.dumps(result, indent=2))
        return
    line(
        f"{out}: generated: {name.value}, seed {seed}: "
        f"{counted(written.operations, 'operations')}, {written.bytes:,} bytes, "
        f"{result['operations_per_second']:,} operations/s"
    )
