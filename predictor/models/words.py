"""Phrases for evidence, shared by the kinds of models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

LEAST_FILES = 8
"""Least number of training files for a count to be shown as evidence."""


def as_were(where: str, n_m: float | None, n_a: float | None) -> str:
    """Return counts of files as a phrase, such as ``as 812 of 830 files named *.tex were``.

    Fewer than ``LEAST_FILES`` are not counted.
    """
    if (n_a or 0) < LEAST_FILES:
        return f"fewer than {LEAST_FILES} training {where} show it"
    return f"as {counted(where, n_m, n_a)} were"


def counted(where: str, n_m: float | None, n_a: float | None) -> str:
    """Return counts of files, such as ``812 of 830 files named *.tex``."""
    return f"{_count(n_m)} of {_count(n_a)} {where}"


def files(component: str) -> str:
    """Return the files whose names have a component, such as ``files named *.tex``.

    A first piece of five bytes may also be the prefix of longer ones.
    """
    from birthmark.features.components import Component  # needed only to explain

    anchor, text = Component.of(component.encode())
    name = text.decode()
    patterns = {"whole": name, "first": f"{name}*", "last": f"*.{name}", "middle": f"*.{name}.*"}
    return "files" if anchor == "any" else f"files named {patterns[anchor]}"


def attribute(attribute: str, value: Any) -> str:
    """Return an attribute and its value as a phrase, such as ``mode 0644``."""
    if attribute == "mode" and isinstance(value, int):
        value = f"{value:04o}"
    return f"{attribute} {'none' if value is None else value}"


OF_ATTRIBUTE = {
    "mode": "with mode {}",
    "uid": "of user {}",
    "gid": "of group {}",
    "client": "from {}",
    "hour": "created from {:02}:00 to {:02}:59 UTC",
}
"""Descriptions of files by an attribute."""


def with_attribute(name: str, value: Any) -> str:
    """Return the files with an attribute's value, such as ``with mode 0644``."""
    if value is None:
        return f"with no {name} known"
    value = f"{value:04o}" if name == "mode" else value
    return OF_ATTRIBUTE[name].format(value, value)


def with_path(path: Iterable[Mapping[str, Any]]) -> str:
    """Return the files on a path through a tree, by pieces of names and attributes."""
    phrases = ["files"]
    for step in path:
        name, value = step["attribute"], step["value"]
        if name in OF_ATTRIBUTE:
            phrases.append(with_attribute(name, value))
        elif value is None:
            phrases.append(f"without a {name} piece")
        else:
            phrases.append(f"with {name} piece {value}")
    return " ".join(phrases)


def listed(phrases: list[str]) -> str:
    """Return phrases as a list in a sentence."""
    return " and ".join([", ".join(phrases[:-1]), phrases[-1]] if phrases[1:] else phrases)


def _count(n: float | None) -> str:
    """Return a count of rows; older rows may count as fractions."""
    return f"{n or 0:,.0f}" if n is None or n == round(n) else f"{n:,.1f}"
