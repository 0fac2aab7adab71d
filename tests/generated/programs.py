"""A strategy for random programs that call back, valid and deterministic, with a `main()` that prints."""

import dataclasses
import re

from bodies import Lines, indented
from callbacks import Site
from expressions import Draw
from hypothesis import strategies as st
from layout import laid_out
from placements import HEAD, HELPERS, SPELLINGS

from codemods.model import Options

STANDARD = "import collections\nimport contextlib\nimport functools\nimport threading\n\n"
IMPORTS = f"{STANDARD}import jax\nimport jax.numpy as jnp\nimport numpy as np\nfrom jax import lax\n\n"
# How the program names NumPy and `jax.numpy`.
NAMES = ({}, {}, {"np": "onp"}, {"np": "onp", "jnp": "np"}, {"np": "numpy"})
OPTIONS = (
    *[Options()] * 6,
    Options(target="jax"),
    Options(public=True),
    Options(arrays="jax"),
)
NUMPY = (Options(arrays="numpy"), Options(arrays="numpy", target="jax"))


@dataclasses.dataclass(frozen=True)
class Program:
    """A program with the modules beside it.

    Attributes:
      data: its bytes.
      others: the texts of the other modules, by name.
      names: the names of its callbacks and of what is made of them.
      features: what it is made of, to tell what a run has seen.
      options: how it is to be migrated.
    """

    data: bytes
    others: dict[str, str]
    names: frozenset[str]
    features: frozenset[str]
    options: Options

    def __repr__(self) -> str:  # what Hypothesis shows of a failure
        others = "".join(f"\n--- {name}\n{text}" for name, text in self.others.items())
        return f"{self.options}\n--- program.py\n{self.data.decode(errors='replace')}{others}"


@st.composite
def programs(draw: Draw) -> Program:
    """A program with one callback or two."""
    spelling, imported = draw(st.sampled_from(SPELLINGS))
    sites = [Site(draw, number, spelling) for number in range(draw(st.sampled_from((1, 1, 2))))]
    for site in sites:
        site.write()
    names = draw(st.sampled_from(NAMES))
    features = set().union(*(site.features for site in sites), {f"spelled {spelling}"})
    imports = IMPORTS
    for old, new in names.items():
        imports = re.sub(rf"\bas {old}\b", f"as {new}", imports)
    lines = [HEAD, *(line for site in sites for line in site.module), *_main(draw, sites)]
    text = f"{imports}{imported}\n\n{_renamed(chr(10).join(lines), names)}\n"
    data, laid = draw(laid_out(text, ("callback", "return", "def ", "lambda")))
    options = OPTIONS if not all(site.is_converted for site in sites) else (*OPTIONS, *NUMPY)
    host = "\n".join(line for site in sites for line in site.host)
    return Program(
        data,
        {"helpers.py": HELPERS, **({"host.py": f"{IMPORTS}\n{HEAD}\n{host}\n"} if host else {})},
        frozenset().union(*(site.names for site in sites)),
        frozenset(features | laid),
        draw(st.sampled_from(options)),
    )


def _renamed(text: str, names: dict[str, str]) -> str:
    if not names:
        return text
    return re.sub(rf"(?<![\w.])({'|'.join(names)})(?=\.)", lambda match: names[match.group()], text)


def _main(draw: Draw, sites: list[Site]) -> Lines:
    main = [line for site in draw(st.permutations(sites)) for line in site.main]
    main.append('show("kept", lambda: KEPT)')
    return ["", "def main():", *indented(main)]
