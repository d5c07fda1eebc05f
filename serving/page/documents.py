"""Whole HTML pages, made here or kept in the registry, and what they may do in a browser."""

from __future__ import annotations

import base64
import hashlib
import re

from fastapi import Response

from birthmark.serving.messages.errors import ApiError, registry_read
from birthmark.training.registry.versions import Registry, RegistryError
from birthmark.training.reports.labels import AUDITS, CARD_HTML, REPORT

_STYLE = re.compile(rb"<style>(.*?)</style>", re.DOTALL)

_POLICY = (
    "default-src 'none'; style-src {style}; img-src data:; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'"
)


def response(html: bytes) -> Response:
    """Return a page: nothing is loaded, no script runs, and no style holds but its first."""
    style = "'none'"
    if first := _STYLE.search(html):
        # Browsers see the text with its ends of line made one (HTML, "Normalizing newlines").
        text = first[1].replace(b"\r\n", b"\n")
        style = f"'sha256-{base64.b64encode(hashlib.sha256(text).digest()).decode()}'"
    headers = {
        "content-security-policy": _POLICY.format(style=style),
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
    }
    return Response(html, headers=headers, media_type="text/html")


@registry_read()
def card(registry: Registry, version: str) -> bytes:
    """Return the card of a version; raise `ApiError` where there is none."""
    try:
        return (registry.directory(version) / CARD_HTML).read_bytes()
    except RegistryError as error:
        raise ApiError("no_version", str(error)) from error
    except FileNotFoundError as error:
        raise ApiError("not_found", f"version {version} has no card") from error


@registry_read()
def report(registry: Registry) -> bytes:
    """Return the newest report on a published model, else the card of the published one."""
    if (kept := registry.read(REPORT)) is not None:
        return kept
    try:
        version = registry.current()
    except RegistryError as error:
        raise ApiError("damaged_version", str(error)) from error
    if version is None:
        raise ApiError("not_found", "nothing was ever published: there is no report")
    return card(registry, version)


@registry_read()
def audit(registry: Registry, name: str) -> bytes:
    """Return the page of an audit; raise `ApiError` where there is none."""
    kept = None
    if f"{name}.html" in registry.names(AUDITS):  # nothing else, whatever is asked for
        kept = registry.read(f"{AUDITS}/{name}.html")
    if kept is None:
        raise ApiError("not_found", f"there is no audit of {name}")
    return kept
