"""The file system of a replay between two operations.

It holds exactly what the replay will have made by then, so a name that is missing here is absent
there. Only its beginning is unsettled: a name that no operation has requested yet may still turn
out to have existed from the start.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from birthmark.layout_hint.rewrite.schema import ROOT_ID

MAX_ABSENT = 5_000_000
"""The most absent names remembered; beyond, other names are treated as if absent before."""


class InexplicableError(ValueError):
    """An outcome that no state of a file system explains; the message says why."""


@dataclass(slots=True, eq=False, repr=False)
class Node:
    """An object: its known state now, and its state at the start if it existed then."""

    id: int
    fh: bytes | None = None
    kind: str | None = None
    initial: bool = True  # was there from the start
    mode: int | None = None
    owner: int | None = None
    group: int | None = None
    size: int | None = None
    nlink: int | None = None
    ctime: int | None = None
    first: dict[str, int | bytes | None] = field(default_factory=dict)
    names: dict[tuple[Node, bytes], None] = field(default_factory=dict)
    start: list[tuple[int, bytes]] = field(default_factory=list)
    unnamed: bool = False  # has an invented name until the trace shows the real one
    entries: dict[bytes, Node] = field(default_factory=dict)
    absent: set[bytes] = field(default_factory=set)
    settled: bool = False  # no name in it can have existed from the start

    def name(self) -> tuple[Node, bytes]:
        """Return one of its names: the directory, and the name in it."""
        return next(iter(self.names))


class Tree:
    """The nodes, by handle and by name."""

    def __init__(self) -> None:
        self.root = Node(ROOT_ID, kind="directory", settled=True)
        self._nodes: dict[bytes, Node] = {}
        self._next = ROOT_ID + 1
        self._absent = 0
        self._starts: dict[int, tuple[int, bytes]] = {}

    def new(self, fh: bytes | None, kind: str | None, initial: bool) -> Node:
        """Return a node without a name."""
        node = Node(self._next, fh, kind, initial)
        self._next += 1
        if fh:
            self._nodes[fh] = node
        return node

    def identifier(self) -> int:
        """Return an identifier for an object that never exists."""
        self._next += 1
        return self._next - 1

    def get(self, fh: bytes | None) -> Node | None:
        """Return the node that currently has a handle."""
        return self._nodes.get(fh) if fh else None

    def bind(self, node: Node, fh: bytes | None) -> None:
        """Set the handle of a node, which was unknown."""
        if fh:
            node.fh = fh
            self._nodes[fh] = node

    def release(self, node: Node) -> None:
        """Remove a node's handle."""
        if node.fh and self._nodes.get(node.fh) is node:
            del self._nodes[node.fh]
        node.fh = None

    def link(self, node: Node, directory: Node, name: bytes) -> None:
        """Give a node a free name.

        Raises:
            InexplicableError: the name is taken, or the directory is gone or below the node.
        """
        below = node.kind == "directory" and node.names and self.is_under(directory, node)
        gone = not directory.names and directory is not self.root
        if below or gone or name in directory.entries:
            raise InexplicableError("contradicts itself")
        directory.entries[name] = node
        node.names[directory, name] = None
        if name in directory.absent:
            directory.absent.discard(name)
            self._absent -= 1

    def start(self, node: Node, directory: Node, name: bytes) -> None:
        """Give a node a name that it has from the start."""
        self.link(node, directory, name)
        node.start.append((directory.id, name))
        if node.kind in (None, "directory"):
            self._starts[node.id] = (directory.id, name)

    def restart(self, node: Node, directory: Node, name: bytes) -> None:
        """Give a node its real name from the start, in place of the invented one."""
        self.forget_start(node)
        self.start(node, directory, name)

    def forget_start(self, node: Node) -> None:
        """Remove an invented name without a trace."""
        for place in [each for each in node.names if each[0] is self.root]:
            del self.root.entries[place[1]]
            del node.names[place]
        node.start.clear()
        node.unnamed = False

    def merge(self, nameless: Node, node: Node, directory: Node, name: bytes) -> bool:
        """Merge an object known only by a name with one known only by its handle, if possible.

        Both must have existed from the start; their contents are united. Returns whether they were
        merged.
        """
        place = (directory.id, name)
        if nameless.fh or not nameless.initial or nameless.start != [place]:
            return False
        if not (node.unnamed and node.initial) or nameless.kind not in (None, node.kind):
            return False
        inside = nameless.entries.items()
        if any(each.start != [(nameless.id, own)] for own, each in inside):
            return False
        below = self.is_under(directory, node) or self.began_under(directory.id, node.id)
        if below or node.entries.keys() & nameless.entries.keys():
            return False
        del directory.entries[name]
        self.restart(node, directory, name)
        for own, each in list(inside):
            each.names.clear()
            each.start.clear()
            self.start(each, node, own)
        return True

    def unlink(self, directory: Node, name: bytes) -> Node:
        """Remove a name and return its node, which is gone if this was its last name."""
        node = directory.entries.pop(name, None)
        if node is None:
            raise InexplicableError("contradicts itself")
        del node.names[directory, name]
        self.note_absent(directory, name)
        if not node.names:
            if node.fh and self._nodes.get(node.fh) is node:
                del self._nodes[node.fh]  # the node keeps its handle
            self._absent -= len(node.absent)
            node.absent = set()
        return node

    def move(self, node: Node, source: tuple[Node, bytes], target: tuple[Node, bytes]) -> None:
        """Rename within the tree; the target must be free.

        Raises:
            InexplicableError: it is not free, or its directory is gone or below the node.
        """
        self.link(node, *target)
        del source[0].entries[source[1]]
        del node.names[source]
        self.note_absent(*source)

    def note_absent(self, directory: Node, name: bytes) -> None:
        """Remember that a name was requested and was absent."""
        if directory.initial and not directory.settled and name not in directory.absent:
            if self._absent >= MAX_ABSENT:
                self._absent -= len(directory.absent)
                directory.absent, directory.settled = set(), True
                return
            directory.absent.add(name)
            self._absent += 1

    def open_since_start(self, directory: Node, name: bytes) -> bool:
        """Return whether a name may have existed from the start: no operation has requested it."""
        return (
            directory.initial
            and not directory.settled
            and name not in directory.entries
            and name not in directory.absent
        )

    def is_under(self, node: Node, above: Node) -> bool:
        """Return whether a directory is another one or below it, now."""
        while node is not self.root:
            if node is above:
                return True
            node = node.name()[0]
        return False

    def began_under(self, number: int, above: int) -> bool:
        """Return whether a directory was another one, or below it, at the settled start."""
        while number != ROOT_ID:
            if number == above:
                return True
            number = self._starts[number][0]
        return False

    def alive(self) -> Iterator[Node]:
        """Yield every node that has a name."""
        waiting = [self.root]
        seen: set[int] = set()
        while waiting:
            for node in waiting.pop().entries.values():
                if node.id not in seen:
                    if len(node.names) > 1:
                        seen.add(node.id)
                    yield node
                    if node.entries:
                        waiting.append(node)
