"""The compiled part of the storage simulator."""

from typing import final

import pyarrow as pa

REASONS: dict[str, type[Exception]]

@final
class StorageServer:
    """A simulated NFS server, which is fed calls in the order in which they were captured."""

    def __new__(
        cls, server_json: str, issue_json: str, seed: int, start: int = 0, each: bool = False
    ) -> StorageServer:
        """Make an idle server, which measures calls that were captured from ``start`` on.

        Args:
            server_json: its parameters (``storage/simulator/src/server/parameters.rs``).
            issue_json: when calls come: ``"open"``, ``"dependent"`` or ``{"outstanding": 64}``.
            seed: decides what is chance.
            start: nanoseconds, as calls have them.
            each: whether :meth:`each` tells of every call.

        Raises ``StorageError`` if there can be no such server.
        """

    def feed(self, calls: pa.RecordBatch) -> None:
        """Serve calls, of the columns of ``birthmark.storage.what_if.columns.CALLS``.

        Raises ``StorageError`` if a column is missing or has nulls, or a class is none.
        """

    def finish(self) -> str:
        """Serve what is left; return JSON.

        ``Outcome`` in ``storage/simulator/src/server/measured.rs`` has the members.
        """

    def each(self) -> tuple[pa.UInt64Array, pa.UInt64Array, pa.UInt64Array]:
        """Return of each call when it came, its latency, and bytes that it waited for on disks.

        In nanoseconds, in the order in which they were fed.
        """

@final
class StorageReuse:
    """How many other blocks were touched since the blocks of a read were touched before."""

    def __new__(cls, block: int) -> StorageReuse:
        """Begin with nothing touched; blocks have ``block`` bytes."""

    def touch(self, calls: pa.RecordBatch) -> pa.UInt64Array:
        """Return the greatest distance of each read's blocks: 2**64 - 1 if one is touched first.

        Null for calls that read nothing, or of whose blocks only some are touched first. Raises as
        :meth:`StorageServer.feed` does.
        """
