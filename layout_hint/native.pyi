"""The compiled part of the layout hint: the hook, the simulation of layouts, drives."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Self, final

import pyarrow as pa

from birthmark.layout_hint import AskedCreate
from birthmark_native import Error

REASONS: dict[str, type[Error]]

class GeometryError(Error, ValueError):
    """A file system or a region of it cannot have these sizes."""

class LayoutError(Error, ValueError):
    """A simulation of a layout has an invalid configuration."""

class StorageError(Error, ValueError):
    """A drive or a trace is invalid, or the drive cannot serve the trace."""

class RecordingError(Error, ValueError):
    """A file is not a recording of an allocator."""

@final
class LayoutTrace:
    """A build of ``birthmark research replay build``, decoded once, to replay on a model of a disk.

    ``docs/layout.md`` ("The replay") says what is modelled. Runs may go on in several threads.
    """

    def __new__(
        cls, manifest: Iterable[pa.RecordBatch], operations: Iterable[pa.RecordBatch]
    ) -> Self:
        """Take the tables of a build (``layout_hint.rewrite.schema``), the manifest first.

        Raises ``TableError``, naming the table and the row, counted from 0, if one is not as a
        build has it: an object that nothing made, a name that no entry can have, sizes that no
        file can have.
        """

    @property
    def operations(self) -> int:
        """How many operations there are."""

    def creates(self) -> pa.Table:
        """Return a row for each create that the hook is asked of, in order.

        First those of the manifest, then mkdir, create, symlink and mknod. ``place``: int64, its
        number; ``name``: binary; ``directory``: bool; ``mode``, ``uid``, ``gid``: uint32, the owner
        as the server gave it, else the caller; ``hour``: uint8, UTC, null before the trace;
        ``id``: int64, the stable identifier of what is made.
        """

    def run(
        self,
        config_json: str,
        hints: pa.Array | None = None,
        image: bytes | None = None,
        disk_json: str | None = None,
        service: Callable[[AskedCreate, float], int] | None = None,
    ) -> LayoutRun:
        """Replay the trace; ``docs/layout.md`` lists the members of the configuration.

        ``hints`` has a verdict for each of :meth:`creates`, uint8. With an ``image`` or a
        ``service`` (see :class:`Hook`) the hook is asked instead; with none, nothing is hot.
        ``disk_json`` has the parameters of the drive; without, the disk takes no time.

        Raises ``LayoutError``, ``GeometryError`` or ``ImageError``, saying what was expected, if
        the configuration, the hints, the drive or the image are not as they should be.
        """

@final
class LayoutRun:
    """What a replay came to."""

    @property
    def summary(self) -> str:
        """The figures, JSON; ``docs/layout.md`` lists them."""

    def counts(self) -> pa.Table:
        """Return what reached the disk after the warm-up, per 4 KB of the partition.

        ``block``: int64, its number; ``reads``, ``writes``: uint32. Blocks not touched have none.
        """

    def objects(self) -> pa.Table:
        """Return a row for each create, with what reached the disk of its own blocks.

        ``id`` and ``place``: int64, as in ``LayoutTrace.creates``; ``reads``, ``writes``: uint64,
        of 4 KB each; ``fragments``: uint64, how many its bytes took at most.
        """

def layout_geometry(name: str, bytes: int, journal: bool = False) -> str:
    """Return the sizes that ``newfs`` of a kernel takes for so many bytes, as JSON.

    Names are those of ``fs.h``, with ``groups`` and ``inode_bytes``; ``free`` is the fragment where
    free data begin, which is behind the journal, if there is one. Raises ``GeometryError`` if
    there is no such geometry, or none of that size, and ``LayoutError`` if it has no journal.
    """

def layout_region(
    name: str, bytes: int, start: int, length: int, inodes: int
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the inodes and the fragments for data of a region of that file system.

    That is of those that lie wholly in ``length`` bytes from byte ``start`` on the first, and the
    one behind the last; of the inodes the first ``inodes`` of the group instead, if these are not
    0. Raises ``GeometryError`` if there is no such geometry, if the region has neither, or parts of
    two cylinder groups, or ends where the file system has ended, or has more inodes than a group,
    or inodes that are made after others.
    """

def check_drive(drive_json: str, drive: str | Path) -> None:
    """Raise ``StorageError`` if parameters are no drive's; ``drive`` is where they come from."""

@final
class Hook:
    """The layout hook's C core, as the replay holds it (``layout_hint/hook/bm_hook.h``)."""

    counters: str
    """What it has counted, as JSON: ``struct bm_counters``, and ``service`` with what
    ``struct bm_sync_counters`` has if creates wait for one."""

    def __new__(
        cls,
        image: bytes | None = None,
        service: Callable[[AskedCreate, float], int] | None = None,
        *,
        deadline: float = 0.002,
        back_off: tuple[float, float] = ...,
        failures: int = 5,
    ) -> Self:
        """Answer from ``image``, or from a ``service``.

        A service is called with a create of an unknown kind and the seconds that are left until the
        ``deadline`` (seconds), and returns the bits of the verdict. ``TimeoutError`` says that it
        is late, another ``OSError`` that it is not there; anything else that it raises or returns
        is no answer. After so many ``failures`` in a row creates are cold at once, until the
        ``back_off`` has passed, which doubles from the first to the second (seconds).

        Raises ``ImageError`` if the image is none, or has no hints.
        """

    def ask(
        self, creates: pa.RecordBatch, directory: bool = False
    ) -> tuple[pa.UInt8Array, pa.UInt64Array]:
        """Return the verdict on each row, and how long it took (nanoseconds).

        Columns as in ``features.CREATES``: ``name``, ``mode``, ``uid``, ``gid`` and ``time``; rows
        are all of directories or all of something else. A verdict is the bits 1 ``HotName``,
        2 ``HotDir``, 4 ``HotWrite``. Raises ``TableError``, naming the column, if one is missing or
        of another type.
        """

@final
class Checked:
    """How far a recording of FreeBSD's FFS allocator agrees with the model of it."""

    operations: int
    """Operations whose answers agree."""
    states: int
    """Dumps of all cylinder groups' states that agree."""
    difference: tuple[int, str, str, str] | None
    """The first answer that differs: the line (from 1), the request, the answer recorded, and
    that of the model; long answers from where they differ. Nothing is compared after it."""

def check_recording(path: Path) -> Checked:
    """Repeat a recording (``docs/layout.md``), plain or compressed, and compare every answer.

    Raises ``RecordingError``, naming file, line and what was expected, if it is none, and
    ``OSError`` if it cannot be opened.
    """
