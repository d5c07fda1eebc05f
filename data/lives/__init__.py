"""From operations to file lives and name lives.

A server's file system is hidden behind its traffic; its active part is reconstructed from calls and
replies (thesis 3.5.1). Only a successful operation whose reply was seen changes anything, with two
exceptions: "no such entry" for a known name ends the name, and "stale handle" the file. Unseen
values are null.

- A file is born by create, mkdir, symlink or mknod. An UNCHECKED create (the only one that NFS
  version 2 has) may open a file that was there. It did if the name or the handle was known, or if
  the reply shows a file that is not new: it holds data or has several links; its access or
  modification time is more than two seconds older than its change time and was not set by the
  call; or its directory, which a new entry modifies, was left as it was for longer than that.
- In NFS version 4 a file is born by an open that creates. The open made the file if the server
  reports that the directory changed and that nothing else changed it meanwhile. It did not if the
  directory is unchanged and the mode was not set; otherwise the rules of a create apply. A walk by
  names within a compound follows the directories that had these names when they were last seen.
- With pNFS, reads and writes by a handle that a layout named count for the file that has the
  layout, whichever data server is asked, until the file ends or a layout names the handle for
  another. A write to several mirrors counts once. A data server's attributes are not the file's.
- A name is born by these and by link and rename. Names that only a lookup or a readdirplus showed
  were not seen to be born.
- A name ends by remove, rmdir, by being renamed away, or by being renamed over. A rename between
  two names of one file does nothing (RFC 1813, 3.3.14).
- A file dies with its last name, according to its ``nlink`` and the names made and removed since. A
  lock file's inode and its two names live for different times (thesis 6.3.5).
- An inferred end is not a seen death. The name or handle is gone when the server says so ("no such
  entry", "stale handle"), when another file has its name, when a file with one link has another
  name, or when its handle is born again or has changed its type. ``observed_until`` is then when it
  was last seen. The same holds for a file that outlasts the trace although its last known name is
  gone, and for a name whose directory is gone.
- Loss may have touched a life (``loss_nearby``) if a call that named the file, by its handle or by
  a directory and a name, was not answered. It also may if a client used the file within 50 ms of a
  gap, in which calls of that client to that server were lost, or the reply to a call that would
  have named a file (lookup and calls that make files). The numbers of the calls that were seen show
  lost calls; if the client does not number its calls, replies without a call and holes in its TCP
  stream do. Without such evidence, as in a table of operations, the value is null, unless
  unanswered calls make it true. Rows wait for a minute of the trace's time, until all is known. A
  cut message was not lost: ``short`` reports it.
- The ``early_…`` columns hold what a file showed until it was five seconds old, or dead before
  that: no later operation changes them. Operations by a handle count only if the handle was known
  by then to be the file's.
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
"""The most lives in memory at once, at some 360 bytes each."""


def build(
    operations: Iterable[pa.RecordBatch], max_live: int = MAX_LIVE
) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
    """Yield file lives and name lives as they end, then those that outlast the trace.

    ``operations`` are batches of the operations table, in about the order of the replies. Each
    pair holds rows of `data.schema.FILES` and of `data.schema.NAMES`; one of the two may be empty.
    About ``max_live`` lives stay in memory, at some 360 bytes each; those idle longest wait in a
    temporary file until an operation names them again, which changes no row. Raises
    ``ValueError`` if a column is missing or of another type, ``OSError`` if the temporary file
    cannot be used.
    """
    builder = LivesBuilder(max_live)
    for batch in operations:
        builder.update(batch)
        yield from _finished(builder)
    builder.finish()
    while pairs := list(_finished(builder)):
        yield from pairs


def tables(
    operations: Iterable[pa.RecordBatch], max_live: int = MAX_LIVE
) -> tuple[pa.Table, pa.Table]:
    """Return the files table and the names table of a whole trace, in memory (see `build`)."""
    pairs = list(build(operations, max_live))
    files = pa.Table.from_batches([files for files, _ in pairs], schema=FILES)
    names = pa.Table.from_batches([names for _, names in pairs], schema=NAMES)
    return files, names


def _finished(builder: LivesBuilder) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
    """Yield lives ended since the last call, if any, with the schemas' docs."""
    files = pa.RecordBatch.from_arrays(builder.take_files().columns, schema=FILES)
    names = pa.RecordBatch.from_arrays(builder.take_names().columns, schema=NAMES)
    if files.num_rows or names.num_rows:
        yield files, names
