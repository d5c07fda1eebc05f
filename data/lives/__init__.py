"""From operations to file lives and name lives.

A server's file system is hidden behind its traffic; the active part of it is reconstructed from
what the calls ask and the replies show (thesis 3.5.1). Only a successful operation whose reply was
seen changes anything, with two exceptions: "no such entry" for a name that was known ends the
name, and "stale handle" the file. What was not seen is null.

- A file is born by create, mkdir, symlink or mknod. An UNCHECKED create (the only one that NFS
  version 2 has) may open a file that was there. It did if the name or the handle was known, or if
  the reply shows a file that is not new: it holds data or has several links; its access or
  modification time is more than two seconds older than its change time and was not set by the
  call; or its directory, which a new entry modifies, was left as it was for longer than that.
- In NFS version 4 a file is born by an open that creates. It made the file if the server says that
  nothing else changed the directory meanwhile, and that it changed; it did not if the directory is
  unchanged and the mode was not set; else it is judged as a create. A walk by names within a
  compound leads through the directories that had these names when they were seen last.
- A name is born by these and by link and rename. Names that only a lookup or a readdirplus showed
  were not seen to be born.
- A name ends by remove, rmdir, by being renamed away, or by being renamed over. A rename between
  two names of one file does nothing (RFC 1813, 3.3.14).
- A file dies with its last name, by its ``nlink`` and the names made and removed since. A lock
  file's inode and its two names live for different times (thesis 6.3.5).
- An end that can only be inferred is not a death seen. The name or handle is gone when the server
  says so ("no such entry", "stale handle"), when another file has its name, when a file with one
  link has another name, when its handle is born again or has changed its type. ``observed_until``
  is then when it was last seen. It is so too for a file that outlasts the trace though its last
  known name is gone, and for a name whose directory is gone.
- Loss may have touched a life (``loss_nearby``) if a call that named the file, by its handle or by
  a directory and a name, was not answered; or if a client used the file within 50 ms of a time in
  which calls of that client to that server were lost, or in which the answer to a call was lost
  that would have told of a file (lookup and what makes files). When calls were lost is told by the
  numbers of those that were not; where the client does not count its calls, by replies without a
  call and by holes in its TCP stream. Where that is not told at all, as in a table of operations,
  it is null, unless it is true by calls that were not answered. Rows wait for a minute of the
  trace's time, until all is known. A message that was cut was not lost: ``short`` tells of it.
- What a file showed until it was five seconds old, or dead before that (``early_…``), is all
  that can be known of it then: no later operation changes it. What was done by a handle counts only
  if it was known by then that the handle is the file's.
- Replies may overtake each other (thesis 3.5.5): a call that was sent before the reply to a
  removal does not revive what was removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from birthmark.data.schema import FILES, NAMES
from birthmark_native import LivesBuilder

__all__ = ["build", "tables"]

MAX_LIVE = 200_000
"""How many lives are kept in memory at once, at some 360 bytes each."""


def build(
    operations: Iterable[pa.RecordBatch], max_live: int = MAX_LIVE
) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
    """Yield file lives and name lives as they end, then those that outlast the trace.

    ``operations`` are batches of the operations table, in about the order of the replies. Each
    pair holds rows of `data.schema.FILES` and of `data.schema.NAMES`; one of the two may be empty.
    About ``max_live`` lives are kept in memory, at some 360 bytes each; those idle
    longest wait in a temporary file until they are named again, which changes no row. Raises
    ``ValueError`` if a column is missing or of another type, ``OSError`` if the temporary file
    cannot be used.
    """
    builder = LivesBuilder(max_live)
    for batch in operations:
        builder.update(batch)
        yield from _taken(builder)
    builder.finish()
    while pairs := list(_taken(builder)):
        yield from pairs


def tables(
    operations: Iterable[pa.RecordBatch], max_live: int = MAX_LIVE
) -> tuple[pa.Table, pa.Table]:
    """Return the files table and the names table of a whole trace, in memory (see `build`)."""
    pairs = list(build(operations, max_live))
    files = pa.Table.from_batches([files for files, _ in pairs], schema=FILES)
    names = pa.Table.from_batches([names for _, names in pairs], schema=NAMES)
    return files, names


def _taken(builder: LivesBuilder) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
    """Yield what has ended since the last time, if anything has, with the schemas' docs."""
    files = pa.RecordBatch.from_arrays(builder.take_files().columns, schema=FILES)
    names = pa.RecordBatch.from_arrays(builder.take_names().columns, schema=NAMES)
    if files.num_rows or names.num_rows:
        yield files, names
