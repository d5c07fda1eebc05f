"""The helper through whatever befalls it: the last good image stays, and counters tell."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from base64 import b64encode
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import httpx
import pytest

from birthmark.serving.access import tokens
from birthmark.serving.models.loaded import load_model
from birthmark.training.registry.versions import Registry
from birthmark_native import BM_VERSION
from tests import needs
from tests.layout_hint.device import ALL, DIR, NAME, QUERY, TABLE, WRITE
from tests.layout_hint.hintd import (
    ASKED,
    ROOT,
    Device,
    Helper,
    Process,
    Relay,
    eventually,
    send,
    unavailable,
    whole,
)
from tests.layout_hint.laid import STEPS_AT, VERSION_AT, sealed
from tests.layout_hint.test_hook import HOME, HOOK, build
from tests.serving.services import publish, served, settings_for

pytestmark = pytest.mark.deep

CLOCK = Path(__file__).with_name("clock.c")
QUICK = {"poll": "0.1", "device": "0.1", "report": "0.2", "timeout": "2"}


@pytest.fixture(scope="session")
def device_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the device in user space."""
    return build(tmp_path_factory.mktemp("device") / "bm_device", str(HOOK / "device.c"), *HOME)


@pytest.fixture(scope="session")
def registries(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return two registries with different models."""
    one, two = (tmp_path_factory.mktemp("registry") / name for name in "ab")
    publish(one, heat=True)
    publish(two, suffix="pid", heat=True)
    return one, two


def image_of(registry: Path) -> bytes:
    hints = load_model(Registry(registry)).hints
    assert hints is not None
    return hints.content


@pytest.fixture(scope="session")
def images(registries: tuple[Path, Path]) -> tuple[bytes, bytes]:
    return image_of(registries[0]), image_of(registries[1])


@pytest.fixture
def device(place: Path, started: list[Process], device_program: Path) -> Device:
    path = place / "device"
    device = Device([str(device_program), str(path)], place / "device.log", path=path)
    started.append(device)
    device.begin()
    return device


@pytest.fixture
def helping(place: Path, started: list[Process], program: Path) -> Callable[..., Helper]:
    """Return what starts a helper between a service and a device."""

    def start(service: str, device: Path, *more: str, **variables: str) -> Helper:
        given = {option.partition("=")[0] for option in more}
        quick = {f"--{name}-seconds": value for name, value in QUICK.items()}
        options = [f"{name}={value}" for name, value in quick.items() if name not in given]
        command = [str(program), "--service", service, "--device", str(device), *options, *more]
        helper = Helper(command, place / "helper.log", variables)
        started.append(helper)
        helper.start()
        return helper

    return start


@pytest.fixture
def serving(place: Path, started: list[Process]) -> Callable[..., Process]:
    """Return what starts the real service."""

    def start(registry: Path, port: str) -> Process:
        options = ["--registry", str(registry), "--port", port]
        command = [sys.executable, "-m", "birthmark", "serve", *options]
        process = Process(command, place / "service.log")
        started.append(process)
        process.start("answers at")
        return process

    return start


def loaded(device: Device, image: bytes) -> None:
    eventually(lambda: device.has(image), "the image is loaded")


def test_a_service_that_is_killed_and_started_again_is_followed(
    registries, images, device, serving, helping, port
):
    first = serving(registries[0], str(port))
    helper = helping(f"http://127.0.0.1:{port}", device.path)
    loaded(device, images[0])
    eventually(lambda: device.state()["images_loaded"] == 1, "one image was loaded")
    first.end(signal.SIGKILL)
    eventually(
        lambda: "the service's image: cannot connect" in helper.logged(),
        "the log says that the service is gone",
    )
    assert device.has(images[0])
    with served(settings_for(registries[1], port=port)):
        loaded(device, images[1])
        eventually(
            lambda: "the service's image: well again" in helper.logged(),
            "the log says that it returned",
        )
        assert device.state()["images_loaded"] == 2
        counts = helper.counts()
    assert counts["images_fetched"] == counts["loads"] == 2
    assert counts["fetches_failed"] > 0


def test_a_newly_published_model_is_loaded_and_what_was_counted_is_among_the_metrics(
    registries, place, device, helping
):
    registry = place / "registry"
    shutil.copytree(registries[0], registry)
    here = f'device="{device.path}"'
    with served(settings_for(registry)) as client:

        def metrics(counter: str) -> str:
            lines = client.get("/metrics").text.splitlines()
            return next((x.split()[-1] for x in lines if here in x and f'"{counter}"' in x), "")

        helper = helping(str(client.base_url).rstrip("/"), device.path)
        loaded(device, image_of(registry))
        publish(registry, suffix="pid", heat=True)
        loaded(device, image_of(registry))
        eventually(lambda: metrics("helper_loads") == "2.0", "the helper's loads are reported")
        assert metrics("device_images_loaded") == "2.0"
        assert helper.counts()["reports_sent"] > 0


def test_a_newly_published_model_is_loaded_without_asking_twice(registries, place, device, helping):
    registry = place / "registry"
    shutil.copytree(registries[0], registry)
    with served(settings_for(registry)) as client:
        helper = helping(str(client.base_url).rstrip("/"), device.path, "--poll-seconds=3600")
        loaded(device, image_of(registry))
        publish(registry, suffix="pid", heat=True)
        loaded(device, image_of(registry))
        counts = helper.counts()
    assert counts["images_fetched"] == 2
    assert counts["images_unchanged"] == 0


def test_a_service_that_asks_for_a_token_is_shown_the_one_in_a_file(
    registries, place, device, helping
):
    token = place / "token"
    token.write_text(
        tokens.add(place / "tokens.json", "helper", ["predict", "read", "report"]) + "\n"
    )
    settings = settings_for(registries[0], tokens=place / "tokens.json")
    with served(settings) as client:
        url = str(client.base_url).rstrip("/")
        without = helping(url, device.path)
        eventually(lambda: "answered 401" in without.logged(), "the log says that it has none")
        without.end()
        helper = helping(url, device.path, f"--token-file={token}")
        loaded(device, image_of(registries[0]))
        eventually(lambda: reported_counters(client, token), "its counters are taken")
        assert helper.counts()["reports_failed"] == 0


def reported_counters(client, token):
    """Tell whether the service shows what a helper has reported."""
    headers = {"authorization": f"Bearer {token.read_text().strip()}"}
    return "birthmark_hook{" in client.get("/metrics", headers=headers).text


def test_a_helper_whose_token_may_not_report_goes_on_without(registries, place, device, helping):
    registry = place / "registry"
    shutil.copytree(registries[0], registry)
    token = place / "token"
    token.write_text(tokens.add(place / "tokens.json", "helper", ["predict", "read"]) + "\n")
    with served(settings_for(registry, tokens=place / "tokens.json")) as client:
        url = str(client.base_url).rstrip("/")
        helper = helping(url, device.path, f"--token-file={token}")
        loaded(device, image_of(registry))
        eventually(
            lambda: "the report to the service" in helper.logged(), "the log says that it may not"
        )
        publish(registry, suffix="pid", heat=True)
        loaded(device, image_of(registry))
        assert not reported_counters(client, token)
        counts = helper.counts()
    assert helper.logged().count("answered 403") == 1, "it is logged once"
    assert (counts["reports_sent"], counts["images_fetched"]) == (0, 2)
    assert counts["reports_failed"] > 0


def test_an_image_that_did_not_change_is_not_sent_again(images, device, service, helping):
    service.image = whole(images[0])
    helper = helping(service.url, device.path)
    loaded(device, images[0])
    before = device.state()["generation"]
    service.answered()
    assert service.asked[0] is None
    assert set(service.asked[1:]) == {'"a tag"'}
    assert (device.state()["generation"], device.state()["images_loaded"]) == (before, 1)
    counts = helper.counts()
    assert counts["images_fetched"] == 1
    assert counts["images_unchanged"] >= 1


def broken(image: bytes, how: str) -> bytes:
    flipped = bytearray(image)
    flipped[len(image) // 2] ^= 1
    return {
        "nothing": b"",
        "noise": os.urandom(5000),
        "a page": b"<html>an error</html>" * 100,
        "half of it": image[: len(image) // 2],
        "a flipped bit": bytes(flipped),
        "more than it": image + b"\0",
        "a newer version": sealed(image, VERSION_AT, BM_VERSION + 1),
        "an older version": sealed(image, VERSION_AT, 1),
        "steps undeclared": sealed(image, STEPS_AT, 1),
    }[how]


GARBAGE = "nothing, noise, a page, half of it, a flipped bit, more than it, a newer version, "
GARBAGE += "an older version, steps undeclared"


@pytest.mark.parametrize("how", GARBAGE.split(", "))
def test_garbage_never_takes_the_place_of_the_last_good_image(
    how, images, device, service, helping
):
    service.image = whole(images[0])
    helper = helping(service.url, device.path)
    loaded(device, images[0])
    service.image = whole(broken(images[1], how), '"garbage"')
    eventually(lambda: "is not: " in helper.logged(), "the log says that it is garbage")
    assert device.has(images[0])
    assert device.state()["images_loaded"] == 1
    service.image = whole(images[1], '"good"')
    loaded(device, images[1])
    assert sum(device.state()["images_refused"]) == 0, "the device was given garbage"
    counts = helper.counts()
    assert (counts["images_fetched"], counts["loads"]) == (2, 2)
    assert counts["images_unsound"] >= 1


def short(image: bytes) -> Callable[[BaseHTTPRequestHandler], None]:
    """Answer with a body that ends before its length."""
    return lambda handler: send(handler, image[:-100], len(image))


def unended(image: bytes) -> Callable[[BaseHTTPRequestHandler], None]:
    """Answer with chunks of which the last is missing."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.protocol_version = "HTTP/1.1"
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.wfile.write(b"%x\r\n" % len(image) + image + b"\r\n")
        handler.close_connection = True

    return answer


def endless(_: bytes) -> Callable[[BaseHTTPRequestHandler], None]:
    """Answer with zeros that do not end."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while True:
            handler.wfile.write(bytes(1 << 20))

    return answer


def enormous(_: bytes) -> Callable[[BaseHTTPRequestHandler], None]:
    """Answer with a length that no image has."""
    return lambda handler: send(handler, bytes(1000), 1 << 40)


def silent(_: bytes) -> Callable[[BaseHTTPRequestHandler], None]:
    """Answer nothing until the client goes."""
    return lambda handler: handler.rfile.read(1)


def dripping(image: bytes) -> Callable[[BaseHTTPRequestHandler], None]:
    """Answer a byte now and then."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        send(handler, b"", len(image))
        for byte in image[:40]:
            handler.wfile.write(bytes([byte]))
            if select.select([handler.connection], [], [], 0.2)[0]:
                return  # the client is gone

    return answer


def elsewhere(_: bytes) -> Callable[[BaseHTTPRequestHandler], None]:
    """Answer that it is to be found elsewhere."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", "/v1/other")
        handler.end_headers()

    return answer


def no_http(_: bytes) -> Callable[[BaseHTTPRequestHandler], None]:
    """Answer what is not HTTP."""
    return lambda handler: handler.wfile.write(b"220 ready\r\n") and None


FAULTS = {
    short: "broke off",
    unended: "broke off",
    endless: "at most",
    enormous: "at most",
    silent: "no whole answer",
    dripping: "no whole answer",
    elsewhere: "302",
    no_http: "broke off",
    lambda _: unavailable: "503",
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__.strip("<>"))
def test_a_download_that_is_not_whole_never_takes_the_place_of_the_last_good_image(
    fault, images, device, service, helping
):
    service.image = whole(images[0])
    helper = helping(service.url, device.path)
    loaded(device, images[0])
    service.image = fault(images[1])
    eventually(lambda: FAULTS[fault] in helper.logged(), "the log says that it failed")
    assert device.has(images[0])
    service.image = whole(images[1], '"good"')
    loaded(device, images[1])
    assert helper.running is not None
    status = Path(f"/proc/{helper.running.pid}/status").read_text()
    peak = int(status.partition("VmHWM:")[2].split()[0])
    assert peak < 64 * 1024, "KB: the body was not bounded"
    counts = helper.counts()
    assert (counts["images_fetched"], counts["loads"]) == (2, 2)
    assert counts["fetches_failed"] >= 1


def test_an_image_that_was_never_asked_about_cannot_be_unchanged(device, service, helping):
    def unchanged(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(304)
        handler.end_headers()

    service.image = unchanged
    helper = helping(service.url, device.path)
    eventually(lambda: "answered 304" in helper.logged(), "the answer is logged")
    assert helper.counts()["images_unchanged"] == 0


def test_the_time_of_day_may_jump(images, device, service, helping, place):
    library = place / "clock.so"
    command = ["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", str(library), str(CLOCK)]
    subprocess.run([*command, "-ldl"], check=True)
    jumping = {"LD_PRELOAD": str(library)}
    seen = subprocess.run(["date", "+%Y"], env=os.environ | jumping, capture_output=True, text=True)
    assert abs(int(seen.stdout) - time.gmtime().tm_year) > 5, "the clock did not jump"
    begin = time.monotonic()
    service.image = whole(images[0])
    helper = helping(service.url, device.path, **jumping)
    loaded(device, images[0])
    while len(service.asked) < 6:
        service.answered()
    assert time.monotonic() - begin > 0.25, "it did not wait between looks"
    service.image = whole(images[1], '"new"')
    loaded(device, images[1])
    eventually(lambda: service.reports, "reports go on")
    assert helper.counts()["fetches_failed"] == 0


@pytest.mark.parametrize(("name", "mode"), [("preferred", 1), ("data", 2), ("reserved", 3)])
def test_the_region_has_the_mode_that_it_was_given_and_none_has_none(
    name, mode, images, device, service, program
):
    service.image = whole(images[0])
    command = [str(program), "--once", "--service", service.url, "--device", str(device.path)]
    command += ["--mode=table", f"--region-mode={name}"]
    place = ("--region-start=4096", "--region-length=8192", "--region-inodes=100")
    subprocess.run([*command, *place], check=True)
    assert device.region() == (mode, 4096, 8192, 100)
    subprocess.run(command, check=True)
    assert device.region() == (0, 0, 0, 0)


def test_a_device_that_returns_empty_is_given_the_image_again(images, device, service, helping):
    service.image = whole(images[0])
    helper = helping(service.url, device.path, "--mode=table", "--policy=dir")
    loaded(device, images[0])
    eventually(lambda: device.settings() == (TABLE, DIR), "the device is set")
    device.end(signal.SIGKILL)
    eventually(
        lambda: f"the device {device.path}: " in helper.logged(), "the log says that it is gone"
    )
    device.path.unlink()
    service.answered()
    device.begin()
    loaded(device, images[0])
    eventually(lambda: device.settings() == (TABLE, DIR), "the device is set again")
    counts = helper.counts()
    assert counts["images_fetched"] == 1, "it was fetched again"
    assert (counts["loads"], counts["device_returns"]) == (2, 1)
    assert counts["device_failures"] >= 1


def test_a_device_that_comes_late_is_given_the_image(images, device, service, helping):
    device.end()
    device.path.unlink(missing_ok=True)
    service.image = whole(images[0])
    helper = helping(service.url, device.path)
    service.answered()
    device.begin()
    loaded(device, images[0])
    assert helper.counts()["device_failures"] >= 1


def test_a_device_that_hangs_is_waited_for_no_longer_than_the_limit(
    images, device, service, helping
):
    service.image = whole(images[0])
    helper = helping(service.url, device.path)
    loaded(device, images[0])
    assert device.running is not None
    device.running.send_signal(signal.SIGSTOP)
    eventually(lambda: "no answer within 2s" in helper.logged(), "the log says that it hangs")
    service.image = whole(images[1], '"new"')
    service.answered()
    device.running.send_signal(signal.SIGCONT)
    loaded(device, images[1])
    assert helper.counts()["device_failures"] >= 1


def test_leaves_other_files_than_devices_alone(place, service, images, helping):
    path = place / "file"
    path.write_text("precious")
    service.image = whole(images[0])
    helper = helping(service.url, path)
    eventually(lambda: "expected a Unix socket" in helper.logged(), "it is logged")
    assert path.read_text() == "precious"
    assert helper.end() == 0


def test_a_helper_killed_in_the_midst_of_a_load_leaves_the_last_good_image(
    images, place, device, service, helping
):
    service.image = whole(images[0])
    helper = helping(service.url, device.path)
    loaded(device, images[0])
    assert helper.end() == 0
    relay = Relay(place / "relay", device)
    relay.start()
    with relay.listener:
        service.image = whole(images[1], '"new"')
        killed = helping(service.url, place / "relay")
        assert relay.midst.wait(30), "half of the image was sent"
        killed.end(signal.SIGKILL)
    before = device.state()
    assert device.has(images[0])
    assert before["images_loaded"] == 1
    another = helping(service.url, device.path)
    loaded(device, images[1])
    assert device.state()["images_loaded"] == 2
    assert another.counts()["loads"] == 1


def test_a_helper_that_is_started_again_does_not_load_what_is_there(
    images, device, service, helping
):
    service.image = whole(images[0])
    helping(service.url, device.path).end(signal.SIGKILL)
    first = helping(service.url, device.path)
    loaded(device, images[0])
    first.end(signal.SIGKILL)
    before = device.state()["images_loaded"]
    second = helping(service.url, device.path)
    eventually(lambda: "image fetched" in second.logged(), "the image is fetched")
    service.answered()
    assert device.state()["images_loaded"] == before
    assert second.counts()["loads"] == 0


def expected(service: httpx.Client, name: bytes) -> int:
    """Return the verdict that the service gives itself."""
    create = {"name_base64": b64encode(name).decode()} | ASKED
    return int(service.post("/v1/hints", json=create).json())


def test_questions_are_answered_as_the_service_does_and_asked_again_after_it_was_gone(
    registries, images, place, device, helping
):
    registry, socket_ = place / "registry", place / "service"
    shutil.copytree(registries[0], registry)
    names = [b"app7.log", b"u3.lock", b"page1.html", b"\xff\xfe", b"other"]

    def agree() -> bool:
        return all(device.ask(name) == expected(service, name) for name in names)

    helper = helping(f"unix:{socket_}", device.path, "--mode=query")
    eventually(lambda: device.settings() == (QUERY, ALL), "the device is set")
    assert [device.ask(name) for name in names] == [0] * len(names)
    eventually(
        lambda: "the service's hints: " in helper.logged(), "the log says that nobody answers"
    )
    with served(settings_for(registry, uds=socket_)) as service:
        loaded(device, images[0])
        hot = expected(service, names[0])
        assert hot, "the model says that something is hot"
        eventually(lambda: device.ask(names[0]) == hot, "the answer came")
        eventually(agree, "all answers are the service's")
        assert device.ask(b"no/name") == 0
        eventually(
            lambda: "without /" in helper.logged(), "the log says that it refuses a question"
        )
    assert not socket_.exists()
    before = device.state()["generation"]
    publish(registry, suffix="pid", heat=True)
    with served(settings_for(registry, uds=socket_)) as service:
        eventually(lambda: device.state()["generation"] > before, "old decisions are dropped")
        loaded(device, images[1])
        eventually(agree, "all answers are the new model's")
    counted = device.state()
    counts = helper.counts()
    assert counts["questions_retried"] >= 1
    assert counts["questions_refused"] == 1
    assert counts["questions_answered"] == counted["answers_taken"] >= len(names)
    assert counts["questions_stale"] == counted["answers_stale"]


def test_drops_the_decisions_of_another_model(images, device, service, helping):
    service.image, service.hints = whole(images[0]), NAME | WRITE
    helper = helping(service.url, device.path, "--mode=query")
    eventually(lambda: device.settings() == (QUERY, ALL), "the device is set")
    loaded(device, images[0])
    eventually(lambda: device.ask(b"a.lock") == NAME | WRITE, "the first model answers")
    before = device.state()["generation"]
    service.image, service.hints = whole(images[1], '"new"'), WRITE
    eventually(lambda: device.state()["generation"] > before, "its image is loaded")
    eventually(lambda: device.ask(b"a.lock") == WRITE, "it answers what the first did, too")
    assert helper.counts()["questions_refused"] == 0


@pytest.mark.parametrize("answer", [{}, 8, -1, 1.5, "1", True])
def test_an_answer_that_is_no_verdict_is_none(answer, device, service, helping):
    service.hints = answer
    helper = helping(service.url, device.path, "--mode=query")
    eventually(lambda: device.settings() == (QUERY, ALL), "the device is set")
    device.ask(b"a.lock")
    eventually(lambda: "the service's hints: " in helper.logged(), "it is logged")
    assert device.ask(b"a.lock") == 0
    assert device.state()["answers_taken"] == 0
    counts = helper.counts()
    assert (counts["questions_taken"], counts["questions_answered"]) == (1, 0)
    assert counts["questions_retried"] >= 1


def test_reports_counters_also_without_a_device(place, service, helping):
    helper = helping(service.url, place / "nowhere")
    eventually(lambda: service.reports, "a report")
    report = json.loads(service.reports[0])
    assert set(report) == {"host", "device", "counters"}
    assert report["device"] == str(place / "nowhere")
    assert report["counters"]["helper_device_failures"] >= 1
    assert not any(name.startswith("device_") for name in report["counters"])
    helper.counts()


@pytest.mark.parametrize("name", ["", "(none)", "é" * 20, "x" * 64, "a b/c\n"])
def test_the_service_takes_the_reports_of_a_host_whatever_its_name(
    name, registries, place, started, program
):
    own = ["unshare", "--user", "--map-root-user", "--uts"]
    if subprocess.run([*own, "true"], capture_output=True).returncode:
        pytest.skip("needs a kernel that lets a process have a host name of its own")
    naming = (
        "import os,socket,sys; socket.sethostname(sys.argv[1]); os.execv(sys.argv[2], sys.argv[2:])"
    )
    with served(settings_for(registries[0])) as client:
        service = str(client.base_url).rstrip("/")
        command = [str(program), f"--service={service}", "--report-seconds=0.05"]
        command = [*own, sys.executable, "-c", naming, name, *command, f"--device={place}/none"]
        helper = Helper(command, place / "helper.log")
        started.append(helper)
        helper.start()
        here = f'device="{place}/none"'
        eventually(lambda: here in client.get("/metrics").text, "a report is taken")
    assert "the report to the service: answered" not in helper.logged()


def test_once_is_enough_where_something_else_keeps_the_time(images, device, service, program):
    def once(service_url: str, path: Path) -> tuple[int, str]:
        command = [str(program), "--once", "--service", service_url, "--device", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stderr

    code, output = once(service.url, device.path)
    assert (code, "answered 503" in output) == (1, True)
    service.image = whole(images[0][:-1])
    code, output = once(service.url, device.path)
    assert (code, "truncated" in output) == (1, True)
    assert device.state()["image_size"] == 0
    service.image = whole(images[0])
    code, output = once(service.url, device.path.with_name("nowhere"))
    assert (code, "nowhere" in output) == (1, True)
    assert once(service.url, device.path)[0] == 0
    assert device.has(images[0])


def test_options_may_stand_in_the_environment(images, device, service, program):
    variables = {
        "BIRTHMARK_HINTD_SERVICE": service.url,
        "BIRTHMARK_HINTD_DEVICE": str(device.path),
        "BIRTHMARK_HINTD_MODE": "table",
        "BIRTHMARK_HINTD_POLICY": "name,write",
    }
    service.image = whole(images[0])
    subprocess.run([str(program), "--once"], env=os.environ | variables, check=True, timeout=60)
    assert device.settings() == (TABLE, NAME | WRITE)


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("--service=127.0.0.1:1", "http://HOST:PORT or unix:PATH"),
        ("--poll-seconds=0", "0.001 to 86400"),
        ("--poll-seconds=nan", "0.001 to 86400"),
        ("--policy=name", "--mode"),
        ("--region-mode=all", "preferred, data, reserved"),
        ("--other", "unexpected argument"),
    ],
)
def test_refuses_invalid_options_with_the_expectation(option, expected, program):
    done = subprocess.run([str(program), option], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert expected in done.stderr


def test_hot_write_alone_is_refused_with_the_reason(program, tmp_path):
    command = [str(program), "--device", str(tmp_path / "none"), "--mode=table", "--policy=write"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "--policy: expected name or dir with write, which alone" in done.stderr


def test_nobody_need_read_what_it_says(images, device, service, program, started):
    command = [str(program), "--service", service.url, "--device", str(device.path)]
    read, write = os.pipe()
    service.image = whole(images[0])
    running = subprocess.Popen(command, stderr=write)
    try:
        os.close(read)
        os.close(write)
        loaded(device, images[0])
        running.terminate()
        assert running.wait(30) == 0
    finally:
        running.kill()
        running.wait()


def built(target: str) -> Path:
    path = ROOT / "target" / target / "hintd" / "birthmark-hintd"
    if not path.exists():
        needs.missing(f"{path} is not there: make hintd builds it, where it can")
    return path


def elf(path: Path, *options: str) -> str:
    needs.program("readelf", "binutils")
    done = subprocess.run(["readelf", *options, str(path)], capture_output=True, text=True)
    return done.stdout


def test_the_helper_for_linux_needs_nothing_but_the_kernel(images, device, service):
    machine = os.uname().machine
    path = built(f"{machine}-unknown-linux-gnu")
    assert "NEEDED" not in elf(path, "-d")
    assert "INTERP" not in elf(path, "-l")
    service.image = whole(images[0])
    url = service.url.replace("127.0.0.1", "localhost")
    command = [str(path), "--once", "--service", url, "--device", str(device.path)]
    subprocess.run(command, check=True, timeout=60)
    assert device.has(images[0])


def test_the_helper_for_freebsd_needs_only_libraries_of_its_base_system():
    path = built("x86_64-unknown-freebsd")
    needed = {
        line.split("[")[1].rstrip("]") for line in elf(path, "-d").splitlines() if "NEEDED" in line
    }
    assert needed == {"libc.so.7", "libthr.so.3"}
    assert "/libexec/ld-elf.so.1" in elf(path, "-l")
    assert "FreeBSD" in elf(path, "-n")
