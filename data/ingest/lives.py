"""The steps between the chunks of a trace and lives, which all readers of traces share.

An ingest, its parallel form and a follower differ in what gives the chunks, in where rows go, and
in when they end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa

from birthmark.data.traces.reader import Chunk
from birthmark_native import LiveHistory, LivesBuilder

Lives = LivesBuilder | LiveHistory
Rows = list[tuple[str, pa.RecordBatch]]
"""Record batches, with the names of their tables."""

OnOperations = Callable[[pa.RecordBatch], None]


def update(lives: Lives, chunk: Chunk, on_operations: OnOperations | None = None) -> None:
    """Pass gaps and operations to the lives, and operations to who else needs them at once."""
    for gaps in chunk.gaps:
        lives.update_loss(gaps)
    for batch in chunk.operations:
        lives.update(batch)
        if on_operations:
            on_operations(batch)


def take_finished(lives: Lives) -> Rows:
    """Return the lives that have ended since the last call."""
    ended = [("files", lives.take_files()), ("names", lives.take_names())]
    return [(table, batch) for table, batch in ended if batch.num_rows]


def take_rest(lives: Lives) -> Iterator[Rows]:
    """End the lives, since their trace has ended, and yield those that remain."""
    lives.finish()
    while rest := take_finished(lives):
        yield rest
