"""Infer what must have happened for an operation's outcome (thesis section 3.6.4, "Satisfying").

Each method makes one condition true in the replay's file system at this point of the trace. If no
earlier operation depended on it, it was true from the start, and goes into the manifest. Otherwise
it became true between two operations, so an operation that causes it is inserted right before the
one that needs it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from birthmark.layout_hint.rewrite.calls import Attributes, Call, Entry
from birthmark.layout_hint.rewrite.order import Window
from birthmark.layout_hint.rewrite.permissions import NOBODY, SUPERUSER, Caller, permits
from birthmark.layout_hint.rewrite.schema import KINDS, SETTABLE, UNKNOWN_MODE
from birthmark.layout_hint.rewrite.tree import Node, Tree

UNSEEN = Attributes(*[None] * 9)
MAX_LISTED = 2_000_000
MODE_BITS = 0o1777  # servers drop set-id bits by rules of their own
CHANGES = {"write", "setattr", "create"}
Insert = Callable[..., None]


class Inference:
    """Makes the preconditions of an operation true.

    Args:
        tree: the replay's file system, kept as it will be.
        window: the calls to come; some of them overlap with the present one.
        insert: writes an inserted operation: why, the procedure, and its columns.
        finish: called with every object that is gone.
    """

    def __init__(
        self, tree: Tree, window: Window, insert: Insert, finish: Callable[[Node], None]
    ) -> None:
        self._tree, self._window, self._insert, self._finish = tree, window, insert, finish
        self._gone: set[bytes] = set()  # handles whose end was inferred
        self._listed: dict[bytes, tuple[Node, bytes, Attributes]] = {}
        self._listed_at: dict[tuple[int, bytes], bytes] = {}
        self.caller = SUPERUSER  # of the present call: most likely the maker of what it needs

    def existing(self, fh: bytes, seen: Attributes = UNSEEN, kind: str | None = None) -> Node:
        """Make a handle's object exist, of the kind that a reply shows or the call needs."""
        kind = kind or KINDS.get(seen.ftype or 0)
        node = self._tree.get(fh)
        if node is not None and node.kind is None:
            node.kind = kind
        if node is not None and kind is not None and node.kind != kind:
            self.destroy(node)
            node = None
        return node or self._appear(fh, kind, seen)

    def _appear(self, fh: bytes, kind: str | None, seen: Attributes) -> Node:
        """Make a handle exist whose name was seen in listings at most."""
        where = self._take_listed(fh)
        if where and where[0].names and where[1] not in where[0].entries:
            directory, name, listed = where
            kind = kind or KINDS.get(listed.ftype or 0)
            return self._place(directory, name, fh, kind, listed if seen == UNSEEN else seen)
        node = self._tree.new(fh, kind, fh not in self._gone)
        name = b"%s-%d" % ((kind or "file").encode(), node.id)
        if node.initial:
            self._tree.start(node, self._tree.root, name)
        else:
            self._make(node, self._tree.root, name, seen)
        node.unnamed = True
        return node

    def present(
        self,
        directory: Node,
        name: bytes,
        fh: bytes | None = None,
        seen: Attributes = UNSEEN,
        kind: str | None = None,
    ) -> Node:
        """Make a name stand for an object: the one with the handle, or any.

        ``kind`` is a kind, or ``other`` for anything but a directory.
        """
        if kind in (None, "other"):
            kind = KINDS.get(seen.ftype or 0, kind)
        found = directory.entries.get(name)
        if fh is None and found is None:
            fh = self._listed_at.get((directory.id, name))
            fh = None if self._tree.get(fh) else fh
        wanted = self._tree.get(fh)
        if found and wanted and self._tree.merge(found, wanted, directory, name):
            found = wanted
        if found is not None and not self._is(found, wanted, fh, kind):
            self.evict(directory, name)
            found = None
        if found is None:
            found = self._put(directory, name, fh, seen, kind)
        if found.fh is None:
            self._tree.bind(found, fh)
        if found.kind is None and kind != "other":
            found.kind = kind
        return found

    def _is(self, found: Node, wanted: Node | None, fh: bytes | None, kind: str | None) -> bool:
        """Return whether the object under a name can be the wanted one."""
        if kind is not None and found.kind is not None:
            wants_directory = kind == "directory"
            if (found.kind == "directory") != wants_directory:
                return False
            if kind != "other" and kind != found.kind:
                return False
        return fh is None or found is wanted or (found.fh is None and wanted is None)

    def _put(
        self, directory: Node, name: bytes, fh: bytes | None, seen: Attributes, kind: str | None
    ) -> Node:
        """Give a free name to the object with a handle, or to a new one."""
        node = self._tree.get(fh)
        if node is not None and kind not in (None, "other") and node.kind not in (None, kind):
            self.destroy(node)
            node = None
        where = self._take_listed(fh) if fh else None
        if where and seen == UNSEEN:
            seen = where[2]
        if node is None:
            kind = kind or KINDS.get(seen.ftype or 0)
            return self._place(directory, name, fh, None if kind == "other" else kind, seen)
        open_slot = self._tree.open_since_start(directory, name) and node.initial
        if self._may_name(node, directory, name):
            self._tree.restart(node, directory, name)
        elif (
            node.kind not in (None, "directory")
            and not node.unnamed
            and ((seen.nlink or node.nlink or 1) > len(node.names))
        ):
            self._link(node, directory, name, open_slot)
        else:
            self.move(node, directory, name)
        return node

    def _can_begin(self, node: Node, directory: Node) -> bool:
        """Return whether an object can have begun in a directory, which must not be below it."""
        if node.kind not in (None, "directory"):
            return True
        return not self._tree.is_under(directory, node) and not self._tree.began_under(
            directory.id, node.id
        )

    def _link(self, node: Node, directory: Node, name: bytes, from_start: bool) -> None:
        if from_start:
            self._tree.start(node, directory, name)
            return
        self._insert("appeared", "link", id=node.id, id2=directory.id, name=name)
        self._tree.link(node, directory, name)

    def move(self, node: Node, directory: Node, name: bytes) -> None:
        """Insert a rename of an object to a name that is free."""
        if node.kind == "directory" and self._tree.is_under(directory, node):
            self.set_aside(directory)
        self._rename("moved", node, (directory, name))

    def set_aside(self, directory: Node) -> None:
        """Insert a rename of a directory to the root, out of the way."""
        free_name = b"aside-%d" % self._tree.identifier()
        self._rename("vanished", directory, (self._tree.root, free_name))

    def _rename(self, why: str, node: Node, target: tuple[Node, bytes]) -> None:
        source = node.name()
        places = {"id": source[0].id, "name": source[1], "id2": target[0].id, "name2": target[1]}
        self._insert(why, "rename", **places, new_id=node.id)
        self._tree.move(node, source, target)
        node.unnamed = False  # it did have the name that it had

    def _place(
        self, directory: Node, name: bytes, fh: bytes | None, kind: str | None, seen: Attributes
    ) -> Node:
        """Make a new object under a name that is free: from the start, if it can have been."""
        initial = self._tree.open_since_start(directory, name) and fh not in self._gone
        node = self._tree.new(fh, kind, initial)
        if initial:
            self._tree.start(node, directory, name)
            self.learn(node, seen)
        else:
            self._make(node, directory, name, seen)
        return node

    def _make(self, node: Node, directory: Node, name: bytes, seen: Attributes) -> None:
        """Insert the creation of an object, with the attributes seen.

        Unseen attributes permit everything, and the object belongs to the present caller.
        """
        node.kind = node.kind or "file"
        self.learn(node, seen)
        if node.mode is None:
            node.mode = UNKNOWN_MODE.get(node.kind, UNKNOWN_MODE["file"])
        node.owner = (self.caller.uid or 0) if node.owner is None else node.owner
        node.group = (self.caller.gid or 0) if node.group is None else node.group
        node.size = 0 if node.size is None else node.size
        op = {"file": "create", "directory": "mkdir", "symlink": "symlink"}.get(node.kind, "mknod")
        columns: dict[str, Any] = {"id": directory.id, "name": name, "new_id": node.id}
        columns |= {"mode": node.mode, "owner": node.owner, "group": node.group}
        columns |= {"how": 1} if op == "create" else {}
        columns |= {"target": b"x" * (node.size or 1)} if op == "symlink" else {}
        columns |= {"kind": node.kind} if op == "mknod" else {}
        self._insert("appeared", op, **columns)
        self._tree.link(node, directory, name)
        if op == "create" and node.size:
            self._insert("size", "setattr", id=node.id, size=node.size)

    def absent(self, directory: Node, name: bytes) -> None:
        """Make a name not exist."""
        if name in directory.entries:
            self.evict(directory, name)
        else:
            self._tree.note_absent(directory, name)

    def evict(self, directory: Node, name: bytes) -> None:
        """Insert the removal of the object under a name."""
        node = directory.entries[name]
        if node.entries:
            self.set_aside(node)
            return
        op = "rmdir" if node.kind == "directory" else "remove"
        node.kind = node.kind or "file"
        self._insert("vanished", op, id=directory.id, name=name, new_id=node.id)
        self.unlink(directory, name)
        if not node.names and node.fh:
            self._gone.add(node.fh)

    def unlink(self, directory: Node, name: bytes) -> None:
        """Remove a name, and the object with its last name."""
        node = self._tree.unlink(directory, name)
        if not node.names:
            self._finish(node)

    def destroy(self, node: Node) -> None:
        """Remove an object, so that its handle becomes stale."""
        for directory, name in list(node.names):
            self.evict(directory, name)
        if node.names:
            self._tree.release(node)

    def gone(self, fh: bytes) -> int:
        """Make a handle stale; return an identifier of a missing object."""
        node = self._tree.get(fh)
        if node is None:
            return self._tree.identifier()
        self.destroy(node)
        return self._tree.identifier() if node.names else node.id

    def empty(self, directory: Node) -> None:
        """Make a directory empty."""
        for name in list(directory.entries):
            self.evict(directory, name)

    def full(self, directory: Node) -> None:
        """Make a directory hold something."""
        if not directory.entries:
            name = b"kept-%d" % self._tree.identifier()
            self._place(directory, name, None, "file", UNSEEN)

    def deny(self, node: Node, caller: Caller, wanted: int) -> Caller:
        """Make mode bits refuse what the server refused; return the caller that they refuse.

        A superuser who was refused is nobody to the server.
        """
        if not caller.uid:
            caller = Caller(NOBODY, NOBODY, ())
        if permits(node.mode, node.owner, node.group, caller, wanted):
            known = 0o777 if node.mode is None else node.mode
            mode = known & ~(wanted * 0o111)
            if node.mode is None and node.initial:
                node.first["mode"] = mode
            else:
                self._insert("denied", "setattr", id=node.id, mode=mode)
            node.mode = mode
        return caller

    def disown(self, node: Node) -> None:
        """Give an object an owner other than the caller."""
        if node.owner is None and node.initial:
            node.first["owner"] = 0
        else:
            self._insert("denied", "setattr", id=node.id, owner=0)
        node.owner = 0

    def learn(self, node: Node, seen: Attributes) -> None:
        """Take unknown attributes of an object from a reply: they were so from the start."""
        for name in SETTABLE:
            value = getattr(seen, name)
            if value is not None and getattr(node, name) is None:
                value = value & 0o7777 if name == "mode" else value
                setattr(node, name, value)
                if node.initial:
                    node.first.setdefault(name, value)
        if node.initial:
            node.first.setdefault("atime", seen.atime)
            node.first.setdefault("mtime", seen.mtime)

    def observe(self, node: Node, seen: Attributes, call: Call, sets: tuple[str, ...] = ()) -> None:
        """Set an object's attributes to those in a reply, except those that the call itself sets.

        A reply is ignored if its change time is older, or if a call still to come may already have
        changed the object.
        """
        if seen.nlink is not None:
            node.nlink = seen.nlink
        ctime = node.ctime
        if ctime is not None and seen.ctime is not None and seen.ctime < ctime:
            return
        self.learn(node, seen)
        newer = ctime is None or seen.ctime is None or seen.ctime > ctime
        node.ctime = seen.ctime if seen.ctime is not None else ctime
        changed = _differences(node, seen, newer, sets)
        if changed and not self._in_doubt(call, node):
            for name, value in changed.items():
                setattr(node, name, value)
            size = {"size": changed.pop("size")} if "size" in changed else {}
            for why, columns in (("attributes", changed), ("size", size)):
                if columns:
                    self._insert(why, "setattr", id=node.id, **columns)

    def _in_doubt(self, call: Call, node: Node) -> bool:
        overlapping = self._window.overlapping(call, node.fh)
        return any(each.op in CHANGES for each in overlapping)

    def listed(self, directory: Node, entries: list[Entry]) -> None:
        """Learn the names of handles from a listing."""
        for name, fh, seen in entries:
            if name in (b".", b".."):
                continue
            node = self._tree.get(fh)
            if node is None:
                self._listed.pop(fh, None)
                self._listed[fh] = (directory, name, seen)
                self._listed_at[directory.id, name] = fh
            elif self._may_name(node, directory, name):
                self._tree.restart(node, directory, name)
        while len(self._listed) > MAX_LISTED:
            self._take_listed(next(iter(self._listed)))

    def _may_name(self, node: Node, directory: Node, name: bytes) -> bool:
        """Return whether a name can replace an object's invented one from the start."""
        free = self._tree.open_since_start(directory, name)
        return node.unnamed and node.initial and free and self._can_begin(node, directory)

    def _take_listed(self, fh: bytes) -> tuple[Node, bytes, Attributes] | None:
        where = self._listed.pop(fh, None)
        if where is not None:
            self._listed_at.pop((where[0].id, where[1]), None)
        return where


def _differences(
    node: Node, seen: Attributes, newer: bool, sets: tuple[str, ...]
) -> dict[str, int]:
    """Return the attributes in a reply that differ from those of the replay's object."""
    changed: dict[str, int] = {}
    if newer:
        for name, bits in (("mode", MODE_BITS), ("owner", -1), ("group", -1)):
            value = getattr(seen, name)
            if value is not None and name not in sets and (value ^ getattr(node, name)) & bits:
                changed[name] = value & 0o7777 if name == "mode" else value
    shows_size = node.kind == "file" and seen.size is not None and "size" not in sets
    if shows_size and seen.size != node.size and (newer or (seen.size or 0) > (node.size or 0)):
        changed["size"] = seen.size or 0
    if node.kind == "symlink":
        changed.pop("mode", None)
    return changed
