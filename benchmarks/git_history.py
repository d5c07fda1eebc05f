"""The history of a git repository, as the operations of a trace.

Each commit of the checked-out branch becomes the operations that would have brought its tree
about; a merge is one commit, as the branch saw it. Files and names follow by the code that reads
traces (``data.lives``), with real names, modes, authors and sizes over decades.

- **Time** is the committer's, and a day of git is a second of the trace: ``lifespan<=30`` holds of
  a file that is gone within 30 days, and early sizes are those of the first 5 days. Where clocks
  went back, and within a commit, operations are a microsecond apart.
- **The user** is the author's e-mail address, numbered by its first commit.
- **A write** is one new content, of its whole size. A rename that git detects continues a life.
- **Reads** are not in git: the predicates of ``UNKNOWN`` are unknown.
- **Submodules** are left out, because their files are in other repositories.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.days import Day
from birthmark.data.common.durations import SECOND
from birthmark.data.lives import tables
from birthmark.data.schema import OPERATIONS, TIME, filled

DAY = 86_400
"""Seconds of git that are a second of the trace."""

UNKNOWN = ("amtime<=0", "amtime>0", "write-only", "read-only")
"""Keys of the predicates that depend on reads."""

LAST = 1 << 40
"""Greatest time of a commit, seconds since the epoch: a clock may be set to anything."""

_ROWS, _BYTES = 10_000, 1 << 20
_KINDS = {b"100": ("create", 1), b"120": ("symlink", 5)}
"""By the first digits of git's mode: the operation that makes such a file, and its type."""

_CALL: dict[str, Any] = {"server": "git", "client": "git", "transport": "tcp", "version": 3}
_CALL |= {"status": 0, "short": False, "how": 1, "nlink": 1}
_CALL |= dict.fromkeys(("server_port", "client_port", "xid", "retransmits", "duplicate_replies"), 0)
"""What all calls have in common; a guarded create (``how``) is never of a file that was there."""

Row = dict[str, Any]
Size = Callable[[bytes], int]


@dataclass(frozen=True)
class Change:
    """A change of a path, as ``git diff --raw`` has it.

    ``letter`` is its kind, ``mode`` the new one in octal digits; ``blobs`` are the names of the old
    and new content. ``source`` is the former path if it was renamed, and else ``path``.
    """

    letter: bytes
    mode: bytes
    blobs: tuple[bytes, bytes]
    source: bytes
    path: bytes


@dataclass(frozen=True)
class Commit:
    """A commit's time in seconds since the epoch, its author, and its changes to the branch."""

    time: int
    author: bytes
    changes: list[Change] = field(default_factory=list)


def observed(name: str, history: Iterable[pa.RecordBatch], until: int | None = None) -> Day:
    """Return the files and names that operations show until a time (microseconds; None: all)."""
    if until is not None:
        last = pa.scalar(until, TIME)
        history = (batch.filter(pc.less_equal(batch["time"], last)) for batch in history)
    return Day(name, *tables(history))


def operations(repository: Path) -> Iterator[pa.RecordBatch]:
    """Yield a repository's history as batches of ``data.schema.OPERATIONS``.

    ``repository`` is a work tree or a git directory. Memory is bounded by the authors, the paths of
    a tree, and the changes of a commit. Raises ``ValueError`` if git cannot read the repository, or
    contents are missing, as in a partial clone.
    """
    with _sizes(repository) as size:
        tree = _Tree(size)
        rows = (row for commit in commits(repository) for row in tree.operations(commit))
        while batch := list(islice(rows, _ROWS)):
            columns = sorted(set().union(*batch))
            schema = pa.schema([OPERATIONS.field(name) for name in columns])
            yield filled(pa.RecordBatch.from_pylist(batch, schema), OPERATIONS)


def commits(repository: Path) -> Iterator[Commit]:
    """Yield the commits of the checked-out branch, the oldest first."""
    # the user's settings must not change the form of the output, or leave the first commit out
    settings = ("-c", "log.showRoot=true", "-c", "log.showSignature=false")
    merges = ("--first-parent", "--diff-merges=first-parent")
    form = ("--raw", "--no-abbrev", "--no-relative", "-z", "-M", "--format=%ct %ae")
    commit = None
    with _git(repository, *settings, "log", "--reverse", *merges, *form) as git:
        tokens = _split(git.stdout)
        for token in (token.removeprefix(b"\n") for token in tokens):
            if commit and token.startswith(b":"):
                commit.changes.append(_change(token, tokens))
                continue
            if commit:
                yield commit
            time, _, author = token.partition(b" ")
            commit = Commit(min(int(time or 0), LAST), author)  # git shows no time before 1970
    if commit:
        yield commit


def _change(token: bytes, paths: Iterator[bytes]) -> Change:
    _, mode, old, new, letter = token.removeprefix(b":").split(b" ")
    source = next(paths)
    path = next(paths) if letter[:1] in b"RC" else source
    return Change(letter[:1], mode, (old, new), source, path)


class _Tree:
    """The branch's tree: handles of files and directories by path, and what became of them."""

    def __init__(self, size: Size) -> None:
        self._size = size
        self._files: dict[bytes, bytes] = {}
        self._directories = {b"": b"top"}
        self._entries: Counter[bytes] = Counter()
        self._uids: dict[bytes, int] = {}
        self._time = self._last_handle = 0

    def operations(self, commit: Commit) -> Iterator[Row]:
        """Yield the operations that a commit comes to, in an order in which they are possible."""
        self._time = max(self._time, commit.time * SECOND // DAY)
        uid = self._uids.setdefault(commit.author, len(self._uids))
        for row in self._changed(commit.changes):
            self._time += 1
            times = {"time": self._time, "reply_time": self._time}
            yield {**_CALL, **row, **times, "uid": uid, "owner": uid}

    def _changed(self, changes: list[Change]) -> Iterator[Row]:
        renames = {change.path for change in changes if self._can_rename(change)}
        for change in changes:
            if change.letter in b"DTR" and change.path not in renames:
                yield from self._remove(change.source)
        for change in (change for change in changes if change.path in renames):
            yield from self._rename(change.source, change.path)
        for change in changes:
            if change.mode[:3] in _KINDS:
                yield from self._fill(change)

    def _can_rename(self, change: Change) -> bool:
        """Return whether no file is where the new path needs a directory."""
        blocked = any(path in self._files for path in _above(change.path))
        return change.letter == b"R" and change.source in self._files and not blocked

    def _remove(self, path: bytes) -> Iterator[Row]:
        if self._files.pop(path, None):
            yield {"op": "remove", **self._place(path)}
            yield from self._leave(path)

    def _rename(self, source: bytes, path: bytes) -> Iterator[Row]:
        yield from self._enter(path)
        target = self._place(path)
        yield {"op": "rename", **self._place(source), "fh2": target["fh"], "name2": target["name"]}
        self._files[path] = self._files.pop(source)
        yield from self._leave(source)

    def _fill(self, change: Change) -> Iterator[Row]:
        op, ftype = _KINDS[change.mode[:3]]
        if change.path not in self._files:
            yield from self._enter(change.path)
            handle = self._files[change.path] = self._handle()
            mode = int(change.mode, 8) & 0o7777
            place = self._place(change.path)
            yield {"op": op, **place, "new_fh": handle, "ftype": ftype, "set_mode": mode}
        if change.blobs[0] != change.blobs[1] and op == "create":
            size = self._size(change.blobs[1])
            content = {"fh": self._files[change.path], "ftype": ftype, "size": size}
            call = "write" if size else "setattr"
            yield {"op": call, **content, "reply_count": min(size, 0xFFFF_FFFF)}

    def _enter(self, path: bytes) -> Iterator[Row]:
        """Make the directories above a new path."""
        for directory in _above(path):
            if directory not in self._directories:
                handle = self._directories[directory] = self._handle()
                self._entries[directory.rpartition(b"/")[0]] += 1
                yield {"op": "mkdir", **self._place(directory), "new_fh": handle, "ftype": 2}
        self._entries[path.rpartition(b"/")[0]] += 1

    def _leave(self, path: bytes) -> Iterator[Row]:
        """Remove the directories that a path leaves empty."""
        while path:
            path = path.rpartition(b"/")[0]
            self._entries[path] -= 1
            if self._entries[path] or not path:
                return
            del self._entries[path], self._directories[path]
            if path not in self._files:  # a file that was renamed over it has ended it
                yield {"op": "rmdir", **self._place(path)}

    def _place(self, path: bytes) -> Row:
        directory, _, name = path.rpartition(b"/")
        return {"fh": self._directories[directory], "name": name}

    def _handle(self) -> bytes:
        self._last_handle += 1
        return b"%d" % self._last_handle


def _above(path: bytes) -> list[bytes]:
    """Return the directories above a path, from the top, which has none of its own."""
    return [path[:place] for place, byte in enumerate(path) if byte == ord("/")]


def _split(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield what is before each null byte."""
    rest = b""
    while chunk := stream.read(_BYTES):
        *whole, rest = (rest + chunk).split(b"\0")
        yield from whole


@contextmanager
def _sizes(repository: Path) -> Iterator[Size]:
    """Return a function from the name of a content to its size in bytes."""
    with _git(repository, "cat-file", "--batch-check=%(objectsize)") as git:

        def size(blob: bytes) -> int:
            git.stdin.write(blob + b"\n")
            git.stdin.flush()
            answer = git.stdout.readline().strip()
            if not answer.isdigit():
                raise ValueError(f"{repository}: expected all contents, {blob.decode()} is missing")
            return int(answer)

        yield size
        git.stdin.close()


@contextmanager
def _git(repository: Path, *arguments: str) -> Iterator[Any]:
    """Run git on a repository, and end it; raise ``ValueError`` with its message if it failed."""
    command = ["git", "-C", str(repository), *arguments]
    environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
    pipe = subprocess.PIPE
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=errors, env=environment) as git,
    ):
        try:
            yield git
        except BaseException:
            git.kill()
            raise
        if git.wait():
            errors.seek(0)
            raise ValueError(f"{repository}: {errors.read().decode(errors='replace').strip()}")
