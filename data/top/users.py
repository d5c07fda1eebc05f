"""Names of users: from a passwd file, or from lines of a number and a name."""

from __future__ import annotations

from pathlib import Path


def names(path: Path) -> dict[int, str]:
    """Return the names of users by number.

    A line is one of passwd(5), ``NAME:PASSWORD:UID:…``, or a number, blanks and a name. The first
    name of a number counts. Empty lines, and lines that begin with ``#``, ``+`` or ``-``, are
    skipped.

    Raises:
        OSError: the file cannot be read.
        ValueError: a line is neither; the message names the file and the line.
    """
    found: dict[int, str] = {}
    content = path.read_text(encoding="utf-8", errors="surrogateescape")
    for number, line in enumerate(content.splitlines(), 1):
        if not line.strip() or line.lstrip()[0] in "#+-":
            continue
        uid, name = _passwd(line) if ":" in line else _pair(line)
        if not name or not uid.isdecimal():
            raise ValueError(
                f"{path}: line {number}: expected NAME:PASSWORD:UID:… as in passwd, or a number"
                f" and a name; found {line[:80]!r}"
            )
        found.setdefault(int(uid), name)
    return found


def _passwd(line: str) -> tuple[str, str]:
    name, _, uid = [*line.split(":"), "", ""][:3]
    return uid, name


def _pair(line: str) -> tuple[str, str]:
    uid, _, name = line.strip().partition(" ") if " " in line.strip() else line.partition("\t")
    return uid.strip(), name.strip()
