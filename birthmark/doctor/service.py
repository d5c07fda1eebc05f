"""The service: whether it answers, and from what is published."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx

from birthmark.doctor.findings import Fault, Finding, Note
from birthmark.doctor.site import Site
from birthmark.serving.settings import Settings
from birthmark.training.registry.versions import RegistryError

_LOG = "journalctl --unit birthmark"
_SECONDS = 10.0


def service(site: Site) -> Iterator[Finding]:
    """Find a service that is not there, not ready, or answers from another version."""
    if not site.serves:
        yield Note("whether one answers, as you wished")
        return
    settings = site.settings
    url = site.url or _url(settings)
    where = f"unix:{settings.uds}" if site.url is None and settings.uds else url
    try:
        with _client(site, url, settings) as client:
            ready = client.get("/readyz")
            if ready.status_code != httpx.codes.OK:
                what = "answers, but has no model that it could answer from"
                yield Fault(what, where, f"publish one (see registry); {_LOG} says more")
                return
            yield from _version(site, client, where)
    except httpx.HTTPError as error:
        do = f"systemctl start birthmark; {_LOG} says why it ended"
        yield Fault(f"does not answer: {error}", where, do)


def _version(site: Site, client: httpx.Client, where: str) -> Iterator[Finding]:
    told = client.get("/v1/model")
    if told.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
        yield Note("which version answers: give a token of scope read by --token")
        return
    answers = told.raise_for_status().json()["version"]
    try:
        published = site.registry.current()
    except RegistryError:  # which the check of the registry tells
        return
    if answers != published:
        what = f"answers from {answers}, and {published} is published"
        do = f"{_LOG} says why it is not loaded; systemctl restart birthmark if it says nothing"
        yield Fault(what, where, do)


def _client(site: Site, url: str, settings: Settings) -> httpx.Client:
    headers = {}
    if site.token is not None:
        headers["authorization"] = f"Bearer {site.token.read_text(encoding='ascii').strip()}"
    uds = str(settings.uds) if site.url is None and settings.uds else None
    verify: ssl.SSLContext | bool = True
    if settings.ssl_certfile is not None and urlsplit(url).hostname == "127.0.0.1":
        verify = ssl.create_default_context(cafile=settings.ssl_certfile)
        verify.check_hostname = False  # it is this host, whatever the certificate calls it
    transport = httpx.HTTPTransport(uds=uds, verify=verify)
    return httpx.Client(transport=transport, base_url=url, headers=headers, timeout=_SECONDS)


def _url(settings: Settings) -> str:
    scheme = "https" if settings.ssl_certfile else "http"
    if settings.uds is not None:
        return f"{scheme}://localhost"
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host
    return f"{scheme}://{host}:{settings.port}"
