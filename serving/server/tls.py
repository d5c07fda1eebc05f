"""The certificate and its key, for TLS."""

from __future__ import annotations

import ssl
from pathlib import Path

from birthmark.data.common.regular import read_regular
from birthmark.serving.settings import Settings

MOST_BYTES = 1 << 20
"""The largest file of a certificate with its chain, or of a key."""


def context(settings: Settings) -> ssl.SSLContext | None:
    """Return a context with the certificate and its key; None without TLS.

    Raises ValueError for files that are not a certificate and its key.
    """
    paths = _paths(settings)
    if paths is None:
        return None
    certificate(settings)  # OpenSSL would wait for a FIFO's writer
    loaded = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        loaded.load_cert_chain(*paths)
    except OSError as error:
        raise _invalid(paths, error) from error
    return loaded


def certificate(settings: Settings) -> tuple[bytes, bytes] | None:
    """Return the certificate with its chain, and its key, as PEM; None without TLS.

    Raises ValueError for files that cannot be read.
    """
    paths = _paths(settings)
    if paths is None:
        return None
    try:
        chain, key = (read_regular(path, MOST_BYTES) for path in paths)
    except OSError as error:
        raise _invalid(paths, error) from error
    return chain, key


def _paths(settings: Settings) -> tuple[Path, Path] | None:
    if settings.ssl_certfile is None or settings.ssl_keyfile is None:
        return None
    return settings.ssl_certfile, settings.ssl_keyfile


def _invalid(paths: tuple[Path, Path], error: OSError) -> ValueError:
    return ValueError(f"{paths[0]}, {paths[1]}: expected a certificate and its key: {error}")
