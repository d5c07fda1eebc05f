"""The layout hook's core and its home in user space, as the device's clients see them."""

from __future__ import annotations

import random
import re
import signal
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from birthmark.layout_hint import INCLUDE
from birthmark.predictor.image.cuts import plain_predicate
from birthmark.predictor.image.format import Scoring, compile_image, plain_image
from birthmark.predictor.image.rules import ImageRule, RulesSection
from birthmark_native import BM_HEADER_SIZE
from tests import needs
from tests.layout_hint import device as d
from tests.layout_hint.device import Device, DeviceError
from tests.layout_hint.made import CREATES, MAKERS, made_counts, rust_answers, some_creates
from tests.layout_hint.test_lookup import SANITIZE, STRICT, compiled, zig
from tests.waiting import eventually

HOOK = Path(INCLUDE).parent / "hook"
HOME = [str(HOOK / name) for name in ("bm_home.c", "bm_hook.c")]
KINDS = {"HotName": d.NAME, "HotDir": d.DIR, "HotWrite": d.WRITE}
KERNEL = [
    "-D_KERNEL", "-DKLD_MODULE", "-ffreestanding", "-fno-common", "-mcmodel=kernel",
    "-mno-red-zone", "-mno-sse", "-mno-mmx", "-msoft-float", "-fno-stack-protector",
    "-fno-sanitize=all",
]  # fmt: skip


def build(out: Path, *sources: str, sanitizer: str = SANITIZE, compiler: str = "cc") -> Path:
    """Compile a program with a sanitizer, or without where there is none."""
    needs.program(compiler)
    command = [compiler, "-std=c99", "-O1", "-g", "-pthread", "-I", str(HOOK), *STRICT, *sources]
    done = compiled(command, out, sanitizer, "-fno-sanitize-recover=all")
    if done.returncode and "sanitize" not in done.stderr and "san" not in done.stderr:
        raise AssertionError(done.stderr)
    if done.returncode and "thread" in sanitizer:
        needs.missing(f"{compiler} has no {sanitizer}")
    if done.returncode:
        done = compiled(command, out)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the device, compiled with sanitizers where they are there."""
    return build(tmp_path_factory.mktemp("device") / "bm_device", str(HOOK / "device.c"), *HOME)


def started(program: Path, path: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([program, path], stderr=subprocess.PIPE)

    def listens() -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(str(path)) == 0

    assert eventually(lambda: process.poll() is not None or listens(), 60)
    return process


@pytest.mark.deep
def test_the_device_explains_itself_and_makes_no_socket_of_an_option(
    program: Path, tmp_path: Path
) -> None:
    for option, code in (("--help", 0), ("-h", 0), ("--other", 2)):
        run = subprocess.run([program, option], cwd=tmp_path, capture_output=True, timeout=60)
        assert run.returncode == code
        assert b"usage: bm_device SOCKET" in (run.stderr if code else run.stdout)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def path(program: Path, tmp_path: Path) -> Iterator[str]:
    """Return the socket of a device of its own, which must end well."""
    process = started(program, tmp_path / "s")
    yield str(tmp_path / "s")
    process.send_signal(signal.SIGTERM)
    _, output = process.communicate(timeout=60)
    assert (process.returncode, output) == (0, b"")


@pytest.fixture
def device(path: str) -> Iterator[Device]:
    """Return a connection to a device of its own."""
    connection = Device(path)
    yield connection
    connection.close()


def hints(**endings: str) -> bytes:
    """Return an image in which names that end with these are yes, by predicate."""
    rules = [ImageRule(key, "last", text.encode(), 1) for key, text in endings.items()]
    return plain_image(list(endings), [RulesSection(rules)])


def made_hints(seed: int) -> bytes:
    """Return an image of all kinds of sections over the three predicates and another."""
    random_ = random.Random(seed)
    keys = random_.sample([*KINDS, "other"], 4)
    sections = [maker(random_, keys)[0] for maker in MAKERS.values()]
    scoring = [Scoring(section, made_counts(random_, keys)) for section in sections]
    predicates = [plain_predicate(key, random_.choice([1, 100, 255])) for key in keys]
    return compile_image(predicates, scoring)


@pytest.mark.parametrize("compiler", ["gcc", pytest.param("clang", marks=pytest.mark.deep)])
def test_the_hook_compiles_freestanding_without_a_warning_and_keeps_nothing(compiler, tmp_path):
    needs.program(compiler)
    out = tmp_path / "hook.o"
    command = [compiler, "-std=c99", "-O2", "-ffreestanding", *STRICT, "-c"]
    done = compiled([*command, str(HOOK / "bm_hook.c")], out)
    assert (done.returncode, done.stderr) == (0, "")
    symbols = subprocess.run(["nm", str(out)], capture_output=True, text=True).stdout
    assert set(re.findall(r"U (\S+)", symbols)) <= {"memcpy", "memset", "_GLOBAL_OFFSET_TABLE_"}
    assert not re.search(r" [bBC] ", symbols), "state is kept outside of the hook"


@pytest.mark.deep
@pytest.mark.parametrize("home", ["kernel", "user"])
def test_the_hook_compiles_for_freebsd(home, tmp_path):
    if not zig():
        needs.missing("needs zig (pip install ziglang)")
    (tmp_path / "opt_global.h").touch()
    more = [*KERNEL, "-include", str(tmp_path / "opt_global.h")] if home == "kernel" else []
    sources = ["bm_hook.c"] + ["bm_sync.c", "bm_home.c", "device.c"] * (home == "user")
    for source in sources:
        command = [*zig(), "cc", "-target", "x86_64-freebsd.14.2", "-std=c99", "-O2", *STRICT]
        done = compiled([*command, *more, "-c", str(HOOK / source)], tmp_path / "out.o")
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("seed", range(40, 46))
def test_table_answers_are_those_of_the_image(seed, device):
    image = made_hints(seed)
    creates = [c for c in some_creates(random.Random(seed), 300) if len(c["name"] or b"") <= 255]
    creates = [c | {"client": None, "history": None} for c in creates]
    expected = rust_answers(image, pa.Table.from_pylist(creates, schema=CREATES))
    device.config(d.TABLE)
    assert device.load(image) == 0
    counted = [0, 0, 0]
    for create, yes in zip(creates, expected, strict=True):
        hour = create["time"] and create["time"].hour
        for directory, kinds in ((False, ("HotName", "HotWrite")), (True, ("HotDir",))):
            owner = (create["mode"], create["uid"], create["gid"])
            output = device.ask(create["name"], directory, *owner, hour)
            assert output == sum(KINDS[key] for key in yes if key in kinds)
            counted = [n + (output >> place & 1) for place, n in enumerate(counted)]
    state = device.status()
    assert (state["asked"], state["hinted"]) == (2 * len(creates), counted)
    assert sum(counted) > 0
    assert (state["image_size"], state["image_hints"]) == (len(image), d.ALL)


def test_only_hints_of_the_policy_are_given_and_counted(device):
    device.load(hints(HotName="lock", HotWrite="lock", HotDir="d"))
    assert device.ask(b"a.lock") == 0, "a new device is off"
    for policy in (d.NAME, d.DIR, d.NAME | d.DIR, d.NAME | d.WRITE, d.DIR | d.WRITE, d.ALL, 0):
        device.config(d.TABLE, policy)
        assert device.ask(b"a.lock") == policy & (d.NAME | d.WRITE)
        assert device.ask(b"a.d", directory=True) == policy & d.DIR
        assert device.ask(b"a.d") == 0
    assert device.status()["hinted"] == [4, 4, 3]


def test_hot_write_alone_is_neither_a_policy_nor_an_image(device):
    with pytest.raises(d.DeviceError, match="HotName or HotDir with HotWrite"):
        device.config(d.TABLE, d.WRITE)
    assert device.load(hints(HotWrite="lock")) == 9
    device.load(hints(HotName="tmp", HotWrite="lock"))
    device.config(d.TABLE, d.NAME | d.WRITE)
    assert device.ask(b"a.lock") == d.WRITE


def test_a_refused_image_leaves_the_last_good_one(device):
    device.config(d.TABLE)
    assert device.ask(b"a.lock") == 0
    assert device.load(hints(HotName="lock")) == 0
    good = hints(HotWrite="lock", HotDir="d")
    damaged = good[:-1] + bytes([good[-1] ^ 1])
    refused = [b"", good[:-1], good[: BM_HEADER_SIZE - 1], b"GARBAGE" * 99, good + b"\0", damaged]
    other = plain_image(["lifespan<=5"], [])
    assert [device.load(image) for image in [*refused, other]] == [1, 1, 1, 2, 4, 5, 9]
    assert device.ask(b"a.lock") == d.NAME
    assert device.load(good) == 0
    assert device.ask(b"a.lock") == d.WRITE
    state = device.status()
    assert (state["images_loaded"], state["without_image"]) == (2, 1)
    assert state["images_refused"] == [0, 3, 1, 0, 1, 1, 0, 0, 0, 1, 0]


def test_an_answer_serves_the_next_create_of_its_kind_alone(device):
    device.config(d.QUERY)
    assert device.ask(b"mail77.lock", hour=3) == 0
    assert device.ask(b"mail78.lock", hour=9) == 0
    (question,) = device.read()
    assert (question.name, question.hour) == (b"mail77.lock", 3)
    assert (question.mode, question.uid, question.gid) == (0o600, 100, 100)
    assert device.status()["cache_waits"] == 1
    device.answer(question.id, d.ALL)
    assert device.ask(b"mail1234.lock") == d.NAME | d.WRITE, "numbers are folded"
    others = [
        {"name": b"mail77.lok"}, {"name": None}, {"directory": True}, {"mode": 0o644},
        {"uid": 101}, {"gid": 101}, {"gid": None},
    ]  # fmt: skip
    for other in others:
        assert device.ask(**({"name": b"mail77.lock"} | other)) == 0
    assert len(device.read()) == len(others)
    state = device.status()
    assert (state["cache_hits"], state["cache_misses"]) == (1, 1 + len(others))
    assert (state["answers_taken"], state["decisions"]) == (1, 1)
    assert state["asked"] == state["cache_hits"] + state["cache_misses"] + state["cache_waits"]


def test_answers_that_nobody_waits_for_are_refused_and_counted(device):
    device.config(d.QUERY)
    device.ask(b"a")
    (question,) = device.read()
    assert device.read() == [], "a question is given once"
    with pytest.raises(DeviceError, match="no such question") as refused:
        device.answer(question.id + 1, d.NAME)
    assert refused.value.code == d.ENOENT
    device.answer(question.id, d.NAME)
    for id in (question.id, 0, 2**64 - 1):
        with pytest.raises(DeviceError, match="no such question"):
            device.answer(id, 0)
    assert device.ask(b"a") == d.NAME
    state = device.status()
    assert (state["answers_taken"], state["answers_stale"]) == (1, 4)


@pytest.mark.parametrize("change", ["flush", "load"])
def test_another_model_empties_the_cache_and_makes_answers_stale(change, device):
    device.config(d.QUERY)
    for name in (b"a", b"b"):
        device.ask(name)
    first, second = device.read()
    device.answer(first.id, d.NAME)
    device.ask(b"c")
    before = device.status()
    assert (before["decisions"], before["questions"]) == (1, 1)
    assert device.flush() > before["generation"] if change == "flush" else True
    if change == "load":
        assert device.load(hints(HotName="x")) == 0
    after = device.status()
    assert after["generation"] == before["generation"] + 1
    assert (after["decisions"], after["questions"]) == (0, 0)
    with pytest.raises(DeviceError, match="no such question"):
        device.answer(second.id, d.NAME)
    assert [device.ask(name) for name in (b"a", b"b")] == [0, 0]
    assert [question.name for question in device.read()] == [b"a", b"b"]


def test_a_full_queue_drops_questions_counted_and_asks_again_later(device):
    device.config(d.QUERY)
    for uid in range(300):
        assert device.ask(b"x", uid=uid) == 0
    state = device.status()
    assert (state["questions"], state["questions_queued"]) == (256, 256)
    assert state["questions_dropped"] == 44
    assert [question.uid for question in device.read(10)] == list(range(10))
    assert [question.uid for question in device.read()] == list(range(10, 256))
    device.ask(b"x", uid=299)
    assert [question.uid for question in device.read()] == [299]


def test_the_kinds_asked_of_last_are_those_remembered(device):
    device.config(d.QUERY)
    for uid in range(6000):
        device.ask(b"x", uid=uid)
        device.ask(b"often")
        for question in device.read():
            device.answer(question.id, d.NAME)
    assert 3000 < device.status()["decisions"] <= 4096
    before = device.status()["cache_hits"]
    for uid in range(5900, 6000):
        device.ask(b"x", uid=uid)
    device.ask(b"often")
    assert device.status()["cache_hits"] >= before + 95


def test_a_question_that_is_never_answered_is_put_again(device):
    device.config(d.QUERY)
    for _ in range(8192):
        device.ask(b"x")
    assert len(device.read()) == 1
    device.ask(b"x")
    device.ask(b"x")
    (again,) = device.read()
    device.answer(again.id, d.NAME)
    assert device.ask(b"x") == d.NAME


def test_a_reader_waits_for_the_next_question(path, device):
    other = Device(path)
    device.config(d.QUERY)
    found = []
    reader = threading.Thread(target=lambda: found.extend(other.read(1, 50_000)))
    reader.start()
    device.ask(b"x")
    reader.join(60)
    assert [question.name for question in found] == [b"x"]
    assert other.read(1, 1) == []
    other.close()


def refused(device: Device, command: int, payload: bytes) -> int:
    with pytest.raises(DeviceError) as error:
        device.frame(command, payload)
    assert "expected" in str(error.value)
    return error.value.code


def test_frames_that_are_not_as_they_should_be_are_refused_with_what_was_expected(path, device):
    sizes = {d.LOAD: 24, d.STATUS: d.STATE_SIZE, d.CONFIG: 48, d.ANSWER: 16, d.FLUSH: 8}
    sizes |= {d.READ: 16, d.ASK: 296}
    for command, size in sizes.items():
        for payload in (b"", bytes(size - 1), bytes(size), b"\xff" * size):
            assert refused(device, command, payload) == d.EINVAL
        if command != d.LOAD:
            other = Device(path)
            assert refused(other, command, bytes(size + 1)) == d.EFBIG
            with pytest.raises((EOFError, ConnectionError)):
                other.frame(command, bytes(size))
            other.close()
    config = struct.Struct("<4I2Q2i2I")
    good = [d.VERSION, d.TABLE, 7, 3, 0, 4096, 0, 0, 0, 0]
    for mode, length in ((1, 4096), (2, 4096), (3, 4096), (0, 0)):
        assert device.frame(d.CONFIG, config.pack(*good[:3], mode, 0, length, *good[6:])) == b""
    for place, value in ((1, 3), (2, 8), (2, d.WRITE), (3, 4), (3, 0), (4, 2**64 - 1), (5, 0)):
        wrong = [*good[:place], value, *good[place + 1 :]]
        assert refused(device, d.CONFIG, config.pack(*wrong)) == d.EINVAL
    inodes_alone = [d.VERSION, d.TABLE, 7, 0, 0, 0, 0, 0, 0, 100]
    assert refused(device, d.CONFIG, config.pack(*inodes_alone)) == d.EINVAL
    for payload in ((0, 0, 0), (1, 60_001, 0), (1, 0, 1)):
        assert refused(device, d.READ, struct.pack("<4I", d.VERSION, *payload)) == d.EINVAL
    for size, data in ((5, 0), (3, 0), (4, 8)):
        head = struct.pack("<2IQ2I", d.VERSION, size, data, 0, 0)
        assert refused(device, d.LOAD, head + b"abcd") == d.EINVAL
    assert refused(device, d.ANSWER, struct.pack("<2IQ", d.VERSION, 8, 1)) == d.EINVAL
    question = struct.Struct("<Q7I2H256s")
    asked = [0, d.VERSION, 0, 0x20, 0, 0, 0, 0, 0, 1, b"x"]
    for place, value in {3: 0x40, 7: 24, 8: 2, 9: 256}.items():
        wrong = [*asked[:place], value, *asked[place + 1 :]]
        assert refused(device, d.ASK, question.pack(*wrong)) == d.EINVAL
    assert device.status()["asked"] == 0


@pytest.mark.parametrize("command", [0, 8, 2**32 - 1])
def test_an_unknown_command_ends_the_connection_and_no_other(command, path, device):
    other = Device(path)
    with pytest.raises(DeviceError) as error:
        other.frame(command)
    assert error.value.code == d.ENOTTY
    with pytest.raises((EOFError, ConnectionError)):
        other.frame(d.STATUS)
    other.close()
    assert device.status()["version"] == d.VERSION


def test_connections_that_break_off_or_are_too_many_harm_no_other(path, device):
    for size in (1, 7, 8, 20):
        broken = Device(path)
        broken.socket.sendall((struct.pack("<2I", d.LOAD, 1000) + bytes(12))[:size])
        broken.close()
    many = [Device(path) for _ in range(80)]
    with pytest.raises((EOFError, ConnectionError)):
        many[-1].status()
    for connection in many:
        connection.close()
    assert device.status()["version"] == d.VERSION


def test_a_second_device_does_not_take_a_socket_and_a_killed_one_leaves_none_behind(
    program, tmp_path
):
    first = started(program, tmp_path / "s")
    assert (tmp_path / "s").stat().st_mode & 0o777 == 0o700
    second = subprocess.run([program, tmp_path / "s"], capture_output=True, timeout=60)
    assert second.returncode == 1
    assert b"s: Address already in use" in second.stderr
    first.kill()
    first.communicate()
    third = started(program, tmp_path / "s")
    connection = Device(str(tmp_path / "s"))
    assert connection.status()["asked"] == 0
    connection.close()
    third.terminate()
    third.communicate(timeout=60)
    assert not (tmp_path / "s").exists()
    (tmp_path / "file").write_text("not a socket")
    beside = subprocess.run([program, tmp_path / "file"], capture_output=True, timeout=60)
    assert (beside.returncode, (tmp_path / "file").exists()) == (1, True)


@pytest.mark.deep
@pytest.mark.parametrize("sanitizer", ["thread", "address,undefined"])
def test_the_home_in_user_space_holds_under_many_threads(sanitizer, tmp_path):
    source = str(Path(__file__).with_name("hook_threads.c"))
    out = tmp_path / "threads"
    build(out, source, *HOME, sanitizer=f"-fsanitize={sanitizer}", compiler="clang")
    (tmp_path / "image").write_bytes(hints(HotName="lock", HotDir="lock"))
    command = ["setarch", "-R", out, tmp_path / "image", "3000"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "12000 12000\n"
