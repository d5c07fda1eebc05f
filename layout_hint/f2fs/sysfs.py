"""Reading and changing the lists of a mounted file system through sysfs.

``kernel`` is the folder in which the kernel shows each mounted F2FS, ``/sys/fs/f2fs``. It accepts
one change at a time (``Documentation/ABI/testing/sysfs-fs-f2fs``, ``extension_list``): ``[h]db``
adds to the hot list, ``[c]!jpg`` removes from the cold one. Each is on the disk when the write
returns.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from birthmark.layout_hint.f2fs.extensions import Lists, Temperature

_FILE, _SMALL = "extension_list", "min_hot_blocks"


def mounted(kernel: Path) -> list[str]:
    """Return the names of the devices with a mounted F2FS."""
    return sorted(path.parent.name for path in kernel.glob(f"*/{_FILE}"))


def read(device: str, kernel: Path) -> Lists:
    """Return the lists of a device, such as ``sda1``.

    Raises ``ValueError`` if it has no mounted F2FS, or lists of another format.
    """
    path = kernel / device / _FILE
    if Path(device).name != device or not path.is_file():
        there = ", ".join(mounted(kernel)) or "none"
        raise ValueError(f"{path}: expected a mounted F2FS, one of: {there}")
    return Lists.parse(path.read_text(encoding="utf-8", errors="replace"), str(path))


def small_is_hot(device: str, kernel: Path) -> bool:
    """Return whether all data written in small pieces go to the log of hot data.

    They do unless ``min_hot_blocks`` is 0. Raises ``ValueError`` if that is no number.
    """
    path = kernel / device / _SMALL
    if not path.is_file():
        return True
    text = path.read_text(encoding="utf-8", errors="replace").strip()
    if not text.isdecimal():
        raise ValueError(f"{path}: expected a number, found {text!r}")
    return int(text) > 0


def changes(there: Lists, wanted: Lists) -> list[str]:
    """Return the lines that turn the lists into ``wanted``, in the order that a kernel accepts.

    Removals come first, because there may be no room. Extensions keep their places: a kernel
    ignores the order within a list.
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
