"""``birthmark research workload``: generated traces that imitate the thesis's workloads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, SpinnerColumn, TimeElapsedColumn

from birthmark.data.common.plurals import counted
from birthmark.options import Options, with_options
from birthmark.outputs import Json, output
from birthmark.research.settings import Generating
from birthmark.terminal import field, line, progress


@with_options
def workload(
    out: Annotated[Path, output("file to write")],
    asked: Annotated[Generating, Options(arguments=("name",))],
    as_json: Json = False,
) -> None:
    """Generate a trace that imitates one of the thesis's.

    It is marked as generated.
    """
    from birthmark.research.workloads import Workload
    from birthmark.research.workloads.output import write
    from birthmark.research.workloads.profile import read_profile

    start = asked.start or read_profile(asked.name).start
    workload_spec = Workload(asked.name, asked.seed, start, asked.days, asked.rate)
    columns = (
        SpinnerColumn(),
        BarColumn(),
        field("{task.fields[rows]:,} operations"),
        TimeElapsedColumn(),
    )
    with progress(*columns) as bar:
        task = bar.add_task("", total=1.0, rows=0)
        written = write(
            workload_spec,
            out,
            asked.format,
            lambda part, rows: bar.update(task, completed=part, rows=rows),
        )
    result = written.to_json()
    if as_json:
        typer.echo(json.dumps(result, indent=2))
        return
    line(
        f"{out}: generated: {asked.name}, seed {asked.seed}: "
        f"{counted(written.operations, 'operations')}, {written.bytes:,} bytes, "
        f"{result['operations_per_second']:,} operations/s"
    )
