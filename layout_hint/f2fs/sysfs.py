"""The lists of a file system that is mounted, read and changed through sysfs.

``kernel`` is the folder in which the kernel shows each F2FS that is mounted, ``/sys/fs/f2fs``. It
takes one change at a time (``Documentation/ABI/testing/sysfs-fs-f2fs``,
``extension_list``): ``[h]db`` adds to the hot list, ``[c]!jpg`` takes from the cold one. Each is in
the superblock on the disk when the write returns.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from birthmark.layout_hint.f2fs.extensions import Lists, Temperature

_FILE, _SMALL = "extension_list", "min_hot_blocks"


def mounted(kernel: Path) -> list[str]:
    """Return the devices whose F2FS is mounted, by name."""
    return sorted(path.parent.name for path in kernel.glob(f"*/{_FILE}"))


def read(device: str, kernel: Path) -> Lists:
    """Return the lists of a device, such as ``sda1``.

    Raises ``ValueError`` where no F2FS of it is mounted, or its lists cannot be understood.
    """
    path = kernel / device / _FILE
    if Path(device).name != device or not path.is_file():
        there = ", ".join(mounted(kernel)) or "none"
        raise ValueError(f"{path}: expected an F2FS that is mounted; those that are: {there}")
    return Lists.parse(path.read_text(encoding="utf-8", errors="replace"), str(path))


def small_is_hot(device: str, kernel: Path) -> bool:
    """Tell whether all that is written in small pieces goes to the log of hot data there.

    So it is unless ``min_hot_blocks`` is 0. Raises ``ValueError`` where that is no number.
    """
    path = kernel / device / _SMALL
    if not path.is_file():
        return True
    text = path.read_text(encoding="utf-8", errors="replace").strip()
    if not text.isdecimal():
        raise ValueError(f"{path}: expected a number, found {text!r}")
    return int(text) > 0


def changes(there: Lists, wanted: Lists) -> list[str]:
    """Return the lines that make the lists what is wanted, in the order that a kernel takes.

    What goes, goes first, since there may be no room. Extensions keep the places that they have: in
    which order those of one list stand is nothing to a kernel.
    """
    return [*_lines(there, wanted, "!"), *_lines(wanted, there, "")]


def write(device: str, lines: list[str], kernel: Path) -> None:
    """Change the lists of a device; raise ``OSError`` for a line that the kernel refuses."""
    path = kernel / device / _FILE
    for line in lines:
        try:
            path.write_text(line, encoding="ascii")
        except OSError as error:
            raise OSError(error.errno, f"refused {line!r}: {error.strerror}", str(path)) from error


def _lines(those: Lists, without: Lists, sign: str) -> Iterator[str]:
    pairs: tuple[tuple[Temperature, tuple[str, ...], tuple[str, ...]], ...] = (
        ("cold", those.cold, without.cold),
        ("hot", those.hot, without.hot),
    )
    for temperature, own, others in pairs:
        for extension in own:
            if extension not in others:
                yield f"[{temperature[0]}]{sign}{extension}"
