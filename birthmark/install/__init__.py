"""Files by which a system runs Birthmark: systemd's units, FreeBSD's rc.d and periodic scripts.

The site's configuration names the directories that they need.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from birthmark import exits
from birthmark.install.access import closed
from birthmark.serving.settings import variable
from birthmark.site_file import SiteConfig
from birthmark.training.nightly.trace_files import beginning
from birthmark.training.registry.versions import is_remote

SERVICE_MEMORY = 800
"""Memory limit of the service, in MB: 500 (``docs/serving.md``), and pages of files."""

FOLLOW_BASE = 1300
"""Memory of the follower besides its ``memory``, in MB: program, live history, published model, its
refreshes and pages of files."""

HISTORY = Path("/run/birthmark-follow/history")
"""File of the live history, unless it is configured."""

_PLAIN = re.compile(r"/[A-Za-z0-9._/@+,-]*")
_USER = re.compile(r"[a-z_][a-z0-9_-]{0,30}")
_SHARED = (Path("/run"), Path("/var/run"), Path("/"))
_TEMPORARY = (Path("/tmp"), Path("/var/tmp"))
_HOMES = (Path("/home"), Path("/root"), Path("/run/user"))


@dataclass(frozen=True)
class File:
    """A file of a system: its path and contents."""

    path: Path
    text: str
    is_script: bool = False

    @property
    def mode(self) -> int:
        """Return its permission bits."""
        return 0o755 if self.is_script else 0o644


@dataclass(frozen=True)
class Site:
    """The values that a system's files are made from.

    Attributes:
    ----------
    config : the absolute path of the configuration; ``settings``: its contents.
    user : the user to run as; socket: the Unix socket to listen at, or None: as configured.

    Raises ValueError for paths and users that units and scripts would have to quote, and for a
    socket in a shared directory.

    """

    config: Path
    settings: SiteConfig
    user: str
    socket: Path | None = None

    def __post_init__(self) -> None:
        """Check the values."""
        if not _USER.fullmatch(self.user):
            raise ValueError(f"{self.user!r}: expected a user's name")
        outputs = (self.history, self.status)
        for path in filter(
            None, (*self._paths, self.source, *outputs, self.uds, self.program, self.config)
        ):
            if not _PLAIN.fullmatch(str(path)):
                raise ValueError(
                    f"{path}: expected an absolute path of letters, digits and . _ / @ + , -,"
                    " which needs no quotes in units and scripts"
                )
        if self.uds is not None and _is_shared(self.uds):
            raise ValueError(
                f"{self.uds}: expected a socket in a separate directory, outside of /tmp, as"
                " /run/birthmark/socket"
            )

    def missing(self) -> list[str]:
        """Return a line for each directory that prevents a start."""
        return [
            *(
                f"{place} is closed to {self.user}, who needs {path}"
                for place, path in self.shut().items()
            ),
            *(f"{path} is not there: make it" for path in self._needed if not path.is_dir()),
        ]

    def shut(self) -> dict[Path, Path]:
        """Return the needed path behind each directory that is closed to the user."""
        needed = (self.program, Path(sys.executable), self.config)
        return {place: path for path in needed if (place := closed(self.user, path))}

    @property
    def program(self) -> Path:
        """Return the path of this environment's program."""
        return Path(sys.prefix) / "bin" / "birthmark"

    @property
    def registry(self) -> Path | str:
        """Return the registry's directory or URI."""
        place = self.settings.registry.directory
        return place if is_remote(place) else _whole(Path(place))

    @property
    def log(self) -> Path | None:
        """Return the directory of the prediction log, if there is one."""
        log = self.settings.serve.log_predictions
        return None if log is None else _whole(log)

    @property
    def datasets(self) -> Path:
        """Return the directory of the datasets."""
        return _whole(self.settings.datasets.directory)

    @property
    def followed(self) -> Path | None:
        """Return the directory of followed datasets, if any."""
        return None if self.settings.follow is None else _whole(self.settings.follow.datasets)

    @property
    def source(self) -> Path | None:
        """Return the source of the follower's unit, if there is one."""
        follow = self.settings.follow
        return None if follow is None or follow.source is None else _whole(follow.source)

    @property
    def history(self) -> Path | None:
        """Return the file of the live history that the follower's unit writes, if there is one."""
        follow, serve = self.settings.follow, self.settings.serve
        if follow is None or self.source is None:
            return None
        return _whole(follow.history or serve.history or HISTORY)

    @property
    def status(self) -> Path | None:
        """Return the file of the follower's status, if there is a follower's unit."""
        follow = self.settings.follow
        if follow is None or self.source is None:
            return None
        return _whole(follow.status or follow.datasets / ".status.json")

    @property
    def uds(self) -> Path | None:
        """Return the Unix socket to listen at, if there is one."""
        return self.socket or self.settings.serve.uds

    @property
    def devices(self) -> list[str]:
        """Return the F2FS devices whose lists are refreshed after each night."""
        return self.settings.f2fs.devices if self.settings.f2fs else []

    @property
    def environment(self) -> Path:
        """Return the file of the service's other settings, which may be missing."""
        return self.config.parent / "serve.env"

    @property
    def _needed(self) -> list[Path]:
        """Return the directories without which the service or the nightly run fails."""
        traces = map(beginning, map(Path, self.settings.globs))
        sources = [] if self.source is None else [beginning(self.source)]
        return list(dict.fromkeys([*self._paths, *traces, *sources]))

    @property
    def _paths(self) -> list[Path]:
        places = (self.registry, self.datasets, self.log, self.followed)
        return [place for place in places if isinstance(place, Path)]

    @property
    def _given(self) -> dict[str, Path]:
        """Return the service's environment variables: what the configuration does not state."""
        socket, history = self.socket, None if self.settings.serve.history else self.history
        given = {variable("uds"): socket, variable("history"): history}
        return {name: path for name, path in given.items() if path}

    @property
    def _follower_runtime(self) -> Path | None:
        """Return the directory of the live history if it is one below /run, made at each start."""
        place = self.history and self.history.parent
        return place if place and place.parent == Path("/run") else None

    @property
    def _written_by_follower(self) -> list[Path]:
        """Return the other directories that the follower writes to."""
        follow = self.settings.follow
        outputs = [path.parent for path in (self.history, self.status) if path]
        if follow is not None and follow.control and follow.refresh:
            outputs += [self.registry] if isinstance(self.registry, Path) else []
        places = dict.fromkeys([*filter(None, [self.followed]), *outputs])
        return [place for place in places if place != self._follower_runtime]

    def values(self) -> dict[str, Any]:
        """Return the values of the templates."""
        registry = [self.registry] if isinstance(self.registry, Path) else []
        serve, follow = self.settings.serve, self.settings.follow
        places = [*self._paths, self.config, self.program, Path(sys.executable).resolve()]
        places += [*map(Path, self.settings.globs), *filter(None, (self.uds, self.source))]
        homely = any(_whole(place).is_relative_to(home) for place in places for home in _HOMES)
        return {
            "program": self.program,
            "config": self.config,
            "user": self.user,
            "socket": self.uds,
            "registry": self.registry,
            "environment": self.environment,
            "given": self._given,
            "history": self.history,
            "status": self.status,
            "sends": follow is not None and follow.send is not None,
            "f2fs": self.devices,
            "follow_memory": FOLLOW_BASE + (0 if follow is None else follow.memory),
            "memory": SERVICE_MEMORY,
            "written_by_service": [p for p in (serve.registry, self.log) if isinstance(p, Path)],
            "follower_runtime": self._follower_runtime,
            "written_by_follower": self._written_by_follower,
            "written_by_night": [*registry, self.datasets],
            "homes": "read-only" if homely else "yes",
            "asks_network": not registry,
            "service_asks_network": is_remote(serve.registry) or self.uds is None,
            "night_asks_network": not registry or self.settings.engine.kind == "dask",
            "codes": exits,
        }


def _is_shared(socket: Path) -> bool:
    return socket.parent in _SHARED or any(socket.is_relative_to(place) for place in _TEMPORARY)


def _whole(path: Path) -> Path:
    return Path.cwd() / path


_UNITS = Path("/etc/systemd/system")
_LOCAL = Path("/usr/local/etc")
SYSTEMS: dict[str, dict[Path, bool]] = {
    "systemd": {
        _UNITS / "birthmark.service": False,
        _UNITS / "birthmark-nightly.service": False,
        _UNITS / "birthmark-nightly.timer": False,
        _UNITS / "birthmark-follow.service": False,
        _UNITS / "birthmark-f2fs@.service": False,
    },
    "freebsd": {
        _LOCAL / "rc.d/birthmark": True,
        _LOCAL / "periodic/daily/500.birthmark": True,
    },
}
"""Paths of each system's files, and whether they are scripts."""

_LEFT_OUT: dict[str, Callable[[Site], bool]] = {
    "birthmark-follow.service": lambda site: site.source is None,
    "birthmark-f2fs@.service": lambda site: not site.devices,
}
"""The files left out at sites without a follower or F2FS."""


def files(system: str, site: Site) -> list[File]:
    """Return the files by which a `system` runs Birthmark at a `site`."""
    templates = Environment(
        loader=PackageLoader("birthmark.install", f"{system}"),
        undefined=StrictUndefined,
        autoescape=False,  # neither is HTML
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    values = site.values()
    return [
        File(path, templates.get_template(f"{path.name}.j2").render(values), is_script)
        for path, is_script in SYSTEMS[system].items()
        if not (path.name in _LEFT_OUT and _LEFT_OUT[path.name](site))
    ]
