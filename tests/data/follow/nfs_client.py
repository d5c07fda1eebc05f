"""A client of NFS that does what users do: ``python nfs_client.py VERSION EXPORT FOLDER FILES``.

It speaks to the server on this host by libnfs, which needs nothing of the kernel, and works in a
folder of the export that it makes itself.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence
from ctypes import byref, c_char_p, c_int, c_uint64, c_void_p
from itertools import cycle, islice
from typing import Any

LIBRARY = "libnfs.so.13"
SIZES = {3: (0, 100, 5_000, 70_000, 2_500_000), 4: (0, 100, 1_000)}
"""The sizes of files, bytes: libnfs 4.0 writes no more at once in version 4."""


class Client:
    """One mount of a directory that a server exports."""

    def __init__(self, version: int, export: str) -> None:
        self._library = ctypes.CDLL(LIBRARY)
        self._library.nfs_init_context.restype = c_void_p
        self._library.nfs_get_error.restype = c_char_p
        self._library.nfs_get_error.argtypes = [c_void_p]
        self._context = c_void_p(self._library.nfs_init_context())
        self.done("nfs_set_version", c_int(version))
        self.done("nfs_mount", b"127.0.0.1", export.encode())

    def call(self, name: str, *arguments: Any) -> int:
        """Call a function of the library; return its result, less than 0 for an error."""
        result: int = getattr(self._library, name)(self._context, *arguments)
        return result

    def done(self, name: str, *arguments: Any) -> int:
        """Like `call`, but an error ends the program."""
        result = self.call(name, *arguments)
        if result < 0:
            sys.exit(f"{name}: {self._library.nfs_get_error(self._context)!r}")
        return result

    def write(self, path: bytes, content: bytes) -> None:
        """Make a file."""
        file = c_void_p()
        how = os.O_CREAT | os.O_RDWR
        self.done("nfs_open2", path, c_int(how), c_int(0o640), byref(file))
        if content:
            self.done("nfs_write", file, c_uint64(len(content)), content)
        self.done("nfs_close", file)

    def read(self, path: bytes, size: int) -> bytes:
        """Return the contents of a file of a size."""
        file, content = c_void_p(), ctypes.create_string_buffer(max(size, 1))
        self.done("nfs_open", path, c_int(os.O_RDONLY), byref(file))
        read = self.done("nfs_read", file, c_uint64(size), content) if size else 0
        self.done("nfs_close", file)
        return content.raw[:read]

    def names(self, path: bytes) -> None:
        """List a directory."""
        listed = c_void_p()
        self.done("nfs_opendir", path, byref(listed))
        self.call("nfs_closedir", listed)


def work(client: Client, folder: bytes, sizes: Sequence[int]) -> None:
    """Make, write, read, rename, link and remove files, and provoke errors."""
    client.done("nfs_mkdir", folder)
    for number, size in enumerate(sizes):
        path = folder + b"/inbox.%d" % number
        content = os.urandom(size)
        client.write(path, content)
        assert client.read(path, len(content)) == content
        if number % 2:
            client.done("nfs_rename", path, path + b".old")
            client.done("nfs_truncate", path + b".old", c_uint64(10))
        if number % 3 == 0:
            client.write(path + b".lock", b"")
            client.done("nfs_unlink", path + b".lock")
        if number % 5 == 0:
            client.done("nfs_symlink", b"inbox.0", path + b".link")
            assert client.call("nfs_unlink", path + b".none") < 0
    client.names(folder)


if __name__ == "__main__":
    version, files = int(sys.argv[1]), int(sys.argv[4])
    sizes = list(islice(cycle(SIZES[version]), files))
    work(Client(version, sys.argv[2]), os.fsencode(f"/{sys.argv[3]}"), sizes)
