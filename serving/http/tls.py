"""What TLS connections are made with: the certificate and its key."""

from __future__ import annotations

import ssl

from birthmark.serving.settings import Settings


def context(settings: Settings) -> ssl.SSLContext | None:
    """Return the certificate and its key, ready for use; None where TLS is not spoken.

    Raises ValueError for what is no certificate and its key.
    """
    if settings.ssl_certfile is None or settings.ssl_keyfile is None:
        return None
    try:
        found = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        found.load_cert_chain(settings.ssl_certfile, settings.ssl_keyfile)
    except OSError as error:
        place = f"{settings.ssl_certfile}, {settings.ssl_keyfile}"
        raise ValueError(f"{place}: expected a certificate and its key: {error}") from error
    return found
