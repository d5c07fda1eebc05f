"""``birthmark serve``: predictions over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from birthmark.exits import MISCONFIGURED, exits
from birthmark.options import Options, config_of, with_options
from birthmark.serving.settings import OLD, Settings, variable
from birthmark.terminal import line


@with_options
def serve(
    settings: Annotated[Settings, Options(variable=variable, old=OLD)],
    config: Annotated[Path | None, config_of("serve")] = None,
) -> None:
    """Serve the published model's predictions over HTTP.

    A newly published version is loaded without a restart.
    """
    from birthmark.serving.log import service_log
    from birthmark.serving.server.run import run

    service_log.set_up(settings)
    with exits(MISCONFIGURED, ValueError):
        run(settings, say=line, config_file=config)
