"""Counters of hooks on other hosts, as their helpers report them, as Prometheus gauges."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from hashlib import sha256
from typing import Annotated, Any

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError, to_json

from birthmark.data.common.numbers import Count
from birthmark.data.settings import Strict
from birthmark.serving.messages.errors import ApiError

HOOKS = 64
"""The most hooks if reports need no token."""

HOOKS_OF_TOKEN = 16
"""The most hooks that report with one token."""

QUIET_SECONDS = 900.0
"""Silence after which another hook may replace one; the alert for silent hooks has it, too."""

COUNTERS = 128
"""The most counters in one report."""


Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9._:/-]{1,64}$")]
Counter = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,47}$")]


def _at_most_counters(counters: Any) -> Any:
    """Refuse too many counters early; otherwise each invalid one would have an error."""
    if isinstance(counters, dict) and len(counters) > COUNTERS:
        what = "expected at most {most} counters"
        raise PydanticCustomError("too_long", what, {"most": COUNTERS})
    return counters


def _closed(schema: dict[str, Any]) -> None:
    schema["additionalProperties"] = False


class Report(Strict):
    """The counters of the hook behind one device of one host, since it was loaded."""

    host: Label = Field(description="the host's name")
    device: Label = Field(description="the hook's device")
    counters: Annotated[dict[Counter, Count], BeforeValidator(_at_most_counters)] = Field(
        max_length=COUNTERS,
        description="the counts, by name",
        json_schema_extra=_closed,
    )


class Reports(Collector):
    """The last report of each hook, collected with the metrics."""

    def __init__(self) -> None:
        self._reports: dict[str, tuple[float, Report]] = {}
        self._lock = threading.Lock()

    def take(self, report: Report, token: str | None = None) -> None:
        """Store ``report`` as its hook's last.

        A hook belongs to the ``token`` of its last report until it is silent; None if reports need
        no token. Raises `ApiError` if it belongs to another, or there are too many and none is
        silent.
        """
        hook, owner = _hash([report.host, report.device]), _hash(token)
        name = f"{hook}.{owner}"
        with self._lock:
            times = {name: at for name, (at, _) in self._reports.items()}
            for other in times:
                if other.startswith(hook) and other != name:
                    what = f"another token reports of {report.device} on {report.host}"
                    self._evict(other, times[other], what)
            same_owner = sorted((at, each) for each, at in times.items() if each.endswith(owner))
            most = HOOKS if token is None else HOOKS_OF_TOKEN
            if name not in times and len(same_owner) >= most:
                at, quietest = same_owner[0]
                self._evict(quietest, at, f"expected at most {most} hooks, each with a token's own")
            self._reports[name] = time.time(), report

    def _evict(self, name: str, at: float, what: str) -> None:
        """Remove a report if its hook is silent; raise `ApiError` if not."""
        if abs(time.time() - at) < QUIET_SECONDS:
            raise ApiError("hook_refused", what)
        del self._reports[name]

    def _all(self) -> list[tuple[float, Report]]:
        with self._lock:
            reports = list(self._reports.values())
        return sorted(reports, key=lambda report: (report[1].host, report[1].device))

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Return the gauges."""
        hook = GaugeMetricFamily(
            "birthmark_hook",
            "Counters of a hook in a file system, as its helper last reported",
            labels=["host", "device", "counter"],
        )
        when = GaugeMetricFamily(
            "birthmark_hook_report_time_seconds",
            "When a helper last reported, in seconds of the Unix epoch",
            labels=["host", "device"],
        )
        for at, report in self._all():
            labels = [report.host, report.device]
            when.add_metric(labels, at)
            for counter, count in sorted(report.counters.items()):
                hook.add_metric([*labels, counter], count)
        yield hook
        yield when


def _hash(owner: object) -> str:
    return sha256(to_json(owner)).hexdigest()
