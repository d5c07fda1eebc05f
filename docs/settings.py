"""Print `docs/settings.md`: every setting that a command takes, from its declaration.

Run it in the repository: ``python docs/settings.py > docs/settings.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from birthmark import cli
from birthmark.options import bounds, choices, kind_of

HEAD = """\
# Settings

Every setting that is an option of a command: its default, what it may be, and what it means. A file
of settings has the same names (`false_negative_bound` for `--false-negative-bound`), defaults and
ranges. Other options are in [Every option](administrators.md#every-option). Made from the
declarations of the settings by `python docs/settings.py > docs/settings.md`.
"""

KINDS = {int: "integer", float: "number", bool: "true or false", Path: "path"}


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
    for name in cli.COMMANDS:
        command = cli.command(name)
        inner = getattr(command, "commands", None)
        if inner is None:
            yield name, command
        else:
            yield from ((f"{name} {each}", own) for each, own in inner.items())


def default(setting: FieldInfo) -> str:
    """Return a default as a page shows it."""
    value = setting.get_default(call_default_factory=True)
    if value is PydanticUndefined:
        return "must be given"
    if isinstance(value, list):
        return ", ".join(f"`{each}`" for each in value)
    return "" if value in (None, "") else f"`{value}`"


def values(setting: FieldInfo) -> str:
    """Return what a setting may be."""
    words = ", ".join(f"`{word}`" for word in choices(setting))
    return words or bounds(setting) or KINDS.get(kind_of(setting), "text")


def asked(options: dict[str, list[str]]) -> str:
    """Return the commands that have any of `options`."""
    return ", ".join(f"`{name}`" for own in options.values() for name in own)


def section(model: type[BaseModel], settings: dict[str, dict[str, list[str]]]) -> str:
    """Return the section on a model."""
    title, _, _ = str(model.__doc__).partition("\n")
    head = [
        "",
        f"## {title.rstrip('.')}",
        "",
        "| option | default | may be | meaning | commands |",
        "| --- | --- | --- | --- | --- |",
    ]
    rows = [
        f"| {', '.join(settings[name])} | {default(setting)} | {values(setting)} "
        f"| {setting.description} | {asked(settings[name])} |"
        for name, setting in model.model_fields.items()
        if name in settings
    ]
    return "\n".join([*head, *rows]) + "\n"


def page() -> str:
    """Return the page."""
    return HEAD + "".join(section(model, settings) for model, settings in used().items())


if __name__ == "__main__":
    print(page(), end="")
