"""The preconditions and effects of calls on a handle alone."""

from __future__ import annotations

from typing import Any

from birthmark.layout_hint.rewrite import status as st
from birthmark.layout_hint.rewrite.calls import Call
from birthmark.layout_hint.rewrite.inference import UNSEEN
from birthmark.layout_hint.rewrite.permissions import (
    NOBODY,
    READ,
    SEARCH,
    SUPERUSER,
    WRITE,
    Caller,
    permits,
)
from birthmark.layout_hint.rewrite.satisfied import Satisfied, comparable
from birthmark.layout_hint.rewrite.schema import KINDS, SETTABLE
from birthmark.layout_hint.rewrite.tree import InexplicableError, Node

NEEDS_KIND = {
    "read": "file",
    "write": "file",
    "commit": "file",
    "readlink": "symlink",
    "readdir": "directory",
    "readdirplus": "directory",
}
HANDLED = {"getattr", "setattr", "access", "fsstat", "fsinfo", "pathconf", *NEEDS_KIND}


class ObjectRules(Satisfied):
    """Satisfies calls on objects."""

    def apply(self, call: Call) -> None:
        """Satisfy a call, write it, and change the tree as it does."""
        caller = call.caller
        if call.status == st.OK:
            node = self._infer.existing(call.fh or b"", call.attributes, NEEDS_KIND.get(call.op))
            caller = self._succeed(call, node)
        else:
            node, caller = self._refuse(call)
        row = {"id": node.id, **self._set_columns(call)}
        if call.status == st.OK:
            self._change(call, node)
            row["reply_size"] = comparable(call, node)
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
            return call.caller if self._may_set(call, node, call.caller) else SUPERUSER
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
        """Return whether POSIX permits a setattr."""
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

    def _set_columns(self, call: Call) -> dict[str, Any]:
        if call.op != "setattr":
            return {}
        now = (call.set_atime_how == 1) | (call.set_mtime_how == 1) << 1
        return {
            **{name: getattr(call, f"set_{name}") for name in SETTABLE},
            "atime": call.set_atime if call.set_atime_how == 2 else None,
            "mtime": call.set_mtime if call.set_mtime_how == 2 else None,
            "now": now or None,
        }

    def _change(self, call: Call, node: Node) -> None:
        """Change a node as a successful call did."""
        if call.op == "setattr":
            for name in _sets(call):
                shown = getattr(call, name)
                value = getattr(call, f"set_{name}") if shown is None else shown
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
            self._infer.observe(node, call.attributes, call)
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
            raise InexplicableError("error that no state explains")
        return self._infer.existing(call.fh or b"", call.attributes, wrong), caller

    def _refused_to_set(self, call: Call, node: Node) -> Caller:
        caller = call.caller if call.uid else Caller(NOBODY, NOBODY, ())
        if not self._may_set(call, node, caller):
            return caller
        if call.set_size is not None and call.status == st.EACCES:
            return self._infer.deny(node, caller, WRITE)
        if call.owner is None:
            self._infer.disown(node)
            if not self._may_set(call, node, caller):
                return caller
        raise InexplicableError("refused by rules other than mode and owner")


def _sets(call: Call) -> tuple[str, ...]:
    """Return the attributes that a setattr sets."""
    return tuple(name for name in SETTABLE if getattr(call, f"set_{name}") is not None)


def _written(call: Call) -> int:
    """Return the bytes that a write stored; version 2 stores all or none."""
    written = call.count if call.reply_count is None else call.reply_count
    return written or 0


def _size_before(call: Call, node: Node) -> int | None:
    """Return a file's size before a write, if the reply shows it."""
    end = (call.offset or 0) + _written(call)
    if node.size is None:
        if call.pre_size is not None:
            return call.pre_size
        return call.size if (call.size or 0) > end else 0
    return node.size if call.size == max(node.size, end) else call.size
