"""What each procedure needs of the file system to end as it did, and what it changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from data.replay import status as st
from data.replay.calls import Call
from data.replay.inference import UNSEEN, Inference
from data.replay.permissions import (
    NOBODY,
    READ,
    SEARCH,
    STICKY,
    SUPERUSER,
    WRITE,
    Caller,
    permits,
)
from data.replay.schema import KINDS
from data.replay.tree import Node, Tree

MODIFY = WRITE | SEARCH
NEEDS_KIND = {
    "read": "file",
    "write": "file",
    "commit": "file",
    "readlink": "symlink",
    "readdir": "directory",
    "readdirplus": "directory",
}
MAKES = {"create": "file", "mkdir": "directory", "symlink": "symlink", "mknod": None}
NAMED = {"lookup", "remove", "rmdir", "rename", "link", *MAKES}
HANDLED = {"getattr", "setattr", "access", "fsstat", "fsinfo", "pathconf", *NEEDS_KIND}
STALE = (st.ESTALE, st.BADHANDLE)
Write = Callable[..., None]


class Inexplicable(Exception):
    """An outcome that no state of a file system explains: the word says why."""


class Rules:
    """Takes the calls in the order of their execution.

    Args:
        tree: the replay's file system.
        inference: makes true what a call needs.
        write: writes the rewritten operation: the call, its caller, and the columns that differ.
    """

    def __init__(self, tree: Tree, inference: Inference, write: Write) -> None:
        self._tree, self._infer, self._write = tree, inference, write
        self._rules: dict[str, Callable[[Call], None]] = {
            "lookup": self._lookup,
            "remove": self._remove,
            "rmdir": self._remove,
            "rename": self._rename,
            "link": self._link,
            **dict.fromkeys(MAKES, self._make),
        }

    def apply(self, call: Call) -> None:
        """Satisfy a call, write it, and change the tree as it does.

        Raises:
            Inexplicable: it cannot be made to end so; the call was not written.
        """
        self._infer.caller = call.caller
        stale = (*STALE, st.ENOENT) if call.op in HANDLED else STALE
        if call.status in stale:
            self._stale(call)
        elif call.op in HANDLED:
            self._handle(call)
        elif call.status == st.ENAMETOOLONG:
            self._too_long(call)
        else:
            self._rules[call.op](call)

    def _stale(self, call: Call) -> None:
        """One of the handles was stale: the one that is not known, else the first."""
        fh, fh2 = call.fh or b"", call.fh2
        if fh2 and self._tree.get(fh) is not None and self._tree.get(fh2) is None:
            columns = {"id": self._infer.existing(fh).id, "id2": self._infer.gone(fh2)}
        else:
            columns = {"id": self._infer.gone(fh)}
            columns |= {"id2": self._infer.existing(fh2).id} if fh2 else {}
        self._write(call, call.caller, **columns)

    def _too_long(self, call: Call) -> None:
        if max(len(call.name or b""), len(call.name2 or b"")) <= 255:
            raise Inexplicable("name that the server found too long")
        columns = {"id": self._infer.existing(call.fh or b"").id}
        columns |= {"id2": self._infer.existing(call.fh2).id} if call.fh2 else {}
        self._write(call, SUPERUSER, **columns)

    def _allowed(self, call: Call, node: Node, wanted: int, lenient: bool = False) -> Caller:
        """Return the caller whom mode bits permit what the server permitted.

        Servers have rules besides (access lists, and with ``lenient`` an owner's rights to an open
        file); a call that they explain is the superuser's.
        """
        caller = call.caller
        if permits(node.mode, node.owner, node.group, caller, wanted):
            return caller
        if lenient and caller.uid == node.owner:
            return caller
        return SUPERUSER

    def _allowed_to_remove(self, call: Call, directory: Node, node: Node) -> Caller:
        caller = self._allowed(call, directory, MODIFY)
        if not (directory.mode or 0) & STICKY or caller.uid in (None, 0, directory.owner):
            return caller
        self._infer.learn(node, UNSEEN._replace(owner=caller.uid))
        return caller if node.owner == caller.uid else SUPERUSER

    def _directory(self, call: Call) -> Node:
        """Return the directory of name; a call was refused with ENOTDIR where it is none."""
        node = self._infer.existing(call.fh or b"", call.directory, "directory")
        self._infer.observe(node, call.directory, call)
        return node

    # Calls on a handle alone

    def _handle(self, call: Call) -> None:
        caller = call.caller
        if call.status == st.OK:
            node = self._infer.existing(call.fh or b"", call.attributes, NEEDS_KIND.get(call.op))
            caller = self._succeed(call, node)
        else:
            node, caller = self._refuse(call)
        row = {"id": node.id, **self._set_columns(call)}
        if call.status == st.OK:
            self._change(call, node)
            row["reply_size"] = _comparable(call, node)
        self._write(call, caller, **row)

    def _succeed(self, call: Call, node: Node) -> Caller:
        sets = _sets(call) if call.op == "setattr" else ()
        seen = call.attributes
        if call.op == "write":
            seen = seen._replace(size=_size_before(call, node))
        self._infer.observe(node, seen, call, sets)
        if call.op == "read" and node.size is None:
            self._infer.learn(node, UNSEEN._replace(size=(call.offset or 0) + _written(call)))
        if call.op == "setattr":
            return self._allowed_to_set(call, node)
        if call.op == "read":
            if permits(node.mode, node.owner, node.group, call.caller, SEARCH):
                return call.caller  # what may be executed may be read
            return self._allowed(call, node, READ, lenient=True)
        if call.op == "write":
            return self._allowed(call, node, WRITE, lenient=True)
        if call.op in ("readdir", "readdirplus"):
            return self._allowed(call, node, READ)
        return call.caller

    def _may_set(self, call: Call, node: Node, caller: Caller) -> bool:
        """Tell whether POSIX permits a setattr."""
        if not caller.uid or node.owner is None:
            return True
        owns = caller.uid == node.owner
        chown = call.set_owner not in (None, node.owner)
        chgrp = call.set_group not in (None, node.group) and not caller.in_group(call.set_group)
        times = {call.set_atime_how, call.set_mtime_how} - {None}
        if chown or chgrp:
            return False
        if owns:
            return True
        if call.set_mode is not None or call.set_group is not None or 2 in times:
            return False
        return permits(node.mode, node.owner, node.group, caller, WRITE)

    def _allowed_to_set(self, call: Call, node: Node) -> Caller:
        return call.caller if self._may_set(call, node, call.caller) else SUPERUSER

    def _set_columns(self, call: Call) -> dict[str, Any]:
        if call.op != "setattr":
            return {}
        now = (call.set_atime_how == 1) | (call.set_mtime_how == 1) << 1
        return {
            "mode": call.set_mode,
            "owner": call.set_owner,
            "group": call.set_group,
            "size": call.set_size,
            "atime": call.set_atime if call.set_atime_how == 2 else None,
            "mtime": call.set_mtime if call.set_mtime_how == 2 else None,
            "now": now or None,
        }

    def _change(self, call: Call, node: Node) -> None:
        """Change a node as a successful call did."""
        if call.op == "setattr":
            for name in ("mode", "owner", "group", "size"):
                value = getattr(call, f"set_{name}")
                if value is not None:
                    shown = getattr(call, name)
                    value = value if shown is None else shown
                    setattr(node, name, value & 0o7777 if name == "mode" else value)
        elif call.op == "write" and _written(call):
            node.size = max(node.size or 0, (call.offset or 0) + _written(call))
        elif call.op == "readlink" and node.initial:
            node.first.setdefault("target", call.target)
        elif call.op == "readdirplus":
            self._infer.listed(node, list(call.entries))

    def _refuse(self, call: Call) -> tuple[Node, Caller]:
        """Make a call on a handle end in its error."""
        caller = call.caller
        denied = call.status in (st.EACCES, st.EPERM)
        kind = NEEDS_KIND.get(call.op)
        if denied and call.op == "setattr":
            node = self._infer.existing(call.fh or b"", call.attributes)
            return node, self._refused_to_set(call, node)
        if denied and call.op in ("read", "write", "readdir", "readdirplus"):
            node = self._infer.existing(call.fh or b"", call.attributes, kind)
            wanted = WRITE if call.op == "write" else READ
            return node, self._infer.deny(node, caller, wanted)
        wrong = {
            ("readdir", st.ENOTDIR): "file",
            ("readdirplus", st.ENOTDIR): "file",
            ("read", st.EISDIR): "directory",
            ("write", st.EISDIR): "directory",
            ("readlink", st.EINVAL): "file",
        }.get((call.op, call.status or 0))
        seen = KINDS.get(call.ftype or 0)
        if wrong is None or seen == kind:
            raise Inexplicable("error that no state explains")
        return self._infer.existing(call.fh or b"", call.attributes, wrong), caller

    def _refused_to_set(self, call: Call, node: Node) -> Caller:
        caller = call.caller if call.uid else Caller(NOBODY, NOBODY, ())
        if not self._may_set(call, node, caller):
            return caller
        if call.set_size is not None and call.status == st.EACCES:
            return self._infer.deny(node, caller, WRITE)
        raise Inexplicable("refused by rules other than mode and owner")

    # Calls on names

    def _lookup(self, call: Call) -> None:
        name = call.name or b""
        if call.status == st.ENOTDIR:
            node = self._infer.existing(call.fh or b"", call.directory, "file")
            self._write(call, call.caller, id=node.id)
            return
        if name in (b".", b"..") and call.status != st.OK:
            raise Inexplicable("error that no state explains")
        directory = self._directory(call)
        caller, columns = call.caller, dict[str, int | None](id=directory.id)
        if call.status == st.EACCES:
            caller = self._infer.deny(directory, caller, SEARCH)
        elif call.status == st.ENOENT:
            self._infer.absent(directory, name)
            caller = self._allowed(call, directory, SEARCH)
        elif call.status == st.OK:
            node = self._found(call, directory)
            columns |= {"new_id": node.id, "reply_size": _comparable(call, node)}
            caller = self._allowed(call, directory, SEARCH)
        else:
            raise Inexplicable("error that no state explains")
        self._write(call, caller, **columns)

    def _found(self, call: Call, directory: Node) -> Node:
        """Return what a lookup found."""
        seen = call.attributes
        if call.name == b".":
            return directory
        if call.name == b"..":
            if not call.new_fh:
                raise Inexplicable("cut short")
            return self._infer.existing(call.new_fh, seen, "directory")
        node = self._infer.present(directory, call.name or b"", call.new_fh, seen)
        self._infer.observe(node, seen, call)
        return node

    def _make(self, call: Call) -> None:
        directory, name = self._directory(call), call.name or b""
        if call.status == st.OK:
            self._made(call, directory, name)
            return
        caller = call.caller
        if call.status in (st.EEXIST, st.EISDIR):
            self._infer.present(
                directory, name, kind="directory" if call.status == st.EISDIR else None
            )
        elif call.status == st.EACCES:
            self._infer.absent(directory, name)
            caller = self._infer.deny(directory, caller, WRITE)
        else:
            raise Inexplicable("error that no state explains")
        how = {"how": int(call.status == st.EEXIST)} if call.op == "create" else {}
        self._write(call, caller, id=directory.id, **how)

    def _made(self, call: Call, directory: Node, name: bytes) -> None:
        kind = MAKES[call.op] or KINDS.get(call.ftype or call.set_ftype or 0, "fifo")
        caller = self._allowed(call, directory, MODIFY)
        if self._opens(call, directory, name):
            node = self._infer.present(directory, name, call.new_fh, call.attributes, kind)
            sets = ("size",) if call.set_size is not None else ()
            self._infer.observe(node, call.attributes, call, sets)
            size = {"size": call.set_size} if call.set_size is not None else {}
            self._write(call, caller, id=directory.id, new_id=node.id, how=0, **size)
            node.size = node.size if call.set_size is None else call.set_size
            return
        self._infer.absent(directory, name)
        old = self._tree.get(call.new_fh)
        if old is not None:
            self._infer.destroy(old)
        node = self._tree.new(call.new_fh, kind, initial=False)
        node.mode = _either(call.mode, call.set_mode)
        node.mode = None if node.mode is None else node.mode & 0o7777
        node.owner, node.group = _either(call.owner, call.uid), _either(call.group, call.gid)
        node.size = (call.set_size or 0) if kind == "file" else call.size
        node.ctime, node.nlink = call.ctime, 1
        columns: dict[str, Any] = {"mode": node.mode, "owner": call.owner, "group": call.group}
        columns |= {"how": 1, "size": call.set_size} if call.op == "create" else {}
        columns |= {"kind": kind} if call.op == "mknod" else {}
        self._write(call, caller, id=directory.id, new_id=node.id, **columns)
        self._tree.link(node, directory, name)

    def _opens(self, call: Call, directory: Node, name: bytes) -> bool:
        """Tell whether a create opened a file that was there, rather than making one."""
        if call.op != "create":
            return False
        found, known = directory.entries.get(name), self._tree.get(call.new_fh)
        if found is not None:
            if found.kind == "directory":
                return False
            return found is known if call.new_fh and found.fh else call.how == 0
        if call.how in (1, 2):
            return False
        old = bool(call.size) and call.set_size is None
        return old or (call.nlink or 1) > 1

    def _remove(self, call: Call) -> None:
        directory, name = self._directory(call), call.name or b""
        caller = call.caller
        kind = "directory" if call.op == "rmdir" else "other"
        if call.status == st.OK:
            node = self._infer.present(directory, name, kind=kind)
            node.kind = node.kind or ("directory" if call.op == "rmdir" else "file")
            if call.op == "rmdir":
                self._infer.empty(node)
            caller = self._allowed_to_remove(call, directory, node)
        elif call.status == st.ENOENT:
            self._infer.absent(directory, name)
        elif call.status == st.EACCES:
            node = self._infer.present(directory, name, kind=kind)
            if self._allowed_to_remove(call, directory, node) != SUPERUSER or not caller.uid:
                caller = self._infer.deny(directory, caller, WRITE)
        else:
            self._fail_to_remove(call, directory, name)
        self._write(call, caller, id=directory.id)
        if call.status == st.OK:
            self._infer.unlink(directory, name)

    def _fail_to_remove(self, call: Call, directory: Node, name: bytes) -> None:
        found = directory.entries.get(name)
        if call.op == "rmdir" and call.status in (st.ENOTEMPTY, st.EEXIST):
            self._infer.full(self._infer.present(directory, name, kind="directory"))
        elif call.op == "rmdir" and call.status == st.ENOTDIR:
            self._infer.present(directory, name, kind="other")
        elif call.op == "remove" and call.status in (st.EISDIR, st.EPERM):
            sticky = (directory.mode or 0) & STICKY and call.uid
            if not (sticky and found is not None):
                self._infer.present(directory, name, kind="directory")
        else:
            raise Inexplicable("error that no state explains")

    def _rename(self, call: Call) -> None:
        source, name = self._directory(call), call.name or b""
        target = self._infer.existing(call.fh2 or b"", call.directory2, "directory")
        self._infer.observe(target, call.directory2, call)
        name2, caller = call.name2 or b"", call.caller
        if call.status == st.OK:
            self._renamed(call, (source, name), (target, name2))
            return
        if call.status == st.ENOENT:
            self._infer.absent(source, name)
        elif call.status == st.EACCES:
            self._infer.present(source, name)
            caller = self._infer.deny(source, caller, WRITE)
        elif call.status in (st.EEXIST, st.ENOTEMPTY):
            self._infer.present(source, name, kind="directory")
            self._infer.full(self._infer.present(target, name2, kind="directory"))
        elif call.status == st.ENOTDIR:
            self._infer.present(source, name, kind="directory")
            self._infer.present(target, name2, kind="other")
        elif call.status == st.EISDIR:
            self._infer.present(source, name, kind="other")
            self._infer.present(target, name2, kind="directory")
        elif not self._into_itself(call, source, target):
            raise Inexplicable("error that no state explains")
        self._write(call, caller, id=source.id, id2=target.id)

    def _into_itself(self, call: Call, source: Node, target: Node) -> bool:
        """Tell whether a rename is refused because a directory cannot move below itself."""
        node = source.entries.get(call.name or b"")
        return call.status == st.EINVAL and node is not None and self._tree.is_under(target, node)

    def _renamed(
        self, call: Call, source: tuple[Node, bytes], target: tuple[Node, bytes]
    ) -> None:
        node = self._infer.present(*source)
        over = target[0].entries.get(target[1])
        if over is not None and over is not node:
            if over.entries or (over.kind == "directory") != (node.kind == "directory"):
                self._infer.evict(*target)
                over = None
        if node.kind == "directory" and self._tree.is_under(target[0], node):
            self._infer.set_aside(target[0])
        caller = self._allowed_to_remove(call, source[0], node)
        if caller is not SUPERUSER:
            caller = self._allowed_to_remove(call, target[0], over or node)
        self._write(call, caller, id=source[0].id, id2=target[0].id, new_id=node.id)
        if over is node:
            return
        if over is not None:
            self._infer.unlink(*target)
        self._tree.move(node, source, target)
        node.unnamed = False

    def _link(self, call: Call) -> None:
        seen = call.attributes
        directory = self._infer.existing(call.fh2 or b"", call.directory, "directory")
        node = self._infer.existing(call.fh or b"", seen)
        node.kind = node.kind or "file"
        self._infer.observe(directory, call.directory, call)
        name, caller = call.name or b"", call.caller
        if call.status == st.OK:
            self._infer.absent(directory, name)
            caller = self._allowed(call, directory, MODIFY)
        elif call.status == st.EEXIST:
            self._infer.present(directory, name)
        elif call.status == st.EACCES:
            self._infer.absent(directory, name)
            caller = self._infer.deny(directory, caller, WRITE)
        elif call.status != st.EPERM or node.kind != "directory":
            raise Inexplicable("error that no state explains")
        self._write(call, caller, id=node.id, id2=directory.id)
        if call.status == st.OK:
            self._infer.observe(node, seen, call)
            self._tree.link(node, directory, name)


def _sets(call: Call) -> tuple[str, ...]:
    """Return the attributes that a setattr sets."""
    values = {
        "mode": call.set_mode,
        "owner": call.set_owner,
        "group": call.set_group,
        "size": call.set_size,
    }
    return tuple(name for name, value in values.items() if value is not None)


def _written(call: Call) -> int:
    """How many bytes a write stored; version 2 stores all or none."""
    written = call.count if call.reply_count is None else call.reply_count
    return written or 0


def _size_before(call: Call, node: Node) -> int | None:
    """Return what size a file had before a write, as far as the reply tells."""
    end = (call.offset or 0) + _written(call)
    if node.size is None:
        if call.pre_size is not None:
            return call.pre_size
        return call.size if (call.size or 0) > end else 0
    return node.size if call.size == max(node.size, end) else call.size


def _comparable(call: Call, node: Node) -> int | None:
    """Return the size in the reply, where it is the file's at this place in the order."""
    return call.size if node.kind == "file" and call.size == node.size else None


def _either(first: int | None, second: int | None) -> int | None:
    return second if first is None else first


__all__ = ["HANDLED", "NAMED", "UNSEEN", "Inexplicable", "Rules"]
