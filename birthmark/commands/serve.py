"""``birthmark serve`` and ``birthmark predict``: answers over HTTP, and here."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from birthmark.exits import MISCONFIGURED, exits
from birthmark.options import Options, with_options
from birthmark.outputs import Json
from birthmark.serving.settings import Settings, variable
from birthmark.terminal import line, numbers, show, styled, table, words
from birthmark_native import InvalidRequestError

if TYPE_CHECKING:  # the other commands do without them, and start sooner
    from birthmark.serving.messages.requests import Files
    from birthmark.serving.messages.responses import OneExplained


Published = Annotated[Settings, Options(("registry", "model", "point"), variable=variable)]
"""Which model answers."""


@with_options
def serve(settings: Annotated[Settings, Options(variable=variable)]) -> None:
    """Answer over HTTP from the published model, and from the next as soon as it is published."""
    from birthmark.serving.log import service_log
    from birthmark.serving.workers.server import run

    service_log.set_up(settings)
    with exits(MISCONFIGURED, ValueError):
        run(settings, say=line)


@with_options
def predict(
    name: Annotated[str, typer.Argument(help="name of the new file, without its directory")],
    wanted: Published,
    mode: Annotated[str | None, typer.Option(help="permission bits, octal, as 0644")] = None,
    uid: Annotated[int | None, typer.Option(help="numeric id of the user who creates it")] = None,
    gid: Annotated[int | None, typer.Option(help="numeric id of that user's group")] = None,
    directory: Annotated[
        str | None, typer.Option(help="name of its directory, without its path")
    ] = None,
    as_json: Json = False,
) -> None:
    """Predict what a file will become, as the service does but without it."""
    files = files_of(name, directory=directory, mode=mode, uid=uid, gid=gid)
    response = _answer(files, wanted)
    if as_json:
        from pydantic_core import to_json

        typer.echo(to_json(response, indent=2))
    else:
        _show(response)


def files_of(*names: str, directory: str | None, **known: Any) -> Files:
    """Return the files of such names that options tell of, or refuse what is none."""
    from birthmark.serving.client.names import written
    from birthmark.serving.messages.requests import parse

    if directory is not None:
        known |= written("directory", os.fsencode(directory))
    files = [written("name", os.fsencode(name)) | known for name in names]
    try:
        return parse(json.dumps(files).encode())
    except InvalidRequestError as error:
        raise _invalid(error) from error


def _invalid(error: InvalidRequestError) -> typer.BadParameter:
    """Return what is wrong with a file, as the command line reports its own errors."""
    from birthmark.serving.messages import excerpts

    member = (error.field or "").rpartition(".")[2].removesuffix("_percent")
    return typer.BadParameter(f"{error}, found {excerpts.read(error.found)!r}", param_hint=member)


def _answer(files: Files, wanted: Settings) -> OneExplained:
    from birthmark.serving.answers.json_answers import explain_one
    from birthmark.serving.models.published import load_model
    from birthmark.training.registry.versions import Registry

    return explain_one(load_model(Registry(wanted.registry), wanted.model, wanted.point), files)


def _show(response: OneExplained) -> None:
    """Print a row for each predicate, those first of which the answer is yes."""
    from birthmark.serving.answers.evidence import STYLES, in_brief, in_percent

    prediction = response["prediction"]
    rows = sorted(
        prediction["predicates"].items(), key=lambda own: _order(prediction["answers"][own[0]])
    )
    shown = table("predicate", "answer", *numbers("likely"), *words("evidence"))
    shown.caption = f"model {response['model']}, {response['kind']}, {response['point']}"
    for predicate, why in rows:
        said = prediction["answers"][predicate]
        likely = in_percent(prediction["probabilities"][predicate])
        follows = said == "yes" and why["answer"] == "no"
        evidence = "it follows from the others" if follows else in_brief(why)
        shown.add_row(predicate, styled(said, STYLES[said]), likely, evidence)
    show(shown)


def _order(said: str) -> int:
    return ("yes", "no", "unsure").index(said)
