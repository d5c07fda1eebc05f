"""What the paths of the service work with."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypedDict

from birthmark.serving.aside import Aside
from birthmark.serving.errors import ApiError
from birthmark.serving.hints import Hints
from birthmark.serving.limits import Limits
from birthmark.serving.loaded import LoadedModel
from birthmark.serving.logged import Logged
from birthmark.serving.metrics import Metrics
from birthmark.serving.models import ModelSlot
from birthmark.serving.settings import Settings
from birthmark.serving.tokens import Tokens

if TYPE_CHECKING:
    from birthmark.serving.page.view import Page


@dataclass(frozen=True)
class Service:
    """What the paths work with."""

    settings: Settings
    slot: ModelSlot
    metrics: Metrics
    limits: Limits
    logged: Logged = field(default_factory=Logged)
    tokens: Tokens | None = None
    reporting: Aside = field(default_factory=Aside)
    scraping: Aside = field(default_factory=Aside)

    def model(self) -> LoadedModel:
        """Return the model that answers; raise `ApiError` while there is none."""
        if self.slot.model is None:
            raise ApiError("no_model", f"no model is loaded from {self.settings.registry} yet")
        return self.slot.model

    def hints(self) -> tuple[LoadedModel, Hints]:
        """Return the model that answers and its hints; raise `ApiError` while there are none."""
        loaded = self.model()
        if loaded.hints is None:
            raise ApiError(
                "no_hints", f"model {loaded.version} has not learned HotName and HotWrite"
            )
        return loaded, loaded.hints


class State(TypedDict):
    """What every request finds in its ``state``."""

    service: Service
    limits: Limits
    page: Page
    tls: ssl.SSLContext | None
