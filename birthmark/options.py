"""Options of the command line, made from settings.

A pydantic model declares each setting once: its type, default, range, vocabulary and description.
A parameter of a command that is annotated with a model becomes an option for each setting::

    @with_options
    def train(datasets: ..., settings: Annotated[Settings, Options()]) -> None: ...

A site's configuration file can have the settings, too: an option wins over its environment
variable, the variable over the file, and the file over the model's default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import typer
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from birthmark.data.common.setting_errors import InvalidError, expected
from birthmark.exits import MISCONFIGURED, exits

Command = TypeVar("Command", bound=Callable[..., None])

_BOUNDS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}
_LABELS = {int: "integer", float: "number", Path: "path"}


@dataclass(frozen=True)
class Options:
    """Selection and naming of the settings that become options of a command.

    Attributes:
        only: the settings that become options; empty: all.
        arguments: the settings that become positional arguments.
        named: the options' names that differ from the settings'.
        variable: returns the environment variable of a setting; None if it has none.
        old: old names of settings, whose options and variables are valid, too.
    """

    only: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    named: Mapping[str, str] = field(default_factory=dict)
    variable: Callable[[str], str | None] = lambda setting: None
    old: Mapping[str, str] = field(default_factory=dict)

    def of(self, model: type[BaseModel]) -> list[Parameter]:
        """Return typer's parameter for each setting."""
        return [self._parameter(model, name) for name in self.only or model.model_fields]

    def _parameter(self, model: type[BaseModel], name: str) -> Parameter:
        setting = model.model_fields[name]
        kind, words = kind_of(setting), self._words(name, setting)
        made = (typer.Argument if name in self.arguments else typer.Option)(
            *words,
            help=_help(setting),
            envvar=self._variables(name),
            **({} if kind is bool else _reading(setting, kind)),
        )
        own: Any = bool if kind is bool else list[Any] if _is_list(setting) else Any
        default = setting.get_default(call_default_factory=True)
        return Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if default is PydanticUndefined else default,
            annotation=Annotated[own, made],
        )

    def _variables(self, name: str) -> str | list[str] | None:
        old = [variable for each in self._old(name) if (variable := self.variable(each))]
        new = self.variable(name)
        return [new, *old] if new and old else new

    def _old(self, name: str) -> list[str]:
        return [old for old, new in self.old.items() if new == name]

    def _words(self, name: str, setting: FieldInfo) -> list[str]:
        if old := self._old(name):
            return [f"--{each.replace('_', '-')}" for each in (name, *old)]
        if name in self.named:
            return [self.named[name]]
        # A switch that is off by default, and that nothing else turns on, needs no --no- form.
        is_off = setting.default is False and self.variable(name) is None
        return [f"--{name.replace('_', '-')}"] if is_off else []


def with_options(command: Command) -> Command:
    """Return `command` with options in place of its parameters that are models of settings.

    Calls from Python pass the models themselves. Validation errors name the option, and what the
    model expected.
    """
    declared = signature(command, eval_str=True)
    models = {
        name: found
        for name, own in declared.parameters.items()
        if (found := _annotated_model(own.annotation))
    }
    options = {name: how.of(model) for name, (model, how) in models.items()}

    @wraps(command)
    def run(*arguments: Any, **values: Any) -> None:
        for name, (model, _) in models.items():
            given = {own.name: values.pop(own.name) for own in options[name] if own.name in values}
            if given:
                try:
                    values[name] = model(**given)
                except ValidationError as error:  # valid alone, but not together
                    raise typer.BadParameter(expected(error.errors()[0])) from error
        command(*arguments, **values)

    run.__annotations__ = {}  # the signature has them
    run.__signature__ = declared.replace(  # type: ignore[attr-defined]
        parameters=[
            made.replace(kind=Parameter.KEYWORD_ONLY)  # allows any order of defaults
            for name, own in declared.parameters.items()
            for made in options.get(name, [own])
        ]
    )
    run.settings = {  # type: ignore[attr-defined]
        own.name: model for name, (model, _) in models.items() for own in options[name]
    }
    return run  # type: ignore[return-value]


CONFIG = "BIRTHMARK_CONFIG"
"""The environment variable that names the configuration file."""

ConfigFile = Annotated[Path, typer.Option(envvar=CONFIG, help="TOML file of the site's settings")]
"""The configuration file of a command that needs one."""


def config_of(section: str) -> Any:
    """Return the option for a configuration file, whose `section` has the other options' defaults.

    Exits with the code for bad settings if the file cannot be used.
    """

    def read(context: typer.Context, path: Path | None) -> Path | None:
        if path is not None and not context.resilient_parsing:
            from birthmark.site_file import SiteFile  # which other commands do not need
            from birthmark.training.config import read_sections

            with exits(MISCONFIGURED, InvalidError):
                found = getattr(read_sections(path, SiteFile), section)
            context.default_map = found and found.model_dump(exclude_unset=True)
        return path

    help = f"TOML file of the site's settings; its section {section} is used"
    return typer.Option(envvar=CONFIG, is_eager=True, callback=read, help=help)


def described(model: type[BaseModel], name: str) -> Any:
    """Return a required option with the help of a setting."""
    return typer.Option(help=_help(model.model_fields[name]))


def kind_of(setting: FieldInfo) -> Any:
    """Return the type of a setting's value without None; of a list: of its items."""
    kind = _without_none(setting.annotation)
    return _without_none(get_args(kind)[0]) if get_origin(kind) is list else kind


def choices(setting: FieldInfo) -> tuple[str, ...]:
    """Return the vocabulary of a setting; empty if it has none."""
    kind = kind_of(setting)
    return get_args(kind) if get_origin(kind) is Literal else ()


def bounds(setting: FieldInfo) -> str:
    """Return the range of a setting in words, as ``above 0, below 1``; empty if it has none."""
    return ", ".join(
        f"{words} {limit:g}" if isinstance(limit, float) else f"{words} {limit}"
        for each in setting.metadata
        for name, words in _BOUNDS.items()
        if (limit := getattr(each, name, None)) is not None
    )


def _help(setting: FieldInfo) -> str:
    """Return the description and range of a setting."""
    assert setting.description
    own = bounds(setting)
    return f"{setting.description} ({own})" if own else setting.description


def _reading(setting: FieldInfo, kind: Any) -> dict[str, Any]:
    """Return typer's parser, metavar and completion for an option."""
    words = choices(setting)

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return {
        "parser": _Parser(setting, kind),
        "metavar": f"<{'|'.join(words) or _LABELS.get(kind, 'text')}>",
        "autocompletion": complete if words else None,
    }


class _Parser:
    """Parses a setting's value from the command line or a variable."""

    def __init__(self, setting: FieldInfo, kind: Any) -> None:
        self.kind = kind
        held = setting.annotation
        self._held: Any = get_args(held)[0] if _is_list(setting) else Annotated[held, setting]
        self.__name__ = _LABELS.get(kind, "text")  # typer shows the function's name

    def __call__(self, word: Any) -> Any:
        """Return the value; raise BadParameter with the model's message."""
        value = _number(word) if self.kind in (int, float) else word
        try:
            return TypeAdapter(self._held).validate_python(value)
        except ValidationError as error:
            first = error.errors()[0]
            raise typer.BadParameter(f"{expected(first)}, found {value!r}") from error


def _number(word: Any) -> Any:
    """Return a word as a number, if it is one."""
    for read in (int, float):
        with suppress(ValueError):
            return read(word) if isinstance(word, str) else word
    return word


def _annotated_model(annotation: Any) -> tuple[type[BaseModel], Options] | None:
    """Return the model and the options that a parameter is annotated with."""
    how = [each for each in getattr(annotation, "__metadata__", ()) if isinstance(each, Options)]
    return (annotation.__origin__, how[0]) if how else None


def _is_list(setting: FieldInfo) -> bool:
    return get_origin(_without_none(setting.annotation)) is list


def _without_none(kind: Any) -> Any:
    """Return a type without None and without annotations."""
    if get_origin(kind) is Annotated:
        return _without_none(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        held = [each for each in get_args(kind) if each is not NoneType]
        return _without_none(held[0]) if len(held) == 1 else str  # Path | str
    return kind
