"""Which decorators leave a callback's arguments and results alone."""

from __future__ import annotations

import ast
import textwrap

import pytest

from codemods.names import read
from codemods.wrappers import opaque_decorators

HEADER = """\
import functools
import threading
import time
import typing
import jax
from functools import wraps
"""


def passes(text: str, position: int = 0) -> bool:
    """Whether all decorators of the function `f` in `text` pass through."""
    module = read(ast.parse(HEADER + textwrap.dedent(text)))
    (function,) = (n for n in ast.walk(module.tree) if isinstance(n, ast.FunctionDef) and n.name == "f")
    return not opaque_decorators(function, module, position)


def wrapper(body: str, signature: str = "*args, **kwargs", before: str = "") -> str:
    """A decorator around `f`, given what its inner function does."""
    inner = textwrap.indent(textwrap.dedent(body).strip("\n"), " " * 8)
    return (
        f"{before}\ndef wrap(fn):\n    @wraps(fn)\n    def inner({signature}):\n{inner}\n    return inner\n"
        "@wrap\ndef f(x): return x"
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def f(x): return x", id="none"),
        pytest.param("class C:\n    @staticmethod\n    def f(x): return x", id="staticmethod"),
        pytest.param("class C:\n    @classmethod\n    def f(cls, x): return x", id="classmethod"),
        pytest.param("class C(B):\n    @typing.override\n    def f(self, x): return x", id="override"),
        pytest.param("@wraps(g)\ndef f(x): return x", id="wraps"),
        pytest.param(wrapper("return fn(*args, **kwargs)"), id="a wrapper that only calls"),
        pytest.param(wrapper("result = fn(*args, **kwargs)\nreturn result"), id="a result in a variable"),
        pytest.param(wrapper("return fn(*args)", "*args"), id="without keywords"),
        pytest.param(
            wrapper(
                """
                start = time.perf_counter()
                result = fn(*args, **kwargs)
                print(fn.__name__, time.perf_counter() - start)
                return result
                """
            ),
            id="a timer",
        ),
        pytest.param(
            wrapper("try:\n    return fn(*args, **kwargs)\nfinally:\n    print('done')"), id="a finally"
        ),
        pytest.param(
            wrapper("with LOCK:\n    return fn(*args, **kwargs)", before="LOCK = threading.Lock()"),
            id="a lock",
        ),
        pytest.param(wrapper("inner.calls += 1\nreturn fn(*args, **kwargs)"), id="a counter"),
        pytest.param(
            "def wrap(label):\n    def decorate(fn):\n        def inner(*a, **k):\n            print(label)\n"
            "            return fn(*a, **k)\n        return inner\n    return decorate\n"
            "@wrap('f')\ndef f(x): return x",
            id="a decorator with arguments",
        ),
        pytest.param("def tag(fn):\n    fn.tag = 1\n    return fn\n@tag\ndef f(x): return x", id="a tag"),
    ],
)
def test_what_hands_everything_on_passes(text: str):
    assert passes(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("@jax.jit\ndef f(x): return x", id="jit"),
        pytest.param("@functools.cache\ndef f(x): return x", id="a cache"),
        pytest.param("@typechecked\ndef f(x): return x", id="unknown"),
        pytest.param("@wraps\n@typechecked\ndef f(x): return x", id="one of several"),
        pytest.param("@wrap()\ndef f(x): return x", id="unknown, called"),
        pytest.param("staticmethod = g\n@staticmethod\ndef f(x): return x", id="another staticmethod"),
        pytest.param(wrapper("print(args)\nreturn fn(*args, **kwargs)"), id="arguments are printed"),
        pytest.param(wrapper("return fn(*args[1:], **kwargs)"), id="arguments are changed"),
        pytest.param(wrapper("return fn(*args)"), id="keywords are dropped"),
        pytest.param(wrapper("return fn(*args, n=1, **kwargs)"), id="a keyword is added"),
        pytest.param(wrapper("return fn(1, *args, **kwargs)"), id="an argument is added"),
        pytest.param(wrapper("return [fn(*args, **kwargs)]"), id="the result is wrapped"),
        pytest.param(wrapper("return fn(*args, **kwargs).sum()"), id="the result is used"),
        pytest.param(
            wrapper("result = fn(*args, **kwargs)\nprint(result)\nreturn result"), id="the result is printed"
        ),
        pytest.param(wrapper("result = fn(*args, **kwargs)\nresult = 1\nreturn result"), id="another result"),
        pytest.param(wrapper("fn(*args, **kwargs)\nreturn 1"), id="the result is dropped"),
        pytest.param(wrapper("return fn(*args, **kwargs) or fn(*args, **kwargs)"), id="two calls"),
        pytest.param(wrapper("for _ in 'ab':\n    return fn(*args, **kwargs)"), id="in a loop"),
        pytest.param(wrapper("if DEBUG:\n    return fn(*args, **kwargs)"), id="under a condition"),
        pytest.param(
            wrapper("try:\n    return fn(*args, **kwargs)\nexcept ValueError:\n    return 0"), id="a handler"
        ),
        pytest.param(
            wrapper("try:\n    return fn(*args, **kwargs)\nfinally:\n    return 0"),
            id="a finally that returns",
        ),
        pytest.param(wrapper("with guard():\n    return fn(*args, **kwargs)"), id="an unknown context"),
        pytest.param(wrapper("return fn(x)", "x"), id="a fixed signature"),
        pytest.param(wrapper("return fn(x, *args)", "x, *args"), id="a parameter of its own"),
        pytest.param(wrapper("return other(*args, **kwargs)"), id="another function is called"),
        pytest.param(wrapper("LOG.append(fn)\nreturn fn(*args, **kwargs)"), id="the function is kept"),
        pytest.param(wrapper("yield fn(*args, **kwargs)"), id="a generator"),
        pytest.param(wrapper("print(fn.__code__)\nreturn fn(*args, **kwargs)"), id="its code is looked at"),
        pytest.param(wrapper("fn = g\nreturn fn(*args, **kwargs)"), id="the function is replaced"),
        pytest.param(
            "def register(fn):\n    ALL.append(fn)\n    return fn\n@register\ndef f(x): return x",
            id="a registry",
        ),
        pytest.param(
            "def wrap(fn):\n    def inner(*a):\n        return fn(*a)\n    ALL.append(inner)\n"
            "    return inner\n@wrap\ndef f(x): return x",
            id="the wrapper is kept",
        ),
        pytest.param(
            "def wrap(fn):\n    @jax.jit\n    def inner(*a):\n        return fn(*a)\n    return inner\n"
            "@wrap\ndef f(x): return x",
            id="the wrapper is decorated",
        ),
        pytest.param(
            "@jax.jit\ndef wrap(fn):\n    return fn\n@wrap\ndef f(x): return x",
            id="the decorator is decorated",
        ),
    ],
)
def test_what_may_look_at_anything_does_not_pass(text: str):
    assert not passes(text)


def test_a_wrapper_may_take_what_comes_before_the_buffers():
    text = wrapper("return fn(self, *args)", "self, *args")
    assert passes(text, position=1)
    assert not passes(text, position=0)


def test_a_wrapper_may_use_what_comes_before_the_buffers():
    assert passes(wrapper("self.calls += 1\nreturn fn(self, *args)", "self, *args"), position=1)
    assert not passes(wrapper("self = g\nreturn fn(self, *args)", "self, *args"), position=1)
