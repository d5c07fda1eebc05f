"""Applications that read and write the service's JSON without predicting."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from birthmark.serving.messages.responses import OneResponse
from birthmark.training.registry.versions import Registry

REGISTRY = Path(os.environ["BIRTHMARK_REGISTRY"])


def answer(name: str) -> OneResponse:
    """Return an answer as the service's."""
    output: Any = {"answers": dict(NO), "probabilities": dict.fromkeys(NO, 0.1234)}
    output["told"] = "nothing"
    return {**HEAD, "prediction": {"name": name, "predicates": dict(NO), **output}}


def _head() -> tuple[Any, dict[str, Any]]:
    from birthmark.serving.models.loaded import load_model

    model = load_model(Registry(REGISTRY))
    head = {"model": model.version, "kind": model.kind, "point": model.point}
    return head, dict.fromkeys(model.answerer.predicates, "no")


HEAD, NO = _head()


async def _starlette(request: Request) -> JSONResponse:
    file = await request.json()
    return JSONResponse(answer(file["name"]))


bare_starlette = Starlette(routes=[Route("/v1/predictions", _starlette, methods=["POST"])])
bare_fastapi = FastAPI()


class File(BaseModel):
    """A create's members, as a framework's own models would have them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(min_length=1, max_length=1024, pattern="^[^/]+$")]
    mode: Annotated[int, Field(ge=0, le=0o7777)] | None = None
    uid: Annotated[int, Field(ge=0, lt=2**32)] | None = None
    gid: Annotated[int, Field(ge=0, lt=2**32)] | None = None
    client: Annotated[str, Field(min_length=1, max_length=255)] | None = None
    time: AwareDatetime | None = None


@bare_fastapi.post("/v1/predictions")
async def _fastapi(file: File) -> OneResponse:
    return answer(file.name)
