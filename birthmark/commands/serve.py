"""``birthmark serve`` and ``birthmark predict``: answers over HTTP, and here."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import ValidationError
from rich.table import Table

from birthmark.data.common.setting_errors import expected
from birthmark.exits import MISCONFIGURED, exits
from birthmark.serving.settings import Settings, variable
from birthmark.terminal import line, show, styled

if TYPE_CHECKING:  # the other commands do without them, and start sooner
    from birthmark.serving.messages.requests import FileRequest
    from birthmark.serving.messages.responses import OneExplained


def _setting(name: str) -> Any:
    """Return the option for a setting of the service, which the environment may hold as well."""
    field = Settings.model_fields[name]
    # A switch has no opposite: it is off unless it is given.
    names = [f"--{name.replace('_', '-')}"] if field.annotation is bool else []
    return typer.Option(*names, envvar=variable(name), help=field.description)


DEFAULTS: Any = Settings()  # as options have them, which know fewer types
RegistryOption = Annotated[str, _setting("registry")]
ModelOption = Annotated[str | None, _setting("model")]
PointOption = Annotated[str | None, _setting("point")]
RegionOption = Annotated[str, _setting("region")]


def serve(
    registry: RegistryOption = DEFAULTS.registry,
    host: Annotated[str, _setting("host")] = DEFAULTS.host,
    port: Annotated[int, _setting("port")] = DEFAULTS.port,
    uds: Annotated[Path | None, _setting("uds")] = DEFAULTS.uds,
    known_hosts: Annotated[str | None, _setting("known_hosts")] = DEFAULTS.known_hosts,
    model: ModelOption = DEFAULTS.model,
    point: PointOption = DEFAULTS.point,
    region: RegionOption = DEFAULTS.region,
    poll_seconds: Annotated[float, _setting("poll_seconds")] = DEFAULTS.poll_seconds,
    max_body_bytes: Annotated[int, _setting("max_body_bytes")] = DEFAULTS.max_body_bytes,
    log_predictions: Annotated[Path | None, _setting("log_predictions")] = DEFAULTS.log_predictions,
    log_share: Annotated[float, _setting("log_share")] = DEFAULTS.log_share,
    log_mapping: Annotated[Path | None, _setting("log_mapping")] = DEFAULTS.log_mapping,
    log_minutes: Annotated[float, _setting("log_minutes")] = DEFAULTS.log_minutes,
    log_days: Annotated[int, _setting("log_days")] = DEFAULTS.log_days,
    log_format: Annotated[str, _setting("log_format")] = DEFAULTS.log_format,
    log_access: Annotated[bool, _setting("log_access")] = DEFAULTS.log_access,
    log_names: Annotated[bool, _setting("log_names")] = DEFAULTS.log_names,
    stale_days: Annotated[float, _setting("stale_days")] = DEFAULTS.stale_days,
    tokens: Annotated[Path | None, _setting("tokens")] = DEFAULTS.tokens,
    allow_open: Annotated[bool, _setting("allow_open")] = DEFAULTS.allow_open,
    ssl_certfile: Annotated[Path | None, _setting("ssl_certfile")] = DEFAULTS.ssl_certfile,
    ssl_keyfile: Annotated[Path | None, _setting("ssl_keyfile")] = DEFAULTS.ssl_keyfile,
    workers: Annotated[int, _setting("workers")] = DEFAULTS.workers,
    max_requests: Annotated[int, _setting("max_requests")] = DEFAULTS.max_requests,
    max_connections: Annotated[int, _setting("max_connections")] = DEFAULTS.max_connections,
    queue_seconds: Annotated[float, _setting("queue_seconds")] = DEFAULTS.queue_seconds,
    timeout_seconds: Annotated[float, _setting("timeout_seconds")] = DEFAULTS.timeout_seconds,
    idle_seconds: Annotated[float, _setting("idle_seconds")] = DEFAULTS.idle_seconds,
) -> None:
    """Answer over HTTP from the published model, and from the next as soon as it is published."""
    values = dict(locals())
    from birthmark.serving.log import service_log
    from birthmark.serving.workers.server import run

    settings = settings_of(**values)
    service_log.set_up(settings)
    with exits(MISCONFIGURED, ValueError):
        run(settings, say=line)


def predict(
    name: Annotated[str, typer.Argument(help="the new file's name, without its directory")],
    mode: Annotated[str | None, typer.Option(help="permission bits, octal, as 0644")] = None,
    uid: Annotated[int | None, typer.Option(help="number of the user who creates it")] = None,
    gid: Annotated[int | None, typer.Option(help="number of that user's group")] = None,
    directory: Annotated[str | None, typer.Option(help="last name of its directory's path")] = None,
    registry: RegistryOption = DEFAULTS.registry,
    model: ModelOption = DEFAULTS.model,
    point: PointOption = DEFAULTS.point,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
) -> None:
    """Predict what a file will become, as the service does but without it."""
    file = file_of(name, directory, mode=mode, uid=uid, gid=gid)
    wanted = settings_of(registry=registry, model=model, point=point)
    response = _answer(file, wanted)
    if as_json:
        from pydantic_core import to_json

        typer.echo(to_json(response, indent=2))
    else:
        _show(response)


def settings_of(**values: Any) -> Settings:
    """Return settings of the service, or refuse what is none as an option."""
    try:
        return Settings(**values)
    except ValidationError as error:
        raise _refused(error) from error


def file_of(name: str, directory: str | None, **known: Any) -> FileRequest:
    """Return the file that options tell of, or refuse what is none."""
    from birthmark.serving.client.names import written
    from birthmark.serving.messages.requests import FileRequest

    names = written("name", os.fsencode(name))
    if directory is not None:
        names |= written("directory", os.fsencode(directory))
    try:
        return FileRequest.model_validate(names | known)
    except ValidationError as error:
        raise _refused(error) from error


def _refused(error: ValidationError) -> typer.BadParameter:
    """Return the first of what is wrong, as the command line reports its own errors."""
    first = error.errors()[0]
    if not first["loc"]:
        return typer.BadParameter(expected(first))
    member = str(first["loc"][0]).removesuffix("_percent")
    return typer.BadParameter(f"{expected(first)}, found {first['input']!r}", param_hint=member)


def _answer(file: FileRequest, wanted: Settings) -> OneExplained:
    from birthmark.serving.answers.json_answers import explain_one
    from birthmark.serving.models.published import load_model
    from birthmark.training.registry.versions import Registry

    return explain_one(load_model(Registry(wanted.registry), wanted.model, wanted.point), file)


def _show(response: OneExplained) -> None:
    """Print a row for each predicate."""
    from birthmark.predictor import KINDS
    from birthmark.serving.answers.evidence import STYLES, in_percent

    in_words = KINDS[response["kind"]].in_words
    table = Table("predicate", "answer", "likely", "evidence")
    table.columns[2].justify = "right"
    prediction = response["prediction"]
    for predicate, why in prediction["predicates"].items():
        said = prediction["answers"][predicate]
        likely = in_percent(prediction["probabilities"][predicate])
        table.add_row(predicate, styled(said, STYLES[said]), likely, in_words(why["evidence"]))
    table.caption = f"model {response['model']}, {response['kind']}, {response['point']}"
    show(table)
