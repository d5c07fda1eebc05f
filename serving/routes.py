"""The service's paths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.concurrency import run_in_threadpool
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic_core import to_json

from serving import hot, reports, responses
from serving.answers import explain_list, explain_one
from serving.errors import ApiError
from serving.hints import matches
from serving.hot import body_of
from serving.loaded import LoadedModel
from serving.reports import Report
from serving.requests import FileRequest, HintRequest, body_schema, in_json, parse
from serving.service import Service


async def _service_of(request: Request) -> Service:
    return hot.service_of(request)


class ImageResponse(Response):
    """A compiled image (``docs/image-format.md``)."""

    media_type = "application/octet-stream"


EXPLAINED = 1000
"""The most files that are explained in one request."""

Here = Annotated[Service, Depends(_service_of)]
router = APIRouter(responses={"default": {"model": responses.ErrorResponse}})


HOT = {"/v1/predictions": hot.predictions, "/v1/hints": hot.hints}
"""What is answered without the framework's routing (``serving.shortcut``)."""

router.add_api_route(
    "/v1/predictions",
    hot.predictions,
    methods=["POST"],
    response_model=responses.OneResponse | responses.ListResponse,
    openapi_extra=body_schema(),
)
router.add_api_route(
    "/v1/hints",
    hot.hints,
    methods=["POST"],
    response_model=responses.Verdict,
    openapi_extra=in_json(HintRequest.model_json_schema()),
)


@router.post(
    "/v1/explanations",
    response_model=responses.OneExplained | responses.ListExplained,
    openapi_extra=body_schema(EXPLAINED),
)
async def explain(request: Request, service: Here) -> Response:
    """Predict what a file, or each of a list, will become, and tell why."""
    files = parse(await body_of(request, service.settings.max_body_bytes))
    if isinstance(files, list) and len(files) > EXPLAINED:
        raise ApiError("invalid_request", f"expected at most {EXPLAINED} files, found {len(files)}")
    explained = await run_in_threadpool(_explained, service.model(), files)
    return Response(to_json(explained), media_type="application/json")


def _explained(model: LoadedModel, files: FileRequest | list[FileRequest]) -> Mapping[str, Any]:
    return explain_list(model, files) if isinstance(files, list) else explain_one(model, files)


@router.get("/v1/model")
async def model(service: Here) -> responses.ModelResponse:
    """Tell which model answers, and what it was trained on."""
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


@router.head("/v1/model/image", include_in_schema=False)
@router.get("/v1/model/image", response_class=ImageResponse)
async def image(request: Request, service: Here) -> Response:
    """Return the hint image of the model that answers, for kernels to load."""
    _, hints = service.hints()
    headers = {"etag": hints.etag, "cache-control": "no-cache"}
    if matches(hints.etag, request.headers.get("if-none-match", "")):
        return Response(status_code=304, headers=headers)
    return ImageResponse(hints.content, headers=headers)


@router.post("/v1/hints/report", status_code=204, openapi_extra=in_json(Report.model_json_schema()))
async def report(request: Request, service: Here) -> Response:
    """Take what a helper's hook has counted, to be shown among the metrics."""
    body = await body_of(request, service.settings.max_body_bytes)
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
