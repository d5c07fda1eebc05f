"""What helpers on other hosts report of their hooks, as Prometheus gauges."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter
from pydantic_core import to_json

from data import durable
from serving.requests import whole

REPORTERS = 256
"""How many hosts and devices are remembered: of more, those that reported last."""

COUNTERS = 128
"""The most counters in one report."""

Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9._:/-]{1,64}$")]
Counter = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,47}$")]
Count = Annotated[int, Field(strict=True, ge=0, lt=2**64), BeforeValidator(whole)]


def _closed(schema: dict[str, Any]) -> None:
    schema["additionalProperties"] = False


class Report(BaseModel):
    """The counters of the hook behind one device of one host, since it was loaded."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: Label = Field(description="the host's name")
    device: Label = Field(description="the device through which the hook is spoken to")
    counters: dict[Counter, Count] = Field(
        max_length=COUNTERS,
        description="by name, how often each has happened",
        json_schema_extra=_closed,
    )


_REPORT = TypeAdapter(Report)
_KEPT = TypeAdapter(tuple[float, Report])


def parse(body: bytes) -> Report:
    """Return the report in a body; raise ``pydantic.ValidationError`` for what is none."""
    return _REPORT.validate_json(body)


class Reports(Collector):
    """The last report of each reporter, collected whenever metrics are asked for.

    They are kept here, or as files in `shared`, where other processes find them, too.
    """

    def __init__(self, shared: Path | None = None) -> None:
        self._last: OrderedDict[tuple[str, str], tuple[float, Report]] = OrderedDict()
        self._shared = shared

    def take(self, report: Report) -> None:
        """Remember ``report`` in the place of its reporter's last."""
        who, now = (report.host, report.device), time.time()
        if self._shared is not None:
            name = sha256(to_json(who)).hexdigest()
            with suppress(OSError):  # a full disk: then it is told here alone
                with durable.replaced(self._shared / f"{name}.report") as new:
                    new.write_bytes(_KEPT.dump_json((now, report)))
                for oldest in self._files()[REPORTERS:]:
                    oldest.unlink(missing_ok=True)
                self._last.pop(who, None)
                return
        self._last[who] = (now, report)
        self._last.move_to_end(who)
        if len(self._last) > REPORTERS:
            self._last.popitem(last=False)

    def _files(self) -> list[Path]:
        """Return the files of reports, the latest first."""
        if self._shared is None:
            return []
        files = [(path.stat().st_mtime_ns, path) for path in self._shared.glob("*.report")]
        return [path for _, path in sorted(files, reverse=True)]

    def _every(self) -> list[tuple[float, Report]]:
        shared = (_KEPT.validate_json(path.read_bytes()) for path in self._files())
        every = {(kept[1].host, kept[1].device): kept for kept in shared}
        return list((every | self._last).values())

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
