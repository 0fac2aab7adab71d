"""Call sites of `jax.pure_callback`, in every spelling, with their arguments sorted out."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Callable, Iterator

from codemods.exports import Export
from codemods.names import BindingKind, Module

PURE_CALLBACK = frozenset(
    {
        "jax.pure_callback",
        "jax.experimental.pure_callback",
        "jax._src.callback.pure_callback",
        "jax._src.api.pure_callback",
    }
)
PARTIAL = frozenset({"functools.partial", "jax.tree_util.Partial"})
OPTION_NAMES = ("sharding", "vmap_method", "vectorized")
_DOTTED = re.compile(r"\bjax(?:\.experimental)?\.pure_callback$")


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class CallSite:
    """A call whose callback, spec, options and arguments are all told apart.

    Attributes:
      call: the `ast.Call` itself: `pure_callback(…)`, or `partial(pure_callback, …)`.
      function: the expression that stands for `jax.pure_callback`.
      options: keywords of `pure_callback` itself, such as `vmap_method`, and the old `vectorized`.
      args: positional arguments of the callback, starred ones included.
      keywords: keyword arguments of the callback.
      is_partial: whether this is `functools.partial(jax.pure_callback, callback, spec)`.
    """

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


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class ValueUse:
    """`jax.pure_callback` as a value, or called in a way that leaves its arguments mixed.

    Attributes:
      node: the expression to rename: a name, an attribute, or `getattr(jax, "pure_callback")`.
      call: the call or `partial` around it; None for a bare value.
      why: what stood in the way of sorting the arguments out.
      vectorized: the old option of that name among the call's keywords, to be renamed.
    """

    node: ast.expr
    call: ast.Call | None
    why: str
    vectorized: ast.keyword | None = None


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Unresolved:
    """A use of the name that cannot be migrated: refused or, when known to be another API, left alone."""

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
    module: Module, assume_jax: tuple[str, ...] = (), exports: ExportOf = lambda origin: None
) -> tuple[list[Site], list[Mention]]:
    """Every call site of the module and every mention in a string, in order of position."""
    found: list[Site] = []
    mentions: list[Mention] = []
    names = _possible_names(module)
    for node in module.parents:
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            if _last_name(node) in names:
                found.extend(_use(node, module, assume_jax, exports))
        elif (
            isinstance(node, ast.Attribute)
            and node.attr == "pure_callback"
            and _is_jax(node.value, module, assume_jax)
        ):
            found.append(_patched(node))
        elif isinstance(node, ast.Call) and _is_getattr(node, module, assume_jax):
            found.append(_sorted_out(node, module))
        elif isinstance(node, ast.Constant) and _is_looked_up(node, module):
            mentions.append(Mention(node))
    found = [_unless_it_prints_itself(site, module) for site in found]
    found.sort(key=lambda site: (site.node.lineno, site.node.col_offset))
    mentions.sort(key=lambda mention: (mention.node.lineno, mention.node.col_offset))
    return found, mentions


def _unless_it_prints_itself(site: Site, module: Module) -> Site:
    """Refuses a call in `f"{call = }"`, whose text is part of the program's output."""
    child: ast.AST = site.node
    for parent in module.ancestors(site.node):
        if isinstance(parent, ast.JoinedStr) and isinstance(child, ast.FormattedValue):
            before = parent.values[: parent.values.index(child)]
            text = before[-1].value if before and isinstance(before[-1], ast.Constant) else ""
            if isinstance(text, str) and text.rstrip().endswith("=") and "pure_callback" in text:
                reason = "The f-string prints the text of this call, which a rewrite would change."
                return Unresolved(site.node, "BC206", reason, "Name the result in front of it.")
        child = parent
    return site


def _possible_names(module: Module) -> frozenset[str]:
    """The last names that a use can have: the plain one, and what imports call it."""
    aliases = {
        binding.name
        for scope in set(module.opened.values())
        for found in scope.bindings.values()
        for binding in found
        if binding.origin is not None and binding.origin.rpartition(".")[2] == "pure_callback"
    }
    return frozenset(aliases | {"pure_callback"})


def _last_name(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


def _is_jax(node: ast.expr, module: Module, assume_jax: tuple[str, ...]) -> bool:
    origins = module.origins(node)
    if origins and origins <= {"jax", "jax.experimental", "jax._src.callback", "jax._src.api"}:
        return True
    return bool(assume_jax) and ast.unparse(node) in assume_jax


def _use(
    node: ast.Name | ast.Attribute, module: Module, assume_jax: tuple[str, ...], exports: ExportOf
) -> Iterator[Site]:
    origins = module.origins(node)
    called = isinstance(parent := module.parents[node], ast.Call) and parent.func is node
    if origins and isinstance(node, ast.Name) and not called and _may_be_none(node, module):
        reason = f"`{node.id}` is None where JAX has no `pure_callback`, and is looked at here."
        yield Unresolved(node, "BC206", reason, "Its calls are migrated; leave the test, or drop it by hand.")
        return
    of_jax = isinstance(node, ast.Attribute) and _is_jax(node.value, module, assume_jax)
    if of_jax or (origins and origins <= PURE_CALLBACK):
        yield _sorted_out(node, module)
    elif origins and all(origin.startswith("bufcb.") for origin in origins):
        return  # what a migration writes
    elif any(origin.endswith(".pure_callback") for origin in origins):
        yield from _imported(node, module, origins, exports)
    elif _last_name(node) == "pure_callback":
        yield from _other(node, module, origins)


def _imported(
    node: ast.Name | ast.Attribute, module: Module, origins: frozenset[str], exports: ExportOf
) -> Iterator[Site]:
    """A use of what other modules call `pure_callback`, which those of the project may have from JAX."""
    found = {origin: exports(origin) for origin in origins - PURE_CALLBACK}
    handed_on = [export for export in found.values() if export is not None]
    real: frozenset[str] = frozenset().union(
        origins & PURE_CALLBACK,
        *(export.origins if export else {origin} for origin, export in found.items()),
    )
    if not handed_on:
        yield from _other(node, module, origins)
    elif all(export is not None and export.is_defined for export in found.values()) and not real:
        yield _own_definition(node)
    elif all(export.origins for export in handed_on) and real <= PURE_CALLBACK:
        yield _sorted_out(node, module)
    else:
        source = min(origin for origin, export in found.items() if export is not None)
        yield Unresolved(
            node,
            "BC203",
            f"`{source}` comes through a module of the project, where it may be anything.",
            "Import `pure_callback` from jax here, or migrate this call by hand.",
        )


def _own_definition(node: ast.expr) -> Unresolved:
    reason = "This is a definition of the project that has the same name; left alone."
    return Unresolved(node, "BC003", reason, "")


def _may_be_none(node: ast.Name, module: Module) -> bool:
    values = [binding.value for binding in module.bindings(node)]
    return any(isinstance(value, ast.Constant) and value.value is None for value in values)


def _other(node: ast.Name | ast.Attribute, module: Module, origins: frozenset[str]) -> Iterator[Site]:
    if origins and not any(origin.startswith((".", "jax.")) for origin in origins):
        library = min(origins).partition(".")[0]
        yield Unresolved(node, "BC003", f"This is {library}'s `pure_callback`, not JAX's; left alone.", "")
    elif isinstance(node, ast.Attribute) and _is_own_method(node, module):
        yield Unresolved(
            node, "BC003", "This is a method of the project that has the same name; left alone.", ""
        )
    elif isinstance(node, ast.Attribute):
        base = ast.unparse(node.value)
        yield Unresolved(
            node,
            "BC201",
            f"What `{base}` stands for cannot be seen from here.",
            f"If it is the jax module, pass `--assume-jax {base}`.",
        )
    elif _is_own_definition(node, module):
        yield _own_definition(node)
    else:
        where = min(origins) if origins else f"`{node.id}`"
        yield Unresolved(
            node,
            "BC201",
            f"Where {where} comes from cannot be seen from here.",
            "Import it from jax directly, or migrate this call by hand.",
        )


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


def _patched(node: ast.Attribute) -> Unresolved:
    return Unresolved(
        node,
        "BC206",
        "`pure_callback` is replaced or deleted here, which migrated calls will not see.",
        "Patch `bufcb.buffer_callback` and `bufcb.pure_callback` instead.",
    )


def _is_getattr(node: ast.Call, module: Module, assume_jax: tuple[str, ...]) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[base, ast.Constant(value="pure_callback"), *_]):
            return _is_jax(base, module, assume_jax)
    return False


def _is_looked_up(node: ast.Constant, module: Module) -> bool:
    """Whether a string spells the dotted name and is an argument, not text in a document."""
    text = node.value
    if not isinstance(text, str) or not _DOTTED.search(text):
        return False
    return isinstance(module.parents.get(node), ast.Call | ast.keyword)


def _sorted_out(node: ast.expr, module: Module) -> Site:
    """Tells callback, spec, options and arguments apart, or says why that cannot be done."""
    parent = module.parents[node]
    if isinstance(parent, ast.Call) and parent.func is node:
        return _call(node, parent, parent.args, is_partial=False)
    if (
        isinstance(parent, ast.Call)
        and parent.args
        and parent.args[0] is node
        and (origins := module.origins(parent.func))
        and origins <= PARTIAL
    ):
        return _partial(node, parent)
    return ValueUse(node, None, "`jax.pure_callback` is passed around as a value here.")


def _partial(node: ast.expr, call: ast.Call) -> Site:
    rest = call.args[1:]
    names = {keyword.arg for keyword in call.keywords}
    given = len(rest) + len(names & {"callback", "result_shape_dtypes"})
    if given < 2 and not any(isinstance(a, ast.Starred) for a in rest) and None not in names:
        return ValueUse(node, call, "The partial binds no callback and spec, so they arrive later.")
    if len(rest) > 2 or names - {"callback", "result_shape_dtypes", "sharding", "vmap_method", "vectorized"}:
        return ValueUse(node, call, "The partial binds arguments of the callback as well.")
    return _call(node, call, rest, is_partial=True)


def _call(node: ast.expr, call: ast.Call, positional: list[ast.expr], *, is_partial: bool) -> Site:
    if any(keyword.arg is None for keyword in call.keywords):
        return ValueUse(node, call, "`**` may carry options of `pure_callback` itself.")
    slots: list[ast.expr | None] = [None, None]
    rest = list(positional)
    for index in range(2):
        if not rest:
            break
        if isinstance(rest[0], ast.Starred):
            if any(k.arg in ("callback", "result_shape_dtypes") for k in call.keywords):
                return ValueUse(node, call, "A starred argument may carry the callback or the spec.")
            return ValueUse(node, call, "A starred argument carries the callback or the spec.")
        slots[index] = rest.pop(0)
    options, keywords = [], []
    for keyword in call.keywords:
        if keyword.arg in ("callback", "result_shape_dtypes"):
            index = 0 if keyword.arg == "callback" else 1
            if slots[index] is not None:
                return incomplete(node, f"`{keyword.arg}` is given twice.")
            slots[index] = keyword.value
        elif keyword.arg in OPTION_NAMES:
            options.append(keyword)
        else:
            keywords.append(keyword)
    callback, spec = slots
    if callback is None or spec is None:
        return incomplete(node, "The call lacks its callback or its `result_shape_dtypes`.")
    return CallSite(call, node, callback, spec, tuple(options), tuple(rest), tuple(keywords), is_partial)


def incomplete(node: ast.expr, reason: str) -> Unresolved:
    return Unresolved(node, "BC202", reason, "Such a call raises TypeError today; correct it first.")
