"""The limit of open files, raised for connections."""

from __future__ import annotations

import logging
import resource

log = logging.getLogger(__name__)

SPARE_FILES = 512
"""File descriptors reserved for requests to the application, libraries, models and the log."""


def allow_files(connections: int) -> int:
    """Raise this process's limit of open files for `connections`; return how many fit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + SPARE_FILES
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if allowed < wanted:
        log.warning(
            "limited to %d connections, not %d: this process may have %d files open",
            allowed - SPARE_FILES,
            connections,
            allowed,
        )
    return max(allowed - SPARE_FILES, 1)
