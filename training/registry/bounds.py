"""The standing of each predicate's bound by the newest audits, in a small file.

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
    """Return the standing by predicate's key; raise `RegistryError` for a damaged file."""
    content = registry.read(BOUNDS)
    try:
        stored = json.loads(content or b"{}")
        return {key: Standing(each) for key, each in stored.items()}
    except (ValueError, AttributeError) as error:
        path = f"{registry.place}/{BOUNDS}"
        raise RegistryError(f"{path}: expected standings by predicate: {error}") from error


def keep(registry: Registry, audits: Iterable[Mapping[str, Any]]) -> None:
    """Write the standing of each bound by `audits`, in the order of time.

    Each server's newest audit counts, and the worst of several servers.
    """
    newest = {tuple(each["servers"]): each for each in audits}
    found: dict[str, Standing] = {}
    for audit in newest.values():
        for key, row in by_key(audit["figures"], audit["version"]).items():
            each = Standing(row["standing"])
            found[key] = max(each, found.get(key, each), key=list(Standing).index)
    registry.write(BOUNDS, (json.dumps(found, indent=1) + "\n").encode())
