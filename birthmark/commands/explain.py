"""``birthmark explain`` and ``birthmark rules``: why a model answers as it does."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from birthmark.commands.serve import (
    DEFAULTS,
    ModelOption,
    PointOption,
    RegistryOption,
    file_of,
    settings_of,
)

if TYPE_CHECKING:  # the other commands do without them, and start sooner
    from serving.responses import Answer, Explanation, ListExplained


def explain(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="new files' names")],
    mode: Annotated[str | None, typer.Option(help="permission bits, octal, as 0644")] = None,
    uid: Annotated[int | None, typer.Option(help="number of the user who creates them")] = None,
    gid: Annotated[int | None, typer.Option(help="number of that user's group")] = None,
    directory: Annotated[
        str | None, typer.Option(help="last name of their directory's path")
    ] = None,
    registry: RegistryOption = DEFAULTS.registry,
    model: ModelOption = DEFAULTS.model,
    point: PointOption = DEFAULTS.point,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
) -> None:
    """Tell of new files what they will become, and why: each yes with the evidence for it."""
    from serving.answers import explain_list
    from serving.published import load_model
    from training.registry import Registry

    wanted = settings_of(registry=registry, model=model, point=point)
    files = [file_of(name, directory, mode=mode, uid=uid, gid=gid) for name in names]
    loaded = load_model(Registry(wanted.registry), wanted.model, wanted.point)
    response = explain_list(loaded, files)
    if as_json:
        typer.echo(json.dumps(response, indent=2))
    else:
        _draw(response, names)


def _draw(response: ListExplained, names: list[str]) -> None:
    console = Console()
    for name, prediction in zip(names, response["predictions"], strict=True):
        _print(console, _tree(name, prediction))
    console.print(f"model {response['model']}, {response['kind']}, {response['point']}")


def _tree(name: str, prediction: Explanation) -> Tree:
    from serving.evidence import in_words

    tree = Tree(Text(name, style="bold"))
    answers = prediction["predicates"]
    for predicate, answer in answers.items():
        if answer["answer"] == "yes":
            branch = tree.add(Text(f"{predicate}: yes", style="green"))
            branch.add(Text(in_words(answer["evidence"])))
            branch.add(Text(_admitted(answer)))
    said = {"no": [], "abstains": []}  # type: dict[str, list[str]]
    for predicate, answer in answers.items():
        if answer["answer"] == "no":
            said["no" if answer["threshold"] is not None else "abstains"].append(predicate)
    for what, predicates in said.items():
        if predicates:
            tree.add(Text(f"{what}: {', '.join(predicates)}", style="dim"))
    return tree


def _admitted(answer: Answer) -> str:
    """Return what the threshold was, and the limit of false positives that admitted it."""
    score = f"score {answer['score']:.3f}, yes from {answer['threshold']:.3g}"
    if answer["upper"] is None:
        return f"{score}, without a bound"
    return f"{score}, which is wrongly said of at most {answer['upper']:.2%} of all files"


def rules(
    registry: RegistryOption = DEFAULTS.registry,
    model: ModelOption = DEFAULTS.model,
    point: PointOption = DEFAULTS.point,
    top: Annotated[int, typer.Option(min=1, help="how many to show")] = 50,
    predicate: Annotated[str | None, typer.Option(help="only those of this predicate")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print all as a list of objects")] = False,
) -> None:
    """List the rules of the published model, those that decide most files first."""
    from serving.published import load_model
    from training.registry import Registry

    wanted = settings_of(registry=registry, model=model, point=point)
    loaded = load_model(Registry(wanted.registry), wanted.model, wanted.point, counts=True)
    found = loaded.trained.rules(loaded.kind, loaded.point).to_pylist()
    if predicate is not None:
        found = [rule for rule in found if rule["predicate"] == predicate]
    if as_json:
        typer.echo(json.dumps(found, indent=1))
    else:
        _show(
            found[:top], f"{min(top, len(found))} of {len(found):,} rules, model {loaded.version}"
        )


def _show(rules: list[dict[str, Any]], caption: str) -> None:
    table = Table(box=box.SIMPLE_HEAD, caption=caption, caption_justify="left")
    for heading, justify in _COLUMNS.items():
        table.add_column(heading, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    for rule in rules:
        answer = Text("yes", style="green") if rule["yes"] else Text("no", style="red")
        counts = (f"{rule[n]:,.0f}" for n in ("decides", "n_m", "n_a"))
        table.add_row(Text(rule["predicate"]), Text(rule["rule"]), answer, *counts)
    _print(Console(), table)


def _print(console: Console, shown: Table | Tree) -> None:
    """Print at full width where nobody's terminal limits it."""
    if not console.is_terminal:
        unlimited = console.options.update(width=sys.maxsize)
        console.width = console.measure(shown, options=unlimited).maximum
    console.print(shown)


_COLUMNS = {
    "predicate": "left",
    "rule": "left",
    "answer": "left",
    "decides": "right",
    "n_M": "right",
    "n_A": "right",
}
