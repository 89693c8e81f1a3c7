from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.errors import PatchError
from tenure.fixing.patch import FileChange, Hunk, Package, apply_change, read_patch, write_patch

BEFORE = b"".join(b"line %d\n" % number for number in range(1, 21))
AFTER = BEFORE.replace(b"line 3\n", b"line three\n").replace(b"line 17\n", b"line 17\ninserted\n")
PIECES = st.sampled_from([b"a", b"b\n", b"\n", b"c\r\n", b"\x0c", b"\xe4", b"--- x\n", b"@@ -1 +1 @@\n", b"+", b"d\n"])
TEXTS = st.lists(PIECES, max_size=30).map(b"".join)


@given(before=TEXTS, after=TEXTS)
def test_a_patch_of_two_texts_makes_the_one_of_the_other(before: bytes, after: bytes) -> None:
    patch = write_patch({"a b/x.py": (before, after)}, head=["made of anything"])

    if before == after:
        assert patch == b"# made of anything\n"
        return
    (change,) = read_patch(patch, name="fix.patch")
    assert change.path == "a b/x.py"
    assert apply_change(before, change, name="fix.patch") == after


def test_a_patch_is_read_with_the_package_and_version_that_it_is_for() -> None:
    package = Package("accelerate", "1.14.0")
    patch = write_patch({"lib/x.py": (b"a\n", b"b\n")}, packages={"lib/x.py": package})

    assert patch.startswith(b"# lib/x.py is of accelerate 1.14.0\n--- a/lib/x.py\n+++ b/lib/x.py\n")
    assert read_patch(patch, name="p") == (FileChange("lib/x.py", (Hunk(1, ("a\n",), ("b\n",)),), package),)


@pytest.mark.parametrize(
    "tool",
    [
        ["git", "apply"],
        pytest.param(["patch", "-p1", "-i"], marks=pytest.mark.skipif(not shutil.which("patch"), reason="no patch")),
    ],
    ids=lambda tool: tool[0],
)
def test_other_tools_take_it_too(tool: list[str], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_bytes(BEFORE)
    patch = write_patch({"train.py": (BEFORE, AFTER)}, head=["what `tenure fix train.py` proved"])
    (tmp_path / "fix.patch").write_bytes(patch)

    done = subprocess.run([*tool, "fix.patch"], cwd=tmp_path, capture_output=True, text=True)

    assert (done.returncode, (tmp_path / "train.py").read_bytes()) == (0, AFTER), done.stderr


@pytest.mark.parametrize(
    "head",
    [
        "--- train.py\t2026-11-20 10:00:00.000000000 +0000\n+++ train.py\t2026-11-20 10:00:01.000000000 +0000\n",
        "diff --git a/train.py b/train.py\nindex 0123456..789abcd 100644\n--- a/train.py\n+++ b/train.py\n",
        '--- "a/train.py"\n+++ "b/train.py"\n',
        "From: someone\n\nsome words\n---\n train.py | 2 +-\n\n--- a/train.py\n+++ b/train.py\n",
    ],
    ids=["diff -u", "git diff", "quoted", "mail"],
)
def test_patches_of_other_tools_are_read(head: str) -> None:
    text = head + "@@ -1,2 +1,2 @@ def f():\n-a\n+b\n c\n-- \n2.40\n"

    assert read_patch(text.encode(), name="p") == (FileChange("train.py", (Hunk(1, ("a\n", "c\n"), ("b\n", "c\n")),)),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "p holds no change"),
        ("nothing\nof the kind\n", "p holds no change"),
        ("--- a/x\n+++ b/x\n", "p:2: no hunk follows for x"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n", "p:4: the last hunk ends early"),
        ("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n?\n", "p:5: a hunk ends early"),
        ("--- a/x\n+++ b/x\n@@ what @@\n", "p:3: a hunk begins with"),
        ("@@ -1 +1 @@\n-a\n+b\n", "p:1: a hunk without the two lines that name its file"),
        ("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n", "p:2: files are neither made nor removed on import"),
        ("GIT binary patch\n", "p:1: a binary file cannot be edited on import"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n" * 2, "p changes x twice"),
    ],
)
def test_what_is_no_patch_is_one_line(text: str, message: str) -> None:
    with pytest.raises(PatchError) as refused:
        read_patch(text.encode(), name="p")

    assert str(refused.value).startswith(message)
    assert "\n" not in str(refused.value)


@given(st.binary(max_size=200) | st.lists(PIECES | st.just(b"+++ y\n"), max_size=20).map(b"".join))
def test_anything_is_read_or_refused(data: bytes) -> None:
    try:
        changes = read_patch(data, name="p")
        for change in changes:
            apply_change(data, change, name="p")
    except PatchError:
        pass


@pytest.mark.parametrize(
    ("there", "message"),
    [
        (BEFORE.replace(b"line 3\n", b"LINE 3\n"), "fix.patch does not fit train.py: line 3 has 'LINE 3' where"),
        (BEFORE.replace(b"line 1\n", b"line 0\nline 1\n"), "fix.patch does not fit train.py: line 1 has 'line 0'"),
        (BEFORE[:-30], "fix.patch does not fit train.py: line 17 has 'li' where the patch expects 'line 17'"),
        (b"", "fix.patch does not fit train.py: line 1 is behind its end"),
        (AFTER, "train.py has the change of fix.patch already (line 1); run it without"),
    ],
)
def test_a_file_of_another_version_is_refused_in_one_line(there: bytes, message: str) -> None:
    (change,) = read_patch(write_patch({"train.py": (BEFORE, AFTER)}), name="fix.patch")

    with pytest.raises(PatchError) as refused:
        apply_change(there, change, name="fix.patch")

    assert str(refused.value).startswith(message)
    assert "\n" not in str(refused.value)
