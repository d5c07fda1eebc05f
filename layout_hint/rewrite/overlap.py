"""Find overlapping calls that the server must have executed before another.

In the order of the replies a name can be found before it is made, or requested after it is gone.
Then an overlapping call still to come (see ``order``) was executed first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from birthmark.layout_hint.rewrite import status as st
from birthmark.layout_hint.rewrite.calls import Call
from birthmark.layout_hint.rewrite.order import Window
from birthmark.layout_hint.rewrite.rules import HANDLED
from birthmark.layout_hint.rewrite.schema import MAKES
from birthmark.layout_hint.rewrite.tree import Node, Tree


class Use(NamedTuple):
    """The implication of a call for a name: its existence before (None: either), and after."""

    fh: bytes
    name: bytes
    before: bool | None
    after: bool


def uses(call: Call) -> Iterator[Use]:
    """Yield the implications of a call for its names."""
    fh, name, status = call.fh or b"", call.name or b"", call.status
    if status == st.ENOENT and call.op in ("lookup", "remove", "rmdir", "rename"):
        yield Use(fh, name, False, False)
    elif status == st.EEXIST and call.op in MAKES:
        yield Use(fh, name, True, True)
    elif status == st.EEXIST and call.op == "link":
        yield Use(call.fh2 or b"", name, True, True)
    elif status == st.OK:
        yield from _successful(call, fh, name)


def _successful(call: Call, fh: bytes, name: bytes) -> Iterator[Use]:
    if call.op == "lookup":
        yield Use(fh, name, True, True)
    elif call.op in ("remove", "rmdir"):
        yield Use(fh, name, True, False)
    elif call.op in MAKES:
        opens = call.op == "create" and call.how not in (1, 2)
        yield Use(fh, name, None if opens else False, True)
    elif call.op == "rename":
        yield Use(fh, name, True, False)
        yield Use(call.fh2 or b"", call.name2 or b"", None, True)
    elif call.op == "link":
        yield Use(call.fh2 or b"", name, False, True)


class Overlaps:
    """Finds calls that must come first, given the replay's current file system."""

    def __init__(self, tree: Tree, window: Window) -> None:
        self._tree, self._window = tree, window

    def earlier(self, call: Call) -> Call | None:
        """Return a call still to come that must be executed before this one, if any."""
        for use in uses(call):
            found = self._by_name(call, use) or self._by_object(call, use)
            if found is not None:
                return found
        return None

    def _by_name(self, call: Call, use: Use) -> Call | None:
        directory = self._tree.get(use.fh)
        there: bool | None = None
        if directory is not None and not self._tree.open_since_start(directory, use.name):
            there = use.name in directory.entries
        changes = use.before is not use.after
        fits = use.before is None or there is use.before
        other_object = self._another(call, use)
        if fits and not changes and not other_object:
            return None
        now = there if there is not None else use.before
        for other in self._window.overlapping(call, use.fh):
            for its in uses(other):
                if other is call or its[:2] != use[:2]:
                    continue
                its_change = its.before is not its.after
                possible = its.before is None or there is None or its.before is there
                enables = not fits and its_change and its.after is use.before and possible
                spoiled = changes and its.before is not None and its.before is not use.after
                prevented = spoiled and its.before is now and not its_change
                brings = other_object and its_change and its.after and self._brings(other, call)
                if enables or prevented or brings:
                    return other
        return None

    def _another(self, call: Call, use: Use) -> bool:
        """Return whether a lookup found another object than the name has now."""
        if call.op != "lookup" or not call.new_fh:
            return False
        directory = self._tree.get(use.fh)
        found = directory.entries.get(use.name) if directory else None
        return found is not None and found.fh is not None and found.fh != call.new_fh

    def _brings(self, other: Call, lookup: Call) -> bool:
        """Return whether a call gives a name to the object that a lookup found."""
        if other.op != "rename":
            return other.new_fh == lookup.new_fh
        source = self._tree.get(other.fh)
        moved = source.entries.get(other.name or b"") if source else None
        return moved is not None and moved.fh == lookup.new_fh

    def _by_object(self, call: Call, use: Use) -> Call | None:
        """Find a call on an object, or in a directory, that this one takes away or empties."""
        directory = self._tree.get(use.fh)
        node = directory.entries.get(use.name) if directory else None
        if directory is None or node is None or call.op not in ("remove", "rmdir", "rename"):
            return None
        if call.op == "rename" and use.before:
            return None  # moved, not removed
        if len(node.names) == 1 and node.fh != call.new_fh:
            for other in self._window.overlapping(call, node.fh):
                if other.status == st.OK and (other.op in HANDLED or other.fh == node.fh):
                    return other
            for other in self._window.overlapping(call, use.fh):
                if other.op == "lookup" and other.new_fh == node.fh and other.name == use.name:
                    return other
        return self._found_full(call, directory)

    def _found_full(self, call: Call, directory: Node) -> Call | None:
        """Find a removal of the directory itself that found it not empty yet."""
        if len(directory.entries) > 1 or not directory.names:
            return None
        above, own = directory.name()
        for other in self._window.overlapping(call, above.fh):
            full = other.status in (st.ENOTEMPTY, st.EEXIST)
            if other.op == "rmdir" and other.name == own and full:
                return other
        return None
