"""A whole trace, counted as in `birthmark scan`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from birthmark.data.generated import Mark, distinct
from birthmark.data.scan.sources import Source
from birthmark.data.settings import Counting
from birthmark.data.top.feeds import Lost
from birthmark.data.top.load import LiveCounts
from birthmark.data.traces.inputs import reject_duplicates


@dataclass
class Found:
    """The contents of traces besides operations."""

    lost: Lost = field(default_factory=Lost)
    generated: list[Mark] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def read(
    traces: Sequence[str],
    only: Counting | None = None,
    progress: Callable[[str, int], None] | None = None,
) -> tuple[LiveCounts, Found]:
    """Count the operations of traces, read one after the other.

    Args:
        traces: as `birthmark.data.scan.count.scan` takes them.
        only: whose operations are counted.
        progress: called with a trace's path and the operations counted so far.

    Raises:
        OSError: a trace cannot be read.
        ValueError: a file is no trace, or is named twice.
    """
    reject_duplicates(traces)
    load, found = LiveCounts(only), Found()
    for path in traces:
        source = Source(path, load.columns)
        for batch in source:
            load.update([batch])
            if progress:
                progress(path, load.operations)
        found.lost.add(source.counts or {})
        found.generated = distinct([*found.generated, *source.generated])
        found.warnings += source.warnings()
    load.finish()
    return load, found
