"""The compiled part of Birthmark. See ``native/`` for its source."""

from collections.abc import Mapping as Mapping_
from pathlib import Path
from typing import Any, Literal, Self, final

import pyarrow as pa

from birthmark_native.results import Damaged, Written

__version__: str

_Format = Literal["json", "arrow", "hint"]
"""The format of a body: files in JSON or in Arrow, or a create in JSON that asks for hints."""

class Error(Exception):
    """A refusal by this module."""

    reason: str
    """The word in ``REASONS`` for what is wrong."""

class TraceError(Error, ValueError):
    """A file is not a trace, or not a readable one."""

class TableError(Error, ValueError):
    """A table lacks a column, has one of the wrong type, or has an invalid row."""

class AnonymizeError(Error, ValueError):
    """A mapping of anonymized names is damaged, or cannot exempt a value that it has mapped."""

class ImageError(Error, ValueError):
    """Bytes are not a usable compiled image."""

class RuleError(Error, ValueError):
    """Rules over the components of names are inconsistent or invalid."""

class ForestError(Error, ValueError):
    """Nodes are not a forest, or rows do not fit it or cannot train one."""

class CertaintyError(Error, ValueError):
    """A description of a model's certainty is invalid."""

class ArgumentError(Error, ValueError):
    """A function cannot take this argument."""

class ArrayTypeError(Error, TypeError):
    """An array is of the wrong type."""

class StateError(Error, RuntimeError, ValueError):
    """An object is used too early or too late."""

class SpillError(Error, OSError):
    """The temporary file of idle lives cannot be used."""

class SnapshotError(Error, ValueError):
    """A file is not a snapshot, or is damaged."""

class DefectError(Error, RuntimeError):
    """This module has contradicted itself: a defect, whatever the input."""

REASONS: dict[str, type[Error]]
"""The exception for each reason. Errors of the operating system are ``OSError``s."""

@final
class CaptureWriter:
    """Writes operations as a pcap file (``data.captures`` is its Python face, and says how)."""

    def __new__(cls, path: str, cut_data: bool = False) -> Self:
        """Create the file, with files' data in it or only their lengths.

        Raises ``OSError`` if it cannot be written.
        """

    def write(self, batch: pa.RecordBatch) -> None:
        """Take operations (``data.schema.OPERATIONS``), in about the order of their replies.

        Raises ``TableError``, naming the column, if one is missing, of another type, or null where
        every row must have a value, and ``OSError`` if the file cannot be written.
        """

    def finish(self) -> Written:
        """End the capture, and return what it holds."""

@final
class LivesBuilder:
    """Makes the files and names tables from operations, by the rules in ``data.lives``.

    About ``max_live`` lives, of files and names together, are in memory; the others are in a
    temporary file (in the folder ``TMPDIR``) until an operation names them. ``near`` is the
    greatest time in microseconds between a loss and a use of a file that it affects. ``memory`` is
    the budget of the whole trace follower in bytes; lives use their share
    (``native/trace/src/budget.rs``).
    """

    def __new__(cls, max_live: int = ..., near: int = ..., memory: int = ...) -> Self: ...
    @staticmethod
    def load(path: Path, memory: int = ...) -> LivesBuilder:
        """Load the state that ``save`` wrote, with its ``max_live`` and the ``memory`` given.

        Raises ``OSError`` if the file cannot be read, ``SnapshotError`` if it is damaged or of
        another version.
        """

    def save(self, path: Path) -> None:
        """Write the state; raise ``OSError`` if that fails."""

    def update(self, batch: pa.RecordBatch) -> None:
        """Take operations (``data.schema.OPERATIONS``), in about the order of their replies.

        Raises ``TableError``, naming the column, if one is missing, of another type, or null where
        every row must have a value; ``StateError`` if the trace was ended before; ``SpillError`` if
        the temporary file cannot be used.
        """

    def evicted(self) -> dict[str, int]:
        """Return the numbers of early evictions for lack of memory, by kind."""

    def update_loss(self, gaps: pa.RecordBatch) -> None:
        """Take times in which calls were lost (``Chunk.gaps``).

        Raises ``TableError`` if a column is missing.
        """

    def set_losses_known(self, known: bool) -> None:
        """Set whether :meth:`update_loss` gets all losses of a trace.

        Unless it does for every trace, ``loss_nearby`` is null where calls without a reply do not
        make it true.
        """

    def finish(self) -> None:
        """End the trace: remaining lives become rows without a visible death."""

    def take_files(self) -> pa.RecordBatch:
        """Return the file lives that have ended since the last call (``data.schema.FILES``).

        They are pending for a minute of trace time, until losses near them are known. After
        :meth:`finish`, each call returns some of the remaining lives; an empty batch is the end.
        """

    def take_names(self) -> pa.RecordBatch:
        """Return name lives (``data.schema.NAMES``) as :meth:`take_files` returns file lives."""

@final
class LiveHistory:
    """Makes the tables of :class:`LivesBuilder`, and emits births with their histories live.

    It emits births of regular files and their names, and their outcomes, in the order in which they
    become known. Time is the trace's clock, so a replay at any speed emits the same. The history of
    a birth equals that of ``features.History.follow`` for the same row of the finished tables, with
    these exceptions:

    - births without a known handle are emitted, but are no rows of files;
    - births of unknown kind are not emitted, but may be rows of names (a rename of an unseen file);
    - births that later turn out to be an open of an existing file are emitted, but have no birth in
      the tables;
    - births with a reply earlier than the one before are emitted late, and so are their outcomes;
    - an outcome after ``max_awaited`` later births is not emitted.

    All of them count in later histories. ``files`` and ``names`` are the initial histories, which
    are copied. ``max_live``, ``near`` and ``memory`` are those of :class:`LivesBuilder`. Outcomes
    of ``max_awaited`` births per subject are pending, at some 100 bytes each.
    """

    def __new__(
        cls,
        files: HistoryKeeper,
        names: HistoryKeeper,
        max_live: int = ...,
        near: int = ...,
        max_awaited: int = ...,
        memory: int = ...,
    ) -> Self: ...
    @staticmethod
    def load(path: str | Path, memory: int = ...) -> LiveHistory:
        """Load a saved history, within ``memory``; it continues without a gap.

        Raises ``SnapshotError``, naming the file, if it is invalid or damaged; ``OSError`` if it
        cannot be read.
        """

    def save(self, path: str | Path) -> None:
        """Write the state into a file, including pending births and outcomes.

        The file is overwritten in place: use a temporary name until it is complete. Raises
        ``StateError`` after :meth:`finish`; ``SpillError`` if the temporary file of idle lives
        cannot be read; ``OSError`` if the file cannot be written.
        """

    def save_histories(self, path: str | Path) -> None:
        """Write only the histories, like :meth:`save`, for use with another trace.

        It may be called after :meth:`finish`.
        """

    def update(self, batch: pa.RecordBatch) -> None:
        """Take operations, as :meth:`LivesBuilder.update`."""

    def evicted(self) -> dict[str, int]:
        """Return the numbers of evictions, as :meth:`LivesBuilder.evicted`."""

    def update_loss(self, gaps: pa.RecordBatch) -> None:
        """Take times in which calls were lost, as :meth:`LivesBuilder.update_loss`."""

    def set_losses_known(self, known: bool) -> None:
        """Set whether all losses are known, as :meth:`LivesBuilder.set_losses_known`."""

    def advance(self, until: int) -> None:
        """Declare that no operation before a time (µs) will follow, and emit all events before it.

        Each batch does so up to its last reply. Without this call, events of an idle server would
        be pending for long.
        """

    def finish(self) -> None:
        """End the trace, as :meth:`LivesBuilder.finish`, and emit the pending events."""

    def take_files(self) -> pa.RecordBatch:
        """Return file lives, as :meth:`LivesBuilder.take_files`."""

    def take_names(self) -> pa.RecordBatch:
        """Return name lives, as :meth:`LivesBuilder.take_names`."""

    def take_births(self) -> pa.RecordBatch:
        """Return the births emitted since the last call, in order.

        ``subject`` is ``file`` or ``name``, ``id`` the number of the birth, from 0 for each
        subject, and ``server`` its server. The other columns are those of ``features.CREATES``:
        ``time`` is that of the birth, ``history`` the history before it, and ``group`` that of its
        reply.
        """

    def take_outcomes(self) -> pa.RecordBatch:
        """Return the outcomes emitted since the last call, in order.

        ``subject`` and ``id`` identify the birth, and ``time`` is that of the event. ``fact`` is

        - ``mark``: whether the life was ``over`` within ``mark`` seconds (1, 5 or 30), emitted at
          that age or at the death;
        - ``young``: how a file was used (``size`` in bytes, the largest; ``reads``, ``writes``;
          ``atime``, ``mtime``) until it was 5 s old, emitted then or at the death;
        - ``used``: the use of a file that outlasts 30 s, until then, with ``bytes_written``;
        - ``died``: the end, after ``life`` µs, and the use of the file until then;
        - ``lost``: the end was missed, or there was no birth. Later marks and early-use events are
          those of a file without a visible death.
        """

    def discard(self) -> None:
        """Drop pending births and outcomes."""

    def history(self, subject: str) -> HistoryKeeper:
        """Return a copy of the history of ``file`` or ``name``.

        Raises ``ArgumentError`` for another subject.
        """

    dropped: int  # outcomes not emitted, because too many births came after theirs

@final
class Mapping:
    """What stands for what in anonymized traces; ``data.anonymize`` says how it is used."""

    def __new__(cls, prefix: bool, handles: bool, omit: list[str], seed: int | None = None) -> Self:
        """Make an empty mapping.

        ``prefix``: whether names that begin with the same five bytes still do; ``handles``:
        whether handles are mapped; ``omit``: which of ``names``, ``users``, ``groups`` and
        ``hosts`` are left out; ``seed``: None draws from the operating system.
        """

    @staticmethod
    def read(path: str, prefix: bool, handles: bool, omit: list[str]) -> Mapping:
        """Read what :meth:`write` wrote.

        Raises ``AnonymizeError``, naming file and line, if it is damaged.
        """

    def write(self, path: str, settings: str) -> None:
        """Write the mapping into a file that is there and empty.

        ``settings`` is the caller's own line, the second.
        """

    def keep(self, kind: str, what: bytes) -> None:
        """Let a ``name`` (its pieces), ``label``, ``host``, ``user`` or ``group`` stay.

        Raises ``AnonymizeError`` if it is mapped to something else already.
        """

    def name(self, name: bytes) -> bytes:
        """Return what a name or a path is mapped to."""

    def batch(self, batch: pa.RecordBatch, treatments: Mapping_[str, str]) -> pa.RecordBatch:
        """Return rows with every column treated as ``data.anonymize.columns`` has it.

        Raises ``TableError``, naming the column, if it has no treatment, or one that is not for
        its type.
        """

    def sizes(self) -> dict[str, int]:
        """Return how many things of each kind are mapped."""

@final
class Image:
    """A compiled image (``docs/image-format.md``), checked."""

    size: int  # bytes
    predicates: list[str]  # their keys, in the order of the answers
    abstained: list[str]  # those of them that always answer no

    def __new__(cls, content: bytes) -> Self:
        """Read an image.

        Raises ``ImageError`` if it is none, of another version, truncated, damaged anywhere, or if
        a lookup may take more steps than it declares.
        """

    def predict(self, creates: pa.RecordBatch) -> list[pa.BooleanArray]:
        """Return every predicate's answer for each row of creates (``features.CREATES``).

        Only the columns that the image uses must be there. Raises ``TableError``, naming the
        column, if one is missing or of another type.
        """

@final
class TextRewriter:
    """Writes nfsdump text anonymized; what it cannot read, it leaves out and counts."""

    def __new__(cls, out: str, suffix: str) -> Self:
        """Open the output; ``suffix`` gz, bz2, xz or zst compresses it."""

    def open(self, path: str) -> bytes | None:
        """Go on with another input, or standard input for ``-``.

        Returns its first line, if that is a comment. Raises ``TraceError`` if it is no nfsdump
        text.
        """

    def write(self, line: bytes) -> None:
        """Write a line as it is. Raises ``OSError`` if the output cannot be written."""

    def step(self, mapping: Mapping) -> bool:
        """Read on for some megabytes; False at the input's end.

        Raises ``OSError`` if the output cannot be written.
        """

    def finish(self) -> None:
        """Write what is left. Raises ``OSError`` if it cannot be written."""

    def counts(self) -> dict[str, Any]:
        """Return ``lines``, ``written``, ``comments``, ``damaged`` (by reason) and ``bytes``."""

def name_components(name: bytes, prefix: bool) -> list[bytes]:
    """Return the set of components of a file name (thesis Figure 6.2).

    Each is a regular expression: the whole name, its first and last piece, the pieces between
    them in byte order, and with ``prefix`` the first five bytes of a longer name.
    """

def count_components(names: pa.Array, labels: pa.RecordBatch, prefix: bool) -> pa.RecordBatch:
    """Count the components of a column of names (steps 1a to 1c of thesis Figure 6.3).

    ``names`` is binary, and each column of ``labels`` boolean and as long. The batch has
    ``component`` (binary, in byte order), and for each column ``KEY`` of ``labels`` the columns
    ``KEY n_a`` and ``KEY n_m`` (uint64): in how many names it occurs, and in how many of those
    whose label is true. Rows in which the name or that label is null are left out.
    """

def match_components(names: pa.Array, rules: pa.Array, prefix: bool) -> pa.Array:
    """Return for each name the index (int32) of the first rule among its components, else null.

    ``names`` and ``rules`` are binary; a rule is a component as ``name_components`` writes it,
    and anything else raises ``RuleError``.
    """

def whole_names(components: pa.Array) -> pa.Array:
    """Return the names that ``components`` (binary) are the whole of; null for the others."""

def rank_components(name: bytes, prefix: bool) -> list[list[bytes]]:
    """Return the components of a name by what they are to it, in the order they are asked in.

    That is: the whole name, the pieces between periods, the first five bytes, the last piece, the
    first piece; what the name does not have is left out.
    """

def score_components(
    names: pa.Array, rules: pa.Array, lower: pa.Array, upper: pa.Array, prefix: bool
) -> pa.Array:
    """Return for each name the highest threshold (float64) at which ``rules`` say yes.

    A rule is a component, or ``.*`` for every name. At a threshold it says yes if its ``lower``
    limit (float64) reaches it, no if its ``upper`` limit does not. Components are asked in the
    order of ``rank_components`` and then ``.*``; the first with a verdict decides, and of several
    at once a no. Raises ``RuleError`` for what is no component, or other lengths.
    """

def decide_components(
    names: pa.Array,
    rules: pa.Array,
    lower: pa.Array,
    upper: pa.Array,
    threshold: float,
    prefix: bool,
) -> pa.Array:
    """Return the index (int32) of the deciding rule for each name; null if none does.

    Arguments are those of ``score_components``.
    """

def prune_components(
    names: pa.Array, rules: pa.Array, lower: pa.Array, upper: pa.Array, most: int, prefix: bool
) -> pa.Array:
    """Return whether each rule is retained; rules that no score of ``names`` needs are dropped.

    Limits are uint32 ranks among ``most`` thresholds: the number that they reach. Rules are tried
    in order, until none can be dropped.
    """

@final
class HistoryKeeper:
    """Running statistics over births (``features.history`` is its Python face)."""

    max_keys: int
    clock: int  # end of its data, µs

    def __new__(cls, max_keys: int) -> Self:
        """Make an empty history of at most ``max_keys``; raise ``ArgumentError`` for too few."""

    @staticmethod
    def from_batch(batch: pa.RecordBatch, max_keys: int, clock: int) -> HistoryKeeper:
        """Return the history from a result of :meth:`to_batch`.

        Raises ``TableError``, naming row and column, if it is damaged.
        """

    def follow(self, lives: pa.RecordBatch, behind: int = ...) -> pa.Array:
        """Return the history of each life at its birth (fixed-size binary), and add the lives.

        The history is that known ``behind`` microseconds before. ``lives`` has the columns of
        ``features.history``, with ``born`` null for lives without a birth. Raises
        ``TableError``, naming the column, if one is missing or of another type.
        """

    def at(self, creates: pa.RecordBatch) -> pa.Array:
        """Return the history of each create without adding it; errors as :meth:`follow`."""

    def to_batch(self) -> pa.RecordBatch:
        """Return the whole history, a row per key."""

@final
class SharedHistory:
    """A follower's live history in shared memory, read without locks or waits.

    ``ARCHITECTURE.md`` names the code; ``SharedHistoryWriter`` is the other side. No method raises
    because of the follower's state; ``why`` has the reason if the history is not used.
    """

    def __new__(cls, path: str | Path, max_age: float, max_lag: float, max_loss: float) -> Self:
        """Open the history at a path, which may appear later.

        A history is stale, and not used, if its last update is ``max_age`` seconds ago, if its
        follower is ``max_lag`` seconds behind the traffic, or if it lost more than ``max_loss`` of
        the last minutes' traffic (0 to 1). Raises ``ArgumentError`` for negative values and NaN.
        """

    def at(self, creates: pa.RecordBatch) -> pa.RecordBatch:
        """Return the histories of each create, in the format of ``HistoryKeeper.at``.

        ``creates`` has its columns, and may have ``directory_system`` (large binary) with
        ``directory_inode`` (uint64), from :func:`handle_inode`, and ``directory_path`` (large
        binary), which identify a directory without a known handle. The columns of the result are
        ``history`` and ``name_history``, of files and names (fixed-size binary, null if not used),
        ``told``, the history scope (directory, caller, name or nothing), and ``why``, the reason in
        a word for nothing. Raises ``TableError``, naming the
        column, if one is missing or of another type.
        """

    def tell(
        self,
        name: bytes,
        *,
        dir_fh: bytes | None = None,
        dir_inode: tuple[bytes, int] | None = None,
        dir_path: bytes | None = None,
        dir_name: bytes | None = None,
        mode: int | None = None,
        uid: int | None = None,
        client: str | None = None,
        time: int | None = None,
    ) -> tuple[tuple[bytes, bytes] | None, str, str | None]:
        """Return the two histories, ``told`` and ``why`` of one create, as :meth:`at`.

        ``time`` is in microseconds since the epoch; the default is that of the follower's last
        operation.
        """

    def status(self) -> dict[str, Any]:
        """Return the status of the follower, for people and metrics.

        ``why`` is the reason in a word, and ``says`` in a sentence, if the history is not used;
        otherwise both are None. If there is a history: ``follower``, its version; ``generation``;
        ``updates``, their number; ``state`` (starting, following or stopped); ``clock``, the
        trace's time, and ``updated`` (µs since the epoch); ``age`` and ``lag`` (seconds); ``loss``
        (0 to 1); ``keys`` and ``aliases`` in it; ``keys_gave_way`` and ``aliases_gave_way``,
        evicted for lack of room.
        """

@final
class SharedHistoryWriter:
    """The only writer of a shared live history."""

    def __new__(cls, path: str | Path, max_keys: int, max_aliases: int, follower: str) -> Self:
        """Make a file of this capacity, which readers cannot find before :meth:`publish`.

        The directory must be writable for this user alone, and is best on tmpfs: a key takes 96
        bytes, an alias (three to a directory) 43. ``follower`` is a version, at most 64 bytes.
        Raises ``StateError`` if another process writes there, ``ArgumentError`` if others can write
        to the directory or the capacity is impossible, and ``OSError`` if the file cannot be made,
        such as for lack of space.
        """

    def mirror(self, live: LiveHistory, changes: HistoryChanges | None = ...) -> None:
        """Apply the changes since the last call; readers see them after :meth:`commit`.

        They include directories, as these are used or named. The changes are added to ``changes``,
        too.
        """

    def everything(self) -> HistoryChanges:
        """Return the whole history as of the last :meth:`commit`."""

    def apply(self, changes: HistoryChanges) -> None:
        """Apply the changes of another writer's history, or all of it."""

    def put(self, subject: str, known: pa.RecordBatch) -> None:
        """Put rows of ``HistoryKeeper.to_batch``, of ``file`` or ``name``.

        Raises ``TableError``, naming row and column, if one is damaged, and ``ArgumentError`` for
        another subject.
        """

    def put_all(self, subject: str, history: HistoryKeeper) -> None:
        """Put a whole history. Raises ``ArgumentError`` for another subject."""

    def remove(self, subject: str, keys: pa.Array) -> None:
        """Remove keys (uint64). Raises ``ArrayTypeError`` or ``ArgumentError`` for others."""

    def directory(
        self, handle: bytes, *, name: bytes | None = None, path: bytes | None = None, time: int
    ) -> None:
        """Add a directory under its handle, the handle's inode, and its path.

        ``name`` is its name, and ``time`` that of its last use (µs since the epoch); the least
        recently used one is evicted.
        """

    def remove_path(self, path: bytes) -> None:
        """Remove the directory of a path."""

    def commit(self, clock: int, lag: float, loss: float, state: str, operations: int = 0) -> None:
        """Make all puts since the last call visible to readers, atomically.

        ``clock``: time of the last operation (µs since the epoch); ``lag``: seconds since then;
        ``loss``: share of operations lost in the last minutes; ``state``: starting, following or
        stopped; ``operations``: their number since the follower's start. Raises ``ArgumentError``
        for other states. Like every method that writes, it raises ``OSError`` if the file has
        become shorter.
        """

    def publish(self) -> None:
        """Make the file visible to readers, in place of an earlier one; idempotent.

        Raises ``OSError`` if it cannot be renamed.
        """

@final
class HistoryChanges:
    """Changes of a shared history, which bring a copy up to date.

    ``len`` is the number of rows.
    """

    def __new__(cls) -> Self:
        """Make an empty set of changes."""

    @staticmethod
    def from_arrow(
        removed_keys: pa.Array, records: pa.RecordBatch, directories: pa.RecordBatch
    ) -> HistoryChanges:
        """Return changes from a result of :meth:`to_arrow`.

        Raises ``TableError``, naming the column, if one is missing or damaged; ``ArrayTypeError``
        or ``ArgumentError`` for other keys.
        """

    def to_arrow(self) -> tuple[pa.Array, pa.RecordBatch, pa.RecordBatch]:
        """Return the keys to remove (uint64), and the records and directories to put.

        Records are rows of ``HistoryKeeper.to_batch`` of both subjects, distinguished by the key.
        Directories have the columns ``key`` (the hash of a handle, an inode or a path),
        ``directory`` (that of its handle), ``shape`` (that of its own name's shape, or null) and
        ``used``, when.
        """

    def merge(self, later: HistoryChanges) -> None:
        """Add later changes."""

    def take(self, rows: int) -> HistoryChanges:
        """Remove and return at most ``rows`` changes, in order."""

    def __len__(self) -> int: ...

def handle_inode(handle: bytes) -> tuple[bytes, int] | None:
    """Return the file system and the inode of an NFS file handle.

    It knows handles of FreeBSD (UFS, ZFS), Linux's knfsd (ext4, XFS, Btrfs, tmpfs) and nfs-ganesha.
    The file system is FreeBSD's ``fsid_t``, knfsd's UUID, ``fsid=`` or device, or nfs-ganesha's
    ``f_fsid``. None for other handles.
    """

def fold_shapes(names: pa.Array) -> pa.Array:
    """Return the shape of each name (both binary), as ``features.history.shape`` defines it."""

@final
class TextWriter:
    """Writes operations as nfsdump text, in the order of the lines' times.

    Operations read from text are printed unchanged. Others are printed as by nfsdump 1.2.0c:
    addresses in 8 hexadecimal digits, ``XXX`` for the lengths at the end, and the subset of a
    reply's attributes; ``all_attributes`` adds all others with a key (those of the directory and of
    directory entries).
    """

    left_out: int  # operations so far without a form in the format: those of NFS version 4

    def __new__(cls, all_attributes: bool = False) -> Self: ...
    def write(self, batch: pa.RecordBatch) -> bytes:
        """Take operations (``data.schema.OPERATIONS``), in about the order of their replies.

        Returns the lines now due: some 64 MB of lines wait for earlier ones. Columns that may be
        null may be missing. Raises ``TableError``, naming the column, if another is missing, or
        one is of another type, or null where every row must have a value; and if a host is neither
        an address nor a number of up to 8 hexadecimal digits.
        """

    def messages(self, batch: pa.RecordBatch) -> bytes:
        """Take messages (``data.schema.MESSAGES``): their lines are put among the others."""

    def finish(self) -> bytes:
        """Return the lines that are left."""

@final
class Instants:
    """Judges the times of a table's rows, one after the other, as those of a trace are judged."""

    def __new__(cls, clock: int) -> Self:
        """Judge by a clock that shows so many microseconds since the epoch."""

    def judge(self, times: Any, replies: Any) -> tuple[int, list[tuple[int, str, str]]]:
        """Judge the next rows: Arrow arrays of microseconds, int64, null where there is no reply.

        Returns how many rows are decided, from the first on, and rows that are set aside, counted
        from 0, each with the reason and what was expected. The others wait for rows to come.
        """

    def finish(self) -> tuple[int, list[tuple[int, str, str]]]:
        """Decide the rest, likewise."""

@final
class TraceLines:
    """A trace printed as nfsdump text in a thread of its own, message by message.

    The lines come in the order of the packets, but for a reply that came before its call, which
    comes after it. Those at hand are given before more of the trace is waited for.
    """

    left_out: int  # at the end: messages of NFS version 4, for which the format has no form
    damaged: dict[str, int]  # at the end: records that could not be read, by reason

    def __new__(cls, path: str, all_attributes: bool = False) -> Self:
        """Read a capture or text, or standard input for ``-``; as ``TextWriter`` prints."""

    def next_lines(self) -> bytes | None:
        """Return further lines, or ``None`` at the end of the trace.

        Raises ``OSError`` if the trace cannot be opened, ``TraceError`` if it is empty or no trace.
        """

    def counts(self) -> dict[str, Any]:
        """Return what `Trace.counts` returns. Raises ``StateError`` before the end of the trace."""

@final
class Follower:
    """A trace followed in a thread of its own while it is made (``data.follow`` is its face).

    A place is a file's name (empty: a pipe's), the time of its first record, in microseconds since
    the epoch, and how many bytes, decompressed, lie before it.
    """

    def __new__(
        cls,
        path: str,
        stride: int,
        resume: tuple[tuple[str, int, int], tuple[str, int, int], int] | None = None,
        until_idle: float | None = None,
        gather: float = 0.0,
        memory: int = ...,
    ) -> Self:
        """Follow standard input (``-``), a pipe, a file that grows, or a folder of files.

        A piece ends when the trace's time passes a multiple of ``stride`` microseconds. ``resume``
        holds from where to read again, from where to give pieces, and the trace's time there.
        After ``until_idle`` seconds without anything new, files have ended. Rows are gathered for
        ``gather`` seconds, or for a hundredth if that is more. ``memory`` is the budget, in
        bytes, of all that follows the trace. Raises ``OSError`` if the source cannot be opened.
        """

    def next_piece(self, timeout: float) -> FollowedPiece | None:
        """Return what came since the last time; ``None`` after so many seconds without a piece.

        Raises ``TraceError`` if a pipe holds no trace, ``OSError`` if it cannot be read.
        """

    def stop(self) -> None:
        """End soon, with a last piece."""

@final
class Chunk:
    """What a trace gives at a time (``data.traces.reader.Chunk``). All batches have rows."""

    operations: list[pa.RecordBatch]
    messages: list[pa.RecordBatch]
    loss: list[pa.RecordBatch]
    gaps: list[pa.RecordBatch]
    damaged: list[Damaged]

@final
class FollowedPiece:
    """What came of a trace that is followed."""

    chunk: Chunk  # its operations are as they are by now
    settled: list[pa.RecordBatch]  # those of earlier pieces that change no more, batch for batch
    place: tuple[str, int, int]  # where the next piece begins
    clock: int | None  # the time of the last message, in microseconds since the epoch
    resumed: bool  # whether it is the first after what was read again
    idle: bool  # whether nothing had come for a tenth of a second
    ended: bool  # whether it is the last; then all rows are settled
    stopped: bool  # whether `stop` ended it, and not the source
    refused: list[tuple[str, str]]  # files that were passed over, and why
    files: int  # how many files were begun so far
    missed: int  # how many were written over before they were read to their end
    format: str | None  # as ``Trace.format``, once something has come
    bytes: int  # read so far, after decompression

    def counts(self) -> dict[str, Any] | None:
        """Return what was counted so far (``Trace.counts``), once something has come."""

@final
class Trace:
    """A trace file, decoded in a separate thread (wrapped by ``data.traces``)."""

    format: str  # the word of its format, such as nfsdump or capture
    compression: str  # none, gzip, bzip2, xz or zstd
    heading: bytes | None  # the first line, if it is a comment

    def __new__(cls, path: str) -> Self:
        """Open a file, or standard input for ``-``.

        Raises ``OSError`` if it cannot be opened and ``TraceError`` if it is empty or no trace.
        """

    def next_chunk(self) -> Chunk | None:
        """Return the next chunk, or ``None`` at the end of the trace.

        Raises ``TraceError`` at the end if most records are later than this host's clock.
        """

    def counts(self) -> dict[str, Any]:
        """Return the counts. Raises ``StateError`` before the end of the trace.

        ``procedures`` (by ``op``: ``calls``, ``replies``, ``ok``, ``errors``, ``operations``,
        ``unanswered``), ``compound_operations`` (the same of the operations in compounds),
        ``not_run`` (those that the server did not come to), ``orphans`` (by procedure),
        ``other_programs`` (calls and replies by RPC program), ``retransmits``,
        ``duplicate_replies``, ``short``, ``period`` (µs), ``damaged`` (by reason), ``records``,
        ``bytes``; for formats of lines ``lines`` and ``comments``, and by the format's word, such
        as ``capture``, what only that format counts: of captures also ``unread`` (by reason the
        ``count`` of packets or messages, and their ``bytes``) and ``offered_versions`` (the lowest
        and the highest version of NFS that a server offered when it refused another, or ``None``).
        """

def operations_schema() -> pa.Schema:
    """Return the schema of the operations table (``native/trace/src/schema.rs``)."""

OPS: list[str]
"""The words of the column ``op`` of the operations table, NFS version 3's first."""

@final
class ScanCounter:
    """Counts operations per period and keys (``data.scan`` is its Python face).

    Attributes:
        columns: the required columns of the operations table.
        rows: number of pending rows.
        again: whether a period came more than once, so that rows must be merged.
        files: number of pending files.
        known: number of known files and hosts.
    """

    columns: list[str]
    rows: int
    again: bool
    files: int
    known: int

    def __new__(
        cls,
        period: int,
        by: list[str],
        ops: list[str] | None = None,
        files: bool = False,
        clients: set[str] | None = None,
        uids: set[int] | None = None,
        gids: set[int] | None = None,
    ) -> Self:
        """Count in periods of so many µs, by keys (``data.scan.tables.KEYS``).

        ``ops`` have rows of their own (all, if ``None``); ``files`` says whether to keep the map
        of files; of ``clients``, ``uids`` and ``gids`` only those listed are counted.
        """

    def update(self, batch: pa.RecordBatch) -> None:
        """Take operations, in about the order of their replies.

        Raises ``TableError``, naming the column, if one is missing or of another type.
        """

    def finish(self) -> None:
        """End the trace: all periods have passed."""

    def show(self) -> None:
        """Emit the counts up to now, including those of unfinished periods.

        They have the paths known so far. If a path changes before a period has been over for a
        minute, its rows are retracted (``take_back``) and emitted again, so that the final rows are
        the same as without this call.
        """

    def forget(self, most: int) -> int:
        """Evict files above ``most``, when all counts were shown.

        Half of ``most``, those used last, stay, and so do files in unfinished periods, and parent
        directories. Returns the number; evicted files have no path until the traffic shows one.
        """

    def take(self) -> pa.RecordBatch:
        """Return the rows of periods finished since the last call."""

    def take_back(self) -> pa.RecordBatch:
        """Return retracted rows, which are to be subtracted."""

    def take_files(self) -> pa.RecordBatch:
        """Return the files seen since the last call, with their numbers (``id``)."""

    def paths(self, ids: pa.Array) -> pa.RecordBatch:
        """Return ``path``, the last known, and ``gone`` of files, by their numbers (uint32)."""

@final
class ScanMerger:
    """Adds up rows of a scan's table, by keys and in periods of ``period`` µs from ``origin``."""

    def __new__(cls, period: int, by: list[str], origin: int) -> Self: ...
    def update(self, batch: pa.RecordBatch) -> None:
        """Take rows (``data.scan.counts_schema``), which may have further keys."""

    def close(self, time: int) -> None:
        """Make rows of the periods that end no later than ``time``, µs."""

    def take(self) -> pa.RecordBatch:
        """Return the rows made since the last time."""

@final
class Sample:
    """Rows of bytes to grow trees on, and the answers of each.

    ``columns`` (uint8) are the rows' columns, one after the other; ``answers`` (bool, null where
    unknown) those of the rows, one after the other, each of as many outputs. Raises
    ``ForestError`` where these do not divide by ``rows``, or are none.
    """

    def __new__(cls, columns: pa.Array, answers: pa.Array, rows: int) -> Self: ...
    def randomized(
        self,
        trees: int,
        leaves: int,
        leaf_rows: int,
        height: int,
        tried: int,
        seed: int,
        drawn: int | None = None,
        threads: int | None = None,
    ) -> Trees:
        """Grow ``trees`` that split at random (Geurts, Ernst and Wehenkel, 2006).

        Each has at most so many ``leaves``, in each leaf at least ``leaf_rows``, and above it at
        most ``height`` splits (up to 255); a split is the best of ``tried`` columns. It is grown on
        all rows, or on so many ``drawn`` with replacement. ``threads`` ``None``: all processors;
        their number changes no tree. Its predictions are to be added to the answers' means.
        """

    def boosted(
        self,
        trees: int,
        leaves: int,
        leaf_rows: int,
        height: int,
        tried: int,
        seed: int,
        rate: float,
    ) -> tuple[list[float], Trees]:
        """Return the answers' means, and ``trees`` that correct those before (Friedman, 2002).

        Each is grown on half of the rows, its splits where they are best, to predict what is left
        of the answers after the means and ``rate`` times the trees before.
        """

@final
class Trees:
    """Grown trees: the means of each leaf's rows, by output."""

    @property
    def leaves(self) -> int:
        """Total number of leaves."""

    @property
    def most_leaves(self) -> int:
        """Number of leaves of the largest tree."""

    def nodes(self, leaves: int | None = None) -> tuple[pa.RecordBatch, pa.Array, pa.Array]:
        """Return the nodes as those of a ``Forest``, the roots, and the means leaf by leaf.

        The nodes have ``column`` (uint16), ``threshold`` (uint8), ``target`` (uint32; 0 in a leaf)
        and ``rows`` (uint32; 0 but in a leaf); the means (float32) are by output. Each tree is
        cut to at most ``leaves``, as if it had stopped growing there.
        """

@final
class Forest:
    """Trees over rows of ``width`` bytes, as ``predictor.models.forest`` describes them.

    ``columns`` (uint16), ``thresholds`` (uint8) and ``targets`` (uint32) are the nodes', ``roots``
    (uint32) the trees' first nodes, ``scores`` (uint8) those of the leaves, ``outputs`` of each.
    Raises ``ForestError``, naming the node, for invalid trees.
    """

    def __new__(
        cls,
        columns: pa.Array,
        thresholds: pa.Array,
        targets: pa.Array,
        roots: pa.Array,
        scores: pa.Array,
        outputs: int,
        width: int,
    ) -> Self: ...
    def sums(self, matrix: pa.Array, threads: int | None = None) -> pa.Array:
        """Return the scores of the leaves (uint32), added up over the trees, by row and output.

        ``matrix`` (uint8) has the rows one after the other; ``threads`` ``None``: all processors.
        """

    def refit(
        self,
        matrix: pa.Array,
        answers: pa.Array,
        base: pa.Array,
        unit: float,
        how: tuple[float, float, int],
    ) -> pa.Array:
        """Return the scores of all leaves (uint8), moved towards the answers of rows.

        ``matrix`` (uint8) has the rows, ``answers`` (bool, null where unknown) their answers, of
        all outputs. A row's score is ``base`` (float32, by output) and ``unit`` times its sum.
        ``how`` has the rate, the rows without residual in each leaf, and the number of passes. Each
        leaf needs a row of scores to itself. Raises ``ForestError`` where these do not fit.
        """

def encode_names(names: pa.Array) -> tuple[pa.Array, pa.RecordBatch]:
    """Return the numbers of names (uint8, name by name), and their ``shape`` and ``suffix`` hashes.

    ``features.encoding`` says what these are. A null is an empty name.
    """

def fnv1a(bytes: bytes) -> int:
    """Return the 32-bit FNV-1a hash of ``bytes``."""

@final
class HttpService:
    """An HTTP server in native threads: it answers predictions and hints, and passes on the rest.

    Other requests go, after all checks, to an application at the Unix socket ``upstream``.
    """

    def __new__(cls, config: object) -> Self:
        """Start the threads; `config` has the attributes of ``serving.server.front.Config``.

        Raises ``ArgumentError`` for times that cannot be, and ``OSError`` if they cannot start.
        """

    def accept(self, listener: int, is_unix: bool) -> None:
        """Accept connections at a listening socket, whose file descriptor is given away.

        Raises ``ArgumentError`` for a descriptor that cannot be.
        """

    def pass_on(self, pages: dict[str, tuple[list[tuple[str, str]], bytes]]) -> None:
        """Pass other requests on to the application from now on; show these pages for errors.

        Until then they wait for ``queue_seconds``, and get 503.
        """

    def publish(
        self,
        number: int,
        version: str,
        answerer: Answerer,
        hints: tuple[Answerer, bytes, str] | None = None,
    ) -> None:
        """Answer from a model from now on; `hints` are their answerer, image and entity tag."""

    def set_tokens(self, tokens: dict[bytes, tuple[str, list[str]]] | None) -> None:
        """Replace the tokens: names and scopes by the SHA-256 of the texts.

        None: their file cannot be read, and requests that need a token get 503.
        """

    def set_certificate(self, certificate: bytes, key: bytes) -> None:
        """Use another certificate for new connections; raise ``ValueError`` if it is invalid."""

    def requests(self) -> tuple[list[tuple[str, int, list[int], float]], int]:
        """Return the answered requests, and the number of those refused as overloaded.

        Each row is a route, a status, counts by bucket of time, and the sum of seconds.
        """

    def connections(self) -> int:
        """Return the number of open connections."""

    def parked(self) -> int:
        """Return the number of requests that wait for another image."""

    def take_lines(self) -> list[tuple[str, str, str, str, int, float, int]]:
        """Return the lines of the access log since the last call.

        Each has the request's id, method, route and path, the status, seconds, and bytes.
        """

    def take_log(self) -> tuple[list[tuple[int, _Format, bytes, bytes, int, int, float]], int]:
        """Return the sampled requests since the last call, and the rows that were dropped.

        Each has the model's number, the body's format, the body, its answers for the log, a
        hint's verdict, the number of rows, and the Unix time of the answer.
        """

    def stop(self, longest: float) -> None:
        """Stop accepting connections; wait at most `longest` seconds for those that are open."""

@final
class Tally:
    """How often each predicate was answered no and yes, by all models that count here."""

    def __new__(cls) -> Self: ...
    def take(self) -> dict[str, tuple[int, int]]:
        """Return the counts since the last call."""

@final
class Certainty:
    """Consistent three-way answers from levels of scores (``predictor.answers.certainty``)."""

    predicates: list[str]  # their keys

    def __new__(cls, described: str, abstaining: list[str] = ...) -> Self:
        """Read what ``answers.certainty.described`` wrote; those ``abstaining`` are never a yes.

        Raises ``CertaintyError`` for anything else.
        """

    def answer(
        self, levels: list[pa.UInt8Array]
    ) -> tuple[list[pa.UInt8Array], list[pa.DoubleArray]]:
        """Return the answers, 0 no, 1 unsure, 2 yes, and the probability of a yes (null: unknown).

        ``levels`` and the results have a column for each predicate and a row for each file.
        """

@final
class Answerer:
    """Answers requests in JSON from a compiled image.

    ``MEMBERS`` declares the members of creates.
    """

    predicates: list[str]  # their keys, in the order of the answers

    def __new__(
        cls,
        image: bytes,
        model: tuple[str, str, str],
        tallies: tuple[Tally, Tally],
        three_way: bool = ...,
        live: SharedHistory | None = ...,
        knows_history: list[bool] = ...,
    ) -> Self:
        """Answer from an image, for a version, kind and point.

        The first of ``tallies`` counts answers, the second their history scopes
        (``features.history_scope.HISTORY_SCOPES``). ``live`` is the live history for creates that
        carry none; it is used at the scopes for which the models have ``knows_history``. With
        ``three_way`` there are answers yes, no and unsure, too. Raises ``ImageError`` as ``Image``,
        and ``ArgumentError`` for an unknown point.
        """

    def calibrated(self) -> dict[str, list[int]]:
        """Return the image's calibrated thresholds of predicates of forests, by key.

        Each is the least sum of scores for a yes, at each of
        ``features.history_scope.HISTORY_SCOPES``.
        """

    def set_thresholds(self, thresholds: list[tuple[str, int, int]]) -> None:
        """Put thresholds in force, from the next create on.

        Each has a predicate, the index of a history scope in
        ``features.history_scope.HISTORY_SCOPES``, and the least sum of scores for a yes
        (``predictor.image.forest.Group``). Above 16 bits, which is above all scores, other answers
        imply no yes either. All others are as calibrated. Raises ``ArgumentError`` for
        predicates that the image lacks.
        """

    def json(self, body: bytes) -> tuple[bytes, int, bytes]:
        """Return the answer to one file or a list, the number of files, and bytes for a log.

        The bytes are one for each predicate of each file: whether it is a yes, and twice the index
        of its word in ``predictor.answers.certainty.WORDS``. Raises ``InvalidRequestError`` for an
        invalid body.
        """

    def hint(self, body: bytes) -> int:
        """Return the bits of the verdict on one create; raise as ``json`` does.

        The image must have no predicates but HotName, HotDir and HotWrite.
        """

    def columns(self, creates: pa.RecordBatch) -> list[pa.BooleanArray]:
        """Return every predicate's answer for each row of creates, as ``Image.predict`` does."""

    def three_way_answers(
        self, creates: pa.RecordBatch
    ) -> tuple[list[pa.UInt8Array], list[pa.DoubleArray]]:
        """Return the answers for each row of creates, as ``Certainty.answer`` does."""

def requested(bodies: list[bytes], format: _Format = "json") -> pa.RecordBatch:
    """Return the creates in bodies, with the columns of ``features.CREATES`` that they have.

    For a ``hint``, ``is_directory`` (boolean) is a column, too. Raises as ``Answerer.json`` does.
    """

def check_uncompressed(stream: bytes) -> None:
    """Refuse a stream in Arrow with a compressed batch, which may grow a thousandfold when read.

    Raises ``InvalidRequestError``; also if the stream is malformed.
    """

def files_of(body: bytes) -> tuple[pa.RecordBatch, list[tuple[str, str]], bool, list[str]]:
    """Return the creates in a body, their names, whether it is a list, and warnings.

    A name is the member that was sent, and its value in JSON. Raises as ``Answerer.json`` does.
    """

def check_object(body: bytes, known: list[str]) -> None:
    """Refuse a body of anything but one object of members ``known``, each once and at most 32 KB.

    Raises ``InvalidRequestError``.
    """

class InvalidRequestError(Error, ValueError):
    """An invalid request; the text has the expectation."""

    is_json: bool  # whether the body is JSON at all
    field: str | None  # the place, as "[3].mode"; None: the whole body
    found: str | None  # the value as JSON, shortened; None: missing

@final
class Member:
    """A member of a create, as ``native/contract`` declares it."""

    name: str  # its name in requests
    column: str | None  # its column in ``features.CREATES``, if it has one
    kind: Literal["name", "number", "text", "time", "bytes", "opaque", "path", "inode", "flag"]
    most: int | None  # the largest number; or bytes of a name or of bytes, characters of a text
    octal: bool  # of a number: whether text is one, too, in octal digits
    needed: bool
    files: bool  # whether requests for predictions can have it
    hints: bool  # whether requests for hints can have it
    meaning: str  # of the column
    forms: list[str]  # the suffix of its name for each form
    texts: list[str]  # the description of each form in requests

@final
class Hint:
    """A kind of hint, as ``native/contract`` declares it."""

    key: str  # its predicate
    bit: int  # in a verdict
    of_directory: bool  # whether it is for directories, or else for other files
    meaning: str

MEMBERS: tuple[Member, ...]
"""The members of a create, in the order of the columns of ``features.CREATES``."""

HINTS: tuple[Hint, ...]
"""The hints, in the order of a verdict's bits."""

HISTORY_BYTES: int  # how many bytes tell a history
MOST_FILES: int  # in one request

# How an image is laid out, as layout_hint/include/birthmark.h says.
BM_MAGIC: bytes
BM_VERSION: int
BM_PREDICATES_MAX: int
BM_WORDS_MAX: int
BM_SECTIONS_MAX: int
BM_GROUPS_MAX: int
BM_ASSIGNMENTS_MAX: int
BM_NEVER: int
BM_PROBABILITY_STEPS: int
BM_FEATURES_MAX: int
BM_TREES_MAX: int
BM_TREE_SIZE_MAX: int
BM_HEIGHT_MAX: int
BM_BUCKET_MAX: int
BM_STEPS_MAX: int
BM_STEPS_NAME: int
BM_COMPONENTS_MAX: int
BM_ABREAST: int
BM_PREFIX_LEN: int
BM_RANDOM_LEN: int
BM_HEX_LEN: int
BM_LEAF: int
BM_AT_VERSION: int
BM_AT_SIZE: int
BM_AT_CHECKSUM: int
BM_AT_PREDICATES: int
BM_AT_PREDICATE_ROWS: int
BM_AT_SECTIONS: int
BM_AT_STEPS: int
BM_AT_POINT: int
BM_AT_GROUPS: int
BM_AT_GROUP_ROWS: int
BM_HEADER_SIZE: int
BM_SECTION_ENTRY: int
BM_PREDICATE_ENTRY: int
BM_KEY_ENTRY: int
BM_MEANING_ENTRY: int
BM_LEVEL_ENTRY: int
BM_GROUP_ENTRY: int
BM_HASH_BASIS: int
BM_HASH_PRIME: int
BM_HASH_MIX: int
BM_KNOWN_MODE: int
BM_KNOWN_UID: int
BM_KNOWN_GID: int
BM_KNOWN_CLIENT: int
BM_KNOWN_HOUR: int
BM_KNOWN_NAME: int
BM_OK: int
BM_TRUNCATED: int
BM_NO_IMAGE: int
BM_NEWER: int
BM_TRAILING: int
BM_CHECKSUM: int
BM_MALFORMED: int
BM_OLDER: int
BM_COSTLY: int
BM_WHOLE: int
BM_FIRST: int
BM_LAST: int
BM_MIDDLE: int
BM_PREFIX: int
BM_ANY: int
BM_PLACES: int
BM_ATTR_FIRST: int
BM_ATTR_MIDDLE: int
BM_ATTR_LAST: int
BM_ATTR_MODE: int
BM_ATTR_UID: int
BM_ATTR_GID: int
BM_ATTRS: int
BM_SOURCE_HISTORY: int
BM_SOURCE_NAME: int
BM_SOURCE_CODE: int
BM_SOURCE_HOUR: int
BM_SOURCES: int
BM_SCOPE_DIRECTORY: int
BM_SCOPE_CALLER: int
BM_SCOPE_NAME: int
BM_SCOPE_NOTHING: int
BM_SCOPES: int
BM_TELLS_DIRECTORY: int
BM_TELLS_CALLER: int
BM_TELLS_NAME: int
BM_NAME_LENGTH: int
BM_NAME_PERIODS: int
BM_NAME_DIGITS: int
BM_NAME_CAPITALS: int
BM_NAME_SIGNS: int
BM_NAME_DIGIT_RUN: int
BM_NAME_HEX_RUN: int
BM_NAME_SUFFIX_LENGTH: int
BM_NAME_FIRST_BYTE: int
BM_NAME_LAST_BYTE: int
BM_NAME_RANDOM_WORD: int
BM_NAME_NUMBERS: int
BM_VALUE_MODE: int
BM_VALUE_UID: int
BM_VALUE_GID: int
BM_VALUE_CLIENT: int
BM_VALUE_SHAPE: int
BM_VALUE_SUFFIX: int
BM_VALUES: int
BM_ACCURATE: int
BM_BOUNDED: int
BM_POINTS: int
BM_SECTION_RULES: int
BM_SECTION_TREES: int
BM_SECTION_FOREST: int
BM_HINT_VERSION: int
BM_IMAGE_MAX: int
BM_NAME_MAX: int
BM_HOT_BLOCKS: int
