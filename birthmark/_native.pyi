"""The compiled part of Birthmark. See ``native/`` for its source."""

import pyarrow as pa

__version__: str

class LivesBuilder:
    """Makes the files and names tables from operations (``data.lives`` says by which rules).

    About ``max_live`` lives, of files and of names together, are kept in memory; the others wait
    in a temporary file (in the folder that ``TMPDIR`` names) until an operation names them.
    """

    def __init__(self, max_live: int = 1_000_000) -> None: ...
    def update(self, batch: pa.RecordBatch) -> None:
        """Take operations (``data.schema.OPERATIONS``), in about the order of their replies.

        Raises ``ValueError``, naming the column, if one is missing, of another type, or null where
        every row must have a value; and if the trace was ended before. Raises ``OSError`` if the
        temporary file cannot be used.
        """

    def finish(self) -> None:
        """End the trace: lives that are left become rows, with no death seen."""

    def take_files(self) -> pa.RecordBatch:
        """Return the file lives that have ended since the last call (``data.schema.FILES``).

        After :meth:`finish` a call returns some of the lives that were left; a batch of no rows
        says that there are no more.
        """

    def take_names(self) -> pa.RecordBatch:
        """Return name lives (``data.schema.NAMES``) as :meth:`take_files` returns file lives."""
