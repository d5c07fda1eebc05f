"""The extension lists of an F2FS file system, and the names that they match.

F2FS (``fs/f2fs/namei.c``, ``set_file_temperature``) looks a new file's name up in two lists of its
superblock: cold and hot extensions. A match sets the file's temperature for good, and its data go
to a separate log of segments. The cold list comes first. A name has an extension
(``is_extension_exist`` with ``tmp_ext`` in Linux 6.1; later ``is_temperature_extension``) after any
period but one that begins the name, in either case; more may follow it. So ``so`` matches
``libc.so.6``, and ``a.sock``, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

MOST = 64
"""Most extensions of a superblock, in both lists (``F2FS_MAX_EXTENSION``)."""

LONGEST = 7
"""Most bytes of an extension (``F2FS_EXTENSION_LEN``, including a final zero)."""

Temperature = Literal["cold", "hot"]

_HEADINGS = {"cold": "cold file extension:", "hot": "hot file extension:"}


@dataclass(frozen=True)
class Lists:
    """The extensions of each list, in order.

    Raises ``ValueError`` for lists that a superblock cannot hold.
    """

    cold: tuple[str, ...] = ()
    hot: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for extension in (*self.cold, *self.hot):
            if not can_be_written(extension):
                raise ValueError(
                    f"{extension!r}: expected an extension of 1 to {LONGEST} bytes that print,"
                    " without a space, a comma or a ! before it"
                )
        if len(self.cold) + len(self.hot) > MOST:
            found = len(self.cold) + len(self.hot)
            raise ValueError(f"expected {MOST} extensions at most, found {found}")

    @classmethod
    def parse(cls, text: str, where: str) -> Lists:
        """Return the lists from a kernel's ``extension_list``.

        Raises ``ValueError``, naming ``where`` and the line, for another format.
        """
        found: dict[str, list[str]] = {}
        own: list[str] | None = None
        for number, line in enumerate(text.splitlines(), start=1):
            heading = next((key for key, head in _HEADINGS.items() if line == head), None)
            if heading is not None:
                own = found.setdefault(heading, [])
            elif own is None:
                raise ValueError(f"{where}: line {number}: expected {_HEADINGS['cold']!r}")
            elif line:
                own.append(line)
        if found.keys() != _HEADINGS.keys():
            raise ValueError(f"{where}: expected a list under {_HEADINGS['hot']!r}, found none")
        try:
            return cls(tuple(found["cold"]), tuple(found["hot"]))
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from error

    def __str__(self) -> str:
        """Return them in the kernel's format."""
        own = (("cold", self.cold), ("hot", self.hot))
        return "".join(f"{line}\n" for key, each in own for line in (_HEADINGS[key], *each))

    def temperature(self, name: bytes) -> Temperature | None:
        """Return the temperature of a new file of that name; None: the default."""
        having = extensions_of(name)
        if any(own.lower().encode() in having for own in self.cold):
            return "cold"
        return "hot" if any(own.lower().encode() in having for own in self.hot) else None


def can_be_written(extension: str) -> bool:
    """Return whether a kernel and ``mkfs.f2fs`` take an extension literally."""
    plain = extension.isascii() and extension.isprintable() and not set(extension) & {" ", ","}
    return plain and 1 <= len(extension) <= LONGEST and extension[0] != "!" and extension != "*"


def extensions_of(name: bytes) -> frozenset[bytes]:
    """Return all extensions that a name has, in lower case."""
    return frozenset(_extensions_of(name.lower()))


def _extensions_of(name: bytes) -> Iterator[bytes]:
    place = name.find(b".", 1)
    while place >= 0:
        for end in range(place + 2, min(place + 1 + LONGEST, len(name)) + 1):
            yield name[place + 1 : end]
        place = name.find(b".", place + 1)
