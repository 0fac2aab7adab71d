"""Scopes, bindings, imports and references of one module, read from its `ast` tree.

The rules are those of Python's reference, chapter "Naming and binding": class scopes are skipped by
nested functions, the first iterable of a comprehension belongs to the enclosing scope, a walrus in a
comprehension binds outside of it, decorators, defaults and annotations are evaluated outside the
function. The tree is walked with an explicit stack, so that deep expressions cannot exhaust Python's.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import functools
import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from codemods.trees import children
from codemods.uses import names_in_examples, names_in_text

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class ScopeKind(enum.Enum):
    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    LAMBDA = "lambda"
    COMPREHENSION = "comprehension"
    TYPE_PARAMETERS = "type parameters"


class BindingKind(enum.Enum):
    IMPORT = "import"
    FUNCTION = "function"
    CLASS = "class"
    PARAMETER = "parameter"
    ASSIGNMENT = "assignment"
    OTHER = "other"


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Binding:
    """One place that binds a name.

    Attributes:
      node: the definition, the import alias, the parameter, or the target.
      value: what is assigned, for `name = value` alone.
      origin: the dotted name that an import stands for, with leading dots when relative.
    """

    name: str
    kind: BindingKind
    node: ast.AST
    scope: Scope
    value: ast.expr | None = None
    origin: str | None = None


@dataclasses.dataclass(eq=False, slots=True)
class Scope:
    """A region with names of its own."""

    kind: ScopeKind
    node: ast.AST
    parent: Scope | None
    bindings: dict[str, list[Binding]] = dataclasses.field(default_factory=dict)
    global_names: set[str] = dataclasses.field(default_factory=set)
    nonlocal_names: set[str] = dataclasses.field(default_factory=set)

    def bind(self, binding: Binding) -> None:
        self.bindings.setdefault(binding.name, []).append(binding)

    def enclosing(self) -> Iterator[Scope]:
        """The scope and those around it, innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    @property
    def is_function(self) -> bool:
        return self.kind in (ScopeKind.FUNCTION, ScopeKind.LAMBDA)


@dataclasses.dataclass(frozen=True, eq=False)
class Module:
    """The names of one module.

    Attributes:
      parents: each node's parent.
      scopes: the scope in which each node is evaluated.
      opened: the scope that each function, class or comprehension opens.
      uses: every `ast.Name` that is read, by name.
      attributes: every attribute access, by name, stores and deletions included.
      star_imports: the modules of `from … import *` at module level.
      all_names: every name or attribute that occurs, for choosing free names.
    """

    tree: ast.Module
    root: Scope
    parents: dict[ast.AST, ast.AST]
    scopes: dict[ast.AST, Scope]
    opened: dict[ast.AST, Scope]
    uses: dict[str, list[ast.Name]]
    attributes: dict[str, list[ast.Attribute]]
    star_imports: tuple[str, ...]
    all_names: frozenset[str]

    def home(self, name: str, scope: Scope) -> Scope | None:
        """The scope whose bindings `name` means when read in `scope`; None for a builtin or unknown."""
        for level, candidate in enumerate(scope.enclosing()):
            if name in candidate.global_names:
                return self.root if name in self.root.bindings else None
            if level and candidate.kind is ScopeKind.CLASS:
                continue
            if name in candidate.nonlocal_names:
                continue
            if name in candidate.bindings:
                return candidate
        return None

    def bindings(self, name: ast.Name) -> list[Binding]:
        """Everything that may have bound `name` where it is read."""
        home = self.home(name.id, self.scopes[name])
        return home.bindings[name.id] if home else []

    def sole_binding(self, name: ast.Name) -> Binding | None:
        """The only binding of `name`, None when there are several or none in sight."""
        found = self.bindings(name)
        return found[0] if len(found) == 1 else None

    def references(self, name: str, scope: Scope | None) -> list[ast.Name]:
        """Every read of the name that `scope` binds; with None, those of which no binding is in sight."""
        return self._read_in[name].get(scope, [])

    @functools.cached_property
    def _read_in(self) -> _Reads:
        return _Reads(self)

    def origins(self, node: ast.expr) -> frozenset[str]:
        """The dotted names that an expression may stand for, by imports alone.

        Empty unless the expression is a name or a chain of attributes whose first name is bound by imports
        (and `None`, as in `except ImportError: jax = None`) and by nothing else.
        """
        suffix = ""
        while isinstance(node, ast.Attribute):
            suffix = f".{node.attr}{suffix}"
            node = node.value
        if not isinstance(node, ast.Name):
            return frozenset()
        found = self.bindings(node)
        if not found:
            if self.home(node.id, self.scopes[node]) is None:
                return frozenset(f"{star}.{node.id}{suffix}" for star in self.star_imports)
            return frozenset()
        origins = set()
        for binding in found:
            if binding.origin is not None:
                origins.add(binding.origin + suffix)
            elif not (isinstance(binding.value, ast.Constant) and binding.value.value is None):
                return frozenset()
        return frozenset(origins)

    def origin(self, node: ast.expr) -> str | None:
        """The one dotted name that an expression stands for; None when unknown or ambiguous."""
        found = self.origins(node)
        return next(iter(found)) if len(found) == 1 else None

    @functools.cached_property
    def imported(self) -> dict[str, list[Binding]]:
        """What `from … import …` binds, in any scope, by the name that it has in the other module."""
        found: dict[str, list[Binding]] = defaultdict(list)
        for scope in self.opened.values():
            for binding in itertools.chain.from_iterable(scope.bindings.values()):
                alias = binding.node
                if isinstance(alias, ast.alias) and isinstance(self.parents[alias], ast.ImportFrom):
                    found[binding.name if alias.name == "*" else alias.name].append(binding)
        return found

    @functools.cached_property
    def nonlocal_names(self) -> frozenset[str]:
        """The names that some function assigns to in a function around it."""
        return frozenset().union(*(scope.nonlocal_names for scope in self.opened.values()))

    def names_in_strings(self, name: str) -> bool:
        """Whether a string is just `name`, as in `__all__` or `getattr`."""
        return name in self._strings

    def may_name(self, name: str) -> bool:
        """Whether a string ends in `name` as a dotted path does, or `name` is the keyword of some call."""
        return name in self._ends_of_strings

    def spells(self, name: str) -> bool:
        """Whether a string, or a constant part of an f-string, spells `name` as code may."""
        return any(name in text and name in names_in_text(text) for text in self._strings) or any(
            name in text and name in names_in_examples(text) for text in self._docstrings
        )

    @functools.cached_property
    def _strings(self) -> frozenset[str]:
        return frozenset(
            node.value
            for node, parent in self.parents.items()
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and not isinstance(parent, ast.Expr)
        )

    @functools.cached_property
    def _ends_of_strings(self) -> frozenset[str]:
        keywords = {node.arg for node in self.parents if type(node) is ast.keyword and node.arg}
        return frozenset(keywords.union(text.rpartition(".")[2] for text in self._strings))

    @functools.cached_property
    def _docstrings(self) -> frozenset[str]:
        """Strings that stand alone, of which only the examples are ever run."""
        return frozenset(
            node.value
            for node, parent in self.parents.items()
            if isinstance(parent, ast.Expr) and isinstance(node, ast.Constant) and isinstance(node.value, str)
        )

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        while node in self.parents:
            node = self.parents[node]
            yield node

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that holds `node`."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The list of statements that a statement stands in."""
        for _, value in ast.iter_fields(self.parents[statement]):
            if isinstance(value, list) and statement in value:
                return value
        return [statement]

    def enclosing_function(self, node: ast.AST) -> FunctionNode | None:
        """The innermost function whose scope evaluates `node`."""
        for scope in self.scopes[node].enclosing():
            if scope.is_function:
                return cast(FunctionNode, scope.node)
        return None

    def enclosing_class(self, node: ast.AST) -> ast.ClassDef | None:
        """The class in whose body `node` is evaluated directly."""
        scope = self.scopes[node]
        return scope.node if isinstance(scope.node, ast.ClassDef) else None


class _Reads(dict[str, dict[Scope | None, list[ast.Name]]]):
    """The reads of each name by the scope that binds it, sorted out when a name is asked for."""

    def __init__(self, module: Module) -> None:
        super().__init__()
        self._module = module

    def __missing__(self, name: str) -> dict[Scope | None, list[ast.Name]]:
        found: dict[Scope | None, list[ast.Name]] = defaultdict(list)
        for use in self._module.uses.get(name, ()):
            found[self._module.home(name, self._module.scopes[use])].append(use)
        self[name] = dict(found)
        return self[name]


def read(tree: ast.Module) -> Module:
    """Reads the names of a parsed module."""
    return _Reader(tree).run()


class _Visits(dict[type[ast.AST], Callable[[Any, Scope], None]]):
    """For each type of node, the method that reads it."""

    def __init__(self, reader: _Reader) -> None:
        super().__init__()
        self._reader = reader

    def __missing__(self, kind: type[ast.AST]) -> Callable[[Any, Scope], None]:
        self[kind] = getattr(self._reader, f"_visit_{kind.__name__}", self._reader.push_children)
        return self[kind]


class _Reader:
    """One walk over the tree. `stack` holds nodes still to visit, with the scope that evaluates them."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.root = Scope(ScopeKind.MODULE, tree, None)
        self.parents: dict[ast.AST, ast.AST] = {}
        self.scopes: dict[ast.AST, Scope] = {tree: self.root}
        self.opened: dict[ast.AST, Scope] = {tree: self.root}
        self.uses: dict[str, list[ast.Name]] = defaultdict(list)
        self.attributes: dict[str, list[ast.Attribute]] = defaultdict(list)
        self.stars: list[str] = []
        self.all_names: set[str] = set()
        self.declared: list[tuple[Scope, Binding]] = []
        self.stack: list[tuple[ast.AST, Scope]] = []

    def run(self) -> Module:
        visits = _Visits(self)
        self._push_all(self.tree.body, self.tree, self.root)
        while self.stack:
            node, scope = self.stack.pop()
            self.scopes[node] = scope
            visits[type(node)](node, scope)
        self._settle_bindings()
        return Module(
            self.tree,
            self.root,
            self.parents,
            self.scopes,
            self.opened,
            dict(self.uses),
            dict(self.attributes),
            tuple(self.stars),
            frozenset(self.all_names),
        )

    # Walking.

    def _push(self, node: ast.AST | None, parent: ast.AST, scope: Scope) -> None:
        if node is not None:
            self.parents[node] = parent
            self.stack.append((node, scope))

    def _push_all(self, nodes: Sequence[ast.AST], parent: ast.AST, scope: Scope) -> None:
        for node in reversed(nodes):
            self.parents[node] = parent
            self.stack.append((node, scope))

    def push_children(self, node: ast.AST, scope: Scope) -> None:
        for child in reversed(children(node)):
            self.parents[child] = node
            self.stack.append((child, scope))

    def _open(self, kind: ScopeKind, node: ast.AST, parent: Scope) -> Scope:
        scope = Scope(kind, node, parent)
        self.opened[node] = scope
        return scope

    # Binding.

    def _bind(
        self,
        name: str,
        kind: BindingKind,
        node: ast.AST,
        scope: Scope,
        value: ast.expr | None = None,
        origin: str | None = None,
    ) -> None:
        self.all_names.add(name)
        binding = Binding(name, kind, node, scope, value, origin)
        # `global` may stand behind the binding in the text, so the home is settled at the end.
        self.declared.append((scope, binding))

    def _settle_bindings(self) -> None:
        for scope, binding in self.declared:
            if binding.name in scope.global_names:
                self.root.bind(dataclasses.replace(binding, scope=self.root))
            elif binding.name not in scope.nonlocal_names:
                scope.bind(binding)
        for scope, binding in self.declared:
            if binding.name in scope.nonlocal_names:
                home = next(
                    (s for s in scope.enclosing() if s.is_function and binding.name in s.bindings), scope
                )
                home.bind(dataclasses.replace(binding, scope=home))

    # Nodes with names of their own.

    def _visit_Name(self, node: ast.Name, scope: Scope) -> None:
        self.all_names.add(node.id)
        if isinstance(node.ctx, ast.Load):
            self.uses[node.id].append(node)
            return
        parent, value = self.parents[node], None
        kind = BindingKind.OTHER
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
            kind, value = BindingKind.ASSIGNMENT, parent.value
        elif isinstance(parent, ast.AnnAssign):
            if parent.value is None:
                return  # `x: int` binds nothing
            kind, value = BindingKind.ASSIGNMENT, parent.value
        self._bind(node.id, kind, node, scope, value)

    def _visit_Attribute(self, node: ast.Attribute, scope: Scope) -> None:
        self.all_names.add(node.attr)
        self.attributes[node.attr].append(node)
        self._push(node.value, node, scope)

    def _visit_NamedExpr(self, node: ast.NamedExpr, scope: Scope) -> None:
        home = scope
        while home.kind is ScopeKind.COMPREHENSION and home.parent:
            home = home.parent
        self.parents[node.target] = node
        self.scopes[node.target] = home
        self._bind(node.target.id, BindingKind.OTHER, node.target, home)
        self._push(node.value, node, scope)

    def _visit_Import(self, node: ast.Import, scope: Scope) -> None:
        for alias in node.names:
            self.parents[alias], self.scopes[alias] = node, scope
            first = alias.name.partition(".")[0]
            name, origin = (alias.asname, alias.name) if alias.asname else (first, first)
            self._bind(name, BindingKind.IMPORT, alias, scope, origin=origin)

    def _visit_ImportFrom(self, node: ast.ImportFrom, scope: Scope) -> None:
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            self.parents[alias], self.scopes[alias] = node, scope
            if alias.name == "*":
                self.stars.append(module)
                continue
            separator = "" if module.endswith(".") else "."
            origin = f"{module}{separator}{alias.name}"
            self._bind(alias.asname or alias.name, BindingKind.IMPORT, alias, scope, origin=origin)

    def _visit_Global(self, node: ast.Global, scope: Scope) -> None:
        scope.global_names.update(node.names)
        self.all_names.update(node.names)

    def _visit_Nonlocal(self, node: ast.Nonlocal, scope: Scope) -> None:
        scope.nonlocal_names.update(node.names)

    def _visit_ExceptHandler(self, node: ast.ExceptHandler, scope: Scope) -> None:
        if node.name:
            self._bind(node.name, BindingKind.OTHER, node, scope)
        self.push_children(node, scope)

    def _visit_MatchAs(self, node: ast.MatchAs, scope: Scope) -> None:
        if node.name:
            self._bind(node.name, BindingKind.OTHER, node, scope)
        self.push_children(node, scope)

    def _visit_MatchStar(self, node: ast.MatchStar, scope: Scope) -> None:
        if node.name:
            self._bind(node.name, BindingKind.OTHER, node, scope)

    def _visit_MatchMapping(self, node: ast.MatchMapping, scope: Scope) -> None:
        if node.rest:
            self._bind(node.rest, BindingKind.OTHER, node, scope)
        self.push_children(node, scope)

    # Nodes that open a scope.

    def _visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        self._bind(node.name, BindingKind.FUNCTION, node, scope)
        outer = self._type_parameters(node, scope)
        inner = self._open(ScopeKind.FUNCTION, node, outer)
        self._push_all(node.body, node, inner)
        self._push(node.returns, node, outer)
        self._arguments(node, inner, scope, outer)
        self._push_all(list(node.decorator_list), node, scope)

    _visit_AsyncFunctionDef = _visit_FunctionDef

    def _visit_Lambda(self, node: ast.Lambda, scope: Scope) -> None:
        inner = self._open(ScopeKind.LAMBDA, node, scope)
        self._push(node.body, node, inner)
        self._arguments(node, inner, scope, scope)

    def _arguments(self, node: FunctionNode, inner: Scope, defaults: Scope, annotations: Scope) -> None:
        arguments = node.args
        self.parents[arguments], self.scopes[arguments] = node, inner
        for parameter in parameters(arguments):
            self.parents[parameter], self.scopes[parameter] = arguments, inner
            self._bind(parameter.arg, BindingKind.PARAMETER, parameter, inner)
            self._push(parameter.annotation, parameter, annotations)
        for default in (*arguments.defaults, *arguments.kw_defaults):
            self._push(default, arguments, defaults)

    def _visit_ClassDef(self, node: ast.ClassDef, scope: Scope) -> None:
        self._bind(node.name, BindingKind.CLASS, node, scope)
        outer = self._type_parameters(node, scope)
        inner = self._open(ScopeKind.CLASS, node, outer)
        self._push_all(node.body, node, inner)
        self._push_all([*node.bases, *node.keywords], node, outer)
        self._push_all(list(node.decorator_list), node, scope)

    def _visit_TypeAlias(self, node: ast.AST, scope: Scope) -> None:
        outer = self._type_parameters(node, scope)
        self._push(node.name, node, scope)  # type: ignore[attr-defined]  # Python 3.12
        self._push(node.value, node, outer)  # type: ignore[attr-defined]

    def _type_parameters(self, node: ast.AST, scope: Scope) -> Scope:
        found: list[ast.AST] = getattr(node, "type_params", [])  # Python 3.12
        if not found:
            return scope
        inner = Scope(ScopeKind.TYPE_PARAMETERS, node, scope)
        for parameter in found:
            self.parents[parameter], self.scopes[parameter] = node, inner
            self._bind(parameter.name, BindingKind.OTHER, parameter, inner)  # type: ignore[attr-defined]
            self.push_children(parameter, inner)
        return inner

    def _visit_comprehension_scope(self, node: ast.AST, scope: Scope) -> None:
        inner = self._open(ScopeKind.COMPREHENSION, node, scope)
        generators: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
        results = [c for c in children(node) if not isinstance(c, ast.comprehension)]
        self._push_all(results, node, inner)
        for index, generator in reversed(list(enumerate(generators))):
            self.parents[generator], self.scopes[generator] = node, inner
            self._push_all(list(generator.ifs), generator, inner)
            self._push(generator.target, generator, inner)
            self._push(generator.iter, generator, inner if index else scope)

    _visit_ListComp = _visit_comprehension_scope
    _visit_SetComp = _visit_comprehension_scope
    _visit_DictComp = _visit_comprehension_scope
    _visit_GeneratorExp = _visit_comprehension_scope


def parameters(arguments: ast.arguments) -> list[ast.arg]:
    """Every parameter of a function, in the order of its signature."""
    found = [*arguments.posonlyargs, *arguments.args]
    if arguments.vararg:
        found.append(arguments.vararg)
    found.extend(arguments.kwonlyargs)
    if arguments.kwarg:
        found.append(arguments.kwarg)
    return found


def own_name(node: ast.AST) -> str:
    """The last part of the qualified name of a function or class."""
    named = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return node.name if isinstance(node, named) else "<lambda>"


def defaults(arguments: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr]]:
    """Each parameter that has a default, with it, in the order of the signature."""
    positional = [*arguments.posonlyargs, *arguments.args]
    yield from zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True)
    for parameter, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            yield parameter, default


def is_deletion(binding: Binding) -> bool:
    """Whether a binding is a `del`, which takes the name away."""
    return isinstance(binding.node, ast.Name) and isinstance(binding.node.ctx, ast.Del)


def is_private(name: str) -> bool:
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))
