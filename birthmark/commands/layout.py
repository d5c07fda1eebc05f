"""``birthmark layout``: what hints do to the layout on disk (thesis chapter 7)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TaskID,
    TimeElapsedColumn,
)

from birthmark.commands.serve import DEFAULTS, PointOption, settings_of
from birthmark.outputs import named
from birthmark.terminal import field, line, progress, show


class Geometry(StrEnum):
    """A file system's sizes and policies."""

    freebsd48 = "freebsd48"
    freebsd14 = "freebsd14"


class Mode(StrEnum):
    """Whether the region is kept for what is hot."""

    reserved = "reserved"
    data = "data"
    preferred = "preferred"
    all = "all"


class State(StrEnum):
    """What file systems are like before a day is replayed."""

    fresh = "fresh"
    aged = "aged"
    both = "both"


class Pace(StrEnum):
    """When the next operation is made."""

    fast = "fast"
    trace = "trace"


def layout(
    traces: Annotated[
        list[Path],
        typer.Argument(metavar="TRACE", help="traces and datasets; or directories of replay build"),
    ],
    model: Annotated[str, typer.Option(help="compiled image, or registry with a model")],
    point: PointOption = DEFAULTS.point,
    region: Annotated[str, typer.Option(help="size of the region, as 4M")] = "4M",
    region_start: Annotated[
        str, typer.Option(help="its first byte; tables-end or middle: half-way in a group")
    ] = "0",
    policies: Annotated[
        str, typer.Option(help="with commas, as hotdir,hotname,hotdir+hotname; all: the usual ones")
    ] = "all",
    mode: Annotated[Mode, typer.Option(help="whether others are kept out of the region")] = (
        Mode.all
    ),
    state: Annotated[State, typer.Option(help="file systems, new or aged")] = State.fresh,
    nvram: Annotated[bool, typer.Option(help="also with the region in memory")] = True,
    seeds: Annotated[int, typer.Option(min=1, help="runs of each policy")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="the first of them")] = 1,
    days: Annotated[
        str | None, typer.Option(help="YYYY-MM-DD, with commas or A..B  [default: all]")
    ] = None,
    first: Annotated[str, typer.Option("--from", help="time of day, UTC")] = "10:00",
    last: Annotated[str, typer.Option("--to", help="time of day, UTC")] = "16:00",
    builds: Annotated[
        Path | None, typer.Option(help="directory that keeps the sub-snapshots")
    ] = None,
    warmup: Annotated[
        str | None, typer.Option(help="not counted, as 1h  [default: a sixth, at most 1h]")
    ] = None,
    pace: Annotated[Pace, typer.Option(help="as fast as the disk, or as in the trace")] = Pace.fast,
    cache: Annotated[str, typer.Option(help="size of the buffer cache")] = "800M",
    geometry: Annotated[Geometry, typer.Option(help="the file system")] = Geometry.freebsd48,
    partition: Annotated[str, typer.Option(help="its size")] = "40G",
    disk: Annotated[
        str, typer.Option(help="a drive's name, or file  [default: like the thesis's]")
    ] = "",
    jobs: Annotated[int, typer.Option(min=1, help="runs at a time")] = 2,
    out: Annotated[
        Path | None, typer.Option(callback=named, help="directory for figures and pictures")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
) -> None:
    """Replay days under policies of layout, and compare what falls into the region."""
    from birthmark.layout_hint import report, results
    from birthmark.layout_hint.options import Options
    from birthmark.layout_hint.study import study

    asked = Options(
        region=region,
        region_start=region_start,
        policies=policies,
        mode=mode.value,
        state=state.value,
        nvram=nvram,
        seeds=seeds,
        seed=seed,
        days=days,
        first=first,
        last=last,
        warmup=warmup,
        pace=pace.value,
        cache=cache,
        geometry=geometry.value,
        partition=partition,
        disk=disk,
        point=settings_of(point=point).point,
    )
    if out:
        results.check(out)
    with _bars() as bars:
        comparison = study(traces, model, asked, builds, jobs, bars)
    written = results.write(comparison, out) if out else []
    if as_json:
        typer.echo(json.dumps(report.to_json(comparison), indent=2))
        return
    for table in report.tables(comparison):
        show(table)
    for path in written:
        line(f"written     {path}")


@contextmanager
def _bars() -> Iterator[Callable[[str, int, int], None]]:
    """Yield what shows a bar for each thing that is being done."""
    columns = (field("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with progress(*columns) as bar:
        tasks: dict[str, TaskID] = {}

        def tell(what: str, done: int, of: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=of)
            bar.update(tasks[what], completed=done, total=of)

        yield tell
