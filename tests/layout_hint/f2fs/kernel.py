"""A folder in the place of ``/sys/fs/f2fs``, which takes and refuses lines as a kernel does."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

OWN = "cold file extension:\nmp\njpg\nso\nhot file extension:\ndb\n"
"""Lists such as ``mkfs.f2fs`` brings."""


def take(text: str, line: str) -> str:
    """Return what a kernel shows after a line was written (``f2fs_update_extension_list``).

    Raises ``OSError`` for what it refuses: more than 64, one twice, one to remove
    that is not there.
    """
    cold, hot = (
        own.split()
        for own in text.split("cold file extension:\n")[1].split("hot file extension:\n")
    )
    own = {"[c]": cold, "[h]": hot}[line[:3]]
    removes, extension = line[3] == "!", line[3:].removeprefix("!")
    full = not removes and len(cold) + len(hot) == 64
    if full or not 1 <= len(extension) <= 7 or removes != (extension in own):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    if removes:
        own.remove(extension)
    else:
        own.append(extension)
    return "\n".join(["cold file extension:", *cold, "hot file extension:", *hot, ""])


def mount(folder: Path, device: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Show a mounted F2FS with lists of its own in ``folder``; return the file of its lists."""
    lists = folder / device / "extension_list"
    lists.parent.mkdir(parents=True)
    lists.write_text(OWN)
    write: Callable[..., int] = Path.write_text

    def written(path: Path, text: str, *how: Any, **named: Any) -> int:
        if path == lists:
            text = take(lists.read_text(), text)
        return write(path, text, *how, **named)

    monkeypatch.setattr(Path, "write_text", written)
    return lists
