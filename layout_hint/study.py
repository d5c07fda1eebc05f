"""A comparison from traces and a model."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from birthmark.layout_hint.comparison import options as read
from birthmark.layout_hint.comparison.compare import compare
from birthmark.layout_hint.comparison.figures import Comparison
from birthmark.layout_hint.comparison.grid import Cell
from birthmark.layout_hint.disks import read_disk
from birthmark.layout_hint.replay.days import Day, is_build, make_days
from birthmark.layout_hint.replay.model_image import read_image
from birthmark.layout_hint.replay.rates import at_rate
from birthmark.layout_hint.replay.region import geometry
from birthmark.layout_hint.settings import Options
from birthmark.predictor.allocation.verdicts import RegionCapacity

Progress = Callable[[str, int, int], None]
"""Called with the kind of work, the number done, and the total."""

WARMUP, PART = 3600.0, 6
"""The thesis warms the cache for one hour of six; shorter sections, for a sixth of them."""


def study(
    traces: Sequence[Path],
    model: Path | str,
    options: Options,
    builds: Path | None = None,
    progress: Progress = lambda what, done, of: None,
) -> Comparison:
    """Simulate days under layout policies, and compare them.

    Args:
        traces: traces and datasets, for which sub-snapshots are built; or only builds, each a day.
        model: a compiled image, or a registry: a directory, or the URI of an object store.
        options: the options of the comparison.
        builds: folder that keeps the sub-snapshots; None: they are temporary.
        progress: receives the progress of ``sub-snapshots`` and then of ``runs``.

    Raises:
        OSError: a file cannot be read or written.
        ValueError: an input is invalid.
    """
    settings, plan = read.settings(options), read.plan(options)
    disk = read_disk(options.disk, settings.partition)
    fsize = geometry(settings.geometry, settings.partition).fsize
    image = read_image(
        model, RegionCapacity.of(settings.region.fragments * fsize, fsize), options.point
    )
    folder = nullcontext(builds) if builds else TemporaryDirectory(prefix="birthmark-layout-")
    with folder as into:
        days = _days(traces, options, Path(into), partial(progress, "sub-snapshots"))
        if not options.warmup:
            settings = dataclasses.replace(settings, warmup=_warmup(days))
        return compare(
            _title(traces, days), days, image, disk, settings, plan, options.jobs,
            partial(progress, "runs"),
        )  # fmt: skip


def study_grid(
    traces: Sequence[Path],
    model: Path | str,
    cells: Sequence[Cell],
    builds: Path | None = None,
    progress: Progress = lambda what, done, of: None,
) -> list[tuple[Cell, Comparison]]:
    """Compare under each combination of a grid, as `study` does.

    Sub-snapshots are built once, or once for each rate of the workloads.
    """
    folder = nullcontext(builds) if builds else TemporaryDirectory(prefix="birthmark-layout-")
    found = []
    with folder as into:
        made = None if all(is_build(trace) for trace in traces) else Path(into)
        for cell in cells:

            def tell(what: str, done: int, of: int, name: str = cell.name) -> None:
                progress(f"{what}, {name}" if what == "runs" else what, done, of)

            own, place = traces, made
            if cell.rate is not None:
                place = Path(into) / f"rate={cell.rate:g}"
                own = at_rate(traces, cell.rate, place)
            found.append((cell, study(own, model, cell.options, place, tell)))
    return found


def _days(
    traces: Sequence[Path], options: Options, into: Path, progress: Callable[[int, int], None]
) -> list[Day]:
    hours, dates = read.hours(options), read.dates(options)
    if all(is_build(trace) for trace in traces):
        return [Day.of(trace) for trace in traces]
    for trace in traces:
        if is_build(trace):
            raise ValueError(f"{trace}: expected a trace like the others, found a build")
        if str(trace) == "-":
            raise ValueError("-: expected a file: a trace is read once for every day")
    return make_days(traces, into, hours, dates, options.jobs, progress)


def _warmup(days: Sequence[Day]) -> float:
    return min(WARMUP, round(min(day.seconds for day in days) / PART))


def _title(traces: Sequence[Path], days: Sequence[Day]) -> str:
    """Return the workload's name; for a directory or file of traces, its name."""
    generated = {str(mark["name"]).upper() for day in days for mark in day.generated}
    names = generated or {trace.resolve().name for trace in traces}
    return ", ".join(sorted(names))
