"""Requests of a soak test: all of a service's endpoints, and requests that it must refuse."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import socket
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from benchmarks.serving import FILE, in_arrow
from benchmarks.soak_clients import Answer, Answers, Connection, WrongAnswerError, expect, paced
from birthmark.training.registry.versions import Registry

JSON = {"content-type": "application/json"}
ARROW = {"content-type": "application/vnd.apache.arrow.stream"}
LIST, BATCH, EXPLAINED = 1000, 10_000, 20
WAIT = 20
"""Wait of a long poll, seconds."""

KEPT = 4
"""Number of versions that stay in the registry."""

Ask = Callable[[], Awaitable[object]]


class Load:
    """All that is asked of the services at `places`, TCP and Unix, which serve one registry.

    `rate` is of single questions; all others come at rates of their own, of a few a second.
    """

    def __init__(
        self, places: tuple[str, str], token: str, registry: Path, named: list[str], rate: float
    ) -> None:
        self.answers = Answers()
        self._places, self._token, self._rate = places, token, rate
        self._registry = Registry(registry)
        self._named = named
        self._batch = in_arrow(named[:BATCH])
        self._random = random.Random(1)

    async def run(self, stop: asyncio.Event) -> None:
        """Ask until `stop`."""
        tcp, unix = self._places
        plan: list[tuple[str, float, Ask]] = [
            *(("a file", self._rate * 0.15, self._predict(self._to(tcp))) for _ in range(4)),
            *(("a hint", self._rate * 0.2, self._hint(self._to(unix))) for _ in range(2)),
            ("1,000 files", 1, self._list(self._to(tcp))),
            ("10,000 files, Arrow", 2, self._arrow(self._to(tcp))),
            ("20 files, why", 0.5, self._explain(self._to(tcp))),
            *(("metrics", 0.2, self._get(self._to(place), "/metrics")) for place in self._places),
            ("the page", 0.2, self._get(self._to(tcp), "/")),
            ("the page, asked", 0.1, self._get(self._to(tcp), "/?name=inbox.lock")),
            ("the report", 0.1, self._get(self._to(tcp), "/report")),
            *(("a long poll", 10, self._poll(self._to(p))) for p in (tcp, unix, unix)),
            ("a hook's report", 1, self._report(self._to(unix))),
            ("what is refused", 5, self._refused()),
            ("dropped connections", 5, self._dropped()),
            ("a new model", 1 / 20, self._publish()),
            ("a model put back", 1 / 30, self._put(self._to(tcp))),
        ]
        async with asyncio.TaskGroup() as tasks:
            for kind, each, ask in plan:
                tasks.create_task(paced(self.answers, kind, each, ask, stop))

    def _to(self, place: str) -> Connection:
        return Connection(place, self._token)

    def _file(self) -> dict[str, Any]:
        return {**FILE, "name": self._random.choice(self._named)}

    def _predict(self, to: Connection) -> Ask:
        async def ask() -> None:
            body = json.dumps(self._file()).encode()
            expect(await to.ask("POST", "/v1/predictions", body, JSON), 200)
            self.answers.files += 1

        return ask

    def _hint(self, to: Connection) -> Ask:
        async def ask() -> None:
            body = json.dumps({**self._file(), "is_directory": False}).encode()
            answer = expect(await to.ask("POST", "/v1/hints", body, JSON), 200)
            if answer.body not in (b"0", b"1", b"4", b"5"):
                raise WrongAnswerError(repr(answer.body))
            self.answers.hints += 1

        return ask

    def _list(self, to: Connection) -> Ask:
        async def ask() -> None:
            body = json.dumps([self._file() for _ in range(LIST)]).encode()
            answer = expect(await to.ask("POST", "/v1/predictions", body, JSON), 200)
            self.answers.files += LIST
            if len(json.loads(answer.body)["predictions"]) != LIST:
                raise WrongAnswerError("some are not answered")

        return ask

    def _arrow(self, to: Connection) -> Ask:
        async def ask() -> None:
            expect(await to.ask("POST", "/v1/predictions", self._batch, ARROW), 200)
            self.answers.files += BATCH

        return ask

    def _explain(self, to: Connection) -> Ask:
        async def ask() -> None:
            body = json.dumps([self._file() for _ in range(EXPLAINED)]).encode()
            expect(await to.ask("POST", "/v1/explanations", body, JSON), 200)

        return ask

    def _get(self, to: Connection, path: str) -> Ask:
        async def ask() -> Answer:
            return expect(await to.ask("GET", path), 200)

        return ask

    def _poll(self, to: Connection) -> Ask:
        """Wait for another image than that which there was."""
        known = ""

        async def ask() -> None:
            nonlocal known
            wanted = {"if-none-match": known, "prefer": f"wait={WAIT}"}
            answer = expect(await to.ask("GET", "/v1/model/image", fields=wanted), 200, 304)
            known = answer.fields["etag"]

        return ask

    def _report(self, to: Connection) -> Ask:
        counters = {"asked": 0}

        async def ask() -> None:
            counters["asked"] += 1
            host = f"nas{counters['asked'] % 400}"  # more than are remembered
            body = json.dumps({"host": host, "device": "/dev/birthmark", "counters": counters})
            expect(await to.ask("POST", "/v1/hints/report", body.encode(), JSON), 204)

        return ask

    def _refused(self) -> Ask:
        """Ask what gets an error, each time another, on a connection of its own."""
        kinds: list[tuple[int, str, str, bytes, str | None]] = [
            (400, "POST", "/v1/predictions", b"{", self._token),
            (401, "POST", "/v1/predictions", b"{}", "nobody's"),
            (401, "GET", "/metrics", b"", None),
            (404, "GET", "/nowhere", b"", self._token),
            (405, "DELETE", "/v1/model", b"", self._token),
            (422, "POST", "/v1/predictions", b'[{"name": "a/b"}]', self._token),
            (404, "PUT", "/v1/model", b'{"version": "20010101T000000Z-abcdef"}', self._token),
        ]

        async def ask() -> None:
            status, method, path, body, token = self._random.choice(kinds)
            to = Connection(self._random.choice(self._places), token)
            try:
                expect(await to.ask(method, path, body, JSON), status)
            finally:
                to.close()

        return ask

    def _dropped(self) -> Ask:
        """Open a connection, send a part of a request, or none, or all, and leave it."""
        whole = (
            f"POST /v1/predictions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {self._token}\r\n"
            "content-length: 17\r\n\r\n"
        ).encode() + b'{"name": "a.lock"'
        reset = struct.pack("ii", 1, 0)

        async def ask() -> None:
            to = Connection(self._places[0])
            _, writer = await to.streams()
            writer.write(whole[: self._random.randrange(len(whole))])
            if self._random.random() < 0.5:
                own = writer.get_extra_info("socket")
                own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
            to.close()

        return ask

    def _publish(self) -> Ask:
        """Publish a copy of what is published, as a new version, and remove the oldest."""

        def copied() -> None:
            version = self._registry.current()
            assert version is not None
            manifest, parts = self._registry.manifest(version), self._registry.directory(version)
            manifest = {key: value for key, value in manifest.items() if key != "parts"}
            self._registry.publish(lambda into: _copy(parts, into), manifest)
            self._registry.prune(KEPT)

        return lambda: asyncio.to_thread(copied)

    def _put(self, to: Connection) -> Ask:
        async def ask() -> None:
            version = self._registry.versions()[-2:][0]
            body = json.dumps({"version": version}).encode()
            # It may be pruned while it is asked for.
            expect(await to.ask("PUT", "/v1/model", body, JSON), 200)

        return ask


def _copy(parts: Path, into: Path) -> None:
    shutil.copytree(parts, into, dirs_exist_ok=True, ignore=shutil.ignore_patterns("manifest.json"))
