"""The examined site: its configuration and the service's settings; and findings about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from birthmark.data.common.setting_errors import InvalidError, reasons
from birthmark.install import Site as Installed
from birthmark.serving.settings import Settings, mistaken, variable
from birthmark.training.nightly.intake import Dataset, datasets
from birthmark.training.nightly.state import NightState, read
from birthmark.training.registry.versions import Registry, RegistryError


@dataclass(frozen=True)
class Fault:
    """A fault: `what` it is, `where`, and what to `do`."""

    what: str
    where: str
    do: str


@dataclass(frozen=True)
class Note:
    """Something that was not examined, and why."""

    what: str


Finding = Fault | Note


@dataclass(frozen=True)
class Site:
    """The site that is examined.

    `installed` has the configuration and the user. `url` is the service's (None: from its
    settings), and the file `token` has its access token. `serves` is whether there is a service.
    `units` is the directory of systemd's units.
    """

    installed: Installed
    url: str | None = None
    token: Path | None = None
    serves: bool = True
    units: Path = Path("/etc/systemd/system")

    @property
    def user(self) -> str:
        """The user that everything runs as."""
        return self.installed.user

    @cached_property
    def now(self) -> datetime:
        """The time of this host's clock."""
        return datetime.now(UTC)

    @cached_property
    def registry(self) -> Registry:
        """The registry."""
        return Registry(self.installed.registry)

    @cached_property
    def night(self) -> NightState | None:
        """The state of the last night; None if none is known."""
        try:
            return read(self.registry)
        except (RegistryError, OSError):
            return None

    @cached_property
    def held(self) -> list[Dataset]:
        """The datasets ordered by their ends; none if they cannot be read."""
        place = self.installed.datasets
        return datasets(place) if place.is_dir() else []

    @cached_property
    def variables(self) -> dict[str, str]:
        """The service's environment variables: from its unit, then from its own file."""
        found: dict[str, str] = {}
        unit = self.units / "birthmark.service"
        if unit.is_file():
            lines = unit.read_text(errors="replace").splitlines()
            given = [line.removeprefix("Environment=") for line in lines]
            found |= _assigned(line for line in given if line.startswith(variable("")))
        if self.installed.environment.is_file():
            found |= _assigned(self.installed.environment.read_text(errors="replace").splitlines())
        return found

    @cached_property
    def settings(self) -> Settings:
        """The service's settings; raises `InvalidError` if it would refuse them."""
        given_values = {
            name: own
            for name in Settings.model_fields
            if (own := self.variables.get(variable(name))) is not None
        }
        wrong = mistaken(self.variables)
        if wrong:
            raise InvalidError([f"{self.installed.environment}: {each}" for each in wrong])
        configured = self.installed.settings.serve.model_dump(exclude_unset=True)
        try:
            return Settings.model_validate({**configured, **given_values})
        except ValidationError as error:
            where = self.installed.environment
            raise InvalidError([f"{where}: {each}" for each in reasons(error)]) from error

    @property
    def socket(self) -> Path | None:
        """The service's Unix socket; None if it listens at a port."""
        return self.settings.uds if self.url is None else None

    @property
    def address(self) -> str:
        """The service's URL."""
        if self.url is not None:
            return self.url
        settings = self.settings
        scheme = "https" if settings.ssl_certfile else "http"
        if settings.uds is not None:
            return f"{scheme}://localhost"
        host = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host
        return f"{scheme}://{host}:{settings.port}"


def _assigned(lines: Any) -> Mapping[str, str]:
    pairs = (line.strip().partition("=") for line in lines if not line.lstrip().startswith("#"))
    return {name.strip(): value.strip().strip("\"'") for name, is_one, value in pairs if is_one}
