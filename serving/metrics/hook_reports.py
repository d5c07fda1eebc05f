"""What helpers on other hosts report of their hooks, as Prometheus gauges."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from pydantic import BeforeValidator, Field, TypeAdapter
from pydantic_core import PydanticCustomError, to_json

from birthmark.data.settings import Strict
from birthmark.serving.messages.errors import ApiError

HOOKS = 64
"""How many hooks are remembered where everybody may report."""

HOOKS_OF_TOKEN = 16
"""How many are remembered of those that report with one token."""

QUIET_SECONDS = 900.0
"""After so long a silence another hook may take the place of one: alerts call it silent then."""

COUNTERS = 128
"""The most counters in one report."""


def _whole(number: Any) -> Any:
    """Return a whole number as such: JSON's 1.0 is 1, as JSON Schema has it."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9._:/-]{1,64}$")]
Counter = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,47}$")]
Count = Annotated[int, Field(strict=True, ge=0, lt=2**64), BeforeValidator(_whole)]


def _few(counters: Any) -> Any:
    """Refuse too many counters at once: each that is wrong would have its own error."""
    if isinstance(counters, dict) and len(counters) > COUNTERS:
        what = "expected at most {most} counters"
        raise PydanticCustomError("too_long", what, {"most": COUNTERS})
    return counters


def _closed(schema: dict[str, Any]) -> None:
    schema["additionalProperties"] = False


class Report(Strict):
    """The counters of the hook behind one device of one host, since it was loaded."""

    host: Label = Field(description="the host's name")
    device: Label = Field(description="the device through which the hook is spoken to")
    counters: Annotated[dict[Counter, Count], BeforeValidator(_few)] = Field(
        max_length=COUNTERS,
        description="by name, how often each has happened",
        json_schema_extra=_closed,
    )


_KEPT = TypeAdapter(tuple[float, Report])


class Reports(Collector):
    """The last report of each hook, collected whenever metrics are asked for.

    They are kept here, or as files in `shared`, where other processes find them, too: these need
    not outlive the machine, and are not flushed to the disk.
    """

    def __init__(self, shared: Path | None = None) -> None:
        self._here: dict[str, tuple[float, Report]] = {}
        self._shared = shared
        self._lock = threading.Lock()

    def take(self, report: Report, token: str | None = None) -> None:
        """Remember ``report`` in the place of its hook's last.

        A hook is that of the ``token`` which it was reported with; None where everybody may. Raises
        `ApiError` where others have its place, who are not silent.
        """
        hook, owner = _hash([report.host, report.device]), _hash(token)
        name = f"{hook}.{owner}"
        with self._lock:
            kept = self._places()
            for other in kept:
                if other.startswith(hook) and other != name:
                    what = f"another token reports of {report.device} on {report.host}"
                    self._leave(other, kept[other], what)
            own = sorted((at, each) for each, at in kept.items() if each.endswith(owner))
            most = HOOKS if token is None else HOOKS_OF_TOKEN
            if name not in kept and len(own) >= most:
                at, quietest = own[0]
                self._leave(quietest, at, f"expected at most {most} hooks, each with a token's own")
            self._keep(name, (time.time(), report))

    def _leave(self, name: str, at: float, what: str) -> None:
        """Forget a report if its hook is silent; raise `ApiError` if not."""
        if abs(time.time() - at) < QUIET_SECONDS:
            raise ApiError("hook_refused", what)
        self._here.pop(name, None)
        if self._shared is not None:
            self._path(self._shared, name).unlink(missing_ok=True)

    def _places(self) -> dict[str, float]:
        """Return when each report came, by name."""
        return {path.stem: at for at, path in self._files()} | {
            name: at for name, (at, _) in self._here.items()
        }

    def _keep(self, name: str, kept: tuple[float, Report]) -> None:
        if self._shared is not None:
            path = self._path(self._shared, name)
            aside = path.with_name(f".{os.getpid()}.new")
            with suppress(OSError):  # a full disk: then it is told here alone
                aside.write_bytes(_KEPT.dump_json(kept))
                aside.replace(path)
                self._here.pop(name, None)
                return
        self._here[name] = kept

    @staticmethod
    def _path(shared: Path, name: str) -> Path:
        return shared / f"{name}.report"

    def _files(self) -> Iterator[tuple[float, Path]]:
        """Return the files of reports, and when each came."""
        for path in () if self._shared is None else self._shared.glob("*.report"):
            with suppress(FileNotFoundError):  # another worker has forgotten it
                yield path.stat().st_mtime, path

    def _every(self) -> list[tuple[float, Report]]:
        every = {}
        for _, path in self._files():
            with suppress(FileNotFoundError):
                every[path.stem] = _KEPT.validate_json(path.read_bytes())
        with self._lock:
            every |= self._here
        return sorted(every.values(), key=lambda kept: (kept[1].host, kept[1].device))

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Return the gauges."""
        hook = GaugeMetricFamily(
            "birthmark_hook",
            "What a hook in a file system has counted, as its helper last reported",
            labels=["host", "device", "counter"],
        )
        when = GaugeMetricFamily(
            "birthmark_hook_report_time_seconds",
            "When a helper last reported, in seconds of the Unix epoch",
            labels=["host", "device"],
        )
        for at, report in self._every():
            labels = [report.host, report.device]
            when.add_metric(labels, at)
            for counter, count in sorted(report.counters.items()):
                hook.add_metric([*labels, counter], count)
        yield hook
        yield when


def _hash(whose: object) -> str:
    return sha256(to_json(whose)).hexdigest()
