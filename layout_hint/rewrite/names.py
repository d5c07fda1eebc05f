"""The preconditions and effects of calls on names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from birthmark.layout_hint.rewrite import status as st
from birthmark.layout_hint.rewrite.calls import Call
from birthmark.layout_hint.rewrite.inference import Inference
from birthmark.layout_hint.rewrite.permissions import SEARCH, STICKY, SUPERUSER, WRITE
from birthmark.layout_hint.rewrite.satisfied import MODIFY, Satisfied, Write, comparable
from birthmark.layout_hint.rewrite.schema import KINDS, MAKES
from birthmark.layout_hint.rewrite.tree import InexplicableError, Node, Tree


class NameRules(Satisfied):
    """Satisfies calls on names."""

    def __init__(self, tree: Tree, inference: Inference, write: Write) -> None:
        super().__init__(tree, inference, write)
        self._rules: dict[str, Callable[[Call], None]] = {
            "lookup": self._lookup,
            "remove": self._remove,
            "rmdir": self._remove,
            "rename": self._rename,
            "link": self._link,
            **dict.fromkeys(MAKES, self._make),
        }

    def apply(self, call: Call) -> None:
        """Satisfy a call, write it, and change the tree as it does."""
        self._rules[call.op](call)

    def _directory(self, call: Call) -> Node:
        """Return the directory of name; a call was refused with ENOTDIR if it is not one."""
        node = self._infer.existing(call.fh or b"", call.directory, "directory")
        self._infer.observe(node, call.directory, call)
        return node

    def _lookup(self, call: Call) -> None:
        name = call.name or b""
        if call.status == st.ENOTDIR:
            node = self._infer.existing(call.fh or b"", call.directory, "file")
            self._write(call, call.caller, id=node.id)
            return
        if name in (b".", b"..") and call.status != st.OK:
            raise InexplicableError("error that no state explains")
        directory = self._directory(call)
        caller, columns = call.caller, dict[str, int | None](id=directory.id)
        if call.status == st.EACCES:
            caller = self._infer.deny(directory, caller, SEARCH)
        elif call.status == st.ENOENT:
            self._infer.absent(directory, name)
            caller = self._allowed(call, directory, SEARCH)
        elif call.status == st.OK:
            node = self._found(call, directory)
            columns |= {"new_id": node.id, "reply_size": comparable(call, node)}
            caller = self._allowed(call, directory, SEARCH)
        else:
            raise InexplicableError("error that no state explains")
        self._still_there(directory)
        self._write(call, caller, **columns)

    def _found(self, call: Call, directory: Node) -> Node:
        """Return the object that a lookup found."""
        seen = call.attributes
        if call.name == b".":
            return directory
        if call.name == b"..":
            if not call.new_fh:
                raise InexplicableError("cut short")
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
            raise InexplicableError("error that no state explains")
        how = {"how": int(call.status == st.EEXIST)} if call.op == "create" else {}
        self._write(call, caller, id=directory.id, **how)

    def _made(self, call: Call, directory: Node, name: bytes) -> None:
        kind = MAKES[call.op] or KINDS.get(call.ftype or call.set_ftype or 0, "fifo")
        caller = self._allowed(call, directory, MODIFY)
        if self._opens(call, directory, name):
            node = self._infer.present(directory, name, call.new_fh, call.attributes, kind)
            self._still_there(directory)
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
        self._still_there(directory)
        node = self._tree.new(call.new_fh, kind, initial=False)
        node.mode = _either(call.mode, call.set_mode)
        node.mode = None if node.mode is None else node.mode & 0o7777
        node.owner, node.group = _either(call.owner, call.uid), _either(call.group, call.gid)
        node.size = (call.set_size or 0) if kind == "file" else call.size
        node.ctime, node.nlink = call.ctime, 1
        columns: dict[str, Any] = {"mode": node.mode, "owner": call.owner, "group": call.group}
        columns |= {"how": 1, "size": call.set_size} if call.op == "create" else {}
        columns |= {"kind": kind} if call.op == "mknod" else {}
        self._tree.link(node, directory, name)
        self._write(call, caller, id=directory.id, new_id=node.id, **columns)

    def _opens(self, call: Call, directory: Node, name: bytes) -> bool:
        """Return whether a create opened an existing file rather than making one."""
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
        call = _as_removal(call, directory.entries.get(name))
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
        self._still_there(directory)
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
            raise InexplicableError("error that no state explains")

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
            raise InexplicableError("error that no state explains")
        self._still_there(source, target)
        self._write(call, caller, id=source.id, id2=target.id)

    def _into_itself(self, call: Call, source: Node, target: Node) -> bool:
        """Return whether a rename is refused because a directory cannot move below itself."""
        node = source.entries.get(call.name or b"")
        return call.status == st.EINVAL and node is not None and self._tree.is_under(target, node)

    def _renamed(self, call: Call, source: tuple[Node, bytes], target: tuple[Node, bytes]) -> None:
        node = self._infer.present(*source)
        over = target[0].entries.get(target[1])
        if over is not None and over is not node and not _may_replace(node, over):
            self._infer.evict(*target)
            over = None
        if target[0] is node:
            raise InexplicableError("contradicts itself")
        if node.kind == "directory" and self._tree.is_under(target[0], node):
            self._infer.set_aside(target[0])
        self._still_there(source[0], target[0], node)
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
        if call.status == st.OK and node.kind == "directory":
            raise InexplicableError("contradicts itself")
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
            raise InexplicableError("error that no state explains")
        self._still_there(node, directory)
        self._write(call, caller, id=node.id, id2=directory.id)
        if call.status == st.OK:
            self._infer.observe(node, seen, call)
            self._tree.link(node, directory, name)


def _as_removal(call: Call, found: Node | None) -> Call:
    """Return a removal as one of a file or of a directory: in version 4 it can be either."""
    if call.version != 4 or call.op != "remove":
        return call
    is_directory = found is not None and found.kind == "directory"
    return call._replace(op="rmdir" if is_directory or call.status == st.ENOTEMPTY else "remove")


def _may_replace(node: Node, over: Node) -> bool:
    """Return whether a rename may replace one object with another."""
    return not over.entries and (over.kind == "directory") == (node.kind == "directory")


def _either(first: int | None, second: int | None) -> int | None:
    return second if first is None else first
