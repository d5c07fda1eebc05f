"""Perform one operation of a rewritten trace on a real file system."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from typing import TypeVar

from birthmark.data.common.descriptors import closing
from birthmark.layout_hint.rewrite import status as st
from birthmark.layout_hint.rewrite.permissions import READ, SEARCH, WRITE, permits
from birthmark.layout_hint.rewrite.schema import NAMED
from birthmark.research.replay.attributes import set_attributes, set_new_attributes
from birthmark.research.replay.credentials import Credentials
from birthmark.research.replay.operation import Operation
from birthmark.research.replay.store import DIRECTORY, Store

Result = TypeVar("Result")

NOFOLLOW = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
ZEROS = memoryview(bytes(1 << 20))
NODES = {"socket": stat.S_IFSOCK}
"""Kinds that are made as such; devices become FIFOs, so that none of this machine's are opened."""


class Performer:
    """Performs operations, and updates the store accordingly.

    Attributes:
        lenient: the number of operations that succeeded only as the superuser, because this file
            system is stricter than an NFS server.
        checks: the number of results, besides the status, that were compared and that matched.
    """

    def __init__(self, store: Store, credentials: Credentials, flush: bool) -> None:
        self._store, self._credentials, self._flush = store, credentials, flush
        self._methods: dict[str, Callable[[Operation], None]] = {
            name: getattr(self, f"_{name}")
            for name in (*NAMED, "setattr", "read", "write", "readlink", "commit")
            if name != "rmdir"
        }
        self._methods["rmdir"] = self._remove
        self._methods |= dict.fromkeys(("getattr", "access"), self._getattr)
        self._methods |= dict.fromkeys(("fsstat", "fsinfo", "pathconf"), self._fsstat)
        self._methods |= dict.fromkeys(("readdir", "readdirplus"), self._readdir)
        self.lenient = 0
        self.checks = {name: [0, 0] for name in ("object found", "bytes read", "size")}

    def perform(self, operation: Operation) -> int:
        """Perform an operation; return its NFS status.

        Raises:
            ValueError: there is no such procedure.
        """
        method = self._methods.get(operation.op)
        if method is None:
            raise ValueError(f"operation {operation.seq}: no procedure {operation.op!r}")
        try:
            method(operation)
        except OSError as error:
            return st.of_errno(error.errno or 0)
        return st.OK

    def _check(self, what: str, same: bool) -> None:
        counts = self.checks[what]
        counts[0] += 1
        counts[1] += same

    def _as_caller(self, operation: Operation) -> None:
        self._credentials.become(operation.caller)

    def _in_directory(self, operation: Operation) -> int:
        """Open the operation's directory, and become its caller."""
        above = self._store.directory(operation.id)
        self._as_caller(operation)
        return above

    def _leniently(
        self, operation: Operation, act: Callable[[], Result], explains: Callable[[], bool]
    ) -> Result:
        """Act as the caller, or as the superuser if the server's rules permitted the call."""
        try:
            return act()
        except PermissionError:
            if operation.status != st.OK or not self._credentials.real or not explains():
                raise
        self._credentials.restore()
        self.lenient += 1
        return act()

    # Calls on an object

    def _stat(self, number: int) -> os.stat_result:
        self._credentials.restore()
        if self._store.kind(number) == "directory":
            return os.fstat(self._store.directory(number))
        directory, name = self._store.place(number)
        return os.stat(name, dir_fd=self._store.directory(directory), follow_symlinks=False)

    def _getattr(self, operation: Operation) -> None:
        found = self._stat(operation.id)
        if operation.reply_size is not None:
            self._check("size", found.st_size == operation.reply_size)

    def _fsstat(self, operation: Operation) -> None:
        self._stat(operation.id)
        os.statvfs(self._store.directory(0))

    def _opened(self, operation: Operation, flags: int) -> int:
        """Open a file as the caller, with no more rights than a server would require."""
        kind = self._store.kind(operation.id)
        if kind != "file":
            wrong = errno.EISDIR if kind == "directory" else errno.EINVAL
            raise OSError(wrong, os.strerror(wrong))
        directory, name = self._store.place(operation.id)
        above = self._store.directory(directory)
        self._as_caller(operation)
        return self._leniently(
            operation,
            lambda: os.open(name, flags | NOFOLLOW, dir_fd=above),
            lambda: self._server_permits(operation, flags),
        )

    def _server_permits(self, operation: Operation, flags: int) -> bool:
        """Return whether a server is more lenient: it ignores the path, and trusts the owner.

        Executable files may be read (RFC 1813 section 4.4).
        """
        found = self._stat(operation.id)
        caller = operation.caller
        if caller.uid == found.st_uid:
            return True
        ways = (WRITE,) if flags & os.O_WRONLY else (READ, SEARCH)
        mode = stat.S_IMODE(found.st_mode)
        return any(permits(mode, found.st_uid, found.st_gid, caller, way) for way in ways)

    def _read(self, operation: Operation) -> None:
        with closing(self._opened(operation, os.O_RDONLY)) as descriptor:
            data = os.pread(descriptor, operation.count or 0, operation.offset or 0)
        if operation.reply_count is not None:
            self._check("bytes read", len(data) == operation.reply_count)

    def _write(self, operation: Operation) -> None:
        offset, left = operation.offset or 0, operation.count or 0
        with closing(self._opened(operation, os.O_WRONLY)) as descriptor:
            while left:
                written = os.pwrite(descriptor, ZEROS[:left], offset)
                offset, left = offset + written, left - written
            if self._flush:
                os.fdatasync(descriptor)

    def _commit(self, operation: Operation) -> None:
        if not self._flush:
            self._stat(operation.id)
            return
        with closing(self._opened(operation, os.O_RDONLY)) as descriptor:
            os.fsync(descriptor)

    def _readlink(self, operation: Operation) -> None:
        kind = self._store.kind(operation.id)
        if kind != "symlink":
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        directory, name = self._store.place(operation.id)
        above = self._store.directory(directory)
        self._credentials.restore()
        os.readlink(name, dir_fd=above)

    def _readdir(self, operation: Operation) -> None:
        above = self._in_directory(operation)
        listing = self._leniently(
            operation,
            lambda: os.open(b".", DIRECTORY, dir_fd=above),
            lambda: self._server_permits(operation, os.O_RDONLY),
        )
        with closing(listing):
            if operation.cookie:
                return  # the listing was read when it began
            self._credentials.restore()
            with os.scandir(listing) as entries:
                for entry in entries:
                    if operation.op == "readdirplus":
                        entry.stat(follow_symlinks=False)

    def _setattr(self, operation: Operation) -> None:
        if operation.size is not None:
            with closing(self._opened(operation, os.O_WRONLY)) as descriptor:
                os.ftruncate(descriptor, operation.size)
        kind = self._store.kind(operation.id)
        self._credentials.restore()
        directory, name = self._store.place(operation.id)
        above = self._store.directory(directory)
        if kind == "symlink":
            self._as_caller(operation)
            set_attributes(name, operation, self._credentials.real, above)
            return
        # A socket cannot be opened, only pointed at; its attributes are set through the pointer.
        access = os.O_PATH if kind == "socket" else os.O_RDONLY
        with closing(os.open(name, NOFOLLOW | access, dir_fd=above)) as descriptor:
            at = b"/proc/self/fd/%d" % descriptor if kind == "socket" else descriptor
            self._as_caller(operation)
            set_attributes(at, operation, self._credentials.real)

    # Calls on names

    def _lookup(self, operation: Operation) -> None:
        name = operation.name or b""
        above = self._store.directory(operation.id)
        if name == b"..":
            self._stat(-1 if operation.new_id is None else operation.new_id)
            return
        self._as_caller(operation)
        found = os.stat(name, dir_fd=above, follow_symlinks=False)
        if operation.new_id is not None:
            self._check("object found", found.st_ino == self._store.inode(operation.new_id))
        if operation.reply_size is not None:
            self._check("size", found.st_size == operation.reply_size)

    def _create(self, operation: Operation) -> None:
        name = operation.name or b""
        flags = os.O_CREAT | os.O_WRONLY | NOFOLLOW
        flags |= os.O_EXCL if operation.how else os.O_TRUNC if operation.size == 0 else 0
        mode = 0o600 if operation.mode is None else operation.mode & 0o7777
        above = self._in_directory(operation)
        made = self._leniently(
            operation,
            lambda: os.open(name, flags, mode, dir_fd=above),
            lambda: operation.how == 0,
        )
        with closing(made):
            if operation.size:
                os.ftruncate(made, operation.size)
        self._adopt(operation, above, name)

    def _adopt(self, operation: Operation, above: int, name: bytes) -> None:
        """Add a new object to the store, and set the attributes that the server gave it."""
        found = os.stat(name, dir_fd=above, follow_symlinks=False)
        if operation.how != 0 and self._differs(operation, found):
            self._credentials.restore()
            set_new_attributes(name, above, operation, self._credentials.real)
        self._store.add(operation.new_id, operation.id, name, found)

    def _differs(self, operation: Operation, found: os.stat_result) -> bool:
        wanted = (operation.mode, operation.owner, operation.group)
        real = (stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid)
        return any(want not in (None, have) for want, have in zip(wanted, real, strict=True))

    def _mkdir(self, operation: Operation) -> None:
        above = self._in_directory(operation)
        mode = 0o777 if operation.mode is None else operation.mode & 0o7777
        os.mkdir(operation.name or b"", mode, dir_fd=above)
        self._adopt(operation, above, operation.name or b"")

    def _symlink(self, operation: Operation) -> None:
        above = self._in_directory(operation)
        os.symlink(operation.target or b"unknown", operation.name or b"", dir_fd=above)
        self._adopt(operation, above, operation.name or b"")

    def _mknod(self, operation: Operation) -> None:
        """Make a socket or a FIFO; devices become FIFOs, so that none of this machine's are opened.

        The superuser makes it, because not every system lets others do so.
        """
        above = self._in_directory(operation)
        mode = 0o600 if operation.mode is None else operation.mode & 0o7777
        kind = NODES.get(operation.kind or "", stat.S_IFIFO)
        os.mknod(operation.name or b"", mode | kind, dir_fd=above)
        self._adopt(operation, above, operation.name or b"")

    def _remove(self, operation: Operation) -> None:
        above = self._in_directory(operation)
        remove = os.rmdir if operation.op == "rmdir" else os.unlink
        remove(operation.name or b"", dir_fd=above)
        self._store.remove(operation.id, operation.name or b"")

    def _rename(self, operation: Operation) -> None:
        source, target = self._directories(operation.id, operation.id2)
        name, name2 = operation.name or b"", operation.name2 or b""
        self._as_caller(operation)
        os.rename(name, name2, src_dir_fd=source, dst_dir_fd=target)
        self._store.move((operation.id, name), (operation.id2 or 0, name2))

    def _link(self, operation: Operation) -> None:
        self._store.kind(operation.id)
        directory, old = self._store.place(operation.id)
        source, target = self._directories(directory, operation.id2)
        name = operation.name or b""
        self._as_caller(operation)
        both = {"src_dir_fd": source, "dst_dir_fd": target, "follow_symlinks": False}
        self._leniently(
            operation,
            lambda: os.link(old, name, **both),  # type: ignore[arg-type]
            lambda: True,  # Linux may protect others' files from hard links
        )
        self._store.link(operation.id, operation.id2 or 0, name)

    def _directories(self, first: int, second: int | None) -> tuple[int, int]:
        target = self._store.directory(0 if second is None else second)
        return self._store.directory(first), target
