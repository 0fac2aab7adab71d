import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codemods.discovery import discover, python_files

HIT = b"import jax\njax.pure_callback\n"
MISS = b"print('nothing here')\n"


def make(root: Path, *files: str, content: bytes = HIT) -> None:
    for file in files:
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def found(*paths: Path | str, root: Path | None = None) -> list[str]:
    """The candidates' paths, relative to `root`; nothing may have failed."""
    discovery = discover([Path(path) for path in paths])
    assert not discovery.failures
    return [str(c.path.relative_to(root) if root else c.path) for c in discovery.candidates]


def failures(*paths: Path) -> list[str | None]:
    return [failure.error for failure in discover(paths).failures]


def git(root: Path, *arguments: str) -> str:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    command = ["git", "-c", "core.quotepath=off", *arguments]
    return subprocess.run(
        command, cwd=root, check=True, capture_output=True, text=True, env=environment
    ).stdout


needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


# ------------------------------------------------------------------------------- which files


def test_a_folder_gives_its_python_files_in_order(tmp_path):
    make(tmp_path, "b.py", "a/z.py", "a/b/c.pyw", "a.py", "a-b/x.py")
    assert found(tmp_path, root=tmp_path) == ["a/b/c.pyw", "a/z.py", "a-b/x.py", "a.py", "b.py"]


def test_only_files_with_the_word_are_candidates_but_all_are_counted(tmp_path):
    make(tmp_path, "hit.py")
    make(tmp_path, "miss.py", "empty/miss.py", content=MISS)
    discovery = discover([tmp_path])
    assert [candidate.path.name for candidate in discovery.candidates] == ["hit.py"]
    assert discovery.candidates[0].data == HIT
    assert discovery.scanned == 3


def test_other_suffixes_are_left_alone_in_a_folder_but_taken_by_name(tmp_path):
    make(tmp_path, "script", "notes.txt", "stub.pyi", "x.PY")
    assert found(tmp_path) == []
    assert found(tmp_path / "script", tmp_path / "notes.txt", root=tmp_path) == ["notes.txt", "script"]


def test_an_empty_folder_has_nothing(tmp_path):
    discovery = discover([tmp_path])
    assert (discovery.candidates, discovery.failures, discovery.scanned) == ((), (), 0)


def test_a_folder_called_like_a_file_is_walked(tmp_path):
    make(tmp_path, "package.py/inner.py")
    assert found(tmp_path, root=tmp_path) == ["package.py/inner.py"]


@pytest.mark.parametrize("spelling", [".", "pkg", "./pkg", "pkg/", "pkg/../pkg", "pkg/a.py"])
def test_relative_paths_stay_relative(tmp_path, monkeypatch, spelling):
    make(tmp_path, "pkg/a.py")
    monkeypatch.chdir(tmp_path)
    (path,) = found(spelling)
    assert not os.path.isabs(path)
    assert os.path.samefile(path, "pkg/a.py")
    assert not path.startswith("./")


# ------------------------------------------------------------------------------- each file once


def test_a_path_given_twice_is_read_once(tmp_path):
    make(tmp_path, "a.py")
    discovery = discover([tmp_path / "a.py", tmp_path / "a.py", tmp_path, tmp_path])
    assert len(discovery.candidates) == discovery.scanned == 1


def test_a_folder_inside_another_given_one_is_walked_once(tmp_path):
    make(tmp_path, "pkg/a.py", "pkg/sub/b.py")
    assert found(tmp_path / "pkg" / "sub", tmp_path, root=tmp_path) == ["pkg/a.py", "pkg/sub/b.py"]


def test_two_spellings_of_a_file_are_one(tmp_path, monkeypatch):
    make(tmp_path, "pkg/a.py")
    monkeypatch.chdir(tmp_path)
    assert found("pkg/a.py", "pkg/../pkg/a.py", tmp_path) == ["pkg/a.py"]


def test_a_link_to_a_file_is_the_file(tmp_path):
    make(tmp_path, "pkg/real.py", "elsewhere/outside.py")
    (tmp_path / "pkg" / "alias.py").symlink_to("real.py")
    (tmp_path / "pkg" / "outside.py").symlink_to(tmp_path / "elsewhere" / "outside.py")
    names = found(tmp_path / "pkg", root=tmp_path / "pkg")
    assert len(names) == 2
    assert "outside.py" in names


# ------------------------------------------------------------------------------- left out


@pytest.mark.parametrize(
    "folder",
    [
        ".git", ".hg", ".venv", "venv", ".tox", ".nox", "node_modules", "build", "dist", "__pypackages__",
        ".eggs", "lib/site-packages", "bufcb.egg-info", "__pycache__", ".ruff_cache",
    ],
)  # fmt: skip
def test_folders_of_tools_and_of_other_peoples_code_are_left_out(tmp_path, folder):
    make(tmp_path, f"{folder}/a.py", f"{folder}/deep/b.py", "own.py")
    assert found(tmp_path, root=tmp_path) == ["own.py"]


def test_a_left_out_folder_is_walked_when_named(tmp_path):
    make(tmp_path, "build/a.py", ".venv/lib/site-packages/pkg/a.py")
    assert found(tmp_path / "build") == [str(tmp_path / "build" / "a.py")]
    assert len(found(tmp_path / ".venv" / "lib" / "site-packages" / "pkg")) == 1
    assert len(found(tmp_path / "build" / "a.py")) == 1


def test_a_package_called_build_is_no_build_product(tmp_path):
    make(tmp_path, "src/build/__init__.py", "src/build/a.py", "build/lib/a.py")
    assert found(tmp_path, root=tmp_path) == ["src/build/__init__.py", "src/build/a.py"]


@pytest.mark.parametrize("marker", ["pyvenv.cfg", "conda-meta/history"])
def test_an_environment_of_any_name_is_left_out_unless_named(tmp_path, marker):
    make(tmp_path, f"my-env/{marker}", "my-env/lib/a.py", "own.py")
    assert found(tmp_path, root=tmp_path) == ["own.py"]
    assert found(tmp_path / "my-env", root=tmp_path) == ["my-env/lib/a.py"]


def test_links_to_folders_are_not_followed_so_that_no_loop_ends_the_walk(tmp_path):
    make(tmp_path, "pkg/a.py", "other/b.py")
    (tmp_path / "pkg" / "loop").symlink_to(tmp_path / "pkg")
    (tmp_path / "pkg" / "up").symlink_to("..")
    (tmp_path / "pkg" / "other").symlink_to(tmp_path / "other")
    assert found(tmp_path / "pkg", root=tmp_path) == ["pkg/a.py"]


def test_a_link_to_a_folder_is_followed_when_named(tmp_path):
    make(tmp_path, "real/a.py")
    (tmp_path / "link").symlink_to("real")
    assert found(tmp_path / "link", root=tmp_path) == ["link/a.py"]
    assert len(found(tmp_path / "link", tmp_path)) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_what_is_no_file_is_never_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the path of a socket has to be short
    make(tmp_path, "a.py")
    os.mkfifo("pipe.py")
    (tmp_path / "broken.py").symlink_to("nowhere.py")
    (tmp_path / "self.py").symlink_to("self.py")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.py")
        assert found(".") == ["a.py"]


# ------------------------------------------------------------------------------- failures


def test_a_missing_path_fails_and_the_rest_goes_on(tmp_path):
    make(tmp_path, "a.py")
    discovery = discover([tmp_path / "nope.py", tmp_path / "a.py", tmp_path / "nor" / "this"])
    assert [failure.error for failure in discovery.failures] == [
        f"{tmp_path}/nope.py: does not exist",
        f"{tmp_path}/nor/this: does not exist",
    ]
    assert [failure.path for failure in discovery.failures] == [
        tmp_path / "nope.py",
        tmp_path / "nor" / "this",
    ]
    assert len(discovery.candidates) == 1


def test_a_broken_link_that_is_named_fails(tmp_path):
    (tmp_path / "broken.py").symlink_to("nowhere.py")
    assert failures(tmp_path / "broken.py") == [f"{tmp_path}/broken.py: does not exist"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_that_is_named_fails_instead_of_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe.py")
    assert failures(tmp_path / "pipe.py") == [f"{tmp_path}/pipe.py: is neither a file nor a folder"]


def test_a_path_with_a_null_byte_fails():
    assert failures(Path("a\0b.py")) == ["a\0b.py: is not a valid path"]


def test_what_may_not_be_read_fails_and_the_rest_goes_on(tmp_path, monkeypatch):
    make(tmp_path, "closed/a.py", "secret.py", "open.py")
    real_scandir, real_open = os.scandir, open
    denied = PermissionError(13, "Permission denied")

    # Root, which often runs tests, may read everything: hence no `chmod`.
    def scandir(path):
        if str(path).endswith("closed"):
            raise denied
        return real_scandir(path)

    def opened(path, *arguments, **keywords):
        if str(path).endswith("secret.py"):
            raise denied
        return real_open(path, *arguments, **keywords)

    monkeypatch.setattr(os, "scandir", scandir)
    monkeypatch.setattr("builtins.open", opened)
    discovery = discover([tmp_path])
    assert [failure.error for failure in discovery.failures] == [
        f"{tmp_path}/closed: cannot be read: Permission denied",
        f"{tmp_path}/secret.py: cannot be read: Permission denied",
    ]
    assert [candidate.path.name for candidate in discovery.candidates] == ["open.py"]
    assert discovery.scanned == 1


def test_a_file_that_does_not_fit_into_memory_fails(tmp_path, monkeypatch):
    make(tmp_path, "huge.py")

    def opened(path, *arguments, **keywords):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("builtins.open", opened)
        assert failures(tmp_path) == [f"{tmp_path}/huge.py: cannot be read: not enough memory"]


def test_a_name_that_is_no_utf8_is_found(tmp_path):
    name = b"caf\xe9.py"
    try:
        (tmp_path / os.fsdecode(name)).write_bytes(HIT)
    except OSError:
        pytest.skip("the file system takes valid names only")
    (candidate,) = discover([tmp_path]).candidates
    assert os.fsencode(candidate.path.name) == name


# ------------------------------------------------------------------------------- .gitignore


def test_gitignore_of_the_folder_and_of_those_below(tmp_path):
    make(tmp_path, "a.py", "gen.py", "sub/a.py", "sub/gen.py", "sub/own.py", "sub/deep/own.py")
    (tmp_path / ".gitignore").write_text("gen.py\n")
    (tmp_path / "sub" / ".gitignore").write_text("!gen.py\n/own.py\n")
    assert found(tmp_path, root=tmp_path) == ["a.py", "sub/a.py", "sub/deep/own.py", "sub/gen.py"]


def test_a_named_file_is_taken_although_ignored(tmp_path):
    make(tmp_path, "gen.py")
    (tmp_path / ".gitignore").write_text("*\n")
    assert found(tmp_path / "gen.py", root=tmp_path) == ["gen.py"]


def test_gitignore_above_counts_within_the_repository_only(tmp_path):
    make(tmp_path, "repo/src/a.py", "repo/src/gen.py", "repo/src/local.py")
    (tmp_path / ".gitignore").write_text("a.py\n")
    (tmp_path / "repo" / ".gitignore").write_text("/src/gen.py\n")
    everything = ["a.py", "gen.py", "local.py"]
    source = tmp_path / "repo" / "src"
    assert found(source, root=source) == everything
    make(tmp_path, "repo/.git/info/exclude", content=b"local.py\n")
    assert found(source, root=source) == ["a.py"]
    assert found(tmp_path / "repo", root=source) == ["a.py"]


def test_gitignore_above_counts_for_a_relative_path(tmp_path, monkeypatch):
    make(tmp_path, "src/a.py", "src/gen/b.py")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("/src/gen/\n")
    monkeypatch.chdir(tmp_path / "src")
    assert found(".") == ["a.py"]
    assert found("../src") == ["../src/a.py"]


def test_an_ignored_folder_is_walked_when_named(tmp_path):
    make(tmp_path, "gen/a.py", "gen/deep/b.py")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("/gen/\n")
    assert found(tmp_path) == []
    assert found(tmp_path / "gen", root=tmp_path) == ["gen/a.py", "gen/deep/b.py"]
    assert found(tmp_path / "gen" / "deep", root=tmp_path) == ["gen/deep/b.py"]


@pytest.mark.parametrize("line", ["!", "\\", "[", "\xff"])
def test_a_malformed_pattern_spoils_no_other(tmp_path, line):
    make(tmp_path, "a.py", "gen.py")
    (tmp_path / ".gitignore").write_bytes(f"{line}\ngen.py\n".encode("latin-1"))
    assert found(tmp_path, root=tmp_path) == ["a.py"]


def test_line_endings_and_a_byte_order_mark_are_no_part_of_a_pattern(tmp_path):
    make(tmp_path, "a.py", "gen.py", "lib.py")
    (tmp_path / ".gitignore").write_bytes(b"\xef\xbb\xbfgen.py\r\nlib.py\r\n")
    assert found(tmp_path, root=tmp_path) == ["a.py"]


def test_gitignore_may_be_a_folder(tmp_path):
    make(tmp_path, "a.py", ".gitignore/b.py")
    assert found(tmp_path, root=tmp_path) == [".gitignore/b.py", "a.py"]


PATTERNS = st.sampled_from(
    [
        "a", "a/", "/a", "/a/", "a/b", "**/b", "a/**", "a/**/b.py", "*.py", "!*.py", "!a", "!a/", "!/a/",
        "b*", "!b.py", "/*", "!/b", "*/", "!*/", "[ab].py", "?.py", "#a", "\\!a", "", "b.py ", "a/*", "!a/b",
        "/a/b/*", "*", "!c.py", "/b.py", "c.py",
    ]
)  # fmt: skip


@needs_git
@settings(max_examples=60)
@given(ignored=st.lists(st.lists(PATTERNS, max_size=4), min_size=4, max_size=4))
def test_gitignore_means_what_it_means_to_git(tmp_path_factory, ignored):
    """On random patterns in four nested folders, we find what Git would track."""
    root = tmp_path_factory.mktemp("repository")
    folders = ["", "a/", "a/b/", "b/"]
    for folder, patterns in zip(folders, ignored, strict=True):
        make(root, *(f"{folder}{name}.py" for name in "abc"))
        if patterns:
            (root / folder / ".gitignore").write_text("\n".join(patterns) + "\n")
    git(root, "init", "-q")
    listed = git(root, "ls-files", "--others", "--exclude-standard", "-z", "--", "*.py").split("\0")
    ours = python_files([root], lambda path, reason: pytest.fail(f"{path}: {reason}"))
    assert sorted(os.path.relpath(path, root) for path in ours) == sorted(filter(None, listed))


def test_notebooks_are_found_and_checkpoints_are_not(tmp_path):
    make(tmp_path, "analysis.ipynb", "stubs.pyi", ".ipynb_checkpoints/analysis-checkpoint.ipynb")
    assert found(tmp_path, root=tmp_path) == ["analysis.ipynb"]
    assert found(tmp_path / "analysis.ipynb", root=tmp_path) == ["analysis.ipynb"]


def test_notebooks_can_be_ignored(tmp_path):
    make(tmp_path, ".git/HEAD", "a.py", "a.ipynb")
    (tmp_path / ".gitignore").write_text("*.ipynb\n")
    assert found(tmp_path, root=tmp_path) == ["a.py"]


def test_a_pattern_that_is_no_pattern_matches_nothing(tmp_path):
    make(tmp_path, "a.py")
    (tmp_path / ".gitignore").write_text("[z-a].py\n" + "*" * 100_000 + "b.py\n")
    assert found(tmp_path, root=tmp_path) == ["a.py"]


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        pytest.param("*a" * 40 + "b*", "a" * 200 + ".py", id="stars"),
        pytest.param("**a" * 40 + "b*", "a" * 200 + ".py", id="pairs of stars"),
        pytest.param("?*" * 40 + "b*", "a" * 200 + ".py", id="question marks"),
        pytest.param("[a-c]*" * 40 + "d*", "a" * 200 + ".py", id="sets"),
        pytest.param("[!b]*" * 40 + "b*", "a" * 200 + ".py", id="negated sets"),
        pytest.param("a/**/" * 20 + "b.py", "a/" * 60 + "c.py", id="folders"),
        pytest.param("*a*/**/" * 12 + "b.py", "aa/" * 60 + "c.py", id="stars in folders"),
        pytest.param("*a" * 5000 + "b.py", "a.py", id="a long line"),
    ],
)
def test_a_pattern_takes_no_time_to_speak_of(tmp_path, pattern, path):
    """Matched as regular expressions usually are, each of these would take longer than the world is old."""
    make(tmp_path, path)
    (tmp_path / ".gitignore").write_text(f"{pattern}\n")
    program = "import sys; from codemods.discovery import discover; print(discover([sys.argv[1]]).scanned)"
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "1\n"


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("*a*b*c.py", ["abc.py", "xaybzc.py", "aabbcc.py"], ["acb.py", "ab.py"]),
        ("a*b*/c*d*e.py", ["ab/cde.py", "axby/cxdye.py"], ["a/bcde.py", "ab/c/de.py", "ab/ced.py"]),
        ("[ab]*[!c]*d.py", ["abd.py", "bxd.py"], ["cxd.py", "ad.py"]),
        ("a/**/b*c*/**/d.py", ["a/bc/d.py", "a/x/bxc/y/z/d.py"], ["a/b/c/d.py", "bc/d.py"]),
    ],
)
def test_several_stars_match_as_they_should(tmp_path, pattern, matching, others):
    make(tmp_path, *matching, *others)
    (tmp_path / ".gitignore").write_text(f"{pattern}\n")
    assert found(tmp_path, root=tmp_path) == sorted(others)
