"""Damage to a file, as disks and crashes do it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random


def _flipped(content: bytes) -> bytes:
    """Return the content with one bit flipped: for Parquet, in a page, which has a checksum."""
    changed = bytearray(content)
    changed[len(changed) // 8] ^= 1 << Random(len(content)).randrange(8)
    return bytes(changed)


KINDS: dict[str, Callable[[bytes], bytes]] = {
    "truncated": lambda content: content[: len(content) // 2],
    "flipped": _flipped,
    "zeroed": lambda content: bytes(len(content)),
    "empty": lambda content: b"",
}
"""The kinds of damage to a file's content, by name."""


@contextmanager
def damaged(path: Path, kind: str) -> Iterator[None]:
    """Damage a file during the block: in place, as it is mapped and open."""
    content = path.read_bytes()
    path.write_bytes(KINDS[kind](content))
    try:
        yield
    finally:
        path.write_bytes(content)
