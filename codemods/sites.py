"""Call sites of `jax.pure_callback` and its like, in every spelling, with their arguments sorted out."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from codemods.apis import PURE_CALLBACK, Api
from codemods.exports import Export
from codemods.names import BindingKind, Module

PARTIAL: Final = frozenset({"functools.partial", "jax.tree_util.Partial"})
_FIRST: Final = ("callback", "result_shape_dtypes")


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class CallSite:
    """A call whose callback, spec, options and arguments are all told apart.

    Attributes:
      api: what is called.
      call: the `ast.Call` itself: `pure_callback(…)`, or `partial(pure_callback, …)`.
      function: the expression that stands for the API.
      options: keywords of the API itself, such as `vmap_method`, and the old `vectorized`.
      args: positional arguments of the callback, starred ones included.
      keywords: keyword arguments of the callback.
      is_partial: whether this is `functools.partial(jax.pure_callback, callback, spec)`.
    """

    api: Api
    call: ast.Call
    function: ast.expr
    callback: ast.expr
    spec: ast.expr
    options: tuple[ast.keyword, ...]
    args: tuple[ast.expr, ...]
    keywords: tuple[ast.keyword, ...]
    is_partial: bool = False

    @property
    def node(self) -> ast.expr:
        return self.call

    @property
    def parts(self) -> tuple[ast.expr, ...]:
        """What the call is made of beside what the callback gets: callback, spec, and values of options."""
        return (self.callback, self.spec, *(option.value for option in self.options))

    @property
    def given(self) -> tuple[ast.expr, ...]:
        """What the callback gets, by position and then by keyword."""
        return (*self.args, *(keyword.value for keyword in self.keywords))

    @property
    def takes_arguments(self) -> bool:
        """Whether the callback may be called with anything."""
        return self.is_partial or bool(self.args or self.keywords)


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class ValueUse:
    """An API as a value, or called in a way that leaves its arguments mixed.

    Attributes:
      node: the expression to rename: a name, an attribute, or `getattr(jax, "pure_callback")`.
      call: the call or `partial` around it; None for a bare value.
      why: what stood in the way of sorting the arguments out.
      vectorized: the old option of that name among the call's keywords, to be renamed.
    """

    api: Api
    node: ast.expr
    call: ast.Call | None
    why: str
    vectorized: ast.keyword | None = None


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Unresolved:
    """A use of the name that cannot be migrated: refused or, when known to be another API, left alone."""

    api: Api
    node: ast.expr
    code: str
    reason: str
    way_out: str


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Mention:
    """The name in a string that something may look up at run time, as `mock.patch` does."""

    node: ast.Constant


Site = CallSite | ValueUse | Unresolved
ExportOf = Callable[[str], Export | None]
"""Takes a dotted name, and says what it stands for in a module of the project; None for a library's."""


def find(
    module: Module,
    assume_jax: tuple[str, ...] = (),
    exports: ExportOf = lambda origin: None,
    apis: Sequence[Api] = (PURE_CALLBACK,),
) -> tuple[list[Site], list[Mention]]:
    """Every call site of the module and every mention in a string, in order of position."""
    found: dict[ast.expr, Site] = {}
    mentions: dict[ast.Constant, Mention] = {}
    for api in apis:
        finder = _Finder(module, api, assume_jax, exports)
        for site in finder.sites():
            found.setdefault(site.node, finder.unless_it_prints_itself(site))
        mentions.update((node, Mention(node)) for node in finder.mentions())
    return sorted(found.values(), key=_position), sorted(mentions.values(), key=_position)


class _Finder:
    """Looks for one API in one module."""

    def __init__(self, module: Module, api: Api, assume_jax: tuple[str, ...], exports: ExportOf) -> None:
        self.module, self.api, self.assume_jax, self.exports = module, api, assume_jax, exports
        self.dotted = re.compile(rf"\bjax(?:\.experimental)?\.{api.name}$")

    def sites(self) -> Iterator[Site]:
        names = self._possible_names()
        for node in self.module.parents:
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                if _last_name(node) in names:
                    yield from self._use(node)
            elif isinstance(node, ast.Attribute) and node.attr == self.api.name and self._is_jax(node.value):
                yield self._patched(node)
            elif isinstance(node, ast.Call) and self._is_getattr(node):
                yield self._sorted_out(node)

    def mentions(self) -> Iterator[ast.Constant]:
        """The strings that spell the dotted name and are arguments, not text in a document."""
        for node in self.module.parents:
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and self.dotted.search(node.value)
                and isinstance(self.module.parents.get(node), ast.Call | ast.keyword)
            ):
                yield node

    def unless_it_prints_itself(self, site: Site) -> Site:
        """Refuses a call in `f"{call = }"`, whose text is part of the program's output."""
        child: ast.AST = site.node
        for parent in self.module.ancestors(site.node):
            if isinstance(parent, ast.JoinedStr) and isinstance(child, ast.FormattedValue):
                before = parent.values[: parent.values.index(child)]
                text = before[-1].value if before and isinstance(before[-1], ast.Constant) else ""
                if isinstance(text, str) and text.rstrip().endswith("=") and self._spelled(site) in text:
                    reason = "The f-string prints the text of this call, which a rewrite would change."
                    return self._unresolved(site.node, "BC206", reason, "Name the result in front of it.")
            child = parent
        return site

    def _spelled(self, site: Site) -> str:
        """The last name of what a site calls."""
        function = site.function if isinstance(site, CallSite) else site.node
        return _last_name(function) if isinstance(function, ast.Name | ast.Attribute) else self.api.name

    def _unresolved(self, node: ast.expr, code: str, reason: str, way_out: str = "") -> Unresolved:
        return Unresolved(self.api, node, code, reason, way_out)

    def _possible_names(self) -> frozenset[str]:
        """The last names that a use can have: the plain one, and what imports call it."""
        aliases = {
            binding.name
            for scope in set(self.module.opened.values())
            for found in scope.bindings.values()
            for binding in found
            if binding.origin is not None and binding.origin.rpartition(".")[2] == self.api.name
        }
        return frozenset(aliases | {self.api.name})

    def _is_jax(self, node: ast.expr) -> bool:
        return self.api.is_in(node, self.module, self.assume_jax)

    def _use(self, node: ast.Name | ast.Attribute) -> Iterator[Site]:
        origins, name = self.module.origins(node), self.api.name
        called = isinstance(parent := self.module.parents[node], ast.Call) and parent.func is node
        if origins and isinstance(node, ast.Name) and not called and self._may_be_none(node):
            reason = f"`{node.id}` is None where JAX has no `{name}`, and is looked at here."
            way_out = "Its calls are migrated; leave the test, or drop it by hand."
            yield self._unresolved(node, "BC206", reason, way_out)
            return
        of_jax = isinstance(node, ast.Attribute) and self._is_jax(node.value)
        if of_jax or (origins and origins <= self.api.origins):
            yield self._sorted_out(node)
        elif origins and all(origin.startswith("bufcb.") for origin in origins):
            return  # what a migration writes
        elif any(origin.rpartition(".")[2] == name for origin in origins):
            yield self._imported(node, origins)
        elif _last_name(node) == name:
            yield self._other(node, origins)

    def _imported(self, node: ast.Name | ast.Attribute, origins: frozenset[str]) -> Site:
        """A use of what other modules call so, which those of the project may have from JAX."""
        found = {origin: self.exports(origin) for origin in origins - self.api.origins}
        handed_on = [export for export in found.values() if export is not None]
        real: frozenset[str] = frozenset().union(
            origins & self.api.origins,
            *(export.origins if export else {origin} for origin, export in found.items()),
        )
        if not handed_on:
            return self._other(node, origins)
        if all(export is not None and export.is_defined for export in found.values()) and not real:
            return self._own_definition(node)
        if all(export.origins for export in handed_on) and real <= self.api.origins:
            return self._sorted_out(node)
        source = min(origin for origin, export in found.items() if export is not None)
        return self._unresolved(
            node,
            "BC203",
            f"`{source}` comes through a module of the project, where it may be anything.",
            f"Import `{self.api.name}` from {self.api.home} here, or migrate this call by hand.",
        )

    def _own_definition(self, node: ast.expr) -> Unresolved:
        reason = "This is a definition of the project that has the same name; left alone."
        return self._unresolved(node, "BC003", reason)

    def _may_be_none(self, node: ast.Name) -> bool:
        values = [binding.value for binding in self.module.bindings(node)]
        return any(isinstance(value, ast.Constant) and value.value is None for value in values)

    def _other(self, node: ast.Name | ast.Attribute, origins: frozenset[str]) -> Unresolved:
        name, home = self.api.name, self.api.home
        stars = tuple(f"{star}." for star in self.module.star_imports)
        # What a module out of sight hands on may be JAX's.
        if origins and not any(origin.startswith((".", "jax.", *stars)) for origin in origins):
            library = min(origins).partition(".")[0]
            reason = f"This is {library}'s `{name}`, not JAX's; left alone."
            return self._unresolved(node, "BC003", reason)
        if isinstance(node, ast.Attribute) and _is_own_method(node, self.module):
            reason = "This is a method of the project that has the same name; left alone."
            return self._unresolved(node, "BC003", reason)
        if isinstance(node, ast.Attribute):
            base = ast.unparse(node.value)
            reason = f"What `{base}` stands for cannot be seen from here."
            way_out = f"If it is the {home} module, pass `--assume-jax {base}`."
            return self._unresolved(node, "BC201", reason, way_out)
        if _is_own_definition(node, self.module):
            return self._own_definition(node)
        where = min(origins - self.api.origins, default=f"`{node.id}`")
        if origins & self.api.origins:
            reason = f"This may be JAX's `{name}`, or {where}."
        else:
            reason = f"Where {where} comes from cannot be seen from here."
        way_out = f"Import it from {home} directly, or migrate this call by hand."
        return self._unresolved(node, "BC201", reason, way_out)

    def _patched(self, node: ast.Attribute) -> Unresolved:
        reason = f"`{self.api.name}` is replaced or deleted here, which migrated calls will not see."
        return self._unresolved(node, "BC206", reason, f"{patch_instead(self.api)}.")

    def _is_getattr(self, node: ast.Call) -> bool:
        match node:
            case ast.Call(func=ast.Name(id="getattr"), args=[base, ast.Constant(value=name), *_]):
                return name == self.api.name and self._is_jax(base)
        return False

    def _sorted_out(self, node: ast.expr) -> Site:
        """Tells callback, spec, options and arguments apart, or says why that cannot be done."""
        parent = self.module.parents[node]
        if isinstance(parent, ast.Call) and parent.func is node:
            return self._call(node, parent, parent.args, is_partial=False)
        if (
            isinstance(parent, ast.Call)
            and parent.args
            and parent.args[0] is node
            and (origins := self.module.origins(parent.func))
            and origins <= PARTIAL
        ):
            return self._partial(node, parent)
        return ValueUse(self.api, node, None, f"`{self.api.path}` is passed around as a value here.")

    def _partial(self, node: ast.expr, call: ast.Call) -> Site:
        rest = call.args[1:]
        names = {keyword.arg for keyword in call.keywords}
        given = len(rest) + len(names & set(_FIRST))
        if given < 2 and not any(isinstance(a, ast.Starred) for a in rest) and None not in names:
            why = "The partial binds no callback and spec, so they arrive later."
            return ValueUse(self.api, node, call, why)
        if len(rest) > 2 or names - {*_FIRST, *self.api.options}:
            return ValueUse(self.api, node, call, "The partial binds arguments of the callback as well.")
        return self._call(node, call, rest, is_partial=True)

    def _call(self, node: ast.expr, call: ast.Call, positional: list[ast.expr], *, is_partial: bool) -> Site:
        if any(keyword.arg is None for keyword in call.keywords):
            return ValueUse(self.api, node, call, f"`**` may carry options of `{self.api.name}` itself.")
        slots: list[ast.expr | None] = [None, None]
        rest = list(positional)
        for index in range(2):
            if not rest:
                break
            if isinstance(rest[0], ast.Starred):
                may = "may carry" if any(k.arg in _FIRST for k in call.keywords) else "carries"
                why = f"A starred argument {may} the callback or the spec."
                return ValueUse(self.api, node, call, why)
            slots[index] = rest.pop(0)
        options, keywords = [], []
        for keyword in call.keywords:
            if keyword.arg in _FIRST:
                index = _FIRST.index(keyword.arg)
                if slots[index] is not None:
                    return incomplete(self.api, node, f"`{keyword.arg}` is given twice.")
                slots[index] = keyword.value
            elif keyword.arg in self.api.options:
                options.append(keyword)
            else:
                keywords.append(keyword)
        callback, spec = slots
        if callback is None or spec is None:
            reason = "The call lacks its callback or its `result_shape_dtypes`."
            return incomplete(self.api, node, reason)
        given = (tuple(options), tuple(rest), tuple(keywords))
        return CallSite(self.api, call, node, callback, spec, *given, is_partial)


def patch_instead(api: Api) -> str:
    """What to do about code that replaces an API at run time."""
    both = f" and `bufcb.{api.counterpart}`" if api.counterpart else ""
    return f"Patch `bufcb.buffer_callback`{both} instead"


def incomplete(api: Api, node: ast.expr, reason: str) -> Unresolved:
    return Unresolved(api, node, "BC202", reason, "Such a call raises TypeError today; correct it first.")


def _position(found: Site | Mention) -> tuple[int, int]:
    return found.node.lineno, found.node.col_offset


def _last_name(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


def _is_own_method(node: ast.Attribute, module: Module) -> bool:
    """Whether the object is made by calling a class of this module that defines the method."""
    if not isinstance(node.value, ast.Name):
        return False
    binding = module.sole_binding(node.value)
    if binding is None:
        return False
    if binding.kind is BindingKind.PARAMETER:
        function = module.parents[module.parents[binding.node]]
        owner = module.parents.get(function)
        return isinstance(owner, ast.ClassDef) and _defines(owner, node.attr)
    if isinstance(binding.node, ast.ClassDef):
        return _defines(binding.node, node.attr)
    if isinstance(binding.value, ast.Call) and isinstance(binding.value.func, ast.Name):
        made = module.sole_binding(binding.value.func)
        return made is not None and isinstance(made.node, ast.ClassDef) and _defines(made.node, node.attr)
    return False


def _defines(owner: ast.ClassDef, name: str) -> bool:
    return any(
        isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) and item.name == name for item in owner.body
    )


def _is_own_definition(node: ast.Name, module: Module) -> bool:
    found = module.bindings(node)
    return bool(found) and all(b.kind in (BindingKind.FUNCTION, BindingKind.CLASS) for b in found)
