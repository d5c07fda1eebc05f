"""Write-life hints in file systems of this kernel: creates are hinted or counted, none held up."""

from __future__ import annotations

import fcntl
import json
import os
import random
import shutil
import signal
import stat
import subprocess
import threading
import time
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest

from birthmark.predictor.answers.point import POINTS
from birthmark.predictor.image.cuts import plain_predicate
from birthmark.predictor.image.format import Scoring, compile_image
from birthmark.predictor.image.rules import ImageRule, RulesSection
from birthmark_native import SharedHistoryWriter
from tests import needs
from tests.layout_hint.hintd import Answering, Helper, eventually
from tests.layout_hint.test_hook import hints as image_of
from tests.layout_hint.write_life import (
    EXTREME,
    IMAGE,
    LONG,
    MEDIUM,
    RULE,
    SHORT,
    Hinting,
    hint_of,
    hinted,
    made,
    mounted,
    older_than,
)
from tests.serving.services import publish, served, settings_for

pytestmark = pytest.mark.deep

SETTLED = {
    "hinted_short",
    "hinted_medium",
    "hinted_long",
    "hinted_extreme",
    "unhinted",
    "other_kinds",
    "withheld",
    "gone",
    "late",
    "unanswered",
    "hinted_by_others",
    "leased",
    "ignored",
    "refused",
}
"""What becomes of a birth: one of these."""

SET_LEASE = 1024
"""A command of ``fcntl``."""


@pytest.fixture(params=["tmpfs", "ext4"])
def anywhere(request: pytest.FixtureRequest, place: Path) -> Iterator[Path]:
    """Return a file system of each kind."""
    with mounted(place / "mount", request.param) as path:
        yield path


def all_counted(counts: dict[str, int]) -> dict[str, int]:
    """Return what was counted; each birth is counted once more, by what became of it."""
    assert counts["births"] == sum(counts[name] for name in SETTLED), counts
    return counts


def stopped(helper: Helper) -> int:
    """Stop the helper; return its number, by which it goes on."""
    assert helper.running is not None
    number = helper.running.pid
    os.kill(number, signal.SIGSTOP)
    status = Path(f"/proc/{number}/stat")
    eventually(lambda: status.read_text().rpartition(")")[2].split()[0] == "T", "it is stopped")
    return number


def test_each_file_gets_the_class_that_its_predicates_say_and_others_none(anywhere, hinting):
    helper = hinting(anywhere)
    for ending, hint in {"tmp": SHORT, "log": MEDIUM, "txt": LONG, "iso": EXTREME}.items():
        hinted(made(anywhere / f"a.{ending}"), hint)
    other = made(anywhere / "other")
    hinted(made(anywhere / "last.tmp"), SHORT)
    assert hint_of(other) == 0
    counts = all_counted(helper.counts())
    classes = {name: counts[f"hinted_{name}"] for name in ("short", "medium", "long", "extreme")}
    assert classes == {"short": 2, "medium": 1, "long": 1, "extreme": 1}
    assert (counts["births"], counts["unhinted"], counts["overflows"]) == (6, 1, 0)


def test_by_default_what_dies_young_or_is_written_over_is_medium_and_what_stays_is_extreme(
    mount, hinting, monkeypatch
):
    for name in RULE:
        monkeypatch.delenv(name)
    hinting(mount)
    for ending, hint in {"tmp": MEDIUM, "log": MEDIUM, "txt": EXTREME, "iso": EXTREME}.items():
        hinted(made(mount / f"a.{ending}"), hint)


def test_another_rule_may_be_given(mount, hinting):
    hinting(mount, "--short=HotWrite", "--medium=read-only,lifespan<=5")
    hinted(made(mount / "a.log"), SHORT)
    hinted(made(mount / "a.tmp"), MEDIUM)
    hinted(made(mount / "a.iso"), MEDIUM)


def test_files_in_directories_that_are_new_and_of_others_are_hinted(anywhere, hinting, place):
    place.chmod(0o755)
    helper = hinting(anywhere)
    (anywhere / "a" / "b").mkdir(parents=True)
    own = made(anywhere / "a" / "b" / "c.tmp")
    hinted(own, SHORT)
    private = anywhere / "private"
    private.mkdir(mode=0o700)
    os.chown(private, 65534, 65534)
    script = 'umask 077; : > "$0/d.tmp"'
    subprocess.run(["sh", "-c", script, private], user=65534, check=True)
    hinted(private / "d.tmp", SHORT)
    assert all_counted(helper.counts())["births"] == 2


def test_a_name_of_any_bytes_is_hinted_by_its_bytes(mount, hinting):
    hinting(mount)
    name = b"\xff\xfe\n" + b"x" * 240 + b".tmp"
    path = mount / os.fsdecode(name)
    hinted(made(path), SHORT)


def test_leaves_other_objects_than_new_files_alone_and_counts_them(mount, hinting, place):
    old = made(mount / "old")
    helper = hinting(mount)
    os.link(old, mount / "link.tmp")
    os.mkfifo(mount / "fifo.tmp")
    os.mknod(mount / "device.tmp", stat.S_IFCHR | 0o600, os.makedev(1, 3))
    (mount / "symlink.tmp").symlink_to(old)
    (mount / "directory.tmp").mkdir()
    hinted(made(mount / "file.tmp"), SHORT)
    assert hint_of(old) == 0
    counts = all_counted(helper.counts())
    assert (counts["births"], counts["other_kinds"], counts["hinted_short"]) == (5, 4, 1)


def test_the_hint_of_who_made_a_file_is_kept(mount, hinting):
    helper = hinting(mount)
    number = stopped(helper)
    own = made(mount / "a.tmp", EXTREME)
    os.kill(number, signal.SIGCONT)
    hinted(made(mount / "b.tmp"), SHORT)
    assert hint_of(own) == EXTREME
    assert all_counted(helper.counts())["hinted_by_others"] == 1


def test_a_file_that_somebody_has_a_lease_of_is_left_alone(mount, hinting):
    helper = hinting(mount)
    number = stopped(helper)
    path = mount / "a.tmp"
    # Python gets this signal for the broken pipe, and must survive it.
    before = signal.signal(signal.SIGIO, signal.SIG_IGN)
    try:
        with path.open("wb") as file:
            fcntl.fcntl(file, SET_LEASE, fcntl.F_WRLCK)
            os.kill(number, signal.SIGCONT)
            hinted(made(mount / "b.tmp"), SHORT)
    finally:
        signal.signal(signal.SIGIO, before)
    assert hint_of(path) == 0
    assert all_counted(helper.counts())["leased"] == 1


def test_files_that_are_gone_before_the_answer_are_counted(anywhere, hinting):
    helper = hinting(anywhere)
    number = stopped(helper)
    for place in range(10):
        made(anywhere / f"{place}.tmp").unlink()
    os.kill(number, signal.SIGCONT)
    hinted(made(anywhere / "last.tmp"), SHORT)
    counts = all_counted(helper.counts())
    assert (counts["births"], counts["gone"]) == (11, 10)


def test_files_whose_data_may_be_on_the_disk_are_left_alone_and_counted(mount, hinting):
    helper = hinting(mount, "--late-seconds=0.5")
    number = stopped(helper)
    late = made(mount / "late.tmp")
    older_than(late, 0.6)
    os.kill(number, signal.SIGCONT)
    hinted(made(mount / "soon.tmp"), SHORT)
    assert hint_of(late) == 0
    assert all_counted(helper.counts())["late"] == 1


def test_creates_that_nobody_takes_are_held_up_by_nothing_and_their_loss_is_counted(mount, hinting):
    room = int(Path("/proc/sys/fs/fanotify/max_queued_events").read_text())
    helper = hinting(mount, "--late-seconds=600")
    number = stopped(helper)
    for place in range(room + 1000):
        os.close(os.open(mount / f"{place}.tmp", os.O_CREAT | os.O_WRONLY))
    os.kill(number, signal.SIGCONT)
    hinted(mount / "0.tmp", SHORT)
    seen = mount / "seen.tmp"

    def watches_again() -> bool:
        seen.unlink(missing_ok=True)
        made(seen)
        time.sleep(0.01)
        return hint_of(seen) == SHORT

    eventually(watches_again, "it watches again")
    counts = all_counted(helper.counts())
    assert counts["overflows"] >= 1
    assert counts["births"] < room + 1000


def test_another_image_is_asked_as_soon_as_it_is_there_and_none_never(mount, hinting, place):
    helper = hinting(mount)

    def replaced(content: bytes) -> None:
        (place / "new").write_bytes(content)
        (place / "new").replace(place / "image")

    replaced(IMAGE[:-1])
    eventually(lambda: "image: truncated" in helper.logged(), "the log says that it is none")
    hinted(made(mount / "a.tmp"), SHORT)
    replaced(image_of(core=".o"))
    eventually(lambda: "expected an image with any of lock" in helper.logged(), "so is this")
    replaced(image_of(HotWrite="tmp"))
    eventually(lambda: "image: read again" in helper.logged(), "it is read")
    hinted(made(mount / "b.tmp"), MEDIUM)
    counts = helper.counts()
    assert (counts["images_read"], counts["images_unsound"] > 0) == (2, True)


def test_the_image_gets_the_live_history_of_a_directory(mount, hinting, place):
    key = "lifespan<=5"
    rules = RulesSection([ImageRule(key, "any", b"", 1)])
    image = compile_image(
        [plain_predicate(key)], [Scoring(rules, [{point: [key] for point in POINTS}, {}, {}, {}])]
    )
    (place / "image").write_bytes(image)
    known, unknown = mount / "known", mount / "unknown"
    known.mkdir()
    unknown.mkdir()
    # a handle of knfsd: by eight bytes of a UUID, and as tmpfs has it, generation and inode
    system, inode = os.urandom(8), known.stat().st_ino.to_bytes(8, "little")
    handle = b"\x01\x00\x05\x01" + system + bytes(4) + inode
    (place / "run").mkdir(mode=0o700)
    history = SharedHistoryWriter(place / "run" / "history", 100, 100, "0.1.0")
    history.directory(handle, time=0)
    history.commit(time.time_ns() // 1000, 0.0, 0.0, "following")
    history.publish()
    hinting(
        mount,
        f"--history={place / 'run' / 'history'}",
        f"--directory-system={b64encode(system).decode()}",
    )
    other = made(unknown / "a")
    hinted(made(known / "a"), SHORT)
    assert hint_of(other) == 0


def test_the_service_is_asked_and_files_go_without_a_hint_while_it_is_gone(
    mount, hinting, place, port
):
    registry = place / "registry"
    publish(registry)
    with served(settings_for(registry, port=port)):
        helper = hinting(mount, f"--service=http://127.0.0.1:{port}", image=False)
        other = made(mount / "other")
        hinted(made(mount / "inbox.lock"), SHORT)
        assert hint_of(other) == 0
    lost = made(mount / "lost.lock")
    eventually(
        lambda: "the service's predictions: " in helper.logged(), "the log says that it is gone"
    )
    with served(settings_for(registry, port=port)):
        hinted(made(mount / "again.lock"), SHORT)
    assert hint_of(lost) == 0
    assert "the service's predictions: well again" in helper.logged()
    counts = all_counted(helper.counts())
    assert (counts["unanswered"], counts["hinted_short"], counts["unhinted"]) == (1, 2, 1)


def test_reports_counters_to_the_service(mount: Path, hinting: Hinting, service: Answering) -> None:
    hinting(mount, f"--service={service.url}", "--report-seconds=0.1")
    hinted(made(mount / "a.tmp"), SHORT)

    def reported() -> bool:
        last = json.loads(service.reports[-1]) if service.reports else {"counters": {}}
        counters = last["counters"]
        return bool(counters.get("helper_hinted_short") == 1 and counters["hints"] == 1)

    eventually(reported, "the counters are reported")
    assert json.loads(service.reports[-1])["device"] == str(mount)


def test_without_privileges_it_says_which_it_lacks_and_exits_with_77(mount, program, place):
    command = [str(program), f"--write-life={mount}", "--unmeasured"]
    shutil.copy(program, place / "helper")
    place.chmod(0o755)
    command[0] = str(place / "helper")
    done = subprocess.run(command, user=65534, capture_output=True, text=True)
    assert done.returncode == 77
    assert "need CAP_SYS_ADMIN, CAP_DAC_READ_SEARCH, CAP_FOWNER, which" in done.stderr
    setpriv = [needs.program("setpriv", "util-linux"), "--bounding-set=-fowner"]
    done = subprocess.run([*setpriv, *command], capture_output=True, text=True)
    assert done.returncode == 77
    assert "need CAP_FOWNER, which" in done.stderr


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--write-life={place}/none", "--unmeasured"], "none: No such file"),
        (["--write-life={place}/image", "--unmeasured"], "image: Not a directory"),
        (["--write-life=/proc", "--unmeasured"], "/proc: expected a file system that NFS could"),
        (["--write-life={mount}"], "with --written and --moved, or say --unmeasured"),
        (["--write-life={mount}", "--unmeasured", "--image={place}/none"], "/none: No such file"),
        (
            ["--write-life={mount}", "--written={place}/image", "--moved={place}/image"],
            "image: expected a number, found",
        ),
        (
            ["--write-life={mount}", "--unmeasured", "--state={place}/image"],
            "image: expected ident",
        ),
    ],
)
def test_reports_why_files_cannot_be_hinted(options, why, mount, program, place, monkeypatch):
    (place / "image").write_text("no image\n")
    given = [option.format(place=place, mount=mount) for option in options]
    done = subprocess.run([str(program), *given], capture_output=True, text=True, timeout=60)
    assert (done.returncode, why in done.stderr) == (1, True), done.stderr


class Cleaner(threading.Thread):
    """What a file system says of a cleaner that moves half as much again of what has hints."""

    def __init__(self, mount: Path, place: Path) -> None:
        super().__init__(daemon=True)
        self.mount, self.over = mount, threading.Event()
        self.written, self.moved = place / "written", place / "moved"
        self.say(0, 0)

    def say(self, written: int, moved: int) -> None:
        for path, number in ((self.written, written), (self.moved, moved)):
            beside = path.with_suffix(".new")
            beside.write_text(f"{number}\n")
            beside.replace(path)

    def run(self) -> None:
        written = moved = 0
        while not self.over.is_set():
            file = made(self.mount / f"{written}.tmp")
            self.over.wait(0.01)
            written += 1000
            moved += 300 if hint_of(file) else 200
            file.unlink()
            self.say(written, moved)


def test_hints_that_make_the_cleaner_move_more_switch_themselves_off_and_stay_off(
    mount, hinting, place
):
    cleaner, state = Cleaner(mount, place), place / "state"
    options = [f"--written={cleaner.written}", f"--moved={cleaner.moved}"]
    options += [f"--state={state}", "--trial-seconds=0.3"]
    helper = hinting(mount, *options, measured=True)
    cleaner.start()
    try:
        eventually(lambda: "hints do harm and are off" in helper.logged(), "it is logged", 240)
    finally:
        cleaner.over.set()
        cleaner.join()
    assert json.loads(state.read_text())["harm"] is True
    after = made(mount / "after.tmp")
    counts = all_counted(helper.counts())
    assert hint_of(after) == 0
    assert counts["rounds"] >= 4
    assert 0 < counts["withheld"] < counts["hinted_short"]
    again = hinting(mount, *options, measured=True)
    assert f"remove {state} and restart" in again.logged()
    made(mount / "again.tmp")
    counts = again.counts()
    assert (counts["hinted_short"], counts["harm"]) == (0, 1)


def test_a_trial_without_counters_is_void_and_hints_go_on(mount, hinting, place):
    for name in ("written", "moved"):
        (place / name).write_text("0\n")
    options = [f"--{name}={place / name}" for name in ("written", "moved")]
    helper = hinting(mount, *options, "--trial-seconds=0.01", measured=True)
    (place / "moved").unlink()
    eventually(lambda: "moved: No such file" in helper.logged(), "it is logged")

    def once_hinted() -> bool:
        path = mount / f"{time.monotonic_ns()}.tmp"
        made(path)
        time.sleep(0.01)
        return hint_of(path) == SHORT

    eventually(once_hinted, "files are hinted")
    assert helper.counts()["rounds_void"] > 0


class Load(threading.Thread):
    """Makes, writes, reads, renames and removes files, and keeps what went wrong."""

    def __init__(self, folder: Path, seed: int) -> None:
        super().__init__(daemon=True)
        self.folder, self.random = folder, random.Random(seed)
        self.over, self.wrong, self.done = threading.Event(), "", 0

    def run(self) -> None:
        try:
            while not self.over.is_set():
                self.one()
                self.done += 1
        except Exception as error:  # whatever it is, the test is to fail by it
            self.wrong = repr(error)

    def one(self) -> None:
        content = self.random.randbytes(self.random.randrange(20_000))
        ending = self.random.choice(["tmp", "log", "txt", "iso", "o"])
        path, moved = self.folder / f"{self.done}.{ending}", self.folder / "moved"
        path.write_bytes(content)
        path.replace(moved)
        assert moved.read_bytes() == content
        if self.done % 3 == 0:
            moved.unlink()


def test_a_helper_that_is_killed_at_random_leaves_the_file_system_as_it_is(anywhere, hinting):
    loads = []
    for seed in range(2):
        folder = anywhere / str(seed)
        folder.mkdir()
        loads.append(Load(folder, seed))
    for load in loads:
        load.start()
    random_ = random.Random(0)
    for _ in range(10):
        helper = hinting(anywhere)
        before = [load.done for load in loads]
        goal = random_.randrange(1, 300)
        eventually(
            lambda before=before, goal=goal: sum(load.done for load in loads) - sum(before) > goal,
            "the load goes on",
        )
        helper.end(signal.SIGKILL)
        after = [load.done for load in loads]
        eventually(
            lambda after=after: all(
                load.wrong or load.done > done for load, done in zip(loads, after, strict=True)
            ),
            "the load goes on without it",
        )
    for load in loads:
        load.over.set()
        load.join()
    assert [load.wrong for load in loads] == ["", ""]
    helper = hinting(anywhere)
    hinted(made(anywhere / "a.tmp"), SHORT)
    assert all_counted(helper.counts())["overflows"] == 0
