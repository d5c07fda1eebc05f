"""Options are what the settings declare: no command declares a default, range or word again.

Tests also data/settings.py, layout_hint/settings.py.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from enum import Enum
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import pytest
import typer
import typer.main
from pydantic import BaseModel, Field, ValidationError
from pydantic_core import PydanticUndefined
from typer.models import ArgumentInfo, OptionInfo
from typer.testing import CliRunner

from birthmark import cli
from birthmark.data.common.setting_errors import reasons
from birthmark.options import Options, bounds, choices, described, kind_of, with_options
from birthmark.predictor.parameters import Parameters
from birthmark.training.config import Settings

Info = OptionInfo | ArgumentInfo
Option = tuple[str, Parameter, Info, type[BaseModel] | None]
"""A command, the parameter that is an option of it, how it is given, and whose setting it is."""


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield every command that there is, with the function that it runs."""
    for name, found in cli.commands().items():
        home = import_module(found.module)
        if hasattr(home, "app"):
            yield from of_group(name, home.app)
        else:
            yield name, getattr(home, name)


def of_group(name: str, app: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield every command of a group, and of the groups in it."""
    for own in app.registered_commands:
        yield f"{name} {own.name or own.callback.__name__}", own.callback
    for group in app.registered_groups:
        yield from of_group(f"{name} {group.name}", group.typer_instance)


def options() -> Iterator[Option]:
    """Yield all options of all commands."""
    for name, function in functions():
        settings = getattr(function, "settings", {})
        for parameter in signature(function, eval_str=True).parameters.values():
            if get_origin(parameter.annotation) is Annotated:
                info = get_args(parameter.annotation)[1]
                if isinstance(info, OptionInfo | ArgumentInfo):
                    yield name, parameter, info, settings.get(parameter.name)


OPTIONS = list(options())
SETTINGS = [
    pytest.param(command, parameter, info, model, id=f"{command} {parameter.name}")
    for command, parameter, info, model in OPTIONS
    if model is not None
]


def test_all_commands_are_walked() -> None:
    assert len(list(functions())) > len(cli.commands())
    assert len(SETTINGS) > 100


def test_a_command_declares_no_default_range_or_vocabulary_of_its_own() -> None:
    for command, parameter, info, model in OPTIONS:
        if model is None:
            assert parameter.default in (Parameter.empty, None, False), (command, parameter.name)
            assert (info.min, info.max) == (None, None), (command, parameter.name)
            kind = get_args(parameter.annotation)[0]
            for each in (kind, *get_args(kind)):
                assert get_origin(each) is not Literal, (command, parameter.name)
                assert not (isinstance(each, type) and issubclass(each, Enum)), command


@pytest.mark.parametrize(("command", "parameter", "info", "model"), SETTINGS)
def test_an_option_has_the_default_range_and_words_of_its_setting(
    command: str, parameter: Parameter, info: Info, model: type[BaseModel]
) -> None:
    setting = model.model_fields[parameter.name]
    default = setting.get_default(call_default_factory=True)
    expected = Parameter.empty if default is PydanticUndefined else default
    assert parameter.default == expected
    assert str(setting.description) in str(info.help)
    assert bounds(setting) in str(info.help)
    if choices(setting):
        assert info.metavar == f"<{'|'.join(choices(setting))}>"
        assert info.autocompletion is not None
        assert info.autocompletion("") == list(choices(setting))


def outside(setting: Any) -> Iterator[Any]:
    """Yield values that a setting has not: beyond its range, or a word that it does not know."""
    whole = kind_of(setting) is int
    for each in setting.metadata:
        for name, way in (("ge", -1), ("gt", 0), ("le", 1), ("lt", 0)):
            limit = getattr(each, name, None)
            if limit is not None:
                near = limit + way if whole else math.nextafter(limit, limit + way)
                yield int(near) if whole else float(near if way else limit)
    if choices(setting):
        yield "no-such-word"


@pytest.mark.parametrize(("command", "parameter", "info", "model"), SETTINGS)
def test_an_option_refuses_a_value_in_its_settings_words(
    command: str, parameter: Parameter, info: Info, model: type[BaseModel]
) -> None:
    setting = model.model_fields[parameter.name]
    for value in outside(setting):
        given = [value] if get_origin(setting.annotation) is list else value
        with pytest.raises(ValidationError) as caught:
            model(**{parameter.name: given})
        report = [reason for reason in reasons(caught.value) if reason.startswith(parameter.name)]
        assert info.parser is not None
        with pytest.raises(typer.BadParameter) as refused:
            info.parser(repr(value) if not isinstance(value, str) else value)
        assert report[0].partition(": ")[2] == refused.value.message


def refusal(*arguments: str) -> str:
    """Return the error for refused arguments."""
    result = CliRunner().invoke(cli.app, list(arguments), env={"COLUMNS": "300"})
    assert result.exit_code == 2
    return " ".join(result.output.split())


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("--bound", "0", "Input should be greater than 0, found 0"),
        ("--confidence", "0.5", "Input should be greater than 0.5, found 0.5"),
        ("--trees", "many", "Input should be a valid integer"),
        (
            "--serve",
            "rulez",
            "Input should be 'name', 'able', 'rules', 'forest' or 'best', found 'rulez'",
        ),
    ],
)
def test_an_error_names_the_option_the_value_and_what_was_expected(
    option: str, value: str, expected: str
) -> None:
    printed = refusal("train", "day", "--registry", "registry", option, value)
    assert f"Invalid value for '{option}': {expected}" in printed
    assert value in printed


def test_a_variable_is_refused_as_its_option_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIRTHMARK_PORT", "65536")
    printed = refusal("serve")
    assert "Invalid value for '--port'" in printed
    assert "less than or equal to 65535, found 65536" in printed


def test_settings_that_contradict_each_other_are_refused() -> None:
    assert "ssl_certfile and ssl_keyfile: expected both" in refusal("serve", "--ssl-certfile", "c")


class Changed(Settings):
    """The settings of training, with one changed declaration."""

    minfrac: float = Field(default=0.7, ge=0.5, le=0.9, description="another share")
    point: Literal["usual", "strict"] = Field(  # type: ignore[assignment]
        default="strict", description="another threshold"
    )


def test_a_change_of_the_declaration_alone_is_followed_by_the_command_line() -> None:
    found: list[Settings] = []

    def command(settings: Settings) -> None:
        found.append(settings)

    command.__annotations__ = {"settings": Annotated[Changed, Options()]}
    app = typer.Typer()
    app.command()(with_options(command))
    runner = CliRunner()
    assert runner.invoke(app, []).exit_code == 0
    assert (found[0].minfrac, found[0].point) == (0.7, "strict")
    page = " ".join(runner.invoke(app, ["--help"], env={"COLUMNS": "300"}).output.split())
    assert "another share (at least 0.5, at most 0.9) [default: 0.7]" in page
    assert "<usual|strict>" in page
    assert runner.invoke(app, ["--minfrac", "0.8", "--point", "usual"]).exit_code == 0
    assert (found[1].minfrac, found[1].point) == (0.8, "usual")
    assert runner.invoke(app, ["--minfrac", "1"]).exit_code == 2
    assert runner.invoke(app, ["--point", "bounded"]).exit_code == 2


def test_a_command_is_called_from_python_with_the_settings_themselves() -> None:
    found = []

    @with_options
    def command(day: str, settings: Annotated[Settings, Options()]) -> None:
        found.append((day, settings))

    command("monday", Settings(trees=3))
    command("monday", settings=Settings(trees=3))
    assert found == [("monday", Settings(trees=3))] * 2


def test_a_required_option_has_the_help_of_its_setting() -> None:
    app = typer.Typer()

    @app.command()
    def command(trees: Annotated[int, described(Settings, "trees")]) -> None:
        """Do nothing."""

    result = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "300"})
    assert str(Settings.model_fields["trees"].description) in " ".join(result.output.split())


def test_no_default_is_written_a_second_time() -> None:
    """The sources hold the default of a parameter of models once, where it is declared."""
    root = Path(cli.__file__).resolve().parent
    folders = [path for path in root.iterdir() if path.is_dir()]
    modules = [*root.glob("*.py"), *(file for each in folders for file in each.rglob("*.py"))]
    found: dict[str, list[str]] = {name: [] for name in Parameters.model_fields}
    for module in modules:
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            for name, value in _defaults(node):
                if name in found and _written(value):
                    found[name].append(f"{module.name}: {name}")
    for others in ("prefix", "seed", "seed"):  # of names, of a replay, and of a load
        found[others].remove(f"settings.py: {others}")
    found["behind"].remove("history.py: behind")  # of a history that is not behind
    assert found == {name: [f"parameters.py: {name}"] for name in found}


def _defaults(node: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, ast.FunctionDef):
        own = [*node.args.posonlyargs, *node.args.args]
        yield from zip(
            (arg.arg for arg in own[len(own) - len(node.args.defaults) :]),
            node.args.defaults,
            strict=True,
        )
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
        yield node.target.id, node.value


def _written(value: Any) -> bool:
    """Return whether a default is a number or a word, or a field of one."""
    if isinstance(value, ast.Call):
        return any(word.arg == "default" and _written(word.value) for word in value.keywords)
    return isinstance(value, ast.Constant) and value.value is not None
