"""``birthmark doctor``: the faults of a site."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from birthmark.exits import FAILED, MISCONFIGURED, exits
from birthmark.options import ConfigFile, Options, with_options
from birthmark.outputs import Json, print_json
from birthmark.terminal import line
from birthmark.training.config import Examined

if TYPE_CHECKING:  # the other commands do without it, and start sooner
    from birthmark.doctor import Examination


@with_options
def doctor(
    config: ConfigFile,
    examined: Annotated[Examined, Options()],
    url: Annotated[
        str | None,
        typer.Option(help="URL of the service; default: from its settings"),
    ] = None,
    token: Annotated[
        Path | None, typer.Option(help="file with an access token of scope read")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a site: report faults, and how to fix them."""
    from birthmark.doctor import examine
    from birthmark.doctor.site import Site
    from birthmark.install import Site as Installed
    from birthmark.site_file import SiteConfig
    from birthmark.training.config import read_config

    with exits(MISCONFIGURED, ValueError):
        path = Path.cwd() / config
        installed = Installed(path, read_config(path, SiteConfig), examined.user)
        site = Site(installed, url, token, examined.service, examined.units)
        _ = site.settings
    found = examine(site)
    if as_json:
        print_json({"verdict": found.verdict, **asdict(found)})
    else:
        _print(found)
    if found.faults:
        sys.exit(FAILED)


def _print(found: Examination) -> None:
    line(f"{found.verdict[0].upper()}{found.verdict[1:]}.")
    for check, faults in found.faults.items():
        for fault in faults:
            line("")
            line(f"{check}: {fault.where}", style="bold")
            line(f"  {fault.what}")
            line(f"  do: {fault.do}")
    notes = [f"{name}: {each.what}" for name, own in found.notes.items() for each in own]
    if notes:
        line("")
        line(f"Not examined: {'; '.join(notes)}.")
