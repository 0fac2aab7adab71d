"""Which function a callback expression means."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence
from typing import Final, Literal

from codemods import hostlib
from codemods.bodies.effects import is_class_itself, owner_of, owner_of_self
from codemods.classes import class_of_call, lookup_order, method_of
from codemods.definitions import Definition, Library, Unseen
from codemods.names import Binding, BindingKind, Module, Scope, ScopeKind, is_deletion
from codemods.overrides import Overrides
from codemods.reaching import reaching
from codemods.returns import is_generator, own_returns
from codemods.sites import PARTIAL, CallSite, Site, Unresolved, ValueUse, incomplete
from codemods.wrappers import Imported, binding_decorator

Arrays = Literal["numpy", "jax"]

_CACHES: Final = frozenset({"functools.cache", "functools.lru_cache"})

# Names, partials and factories that one callback may come through.
_MOST_LINKS: Final = 50

_KINDS: Final[dict[type[ast.expr], str]] = {
    ast.Attribute: "an attribute of an expression",
    ast.Await: "an awaited value",
    ast.BoolOp: "a choice by `and` or `or`",
    ast.Call: "the result of a call",
    ast.Constant: "a constant",
    ast.NamedExpr: "an assignment expression",
    ast.Subscript: "an element of a container",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Bound:
    """What a `functools.partial` binds: so many positional arguments, and these keywords."""

    positional: int = 0
    keywords: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Resolved:
    """A callback whose definition is in sight.

    Attributes:
      function: the definition.
      reference: the name, attribute or lambda that stands for it, inside any `partial`.
      owner: the class, for a method.
      implicit: how many parameters the method binding consumes: 1 for `self` and `cls`.
      via: the variable that is assigned the lambda itself, all of whose reads are callbacks.
      holders: global names and attributes that hold or return it, each of which leads to callbacks alone.
      also: further definitions of the same name, one of which is called.
      has_stubs: whether overloads declare its signature as well.
      home: where the definition is, if another module of the project has it.
    """

    function: ast.FunctionDef | ast.Lambda
    reference: ast.expr
    bound: Bound = Bound()
    owner: ast.ClassDef | None = None
    implicit: int = 0
    via: str | None = None
    home: Definition | None = None
    holders: tuple[str, ...] = ()
    also: tuple[ast.FunctionDef, ...] = ()
    has_stubs: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether it is one function of this module, bound to nothing."""
        return self.home is None and not self.also and self.bound == Bound()


@dataclasses.dataclass(frozen=True, slots=True)
class Opaque:
    """A callback that is adapted, with the code and the reason; `definition` is one that it may mean."""

    code: str
    reason: str
    way_out: str = ""
    arrays: Arrays = "jax"
    definition: ast.FunctionDef | ast.Lambda | None = None


def settle_vectorized(
    sites: Sequence[Site], module: Module, overridden: Overrides, imported: Imported | None = None
) -> list[Site]:
    """The same sites, each `vectorized=` told to be the old option or an argument of the callback.

    JAX before 0.6 took `vectorized=` as an option, up to 0.9 it raised an error, and since 0.10 it hands it
    to the callback like any other keyword. So a program that runs today gives it to a callback that takes
    it, and one whose callback does not take it was written for the old option.
    """
    callbacks = frozenset(site.callback for site in sites if isinstance(site, CallSite))

    def settle(site: Site) -> Site:
        if isinstance(site, Unresolved) or site.call is None:
            return site
        given = {keyword.arg: keyword for keyword in site.call.keywords}
        if "vectorized" not in given or "vectorized" not in site.api.options:
            return site
        callback = site.callback if isinstance(site, CallSite) else _callback_of(site.node, site.call)
        taken = _takes_vectorized(callback, module, callbacks, overridden, imported)
        if taken is None and "vmap_method" not in given:
            return _either(site)
        if taken is None or taken:
            return _with_own_keyword(site)
        if "vmap_method" in given:
            return incomplete(site.api, site.node, "The call gives both `vmap_method` and `vectorized`.")
        return (
            dataclasses.replace(site, vectorized=given["vectorized"]) if isinstance(site, ValueUse) else site
        )

    return [settle(site) for site in sites]


def _callback_of(function: ast.expr, call: ast.Call) -> ast.expr | None:
    """The callback of a call or partial of `function` whose other arguments are mixed; None if among them."""
    named = next((k.value for k in call.keywords if k.arg == "callback"), None)
    positional = call.args if call.func is function else call.args[1:]
    first = named or next(iter(positional), None)
    return None if isinstance(first, ast.Starred) else first


def _takes_vectorized(
    node: ast.expr | None,
    module: Module,
    callbacks: frozenset[ast.expr],
    overridden: Overrides,
    imported: Imported | None,
) -> bool | None:
    """Whether a callback has a parameter for the keyword `vectorized`; None when it is out of sight."""
    if node is None:
        return None
    found = resolve(node, module, callbacks, overridden, imported)
    if isinstance(found, Opaque):
        known = found.arrays == "numpy" and bool(module.origins(node))
        return False if known else None  # no function in the tables has such a parameter
    arguments = found.function.args
    by_name = {p.arg for p in (*arguments.args, *arguments.kwonlyargs)}
    return arguments.kwarg is not None or "vectorized" in by_name


def _either(site: CallSite | ValueUse) -> Unresolved:
    return Unresolved(
        site.api,
        site.function if isinstance(site, CallSite) else site.node,
        "BC208",
        "`vectorized=` is the old option, or an argument of the callback, whose definition is not in sight.",
        'If it is the option, write `vmap_method=` instead, of the value "legacy_vectorized" for True and'
        ' "sequential" for False; else pass it by position.',
    )


def _with_own_keyword(site: CallSite | ValueUse) -> Site:
    """`vectorized=` goes to the callback; a `ValueUse` hands on all of its keywords anyway."""
    if isinstance(site, ValueUse):
        return site
    if site.is_partial:
        return ValueUse(
            site.api, site.function, site.call, "The partial binds arguments of the callback as well."
        )
    options = tuple(o for o in site.options if o.arg != "vectorized")
    own = [k for k in site.call.keywords if k in site.keywords or k.arg == "vectorized"]
    return dataclasses.replace(site, options=options, keywords=tuple(own))


def resolve(
    node: ast.expr,
    module: Module,
    callbacks: frozenset[ast.expr],
    overridden: Overrides,
    imported: Imported | None = None,
    *,
    any_use: bool = False,
) -> Resolved | Opaque:
    """Follows a callback expression to its definition; `callbacks` are the callbacks of all call sites.

    With `any_use`, it does not matter who else uses the callback, or what leads to it: it is not changed.
    """
    return _Resolver(module, callbacks, overridden, imported, any_use).resolve(node)


class _Resolver:
    def __init__(
        self,
        module: Module,
        callbacks: frozenset[ast.expr],
        overridden: Overrides,
        imported: Imported | None,
        any_use: bool,
    ) -> None:
        self._module, self._callbacks = module, callbacks
        self._overridden, self._imported, self._any_use = overridden, imported, any_use
        self._active: list[ast.expr] = []
        self._called_back: dict[ast.AST, bool] = {}
        self._uses = 0

    def resolve(self, node: ast.expr) -> Resolved | Opaque:
        if node in self._active:
            return _out_of_sight(f"`{_short(node)}` is defined by itself.")
        if len(self._active) >= _MOST_LINKS:
            return _out_of_sight("The callback comes through too many names to be followed.")
        self._active.append(node)
        try:
            return self._resolve(node)
        finally:
            self._active.pop()

    def _resolve(self, node: ast.expr) -> Resolved | Opaque:
        if isinstance(node, ast.Lambda):
            return Resolved(node, node)
        if self._is_partial(node):
            assert isinstance(node, ast.Call)
            return self._partial(node)
        if origins := self._module.origins(node):
            return self._import(node, origins)
        match node:
            case ast.Name():
                return self._name(node)
            case ast.Attribute(value=ast.Name() as base):
                return self._attribute(node, base)
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super"), args=[])):
                return self._inherited(node)
            case ast.Attribute(value=ast.Call() | ast.Attribute() as made) if self._any_use:
                if (owner := self._owner_of_made(made)) is not None:
                    return self._method(node, owner, through_class=False)
            case ast.Call():
                return self._result(node)
            case ast.IfExp():
                return _out_of_sight(
                    f"The callback is a conditional expression: `{_short(node)}`.",
                    "Give each of the two a call of its own to have it rewritten.",
                )
        kind = _KINDS.get(type(node), "an expression")
        return _out_of_sight(f"The callback is {kind}: `{_short(node)}`.")

    # Imports.

    def _import(self, node: ast.expr, origins: frozenset[str]) -> Resolved | Opaque:
        found = self._imported(origins) if self._imported is not None else None
        if isinstance(found, Definition):
            if isinstance(found.function, ast.AsyncFunctionDef):
                return _coroutine(node)
            return Resolved(found.function, node, home=found)
        if isinstance(found, Unseen):
            where = (
                "has no single definition there"
                if found.is_defined
                else "its definition cannot be seen there"
            )
            return _out_of_sight(f"`{_short(node)}` is imported from this project, and {where}.")
        return _library(node, found.origins if isinstance(found, Library) else origins)

    # Partials.

    def _is_partial(self, node: ast.AST) -> bool:
        return (
            isinstance(node, ast.Call)
            and bool(o := self._module.origins(node.func))
            and o <= PARTIAL
            and bool(node.args)
        )

    def _partial(self, node: ast.Call) -> Resolved | Opaque:
        stars = [argument for argument in node.args if isinstance(argument, ast.Starred)]
        if stars or any(keyword.arg is None for keyword in node.keywords):
            return _out_of_sight(f"What `{_short(node)}` binds cannot be seen.")
        inner = self.resolve(node.args[0])
        if isinstance(inner, Opaque):
            numpy = inner.arrays == "numpy" and node.keywords
            return dataclasses.replace(inner, arrays="jax") if numpy else inner
        keywords = inner.bound.keywords | {k.arg for k in node.keywords if k.arg}
        bound = Bound(inner.bound.positional + len(node.args) - 1, keywords)
        return dataclasses.replace(inner, bound=bound)

    # Names.

    def _name(self, node: ast.Name) -> Resolved | Opaque:
        bindings = reaching(node, self._module) if self._any_use else self._module.bindings(node)
        found = [binding for binding in bindings if not is_deletion(binding)]
        if not found:
            return _out_of_sight(f"`{node.id}` is not defined in this file.")
        if len(found) > 1:
            return self._several(node, found)
        binding = found[0]
        match binding.node:
            case ast.AsyncFunctionDef():
                return _coroutine(node)
            case ast.FunctionDef():
                if self._module.enclosing_class(binding.node) is not None:
                    return _out_of_sight(f"`{node.id}` is used in the body of its class.")
                return Resolved(binding.node, node)
        if binding.kind is BindingKind.PARAMETER:
            return _out_of_sight(f"`{node.id}` is a parameter, so any function may arrive.")
        if binding.kind is BindingKind.ASSIGNMENT and binding.value is not None:
            return self._variable(node, binding, binding.value)
        return _out_of_sight(f"`{node.id}` is a variable whose value cannot be seen.")

    def _several(self, node: ast.Name, found: Sequence[Binding]) -> Resolved | Opaque:
        """A name with several definitions: the variants of one function, or the stubs of overloads."""
        functions = [b.node for b in found if isinstance(b.node, ast.FunctionDef)]
        real = [function for function in functions if not self._is_overload(function)]
        nested = any(self._module.enclosing_class(function) is not None for function in functions)
        if (len(functions) < len(found) and not self._any_use) or not real or nested:
            return Opaque(
                "BC114",
                f"`{node.id}` is bound in {len(found)} places, so which one is called cannot be seen.",
                "Give each definition a name of its own.",
            )
        return Resolved(real[0], node, also=tuple(real[1:]), has_stubs=len(real) < len(functions))

    def _is_overload(self, function: ast.FunctionDef) -> bool:
        return any(
            (o := self._module.origins(d)) and o <= {"typing.overload", "typing_extensions.overload"}
            for d in function.decorator_list
        )

    def _variable(self, node: ast.Name, binding: Binding, value: ast.expr) -> Resolved | Opaque:
        """A variable that is assigned once, if all that it is used for is to be called back."""
        inner = self.resolve(value)
        if isinstance(inner, Opaque):
            if not self._is_function_like(value):
                return _out_of_sight(f"`{node.id}` holds `{_short(value)}`.")
            return inner
        if (inner.home is not None or inner.also) and not self._any_use:
            return _out_of_sight(f"`{node.id}` holds `{_short(value)}`, which others may use.")
        if not self._leads_to_callbacks(node.id, binding.scope):
            return _out_of_sight(
                f"`{node.id}` is used in other ways as well.", f"Call back `{_short(value)}` itself."
            )
        if value is inner.function:
            inner = dataclasses.replace(inner, via=node.id)
        return inner if binding.scope.is_function else _held(inner, node.id)

    def _is_function_like(self, value: ast.expr) -> bool:
        """Whether what is said of a value helps more than the value's text."""
        return isinstance(value, ast.Lambda | ast.Name) or self._is_partial(value)

    def _is_called_back(self, node: ast.AST) -> bool:
        """Whether an expression is a callback, or becomes part of nothing but callbacks."""
        if node in self._callbacks:
            return True
        if node not in self._called_back:
            self._called_back[node] = False  # what it is as long as it depends on itself
            self._uses += 1
            self._called_back[node] = self._uses <= _MOST_LINKS and self._becomes_callback(node)
            self._uses -= 1
        return self._called_back[node]

    def _becomes_callback(self, node: ast.AST) -> bool:
        parent = self._module.parents[node]
        match parent:
            case ast.Call(args=[first, *_]) if first is node and self._is_partial(parent):
                return self._is_called_back(parent)
            case ast.Assign(targets=[ast.Name() as target]) | ast.AnnAssign(target=ast.Name() as target):
                home = self._module.home(target.id, self._module.scopes[target])
                is_only = home is not None and len(home.bindings[target.id]) == 1
                return is_only and home is not None and self._leads_to_callbacks(target.id, home)
            case ast.Return():
                function = self._module.enclosing_function(parent)
                return isinstance(function, ast.FunctionDef) and self._makes_callbacks(function)
        return False

    def _leads_to_callbacks(self, name: str, home: Scope) -> bool:
        """Whether all that a variable is read for is to be called back."""
        if self._any_use:
            return True
        if home.kind is ScopeKind.CLASS and name in self._module.attributes:
            return False
        return all(self._is_called_back(use) for use in self._module.references(name, home))

    def _makes_callbacks(self, factory: ast.FunctionDef) -> bool:
        """Whether a function is only ever called, and each of its results is a callback."""
        if self._any_use:
            return True
        if self._module.enclosing_class(factory) is not None:
            uses: list[ast.expr] = [
                *self._module.attributes.get(factory.name, ()),
                *self._module.references(factory.name, self._module.scopes[factory]),
            ]
        else:
            home = self._module.home(factory.name, self._module.scopes[factory])
            uses = [*self._module.references(factory.name, home)] if home is not None else []
        calls = [self._module.parents[use] for use in uses]
        return all(
            isinstance(call, ast.Call) and call.func is use and self._is_called_back(call)
            for use, call in zip(uses, calls, strict=True)
        )

    # Attributes.

    def _attribute(self, node: ast.Attribute, base: ast.Name) -> Resolved | Opaque:
        owner = owner_of(base, self._module)
        binding = self._module.sole_binding(base)
        is_global = binding is not None and binding.scope is self._module.root
        if owner is None or (is_global and self._overridden.of_function(base.id) is not None):
            return _out_of_sight(f"`{_short(node)}` is an attribute of an object that cannot be seen.")
        return self._method(node, owner, through_class=is_class_itself(base, self._module))

    def _owner_of_made(self, made: ast.Call | ast.Attribute) -> ast.ClassDef | None:
        """The class of an object that is made in place, or in the one assignment to `self.name`."""
        if isinstance(made, ast.Call):
            return class_of_call(made, self._module)
        owner = owner_of(made.value, self._module) if isinstance(made.value, ast.Name) else None
        stores = [use for use in self._module.attributes[made.attr] if not isinstance(use.ctx, ast.Load)]
        value = self._value_of(stores[0], owner) if owner is not None and len(stores) == 1 else None
        return class_of_call(value, self._module) if isinstance(value, ast.Call) else None

    def _inherited(self, node: ast.Attribute) -> Resolved | Opaque:
        """A method of `super()`, where no class overrides it."""
        function = self._module.enclosing_function(node)
        owner = self._module.parents[function] if function is not None else None
        if function is None or not isinstance(owner, ast.ClassDef) or isinstance(function, ast.Lambda):
            return _out_of_sight(f"`{_short(node)}` is a method of a class that cannot be seen.")
        if node.attr in self._module.opened[owner].bindings:
            return Opaque(
                "BC114",
                f"Which method `{_short(node)}` is depends on the object, since it is overridden.",
                "It gets JAX arrays, as before.",
            )
        return self._method(node, owner, through_class=binding_decorator(function) == "classmethod")

    def _method(self, node: ast.Attribute, owner: ast.ClassDef, *, through_class: bool) -> Resolved | Opaque:
        stored = any(not isinstance(use.ctx, ast.Load) for use in self._module.attributes[node.attr])
        found = None if stored else method_of(owner, node.attr, self._module)
        if found is None and stored and not through_class:
            return self._stored(node, owner)
        if found is None:
            return _out_of_sight(f"`{_short(node)}` is no plain method of class `{owner.name}`.")
        definer, method = found
        if self._overridden(definer, node.attr):
            return Opaque(
                "BC114",
                f"`{node.attr}` is overridden or replaced, in this file or another of the project.",
                "Each override gets JAX arrays.",
                definition=method,
            )
        kind = binding_decorator(method)
        is_bound = kind == "classmethod" or (kind is None and not through_class)
        return Resolved(method, node, owner=definer, implicit=1 if is_bound else 0)

    def _stored(self, node: ast.Attribute, owner: ast.ClassDef) -> Resolved | Opaque:
        """An attribute of `self` that is assigned once, if all that it is used for is to be called back."""
        uses = self._module.attributes[node.attr]
        stores = [use for use in uses if not isinstance(use.ctx, ast.Load)]
        value = self._value_of(stores[0], owner) if len(stores) == 1 else None
        handlers = {"__setattr__", "__getattribute__"}
        if any(handlers & self._module.opened[c].bindings.keys() for c in lookup_order(owner, self._module)):
            value = None
        if value is None or any(node.attr in scope.bindings for scope in self._module.opened.values()):
            return _out_of_sight(f"What `{_short(node)}` holds cannot be seen.")
        inner = self.resolve(value)
        if isinstance(inner, Opaque):
            return (
                inner
                if self._is_function_like(value)
                else _out_of_sight(f"`{_short(node)}` holds `{_short(value)}`.")
            )
        if (inner.home is not None or inner.also) and not self._any_use:
            return _out_of_sight(f"`{_short(node)}` holds `{_short(value)}`, which others may use.")
        if not self._any_use and not all(self._is_called_back(use) for use in uses if use not in stores):
            return _out_of_sight(f"`{_short(node)}` is used in other ways as well.")
        return _held(inner, node.attr)

    def _value_of(self, store: ast.Attribute, owner: ast.ClassDef) -> ast.expr | None:
        """What a method of the class assigns to an attribute of `self`."""
        if not isinstance(store.value, ast.Name) or owner_of_self(store.value, self._module) is not owner:
            return None
        match self._module.parents[store]:
            case ast.Assign(targets=[_], value=value) | ast.AnnAssign(value=ast.expr() as value):
                return value
        return None

    # Results of calls.

    def _result(self, node: ast.Call) -> Resolved | Opaque:
        if self._module.origins(node.func) == {"numpy.vectorize"}:
            return Opaque("BC102", "NumPy's `vectorize` converts its arguments itself.", arrays="numpy")
        unseen = _out_of_sight(f"The callback is the result of a call: `{_short(node)}`.")
        factory = self.resolve(node.func)
        if isinstance(factory, Opaque) or not factory.is_plain or (factory.holders and not self._any_use):
            return unseen
        function = factory.function
        returned = self._returned(function) if isinstance(function, ast.FunctionDef) else None
        if returned is None or isinstance(function, ast.Lambda):
            return unseen
        inner = self.resolve(returned)
        if isinstance(inner, Opaque):
            return inner if inner.code != "BC101" else unseen
        if (inner.home is not None or inner.also) and not self._any_use:
            return unseen
        if not self._makes_callbacks(function):
            return _out_of_sight(
                f"`{function.name}`, which makes the callback, is used in other ways as well."
            )
        is_local = self._module.enclosing_function(function) is not None and factory.owner is None
        return inner if is_local else _held(inner, function.name)

    def _returned(self, factory: ast.FunctionDef) -> ast.expr | None:
        """What a function returns, if that is one thing; a cache around it changes nothing."""
        if is_generator(factory):
            return None
        for decorator in factory.decorator_list:
            origins = self._module.origins(decorator.func if isinstance(decorator, ast.Call) else decorator)
            is_bound = isinstance(decorator, ast.Name) and decorator.id in ("staticmethod", "classmethod")
            if not is_bound and not (origins and origins <= _CACHES):
                return None
        returns = own_returns(factory)
        return returns[0].value if len(returns) == 1 else None


def _held(inner: Resolved, name: str) -> Resolved:
    """A callback that a global name or an attribute leads to."""
    return dataclasses.replace(inner, holders=(*inner.holders, name))


def _short(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 50 else text[:47] + "..."


def _coroutine(node: ast.expr) -> Opaque:
    return Opaque("BC109", f"`{_short(node)}` is a coroutine function.", "JAX callbacks are plain functions.")


def _out_of_sight(reason: str, way_out: str = "") -> Opaque:
    return Opaque("BC101", reason, way_out or "It gets JAX arrays, as before.")


def _library(node: ast.expr, origins: frozenset[str]) -> Opaque:
    if len(origins) == 1:
        (origin,) = origins
        converts = origin in hostlib.FRESH | hostlib.VIEWING | hostlib.CONVERTING or hostlib.is_safe(origin)
        if converts and origin not in hostlib.TAKES_FUNCTION:
            return Opaque("BC102", f"`{origin}` takes NumPy arrays and keeps none.", arrays="numpy")
    name = min(origins)
    if name.startswith(".") or name.partition(".")[0] not in ("numpy", "scipy", "jax"):
        library = name.partition(".")[0]
        where = f"from `{library}`, which is not part of this project" if library else "from out of sight"
        return _out_of_sight(f"`{_short(node)}` is imported {where}.")
    return Opaque(
        "BC102", f"`{name}` may compute with its argument's own methods.", "It gets JAX arrays, as before."
    )
