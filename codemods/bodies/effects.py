"""What the analysis records, and what it takes for an obstacle."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from codemods import hostlib
from codemods.bodies.frames import Frame, FunctionLike, Usage
from codemods.bodies.values import CLEAN, Form, Obstacle, Obstructed, Place, Use, Value, join
from codemods.classes import class_of_instance, method_of
from codemods.model import listed
from codemods.names import Binding, BindingKind, Module, Scope, ScopeKind
from codemods.overrides import Overrides
from codemods.trees import walk
from codemods.wrappers import binding_decorator

# What one body may take: a step for each statement that is run, and each name that is looked at where ways
# meet or a function is defined. A function of a thousand lines takes some hundred thousand.
_MOST_STEPS: Final = 1_000_000


class Effects:
    """The records of one analysis, and the questions it asks of the module's names."""

    def __init__(
        self,
        module: Module,
        parameters: frozenset[str],
        accept: frozenset[str],
        overridden: Overrides,
    ) -> None:
        self.module = module
        self.overridden = overridden
        self.accept = accept
        self.usages = {name: Usage() for name in parameters}
        self.accepted: dict[tuple[str, ast.AST], Obstacle] = {}
        self.arithmetic: ast.AST | None = None
        self.contained: set[ast.AST] = set()
        self.active: list[ast.AST] = []
        self.root: Frame | None = None
        self.results: dict[tuple[ast.AST, tuple[Value, ...]], Value] = {}
        self.heap: dict[Place, Value] = {}
        self.released: set[Place] = set()
        self.element_forms: dict[ast.expr, Form] = {}
        self.closed: set[ast.stmt] = set()
        self.steps = 0
        self.watched = 0  # by how many contexts that may turn warnings into errors

    # Containers. What one holds is the same whoever looks at it, and never forgotten.

    def made(self, node: ast.AST, values: Iterable[Value], which: str = "", form: Form = "tree") -> Value:
        """A container that `node` makes of `values`."""
        place = (node, which)
        self._put(place, join(values))
        return self.refreshed(Value(form=form, places=frozenset({place})))

    def _put(self, place: Place, value: Value) -> None:
        self.heap[place] = join([self.heap[place], value]) if place in self.heap else value

    def put_in(self, container: Value, value: Value, node: ast.AST, keeper: str) -> None:
        """Stores `value` in a container made in the body."""
        if container.is_outside or container.places & self.released:
            self.keep(value, node, keeper)
        for place in container.places:
            self._put(place, value)

    def element(self, value: Value) -> Value:
        """An element of a container, or a row of an array."""
        held = join(self.heap[place] for place in value.places)
        form: Form = "array" if value.form == "array" else held.form if value.places else "any"
        dtype = value.dtype if form == "array" else None
        found = Value(value.raw, value.view, value.direct, form, held.places, dtype, is_piece=True)
        found = dataclasses.replace(found, is_exception=value.is_exception, is_outside=held.is_outside)
        return self.refreshed(found)

    def iterated(self, value: Value) -> Value:
        """What iterating over a value gives; of a dict, the keys, which are no arrays."""
        return CLEAN if value.form == "dict" else self.element(value)

    def refreshed(self, value: Value) -> Value:
        """A value with everything that its containers hold by now."""
        if not value.places:
            return value
        seen, waiting = set(value.places), list(value.places)
        held = [value]
        while waiting:
            inner = self.heap[waiting.pop()]
            held.append(inner)
            waiting.extend(inner.places - seen)
            seen |= inner.places
        raw = frozenset().union(*(v.raw for v in held))
        view = frozenset().union(*(v.view for v in held))
        direct = frozenset().union(*(v.direct for v in held))
        is_exception = any(v.is_exception for v in held)
        return dataclasses.replace(value, raw=raw, view=view, direct=direct, is_exception=is_exception)

    def _release(self, value: Value) -> None:
        """A container is known outside from now on, and everything that it holds."""
        waiting = list(value.places - self.released)
        while waiting:
            place = waiting.pop()
            self.released.add(place)
            waiting.extend(self.heap[place].places - self.released)

    # Records.

    def use(self, value: Value, how: Use) -> None:
        if value.is_piece:
            how = {Use.CONVERTED: Use.PIECE_CONVERTED, Use.NUMPY: Use.OTHER}.get(how, how)
        for name in value.direct:
            self.usages[name].uses.add(how)

    def hand_out(self, value: Value, node: ast.AST, receiver: str) -> None:
        """`value` reaches code that may compute with it, or keep it."""
        self.use(value, Use.OTHER)
        if value.raw:
            are, them = ("is", "it as a JAX array") if len(value.raw) == 1 else ("are", "them as JAX arrays")
            reason = f"{_names(value)} {are} handed to {receiver}, which is out of sight and may use {them}."
            self.obstruct_by(value, "BC111", node, reason)
        self._escape(value, node)

    def in_frame(self, frame: Frame) -> Value:
        """What a frame and those that called it may hold, as the traceback of an exception does."""
        held = [value for level in frames(frame) for value in level.ever.values()]
        found = self.refreshed(join(held))
        return Value(view=found.view)

    def keep(self, value: Value, node: ast.AST, keeper: str) -> None:
        """`value` is stored where it may outlive the call."""
        self.use(value, Use.OTHER)
        if value.raw:
            are = "a JAX array, {} is" if len(value.raw) == 1 else "JAX arrays, {} are"
            reason = f"As {are.format(_names(value))} kept in {keeper}."
            self.obstruct_by(value, "BC112", node, reason)
        self._escape(value, node)

    def _escape(self, value: Value, node: ast.AST) -> None:
        if value.is_exception:
            self.exception_is_kept(node)
        self._release(value)
        for name in value.view:
            self.usages[name].escape = self.usages[name].escape or node

    def exception_is_kept(self, node: ast.AST) -> None:
        reason = "An exception is kept, and with it the callback's frame and everything in it."
        way_out = "Keep its text or `error.with_traceback(None)` instead."
        self.obstruct(Obstacle("BC112", node, reason, way_out))

    def write_into(self, value: Value, node: ast.AST, *, rebinds: bool = False) -> None:
        """An argument is written into; a view of one that the body made itself fails as it did before."""
        self.use(value, Use.OTHER)
        if value.raw or rebinds:
            what = "which a JAX array does not allow or answers with a new array"
            reason = f"{_names(value)} is changed in place, {what}."
            way_out = f"Copy it first: `{_first(value)} = np.array({_first(value)})`."
            self.obstruct(Obstacle("BC105", node, reason, way_out))
        self.note_write(value, node)

    def write_and_escape(self, value: Value, node: ast.AST) -> None:
        """An argument is written into even where it is read-only."""
        if value.raw:
            self.write_into(value, node)
        self.note_write(value, node)
        self._escape(value, node)

    def note_write(self, value: Value, node: ast.AST) -> None:
        for name in value.view:
            self.usages[name].write = self.usages[name].write or node

    def arithmetic_differs(self, value: Value, node: ast.AST, what: str) -> None:
        shown = f"{what[:1].upper()}{what[1:]} on {_names(value)}"
        self.obstruct_by(value, "BC104", node, f"{shown} is computed by JAX, and NumPy's answer may differ.")

    def index_differs(self, index: Value, node: ast.Subscript) -> None:
        """What an argument is an index of may be an array of JAX's or of NumPy's."""
        shown = f"`{ast.unparse(node)}`, with {_names(index)} in its index,"
        self.obstruct_by(
            index, "BC104", node, f"{shown} may be computed by JAX, and NumPy's answer may differ."
        )

    def asks_type(self, value: Value, node: ast.AST) -> None:
        reason = f"The callback asks what type {_names(value)} has."
        way_out = f"Convert it first with `np.asarray({_first(value)})`."
        self.obstruct(Obstacle("BC113", node, reason, way_out))

    def obstruct_by(self, value: Value, code: str, node: ast.AST, reason: str) -> None:
        """An obstacle that is none once the arguments are converted."""
        names = tuple(sorted(value.raw or value.view))
        self.obstruct(Obstacle(code, node, reason, "", names))

    def take_steps(self, node: ast.AST, count: int = 1) -> None:
        """Counts what the analysis does, lest its time has no bound; raises `Obstructed` at the limit."""
        self.steps += count
        if self.steps > _MOST_STEPS:
            reason = "The ways through the body are too many to be followed."
            raise Obstructed(Obstacle("BC111", node, reason, "Split it into several functions."))

    def obstruct(self, obstacle: Obstacle) -> None:
        if obstacle.code not in self.accept or not obstacle.names:
            raise Obstructed(obstacle)
        known = self.accepted.setdefault((obstacle.code, obstacle.node), obstacle)
        names = tuple(sorted({*known.names, *obstacle.names}))
        self.accepted[obstacle.code, obstacle.node] = dataclasses.replace(known, names=names)

    def consume_by_numpy(self, value: Value) -> None:
        """NumPy converts the value, element by element where it is a container."""
        self.use(value, Use.NUMPY)

    # Questions.

    def scope_of(self, function: ast.AST) -> Scope:
        return self.module.opened[function]

    def home_frame(self, name: str, frame: Frame) -> Frame | None:
        """The frame that a target belongs to; None for a scope outside of the callback."""
        scope = self.scope_of(frame.function)
        if name not in scope.global_names | scope.nonlocal_names:
            return frame
        home = self.module.home(name, scope)
        return next((f for f in frames(frame.parent) if home is self.scope_of(f.function)), None)

    def is_array_name(self, node: ast.expr) -> bool:
        """Whether a name is bound once, to an array that NumPy makes."""
        if not isinstance(node, ast.Name):
            return False
        binding = self.module.sole_binding(node)
        if binding is None or not isinstance(binding.value, ast.Call):
            return False
        origin = self.module.origin(binding.value.func) or ""
        return origin in hostlib.FRESH_MAKERS and not self.of_objects(binding.value)

    def of_objects(self, call: ast.Call) -> bool:
        """Whether a function of NumPy may have been asked for an array of objects, which keeps references."""
        if any(map(_holds_none, call.args)):
            return not any(k.arg == "dtype" for k in call.keywords)
        dtypes = [k.value for k in call.keywords if k.arg == "dtype"]
        dtypes += [a for a in call.args[1:] if isinstance(a, ast.Name | ast.Attribute | ast.Constant)]
        return any(not self._is_numeric(dtype) for dtype in dtypes)

    def _is_numeric(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Constant):
            return node.value not in ("O", "object")
        if isinstance(node, ast.Name) and node.id in ("float", "int", "bool", "complex"):
            return True
        if isinstance(node, ast.Attribute) and node.attr == "dtype":
            return True
        origin = self.module.origin(node) or ""
        return origin.startswith(("numpy.", "jax.numpy.")) and not origin.endswith(("object_", "object"))

    def only_called(self, function: FunctionLike) -> bool:
        """Whether a nested function is only ever called by its name."""
        if isinstance(function, ast.Lambda) or self.module.enclosing_class(function) is not None:
            return False
        scope = self.module.scopes[function]
        uses = self.module.references(function.name, scope)
        return all(isinstance(p := self.module.parents[use], ast.Call) and p.func is use for use in uses)

    def free_names(self, function: ast.AST) -> set[str]:
        """The names that a nested function or generator reads from outside of itself."""
        own = self.module.opened[function].bindings
        names = {n.id for n in walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        return names - set(own)

    def lexical_frame(self, function: FunctionLike, frame: Frame) -> Frame | None:
        """The frame of the function in which `function` is defined, when that is being run."""
        home = self.module.scopes[function]
        while home.kind in (ScopeKind.COMPREHENSION, ScopeKind.TYPE_PARAMETERS) and home.parent:
            home = home.parent
        return next((f for f in frames(frame) if self.scope_of(f.function) is home), None)

    def function_named(self, node: ast.expr, frame: Frame) -> FunctionLike | None:
        """The function in sight that a callee means: a name, a lambda, or a method."""
        if isinstance(node, ast.Lambda):
            return node
        if isinstance(node, ast.Name):
            binding = self.module.sole_binding(node)
            if binding is None or self._may_be_replaced(binding):
                return None
            if isinstance(binding.value, ast.Lambda) and binding.kind is BindingKind.ASSIGNMENT:
                return binding.value
            return _plain(binding.node)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return self._method(node.value, node.attr)
        return None

    def _may_be_replaced(self, binding: Binding) -> bool:
        """Whether something else may stand for a function of the module when it runs, as in a test."""
        return binding.scope is self.module.root and self.overridden.of_function(binding.name) is not None

    def _method(self, base: ast.Name, name: str) -> FunctionLike | None:
        binding = self.module.sole_binding(base)
        if binding is None or self._may_be_replaced(binding):
            return None
        owner = owner_of(base, self.module)
        stored = any(not isinstance(use.ctx, ast.Load) for use in self.module.attributes.get(name, ()))
        found = method_of(owner, name, self.module) if owner is not None and not stored else None
        if found is None or self.overridden(found[0], name):
            return None
        kind = binding_decorator(found[1])
        return found[1] if len(found[1].decorator_list) == (kind is not None) else None

    def implicit_parameters(self, callee: ast.expr, function: FunctionLike) -> int:
        """How many parameters of a function an attribute binds: 1 for `self` and `cls`."""
        if not isinstance(callee, ast.Attribute) or self.module.enclosing_class(function) is None:
            return 0
        kind = binding_decorator(function)
        through_class = isinstance(callee.value, ast.Name) and is_class_itself(callee.value, self.module)
        return 1 if kind == "classmethod" or (kind is None and not through_class) else 0

    def match_parameters(
        self, function: FunctionLike, values: Sequence[Value], call: ast.Call
    ) -> Iterator[tuple[ast.arg, Value]]:
        raise NotImplementedError


def frames(frame: Frame | None) -> Iterator[Frame]:
    while frame is not None:
        yield frame
        frame = frame.parent


def owner_of(base: ast.Name, module: Module) -> ast.ClassDef | None:
    """The class in sight whose attribute `base.name` is: of `self`, of a class, or of an object made once."""
    owner = owner_of_self(base, module)
    if owner is None:
        binding = module.sole_binding(base)
        named = binding.node if binding is not None else None
        owner = named if isinstance(named, ast.ClassDef) else class_of_instance(base, module)
    return owner


def owner_of_self(base: ast.Name, module: Module) -> ast.ClassDef | None:
    """The class whose instance (or itself) `base` is: the first parameter of one of its methods."""
    binding = module.sole_binding(base)
    if binding is None or binding.kind is not BindingKind.PARAMETER:
        return None
    function = binding.scope.node
    if not isinstance(function, ast.FunctionDef) or not isinstance(module.parents[function], ast.ClassDef):
        return None
    positional = [*function.args.posonlyargs, *function.args.args]
    static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in function.decorator_list)
    if static or not positional or positional[0] is not binding.node:
        return None
    owner = module.parents[function]
    assert isinstance(owner, ast.ClassDef)
    return owner


def is_class_itself(base: ast.Name, module: Module) -> bool:
    """Whether `base` is a class, or the `cls` of a class method: a plain function is not bound through it."""
    binding = module.sole_binding(base)
    if binding is not None and isinstance(binding.node, ast.ClassDef):
        return True
    function = binding.scope.node if binding else None
    decorators = function.decorator_list if isinstance(function, ast.FunctionDef) else []
    return any(isinstance(d, ast.Name) and d.id == "classmethod" for d in decorators)


def _holds_none(node: ast.expr) -> bool:
    """Whether a literal is None, or holds it."""
    if isinstance(node, ast.List | ast.Tuple):
        return any(map(_holds_none, node.elts))
    return isinstance(node, ast.Constant) and node.value is None


def _plain(node: ast.AST) -> FunctionLike | None:
    if isinstance(node, ast.FunctionDef) and not node.decorator_list:
        return node
    return None


def _names(value: Value) -> str:
    return listed(sorted(value.raw or value.view))


def _first(value: Value) -> str:
    return min(value.raw or value.view)
