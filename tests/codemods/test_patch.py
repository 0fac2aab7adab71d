"""Diffs and patches, applied by Git itself."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from codemods import cli, writing

BEFORE = """\
import jax
import numpy as np


def _f(x):
    return np.sin(x)


def run(x):
    return jax.pure_callback(_f, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
"""
FILES = {
    "plain.py": BEFORE.encode(),
    "pkg/deep/crlf.py": BEFORE.replace("\n", "\r\n").encode(),
    "pkg/no_newline.py": BEFORE.rstrip().encode(),
    "pkg/bom.py": b"\xef\xbb\xbf" + BEFORE.encode(),
    "pkg/latin.py": f"# coding: latin-1\n{BEFORE}# caf\xe9\n".encode("latin-1"),
    "pkg/form_feed.py": BEFORE.replace("\n\n\n", "\n\f\n\n").encode(),
    "pkg/returns_only.py": BEFORE.replace("\n", "\r").encode(),
    "pkg/with space.py": BEFORE.encode(),
    "pkg/caf\xe9 \u03bb.py": BEFORE.encode(),
    'pkg/quo"te\\.py': BEFORE.encode(),
    "pkg/tab\tand\nnewline.py": BEFORE.encode(),
    "pkg/ lead.py": BEFORE.encode(),
    "pkg/untouched.py": b"print()\n",
}


def git(*arguments: str, data: bytes | None = None, cwd: Path | None = None) -> bytes:
    """What Git prints, whatever the user's and the system's configuration."""
    command = ["git", "-c", "core.autocrlf=false", "-c", "apply.whitespace=nowarn", *arguments]
    done = subprocess.run(command, input=data, cwd=cwd, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def migrate(*arguments: str) -> Result:
    result = CliRunner().invoke(cli.migrate, arguments)
    assert result.exit_code == 0, result.output
    return result


def fill(folder: Path) -> None:
    for name, data in FILES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES}


@pytest.fixture(scope="module")
def expected(tmp_path_factory) -> dict[str, bytes]:
    """What `--write` makes of the files."""
    folder = tmp_path_factory.mktemp("written")
    fill(folder)
    migrate("--write", str(folder))
    found = contents(folder)
    assert [name for name in FILES if found[name] == FILES[name]] == ["pkg/untouched.py"]
    return found


@pytest.fixture
def repository(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git("init", "-q", cwd=folder)
    fill(folder)
    monkeypatch.chdir(folder)
    return folder


def only(expected: dict[str, bytes], start: str) -> dict[str, bytes]:
    """The files as they are when those below `start` alone are migrated."""
    return {name: expected[name] if name.startswith(start) else FILES[name] for name in FILES}


# ------------------------------------------------------------------------------- --patch


@pytest.mark.parametrize(
    ("made_in", "paths", "applied_in", "migrated"),
    [
        pytest.param(".", ["."], ".", "", id="top, top"),
        pytest.param(".", ["pkg"], ".", "pkg", id="a folder below"),
        pytest.param(".", ["."], "pkg", "pkg", id="top, but applied below: what is there"),
        pytest.param("pkg", ["."], "pkg", "pkg", id="below, below"),
        pytest.param("pkg", ["deep"], ".", "pkg/deep", id="below, top"),
        pytest.param("pkg/deep", ["../.."], ".", "", id="from far below, everything"),
        pytest.param("pkg/deep", ["../with space.py"], "pkg", "pkg/with space", id="a path that goes up"),
        pytest.param("..", ["repository"], "repository", "", id="outside"),
    ],
)
@pytest.mark.parametrize("absolute", [False, True], ids=["relative", "absolute"])
def test_git_applies_the_patch(
    repository, monkeypatch, expected, made_in, paths, applied_in, migrated, absolute, tmp_path
):
    monkeypatch.chdir(made_in)
    given = [str(Path(path).resolve()) if absolute else path for path in paths]
    migrate(*given, "--patch", str(tmp_path / "all.patch"))
    assert contents(repository) == FILES
    monkeypatch.chdir(repository.parent / applied_in if made_in == ".." else repository / applied_in)
    git("apply", "--check", str(tmp_path / "all.patch"))
    git("apply", str(tmp_path / "all.patch"))
    assert contents(repository) == only(expected, migrated)


def test_git_knows_the_patch_for_one_of_its_own(repository):
    """`--index` is strict about paths, and `--numstat` says what Git understood."""
    git("add", ".")
    migrate(".", "--patch", "all.patch")
    git("apply", "--index", "all.patch")
    listed = git("apply", "--numstat", "-z", "all.patch").decode().rstrip("\0").split("\0")
    assert sorted(row.split("\t", 2)[2] for row in listed) == sorted(FILES.keys() - {"pkg/untouched.py"})


def test_a_patch_of_what_was_written_takes_it_back(repository):
    result = migrate(".", "--write", "--patch", "all.patch")
    assert result.stdout == ""
    assert contents(repository) != FILES
    git("apply", "-R", "all.patch")
    assert contents(repository) == FILES


def test_a_patch_leaves_out_what_could_not_be_written(repository, expected):
    (repository / "plain.py").chmod(0o444)
    assert CliRunner().invoke(cli.migrate, [".", "--write", "--patch", "all.patch"]).exit_code == 2
    assert b"plain.py" not in Path("all.patch").read_bytes()
    assert contents(repository) == {**expected, "plain.py": FILES["plain.py"]}


def test_a_patch_comes_beside_the_report(repository):
    plain, patched = migrate("pkg"), migrate("pkg", "--patch", "all.patch")
    assert plain.stdout_bytes == patched.stdout_bytes != b""
    assert plain.stderr == patched.stderr
    assert migrate("pkg", "--format", "json", "--patch", "json.patch").stdout.startswith("{")
    assert Path("json.patch").read_bytes() == Path("all.patch").read_bytes()
    assert CliRunner().invoke(cli.migrate, ["pkg", "--check", "--patch", "check.patch"]).exit_code == 1
    assert Path("check.patch").read_bytes() == Path("all.patch").read_bytes()


def test_where_nothing_changes_the_patch_is_empty(repository):
    Path("all.patch").write_text("diff --git a/old.py b/old.py\n")
    migrate("pkg/untouched.py", "--patch", "all.patch")
    assert Path("all.patch").read_bytes() == b""


def test_without_a_repository_paths_are_relative_to_the_current_folder(tmp_path, monkeypatch, expected):
    fill(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    migrate(str(tmp_path / "pkg"), "--patch", "all.patch")
    git("apply", "all.patch")
    assert contents(tmp_path) == only(expected, "pkg")


def test_a_link_is_patched_where_it_leads(repository, expected):
    Path("link.py").symlink_to("pkg/with space.py")
    migrate("link.py", "--patch", "all.patch")
    git("apply", "all.patch")
    assert contents(repository) == only(expected, "pkg/with space")
    assert Path("link.py").is_symlink()


def test_a_repository_inside_another_is_patched_from_the_outer_one(repository, expected):
    git("init", "-q", "pkg")
    migrate("pkg", "--patch", "all.patch")
    git("apply", "all.patch")
    assert contents(repository) == only(expected, "pkg")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gone/all.patch", r"there is no folder .*gone"),
        ("pkg", "it is a folder"),
        ("plain.py", "it exists, and does not begin with 'diff --git '"),
    ],
)
@pytest.mark.parametrize("mode", ["--write", "--no-write"])
def test_a_patch_that_cannot_be_written_ends_the_run_before_it_does_anything(repository, name, reason, mode):
    result = CliRunner().invoke(cli.migrate, [".", mode, "--patch", name])
    assert (result.exit_code, result.stdout) == (2, "")
    assert re.match(rf"Error: {name}: cannot be written: {reason}", result.stderr)
    assert contents(repository) == FILES


def test_a_patch_that_fails_late_spoils_nothing_else(repository, monkeypatch, expected):
    def fail(path, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing, "save", fail)
    result = CliRunner().invoke(cli.migrate, [".", "--write", "--patch", "all.patch"])
    assert result.exit_code == 2
    assert result.stderr.startswith("error: all.patch: cannot be written: No space left on device\nrewrote ")
    assert contents(repository) == expected


def test_standard_output_is_no_file_for_a_patch(repository):
    result = CliRunner().invoke(cli.migrate, [".", "--patch", "-"])
    assert result.exit_code == 2 and "Invalid value for '--patch'" in result.stderr


def test_a_patch_gets_the_permissions_of_any_new_file(repository):
    Path("plain.txt").touch()
    migrate(".", "--patch", "all.patch")
    assert Path("all.patch").stat().st_mode == Path("plain.txt").stat().st_mode
    Path("all.patch").chmod(0o600)
    migrate(".", "--patch", "all.patch")
    assert Path("all.patch").stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="the system has no such device")
def test_a_patch_may_go_to_a_device(repository):
    migrate(".", "--patch", "/dev/null")
    assert not Path("/dev/null").is_file()


# ------------------------------------------------------------------------------- standard output


@pytest.mark.parametrize(
    ("folder", "path", "migrated"),
    [
        pytest.param(".", ".", "", id="top"),
        pytest.param(".", "pkg", "pkg", id="a folder below"),
        pytest.param("pkg", ".", "pkg", id="below"),
        pytest.param("pkg", "../pkg/deep", "pkg/deep", id="up and down again"),
        pytest.param(".", "./pkg/../plain.py", "plain", id="a detour"),
    ],
)
@pytest.mark.parametrize("absolute", [False, True], ids=["relative", "absolute"])
@pytest.mark.parametrize("program", [["git", "apply", "-"], ["patch", "-p1", "--binary", "-s"]])
def test_the_diff_on_standard_output_applies_in_the_current_folder(
    repository, monkeypatch, expected, folder, path, migrated, absolute, program
):
    if program[0] == "patch" and not shutil.which("patch"):
        pytest.skip("patch is not installed")
    monkeypatch.chdir(folder)
    diff = migrate(str(Path(path).absolute()) if absolute else path).stdout_bytes
    done = subprocess.run(program, input=diff, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert contents(repository) == only(expected, migrated)
