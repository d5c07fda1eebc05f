"""``birthmark install``: the files by which a system runs Birthmark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from birthmark.exits import MISCONFIGURED, exits, warn
from birthmark.options import ConfigFile, Options, with_options
from birthmark.outputs import output
from birthmark.terminal import line
from birthmark.training.config import Account

app = typer.Typer(no_args_is_help=True, help="Write service files for systemd or FreeBSD.")
_Account = Annotated[Account, Options()]
_Socket = Annotated[
    Path | None, typer.Option(help="Unix socket to listen at; default: as configured")
]
_Out = Annotated[Path | None, output("directory for the files; default: print them")]


@app.command()
@with_options
def systemd(
    config: ConfigFile, account: _Account, socket: _Socket = None, out: _Out = None
) -> None:
    """Make units of the service and the nightly run, and its timer."""
    _make("systemd", config, account.user, socket, out)


@app.command()
@with_options
def freebsd(
    config: ConfigFile, account: _Account, socket: _Socket = None, out: _Out = None
) -> None:
    """Make rc.d and periodic scripts of the service and nightly run."""
    _make("freebsd", config, account.user, socket, out)


def _make(system: str, config: Path, user: str, socket: Path | None, out: Path | None) -> None:
    from birthmark.data.common.durable import replaced
    from birthmark.install import Site, files
    from birthmark.site_file import SiteConfig
    from birthmark.training.config import read_config

    path = Path.cwd() / config
    with exits(MISCONFIGURED, ValueError):
        site = Site(path, read_config(path, SiteConfig), user, socket)
    warn(site.missing())
    for file in files(system, site):
        if out is None:
            typer.echo(f"# {file.path}\n{file.text}")
            continue
        out.mkdir(parents=True, exist_ok=True)
        with replaced(out / file.path.name) as temporary:
            temporary.write_text(file.text, encoding="utf-8")
            temporary.chmod(file.mode)
        line(str(out / file.path.name))
