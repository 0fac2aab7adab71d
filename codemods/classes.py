"""Where a class of the module gets a method from: its own body, or that of a base class in sight."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final

from codemods.names import BindingKind, Module

# Bases that bring no method which a callback could be, and do not change how methods are looked up.
_NEUTRAL: Final = frozenset({"abc.ABC", "typing.Generic", "typing.Protocol", "typing_extensions.Protocol"})
# A class with more bases, and bases of bases, is not looked into: to put them in order takes time.
_MOST_BASES: Final = 30
_UNUSUAL: Final = frozenset({"__getattribute__", "__new__", "__class__"})


class _Unseen:
    """A base class that is out of sight."""


_Base = ast.ClassDef | _Unseen


def method_of(owner: ast.ClassDef, name: str, module: Module) -> tuple[ast.ClassDef, ast.FunctionDef] | None:
    """The method that instances of `owner` itself have under a name, and the class that defines it.

    None where no class in sight defines it, where it is no plain method, or where a base out of sight comes
    first and may define it.
    """
    for found in _order(owner, module):
        if isinstance(found, _Unseen):
            return None
        bindings = module.opened[found].bindings.get(name, [])
        if bindings:
            node = bindings[0].node
            is_plain = len(bindings) == 1 and isinstance(node, ast.FunctionDef)
            return (found, node) if is_plain and isinstance(node, ast.FunctionDef) else None
    return None


def class_of_instance(node: ast.Name, module: Module) -> ast.ClassDef | None:
    """The class of an object that is made once, by calling a class in sight; None for any other."""
    binding = module.sole_binding(node)
    if binding is None or binding.kind is not BindingKind.ASSIGNMENT:
        return None
    return class_of_call(binding.value, module) if isinstance(binding.value, ast.Call) else None


def class_of_call(node: ast.Call, module: Module) -> ast.ClassDef | None:
    """The class of the object that a call makes; None unless it is one in sight that makes an instance."""
    made = module.sole_binding(node.func) if isinstance(node.func, ast.Name) else None
    if made is None or not isinstance(made.node, ast.ClassDef):
        return None
    every = _order(made.node, module)
    return made.node if all(isinstance(c, ast.ClassDef) and _is_usual(c, module) for c in every) else None


def lookup_order(owner: ast.ClassDef, module: Module) -> list[ast.ClassDef]:
    """The classes in sight in which Python looks for a method of `owner`, in that order."""
    return [each for each in _order(owner, module) if isinstance(each, ast.ClassDef)]


def is_protocol(owner: ast.ClassDef, module: Module) -> bool:
    """Whether each public member of a class is one that other classes must have."""
    bases = [base.value if isinstance(base, ast.Subscript) else base for base in owner.bases]
    return any(origin.endswith(".Protocol") for base in bases for origin in module.origins(base))


def _is_usual(owner: ast.ClassDef, module: Module) -> bool:
    """Whether calling a class makes an instance of it, which looks its attributes up as objects do."""
    decorators = {module.origin(d.func if isinstance(d, ast.Call) else d) for d in owner.decorator_list}
    return (
        not owner.keywords
        and decorators <= {"dataclasses.dataclass"}
        and not _UNUSUAL & module.opened[owner].bindings.keys()
    )


def _order(owner: ast.ClassDef, module: Module) -> list[_Base]:
    """The order in which Python looks a method up; what is behind a base out of sight says nothing."""
    orders: dict[ast.ClassDef, list[_Base]] = {}

    def order(found: ast.ClassDef) -> list[_Base]:
        if found not in orders:
            orders[found] = [found, _Unseen()]  # what it is to a class that derives from itself
            if len(orders) > _MOST_BASES:
                return orders[found]
            bases: list[_Base] = [base for node in found.bases if (base := _base(node, module)) is not None]
            chains: list[list[_Base]] = [
                order(base) if isinstance(base, ast.ClassDef) else [base] for base in bases
            ]
            orders[found] = [found, *_merged([*chains, bases])]
        return orders[found]

    return order(owner)


def _merged(chains: Sequence[list[_Base]]) -> list[_Base]:
    """The C3 merge; it ends at a contradiction, which Python rejects when it runs the class."""
    left, order = [chain for chain in chains if chain], list[_Base]()
    while left:
        head = next((c[0] for c in left if not any(c[0] in other[1:] for other in left)), None)
        if head is None:
            return [*order, _Unseen()]
        order.append(head)
        left = [rest for c in left if (rest := c[1:] if c[0] is head else c)]
    return order


def _base(node: ast.expr, module: Module) -> _Base | None:
    """A base class; None for one that defines nothing of interest."""
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Starred) or (module.origins(node) and not module.origins(node) <= _NEUTRAL):
        return _Unseen()
    if module.origins(node):
        return None
    if isinstance(node, ast.Name):
        binding = module.sole_binding(node)
        if binding is not None and isinstance(binding.node, ast.ClassDef):
            return binding.node
        if node.id == "object" and not module.bindings(node):
            return None
    return _Unseen()
