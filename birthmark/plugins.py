"""Objects that installed packages give the command line, by their entry points.

See docs/engineers.md, "Add a command".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Command:
    """A command, or a group of commands.

    Attributes:
        title: the heading of the help under which it is listed.
        help: its line there, which is the first of its own help.
        module: the module with its typer application ``app``, or a function of the command's name;
            imported when the command is used.
        renamed: its old spellings, each with the new one.
    """

    title: str
    help: str
    module: str
    renamed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Loaded:
    """The objects of a group of entry points, and why others could not be loaded, by name."""

    objects: dict[str, Any]
    errors: dict[str, str]


def load(group: str, kind: type, taken: Collection[str] = ()) -> Loaded:
    """Load the objects of a group of entry points, in the order of their names.

    An object of another kind, and one with a name that is taken, is an error.
    """
    from importlib.metadata import entry_points  # slow to import

    loaded = Loaded({}, {})
    for entry in sorted(entry_points(group=group), key=lambda entry: entry.name):
        try:
            if entry.name in taken or entry.name in loaded.objects:
                raise ValueError("the name is taken")
            found = entry.load()
            if not isinstance(found, kind):
                raise TypeError(f"expected a {kind.__name__}, found {found!r}")
            loaded.objects[entry.name] = found
        except Exception as error:  # another package's code
            package = entry.dist.name if entry.dist else "unknown"
            loaded.errors[entry.name] = (
                f"package {package}: {group}, {entry.name} = {entry.value}:"
                f" {type(error).__name__}: {error}; upgrade or uninstall the package"
            )
    return loaded
