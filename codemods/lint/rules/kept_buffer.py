"""BCL004: a buffer's memory is JAX's again once the callback has returned."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from typing import Final

from codemods.lint.callbacks import Callback
from codemods.lint.copies import copied
from codemods.lint.helpers import handed_on
from codemods.lint.registry import Finding, Rewording, Subject, rule
from codemods.lint.views import Memory, Views
from codemods.names import BindingKind, Module, Scope

_ADDING: Final = frozenset({"append", "appendleft", "add", "insert", "extend", "setdefault"})
_REMOVING: Final = frozenset({"pop", "popleft", "popitem", "remove", "clear", "discard"})
_CONTAINERS: Final = frozenset({"collections.deque", "collections.defaultdict", "collections.OrderedDict"})
_BUILTIN_CONTAINERS: Final = frozenset({"list", "dict", "set"})
_PARTIAL: Final = frozenset({"functools.partial"})


@rule("BCL004")
def check(subject: Subject) -> Iterator[Finding]:
    for callback in subject.callbacks:
        if not _hands_out_copies(callback):
            yield from _of(callback)


def _hands_out_copies(callback: Callback) -> bool:
    """Whether `retain="copy"` hands out owned copies, or may."""
    return any("retain" in call.options or not call.is_complete for call, _ in callback.calls)


def _of(callback: Callback) -> Iterator[Finding]:
    views, nodes = Views(callback), callback.nodes()
    # `self`, or what a partial binds.
    here = _Place(callback, callback.function, frozenset(each.arg for each in callback.before))
    for node in nodes:
        for keeper, value in _kept(node, here):
            if _is_emptied(keeper, node, nodes):
                continue
            for part in _parts(value, callback.module):
                if (memory := views.of(part) or _captured(part, views, callback)) is not None:
                    is_itself = views.of(part) is not None
                    rewording = copied(part, memory, callback, callback.arrays) if is_itself else None
                    yield _finding(node, memory.name, ast.unparse(keeper), callback, rewording)
                elif (name := _inputs_together(part, callback)) is not None:
                    yield _finding(node, name, ast.unparse(keeper), callback)
        yield from _of_helper(node, views, nodes, callback)


def _of_helper(call: ast.AST, views: Views, nodes: list[ast.AST], callback: Callback) -> Iterator[Finding]:
    """What a function of the module surely keeps of the buffers that it is handed."""
    for helper, inner in handed_on(call, views, callback):
        there = _Place(callback, helper.function, frozenset({helper.implicit or ""}))
        own = list(ast.walk(helper.function))
        handed = [(value, memory) for value in helper.given.values() if (memory := views.of(value))]
        for node, (keeper, value) in ((n, each) for n in helper.nodes for each in _kept(n, there)):
            if _is_emptied(keeper, node, own) or _is_emptied(keeper, call, nodes):
                continue
            for kept in filter(None, map(inner.of, _parts(value, callback.module))):
                same = [(value, memory) for value, memory in handed if memory.name == kept.name]
                rewording = copied(*same[0], callback, callback.arrays) if len(same) == 1 else None
                yield _finding(call, kept.name, ast.unparse(keeper), callback, rewording)


def _captured(part: ast.expr, views: Views, callback: Callback) -> Memory | None:
    """The buffer that a nested function or a lambda holds, since it reads it whenever it is called."""
    module, scope = callback.module, callback.module.opened[callback.function]
    function: ast.AST | None = part
    if isinstance(part, ast.Name):
        binding = module.sole_binding(part)
        function = binding.value or binding.node if binding is not None and binding.scope is scope else None
    if not isinstance(function, ast.Lambda | ast.FunctionDef) or getattr(function, "decorator_list", None):
        return None
    defaults = part.args.defaults if isinstance(part, ast.Lambda) else []
    for node in ast.walk(function):
        if not isinstance(node, ast.Name) or module.home(node.id, module.scopes[node]) is not scope:
            continue
        is_read_later = module.scopes[node] is not scope  # else it is part of a default
        is_fixed = node in defaults or (is_read_later and not _is_bound_behind(node.id, part, callback))
        memory = views.named(node.id, module.parents[part]) if is_fixed else None
        if memory is not None:
            return memory
    return None


def _is_bound_behind(name: str, part: ast.expr, callback: Callback) -> bool:
    """Whether a name of the callback may be bound to something else, or deleted, once `part` is kept."""
    module = callback.module
    loops = {n for n in module.ancestors(part) if isinstance(n, ast.For | ast.AsyncFor | ast.While)}
    return any(
        getattr(binding.node, "lineno", 0) >= part.lineno or loops & {*module.ancestors(binding.node)}
        for binding in module.opened[callback.function].bindings[name]
        if binding.kind is not BindingKind.PARAMETER
    )


def _inputs_together(part: ast.expr, callback: Callback) -> str | None:
    """The name of the `*args` that a part is, which hold the buffers as handed in."""
    star, module = callback.function.args.vararg, callback.module
    if not isinstance(part, ast.Name) or star is None or part.id != star.arg or star not in callback.inputs:
        return None
    binding = module.sole_binding(part)
    is_own = binding is not None and binding.node is star and module.scopes[part] is binding.scope
    return star.arg if is_own and any(a.args for c, _ in callback.calls for a in c.applied) else None


def _finding(
    node: ast.AST, name: str, keeper: str, callback: Callback, rewording: Rewording | None = None
) -> Finding:
    what = "its memory is read after JAX has freed it" if "jax" in callback.libraries else "that is an error"
    return Finding(
        node,
        f"`{name}`, or a view of it, is kept in `{keeper}` when `{callback.name}` has returned; {what}.",
        f"Keep a copy: `np.asarray({name}).copy()`.",
        callback,
        rewording=rewording,
    )


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class _Place:
    """A function that buffers are seen in, and its parameters that are objects from outside."""

    callback: Callback
    function: ast.FunctionDef | ast.Lambda
    objects: frozenset[str]


def _kept(node: ast.AST, here: _Place) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What is surely stored in something that outlives the call: the keeper, and the value."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                keeper = target.value if isinstance(target, ast.Subscript) else target
                is_item = isinstance(target, ast.Subscript)
                if _outlives(keeper, here) and (not is_item or _is_container(keeper, here.callback)):
                    yield keeper, value
        case ast.AugAssign(target=ast.Name() | ast.Attribute() as keeper, op=ast.Add(), value=value):
            is_literal = isinstance(value, ast.List | ast.Tuple)
            if is_literal and _outlives(keeper, here) and _is_container(keeper, here.callback):
                yield keeper, value
        case ast.Call(func=ast.Name(id="setattr") as function, args=[keeper, ast.Constant(), value]):
            if not here.callback.module.bindings(function) and _outlives(keeper, here):
                yield keeper, value
        case ast.Call(func=ast.Attribute(value=keeper, attr=method)) if method in _ADDING:
            if _outlives(keeper, here) and _is_container(keeper, here.callback):
                # What extends gives its elements, which are no views if it has one dimension.
                literal = (ast.Tuple, ast.List, ast.Set)
                given = [a for a in node.args if method != "extend" or isinstance(a, literal)]
                yield from ((keeper, argument) for argument in given)


def _parts(value: ast.expr, module: Module) -> Iterator[ast.expr]:
    """A value, and what a literal container or a partial holds."""
    match value:
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            for element in elements:
                yield from _parts(element, module)
        case ast.Dict(values=values):
            for element in values:
                yield from _parts(element, module)
        case ast.Call(func=function, args=[_, *arguments]) if module.origins(function) == _PARTIAL:
            for argument in (*arguments, *(keyword.value for keyword in value.keywords)):
                yield from _parts(argument, module)
        case _:
            yield value


def _outlives(keeper: ast.expr, here: _Place) -> bool:
    """Whether a place is there before the call and after it: a name from outside, or an attribute of one."""
    module, scope = here.callback.module, here.callback.module.opened[here.function]
    match keeper:
        case ast.Name(id=name):
            home = module.home(name, scope)
            return _is_outside(home, here) and module.scopes[keeper] is scope
        case ast.Attribute(value=ast.Name(id=name)):
            if module.scopes[keeper] is not scope:
                return False
            home = module.home(name, scope)
            if home is scope:
                return name in here.objects and len(scope.bindings[name]) == 1
            return _is_outside(home, here)
    return False


def _is_outside(home: Scope | None, here: _Place) -> bool:
    """Whether a scope is neither that of the callback, nor of a function in it."""
    if home is None:
        return False
    function, around = here.callback.function, (home.node, *here.callback.module.ancestors(home.node))
    return function not in around and here.function not in around


def _is_container(keeper: ast.expr, callback: Callback) -> bool:
    """Whether all that is seen to be bound there is a container, which holds what is put into it."""
    module = callback.module
    if isinstance(keeper, ast.Name):
        found = module.bindings(keeper)
        values = [b.value for b in found if not isinstance(module.parents.get(b.node), ast.AugAssign)]
    else:
        assert isinstance(keeper, ast.Attribute)
        stores = [use for use in module.attributes.get(keeper.attr, ()) if isinstance(use.ctx, ast.Store)]
        values = [_assigned(use, module) for use in stores]
    return bool(values) and all(value is not None and _makes_container(value, module) for value in values)


def _assigned(target: ast.expr, module: Module) -> ast.expr | None:
    match module.parents[target]:
        case ast.Assign(value=value) | ast.AnnAssign(value=value):
            return value
    return None


def _makes_container(value: ast.expr, module: Module) -> bool:
    match value:
        case ast.List() | ast.Dict() | ast.Set() | ast.ListComp() | ast.DictComp():
            return True
        case ast.Call(func=ast.Name(id=name) as function) if name in _BUILTIN_CONTAINERS:
            return not module.bindings(function)
        case ast.Call(func=function):
            return bool(origins := module.origins(function)) and origins <= _CONTAINERS
    return False


def _is_emptied(keeper: ast.expr, node: ast.AST, nodes: list[ast.AST]) -> bool:
    """Whether the same callback later takes something out of the keeper, or puts something else there."""
    place, line = ast.dump(_as_read(keeper)), getattr(node, "lineno", 0)
    for other in nodes:
        if getattr(other, "lineno", 0) <= line:
            continue
        match other:
            case ast.Call(func=ast.Attribute(value=base, attr=method)) if method in _REMOVING:
                found: ast.expr = base
            case ast.Name(ctx=ast.Store() | ast.Del()) | ast.Attribute(ctx=ast.Store() | ast.Del()):
                found = other
            case ast.Subscript(value=base, ctx=ast.Del()):
                found = base
            case _:
                continue
        if ast.dump(_as_read(found)) == place:
            return True
    return False


def _as_read(node: ast.expr) -> ast.expr:
    match node:
        case ast.Name(id=name):
            return ast.Name(name, ast.Load())
        case ast.Attribute(value=value, attr=attribute):
            return ast.Attribute(value, attribute, ast.Load())
    return node
