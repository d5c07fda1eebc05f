"""References to code of other packages: ``package.module:name``, or an entry point.

An import runs code, so only references given by a user are imported, never stored ones.
"""

from __future__ import annotations

from functools import reduce
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from birthmark.data.common.without_pandas import with_pandas


def imported(reference: str, group: str) -> Any:
    """Import what ``reference`` names: ``package.module:name``, or an entry point of ``group``.

    Raises ``ValueError`` with the expectation if there is none, or if its package is not installed
    or cannot be imported.
    """
    with_pandas()
    module, colon, name = reference.partition(":")
    if not colon:
        return _entry_point(reference, group)
    try:
        return reduce(getattr, name.split("."), import_module(module))
    except ModuleNotFoundError as error:
        raise ValueError(
            f"{reference!r}: {error}: install the package that has it, or name its folder in"
            " PYTHONPATH"
        ) from error
    except (AttributeError, ImportError, ValueError) as error:
        raise ValueError(f"{reference!r}: expected package.module:name: {error}") from error


def reference_to(thing: Any) -> str | None:
    """Return ``package.module:name`` of a function or class; None if that finds another or nothing.

    Objects defined in a function, in a notebook or on a command line have no such reference.
    """
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    if not module or not name or module == "__main__":
        return None
    try:
        found = reduce(getattr, name.split("."), import_module(module))
    except (AttributeError, ImportError):
        return None
    return f"{module}:{name}" if found is thing else None


def _entry_point(name: str, group: str) -> Any:
    found = {each.name: each for each in entry_points(group=group)}
    if name not in found:
        there = ", ".join(sorted(found)) or "none"
        raise ValueError(
            f"{name!r}: expected package.module:name, or an entry point of the group {group!r},"
            f" which has: {there}"
        )
    try:
        return found[name].load()
    except (AttributeError, ImportError) as error:
        raise ValueError(f"{name!r}: the entry point {found[name].value!r}: {error}") from error
