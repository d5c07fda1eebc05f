"""Operations with only the values that matter."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from birthmark.data.schema import OPERATIONS

DEFAULTS: dict[str, Any] = {"server": "s", "client": "c", "transport": "tcp"} | dict.fromkeys(
    ("server_port", "client_port", "xid", "retransmits", "duplicate_replies"), 0
)


def operations(*rows: dict[str, Any]) -> pa.Table:
    """Return a table of operations; `took` is µs, none: no reply."""
    full = []
    for row in rows:
        base = dict.fromkeys(OPERATIONS.names) | DEFAULTS
        base |= {"version": 3, "short": False, "time": 0, "status": 0} | row
        took = base.pop("took", 10)
        base["reply_time"] = None if took is None else base["time"] + took
        base["status"] = None if took is None else base["status"]
        full.append(base)
    return pa.Table.from_pylist(full, OPERATIONS)
