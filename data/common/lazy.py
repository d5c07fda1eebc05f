"""Names that a package offers from its modules, each imported when it is first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any


def offered(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], list[str]]:
    """Return the ``__getattr__`` (PEP 562) and ``__all__`` of a package.

    ``homes`` has the names that it offers of each module. So who needs one module of a package does
    not import what the others need. The function raises ``AttributeError`` for other names.
    ``dir`` of the package, which shells complete names from, tells the names, and the modules of
    the package that are imported.
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
