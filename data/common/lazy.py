"""Names that a package offers from its modules, each imported when it is first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def offered(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], list[str]]:
    """Return the ``__getattr__`` (PEP 562) and ``__all__`` of a package.

    ``homes`` has the names that it offers of each module. So who needs one module of a package does
    not import what the others need. The function raises ``AttributeError`` for other names.
    """
    home_of = {name: home for home, names in homes.items() for name in names}

    def get(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(home_of[name]), name)

    return get, sorted(home_of)
