"""``birthmark install``: what has a system run Birthmark by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from birthmark.exits import MISCONFIGURED, exits, warn
from birthmark.options import Options, with_options
from birthmark.outputs import output
from birthmark.terminal import line
from birthmark.training.config import Account

app = typer.Typer(no_args_is_help=True, help="Have the system run it by itself.")
_Config = Annotated[Path, typer.Option(help="TOML file of the nightly run's settings")]
_Account = Annotated[Account, Options()]
_Socket = Annotated[
    Path | None, typer.Option(help="Unix socket to answer at; default: TCP, for this host alone")
]
_Out = Annotated[Path | None, output("directory to write the files to; default: print them")]


@app.command()
@with_options
def systemd(config: _Config, account: _Account, socket: _Socket = None, out: _Out = None) -> None:
    """Make the units of the service and of the nightly run, with its timer."""
    _make("systemd", config, account.user, socket, out)


@app.command()
@with_options
def freebsd(config: _Config, account: _Account, socket: _Socket = None, out: _Out = None) -> None:
    """Make the service's rc.d script and the nightly run's periodic script."""
    _make("freebsd", config, account.user, socket, out)


def _make(system: str, config: Path, user: str, socket: Path | None, out: Path | None) -> None:
    from birthmark.data.common.durable import replaced
    from birthmark.install import Site, files
    from birthmark.training.config import read_config

    path = Path.cwd() / config
    with exits(MISCONFIGURED, ValueError):
        site = Site(path, read_config(path), user, socket)
    warn(site.missing())
    for file in files(system, site):
        if out is None:
            typer.echo(f"# {file.path}\n{file.text}")
            continue
        out.mkdir(parents=True, exist_ok=True)
        with replaced(out / file.path.name) as aside:
            aside.write_text(file.text, encoding="utf-8")
            aside.chmod(file.mode)
        line(str(out / file.path.name))
