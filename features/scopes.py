"""The names of the scopes of history (``history_scope`` finds that of a create)."""

from __future__ import annotations

from typing import Literal, get_args

HistoryScope = Literal["directory", "caller", "name", "nothing"]
"""The history covers earlier files in this directory, by this user, of this name, or none."""

HISTORY_SCOPES: tuple[HistoryScope, ...] = get_args(HistoryScope)
"""From the widest to the narrowest."""
