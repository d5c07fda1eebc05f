"""Write-life hints by what was seen: a follower, a model that knows histories, and the helper."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from birthmark.predictor.models.compile import compile_models
from birthmark.predictor.trained import TrainedModel
from birthmark.training.registry.versions import Registry
from tests.builders.lives import files_of, life, names_of
from tests.builders.traces import attributes, exchange
from tests.layout_hint.hintd import eventually
from tests.layout_hint.write_life import LONG, SHORT, Hinting, hint_of, hinted, made, mounted
from tests.serving.services import logs, served, settings_for

pytestmark = pytest.mark.deep

UUID = b"0123456789abcdef"
SYSTEM = b64encode(UUID).decode()
MANIFEST = {"serve": "forest", "point": "accurate", "trained_on": {"datasets": []}, "figures": []}
FILES = 40
PASSED = 60.0
"""So many files are created in each directory, in so many seconds."""


def handle_of(folder: Path) -> bytes:
    """Return a directory's handle as knfsd makes it of the kernel's (``fs/nfsd/nfsfh.h``)."""
    found = ctypes.create_string_buffer(8 + 128)
    ctypes.memmove(found, (128).to_bytes(4, sys.byteorder), 4)
    libc, mount = ctypes.CDLL(None, use_errno=True), ctypes.c_int()
    at = -100  # AT_FDCWD
    if libc.name_to_handle_at(at, os.fsencode(folder), found, ctypes.byref(mount), 0) != 0:
        raise OSError(ctypes.get_errno(), "name_to_handle_at", str(folder))
    length, kind = (int.from_bytes(found.raw[at : at + 4], sys.byteorder) for at in (0, 4))
    by_uuid = 6
    return bytes([1, 0, by_uuid, kind]) + UUID + found.raw[8 : 8 + length]


def trained() -> TrainedModel:
    """Return a model of names that tell nothing: of one directory in three files are short."""
    lives = logs()
    for directory in range(30):
        handle = b"directory%d" % directory
        for number in range(FILES):
            lives.append(
                life(
                    b"n%d" % (number * 37 % 1000),
                    born=directory + number * 60.0,
                    lifespan=0.5 if directory % 3 == 0 else None,
                    dir_fh=handle,
                    mode=0o644,
                    uid=0,
                    gid=0,
                    max_size=0,
                )
            )
    lives.sort(key=lambda row: row["born"])
    return TrainedModel(trees=8, rounds=8).train(
        files_of(*lives), names_of(*lives), kinds=("forest",)
    )


class Traffic(threading.Thread):
    """What passes by a follower: something all the time, so that it is not behind."""

    def __init__(self, into: Any) -> None:
        super().__init__(daemon=True)
        self.into, self.over, self.xid = into, threading.Event(), 0
        self.lock = threading.Lock()

    def run(self) -> None:
        while not self.over.wait(0.2):
            self.put(self.looked(b"root"))

    def looked(self, handle: bytes) -> list[tuple[float, str]]:
        now = time.time()
        return exchange(now, 1, "getattr", f"fh {handle.hex()}", attributes(now, 0))

    def put(self, lines: list[tuple[float, str]]) -> None:
        with self.lock:
            for place, (_, line) in enumerate(sorted(lines)):
                self.into.write(line.replace("XID", f"{self.xid + place // 2:x}"))
            self.xid += len(lines)
            self.into.flush()


def files_in(directory: bytes, lifespan: float | None) -> list[tuple[float, str]]:
    """Return the traffic that creates files in a directory, the last one just now."""
    lines = []
    for number in range(FILES):
        born = time.time() - PASSED * (FILES - number) / FILES
        place = f'fh {directory.hex()} name "n{number * 41 % 1000}"'
        handle = f"fh {directory.hex()[:-8]}{number:08x}"
        create = f"{place} how U mode 1a4 uid 0 gid 0"
        lines += exchange(born, 8, "create", create, f"{handle} {attributes(born, 0)}")
        if lifespan is not None:
            lines += exchange(born + lifespan, 12, "remove", place, "")
    return lines


@contextmanager
def followed(place: Path, history: Path) -> Iterator[Traffic]:
    """Follow what passes, in a process of its own."""
    command = [sys.executable, "-m", "birthmark", "follow", "-", str(place / "followed")]
    command += ["--history", str(history)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as follower:
        traffic = Traffic(follower.stdin)
        traffic.start()
        try:
            yield traffic
        finally:
            traffic.over.set()
            traffic.join()
            follower.terminate()


@pytest.fixture(scope="module")
def model() -> TrainedModel:
    return trained()


@pytest.mark.parametrize("asked", ["image", "service"])
def test_files_of_one_name_are_hinted_by_what_became_of_others_in_their_directory(
    asked: str, model: TrainedModel, hinting: Hinting, place: Path, port: int
) -> None:
    (place / "run").mkdir(mode=0o700)
    history, options = (
        place / "run" / "history",
        [f"--directory-system={SYSTEM}", "--short=lifespan<=5", "--medium=HotWrite"],
    )
    with ExitStack() as stack:
        mount = stack.enter_context(mounted(place / "mount", "ext4"))
        busy, calm = mount / "busy", mount / "calm"
        for folder in (busy, calm):
            folder.mkdir()
        traffic = stack.enter_context(followed(place, history))
        if asked == "image":
            (place / "image").write_bytes(compile_models(model.models["forest"], "accurate"))
            options.append(f"--history={history}")
        else:
            Registry(place / "registry").publish(model.save, MANIFEST)
            settings = settings_for(place / "registry", history=history, port=port)
            stack.enter_context(served(settings))
            options.append(f"--service=http://127.0.0.1:{port}")
        helper = hinting(mount, *options, image=asked == "image")
        for folder in (busy, calm):
            hinted(made(folder / "n0"), LONG)
        traffic.put(files_in(handle_of(busy), 0.5) + files_in(handle_of(calm), None))
        numbers = count(1)

        def distinguished() -> bool:
            name = f"n{next(numbers)}"
            other, file = made(calm / name), made(busy / name)
            time.sleep(0.05)
            return (hint_of(other), hint_of(file)) == (LONG, SHORT)

        eventually(distinguished, "files are hinted as their directories call for")
        assert helper.counts()["hinted_short"] >= 1
