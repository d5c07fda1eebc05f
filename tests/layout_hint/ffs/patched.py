"""The patches on FreeBSD's own sources: do they apply, and what does the allocator do then?

Not collected by itself, since it needs those sources, of each release whose allocator is to be
run: `make freebsd-sources SOURCES="/usr/src-13.1 /usr/src-15"`.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from birthmark.cli import app
from birthmark.layout_hint.check_recording import AGREES, check
from tests.layout_hint.freebsd import FREEBSD, RELEASES, kernel, originals, run, series
from tests.layout_hint.test_lookup import zig

__all__ = ["kernel"]  # a fixture

FFS = Path(__file__).parent
MB = 1 << 20
MODES = {"preferred": 1, "data": 2, "reserved": 3}
ALLOCATOR, MOUNT = "sys/ufs/ffs/ffs_alloc.c", "sys/ufs/ufs/ufsmount.h"
BLOCKS = "sys/ufs/ffs/ffs_balloc.c"  # which asks the allocator for a file's blocks; not patched
VNOPS = "sys/ufs/ufs/ufs_vnops.c"


def content(path: Path) -> bytes:
    """Return a file as git has it: what CVS and svn put into it is taken out."""
    return re.sub(rb"\$FreeBSD: [^$]*\$", b"$FreeBSD$", path.read_bytes())


def given() -> dict[str, Path]:
    """Return where the sources of which release are: that whose allocator is there."""
    found = {}
    for place in os.environ.get("TEST_FREEBSD_SOURCES", "").split():
        sha256 = hashlib.sha256(content(Path(place) / ALLOCATOR)).hexdigest()
        known = [each for each in RELEASES if originals(each)[ALLOCATOR][1] == sha256]
        assert known, f"{place}/{ALLOCATOR} is of none of {', '.join(RELEASES)}"
        found[known[0]] = Path(place)
    return found


@dataclass(frozen=True)
class Sources:
    """The files of a release that the patches change, as they are and patched."""

    release: str
    before: Path
    after: Path


@pytest.fixture(scope="module", params=RELEASES)
def sources(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Sources:
    if not (places := given()):
        pytest.fail("expected TEST_FREEBSD_SOURCES, where FreeBSD's sources are")
    if request.param not in places:
        pytest.skip(f"no sources of FreeBSD {request.param} were given")
    folder, release = tmp_path_factory.mktemp("freebsd"), request.param
    before, after = folder / "before", folder / "after"
    for path in (ALLOCATOR, MOUNT, BLOCKS, VNOPS):
        if not (places[release] / path).exists():
            continue
        for side in (before, after):
            (side / path).parent.mkdir(parents=True, exist_ok=True)
            (side / path).write_bytes(content(places[release] / path))
    for patch in series(release):
        excluded = [] if (after / VNOPS).exists() else [f"--exclude={VNOPS}"]
        run("git", "apply", *excluded, str(patch), cwd=str(after))
    return Sources(release, before, after)


def test_the_sources_are_those_that_the_patches_were_made_for(sources: Sources) -> None:
    for path, (blob, sha256) in originals(sources.release).items():
        found = (sources.before / path).read_bytes()
        assert hashlib.sha256(found).hexdigest() == sha256, path
        assert hashlib.sha1(b"blob %d\0" % len(found) + found).hexdigest() == blob, path


def test_git_am_and_patch_without_fuzz_make_the_same_of_all_files(
    sources: Sources, tmp_path: Path
) -> None:
    for path in (ALLOCATOR, MOUNT, VNOPS):
        assert (sources.before / path).read_bytes() != (sources.after / path).read_bytes()
    made = {}
    for way in ("am", "patch"):
        shutil.copytree(sources.before, tmp_path / way)
        git = ("git", "-C", str(tmp_path / way), "-c", "user.name=a", "-c", "user.email=a@b")
        run(*git, "init", "--quiet")
        run(*git, "add", ".")
        run(*git, "commit", "--quiet", "-m", "the release")
        if way == "am":
            run(*git, "am", "--quiet", *map(str, series(sources.release)))
        else:
            whole = "".join(patch.read_text() for patch in series(sources.release))
            run(
                "patch",
                "-p1",
                "--fuzz=0",
                "--no-backup-if-mismatch",
                cwd=str(tmp_path / way),
                input=whole,
            )
        files = sorted((tmp_path / way / "sys").rglob("*.[ch]"))
        made[way] = [each.read_bytes() for each in files]
    assert made["am"] == made["patch"]
    assert (sources.after / "sys/ufs/ffs/ffs_hint.h").read_text() == (
        FREEBSD / "ffs_hint.h"
    ).read_text()


# In what FreeBSD 13.1 declares otherwise than the headers that zig has.
BACK = {
    "__enum_uint8(vtype), struct workhead *,\n\t    uint64_t);": (
        "enum vtype, struct workhead *,\n\t    u_long);"
    ),
    "struct vnode *, uint64_t, int, struct buf **": "struct vnode *, u_int, int, struct buf **",
    "struct workhead *, bool);": "struct workhead *);",
    "uint64_t ffs_blkrelease_start": "u_long ffs_blkrelease_start",
    "finish(struct ufsmount *, uint64_t)": "finish(struct ufsmount *, u_long)",
}

# The sizes that newfs takes for 40 GB, of fewer groups: FreeBSD 15's of UFS2, 4.8's of UFS1.
DEFAULTS = {
    2: {"FPG": 160056, "IPG": 80128, "FRAGMENT": 4096, "METASPACE": 6400},
    1: {"FPG": 91136, "IPG": 22400, "FRAGMENT": 2048, "METASPACE": 0},
}


@dataclass(frozen=True)
class Programs:
    """Programs that FFS's allocator runs in."""

    release: str
    before: Path  # as it is
    after: Path  # patched
    setups: dict[int, Path]  # patched, on a default file system of each version
    crash: Path  # patched, with soft updates


@pytest.fixture(scope="module")
def programs(
    kernel: list[str], sources: Sources, tmp_path_factory: pytest.TempPathFactory
) -> Programs:
    folder = tmp_path_factory.mktemp("allocators")
    headers = Path(zig()[0]).parent / "lib/libc/include/generic-freebsd/ufs"
    shutil.copytree(headers, folder / "ufs")
    # as in GENERIC, and in ffs_balloc.c, too, which gives quotas back, but lacks opt_quota.h
    more = ["-DQUOTA"]
    if sources.release == "13.1":
        extern = folder / "ufs/ffs/ffs_extern.h"
        text = extern.read_text()
        for newer, older in BACK.items():
            assert newer in text
            text = text.replace(newer, older)
        extern.write_text(text)
        # as the type is called in later releases
        more += ["-DRELEASE_13", "-Dvtype=enum_vtype_uint8"]
    for path in ("ufs/ufs/ufsmount.h", "ufs/ffs/ffs_hint.h"):
        shutil.copy(sources.after / "sys" / path, folder / path)
    (folder / "opt_quota.h").touch()
    arguments = "void *a_desc; struct vnode *a_vp; struct cluster_save *a_buflist;"
    (folder / "vnode_if.h").write_text(
        f"struct cluster_save; struct vop_reallocblks_args {{ {arguments} }};\n"
        "int VOP_UNLOCK(struct vnode *);\n"
    )
    # before the empty ones that the module makes do with
    compiler = [*kernel[:-1], f"-I{folder}", kernel[-1], "-w", *more]

    def built(name: str, side: Path, driver: str, sizes: list[str]) -> Path:
        parts = ("host", "driver", "kernel", "alloc", "blocks")
        objects = [str(folder / f"{name}-{part}.o") for part in parts]
        host = ("cc", "-O1", "-fno-pie", "-fno-builtin", *sizes, "-c")
        for source, out in zip(("host.c", driver), objects, strict=False):
            run(*host, str(FFS / source), "-o", out)
        patched = ["-DPATCHED"] if side == sources.after else []
        own = (FFS / "kernel.c", side / ALLOCATOR, side / BLOCKS)
        for source, out in zip(own, objects[2:], strict=True):
            run(*compiler, *patched, *sizes, "-c", str(source), "-o", out)
        # what is never called there is left undefined
        link = ["-no-pie", "-static", "-Wl,--unresolved-symbols=ignore-all"]
        run("cc", *link, *objects, "-o", str(folder / name))
        return folder / name

    setups = {}
    for version, sizes in DEFAULTS.items():
        given = [
            "-DGROUPS=3",
            "-DHOT_BLOCKS=256",
            *(f"-D{name}={size}" for name, size in sizes.items()),
        ]
        setups[version] = built(f"setup{version}", sources.after, "setup.c", given)
    return Programs(
        sources.release,
        built("before", sources.before, "driver.c", []),
        built("after", sources.after, "driver.c", []),
        setups,
        built("crash", sources.after, "crash.c", []),
    )


@dataclass(frozen=True)
class Region:
    """A region of the small file system that ``driver.c`` fills."""

    start: int
    length: int
    inodes: int = 0


NONE = Region(0, 0)
# UFS1's first bytes, as the thesis has them; then the first inodes, and data behind the tables, of
# a group in the middle, of either version
THESIS = [Region(0, MB // 2), Region(0, MB), Region(0, 4 * MB)]
BASE = 2 * 2048 * 2048
SPLIT = [Region(BASE + 264 * 2048, MB // 4, 64), Region(BASE + 264 * 2048, MB, 300)]
REGIONS = [(1, region) for region in THESIS + SPLIT] + [(2, region) for region in SPLIT]


def worked(
    program: Path,
    release: str,
    seed: int,
    version: int,
    region: Region = NONE,
    mode: int = 0,
    wild: int = 0,
) -> tuple[str, list[int]]:
    """Return a recording of 40,000 operations, and what came of them."""
    kernel = 15 if release == "15" else 14
    numbers = (seed, version, kernel, region.start, region.length, region.inodes, mode, wild, 40000)
    done = subprocess.run([str(program), *map(str, numbers)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout, [int(number) for number in done.stderr.split("\n")[-2].split()]


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_without_a_region_the_patched_allocator_answers_as_the_one_before(
    programs: Programs, seed: int, version: int
) -> None:
    before, after = (
        worked(program, programs.release, seed, version)
        for program in (programs.before, programs.after)
    )
    assert before == after
    assert min(after[1][:2]) > 0  # at times there was no space left, and no inode


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("version", "region"), REGIONS)
def test_with_a_region_the_patched_allocator_stays_consistent_and_gives_all_space(
    programs: Programs, version: int, region: Region, mode: str
) -> None:
    for seed, wild in ((1, 0), (2, 1), (3, 1)):
        counts = worked(programs.after, programs.release, seed, version, region, MODES[mode], wild)
        space, none, inodes, others, blocks, _, placed, put, no_inode, no_block, *more = counts[1]
        indirect, moved, limited, claimed = more
        assert min(indirect, moved) > 0
        assert not wild or min(limited, claimed) > 0
        assert min(space, none, no_inode, no_block) > 0  # each was full at times
        if not wild:
            assert inodes == placed + others  # every inode was reported, or not hinted
        assert put <= blocks or wild


def test_others_are_kept_out_of_what_the_mode_says_until_there_is_nothing_else(
    programs: Programs,
) -> None:
    found = {}
    for mode, number in MODES.items():
        counts = worked(programs.after, programs.release, 1, 1, Region(0, 4 * MB), number)[1]
        found[mode] = {"inodes": counts[3], "blocks": counts[5], "followed": counts[6]}
    preferred, data, reserved = found.values()
    assert data["blocks"] < preferred["blocks"] * 2 / 3
    assert reserved["blocks"] < preferred["blocks"] * 2 / 3
    assert data["inodes"] > preferred["inodes"] / 2
    assert reserved["inodes"] < preferred["inodes"] / 2
    assert reserved["followed"] > max(preferred["followed"], data["followed"])


# Soft updates.


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("version", "region"), REGIONS)
def test_a_crash_between_the_steps_of_soft_updates_leaves_nothing_but_what_nobody_has(
    programs: Programs, version: int, region: Region, mode: str
) -> None:
    for seed in (1, 2):
        numbers = (seed, version, region.start, region.length, region.inodes, MODES[mode])
        found = run(str(programs.crash), *map(str, numbers)).split()
        held_back, placed, full, moved, followed = map(int, found)
        assert min(held_back, placed, full, moved, followed) > 0


# Default file systems, set up as the documentation says.


@dataclass(frozen=True)
class Tally:
    """What became of things that are hot, while the region had room for them."""

    asked: int
    placed: int


def set_up(program: Path, version: int, image: Path, size: str) -> list[str]:
    """Return the bytes and inodes that ``birthmark layout region`` says suit a new file system."""
    run(str(program), str(version), str(image))
    done = CliRunner().invoke(app, ["layout", "region", str(image), "--region", size])
    assert done.exit_code == 0, done.output
    options = done.stdout.split(" options ")[1].split()
    assert options[::2] == ["--region-start", "--region-length", "--region-inodes"]
    return options[1::2]


@pytest.mark.parametrize("mode", ["data", "reserved"])
@pytest.mark.parametrize("size", ["4M", "64M"])
@pytest.mark.parametrize("version", DEFAULTS)
def test_on_a_default_file_system_what_is_hot_is_placed_and_nothing_else(
    programs: Programs, version: int, size: str, mode: str, tmp_path: Path
) -> None:
    program = programs.setups[version]
    region = set_up(program, version, tmp_path / "image", size)
    found = run(str(program), str(version), *region, str(MODES[mode])).split("\n")
    *hot, cold_inodes, cold_blocks = map(int, found[0].split())
    creates, blocks = Tally(*hot[:2]), Tally(*hot[2:])
    assert creates.asked > 100
    assert creates.placed >= 0.95 * creates.asked
    assert blocks.asked > 300  # of files' first 4 MB, with their indirect blocks
    assert blocks.placed >= 0.95 * blocks.asked
    assert cold_blocks == 0
    assert cold_inodes == 0 or mode == "data"
    *off, no_inode, too_large = map(int, found[1].split())
    assert off == [0, 0, 0]  # the module's settings match the region
    assert no_inode == 0
    assert (too_large > 0) == (version == 1)  # in 256 blocks of UFS2 there are 8 MB


def test_the_first_bytes_of_a_default_ufs2_are_no_region(programs: Programs) -> None:
    done = subprocess.run(
        [str(programs.setups[2]), "2", "0", str(4 * MB), "0", "2"], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "no region for hot files: it has no fragment for data" in done.stdout + done.stderr


# What the replay is made of answers the same (layout_hint/sim/src/ffs).


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("version", "region"), REGIONS)
def test_the_replay_answers_as_the_patched_allocator_in_inodes_and_blocks_and_states(
    programs: Programs, version: int, region: Region, mode: str, tmp_path: Path
) -> None:
    for seed in (1, 2, 3):
        recording = tmp_path / f"{mode}-{seed}.txt"
        found = worked(programs.after, programs.release, seed, version, region, MODES[mode])
        recording.write_text(found[0])
        assert (
            min(found[1][0], found[1][6], found[1][7]) > 0
        )  # full at times; inodes, blocks placed
        assert check(recording) == AGREES


@pytest.mark.parametrize("version", [1, 2])
def test_the_replay_answers_as_the_allocator_of_the_release_without_a_region(
    programs: Programs, version: int, tmp_path: Path
) -> None:
    recording = tmp_path / "stock.txt"
    recording.write_text(worked(programs.before, programs.release, 1, version)[0])
    assert check(recording) == AGREES
