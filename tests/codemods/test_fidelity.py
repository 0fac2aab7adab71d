"""The text of what is migrated: comments, layout, line endings and encodings survive.

Each case is a piece of a module before and after; the tests put the rest of the module around it.
"""

import ast
import collections
import difflib
import io
import random
import re
import tokenize
import warnings
from pathlib import Path

import pyflakes.api
import pyflakes.reporter
import pytest

from codemods.engine import migrate
from codemods.model import Options
from codemods.project import Project
from codemods.source import SourceFile

PRELUDE = """\
import functools, math
import jax
import jax.numpy as jnp
import numpy as np

cache = functools.cache
S = jax.ShapeDtypeStruct((2,), jnp.float32)
X = jnp.ones(2)


"""
MIGRATED_PRELUDE = PRELUDE.replace("import jax\n", "import bufcb\nimport jax\n", 1)

HOST = """\
def _host(a):
    return np.sin(a)


"""
MIGRATED_HOST = """\
def _host(ctx, out, a):
    a = np.asarray(a)
    out[...] = np.sin(a)
    return


"""

IMPORTING = """

def _host(a):
    return np.sin(np.asarray(a))


def use(x):
    return {function}(_host, jax.ShapeDtypeStruct((2,), jnp.float32), x)
"""
MIGRATED_IMPORTING = """

def _host(ctx, out, a):
    out[...] = np.sin(np.asarray(a))
    return


def use(x):
    return bufcb.buffer_callback(_host, jax.ShapeDtypeStruct((2,), jnp.float32))(x)
"""


def migrated(data: bytes) -> bytes:
    """A module's bytes, migrated as the only file of its project."""
    result = migrate(SourceFile.from_bytes(Path("module.py"), data), Project(()), Options())
    assert result.error is None
    return result.after


def check_noop(text: str) -> None:
    assert migrated(text.encode()).decode() == text


def check_transformed(before: str, after: str) -> None:
    """The text becomes `after`, which is stable, compiles without a warning, and has no new finding."""
    assert migrated(before.encode()).decode() == after
    check_noop(after)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile(after, "module.py", "exec")
    assert findings(after) <= findings(before)


def comments(text: str) -> collections.Counter[str]:
    """The comments outside of import statements, which go with the names that they stand behind."""
    imports = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return collections.Counter(
        token.string for token in tokens if token.type == tokenize.COMMENT and token.start[0] not in imports
    )


def findings(text: str) -> collections.Counter[str]:
    """Pyflakes' messages without their places."""
    stream = io.StringIO()
    pyflakes.api.check(text, "module.py", pyflakes.reporter.Reporter(stream, stream))
    return collections.Counter(
        re.sub(r"line \d+", "", line.split(" ", 1)[1]) for line in stream.getvalue().splitlines()
    )


CALLS = [
    pytest.param(
        """\
y = jax.pure_callback (_host, S, X)
""",
        """\
y = bufcb.buffer_callback (_host, S)(X)
""",
        id="a space in front of the parenthesis stays",
    ),
    pytest.param(
        """\
y = ( jax
   .pure_callback )(_host, S, X) + jax . pure_callback(_host, S, X)
""",
        """\
y = bufcb.buffer_callback(_host, S)(X) + bufcb.buffer_callback(_host, S)(X)
""",
        id="an odd spelling of the function goes",
    ),
    pytest.param(
        """\
y = 1 if(jax.pure_callback)(_host, S, X)else(jax.pure_callback)(_host, S, X)
""",
        """\
y = 1 if bufcb.buffer_callback(_host, S)(X)else bufcb.buffer_callback(_host, S)(X)
""",
        id="a word in place of parentheses does not touch the word before",
    ),
    pytest.param(
        """\
y = (jax  # the library
     .pure_callback)(_host, S, X)
""",
        """\
y = bufcb.buffer_callback(
    # the library
    _host, S)(X)
""",
        id="a comment inside the function's spelling moves to the callback",
    ),
    pytest.param(
        """\
y = jax.pure_callback(_host, S, X).sum()[...]
""",
        """\
y = bufcb.buffer_callback(_host, S)(X).sum()[...]
""",
        id="what is chained to the call stays",
    ),
    pytest.param(
        """\
y = jax.pure_callback(
    # the callback
    _host,
    # the spec
    S,

    # the data
    X,
    # the end
)
""",
        """\
y = bufcb.buffer_callback(
    # the callback
    _host,
    # the spec
    S,
)(
    # the data
    X,
    # the end
)
""",
        id="comments on lines of their own stay above what they stood above",
    ),
    pytest.param(
        """\
y = jax.pure_callback(  # why
    _host,  # callback
    S,  # spec
    X,  # data
    vmap_method="sequential",  # one by one
)  # done
""",
        """\
y = bufcb.buffer_callback(  # why
    _host,  # callback
    S,  # spec
    vmap_method="sequential",  # one by one
)(
    X,  # data
)  # done
""",
        id="comments behind arguments move with them",
    ),
    pytest.param(
        """\
y = jax.pure_callback(
    _host,
    S,
    X  # data
)
""",
        """\
y = bufcb.buffer_callback(
    _host,
    S
)(
    X  # data
)
""",
        id="a comment behind a last argument without a comma stays behind it",
    ),
    pytest.param(
        """\
y = jax.pure_callback(
    _host,
    S,
    # old style
    vectorized=None,  # not vectorized
    a=X,
)
""",
        """\
y = bufcb.buffer_callback(
    _host,
    S,
)(
    # old style
    # not vectorized
    a=X,
)
""",
        id="comments of an option that goes away stay",
    ),
    pytest.param(
        """\
y = jax.pure_callback(
    _host,
    S,
    X,
    vmap_method="sequential",
)
""",
        """\
y = bufcb.buffer_callback(
    _host,
    S,
    vmap_method="sequential",
)(X)
""",
        id="arguments fit behind the callback where no comment stands between",
    ),
    pytest.param(
        """\
y = jax.pure_callback(
    _host,
    S,
    jnp.stack([
        X[0],  # first
        X[1],
    ]),
)
""",
        """\
y = bufcb.buffer_callback(
    _host,
    S,
)(
    jnp.stack([
        X[0],  # first
        X[1],
    ]),
)
""",
        id="arguments over several lines keep their lines",
    ),
    pytest.param(
        """\
y = jax.pure_callback(
    _host, S, X, vmap_method="sequential"
)
""",
        """\
y = bufcb.buffer_callback(
    _host, S, vmap_method="sequential"
)(X)
""",
        id="a call without a break between its arguments gets none",
    ),
    pytest.param(
        """\
y = jax.pure_callback(_host,S,X,)
""",
        """\
y = bufcb.buffer_callback(_host,S)(X)
""",
        id="a trailing comma on one line goes",
    ),
    pytest.param(
        """\
y = jax.pure_callback( _host , S , X )
""",
        """\
y = bufcb.buffer_callback( _host , S )( X )
""",
        id="white space inside the parentheses is kept in both",
    ),
    pytest.param(
        """\
y = jax.pure_callback \\
    (_host, S, \\
     X) \\
    + 1
""",
        """\
y = bufcb.buffer_callback \\
    (_host, S)(X) \\
    + 1
""",
        id="backslashes stay where something follows them",
    ),
    pytest.param(
        """\
y = jax.pure_callback(_host, S, jax.pure_callback(_host, S, X))
""",
        """\
y = bufcb.buffer_callback(_host, S)(bufcb.buffer_callback(_host, S)(X))
""",
        id="nested calls are rewritten from the inside out",
    ),
    pytest.param(
        """\
@functools.partial(print, jax.pure_callback(_host, S, X))
def f(x=jax.pure_callback(_host, S, X)):
    class Inner:
        y: object = jax.pure_callback(_host, S, X)
    return Inner
""",
        """\
@functools.partial(print, bufcb.buffer_callback(_host, S)(X))
def f(x=bufcb.buffer_callback(_host, S)(X)):
    class Inner:
        y: object = bufcb.buffer_callback(_host, S)(X)
    return Inner
""",
        id="calls in decorators and defaults and class bodies are rewritten where they stand",
    ),
    pytest.param(
        """\
a = 1; y = jax.pure_callback(_host, S, X); b = 2
if a: y = jax.pure_callback(_host, S, X)
""",
        """\
a = 1; y = bufcb.buffer_callback(_host, S)(X); b = 2
if a: y = bufcb.buffer_callback(_host, S)(X)
""",
        id="a semicolon and a one-line suite stay",
    ),
    pytest.param(
        """\
y = functools.partial(  # bind
    jax.pure_callback,  # to the host
    _host,  # callback
    S,
)
""",
        """\
y = bufcb.buffer_callback(  # bind
    # to the host
    _host,  # callback
    S,
)
""",
        id="comments of a partial's first argument stay",
    ),
    pytest.param(
        """\
y = (z := jax.pure_callback(_host, S, X)) if X.size else None
""",
        """\
y = (z := bufcb.buffer_callback(_host, S)(X)) if X.size else None
""",
        id="a walrus and a conditional around the call stay",
    ),
    pytest.param(
        """\
y = "é🎉", jax.pure_callback(_host, S, X), "…"
""",
        """\
y = "é🎉", bufcb.buffer_callback(_host, S)(X), "…"
""",
        id="wide characters do not move columns",
    ),
]

DEFINITIONS = [
    pytest.param(
        """\
def _host(a):
    a = np.asarray(a)
    while(0 if a.size else 1) or not(a.size if a.ndim else 1):
        pass
    b = (a if a.size else a)if a.ndim else(lambda: X)()
    if a.size > 2:
        return(a if a.size
               else b)
    return np.sin(a if(a.size if a.ndim else 0)else b)
""",
        """\
def _host(ctx, out, a):
    a = np.asarray(a)
    while(0 if a.size else 1) or not(a.size if a.ndim else 1):
        pass
    b = (a if a.size else a)if a.ndim else(lambda: X)()
    if a.size > 2:
        bufcb.store(out, (a if a.size
               else b))
        return
    out[...] = np.sin(a if(a.size if a.ndim else 0)else b)
    return
""",
        "S",
        id="keywords and brackets that touch",
    ),
    pytest.param(
        '''\
def _host(a):
    """Doc."""

    return np.sin(a)
''',
        '''\
def _host(ctx, out, a):
    """Doc."""

    a = np.asarray(a)
    out[...] = np.sin(a)
    return
''',
        "S",
        id="a blank line behind the docstring stays",
    ),
    pytest.param(
        '''\
def _host(a):
    """Doc."""; return np.sin(a)
''',
        '''\
def _host(ctx, out, a):
    """Doc."""; a = np.asarray(a); out[...] = np.sin(a); return
''',
        "S",
        id="a docstring that shares its line comes first",
    ),
    pytest.param(
        '''\
def _host(a):
    r"""Doc \\d.

      indented
\ttabbed
    """
    # leading
    return np.sin(a)
''',
        '''\
def _host(ctx, out, a):
    r"""Doc \\d.

      indented
\ttabbed
    """
    a = np.asarray(a)
    # leading
    out[...] = np.sin(a)
    return
''',
        "S",
        id="a raw docstring over several lines is untouched",
    ),
    pytest.param(
        '''\
def _host(a):
    text = """
  less
\t\ttab
      more"""
    return np.multiply(np.sin(a), len(text + """
 x"""))
''',
        '''\
def _host(ctx, out, a):
    a = np.asarray(a)
    text = """
  less
\t\ttab
      more"""
    out[...] = np.multiply(np.sin(a), len(text + """
 x"""))
    return
''',
        "S",
        id="strings over several lines are untouched",
    ),
    pytest.param(
        """\
def _host(a):
    return (  # why
        np.sin(a)  # first
        # between
        + np.cos(a)
        # last
    )  # done
""",
        """\
def _host(ctx, out, a):
    a = np.asarray(a)
    out[...] = (  # why
        np.sin(a)  # first
        # between
        + np.cos(a)
        # last
    )
    return  # done
""",
        "S",
        id="comments in a parenthesised value stay inside",
    ),
    pytest.param(
        '''\
def _host(a):
    return np.where(np.cos(a) > 0,
                    np.sin(a),
                    np.multiply(np.cos(a), len("""
 x""")))
''',
        '''\
def _host(ctx, out, a):
    a = np.asarray(a)
    out[...] = np.where(np.cos(a) > 0,
                        np.sin(a),
                        np.multiply(np.cos(a), len("""
 x""")))
    return
''',
        "S",
        id="lines aligned with a bracket follow it",
    ),
    pytest.param(
        """\
def _host(a):
    return np.stack([
        np.sin(a),
        np.cos(a),
    ])[0]
""",
        """\
def _host(ctx, out, a):
    a = np.asarray(a)
    out[...] = np.stack([
        np.sin(a),
        np.cos(a),
    ])[0]
    return
""",
        "S",
        id="hanging lines stay",
    ),
    pytest.param(
        """\
def _host(a):
    return np.sin(a) \\
        + np.cos(a)
""",
        """\
def _host(ctx, out, a):
    a = np.asarray(a)
    out[...] = np.sin(a) \\
        + np.cos(a)
    return
""",
        "S",
        id="a backslash in the value stays",
    ),
    pytest.param(
        """\
def _host(a):
    return \\
        np.sin(a)
""",
        """\
def _host(ctx, out, a):
    a = np.asarray(a)
    out[...] = np.sin(a)
    return
""",
        "S",
        id="a backslash behind return goes",
    ),
    pytest.param(
        """\
def _host(a):
    return(np.sin(a))
""",
        """\
def _host(ctx, out, a):
    a = np.asarray(a)
    out[...] = np.sin(a)
    return
""",
        "S",
        id="parentheses that stood for a space go",
    ),
    pytest.param(
        """\
def _host(a):
    return (np.sin(a))
""",
        """\
def _host(ctx, out, a):
    a = np.asarray(a)
    out[...] = (np.sin(a))
    return
""",
        "S",
        id="parentheses behind a space stay",
    ),
    pytest.param(
        """\
def _host(a):
    if a.ndim:
        return np.sin(a)  # type: ignore[no-any-return]
    return np.cos(a)  # pragma: no cover
""",
        """\
def _host(ctx, out, a):
    a = np.asarray(a)
    if a.ndim:
        out[...] = np.sin(a)  # type: ignore[no-any-return]
        return
    out[...] = np.cos(a)  # pragma: no cover
    return  # pragma: no cover
""",
        "S",
        id="comments for tools stay with the code that they are about",
    ),
    pytest.param(
        """\
def _host(a):
    return np.sin(a)  # in radians
""",
        """\
def _host(ctx, out, a):
    a = np.asarray(a)
    out[...] = np.sin(a)
    return  # in radians
""",
        "S",
        id="a plain comment stays with the last line",
    ),
    pytest.param(
        """\
def _host(a):
    return (  # both
        # the sine
        np.sin(a),  # in radians
        np.cos(a),  # too
        # no more
    )  # done
""",
        """\
def _host(ctx, out, a):
    a = np.asarray(a)
    # both
    # the sine
    # in radians
    out[0][...] = np.sin(a)
    # too
    # no more
    out[1][...] = np.cos(a)
    return  # done
""",
        "(S, S)",
        id="comments of a tuple's elements go above their writes",
    ),
    pytest.param(
        """\
def _host(a):
    return {
        "s":  # key
            np.sin(a),
        "c": np.cos(a)  # value
        # end
    }
""",
        """\
def _host(ctx, out, a):
    a = np.asarray(a)
    # key
    out["s"][...] = np.sin(a)
    # value
    # end
    out["c"][...] = np.cos(a)
    return
""",
        '{"s": S, "c": S}',
        id="comments of a dict's keys and values go above their writes",
    ),
    pytest.param(
        """\
def _host(a):
    return np.sin(a) \\
        + np.cos(a), np.add(np.sin(a),
                            np.cos(a)), (
        np.sin(a)
    )
""",
        """\
def _host(ctx, out, a):
    a = np.asarray(a)
    out[0][...] = np.sin(a) \\
        + np.cos(a)
    out[1][...] = np.add(np.sin(a),
                         np.cos(a))
    out[2][...] = (
        np.sin(a)
    )
    return
""",
        "(S, S, S)",
        id="elements over several lines stand alone",
    ),
    pytest.param(
        """\
def _host(a):
    return (np.sin(a)
            + np.cos(a),
            np.cos(a))
""",
        """\
def _host(ctx, out, a):
    a = np.asarray(a)
    out[0][...] = (
        np.sin(a)
        + np.cos(a)
    )
    out[1][...] = np.cos(a)
    return
""",
        "(S, S)",
        id="an element with a bare line break gets parentheses on lines of their own",
    ),
    pytest.param(
        """\
def _host(a):
    return *[np.sin(a)], np.cos(a)
""",
        """\
def _host(ctx, out, a):
    a = np.asarray(a)
    bufcb.store(out, (*[np.sin(a)], np.cos(a)))
    return
""",
        "(S, S)",
        id="a bare tuple with a star is stored in parentheses",
    ),
    pytest.param(
        """\
def _host(a): return np.sin(a)  # short
""",
        """\
def _host(ctx, out, a): a = np.asarray(a); out[...] = np.sin(a); return  # short
""",
        "S",
        id="a definition on one line stays on it",
    ),
    pytest.param(
        """\
def _host(angle_in_radians): return np.sin(angle_in_radians) + np.cos(angle_in_radians)  # noqa: E704
""",
        """\
def _host(ctx, out, angle_in_radians):  # noqa: E704
    angle_in_radians = np.asarray(angle_in_radians)
    out[...] = np.sin(angle_in_radians) + np.cos(angle_in_radians)
    return
""",
        "S",
        id="a definition on one line that grows too long gets a block",
    ),
    pytest.param(
        """\
def _host(a):
    if a.ndim == 1: return np.sin(a)  # one
    elif a.ndim: b = 1; return np.cos(a)
    else: return(np.tan(a));
""",
        """\
def _host(ctx, out, a):
    a = np.asarray(a)
    if a.ndim == 1: out[...] = np.sin(a); return  # one
    elif a.ndim: b = 1; out[...] = np.cos(a); return
    else: out[...] = np.tan(a); return;
""",
        "S",
        id="one-line suites stay on one line",
    ),
    pytest.param(
        """\
def _host(a):
    match a.ndim:
        case 1: return np.sin(a)
        case _:
            # above
            return np.cos(a)
    # behind
""",
        """\
def _host(ctx, out, a):
    a = np.asarray(a)
    match a.ndim:
        case 1: out[...] = np.sin(a); return
        case _:
            # above
            out[...] = np.cos(a)
            return
    # behind
""",
        "S",
        id="match keeps its shape",
    ),
    pytest.param(
        """\
def _host(a):
    def inner(b):
        return b  # its own

    class Inner:
        def method(self):
            return 1

    return np.sin(inner(a)) * (lambda: 1)()
""",
        """\
def _host(ctx, out, a):
    a = np.asarray(a)

    def inner(b):
        return b  # its own

    class Inner:
        def method(self):
            return 1

    out[...] = np.sin(inner(a)) * (lambda: 1)()
    return
""",
        "S",
        id="returns of nested functions are left alone",
    ),
    pytest.param(
        """\
# about the callback
def _host(  # opening
    a,  # the angle
    b=1,  # unused
    # no more
):  # header

    # first

    # second
    return np.sin(a)
    # behind
  # less
# about the call
""",
        """\
# about the callback
def _host(  # opening
    ctx,
    out,
    a,  # the angle
    b=1,  # unused
    # no more
):  # header
    a = np.asarray(a)

    # first

    # second
    out[...] = np.sin(a)
    return
    # behind
  # less
# about the call
""",
        "S",
        id="comments around the header stay",
    ),
    pytest.param(
        """\
def _host(a):  # type: (np.ndarray) -> np.ndarray
    return np.sin(a)
""",
        """\
def _host(ctx, out, a):  # type: (...) -> None
    a = np.asarray(a)
    out[...] = np.sin(a)
    return
""",
        "S",
        id="a type comment on the header becomes None",
    ),
    pytest.param(
        """\
def _host(a,  # type: np.ndarray
          ):
    # type: (...) -> np.ndarray
    return np.sin(a)
""",
        """\
def _host(ctx, out, a,  # type: np.ndarray
          ):
    # type: (...) -> None
    a = np.asarray(a)
    out[...] = np.sin(a)
    return
""",
        "S",
        id="a type comment on a line of its own stays first",
    ),
    pytest.param(
        """\
def _host(
    a,
):
    return np.sin(a)
""",
        """\
def _host(
    ctx,
    out,
    a,
):
    a = np.asarray(a)
    out[...] = np.sin(a)
    return
""",
        "S",
        id="a signature of one parameter per line stays so",
    ),
    pytest.param(
        """\
def _host(
    a, b=1
):
    return np.sin(a)
""",
        """\
def _host(
    ctx, out, a, b=1
):
    a = np.asarray(a)
    out[...] = np.sin(a)
    return
""",
        "S",
        id="a signature on one inner line stays so",
    ),
    pytest.param(
        """\
def _host(a,
          b=1):
    return np.sin(a)
""",
        """\
def _host(ctx,
          out,
          a,
          b=1):
    a = np.asarray(a)
    out[...] = np.sin(a)
    return
""",
        "S",
        id="a signature aligned with its bracket stays so",
    ),
    pytest.param(
        """\
def _host \\
        (a) \\
        -> np.ndarray:
    return np.sin(a)
""",
        """\
def _host \\
        (ctx, out, a) \\
        -> None:
    a = np.asarray(a)
    out[...] = np.sin(a)
    return
""",
        "S",
        id="backslashes in the header stay",
    ),
    pytest.param(
        """\
def _host(a, /, b=1, *, c=2) -> "np.ndarray | None":
    return np.sin(a)
""",
        """\
def _host(ctx, out, a, /, b=1, *, c=2) -> None:
    a = np.asarray(a)
    out[...] = np.sin(a)
    return
""",
        "S",
        id="positional-only and keyword-only markers stay",
    ),
    pytest.param(
        """\
def _host(the_angle_in_radians):
    return np.add(np.sin(the_angle_in_radians), np.multiply(np.cos(the_angle_in_radians), 1.0)) * 1
""",
        """\
def _host(ctx, out, the_angle_in_radians):
    the_angle_in_radians = np.asarray(the_angle_in_radians)
    out[...] = (
        np.add(np.sin(the_angle_in_radians), np.multiply(np.cos(the_angle_in_radians), 1.0)) * 1
    )
    return
""",
        "S",
        id="a value that grows too long gets parentheses",
    ),
    pytest.param(
        """\
def _host(the_angle_in_radians, the_number_of_the_repetition=1, the_name_of_it="") -> np.ndarray:
    return np.sin(the_angle_in_radians)
""",
        """\
def _host(
    ctx, out, the_angle_in_radians, the_number_of_the_repetition=1, the_name_of_it=""
) -> None:
    the_angle_in_radians = np.asarray(the_angle_in_radians)
    out[...] = np.sin(the_angle_in_radians)
    return
""",
        "S",
        id="a header that grows too long is broken",
    ),
    pytest.param(
        """\
def _host(a):
    def inner(b):
        return b
    return np.sin(inner(a))
""",
        """\
def _host(ctx, out, a):
    a = np.asarray(a)

    def inner(b):
        return b
    out[...] = np.sin(inner(a))
    return
""",
        "S",
        id="a nested function keeps a blank line above",
    ),
    pytest.param(
        """\
def _host(a):
    b = 1; return np.sin(a);  # end
""",
        """\
def _host(ctx, out, a):
    a = np.asarray(a)
    b = 1; out[...] = np.sin(a); return;  # end
""",
        "S",
        id="semicolons stay",
    ),
    pytest.param(
        """\
def _host(a):
    return np.sin(a)
\f
""",
        """\
def _host(ctx, out, a):
    a = np.asarray(a)
    out[...] = np.sin(a)
    return
\f
""",
        "S",
        id="a form feed stays",
    ),
    pytest.param(
        """\
def _host(a):
  if a.ndim:
        return np.sin(a)
  else:
   return np.cos(a)
""",
        """\
def _host(ctx, out, a):
  a = np.asarray(a)
  if a.ndim:
        out[...] = np.sin(a)
        return
  else:
   out[...] = np.cos(a)
   return
""",
        "S",
        id="mixed steps of indentation stay",
    ),
]

IMPORTS = [
    pytest.param(
        '''\
#!/usr/bin/env python
# -*- coding: utf-8 -*-
# Licensed.
"""Doc."""
from __future__ import annotations

import os
import jax
import jax.numpy as jnp
import numpy as np
''',
        '''\
#!/usr/bin/env python
# -*- coding: utf-8 -*-
# Licensed.
"""Doc."""
from __future__ import annotations

import os
import bufcb
import jax
import jax.numpy as jnp
import numpy as np
''',
        "jax.pure_callback",
        id="the future, a docstring, a license and a shebang come first",
    ),
    pytest.param(
        '''\
"""Doc."""; import jax; import jax.numpy as jnp; import numpy as np
''',
        '''\
"""Doc."""; import bufcb; import jax; import jax.numpy as jnp; import numpy as np
''',
        "jax.pure_callback",
        id="a docstring that shares its line comes first",
    ),
    pytest.param(
        """\
import os
import sys
import jax
import jax.numpy as jnp
import numpy as np
""",
        """\
import os
import sys
import bufcb
import jax
import jax.numpy as jnp
import numpy as np
""",
        "jax.pure_callback",
        id="the standard library is a section of its own",
    ),
    pytest.param(
        """\
import PIL
import jax
import jax.numpy as jnp
import numpy as np
""",
        """\
import bufcb
import PIL
import jax
import jax.numpy as jnp
import numpy as np
""",
        "jax.pure_callback",
        id="capitals do not sort first",
    ),
    pytest.param(
        """\
import aaa, jax; OTHER = None
import jax.numpy as jnp
import numpy as np
""",
        """\
import bufcb
import aaa, jax; OTHER = None
import jax.numpy as jnp
import numpy as np
""",
        "jax.pure_callback",
        id="what shares the import's line may need it already",
    ),
    pytest.param(
        """\
import jax, jax.numpy as jnp, numpy as np
from jax import (
    jit,  # compiled
    # host calls
    pure_callback,  # to the host
    vmap,
)
""",
        """\
import bufcb
import jax, jax.numpy as jnp, numpy as np
from jax import (
    jit,  # compiled
    # host calls
    vmap,
)
""",
        "pure_callback",
        id="a name on a line of its own goes with its comment",
    ),
    pytest.param(
        """\
import jax, jax.numpy as jnp, numpy as np
from jax import (
    jit,  # compiled
    pure_callback as pc  # to the host
)
""",
        """\
import bufcb
import jax, jax.numpy as jnp, numpy as np
from jax import (
    jit,  # compiled
)
""",
        "pc",
        id="the last name goes and its predecessor keeps its comment",
    ),
    pytest.param(
        """\
import jax, jax.numpy as jnp, numpy as np
from jax import (pure_callback, jit,)
""",
        """\
import bufcb
import jax, jax.numpy as jnp, numpy as np
from jax import (jit,)
""",
        "pure_callback",
        id="names on one line close up",
    ),
    pytest.param(
        """\
import jax, jax.numpy as jnp, numpy as np
from jax import (jit, pure_callback,  # both
                 vmap)
""",
        """\
import bufcb
import jax, jax.numpy as jnp, numpy as np
from jax import (jit,  # both
                 vmap)
""",
        "pure_callback",
        id="a name between others on a line goes with its comma",
    ),
    pytest.param(
        """\
import jax, jax.numpy as jnp, numpy as np
from jax import (pure_callback,
                 vmap)
""",
        """\
import bufcb
import jax, jax.numpy as jnp, numpy as np
from jax import (vmap)
""",
        "pure_callback",
        id="the first name goes and the line break with it",
    ),
    pytest.param(
        """\
import jax, jax.numpy as jnp, numpy as np
from jax import jit, \\
    pure_callback
""",
        """\
import bufcb
import jax, jax.numpy as jnp, numpy as np
from jax import jit
""",
        "pure_callback",
        id="a backslash goes with the last name",
    ),
    pytest.param(
        """\
import jax, jax.numpy as jnp, numpy as np
from jax import jit, \\
    pure_callback, \\
    vmap
""",
        """\
import bufcb
import jax, jax.numpy as jnp, numpy as np
from jax import jit, \\
    vmap
""",
        "pure_callback",
        id="a backslash goes with a name between others",
    ),
    pytest.param(
        """\
import jax, jax.numpy as jnp, numpy as np
if True:
    # two of them
    from jax import pure_callback  # used
    from jax import pure_callback as other  # unused
    print(other)
if print():
    from jax import pure_callback as pc  # alone
""",
        """\
import bufcb
import jax, jax.numpy as jnp, numpy as np
if True:
    # two of them
    from jax import pure_callback  # used
    print(bufcb.pure_callback)
if print():
    pass  # alone
""",
        "pc",
        id="a block of nothing else passes",
    ),
    pytest.param(
        """\
import jax, jax.numpy as jnp, numpy as np
A = 1; from jax import pure_callback; B = 2
""",
        """\
import bufcb
import jax, jax.numpy as jnp, numpy as np
A = 1; B = 2
""",
        "pure_callback",
        id="an import between semicolons goes with one of them",
    ),
    pytest.param(
        """\
import jax, jax.numpy as jnp, numpy as np
A = 1; from jax import pure_callback  # noted
""",
        """\
import bufcb
import jax, jax.numpy as jnp, numpy as np
A = 1  # noted
""",
        "pure_callback",
        id="an import behind a semicolon leaves the comment",
    ),
    pytest.param(
        """\
import jax, jax.numpy as jnp, numpy as np

from jax import pure_callback

A = 1
""",
        """\
import bufcb
import jax, jax.numpy as jnp, numpy as np

A = 1
""",
        "pure_callback",
        id="an import between blank lines takes one of them along",
    ),
]

LAYOUT = [
    pytest.param(
        """\
y = jax.pure_callback(_host,
                      jax.ShapeDtypeStruct(X.shape,
                                           X.dtype),
                      X, vmap_method="sequential")
""",
        """\
y = bufcb.buffer_callback(_host,
                          jax.ShapeDtypeStruct(X.shape,
                                               X.dtype),
                          vmap_method="sequential")(X)
""",
        id="arguments aligned with the bracket follow it",
    ),
    pytest.param(
        """\
the_result = jax.pure_callback(np.vectorize(math.sin), jax.ShapeDtypeStruct(X.shape, X.dtype), X)
""",
        """\
the_result = bufcb.buffer_callback(
    bufcb.adapt(np.vectorize(math.sin)), jax.ShapeDtypeStruct(X.shape, X.dtype)
)(X)
""",
        id="a call that grows too long is broken",
    ),
    pytest.param(
        """\
the_result = jax.pure_callback(hosts["the sine of an angle in radians"], Specs["two values"], X)
""",
        """\
the_result = bufcb.buffer_callback(
    bufcb.adapt(hosts["the sine of an angle in radians"], arrays="jax"), Specs["two values"]
)(X)
""",
        id="a call that is much too long has an argument a line",
    ),
    pytest.param(
        """\
the_result = jax.pure_callback(_host, jax.ShapeDtypeStruct(X.shape, X.dtype), X, vmap_method="sequential")
""",
        """\
the_result = bufcb.buffer_callback(_host, jax.ShapeDtypeStruct(X.shape, X.dtype), vmap_method="sequential")(X)
""",
        id="a call that was too long already stays on its line",
    ),
    pytest.param(
        """\
y = f"{jax.pure_callback(hosts[0], S, X)}"
""",
        """\
y = f"{bufcb.buffer_callback(bufcb.adapt(hosts[0], arrays='jax'), S)(X)}"
""",
        id="strings in an f-string get single quotes",
    ),
    pytest.param(
        """\
y = f'{jax.pure_callback(hosts[0], S, X)}'
""",
        """\
y = f'{bufcb.buffer_callback(bufcb.adapt(hosts[0], arrays="jax"), S)(X)}'
""",
        id="strings in an f-string in single quotes stay double",
    ),
    pytest.param(
        """\
y = jax.pure_callback(
        lambda a: np.stack([
            np.sin(a),  # first
            np.cos(a),
        ])[0],  # both
        S,
        X,
    )
""",
        """\
def _stack(ctx, out, a):
    a = np.asarray(a)
    out[...] = np.stack([
        np.sin(a),  # first
        np.cos(a),
    ])[0]
    return


y = bufcb.buffer_callback(
        _stack,  # both
        S,
    )(X)
""",
        id="a lambda over several lines becomes a definition of as many",
    ),
    pytest.param(
        """\
def f(x):
    return jax.pure_callback(
        lambda a: np.sin(a)
        + np.cos(a), S, x)
""",
        """\
def f(x):
    def _f_host(ctx, out, a):
        a = np.asarray(a)
        out[...] = (
            np.sin(a)
            + np.cos(a)
        )
        return

    return bufcb.buffer_callback(
        _f_host, S)(x)
""",
        id="a lambda with bare line breaks gets parentheses on lines of their own",
    ),
    pytest.param(
        """\
y = jax.pure_callback(lambda a: np.where(np.cos(a) > 0,
                                         np.sin(a),
                                         np.cos(a)), S, X)
""",
        """\
def _where(ctx, out, a):
    a = np.asarray(a)
    out[...] = np.where(np.cos(a) > 0,
                        np.sin(a),
                        np.cos(a))
    return


y = bufcb.buffer_callback(_where, S)(X)
""",
        id="lines aligned inside a lambda follow it",
    ),
    pytest.param(
        """\
y = jax.pure_callback(
    # the function
    lambda a, b=1,  # unused
           *c:  # why
        np.sin(a),  # data
    S, X)
""",
        """\
def _sin(ctx, out, a, b=1,  # unused
         *c):
    a = np.asarray(a)
    # why
    out[...] = np.sin(a)
    return


y = bufcb.buffer_callback(
    # the function
    _sin,  # data
    S)(X)
""",
        id="comments inside a lambda go along",
    ),
    pytest.param(
        """\
y = jax.pure_callback(lambda \\
    a, b \\
    : np.sin(a), S, X, X)
""",
        """\
def _sin(ctx, out, a, b):
    a = np.asarray(a)
    out[...] = np.sin(a)
    return


y = bufcb.buffer_callback(_sin, S)(X, X)
""",
        id="backslashes around the parameters of a lambda go",
    ),
    pytest.param(
        """\
y = jax.pure_callback((lambda a: np.sin(a)), S, X)
""",
        """\
def _sin(ctx, out, a):
    a = np.asarray(a)
    out[...] = np.sin(a)
    return


y = bufcb.buffer_callback(_sin, S)(X)
""",
        id="parentheses around a lambda go",
    ),
    pytest.param(
        """\
A = 1
# about y
y = jax.pure_callback(lambda a: np.sin(a), S, X)  # tail
B = 2
""",
        """\
A = 1


def _sin(ctx, out, a):
    a = np.asarray(a)
    out[...] = np.sin(a)
    return


# about y
y = bufcb.buffer_callback(_sin, S)(X)  # tail
B = 2
""",
        id="a definition goes above the statement and its comments",
    ),
    pytest.param(
        """\
def f(x):
    # about the result
    return jax.pure_callback(lambda a: np.sin(a), S, x)
""",
        """\
def f(x):
    def _sin(ctx, out, a):
        a = np.asarray(a)
        out[...] = np.sin(a)
        return

    # about the result
    return bufcb.buffer_callback(_sin, S)(x)
""",
        id="a definition opens a block without a blank line",
    ),
    pytest.param(
        '''\
def f(x):
    """Doc."""
    return jax.pure_callback(lambda a: np.sin(a), S, x)
''',
        '''\
def f(x):
    """Doc."""

    def _sin(ctx, out, a):
        a = np.asarray(a)
        out[...] = np.sin(a)
        return

    return bufcb.buffer_callback(_sin, S)(x)
''',
        id="a definition behind a docstring has a blank line above",
    ),
    pytest.param(
        """\
A = 1

y = jax.pure_callback(lambda a: np.sin(a), S, X), jax.pure_callback(lambda a: np.cos(a), S, X)
""",
        """\
A = 1


def _sin(ctx, out, a):
    a = np.asarray(a)
    out[...] = np.sin(a)
    return


def _cos(ctx, out, a):
    a = np.asarray(a)
    out[...] = np.cos(a)
    return


y = bufcb.buffer_callback(_sin, S)(X), bufcb.buffer_callback(_cos, S)(X)
""",
        id="two lambdas of one statement become two definitions",
    ),
    pytest.param(
        """\
def f(x):
    shape = x.shape
    host = lambda a: np.sin(a)  # noqa: E731
    y = jax.pure_callback(host, S, x)
    return y, shape
""",
        """\
def f(x):
    shape = x.shape

    def host(ctx, out, a):  # noqa: E731
        a = np.asarray(a)
        out[...] = np.sin(a)
        return

    y = bufcb.buffer_callback(host, S)(x)
    return y, shape
""",
        id="a definition in place of an assignment is spaced as one",
    ),
    pytest.param(
        """\
y = jax.pure_callback(lambda a: np.sin(a), S, jax.pure_callback(lambda b: np.cos(b), S, X))
""",
        """\
def _sin(ctx, out, a):
    a = np.asarray(a)
    out[...] = np.sin(a)
    return


def _cos(ctx, out, b):
    b = np.asarray(b)
    out[...] = np.cos(b)
    return


y = bufcb.buffer_callback(_sin, S)(bufcb.buffer_callback(_cos, S)(X))
""",
        id="a lambda in an argument of another call is hoisted as well",
    ),
    pytest.param(
        """\
def f(x):
    def outer(a):
        b = jax.pure_callback(lambda v: np.cos(v), S, a)
        return b
    return jax.pure_callback(outer, S, x)
""",
        """\
def f(x):
    def outer(a):
        def _cos(ctx, out, v):
            v = np.asarray(v)
            out[...] = np.cos(v)
            return

        b = bufcb.buffer_callback(_cos, S)(a)
        return b
    return bufcb.buffer_callback(bufcb.adapt(outer, arrays="jax"), S)(x)
""",
        id="a callback inside another callback is rewritten too",
    ),
    pytest.param(
        """\
def host(a):
    return np.sin(a)
    # the end of host
# about y
y = jax.pure_callback(host, S, X)
""",
        """\
def host(a):
    return np.sin(a)
    # the end of host


def _host_into(ctx, out, a):
    out[...] = host(np.asarray(a))
    return


# about y
y = bufcb.buffer_callback(_host_into, S)(X)
""",
        id="a sibling stands below the comments that belong to the original",
    ),
    pytest.param(
        """\
def one(a): return np.sin(a)
def two(a): return np.cos(a)
y = jax.pure_callback(one, S, X), jax.pure_callback(two, S, X)
""",
        """\
def one(a): return np.sin(a)


def _one_into(ctx, out, a):
    out[...] = one(np.asarray(a))
    return


def two(a): return np.cos(a)


def _two_into(ctx, out, a):
    out[...] = two(np.asarray(a))
    return


y = bufcb.buffer_callback(_one_into, S)(X), bufcb.buffer_callback(_two_into, S)(X)
""",
        id="two siblings in a row keep their distance",
    ),
    pytest.param(
        """\
y = lambda: jax.pure_callback(host, S, X)


def host(a):
    return np.sin(a)
    # the end""",
        """\
y = lambda: bufcb.buffer_callback(_host_into, S)(X)


def host(a):
    return np.sin(a)
    # the end


def _host_into(ctx, out, a):
    out[...] = host(np.asarray(a))
    return""",
        id="a sibling at the end of a file without a newline ends so too",
    ),
    pytest.param(
        """\
class A:
  @staticmethod
  def one(a): return np.sin(a)
  def two(self, a):
    return np.cos(a)
  def use(self, x):
    return jax.pure_callback(self.one, S, x), jax.pure_callback(self.two, S, x)
""",
        """\
class A:
  @staticmethod
  def one(a): return np.sin(a)

  @staticmethod
  def _one_into(ctx, out, a):
    out[...] = A.one(np.asarray(a))
    return

  def two(self, a):
    return np.cos(a)

  def _two_into(self, ctx, out, a):
    out[...] = self.two(np.asarray(a))
    return

  def use(self, x):
    return bufcb.buffer_callback(self._one_into, S)(x), bufcb.buffer_callback(self._two_into, S)(x)
""",
        id="siblings in classes have one blank line and the step of the class",
    ),
    pytest.param(
        """\
def f(x):
    def host(a):
        return np.sin(a)
    host(x)
    return jax.pure_callback(host, S, x)
""",
        """\
def f(x):
    def host(a):
        return np.sin(a)

    def _host_into(ctx, out, a):
        out[...] = host(np.asarray(a))
        return

    host(x)
    return bufcb.buffer_callback(_host_into, S)(x)
""",
        id="a sibling of a nested function stands in its block",
    ),
]


@pytest.mark.parametrize(("before", "after"), CALLS)
def test_calls(before, after):
    check_transformed(PRELUDE + HOST + before, MIGRATED_PRELUDE + MIGRATED_HOST + after)
    assert comments(before) <= comments(after)


@pytest.mark.parametrize(("before", "after", "spec"), DEFINITIONS)
def test_definitions(before, after, spec):
    check_transformed(
        f"{PRELUDE}{before}\n\ny = jax.pure_callback(_host, {spec}, X)\n",
        f"{MIGRATED_PRELUDE}{after}\n\ny = bufcb.buffer_callback(_host, {spec})(X)\n",
    )
    types = re.compile("# type: .*->")
    kept = {comment for comment in comments(before) if not types.match(comment)}
    assert kept <= comments(after).keys()


@pytest.mark.parametrize(("before", "after", "function"), IMPORTS)
def test_imports(before, after, function):
    check_transformed(before + IMPORTING.format(function=function), after + MIGRATED_IMPORTING)


@pytest.mark.parametrize(("before", "after"), LAYOUT)
def test_layout(before, after):
    needs_host = "(_host" in before and "def _host" not in before
    host, migrated_host = (HOST, MIGRATED_HOST) if needs_host else ("", "")
    check_transformed(PRELUDE + host + before, MIGRATED_PRELUDE + migrated_host + after)
    assert comments(before) <= comments(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            """\
import numpy as np


def use(x, library):
    if library == "jax":
        # only here
        import jax
        return jax.pure_callback(np.negative, np.float32(0), x)
    return x
""",
            """\
import numpy as np


def use(x, library):
    if library == "jax":
        # only here
        import bufcb
        return bufcb.buffer_callback(bufcb.adapt(np.negative), np.float32(0))(x)
    return x
""",
            id="in a function the import goes beside the one that the call uses",
        ),
        pytest.param(
            """\
import jax.numpy as jnp
import numpy as np


def use(x):
    from jax import pure_callback

    return pure_callback(np.negative, jnp.float32(0), x)
""",
            """\
import bufcb
import jax.numpy as jnp
import numpy as np


def use(x):
    return bufcb.buffer_callback(bufcb.adapt(np.negative), jnp.float32(0))(x)
""",
            id="an import that opened a function takes the blank line along",
        ),
        pytest.param(
            """\
import numpy as np


def use(x, s):
    if x.size:
        from jax import pure_callback
    return pure_callback(np.negative, s, x)
""",
            """\
import numpy as np


def use(x, s):
    if x.size:
        import bufcb
    return bufcb.buffer_callback(bufcb.adapt(np.negative), s)(x)
""",
            id="a block that gets the new import needs no pass",
        ),
        pytest.param(
            """\
import numpy as np


def use(x, s):
    import jax
    call = print
    if x.size:
        call = jax.pure_callback
    return call(np.negative, s, x), jax.pure_callback(np.negative, s, x)
""",
            """\
import numpy as np


def use(x, s):
    import bufcb
    call = print
    if x.size:
        call = bufcb.pure_callback
    return call(np.negative, s, x), bufcb.buffer_callback(bufcb.adapt(np.negative), s)(x)
""",
            id="a value and a call in one function share the new import",
        ),
    ],
)
def test_imports_inside_functions(before, after):
    check_transformed(before, after)


# Whole files.

CASES = [
    *(PRELUDE + HOST + case.values[0] for case in CALLS),
    *(
        f"{PRELUDE}{case.values[0]}\n\ny = jax.pure_callback(_host, {case.values[2]}, X)\n"
        for case in DEFINITIONS
    ),
    *(PRELUDE + case.values[0] for case in LAYOUT),
    *(case.values[0] + IMPORTING.format(function=case.values[2]) for case in IMPORTS),
]


@pytest.fixture(scope="module")
def cases() -> list[tuple[str, str]]:
    """Every case of this file as a module, and what becomes of it."""
    return [(text, migrated(text.encode()).decode()) for text in CASES]


@pytest.mark.parametrize("newline", ["\r\n", "\r"], ids=["of Windows", "of the old Mac"])
def test_line_endings_stay(cases, newline):
    for before, after in cases:
        data = migrated(before.replace("\n", newline).encode())
        assert data.decode() == after.replace("\n", newline)


def test_mixed_line_endings_stay_on_their_lines(cases):
    chance = random.Random(0)
    for before, after in cases:
        lines = before.splitlines(keepends=True)
        mixed = [line.replace("\n", chance.choice(["\n", "\r\n"])) for line in lines]
        got = migrated("".join(mixed).encode()).decode()
        assert got.replace("\r\n", "\n") == after
        kept = difflib.SequenceMatcher(None, mixed, got.splitlines(keepends=True), autojunk=False)
        plain = difflib.SequenceMatcher(None, lines, after.splitlines(keepends=True), autojunk=False)
        assert matched(kept) >= matched(plain)


def matched(matcher: difflib.SequenceMatcher) -> int:
    return sum(block.size for block in matcher.get_matching_blocks())


@pytest.mark.parametrize("behind", ["S = jnp.add(\n    X, 1\n)", "S = \\\n    X", "S = X"])
def test_generated_functions_stand_in_front_of_what_shares_a_line_with_the_imports(behind):
    head = f"import jax.numpy as jnp, numpy as np\nX = jnp.ones(2)\nimport jax; {behind}\n\n\n"
    text = f"{head}{HOST}y = jax.pure_callback(_host, S, X)\n"
    result = migrate(
        SourceFile.from_bytes(Path("module.py"), text.encode()), Project(()), Options(target="jax")
    )
    assert result.error is None and result.changed
    after = result.after.decode()
    assert behind in after and after.index("def _store_results(") < after.index(behind)


def test_an_import_of_pythons_own_stands_in_front_of_what_shares_a_line_with_others():
    """Two orders of derivatives take `functools`."""
    before = Path(__file__).parents[2] / "testdata" / "derivative_that_is_differentiated_again" / "before.py"
    text = "import collections; N = (\n    2\n)\n" + before.read_text()
    result = migrate(SourceFile.from_bytes(Path("module.py"), text.encode()), Project(()), Options())
    assert result.error is None
    after = result.after.decode()
    assert after.startswith("import functools\nimport collections; N = (\n    2\n)\nimport bufcb\n")


@pytest.mark.parametrize(
    ("target", "function", "new"),
    [("bufcb", "bufcb", "_bufcb_2"), ("jax", "store_results", "_store_results_2")],
)
def test_a_definition_made_of_a_lambda_shares_its_name_with_nothing_new(target, function, new):
    text = (
        f"import jax\n\n\ndef {function}(x):\n    return x\n\n\n"
        f"def use(x):\n    return jax.pure_callback(lambda a: {function}(a), x, x)\n"
    )
    result = migrate(
        SourceFile.from_bytes(Path("module.py"), text.encode()), Project(()), Options(target=target)
    )
    assert result.error is None
    assert f"def _{function}(ctx, out, a):" in result.after.decode() and new in result.after.decode()


def test_a_byte_order_mark_stays(cases):
    for before, after in cases:
        assert migrated(b"\xef\xbb\xbf" + before.encode()) == b"\xef\xbb\xbf" + after.encode()


def test_a_missing_last_newline_stays_missing(cases):
    for before, after in cases:
        assert migrated(before.rstrip("\n").encode()).decode().rstrip("\n") == after.rstrip("\n")
        assert not migrated(before.rstrip("\n").encode()).endswith(b"\n")


def test_indentation_by_tabs_stays(cases):
    tried = 0
    for before, after in cases:
        lines = (before + after).splitlines()
        is_narrow = max(map(len, lines)) < 90  # how many columns a tab takes makes no difference
        if is_narrow and {*map(indentation, lines)} <= {0, 4, 8} and ":\n    " in before:
            tried += 1
            got = migrated(before.replace("    ", "\t").encode()).decode()
            assert got == after.replace("    ", "\t")
    assert tried > len(cases) / 2


def indentation(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def test_tabs_that_continue_a_call_stay():
    check_transformed(
        PRELUDE
        + HOST.replace("    ", "\t")
        + "def f(x):\n\treturn jax.pure_callback(\n\t\t_host, S,\n\t\tx)\n",
        MIGRATED_PRELUDE
        + MIGRATED_HOST.replace("    ", "\t")
        + "def f(x):\n\treturn bufcb.buffer_callback(\n\t\t_host, S)(x)\n",
    )


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8", "cp1252"])
def test_encodings_stay(encoding):
    def module(host: str, call: str, imports: str) -> bytes:
        text = f"# -*- coding: {encoding} -*-\n{imports}{host}"
        return (text.replace("_host", "_hôte") + f'y = "é", {call}  # où\n').encode(encoding)

    before = module(HOST, "jax.pure_callback(_hôte, S, X)", PRELUDE)
    after = module(MIGRATED_HOST, "bufcb.buffer_callback(_hôte, S)(X)", MIGRATED_PRELUDE)
    assert migrated(before) == after


@pytest.mark.parametrize("indent", ["\f    ", "  \f    ", "    "])
def test_a_form_feed_in_front_of_a_definition_stays(indent):
    check_transformed(
        f"{PRELUDE}class A:\n{indent}def _host(self, a):\n        return np.sin(a)\n\n"
        "    def use(self, x):\n        return jax.pure_callback(self._host, S, x)\n",
        f"{MIGRATED_PRELUDE}class A:\n{indent}def _host(self, ctx, out, a):\n        a = np.asarray(a)\n"
        "        out[...] = np.sin(a)\n        return\n\n"
        "    def use(self, x):\n        return bufcb.buffer_callback(self._host, S)(x)\n",
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("import jax\n", id="nothing to do"),
        pytest.param("# jax.pure_callback(f, S, x)\n'jax.pure_callback'\n", id="comments and strings"),
        pytest.param(
            "import jax\ny = jax.pure_callback(f, S, x)  # bufcb: skip\n", id="skipped by a comment"
        ),
        pytest.param(
            "def pure_callback(f, s, *a): return f(*a)\npure_callback(f, 1)\n", id="another function"
        ),
        pytest.param("x = 1 \t\r\n\r\n\f\n  # pure_callback\r", id="odd white space"),
    ],
)
def test_files_that_stay_as_they_are(text):
    check_noop(text)


# Random modules.

VALUES = [
    "np.sin(a)",
    "(np.sin(a)\n            + np.cos(a))",
    "np.where(np.cos(a) > 0,  # test\n                    np.sin(a),\n                    np.cos(a))",
    "np.stack([\n        np.sin(a),  # first\n        # own\n        np.cos(a),\n    ])[0]",
    "np.sin(a) \\\n        + np.cos(a)",
    'np.full(2, len("""x\n  y\n"""), np.float32)',
]
BODIES = [
    "    return {value}{tail}\n",
    '    """Doc."""\n\n    # leading\n    return {value}{tail}\n    # behind\n',
    "    if a.ndim:\n        return {value}{tail}\n    return np.cos(a)\n",
    "    for _ in range(2):\n      return {value}{tail}\n",
    '    with open("f"):\n        return {value}{tail}\n',
    "    def inner(b):\n        return b  # inner\n    return {value}{tail}\n",
    '    b = """\n  m\n\tn"""; return {value}{tail}\n',
]
SIGNATURES = [
    "(a)",
    "(a,\n       b=1)",
    "(\n    a,  # angle\n    b=1,\n    *,\n    c=2,\n)",
    "( a ) -> np.ndarray",
    "(a, # c\n)",
    "(a, /, *rest, k=1)",
]
FUNCTIONS = [
    "lambda a: np.sin(a)",
    "(lambda a: np.sin(a))",
    "lambda a: (np.sin(a)\n            + np.cos(a))",
    "lambda a:  # why\n        np.sin(a)",
]
SITES = [
    "jax.pure_callback({function}, S, x)",
    "jax . pure_callback ({function},S,x,)",
    "jax.pure_callback(\n        {function},\n        S,\n        x,\n    )",
    "jax.pure_callback({function},\n        S,\n        x)",
    "jax.pure_callback(\n        # f\n        {function},  # g\n        S,\n\n        # h\n        x,\n    )",
    "jax.pure_callback({function}, S, vectorized=None,  # k\n        a=x)",
    "jax.pure_callback({function}, S, jax.pure_callback({function}, S, x))",
    "jax.pure_callback(  # l\n        {function}  # m\n        , S, x  # n\n    ).sum()",
]
STATEMENTS = [
    "    y = {site}  # tail\n",
    "    # above\n    y = x + {site}\n    # below\n",
    "    if {site} is None:\n        pass\n",
    "    z = 1; y = {site}\n",
    "    assert (\n    {site}\n    )\n",
    "    y = [{site} for _ in range(2)]\n",
]
GAPS = ["", "\n", "\n\n", "\n\n# about\n"]


def module(seed: int) -> str:
    """A random module with a few callbacks and call sites."""
    chance = random.Random(seed)
    parts, names = [PRELUDE], []
    for number in range(chance.randrange(1, 4)):
        name = chance.choice(["_host", "host"]) + str(number)
        tail = chance.choice(["", "  # why", "  # type: ignore[x]", " ;", "; # end"])
        body = chance.choice(BODIES).format(value=chance.choice(VALUES), tail=tail)
        header = f"def {name}{chance.choice(SIGNATURES)}:{chance.choice(['', '  # h'])}"
        parts.append(f"{chance.choice(GAPS)}{header}\n{body}")
        names.append(name)
    for number in range(chance.randrange(1, 4)):
        parts.append(f"{chance.choice(GAPS)}def use{number}(x):\n")
        for _ in range(chance.randrange(1, 3)):
            site = chance.choice(SITES).format(function=chance.choice([*names, chance.choice(FUNCTIONS)]))
            parts.append(chance.choice(STATEMENTS).format(site=site))
    return "".join(parts)


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_random_modules_keep_their_text(first):
    for seed in range(first, first + 20):
        before = module(seed)
        after = migrated(before.encode()).decode()
        assert after != before
        check_transformed(before, after)
        assert comments(before) <= comments(after), seed
        lines = iter(after.splitlines())
        assert all(line in lines for line in untouched(before)), seed


def untouched(text: str) -> list[str]:
    """The lines without imports, calls, lambdas, returns, and headers of functions, in order."""
    touched: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Return() | ast.Lambda() | ast.Call():
                touched.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
            case ast.FunctionDef(body=[first, *_]):
                touched.update(range(node.lineno, first.lineno + 1))
    return [line for number, line in enumerate(text.splitlines(), 1) if number not in touched]
