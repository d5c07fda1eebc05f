"""Generated workloads at other rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from birthmark.data.traces.reader import marks_of
from birthmark.research.workloads import Workload
from birthmark.research.workloads.output import write


def at_rate(traces: Sequence[Path], rate: float, into: Path) -> list[Path]:
    """Regenerate the workloads of traces at another rate into a directory.

    Raises ``ValueError`` for a trace that does not record its workload and duration.
    """
    workloads = [_workload(trace, rate) for trace in traces]
    into.mkdir(parents=True, exist_ok=True)
    return [_made(workload, into) for workload in workloads]


def _workload(trace: Path, rate: float) -> Workload:
    marks = marks_of(trace) if trace.is_file() else []
    if len(marks) != 1 or not {"start", "days"} <= marks[0].keys():
        raise ValueError(
            f"{trace}: expected a file of birthmark research workload, Parquet or text, to"
            f" regenerate it at the rate {rate:g}"
        )
    return replace(Workload(**marks[0]), rate=rate)


def _made(workload: Workload, into: Path) -> Path:
    """Write a workload, unless it is there: the same workload has the same operations."""
    own = (workload.name, f"seed{workload.seed}", workload.start, f"{workload.days:g}")
    path = into / f"{'-'.join(own)}-rate{workload.rate:g}.parquet"
    if not path.exists():
        write(workload, path)
    return path
