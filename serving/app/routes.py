"""The service's paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.concurrency import run_in_threadpool
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic_core import to_json

from birthmark.predictor.parts import OlderModelError
from birthmark.predictor.trained import refuse_other_release
from birthmark.serving.answers.json_answers import explain_list, explain_one
from birthmark.serving.messages import responses
from birthmark.serving.messages.errors import ApiError, registry_read
from birthmark.serving.messages.requests import (
    Choice,
    body_schema,
    hint_schema,
    in_arrow,
    in_json,
    parse,
    parsed,
)
from birthmark.serving.metrics.hook_reports import Report
from birthmark.serving.models.loaded import LoadedModel
from birthmark.serving.service.service import Service
from birthmark.training.registry.versions import Registry, RegistryError


def service_of(request: Request) -> Service:
    """Return the service that `request` was made to."""
    service: Service = request.app.state.service
    return service


async def _service_of(request: Request) -> Service:
    return service_of(request)


class ImageResponse(Response):
    """A compiled image (``docs/image-format.md``)."""

    media_type = "application/octet-stream"


TOKEN = "x-birthmark-token"
"""The header field with the name of a request's token, which only the front can set."""

EXPLAINED = 1000
"""The most files that one request can have explained."""

SHORT = 16 * 1024
"""The largest body, bytes, of requests without files or creates."""

CurrentService = Annotated[Service, Depends(_service_of)]
router = APIRouter(responses={"default": {"model": responses.ErrorResponse}})


@router.post(
    "/v1/predictions",
    response_model=responses.OneResponse | responses.ListResponse,
    openapi_extra=body_schema(),
)
async def predictions() -> Response:
    """Predict what a file, or each of a list, will become, from the compiled image."""
    raise NotImplementedError("the front answers this")


@router.post("/v1/hints", response_model=responses.Verdict, openapi_extra=hint_schema())
async def hints() -> Response:
    """Return the hints for a create: the bits of a verdict, 0 to 7."""
    raise NotImplementedError("the front answers this")


@router.post(
    "/v1/explanations",
    response_model=responses.OneExplained | responses.ListExplained,
    openapi_extra=body_schema(EXPLAINED),
)
async def explain(request: Request, service: CurrentService) -> Response:
    """Predict what a file, or each of a list, will become, and explain why."""
    body = await request.body()
    return await run_in_threadpool(_explained, service.model, body)


def _explained(model: Callable[[], LoadedModel], body: bytes) -> Response:
    files = parse(body)
    if (count := len(files.names)) > EXPLAINED:
        raise ApiError("invalid_request", f"expected at most {EXPLAINED} files, found {count}")
    return _json((explain_list if files.listed else explain_one)(model(), files))


def _json(explained: Mapping[str, Any]) -> Response:
    """Return the answer; a list is encoded piece by piece, so that other threads can run."""
    if (predictions := explained.get("predictions")) is None:
        return Response(to_json(explained), media_type="application/json")
    head = to_json({**explained, "predictions": []}).removesuffix(b"]}")
    content = b"%b%b]}" % (head, b",".join(map(to_json, predictions)))
    return Response(content, media_type="application/json")


@router.get("/v1/model")
async def model(service: CurrentService) -> responses.ModelResponse:
    """Describe the current model and its training data."""
    loaded = service.model()
    return {
        "version": loaded.version,
        "kind": loaded.kind,
        "point": loaded.point,
        "created": loaded.manifest["created"],
        "predicates": loaded.answerer.predicates,
        "trained_on": loaded.manifest["trained_on"],
        "figures": loaded.manifest["figures"],
    }


@router.put("/v1/model", openapi_extra=in_json(Choice.model_json_schema()))
async def publish(request: Request, service: CurrentService) -> responses.Published:
    """Publish a stored version, after verifying its checksums."""
    choice = parsed(Choice, short(await request.body()))
    before = await run_in_threadpool(_publish, Registry(service.settings.registry), choice.version)
    await service.slot.refresh()
    return {"before": before, "current": choice.version}


def short(body: bytes) -> bytes:
    """Return a body; raise `ApiError` if it is larger than `SHORT`."""
    if len(body) > SHORT:
        raise ApiError("body_too_large", f"expected a body of at most {SHORT} bytes")
    return body


def _publish(registry: Registry, version: str) -> str | None:
    with registry_read():
        stored = [*registry.versions(), *registry.refreshes()]
    if version not in stored:
        raise ApiError("no_version", f"{registry.place}: holds no version {version!r}")
    try:
        before = registry.current()
        refuse_other_release(registry.directory(version))
        registry.rollback(version)
    except (RegistryError, OlderModelError) as error:
        raise ApiError("damaged_version", str(error)) from error
    except OSError as error:
        raise ApiError("read_only", f"the registry cannot be written: {error}") from error
    return before


@router.get("/v1/model/image", response_class=ImageResponse)
async def image() -> Response:
    """Return the hint image of the current model, for kernels to load."""
    raise NotImplementedError("the front answers this")


@router.post("/v1/hints/report", status_code=204, openapi_extra=in_json(Report.model_json_schema()))
async def report(request: Request, service: CurrentService) -> Response:
    """Receive the counters of a helper's hook, to be shown among the metrics."""
    body = short(await request.body())
    owner = request.headers.get(TOKEN)
    take = service.metrics.reports.take
    await service.reporting.run(lambda: take(parsed(Report, body), owner))
    return Response(status_code=204)


@router.post("/v1/history", status_code=204, openapi_extra=in_arrow())
async def history(request: Request, service: CurrentService) -> Response:
    """Receive an update of the live history from a follower on another host."""
    body = await request.body()
    if (receiver := service.receiver) is None:
        raise ApiError("not_receiving", "the service was not started with --receive")
    await service.receiving.run(lambda: receiver.take(body))
    return Response(status_code=204)


@router.get("/healthz")
async def health() -> responses.Status:
    """Report that the process is up."""
    return {"status": "ok"}


@router.get("/readyz")
async def ready(service: CurrentService) -> responses.Status:
    """Report whether a model is loaded."""
    service.model()
    return {"status": "ready"}


@router.get("/metrics", response_class=Response)
async def metrics(service: CurrentService) -> Response:
    """Return the metrics in Prometheus's text format."""
    text = await service.scraping.run(service.metrics.text)
    return Response(text, media_type=CONTENT_TYPE_LATEST)
