"""The APIs of JAX that the migration replaces, and all in which they differ to it."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from codemods.names import Module

Name = Literal["pure_callback", "io_callback"]


@dataclasses.dataclass(frozen=True, slots=True)
class Api:
    """A function that calls back into Python, with callback, spec, options and the callback's arguments.

    Attributes:
      name: what it is called, which is what a file must spell to have a call site.
      home: the module that users import it from.
      origins: every dotted name that stands for it.
      options: its own keywords, which do not go to the callback.
      keywords: what each call of `buffer_callback` says in their place.
      vmap_method: what `vmap` does to it, where that is no option of its own; None where it is.
      counterpart: the function of `bufcb` that has its signature; None where there is none.
    """

    name: Name
    home: str
    origins: frozenset[str]
    options: tuple[str, ...]
    keywords: tuple[tuple[str, str], ...] = ()
    vmap_method: str | None = None
    counterpart: str | None = None

    @property
    def path(self) -> str:
        """The dotted name that users know."""
        return f"{self.home}.{self.name}"

    @property
    def modules(self) -> frozenset[str]:
        """The modules of JAX that have it."""
        return frozenset(origin.rpartition(".")[0] for origin in self.origins)

    def is_in(self, node: ast.expr, module: Module, assume_jax: tuple[str, ...]) -> bool:
        """Whether an expression is one of the modules of JAX that have it, or is taken for one."""
        origins = module.origins(node)
        if origins and origins <= self.modules:
            return True
        if not assume_jax:
            return False
        text = ast.unparse(node)
        taken = {known.replace("jax", assumed, 1) for assumed in assume_jax for known in self.modules}
        return text in taken.union(assume_jax)


PURE_CALLBACK: Final = Api(
    name="pure_callback",
    home="jax",
    origins=frozenset(
        {
            "jax.pure_callback",
            "jax.experimental.pure_callback",
            "jax._src.callback.pure_callback",
            "jax._src.api.pure_callback",
        }
    ),
    options=("sharding", "vmap_method", "vectorized"),
    counterpart="pure_callback",
)
IO_CALLBACK: Final = Api(
    name="io_callback",
    home="jax.experimental",
    origins=frozenset({"jax.experimental.io_callback", "jax._src.callback.io_callback"}),
    options=("sharding", "ordered"),
    keywords=(("has_side_effect", "True"),),
    vmap_method="sequential",
)
APIS: Final = (PURE_CALLBACK, IO_CALLBACK)
DEFAULT: Final[tuple[Name, ...]] = ("pure_callback",)


def named(names: Iterable[str]) -> tuple[Api, ...]:
    """The APIs of these names, each once."""
    wanted = frozenset(names)
    return tuple(api for api in APIS if api.name in wanted)
