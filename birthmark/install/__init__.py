"""What has a system run Birthmark by itself: systemd's units, FreeBSD's rc.d and periodic scripts.

They are made from the configuration of the nightly run, which says what must be written to.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from birthmark import exits
from birthmark.install.access import closed
from birthmark.serving.settings import variable
from birthmark.training.config import Config
from birthmark.training.nightly.trace_files import beginning
from birthmark.training.registry.versions import is_remote

WORKER_MEMORY = 500
"""What a worker of the service takes at most, in MB, as ``docs/serving.md`` promises."""

SPARE_MEMORY = 300
"""What they may take beyond that, in MB: the process that keeps them, and pages of files."""

FOLLOW_MEMORY = 1500
"""What the follower may take at most, in MB: what it needs, and pages of files."""

HISTORY = Path("/run/birthmark-follow/history")
"""Where the follower keeps the live history."""

_WORKERS = re.compile(rf"^\s*{variable('workers')}\s*=\s*[\"']?(\d+)[\"']?\s*$", re.MULTILINE)
_PLAIN = re.compile(r"/[A-Za-z0-9._/@+,-]*")
_USER = re.compile(r"[a-z_][a-z0-9_-]{0,30}")
_SHARED = (Path("/run"), Path("/var/run"), Path("/"))
_TEMPORARY = (Path("/tmp"), Path("/var/tmp"))
_HOMES = (Path("/home"), Path("/root"), Path("/run/user"))


@dataclass(frozen=True)
class File:
    """A file of a system: where it belongs, and what is in it."""

    path: Path
    text: str
    is_script: bool = False

    @property
    def mode(self) -> int:
        """Return its permission bits."""
        return 0o755 if self.is_script else 0o644


@dataclass(frozen=True)
class Site:
    """What a system's files are made from.

    Attributes:
    ----------
    config : the absolute path of the configuration, and ``settings``, what is in it.
    user : who it runs as; socket: the Unix socket to answer at, or None for TCP to its own host.

    Raises ValueError for paths and users that would have to be quoted in units and scripts, and for
    a socket whose directory is not its own.

    """

    config: Path
    settings: Config
    user: str
    socket: Path | None = None

    def __post_init__(self) -> None:
        """Check what goes into the files."""
        if not _USER.fullmatch(self.user):
            raise ValueError(f"{self.user!r}: expected a user's name")
        for path in filter(
            None, (*self._paths, self.source, self.socket, self.program, self.config)
        ):
            if not _PLAIN.fullmatch(str(path)):
                raise ValueError(
                    f"{path}: expected an absolute path of letters, digits and . _ / @ + , -,"
                    " which needs no quotes in units and scripts"
                )
        if self.socket is not None and _is_shared(self.socket):
            raise ValueError(
                f"{self.socket}: expected a socket in a directory of its own, outside of /tmp, as"
                " /run/birthmark/socket"
            )

    def missing(self) -> list[str]:
        """Return why it would not start as things are: a line for each directory."""
        return [
            *(
                f"{place} is closed to {self.user}, who needs {path}"
                for place, path in self.shut().items()
            ),
            *(f"{path} is not there: make it" for path in self._needed if not path.is_dir()),
        ]

    def shut(self) -> dict[Path, Path]:
        """Return by what is closed to the user which path behind it is needed."""
        needed = (self.program, Path(sys.executable), self.config)
        return {place: path for path in needed if (place := closed(self.user, path))}

    @property
    def program(self) -> Path:
        """Return the program's path: that of the environment that this runs in."""
        return Path(sys.prefix) / "bin" / "birthmark"

    @property
    def registry(self) -> Path | str:
        """Return the registry's directory or URI."""
        place = self.settings.registry.directory
        return place if is_remote(place) else _whole(Path(place))

    @property
    def log(self) -> Path | None:
        """Return the directory of the prediction log, if it is audited."""
        return None if self.settings.audit is None else _whole(self.settings.audit.log)

    @property
    def datasets(self) -> Path:
        """Return the directory of the datasets."""
        return _whole(self.settings.datasets.directory)

    @property
    def followed(self) -> Path | None:
        """Return the directory of what is followed, if anything is."""
        return None if self.settings.follow is None else _whole(self.settings.follow.datasets)

    @property
    def source(self) -> Path | None:
        """Return what a unit of its own follows, if there is to be one."""
        follow = self.settings.follow
        return None if follow is None or follow.source is None else _whole(follow.source)

    @property
    def sent(self) -> str:
        """Return the options by which the follower tells a service on another host."""
        follow = self.settings.follow
        if follow is None or follow.send is None:
            return ""
        files = {"token": follow.send_token, "certificates": follow.send_certificates}
        options = {f"--send-{name}": str(_whole(file)) for name, file in files.items() if file}
        words = chain.from_iterable({"--send": follow.send, **options}.items())
        return "".join(f" {word}" for word in words)

    @property
    def devices(self) -> list[str]:
        """Return the devices whose F2FS has its lists refreshed after each night."""
        return self.settings.f2fs.devices if self.settings.f2fs else []

    @property
    def environment(self) -> Path:
        """Return the file of the service's other settings, which need not be there."""
        return self.config.parent / "serve.env"

    @property
    def workers(self) -> int:
        """Return how many workers that file has the service keep."""
        if not self.environment.exists():
            return 1
        found = _WORKERS.findall(self.environment.read_text(errors="replace"))
        return int(found[-1]) if found else 1

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

    def values(self) -> dict[str, Any]:
        """Return what the templates are filled in with."""
        registry = [self.registry] if isinstance(self.registry, Path) else []
        places = [*self._paths, self.config, self.program, Path(sys.executable).resolve()]
        if self.socket is not None:
            places.append(self.socket)
        places += [*map(Path, self.settings.globs), *([self.source] if self.source else [])]
        homely = any(_whole(place).is_relative_to(home) for place in places for home in _HOMES)
        return {
            "program": self.program,
            "config": self.config,
            "user": self.user,
            "socket": self.socket,
            "registry": self.registry,
            "log": self.log,
            "environment": self.environment,
            "followed": self.followed,
            "source": self.source,
            "sent": self.sent,
            "history": HISTORY,
            "f2fs": self.devices,
            "follow_memory": FOLLOW_MEMORY,
            "workers": self.workers,
            "memory": self.workers * WORKER_MEMORY + SPARE_MEMORY,
            "written_by_service": [*registry, *([self.log] if self.log else [])],
            "written_by_night": [*registry, self.datasets],
            "homes": "read-only" if homely else "yes",
            "asks_network": not registry,
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
"""Where each system has its files, and whether they are scripts."""

_LEFT_OUT: dict[str, Callable[[Site], bool]] = {
    "birthmark-follow.service": lambda site: site.source is None,
    "birthmark-f2fs@.service": lambda site: not site.devices,
}
"""The files that are left out at some sites: of nothing to follow, and of no F2FS."""


def files(system: str, site: Site) -> list[File]:
    """Return the files that have a `system` run Birthmark at a `site`."""
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
