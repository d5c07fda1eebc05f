"""What the newest audits know of each predicate's bound, for readers that need no more of them.

<registry>/bounds.json    {KEY: the standing, in the words of `training.statistics.standing`}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from birthmark.training.registry.versions import Registry, RegistryError
from birthmark.training.statistics.standing import Standing, by_key

BOUNDS = "bounds.json"


def read(registry: Registry) -> dict[str, Standing]:
    """Return what is known by predicate's key; raise `RegistryError` if that is damaged."""
    content = registry.read(BOUNDS)
    try:
        said = json.loads(content or b"{}")
        return {key: Standing(each) for key, each in said.items()}
    except (ValueError, AttributeError) as error:
        path = f"{registry.place}/{BOUNDS}"
        raise RegistryError(f"{path}: expected standings by predicate: {error}") from error


def keep(registry: Registry, audits: Iterable[Mapping[str, Any]]) -> None:
    """Write what `audits`, in the order of time, know of each bound.

    Each server's newest counts, and of several servers' the worst.
    """
    newest = {tuple(each["servers"]): each for each in audits}
    found: dict[str, Standing] = {}
    for audit in newest.values():
        for key, row in by_key(audit["figures"], audit["version"]).items():
            each = Standing(row["standing"])
            found[key] = max(each, found.get(key, each), key=list(Standing).index)
    registry.write(BOUNDS, (json.dumps(found, indent=1) + "\n").encode())
