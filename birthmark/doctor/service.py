"""The service: whether it answers from the published version."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx

from birthmark.doctor.certificate import trusting
from birthmark.doctor.site import Fault, Finding, Note, Site
from birthmark.training.registry.manifests import base_version
from birthmark.training.registry.versions import RegistryError

_LOG = "journalctl --unit birthmark"
_SECONDS = 10.0


def service(site: Site) -> Iterator[Finding]:
    """Find a service that is down, not ready, or serves another version."""
    if not site.serves:
        yield Note("whether the service answers, by --no-service")
        return
    where = f"unix:{site.socket}" if site.socket else site.address
    try:
        with _client(site) as client:
            ready = client.get("/readyz")
            if ready.status_code != httpx.codes.OK:
                what = "answers, but has no usable model"
                yield Fault(what, where, f"publish one (see registry); {_LOG} has more")
                return
            yield from _version(site, client, where)
    except httpx.HTTPError as error:
        do = f"systemctl start birthmark; {_LOG} says why it ended"
        if "CERTIFICATE_VERIFY_FAILED" in f"{error}":
            do = "it presents a certificate that this host does not trust: renew it, or trust it"
        yield Fault(f"does not answer: {error}", where, do)


def _version(site: Site, client: httpx.Client, where: str) -> Iterator[Finding]:
    response = client.get("/v1/model")
    if response.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
        yield Note("which version answers: give a token of scope read by --token")
        return
    answers = response.raise_for_status().json()["version"]
    try:
        published = site.registry.current()
    except RegistryError:  # the check of the registry reports it
        return
    # A refresh answers some seconds after it was published, and the next one follows soon.
    if published is None or base_version(answers) != base_version(published):
        what = f"answers from {answers}, and {published} is published"
        do = f"{_LOG} has the error of loading; if there is none: systemctl restart birthmark"
        yield Fault(what, where, do)


def _client(site: Site) -> httpx.Client:
    headers = {}
    if site.token is not None:
        headers["authorization"] = f"Bearer {site.token.read_text(encoding='ascii').strip()}"
    uds = str(site.socket) if site.socket else None
    verify: ssl.SSLContext | bool = True
    certfile = site.settings.ssl_certfile
    if certfile is not None and (uds or urlsplit(site.address).hostname == "127.0.0.1"):
        verify = trusting(certfile)
    transport = httpx.HTTPTransport(uds=uds, verify=verify)
    return httpx.Client(
        transport=transport, base_url=site.address, headers=headers, timeout=_SECONDS
    )
