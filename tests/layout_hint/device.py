"""The device in user space, as its clients use it: frames on a Unix socket (birthmark_hint.h)."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from typing import Any

VERSION = 2
LOAD, STATUS, CONFIG, ANSWER, FLUSH, READ, ASK = range(1, 8)
OFF, TABLE, QUERY = range(3)
NAME, DIR, WRITE, ALL = 1, 2, 4, 7
EINVAL, ENOENT, ENOTTY, EFBIG = 22, 2, 25, 27

_CONFIG = struct.Struct("<4I2Q2i2I")
_REGION = struct.Struct("<4I4Q")
_STATE = struct.Struct("<8I")
_COUNTERS = struct.Struct("<31Q")
_QUESTION = struct.Struct("<Q7I2H256s")
_COUNTED = {
    "asked": 1, "hinted": 3, "without_image": 1, "outcomes": 7, "cache_hits": 1,
    "cache_misses": 1, "cache_waits": 1, "questions_queued": 1, "questions_dropped": 1,
    "answers_taken": 1, "answers_stale": 1, "images_loaded": 1, "images_refused": 11,
}  # fmt: skip
STATE_SIZE = _STATE.size + _CONFIG.size + _REGION.size + _COUNTERS.size


class DeviceError(Exception):
    """A command that was refused: its errno, and what was expected."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code


@dataclass(frozen=True)
class Question:
    """A create that a verdict is wanted of."""

    id: int
    generation: int
    known: int
    mode: int
    uid: int
    gid: int
    hour: int
    directory: bool
    name: bytes


class Device:
    """A connection to the device."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        try:
            self.socket.connect(path)
        except OSError:
            self.socket.close()
            raise
        self.socket.settimeout(60)

    def close(self) -> None:
        self.socket.close()

    def _read(self, size: int) -> bytes:
        content = b""
        while len(content) < size:
            more = self.socket.recv(size - len(content))
            if not more:
                raise EOFError
            content += more
        return content

    def frame(self, command: int, payload: bytes = b"") -> bytes:
        """Send one frame, and return the bytes of its reply."""
        self.socket.sendall(struct.pack("<2I", command, len(payload)) + payload)
        return self.reply()

    def reply(self) -> bytes:
        code, size = struct.unpack("<2I", self._read(8))
        content = self._read(size)
        if code:
            raise DeviceError(code, content.decode())
        return content

    def load(self, image: bytes) -> int:
        """Return the status of an image: 0 if it was taken."""
        head = struct.pack("<2IQ2I", VERSION, len(image), 0, 0, 0)
        status: int = struct.unpack("<2IQ2I", self.frame(LOAD, head + image))[3]
        return status

    def config(self, mode: int, policy: int = ALL) -> None:
        assert self.frame(CONFIG, _CONFIG.pack(VERSION, mode, policy, 0, 0, 0, 0, 0, 0, 0)) == b""

    def flush(self) -> int:
        generation: int = struct.unpack("<2I", self.frame(FLUSH, struct.pack("<2I", VERSION, 0)))[1]
        return generation

    def answer(self, id: int, verdict: int) -> None:
        assert self.frame(ANSWER, struct.pack("<2IQ", VERSION, verdict, id)) == b""

    def read(self, count: int = 256, milliseconds: int = 0) -> list[Question]:
        content = self.frame(READ, struct.pack("<4I", VERSION, count, milliseconds, 0))
        found = []
        for id, version, *numbers, directory, length, name in _QUESTION.iter_unpack(content):
            assert version == VERSION
            found.append(Question(id, *numbers, bool(directory), name[:length]))
        return found

    def ask(
        self,
        name: bytes | None,
        directory: bool = False,
        mode: int | None = 0o600,
        uid: int | None = 100,
        gid: int | None = 100,
        hour: int | None = None,
    ) -> int:
        """Return the verdict on a create."""
        numbers = [mode, uid, gid, None, hour]
        known = sum(1 << place for place, n in enumerate(numbers) if n is not None)
        known |= 0x20 * (name is not None)
        name = name or b""
        owner = (mode or 0, uid or 0, gid or 0, hour or 0)
        packed = _QUESTION.pack(9, VERSION, 0, known, *owner, directory, len(name), name)
        version, verdict, id = struct.unpack("<2IQ", self.frame(ASK, packed))
        assert (version, id) == (VERSION, 9)
        return int(verdict)

    def status(self) -> dict[str, Any]:
        """Return the state: its numbers, and the counters by name."""
        content = self.frame(STATUS, struct.pack("<I", VERSION) + bytes(STATE_SIZE - 4))
        assert len(content) == STATE_SIZE
        names = ("version", "generation", "image_size", "image_checksum", "image_hints")
        numbers = _STATE.unpack_from(content)
        state: dict[str, Any] = dict(zip(names, numbers, strict=False))
        state |= {"questions": numbers[5], "decisions": numbers[6]}
        counters = list(_COUNTERS.unpack_from(content, STATE_SIZE - _COUNTERS.size))
        for name, size in _COUNTED.items():
            state[name] = counters[0] if size == 1 else counters[:size]
            del counters[:size]
        return state
