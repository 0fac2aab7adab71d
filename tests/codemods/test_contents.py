"""Words are looked for in files that are held, read again, or read piece by piece, and none is missed."""

from __future__ import annotations

import ast
import itertools
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemods import contents
from codemods.contents import Contents, contains, pieces
from codemods.discovery import discover
from codemods.project import Project
from codemods.uses import read_uses

SMALL_PIECE = 16


def written(folder: Path, **texts: str | bytes) -> list[str]:
    for name, text in texts.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return [str(folder / name) for name in texts]


@pytest.fixture(params=[0, 1 << 20], ids=["read again", "held"])
def room(request) -> int:
    return request.param


# ---------------------------------------------------------------------------------------- pieces


@pytest.mark.parametrize("overlap", [0, 1, 5])
@pytest.mark.parametrize("size", [0, 1, SMALL_PIECE - 1, SMALL_PIECE, SMALL_PIECE + 1, 5 * SMALL_PIECE])
def test_pieces_overlap_and_leave_nothing_out(monkeypatch, tmp_path, size, overlap):
    monkeypatch.setattr(contents, "_PIECE", SMALL_PIECE)
    data = bytes(range(size))
    (path,) = written(tmp_path, a=data)
    found = list(pieces(path, overlap))
    assert b"".join([*found[:1], *(piece[overlap:] for piece in found[1:])]) == data
    assert all(after[:overlap] == before[-overlap:] for before, after in itertools.pairwise(found) if overlap)


@pytest.mark.parametrize("position", range(2 * SMALL_PIECE))
def test_a_word_across_pieces_is_found(monkeypatch, tmp_path, room, position):
    monkeypatch.setattr(contents, "_PIECE", SMALL_PIECE)
    (path,) = written(tmp_path, a=b"." * position + b"word" + b"." * SMALL_PIECE)
    assert contains(path, b"word")
    assert Contents([path], room).containing(b"word") == [path]
    assert Contents([path], room).spelling(b"word") == [path]


def test_a_file_that_cannot_be_read_contains_nothing(tmp_path, room):
    gone, here = str(tmp_path / "gone"), *written(tmp_path, here="word")
    found = Contents([gone, here], room)
    assert found.spelling(b"word") == found.containing(b"word") == [here]
    with pytest.raises(FileNotFoundError):
        contains(gone, b"word")


def test_no_more_is_held_than_there_is_room_for(tmp_path):
    paths = written(tmp_path, a="word", b="word" * 2, c="word")
    found = Contents(paths, room=9)
    for path in paths:
        os.truncate(path, 0)
    assert found.containing(b"word") == [paths[0], paths[2]]


# ---------------------------------------------------------------------------------------- words


@pytest.mark.parametrize(
    "text",
    [
        "name", "(name)", "x.name", "name=1", "'name'", "a\nname\n", "\fname", "ü.name", "aüname", "nameü",
        r"'\nname'", r"'\x0aname'", r"'\u000aname'", r"'\U0000000aname'", r"'\0name'", r"'\12name'",
        r"'\012name'", r"'\N{SPACE}name'", "longer_name, name", "'0name'",
    ],
)  # fmt: skip
def test_a_name_is_spelled(tmp_path, room, text):
    paths = written(tmp_path, a=text)
    assert Contents(paths, room).spelling(b"name") == paths


@pytest.mark.parametrize(
    "text", ["", "a_name", "names", "name2", "rename", "_name_", "nam e", "NAME", "xnname"]
)
def test_a_longer_name_is_another_one(tmp_path, room, text):
    assert not Contents(written(tmp_path, a=text), room).spelling(b"name")


ESCAPES = st.sampled_from(
    ["\\n", "\\t", "\\x41", "\\101", "\\7", "\\u0041", "\\\\", "\\'", "\\N{BULLET}", "\\\n"]
)
WORDS = st.sampled_from(["name", "nam", "e", "x", "x0", "_", "0", "ü", ".", " ", "(", "{", "}", "#"])


@given(st.lists(ESCAPES | WORDS, max_size=8).map("".join), st.sampled_from(["", "r", "b", "f"]))
def test_whatever_a_string_spells_is_spelled_by_its_file(tmp_path_factory, text, prefix):
    code = f"x = {prefix}'{text}'\n"
    try:
        uses = read_uses(ast.parse(code))
    except SyntaxError:
        return
    paths = written(tmp_path_factory.getbasetemp(), spelled=code)
    if "name" in uses.spelled | uses.attributes and "name" in code:
        assert Contents(paths).spelling(b"name") == paths


def test_files_that_match_a_pattern(tmp_path, room, monkeypatch):
    paths = written(tmp_path, a="one", b="two", c="three" * 100)
    monkeypatch.setattr(contents, "_PIECE", SMALL_PIECE)
    found = Contents(paths, room)
    assert found.matching(re.compile(b"o$").search, paths) == [paths[1], paths[2]]
    assert found.matching(re.compile(b"o$").search, paths[:1]) == []


# ---------------------------------------------------------------------------------------- projects


def project(folder: Path, **others: str) -> Project:
    (folder / "pyproject.toml").touch()
    (folder / "m.py").write_text("import jax\n")
    for name, text in others.items():
        (folder / f"{name}.py").write_text(text)
    return Project.of([folder / "m.py"])


@pytest.mark.parametrize(
    "text",
    [
        "from m import jax",
        "import m\nm.jax.jit",
        "from pkg.m import (\n    a,  # from\n    jax,\n)",
        "from . import jax",
        "from .. import a, jax",
        "from \\\n . import (a, # ) from here\n  b,\n  jax)",
        "x = 'm.jax'",
        "from m import *",
    ],
)
def test_what_a_module_hands_on(tmp_path, text):
    assert project(tmp_path, other=text).reexported("jax", tmp_path / "m.py")


@pytest.mark.parametrize(
    "text",
    [
        "import jax\nimport m",
        "import jax\nfrom . import m",
        "from . import a\nimport jax",
        "from n import jax",
        "jax = m",
    ],
)
def test_what_a_module_does_not_hand_on(tmp_path, text):
    assert not project(tmp_path, other=text).reexported("jax", tmp_path / "m.py")


def test_only_files_that_may_take_a_name_are_parsed(tmp_path, monkeypatch):
    """Every file of a project may spell `jax`; those that could take it from this module are few."""
    parsed = []
    monkeypatch.setattr(
        "codemods.project.read_uses", lambda tree, stub: parsed.append(tree) or read_uses(tree)
    )
    found = project(
        tmp_path, **{f"other_{number}": "import jax\n" for number in range(20)}, user="from m import jax"
    )
    assert found.reexported("jax", tmp_path / "m.py")
    assert len(parsed) == 1


def test_a_file_too_large_to_be_looked_into_uses_what_it_spells(tmp_path, monkeypatch):
    monkeypatch.setattr("codemods.project._LARGEST_READ", 20)
    found = project(tmp_path, large=f"# _f, m, from m import *, {'x' * 20}")
    assert found.used_elsewhere("_f", tmp_path / "m.py") and found.reexported("jax", tmp_path / "m.py")
    assert not found.used_elsewhere("_g", tmp_path / "m.py")


def test_a_file_too_large_to_be_parsed_uses_every_word_in_it(tmp_path, monkeypatch):
    monkeypatch.setattr("codemods.project._LARGEST_PARSED", 20)
    found = project(tmp_path, large=f"# _f, {'x' * 20}")
    assert found.used_elsewhere("_f", tmp_path / "m.py")
    assert not found.reexported("jax", tmp_path / "m.py")


def test_parsed_modules_are_forgotten_when_they_have_become_many(tmp_path, monkeypatch):
    monkeypatch.setattr("codemods.project._REMEMBERED", 20)
    found = project(tmp_path, small="x = 1", large="x = 1  # and much more than that")
    small, large = (str(tmp_path / f"{name}.py") for name in ("small", "large"))
    first = found.module(small)
    found.forget()
    assert found.module(small) is first is not None
    found.module(large)
    found.forget()
    assert found.module(small) is not first


# ---------------------------------------------------------------------------------------- discovery


def test_a_large_file_without_the_word_is_read_piece_by_piece(tmp_path, monkeypatch):
    monkeypatch.setattr(contents, "_PIECE", SMALL_PIECE)
    (tmp_path / "a.py").write_text("x = 1\n" * 100)
    (tmp_path / "b.py").write_text("x = 1\n" * 100 + "pure_callback")
    found = discover([tmp_path])
    assert [candidate.path.name for candidate in found.candidates] == ["b.py"]
    assert found.scanned == 2 and not found.failures
