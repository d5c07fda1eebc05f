"""Lazy exports of a package: each module is imported when one of its names is first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any


def lazy_exports(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], list[str]]:
    """Return the ``__getattr__`` (PEP 562) and ``__all__`` of a package.

    ``homes`` has the names that each module exports, so that a caller imports only the modules it
    uses. The function raises ``AttributeError`` for other names. ``dir`` of the package, which
    shells complete names from, lists the names and the imported modules.
    """
    home_of = {name: home for home, names in homes.items() for name in names}

    def get(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(home_of[name]), name)

    def names() -> list[str]:
        return sorted({*home_of, *_modules_in(sys.modules[package])})

    vars(sys.modules[package])["__dir__"] = names
    return get, sorted(home_of)


def _modules_in(package: ModuleType) -> list[str]:
    return [
        name
        for name, own in vars(package).items()
        if isinstance(own, ModuleType) and own.__name__ == f"{package.__name__}.{name}"
    ]
