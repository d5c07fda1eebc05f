"""The page `docs/settings.md`: every setting that a command takes, from its declaration."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from birthmark import cli
from birthmark.options import bounds, choices, kind_of

HEAD = """\
# Settings

Reference for administrators: each setting that is an option of a command, made from the
declarations by `make generate`.

- Brackets hold the default, then the values allowed. The default among choices comes
  first, unless the text names another.
- A file of settings has the same names (`false_negative_bound` for `--false-negative-bound`),
  defaults and ranges. An option wins over its environment variable, the variable over the file.
- [Serving](serving.md#start-it) describes the options that only `birthmark serve` has;
  [every option](administrators.md#every-option) lists all.
"""

KINDS = {int: "integer", float: "number", Path: "path"}
SERVICE = ["serve"]
"""The command whose settings have a page of their own."""


def used() -> dict[type[BaseModel], dict[str, dict[str, list[str]]]]:
    """Return by model and setting its options, and which commands have them."""
    found: dict[type[BaseModel], dict[str, dict[str, list[str]]]] = {}
    for command, own in commands():
        for parameter in own.params:
            model = getattr(own.callback, "settings", {}).get(parameter.name)
            if model is not None:
                options = found.setdefault(model, {}).setdefault(parameter.name, {})
                words = [*parameter.opts, *getattr(parameter, "secondary_opts", [])]
                options.setdefault(" or ".join(f"`{word}`" for word in words), []).append(command)
    return found


def commands() -> Iterator[tuple[str, Any]]:
    """Yield every command with its name; those of a group are called ``GROUP COMMAND``."""
    for name in cli.commands():
        yield from within(name, cli.command(name))


def within(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Yield a command, or those of a group, with their names."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name, command
        return
    for each, own in inner.items():
        yield from within(f"{name} {each}", own)


def default(setting: FieldInfo) -> str:
    """Return a default as a page shows it."""
    value = setting.get_default(call_default_factory=True)
    if value is PydanticUndefined:
        return "required"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return ", ".join(f"`{each}`" for each in value)
    return "" if value in (None, "") else f"`{value}`"


def values(setting: FieldInfo) -> str:
    """Return a setting's default, and what it may be."""
    usual = default(setting)
    words = [f"`{word}`" for word in choices(setting)]
    if usual in words:
        return joined([usual, *(word for word in words if word != usual)])
    limits = joined(words) or span(bounds(setting))
    other = limits or ("" if usual else KINDS.get(kind_of(setting), "text"))
    return "; ".join(part for part in (usual, other) if part)


def joined(words: list[str]) -> str:
    """Return choices as a page shows them."""
    *first, last = words or [""]
    return f"{', '.join(first)} or {last}" if first else last


def span(limits: str) -> str:
    """Return bounds in signs: `0 to 1`, `≥ 1`, `> 0`."""
    both = re.fullmatch(r"at least (\S+), at most (\S+)", limits)
    if both is not None:
        return f"{both[1]} to {both[2]}"
    signs = {"at least ": "≥", "at most ": "≤", "above ": ">", "below ": "<"}
    for word, sign in signs.items():
        limits = limits.replace(word, sign)
    return limits


def users(options: dict[str, list[str]]) -> list[str]:
    """Return the commands that have any of `options`."""
    return [name for own in options.values() for name in own]


def lines(
    settings: dict[str, dict[str, list[str]]], model: type[BaseModel], usual: tuple[str, ...]
) -> list[str]:
    """Return a line for each setting that some command besides the service has."""
    found = []
    for name, setting in model.model_fields.items():
        if name in settings and users(settings[name]) != SERVICE:
            of = users(settings[name])
            others = "" if tuple(of) == usual else f" (of {listed(of)})"
            words = ", ".join(settings[name]).replace(" or ", ", ")
            found.append(f"- {words} ({values(setting)}): {setting.description}{others}")
    return found


def service_lines(
    settings: dict[str, dict[str, list[str]]], model: type[BaseModel]
) -> Iterator[str]:
    """Yield each setting that only the service has, with its values alone."""
    for name, setting in model.model_fields.items():
        if name in settings and users(settings[name]) == SERVICE:
            yield f"{', '.join(settings[name])} ({values(setting)})"


def listed(names: Iterable[str]) -> str:
    """Return commands as a page shows them."""
    return ", ".join(f"`{name}`" for name in names)


def page() -> str:
    """Return the page: a section for each set of commands."""
    sections: dict[tuple[str, ...], list[str]] = {}
    service: list[str] = []
    for model, settings in used().items():
        service += service_lines(settings, model)
        shown = [tuple(users(of)) for of in settings.values() if users(of) != SERVICE]
        if shown:
            usual = Counter(shown).most_common(1)[0][0]
            sections.setdefault(usual, []).extend(lines(settings, model, usual))
    parts = [f"\n## {listed(of)}\n\n" + "\n".join(rows) + "\n" for of, rows in sections.items()]
    return HEAD + "".join(parts) + "\n## `serve`\n\n" + ", ".join(service) + ".\n"
