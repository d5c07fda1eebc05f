"""The preconditions and effects of each procedure."""

from __future__ import annotations

from birthmark.layout_hint.rewrite import status as st
from birthmark.layout_hint.rewrite.calls import Call
from birthmark.layout_hint.rewrite.inference import Inference
from birthmark.layout_hint.rewrite.names import NameRules
from birthmark.layout_hint.rewrite.objects import HANDLED, ObjectRules
from birthmark.layout_hint.rewrite.permissions import SUPERUSER
from birthmark.layout_hint.rewrite.satisfied import Satisfied, Write
from birthmark.layout_hint.rewrite.tree import InexplicableError, Tree

__all__ = ["HANDLED", "InexplicableError", "Rules"]

LONGEST_NAME = 255


class Rules(Satisfied):
    """Takes the calls in the order of their execution."""

    def __init__(self, tree: Tree, inference: Inference, write: Write) -> None:
        super().__init__(tree, inference, write)
        self._objects = ObjectRules(tree, inference, write)
        self._names = NameRules(tree, inference, write)

    def apply(self, call: Call) -> None:
        """Satisfy a call, write it, and change the tree as it does.

        Raises:
            InexplicableError: no state explains its outcome; the call was not written.
        """
        self._infer.caller = call.caller
        stale = (st.ESTALE, st.BADHANDLE)
        if call.status in stale or (call.status == st.ENOENT and call.op in HANDLED):
            self._stale(call)
        elif call.op in HANDLED:
            self._objects.apply(call)
        elif call.status == st.ENAMETOOLONG:
            self._too_long(call)
        else:
            self._names.apply(call)

    def _stale(self, call: Call) -> None:
        """Make a handle stale: the unknown one, else the first."""
        fh, fh2 = call.fh or b"", call.fh2
        if fh2 and self._tree.get(fh) is not None and self._tree.get(fh2) is None:
            columns = {"id": self._infer.existing(fh).id, "id2": self._infer.gone(fh2)}
        else:
            columns = {"id": self._infer.gone(fh)}
            columns |= {"id2": self._infer.existing(fh2).id} if fh2 else {}
        self._write(call, call.caller, **columns)

    def _too_long(self, call: Call) -> None:
        if max(len(call.name or b""), len(call.name2 or b"")) <= LONGEST_NAME:
            raise InexplicableError("name that the server found too long")
        columns = {"id": self._infer.existing(call.fh or b"").id}
        columns |= {"id2": self._infer.existing(call.fh2).id} if call.fh2 else {}
        self._write(call, SUPERUSER, **columns)
