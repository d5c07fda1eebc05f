"""The patches on FreeBSD 13.1's own sources: do they apply, and what does the allocator do then?

Not collected by itself, since it needs those sources: `make freebsd-sources SOURCES=/usr/src`.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from birthmark.layout_hint.check_recording import AGREES, check
from tests.layout_hint.freebsd import FREEBSD, PATCHES, kernel, originals, run
from tests.layout_hint.test_lookup import zig

__all__ = ["kernel"]  # a fixture

FFS13 = Path(__file__).parent
MB = 1 << 20
MODES = {"preferred": 1, "data": 2, "reserved": 3}


@pytest.fixture(scope="module")
def patched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return folders with the files of the release, as they are and patched."""
    if not (where := os.environ.get("TEST_FREEBSD_SOURCES")):
        pytest.fail("expected TEST_FREEBSD_SOURCES, where FreeBSD 13.1's sources are")
    folder = tmp_path_factory.mktemp("freebsd")
    before, after = folder / "before", folder / "after"
    for path, (blob, sha256) in originals().items():
        content = (Path(where) / path).read_bytes()
        content = re.sub(rb"\$FreeBSD: [0-9a-f]+ \$", b"$FreeBSD$", content)
        assert hashlib.sha256(content).hexdigest() == sha256, path
        assert hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest() == blob, path
        for side in (before, after):
            (side / path).parent.mkdir(parents=True, exist_ok=True)
            (side / path).write_bytes(content)
    for patch in PATCHES:
        run("git", "apply", str(patch), cwd=str(after))
    return before, after


def test_the_patches_apply_to_the_release_that_they_name(patched: tuple[Path, Path]) -> None:
    before, after = patched
    for path in originals():
        assert (before / path).read_bytes() != (after / path).read_bytes()
    assert (after / "sys/ufs/ffs/ffs_hint.h").read_text() == (FREEBSD / "ffs_hint.h").read_text()


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


@pytest.fixture(scope="module")
def allocators(
    kernel: list[str], patched: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    """Return programs that FFS's allocator runs in, as it is and patched."""
    before, after = patched
    folder = tmp_path_factory.mktemp("allocators")
    headers = Path(zig()[0]).parent / "lib/libc/include/generic-freebsd/ufs"
    shutil.copytree(headers, folder / "ufs")
    extern = folder / "ufs/ffs/ffs_extern.h"
    text = extern.read_text()
    for newer, older in BACK.items():
        assert newer in text
        text = text.replace(newer, older)
    extern.write_text(text)
    for path in ("ufs/ufs/ufsmount.h", "ufs/ffs/ffs_hint.h"):
        shutil.copy(after / "sys" / path, folder / path)
    (folder / "opt_quota.h").touch()
    arguments = "void *a_desc; struct vnode *a_vp; struct cluster_save *a_buflist;"
    (folder / "vnode_if.h").write_text(
        f"struct cluster_save; struct vop_reallocblks_args {{ {arguments} }};\n"
        "int VOP_UNLOCK(struct vnode *);\n"
    )
    # before the empty ones that the module makes do with; the type is called so in later releases
    kernel = [*kernel[:-1], f"-I{folder}", kernel[-1], "-w", "-Dvtype=enum_vtype_uint8"]
    driver = str(folder / "driver.o")
    run("cc", "-O1", "-fno-pie", "-fno-builtin", "-c", str(FFS13 / "driver.c"), "-o", driver)
    programs = []
    for name, side, more in (("before", before, []), ("after", after, ["-DPATCHED"])):
        objects = [str(folder / f"{name}-{part}.o") for part in ("alloc", "kernel")]
        sources = [side / "sys/ufs/ffs/ffs_alloc.c", FFS13 / "kernel.c"]
        for source, out in zip(sources, objects, strict=True):
            run(*kernel, *more, "-c", str(source), "-o", out)
        # what is never called there is left undefined
        link = ["-no-pie", "-static", "-Wl,--unresolved-symbols=ignore-all"]
        run("cc", *link, driver, *objects, "-o", str(folder / name))
        programs.append(folder / name)
    return programs[0], programs[1]


def worked(program: Path, *arguments: int) -> tuple[str, list[int]]:
    command = [str(program), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout, [int(number) for number in done.stderr.split()]


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_without_a_region_the_patched_allocator_answers_as_the_one_before(
    allocators: tuple[Path, Path], seed: int, version: int
) -> None:
    before, after = (worked(program, seed, version, 0, 0, 0, 40000) for program in allocators)
    assert before == after
    assert after[1][0] > 0  # it was full at times


@pytest.mark.parametrize("length", [MB // 2, MB, 4 * MB])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("version", [1, 2])
def test_with_a_region_the_patched_allocator_stays_consistent_and_gives_all_space(
    allocators: tuple[Path, Path], version: int, mode: str, length: int
) -> None:
    for seed in (1, 2, 3):
        _, counts = worked(allocators[1], seed, version, length, MODES[mode], 1, 40000)
        full, inodes, others, blocks, _, placed, put, no_inode, no_block = counts
        assert min(full, no_inode, no_block) > 0  # each was full at times
        assert inodes == placed + others  # all that is there was told, or not hinted
        assert put <= blocks


def test_others_are_kept_out_of_what_the_mode_says_until_there_is_nothing_else(
    allocators: tuple[Path, Path],
) -> None:
    found = {}
    for mode, number in MODES.items():
        counts = worked(allocators[1], 1, 1, 4 * MB, number, 0, 40000)[1]
        found[mode] = {"inodes": counts[2], "blocks": counts[4], "followed": counts[5]}
    preferred, data, reserved = found.values()
    assert data["blocks"] < preferred["blocks"] / 2
    assert reserved["blocks"] < preferred["blocks"] / 2
    assert data["inodes"] > preferred["inodes"] / 2
    assert reserved["inodes"] < preferred["inodes"] / 2
    assert reserved["followed"] > max(preferred["followed"], data["followed"])


# What the replay is made of answers the same (layout_hint/sim/src/ffs).


@pytest.mark.parametrize("length", [MB // 2, MB, 4 * MB])
@pytest.mark.parametrize("mode", MODES)
def test_the_replay_answers_as_the_patched_allocator_in_inodes_and_blocks_and_states(
    allocators: tuple[Path, Path], mode: str, length: int, tmp_path: Path
) -> None:
    for seed in (1, 2, 3):
        recording = tmp_path / f"{mode}-{length}-{seed}.txt"
        answers, counts = worked(allocators[1], seed, 1, length, MODES[mode], 0, 40000)
        recording.write_text(answers)
        assert min(counts[0], counts[5], counts[6]) > 0  # full at times; inodes, blocks placed
        assert check(recording) == AGREES


def test_the_replay_answers_as_the_allocator_of_the_release_without_a_region(
    allocators: tuple[Path, Path], tmp_path: Path
) -> None:
    recording = tmp_path / "stock.txt"
    recording.write_text(worked(allocators[0], 1, 1, 0, 0, 0, 40000)[0])
    assert check(recording) == AGREES
