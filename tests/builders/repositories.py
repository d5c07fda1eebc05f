"""Repositories of git, written as a stream of ``git fast-import``."""

from __future__ import annotations

import subprocess
from hashlib import sha256
from pathlib import Path

from benchmarks.git_history import DAY

START = 1_000_000_000
"""Time of day 0, seconds since the epoch."""


def git(folder: Path, *arguments: str, given: bytes = b"") -> str:
    """Run git in a folder, and return what it prints."""
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, input=given, check=True, capture_output=True).stdout.decode()


def quoted(path: bytes) -> bytes:
    """Return a path of any bytes, quoted for the stream."""
    return b'"%s"' % b"".join(b"\\%03o" % byte for byte in path)


def put(path: bytes, content: bytes, mode: bytes = b"100644") -> bytes:
    """Return a change that gives a path a content."""
    return b"M %s inline %s\ndata %d\n%s\n" % (mode, quoted(path), len(content), content)


def drop(path: bytes) -> bytes:
    """Return a change that removes a path."""
    return b"D %s\n" % quoted(path)


def commit(day: float, *changes: bytes, author: bytes = b"a@b", more: bytes = b"") -> bytes:
    """Return a commit to the branch ``main``; ``more`` stands before its changes."""
    who = b"x <%s> %d +0000" % (author, START + round(day * DAY))
    head = b"commit refs/heads/main\nauthor %s\ncommitter %s\ndata 0\n" % (who, who)
    return head + more + b"".join(changes) + b"\n"


def import_into(repository: Path, *commits: bytes) -> None:
    """Make a repository, if there is none, and add commits to it."""
    git(repository.parent, "init", "-q", "-b", "main", repository.name)
    git(repository, "fast-import", "--quiet", "--force", given=b"".join(commits))


def project(folder: Path, days: int) -> Path:
    """Return a repository in which each day a page is born, and a draft that is gone next day."""
    repository = folder / "project"
    history = [
        commit(
            day,
            put(b"draft%d.tmp" % day, sha256(b"%d" % day).digest()),
            put(b"page%d.html" % day, b"<p>" * 10_000),
            *([drop(b"draft%d.tmp" % (day - 1))] if day else []),
        )
        for day in range(days)
    ]
    import_into(repository, *history)
    return repository
