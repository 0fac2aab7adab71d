"""Expressions on abstract values: names, operators, indexing, attributes, comprehensions."""

from __future__ import annotations

import ast
import dataclasses
from abc import abstractmethod
from typing import Final

from codemods import hostlib
from codemods.bodies.effects import Effects, frames
from codemods.bodies.frames import Frame
from codemods.bodies.values import ARRAY, CLEAN, NONE, NUMBER, Obstacle, Use, Value, join
from codemods.trees import children, walk

# Small enough for every integer dtype, and never negative: NumPy raises where JAX wraps around.
_SMALL: Final = range(128)
# NumPy's bfloat16 becomes float32 beside a Python float.
# `float` is the default float, of 32 or 64 bits.
_FLOATS: Final = frozenset({"float16", "float32", "float64", "float"})
# NumPy gives these another dtype beside a Python int.
_UNLIKE: Final = frozenset({"bool", "int2", "uint2", "int4", "uint4"})
_JAX_TEXT: Final = "The callback uses JAX itself, `{}`."
_JAX_WAY_OUT: Final = "It keeps getting JAX arrays; write it in NumPy to have it rewritten."


class Expressions(Effects):
    """`value` evaluates and leaves the use to the caller; `operand` counts it as any use."""

    @abstractmethod
    def assign(self, target: ast.expr, value: Value, frame: Frame, source: ast.expr | None) -> None:
        """Binds a target."""

    def operand(self, node: ast.expr, frame: Frame) -> Value:
        value = self.value(node, frame)
        self.use(value, Use.OTHER)
        return value

    def result(self, node: ast.expr, frame: Frame) -> Value:
        """The value of a returned expression, which is written out as it stands."""
        value = self.value(node, frame)
        self.use(value, Use.INQUIRY)
        if frame is self.root:
            self._note_elements(node, frame)
        return value

    def _note_elements(self, node: ast.expr, frame: Frame) -> None:
        elements = getattr(node, "elts", None) or getattr(node, "values", None) or []
        for element in elements if isinstance(node, ast.Tuple | ast.List | ast.Dict) else []:
            form = self.value(element, frame).form
            known = self.element_forms.setdefault(element, form)
            self.element_forms[element] = form if form == known else "any"

    def value(self, node: ast.expr, frame: Frame) -> Value:
        visit = getattr(self, f"_of_{type(node).__name__}", None)
        if visit is None:
            for child in children(node):
                if isinstance(child, ast.expr):
                    self.operand(child, frame)
            return CLEAN
        found: Value = visit(node, frame)
        return self.refreshed(found)

    def iterate(self, node: ast.expr, frame: Frame) -> Value:
        """The elements of what is iterated over."""
        return self.iterated(self.value(node, frame))

    def look_up(self, name: str, frame: Frame) -> Value:
        if name in frame.shared and name in frame.ever:
            return frame.ever[name]
        if name in frame.env:
            return frame.env[name]
        inner = frame
        for outer in frames(frame.parent):
            known = outer.seen_by(inner.function, name)
            if name in known:
                return known[name]
            inner = outer
        return CLEAN

    # Leaves.

    def _of_Constant(self, node: ast.Constant, frame: Frame) -> Value:
        if node.value is None:
            return NONE
        return CLEAN if isinstance(node.value, str | bytes) else NUMBER

    def _of_Name(self, node: ast.Name, frame: Frame) -> Value:
        value = self.look_up(node.id, frame)
        if value is CLEAN:
            self._refuse_jax(node)
        return value

    def _refuse_jax(self, node: ast.expr) -> None:
        origins = self.module.origins(node)
        jax = [origin for origin in origins if origin == "jax" or origin.startswith("jax.")]
        if jax and not set(jax) <= hostlib.JAX_DTYPES:
            self.obstruct(Obstacle("BC103", node, _JAX_TEXT.format(ast.unparse(node)), _JAX_WAY_OUT))

    def _of_JoinedStr(self, node: ast.JoinedStr, frame: Frame) -> Value:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self._format(part, frame)
        return CLEAN

    def _format(self, node: ast.FormattedValue, frame: Frame) -> None:
        value = self.operand(node.value, frame)
        if value.raw and (value.form != "array" or node.conversion == ord("r")):
            self.arithmetic_differs(value, node, "the text")
        if node.format_spec is not None:
            self.operand(node.format_spec, frame)

    # Containers.

    def _of_Tuple(self, node: ast.Tuple | ast.List | ast.Set, frame: Frame) -> Value:
        return self.made(node, [self.value(item, frame) for item in node.elts])

    _of_List = _of_Set = _of_Tuple

    def _of_Dict(self, node: ast.Dict, frame: Frame) -> Value:
        for key in node.keys:
            if key is not None:
                self.operand(key, frame)
        values = [self.value(value, frame) for value in node.values]
        pairs = zip(node.keys, values, strict=True)
        held = [value if key is not None else self.element(value) for key, value in pairs]
        return self.made(node, held, form="dict")

    def _of_Starred(self, node: ast.Starred, frame: Frame) -> Value:
        return self.iterate(node.value, frame)

    def _of_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, frame: Frame) -> Value:
        with self._comprehension(node.generators, frame):
            return self.made(node, [self.value(node.elt, frame)])

    _of_SetComp = _of_ListComp

    def _of_GeneratorExp(self, node: ast.GeneratorExp, frame: Frame) -> Value:
        parent = self.module.parents[node]
        if not isinstance(parent, ast.Call) or parent.func is node:
            frame.capture(node)
        return self.run_lazily(node, frame)

    def run_lazily(self, node: ast.GeneratorExp, frame: Frame) -> Value:
        """A generator, which holds until it is run what it iterates over and captures."""
        made = self._of_ListComp(node, frame)
        names = {n.id for n in walk(node) if isinstance(n, ast.Name)}
        held = join(self.refreshed(self.look_up(name, frame)) for name in names)
        return dataclasses.replace(made, view=made.view | held.view)

    def _of_DictComp(self, node: ast.DictComp, frame: Frame) -> Value:
        with self._comprehension(node.generators, frame):
            self.operand(node.key, frame)
            return self.made(node, [self.value(node.value, frame)], form="dict")

    def _comprehension(self, generators: list[ast.comprehension], frame: Frame) -> _Restored:
        restored = _Restored(frame)
        for generator in generators:
            self.bind_target(generator.target, self.iterate(generator.iter, frame), frame)
            for condition in generator.ifs:
                self.operand(condition, frame)
        return restored

    def bind_target(self, target: ast.expr, value: Value, frame: Frame) -> None:
        """Binds the variables of a comprehension, which only its own scope sees."""
        if isinstance(target, ast.Name):
            frame.env[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            for item in target.elts:
                self.bind_target(item, self.iterated(value), frame)
        elif isinstance(target, ast.Starred):
            self.bind_target(target.value, self.made(target, [value]), frame)

    # Operators.

    def _of_BinOp(self, node: ast.BinOp, frame: Frame) -> Value:
        left, right = self.operand(node.left, frame), self.operand(node.right, frame)
        if not (left.raw or right.raw):
            if left.is_container or right.is_container:
                return self.made(node, [self.element(left), self.element(right)])
            if "array" in (left.form, right.form):
                return ARRAY
            if left.form == right.form == "number":
                return NUMBER
            return Value(view=left.view | right.view)  # lists, perhaps
        if not (isinstance(node.op, ast.Add | ast.Sub | ast.Mult) and self._same_answer(node, left, right)):
            self.arithmetic_differs(join([left, right]), node, f"`{ast.unparse(node)}`")
        return self._computed(node, left if left.raw else right)

    def _same_answer(self, node: ast.BinOp, left: Value, right: Value) -> bool:
        """Whether JAX and NumPy agree on `+ - *`, given what is known of the dtypes."""
        if left.raw and right.raw:
            known = left.dtype is not None and left.dtype == right.dtype
            if isinstance(node.op, ast.Mult):  # complex products may differ in their last bit
                return known and left.dtype != "complex64"
            return known or (_same_name(node.left, node.right) and not left.is_container)
        raw, other = (left, node.right) if left.raw else (right, node.left)
        return _is_neutral_number(other, raw.dtype)

    def _computed(self, node: ast.expr, operand: Value) -> Value:
        if self.watched:
            self.arithmetic_differs(
                operand, node, f"`{ast.unparse(node)}` under a context that watches warnings"
            )
        self.arithmetic = self.arithmetic or node
        form = operand.form
        return Value(operand.raw, operand.view, form=form, dtype=operand.dtype)

    def _of_UnaryOp(self, node: ast.UnaryOp, frame: Frame) -> Value:
        value = self.operand(node.operand, frame)
        if not value.raw or isinstance(node.op, ast.Not):
            return NUMBER if value.form == "number" else ARRAY
        if value.dtype is None or value.dtype in _UNLIKE:
            self.arithmetic_differs(value, node, f"`{ast.unparse(node)}`")
        return self._computed(node, value)

    def _of_Compare(self, node: ast.Compare, frame: Frame) -> Value:
        values = [self.operand(part, frame) for part in (node.left, *node.comparators)]
        if not any(value.raw for value in values):
            return ARRAY
        if all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
            return ARRAY
        self._compare_raw(node, values)
        raw = join(value for value in values if value.raw)
        return Value(raw.raw, raw.view, form="array", dtype="bool")

    def _compare_raw(self, node: ast.Compare, values: list[Value]) -> None:
        parts = [node.left, *node.comparators]
        raw = [value for value in values if value.raw]
        others = [part for part, value in zip(parts, values, strict=True) if not value.raw]
        membership = any(isinstance(op, ast.In | ast.NotIn) for op in node.ops)
        if membership and all(value.is_container for value in raw):
            return
        if membership or not self.compares_alike(raw, others):
            self.arithmetic_differs(join(raw), node, f"`{ast.unparse(node)}`")
        self.arithmetic = self.arithmetic or node

    def compares_alike(self, raw: list[Value], others: list[ast.expr]) -> bool:
        """Whether JAX and NumPy compare these values in the same dtype."""
        if len({value.dtype for value in raw}) > 1 or (len(raw) > 1 and raw[0].dtype is None):
            return False
        return all(_is_zero_or_one(other) or _is_neutral_number(other, raw[0].dtype) for other in others)

    def _of_BoolOp(self, node: ast.BoolOp, frame: Frame) -> Value:
        return join(self.operand(part, frame) for part in node.values)

    def _of_IfExp(self, node: ast.IfExp, frame: Frame) -> Value:
        self.operand(node.test, frame)
        return join([self.value(node.body, frame), self.value(node.orelse, frame)])

    def _of_NamedExpr(self, node: ast.NamedExpr, frame: Frame) -> Value:
        value = self.value(node.value, frame)
        frame.walruses[node.target.id] = value
        self.assign(node.target, value, frame, node.value)
        return value

    # Attributes and indexing.

    def _of_Attribute(self, node: ast.Attribute, frame: Frame) -> Value:
        if self.module.origins(node):
            self._refuse_jax(node)
            return CLEAN
        value = self.value(node.value, frame)
        if node.attr in hostlib.ARRAY_INQUIRIES:
            self.use(value, Use.INQUIRY)
            return NUMBER if node.attr in ("ndim", "size", "itemsize", "nbytes") else CLEAN
        self.use(value, Use.OTHER)
        if not value.raw:
            if node.attr in hostlib.MEMORY_ATTRIBUTES:
                self.note_write(value, node)
            return Value(view=value.view, is_exception=value.is_exception and node.attr != "args")
        if node.attr in hostlib.ARRAY_ATTRIBUTES:
            return Value(
                value.raw, value.view, form="array", dtype=value.dtype if node.attr in ("T", "mT") else None
            )
        if node.attr in hostlib.JAX_ATTRIBUTES:
            reason = f"Only JAX arrays have `{node.attr}`."
            self.obstruct(Obstacle("BC103", node, reason, _JAX_WAY_OUT))
        self.arithmetic_differs(value, node, f"the attribute `{node.attr}`")
        return Value(value.raw, value.view)

    def _of_Subscript(self, node: ast.Subscript, frame: Frame) -> Value:
        value = self.value(node.value, frame)
        index = self.operand(node.slice, frame)
        if not value.view:
            if index.raw and not value.is_container:
                self.index_differs(index, node)
            return CLEAN if value.is_container else Value(form=value.form)
        if not value.is_container:
            self.use(value, Use.OTHER)
            if value.raw and not self._index_agrees(node.slice, frame):
                self.arithmetic_differs(value, node, f"the index in `{ast.unparse(node)}`")
        return (
            self.element(value)
            if value.form != "array"
            else Value(value.raw, value.view, form="array", dtype=value.dtype)
        )

    def _index_agrees(self, index: ast.expr, frame: Frame) -> bool:
        """Whether an index means the same to JAX, which clamps, and to NumPy, which raises."""
        match index:
            case ast.Tuple(elts=parts):
                return all(self._index_agrees(part, frame) for part in parts)
            case ast.Slice(lower=lower, upper=upper, step=step):
                return all(part is None or not self.value(part, frame).view for part in (lower, upper, step))
            case ast.Constant(value=value):
                return value is None or value is Ellipsis or isinstance(value, str) or value == 0
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)):
                return True
        return self.module.origin(index) == "numpy.newaxis"

    def _of_Slice(self, node: ast.Slice, frame: Frame) -> Value:
        return join(self.operand(part, frame) for part in (node.lower, node.upper, node.step) if part)

    # What leaves the straight path.

    def _of_Lambda(self, node: ast.Lambda, frame: Frame) -> Value:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.keep(self.operand(default, frame), default, "a default argument")
        self.capture(node, frame)
        return CLEAN

    def capture(self, function: ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> None:
        """A nested function may outlive the call, and with it what it captures."""
        frame.capture(function)
        scope = self.module.opened[function]
        nodes = walk(function)
        self.take_steps(function, len(nodes))
        for inner in nodes:
            if (
                isinstance(inner, ast.Name)
                and isinstance(inner.ctx, ast.Load)
                and inner.id not in scope.bindings
            ):
                value = self.look_up(inner.id, frame)
                for name in value.view:
                    self.usages[name].escape = self.usages[name].escape or function
                self.use(value, Use.OTHER)

    def _of_Yield(self, node: ast.Yield, frame: Frame) -> Value:
        if node.value is not None:
            value = self.operand(node.value, frame)
            frame.yields.append(value)
            for name in value.view:
                self.usages[name].escape = self.usages[name].escape or node
        return CLEAN

    def _of_YieldFrom(self, node: ast.YieldFrom, frame: Frame) -> Value:
        frame.yields.append(self.operand(node.value, frame))
        return CLEAN

    def _of_Await(self, node: ast.Await, frame: Frame) -> Value:
        return self.operand(node.value, frame)


class _Restored:
    """Gives the names of a comprehension back to the enclosing scope."""

    def __init__(self, frame: Frame) -> None:
        self.frame, self.before = frame, dict(frame.env)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        self.frame.env = self.before
        for name, value in self.frame.walruses.items():
            self.before[name] = join([self.before[name], value]) if name in self.before else value


def _same_name(left: ast.expr, right: ast.expr) -> bool:
    return isinstance(left, ast.Name) and isinstance(right, ast.Name) and left.id == right.id


def _is_zero_or_one(node: ast.expr) -> bool:
    """Whether a number is compared alike in every dtype."""
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value in (0, 1)


def _is_neutral_number(node: ast.expr, dtype: str | None) -> bool:
    """Whether a Python number promotes alike in JAX and NumPy."""
    if not isinstance(node, ast.Constant) or isinstance(node.value, bool):
        return False
    if isinstance(node.value, int):
        return node.value in _SMALL and dtype is not None and dtype not in _UNLIKE
    return isinstance(node.value, float) and dtype in _FLOATS
