"""``birthmark predict``: predictions without the service."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.tree import Tree

from birthmark.options import Options, with_options
from birthmark.outputs import Json
from birthmark.serving.settings import Settings, variable
from birthmark.terminal import line, numbers, show, styled, table, words
from birthmark_native import InvalidRequestError

if TYPE_CHECKING:
    from birthmark.serving.messages.requests import Files
    from birthmark.serving.messages.responses import (
        Answer,
        Explanation,
        ListExplained,
        OneExplained,
    )
    from birthmark.serving.models.loaded import LoadedModel

Published = Annotated[Settings, Options(("registry", "model", "point"), variable=variable)]
"""The settings that choose the model."""


@with_options
def predict(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME", help="name of the new file, without its directory"),
    ],
    published: Published,
    mode: Annotated[str | None, typer.Option(help="permission bits, octal, as 0644")] = None,
    uid: Annotated[int | None, typer.Option(help="numeric id of the creating user")] = None,
    gid: Annotated[int | None, typer.Option(help="numeric id of the user's group")] = None,
    directory: Annotated[
        str | None, typer.Option(help="name of the directory, without its path")
    ] = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="show the evidence of each yes as a tree; takes more names"),
    ] = False,
    as_json: Json = False,
) -> None:
    """Predict what a file will become, and explain why.

    Needs no service. With --explain, NAME may be repeated.
    """
    if len(names) > 1 and not explain:
        raise typer.BadParameter("expected one name, or --explain", param_hint="NAME")
    files = files_of(*names, directory=directory, mode=mode, uid=uid, gid=gid)
    if explain:
        _explain(files, published, names, as_json)
    else:
        _predict(files, published, as_json)


def _predict(files: Files, published: Settings, as_json: bool) -> None:
    """Print the answers about one file."""
    from birthmark.serving.answers.json_answers import explain_one

    response = explain_one(_model(published), files)
    if as_json:
        from pydantic_core import to_json

        typer.echo(to_json(response, indent=2))
    else:
        _show(response)


def _explain(files: Files, published: Settings, names: list[str], as_json: bool) -> None:
    """Print the answers about files with their evidence."""
    from birthmark.serving.answers.json_answers import explain_list

    response = explain_list(_model(published), files)
    if as_json:
        typer.echo(json.dumps(response, indent=2))
    else:
        draw(response, names)


def files_of(*names: str, directory: str | None, **known: Any) -> Files:
    """Return files of these names with the members given as options; refuse bad ones."""
    from birthmark.serving.client.questions import written
    from birthmark.serving.messages.requests import parse

    if directory is not None:
        known |= written("directory", os.fsencode(directory))
    files = [written("name", os.fsencode(name)) | known for name in names]
    try:
        return parse(json.dumps(files).encode())
    except InvalidRequestError as error:
        raise _invalid(error) from error


def _invalid(error: InvalidRequestError) -> typer.BadParameter:
    """Return an error in a file as an error of the command line."""
    from birthmark.serving.messages import excerpts

    member = (error.field or "").rpartition(".")[2].removesuffix("_percent")
    return typer.BadParameter(f"{error}, found {excerpts.read(error.found)!r}", param_hint=member)


def _model(published: Settings) -> LoadedModel:
    from birthmark.serving.models.loaded import load_model
    from birthmark.training.registry.versions import Registry

    return load_model(Registry(published.registry), published.model, published.point)


def _show(response: OneExplained) -> None:
    """Print a row for each predicate, sorted by answer: yes, no, unsure."""
    from birthmark.serving.answers.evidence import STYLES, in_percent, why

    prediction = response["prediction"]
    rows = sorted(
        prediction["predicates"].items(), key=lambda own: _order(prediction["answers"][own[0]])
    )
    shown = table("predicate", "answer", *numbers("likely"), *words("evidence"))
    shown.caption = f"model {response['model']}, {response['kind']}, {response['point']}"
    for predicate, _ in rows:
        answer = prediction["answers"][predicate]
        likely = in_percent(prediction["probabilities"][predicate])
        evidence = why(predicate, prediction, brief=True)
        shown.add_row(predicate, styled(answer, STYLES[answer]), likely, evidence)
    show(shown)
    for sentence in prediction["unseen"]:
        line(sentence)


def _order(answer: str) -> int:
    return ("yes", "no", "unsure").index(answer)


def draw(response: ListExplained, names: list[str]) -> None:
    """Print a tree for each file: its answers, their probabilities and evidence."""
    for name, prediction in zip(names, response["predictions"], strict=True):
        show(_tree(name, prediction))
    line(f"model {response['model']}, {response['kind']}, {response['point']}")


def _tree(name: str, prediction: Explanation) -> Tree:
    from birthmark.serving.answers.evidence import STYLES, in_percent, why

    tree = Tree(styled(name, "bold"))
    for sentence in prediction["unseen"]:
        tree.add(styled(sentence, "yellow"))
    predicates, answers = prediction["predicates"], prediction["answers"]
    likely = {key: in_percent(share) for key, share in prediction["probabilities"].items()}
    for predicate, answer in answers.items():
        if answer == "yes":
            branch = tree.add(styled(f"{predicate}: yes, {likely[predicate]}", STYLES["yes"]))
            branch.add(_because(predicate, why(predicate, prediction)))
            if predicate not in prediction["implied"]:
                branch.add(_admitted(predicates[predicate]))
    for word in ("no", "unsure"):
        own = [f"{key} {likely[key]}" for key, answer in answers.items() if answer == word]
        if own:
            tree.add(styled(f"{word}: {', '.join(own)}", STYLES[word]))
    return tree


def _because(predicate: str, why: str) -> str:
    """Return a yes and its evidence in one sentence."""
    from birthmark.predictor.predicates.builtin import outcome

    words = outcome(predicate)
    return (
        why if words is None else f"{words}, {why}" if why.startswith("as ") else f"{words}: {why}"
    )


def _admitted(answer: Answer) -> str:
    """Return the score, its threshold, and the bound on false positives."""
    score = f"score {answer['score']:.3f}, yes from {answer['threshold']:.3g}"
    if answer["upper"] is None:
        return f"{score}, without a bound"
    return f"{score}: wrong for at most {answer['upper']:.2%} of all files"
