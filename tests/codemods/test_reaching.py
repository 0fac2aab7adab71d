"""Which bindings of a name may be what it means where it is read."""

from __future__ import annotations

import ast
import textwrap

import pytest

from codemods import names
from codemods.reaching import reaching

# The last read of `x`; the numbers are what may reach it.
PROGRAMS = {
    "bound again": ("""
        x = 1
        x = 2
        use(x)
    """, {2}),
    "bound again in a branch": ("""
        x = 1
        if c:
            x = 2
        use(x)
    """, {1, 2}),
    "bound again in the same branch": ("""
        if c:
            x = 1
            x = 2
        use(x)
    """, {2}),
    "bound further down": ("""
        x = 1
        use(x)
        x = 2
    """, {1}),
    "bound further down in a loop": ("""
        x = 1
        for c in d:
            use(x)
            x = 2
    """, {1, 2}),
    "bound again behind a continue": ("""
        for c in d:
            x = 1
            if c:
                continue
            x = 2
        use(x)
    """, {1, 2}),
    "bound again behind a break": ("""
        while c:
            x = 1
            if d:
                break
            x = 2
        use(x)
    """, {1, 2}),
    "bound again behind a continue, in front of the read": ("""
        for c in d:
            x = 1
            if c:
                continue
            x = 2
            use(x)
    """, {2}),
    "bound again behind a continue, in front of the read of the next run": ("""
        x = 0
        for c in d:
            use(x)
            x = 1
            if c:
                continue
            x = 2
    """, {0, 1, 2}),
    "bound again behind what may fail": ("""
        try:
            x = 1
            g()
            x = 2
        except ValueError:
            pass
        use(x)
    """, {1, 2}),
    "bound again behind what may fail, in front of the read": ("""
        try:
            x = 1
            g()
            x = 2
            use(x)
        except ValueError:
            pass
    """, {2}),
    "bound again in a function that a loop defines": ("""
        for c in d:
            def f():
                x = 1
                x = 2
                use(x)
            if c:
                break
    """, {2}),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_reaches_a_name_is_not_replaced_for_sure(name: str):
    text, expected = PROGRAMS[name]
    module = names.read(ast.parse(textwrap.dedent(text)))
    found = reaching(module.uses["x"][-1], module)
    assert {each.value.value for each in found if isinstance(each.value, ast.Constant)} == expected
