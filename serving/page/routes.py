"""The paths of the page and of what it leads to: for people, and in no document for programs."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool

from birthmark.serving.page import documents
from birthmark.serving.page.view import Page

router = APIRouter(include_in_schema=False)


def _page(request: Request) -> Page:
    page: Page = request.scope["state"]["page"]
    return page


@router.get("/")
async def page(request: Request, name: str | None = None) -> Response:
    """Show how the service is doing, and what is answered for a file called `name`."""
    return documents.response(await run_in_threadpool(_page(request).html, name))


@router.get("/report")
async def report(request: Request) -> Response:
    """Show the newest report on a published model, else the published model's card."""
    return documents.response(await run_in_threadpool(documents.report, _page(request).registry))


@router.get("/models/{version}")
async def card(version: str, request: Request) -> Response:
    """Show the card of a version."""
    registry = _page(request).registry
    return documents.response(await run_in_threadpool(documents.card, registry, version))


@router.get("/audits/{name}")
async def audit(name: str, request: Request) -> Response:
    """Show an audit."""
    return documents.response(
        await run_in_threadpool(documents.audit, _page(request).registry, name)
    )
