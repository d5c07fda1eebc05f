"""The common base of the rules for calls on objects and on names."""

from __future__ import annotations

from collections.abc import Callable

from birthmark.layout_hint.rewrite.calls import Call
from birthmark.layout_hint.rewrite.inference import UNSEEN, Inference
from birthmark.layout_hint.rewrite.permissions import (
    SEARCH,
    STICKY,
    SUPERUSER,
    WRITE,
    Caller,
    permits,
)
from birthmark.layout_hint.rewrite.tree import InexplicableError, Node, Tree

MODIFY = WRITE | SEARCH
Write = Callable[..., None]


class Satisfied:
    """Satisfies calls.

    Args:
        tree: the replay's file system.
        inference: makes the preconditions of a call true.
        write: writes the rewritten operation: the call, its caller, and the columns that differ.
    """

    def __init__(self, tree: Tree, inference: Inference, write: Write) -> None:
        self._tree, self._infer, self._write = tree, inference, write

    def _still_there(self, *directories: Node) -> None:
        """Check that making one condition true has not undone another.

        Raises:
            InexplicableError: it has: the call contradicts itself.
        """
        if any(not each.names and each is not self._tree.root for each in directories):
            raise InexplicableError("contradicts itself")

    def _allowed(self, call: Call, node: Node, wanted: int, lenient: bool = False) -> Caller:
        """Return the caller to whom the mode bits grant what the server granted.

        Servers have further rules (access lists, and with ``lenient`` an owner's rights to an open
        file); a call that they explain becomes the superuser's.
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


def comparable(call: Call, node: Node) -> int | None:
    """Return the size in the reply, if it is the file's at this place in the order."""
    return call.size if node.kind == "file" and call.size == node.size else None
