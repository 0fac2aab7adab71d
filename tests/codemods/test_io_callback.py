"""`--from io_callback`: what of `pure_callback` holds for it, what differs, and that it is off by default."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from codemods import cli, sites
from codemods.apis import APIS, IO_CALLBACK, PURE_CALLBACK
from codemods.names import read
from codemods.sites import CallSite, Site, Unresolved, ValueUse

BOTH = ("--from", "pure_callback", "--from", "io_callback")
IO = ("--from", "io_callback")
HEADER = "import jax\nfrom jax.experimental import io_callback\n"


def find(text: str, *assume_jax: str, apis=(IO_CALLBACK,)) -> list[Site]:
    return sites.find(read(ast.parse(text)), assume_jax, apis=apis)[0]


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(text: str, *options: str, command=cli.migrate, **others: str) -> Result:
    """Runs a command on `m.py`, beside which the `others` lie."""
    for name, content in {"m": text, **others}.items():
        Path(f"{name}.py").write_text(content)
    return CliRunner().invoke(command, ["m.py", *options])


def report(text: str, *options: str, **others: str) -> tuple[list[tuple[str, str | None]], list[str], str]:
    """Status and code of each site, all messages, and the migrated text."""
    result = run(text, "--write", "--format", "json", *options, **others)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)["files"]
    (file,) = found or [{"sites": [], "notes": []}]
    outcomes = [(site["status"], site["code"]) for site in file["sites"]]
    return outcomes, [each["message"] for each in (*file["sites"], *file["notes"])], Path("m.py").read_text()


# ------------------------------------------------------------------------------- spellings


@pytest.mark.parametrize(
    "text",
    [
        "from jax.experimental import io_callback\nio_callback(f, S, x)",
        "from jax.experimental import io_callback as ioc\nioc(f, S, x)",
        "import jax.experimental\njax.experimental.io_callback(f, S, x)",
        "import jax\njax.experimental.io_callback(f, S, x)",
        "import jax as J\nJ.experimental.io_callback(f, S, x)",
        "from jax import experimental as ex\nex.io_callback(f, S, x)",
        "import jax.experimental as ex\nex.io_callback(f, S, x)",
        "from jax.experimental import *\nio_callback(f, S, x)",
        "from jax._src.callback import io_callback\nio_callback(f, S, x)",
        "from jax._src import callback\ncallback.io_callback(f, S, x)",
        "import jax\ngetattr(jax.experimental, 'io_callback')(f, S, x)",
        "try:\n    from jax.experimental import io_callback as io\nexcept ImportError: raise\nio(f, S, x)",
        "import functools\nfrom jax.experimental import io_callback\nfunctools.partial(io_callback, f, S)",
    ],
)
def test_every_spelling_is_found(text: str):
    (site,) = find(text)
    assert isinstance(site, CallSite) and site.api is IO_CALLBACK
    assert (ast.unparse(site.callback), ast.unparse(site.spec), site.options) == ("f", "S", ())
    assert find(text, apis=(PURE_CALLBACK,)) == []


@pytest.mark.parametrize("spelled", ["self._jax.experimental", "self._jax"])
def test_an_assumed_module_has_it_too(spelled: str):
    (site,) = find(f"{spelled}.io_callback(f, S, x)", "self._jax")
    assert isinstance(site, CallSite)
    (unknown,) = find(f"{spelled}.io_callback(f, S, x)")
    assert isinstance(unknown, Unresolved) and unknown.code == "BC201"
    assert unknown.way_out == f"If it is the jax.experimental module, pass `--assume-jax {spelled}`."


def test_its_options_are_its_own():
    (site,) = find(
        "from jax.experimental import io_callback\n"
        "io_callback(f, S, x, ordered=False, sharding=s, vmap_method=m, vectorized=True)"
    )
    assert isinstance(site, CallSite)
    assert [option.arg for option in site.options] == ["ordered", "sharding"]
    assert [keyword.arg for keyword in site.keywords] == ["vmap_method", "vectorized"]
    (pure,) = find("import jax\njax.pure_callback(f, S, x, ordered=False)", apis=(PURE_CALLBACK,))
    assert isinstance(pure, CallSite)
    assert [keyword.arg for keyword in pure.keywords] == ["ordered"]


def test_a_name_that_may_be_either_is_reported_once():
    text = (
        "if a:\n    from jax import pure_callback as call\n"
        "else:\n    from jax.experimental import io_callback as call\ncall(f, S, x)"
    )
    (site,) = find(text, apis=APIS)
    assert isinstance(site, Unresolved) and site.code == "BC201"
    assert site.reason == "This may be JAX's `pure_callback`, or jax.experimental.io_callback."


@pytest.mark.parametrize(
    "use", ["g(io_callback)", "cb = io_callback", "io_callback(f, S, **k)", "io_callback(*fs, x)"]
)
def test_a_value_is_a_value(use: str):
    (site,) = find(f"from jax.experimental import io_callback\n{use}")
    assert isinstance(site, ValueUse) and site.api is IO_CALLBACK


# ------------------------------------------------------------------------------- off by default

PROGRAM = """\
import jax
from jax.experimental import io_callback


def _note(x):
    print(int(x))


def f(x):
    jax.experimental.io_callback(_note, None, x, ordered=True)
    cb = io_callback
    {}(_note, None, x)
"""


def test_without_the_option_a_file_is_not_even_parsed():
    text = PROGRAM.format("io_callback") + "def broken(:\n"
    result = run(text, "--format", "json")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {
        "version": 1,
        "files": [],
        "summary": dict.fromkeys(
            ("changed", "failed", "sites", "rewritten", "adapted", "refused", "skipped"), 0
        )
        | {"scanned": 1},
    }
    assert run(text, *IO).exit_code == 2


def test_without_the_option_nothing_is_said_of_it():
    text = (
        PROGRAM.format("io_callback")
        + "# pure_callback\nmock.patch('jax.experimental.io_callback')\njax.experimental.io_callback = None\n"
    )
    assert report(text) == ([], [], text)
    outcomes, messages, _ = report(text, *IO)
    assert [code for _, code in outcomes] == ["BC206", "BC206", "BC206", "BC206"]
    assert len(messages) == 5 and all(
        "`jax.experimental.io_callback`" in m or "`io_callback`" in m for m in messages
    )


def test_the_option_replaces_the_default():
    text = f"{HEADER}jax.pure_callback(f, S, x)\nio_callback(f, S, x)\n"
    for options, calls in [((), 1), (IO, 1), (BOTH, 2), ((*BOTH, *IO), 2)]:
        outcomes, _, after = report(text, *options)
        assert len(outcomes) == calls
        assert ("jax.pure_callback" in after) is (options == IO)
        assert ("io_callback(f" in after) is (options == ())


def test_it_can_be_set_in_the_settings():
    Path("pyproject.toml").write_text('[tool.bufcb]\nfrom = ["io_callback"]\n')
    text = PROGRAM.format("jax.pure_callback")
    assert [code for _, code in report(text)[0]] == ["BC210", "BC211"]
    assert [code for _, code in report(text, "--from", "pure_callback")[0]] == ["BC001"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ('"io_callback"', "from: expected a list of pure_callback and io_callback, found 'io_callback'"),
        ('["debug"]', "from: expected a list of pure_callback and io_callback, found ['debug']"),
        ("[]", "Invalid value for '--from': Name at least one."),
    ],
)
def test_wrong_settings_end_the_run(value: str, message: str):
    Path("pyproject.toml").write_text(f"[tool.bufcb]\nfrom = {value}\n")
    result = run("x = 1\n")
    assert result.exit_code == 2
    assert message in result.stderr


# ------------------------------------------------------------------------------- what is said


def test_the_reports_name_what_is_called():
    text = PROGRAM.format("jax.pure_callback")
    found = run(text, *BOTH, "--format", "github")
    lines = [line.split("::")[2] for line in found.stdout.splitlines()]
    assert [line.replace(" can ", " is ").partition(" is ")[0] for line in lines] == [
        "io_callback of `_note`", "`io_callback`", "pure_callback of `_note`",
    ]  # fmt: skip
    for options, names in [
        ((), "pure_callback"),
        (IO, "io_callback"),
        (BOTH, "pure_callback or io_callback"),
    ]:
        assert f"No call site of {names} found" in run("x = 1\n", *options).stderr


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
def test_messages_name_the_api(api):
    name, home = api.name, api.home
    text = (
        f"import functools, {home}\nfrom host import {name}\n"
        f"def f(j, x):\n"
        f"    {name}(f, S, x)\n"
        f"    j.{name}(f, S, x)\n"
        f"    {home}.{name}(f)\n"
        f"    {home}.{name}(f, S, **x)\n"
        f"    print(f'{{{home}.{name}(f, S, x)=}}')\n"
        f"    g = functools.partial({home}.{name}, f, S)\n"
        f"    return g(x, sharding=x)\n"
        f"look_up('jax.experimental.{name}')\n"
    )
    outcomes, messages, _ = report(text, "--from", name, host="from numpy import *\n")
    value = ("adapted", "BC110") if api.counterpart else ("refused", "BC211")
    assert outcomes == [
        ("refused", "BC203"), ("refused", "BC201"), ("refused", "BC202"), value, ("refused", "BC206"), value,
    ]  # fmt: skip
    (other,) = [other.name for other in APIS if other is not api]
    assert not any(other in message for message in messages)
    assert f"Import `{name}` from {home} here" in messages[0]
    assert f"options of `{name}` itself" in messages[3] and f"options of `{name}` itself" in messages[5]


@pytest.mark.parametrize("alias", ["io_callback", "ioc"])
def test_a_call_that_prints_itself_is_left_alone(alias: str):
    text = f"from jax.experimental import io_callback as {alias}\nprint(f'{{{alias}(f, S, x) = }}')\n"
    outcomes, _, after = report(text, *IO)
    assert outcomes == [("refused", "BC206")] and after == text


# ------------------------------------------------------------------------------- who replaces it

CALLS = """\
import jax
import jax.experimental


def f(x):
    y = jax.experimental.io_callback(_f, S, x)
    return y + jax.pure_callback(_f, S, x)
"""


@pytest.mark.parametrize(
    "patch",
    [
        "jax.experimental.io_callback = f",
        "del jax.experimental.io_callback",
        "setattr(jax.experimental, 'io_callback', f)",
        "mock.patch('jax.experimental.io_callback', f)",
        "mock.patch.object(jax.experimental, 'io_callback', f)",
        "mock.patch.multiple('jax.experimental', io_callback=f)",
        "jax._src.callback.io_callback = f",
    ],
)
def test_a_replaced_api_stays_and_the_other_one_does_not(patch: str):
    outcomes, messages, after = report(f"{CALLS}\n\n{patch}\n", *BOTH)
    assert [code for _, code in outcomes[:2]] == ["BC206", "BC101"]
    assert "`jax.experimental.io_callback` (line 10)" in messages[0]
    assert "jax.experimental.io_callback(_f" in after and "jax.pure_callback" not in after
    pure = patch.replace("experimental.io_callback", "pure_callback").replace("io_callback", "pure_callback")
    outcomes, _, after = report(f"{CALLS}\n\n{pure.replace('jax.experimental', 'jax')}\n", *BOTH)
    assert [code for _, code in outcomes[:2]] == ["BC101", "BC206"]


def test_a_replacement_in_another_file_is_noted_for_what_it_replaces():
    other = "import jax.experimental\njax.experimental.io_callback = print\n"
    for options, count in [((), 0), (IO, 1), (BOTH, 1)]:
        _, messages, _ = report(CALLS, *options, other=other)
        assert sum("other.py:2 replaces `io_callback`" in message for message in messages) == count


# ------------------------------------------------------------------------------- what is written


@pytest.mark.parametrize(
    ("call", "options", "arguments"),
    [
        ("io_callback(f, S, x)", ", vmap_method='sequential'", "x"),
        ("io_callback(f, S)", "", ""),
        ("io_callback(f, S, k=x)", ", vmap_method='sequential'", "k=x"),
        ("io_callback(f, S, *xs)", ", vmap_method='sequential'", "*xs"),
        ("io_callback(f, S, ordered=False)", "", ""),
        ("io_callback(f, S, x, vmap_method=None)", ", vmap_method='sequential'", "x, vmap_method=None"),
    ],
)
def test_the_new_call_says_what_the_old_one_was(call: str, options: str, arguments: str):
    # `--default-vmap-method` is for what has no such default of its own.
    text = report(f"{HEADER}{call}\n", *IO, "--default-vmap-method", "expand_dims")[2]
    new = ast.unparse(ast.parse(text).body[-1])
    function = "bufcb.adapt(f, arrays='jax')"
    assert new == f"bufcb.buffer_callback({function}, S, has_side_effect=True{options})({arguments})"


@pytest.mark.parametrize(
    ("call", "after"),
    [
        pytest.param(
            "io_callback(f, S, sharding=s)",
            'bufcb.buffer_callback(bufcb.adapt(f, arrays="jax"), S, sharding=s, has_side_effect=True)()',
            id="its own options first",
        ),
        pytest.param(
            'f"{io_callback(f, S, x)}"',
            "f\"{bufcb.buffer_callback(bufcb.adapt(f, arrays='jax'), S, has_side_effect=True, "
            "vmap_method='sequential')(x)}\"",
            id="quotes of an f-string",
        ),
        pytest.param(
            "io_callback(\n    f,\n    S,\n    x,\n    ordered=False,  # as they come\n)",
            'bufcb.buffer_callback(\n    bufcb.adapt(f, arrays="jax"),\n    S,\n    has_side_effect=True,\n'
            '    vmap_method="sequential",\n)(\n    # as they come\n    x,\n)',
            id="the comment of an option that goes",
        ),
    ],
)
def test_the_new_call_is_laid_out_as_the_old_one_was(call: str, after: str):
    assert report(f"{HEADER}{call}\n", *IO)[2].endswith(f"\n{after}\n")


def test_an_option_that_cannot_move_is_refused():
    outcomes, messages, _ = report(f"{HEADER}io_callback(f, S, g(x), sharding=h(x))\n", *IO)
    assert outcomes == [("refused", "BC211")]
    assert "`h(x)` would be evaluated before `g(x)`" in messages[0]


def test_target_jax_has_the_side_effect_too():
    callback = "def _f(x):\n    print(int(x))\n"
    text = f"{HEADER}{callback}io_callback(_f, None, x)\nio_callback(_f, None, x, sharding=s)\n"
    outcomes, _, after = report(text, *IO, "--target", "jax")
    assert outcomes == [("rewritten", "BC001"), ("refused", "BC207")]
    assert 'buffer_callback(_f_into, None, has_side_effect=True, vmap_method="sequential")(x)' in after


# ------------------------------------------------------------------------------- callbacks that stay

KEPT = f"""\
{HEADER}import numpy as np

def g(x, flag):
    host = lambda x: np.sqrt(x)
    a = io_callback(host, S, x)
    return a + io_callback(host, S, x, {{}})
"""


@pytest.mark.parametrize(
    "option", ["ordered=True", "ordered=flag", "k=next(flag), sharding=next(flag)", "**flag"]
)
def test_a_lambda_that_a_call_left_alone_uses_stays(option: str):
    _, _, after = report(KEPT.format(option), *IO)
    assert "host = lambda x: np.sqrt(x)" in after
    assert "bufcb.adapt(host, arrays=" in after


def test_a_lambda_that_a_renamed_call_uses_stays():
    text = KEPT.replace("io_callback", "jax.pure_callback").replace("import jax.pure", "import pure")
    _, _, after = report(text.format("k=next(flag), vmap_method=next(flag)"))
    assert "host = lambda x: np.sqrt(x)" in after
    assert "bufcb.pure_callback(host, S, x" in after
