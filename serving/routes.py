"""The service's paths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

from fastapi import APIRouter, Depends, Request, Response
from fastapi.concurrency import run_in_threadpool
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic_core import to_json

from predictor.hints import HINTS
from serving import reports, responses
from serving.answers import answer_list, answer_one
from serving.errors import ApiError
from serving.hints import Hints, matches
from serving.metrics import Metrics
from serving.models import LoadedModel, ModelSlot
from serving.reports import Report
from serving.requests import (
    FileRequest,
    HintRequest,
    body_schema,
    in_json,
    parse,
    parse_hint,
)
from serving.settings import Settings


@dataclass(frozen=True)
class Service:
    """What the paths work with."""

    settings: Settings
    slot: ModelSlot
    metrics: Metrics

    def model(self) -> LoadedModel:
        """Return the model that answers; raise `ApiError` while there is none."""
        if self.slot.model is None:
            raise ApiError("no_model", f"no model is loaded from {self.settings.registry} yet")
        return self.slot.model

    def hints(self) -> tuple[LoadedModel, Hints]:
        """Return the model that answers and its hints; raise `ApiError` while there are none."""
        loaded = self.model()
        if loaded.hints is None:
            raise ApiError(
                "no_hints", f"model {loaded.version} has not learned HotName and HotWrite"
            )
        return loaded, loaded.hints


class State(TypedDict):
    """What every request finds in its ``state``."""

    service: Service


async def service_of(request: Request) -> Service:
    """Return the service that `request` was made to."""
    service: Service = request.state.service
    return service


class ImageResponse(Response):
    """A compiled image (``docs/image-format.md``)."""

    media_type = "application/octet-stream"


Here = Annotated[Service, Depends(service_of)]
router = APIRouter(responses={"default": {"model": responses.ErrorResponse}})


@router.post(
    "/v1/predictions",
    response_model=responses.OneResponse | responses.ListResponse,
    openapi_extra=body_schema(),
)
async def predict(request: Request, service: Here) -> Response:
    """Predict what a file, or each of a list, will become."""
    # Read as bytes, so that the body is bounded, and parsed once, by the schema.
    files = parse(await _body(request, service.settings.max_body_bytes))
    if isinstance(files, list):
        return await run_in_threadpool(_list, service, files)
    one = answer_one(service.model(), files)
    service.metrics.predictions([one["prediction"]])
    return _json(one)


def _list(service: Service, files: list[FileRequest]) -> Response:
    many = answer_list(service.model(), files)
    service.metrics.predictions(many["predictions"])
    return _json(many)


def _json(body: Mapping[str, Any]) -> Response:
    return Response(to_json(body), media_type="application/json")


async def _body(request: Request, limit: int) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise ApiError("body_too_large", f"expected a body of at most {limit} bytes")
    return bytes(body)


@router.get("/v1/model")
async def model(service: Here) -> responses.ModelResponse:
    """Tell which model answers, and what it was trained on."""
    loaded = service.model()
    return {
        "version": loaded.version,
        "kind": loaded.kind,
        "point": loaded.point,
        "created": loaded.manifest["created"],
        "predicates": list(loaded.trained.predicates),
        "trained_on": loaded.manifest["trained_on"],
        "figures": loaded.manifest["figures"],
    }


@router.head("/v1/model/image", include_in_schema=False)
@router.get("/v1/model/image", response_class=ImageResponse)
async def image(request: Request, service: Here) -> Response:
    """Return the hint image of the model that answers, for kernels to load."""
    _, hints = service.hints()
    headers = {"etag": hints.etag, "cache-control": "no-cache"}
    if matches(hints.etag, request.headers.get("if-none-match", "")):
        return Response(status_code=304, headers=headers)
    return ImageResponse(hints.content, headers=headers)


@router.post(
    "/v1/hints",
    response_model=responses.HintResponse,
    openapi_extra=in_json(HintRequest.model_json_schema()),
)
async def hint(request: Request, service: Here) -> Response:
    """Hint to a file system what it is about to create: the answers of the hint image."""
    asked = parse_hint(await _body(request, service.settings.max_body_bytes))
    loaded, hints = service.hints()
    answer = hints.answer(asked.create(), asked.is_directory)
    service.metrics.hints(answer)
    name, directory, write = (answer[key] for key in HINTS)
    return _json(
        {"hot_name": name, "hot_dir": directory, "hot_write": write, "model": loaded.version}
    )


@router.post("/v1/hints/report", status_code=204, openapi_extra=in_json(Report.model_json_schema()))
async def report(request: Request, service: Here) -> Response:
    """Take what a helper's hook has counted, to be shown among the metrics."""
    body = await _body(request, service.settings.max_body_bytes)
    service.metrics.reports.take(reports.parse(body))
    return Response(status_code=204)


@router.get("/healthz")
async def health() -> responses.Status:
    """Tell that the process is up."""
    return {"status": "ok"}


@router.get("/readyz")
async def ready(service: Here) -> responses.Status:
    """Tell whether a model is loaded."""
    service.model()
    return {"status": "ready"}


@router.get("/metrics", response_class=Response)
async def metrics(service: Here) -> Response:
    """Return the metrics in Prometheus's text format."""
    return Response(service.metrics.text(), media_type=CONTENT_TYPE_LATEST)
