"""Calls on abstract values: conversions, library functions, builtins, methods, functions in sight."""

from __future__ import annotations

import ast
import builtins
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Final

from codemods import hostlib
from codemods.bodies.expressions import Expressions
from codemods.bodies.frames import Frame, FunctionLike
from codemods.bodies.values import ARRAY, CLEAN, NUMBER, Form, Obstacle, Use, Value, join

_BUILTINS: Final = frozenset(dir(builtins))


class Calls(Expressions):
    @abstractmethod
    def call_function(
        self, function: FunctionLike, frame: Frame, values: Sequence[Value], call: ast.Call
    ) -> Value:
        """The result of calling a function in sight."""

    def _of_Call(self, node: ast.Call, frame: Frame) -> Value:
        origins = self.module.origins(node.func)
        if origins:
            return self._call_library(node, origins, frame)
        if (
            isinstance(node.func, ast.Name)
            and self.module.home(node.func.id, self.module.scopes[node.func]) is None
        ):
            return self._call_builtin(node, node.func.id, frame)
        function = self.function_named(node.func, frame)
        if isinstance(node.func, ast.Attribute) and function is None:
            return self._call_method(node, node.func, frame)
        values = self._arguments(node, frame)
        if function is None:
            self._may_keep_exception(node, frame)
            called = self.operand(node.func, frame)
            if called.raw:
                self.hand_out(called, node, "its own `__call__`")
            return self.unknown_code(values, node)
        clean = all(value.is_clean for value in values) and not frame.handlers
        if clean and self.lexical_frame(function, frame) is None:
            return CLEAN
        return self.call_function(function, frame, values, node)

    def _arguments(self, node: ast.Call, frame: Frame) -> list[Value]:
        """The values of all arguments, positional ones first; uses are left to the caller."""
        values = [self.value(argument, frame) for argument in node.args]
        return values + [self.value(keyword.value, frame) for keyword in node.keywords]

    def unknown_code(self, values: Sequence[Value], node: ast.Call) -> Value:
        """Hands arguments to code out of sight, whose result is taken to be its own."""
        receiver = f"`{_short(node.func)}`"
        for value in values:
            if not value.is_clean:
                self.hand_out(value, node, receiver)
        return CLEAN

    def match_parameters(
        self, function: FunctionLike, values: Sequence[Value], call: ast.Call
    ) -> Iterator[tuple[ast.arg, Value]]:
        """Pairs a function's parameters with a call's values; where a star blurs them, with the join."""
        arguments = function.args
        positional = [*arguments.posonlyargs, *arguments.args]
        implicit = self.implicit_parameters(call.func, function)
        for parameter in positional[:implicit]:
            yield parameter, CLEAN
        positional = positional[implicit:]
        named = {keyword.arg: v for keyword, v in zip(call.keywords, values[len(call.args) :], strict=False)}
        blurred = None in named or any(isinstance(argument, ast.Starred) for argument in call.args)
        everything = join(values)
        given = list(values[: len(call.args)])
        for index, parameter in enumerate(positional):
            if blurred:
                yield parameter, everything
            elif index < len(given):
                yield parameter, given[index]
            else:
                yield parameter, named.get(parameter.arg, CLEAN)
        for parameter in arguments.kwonlyargs:
            yield parameter, everything if blurred else named.get(parameter.arg, CLEAN)
        if arguments.vararg is not None:
            yield arguments.vararg, self.made(arguments.vararg, [everything])
        if arguments.kwarg is not None:
            yield arguments.kwarg, self.made(arguments.kwarg, [everything], form="dict")

    # Library functions.

    def _call_library(self, node: ast.Call, origins: frozenset[str], frame: Frame) -> Value:
        if origins <= hostlib.TREE_MAPS and len(node.args) == 2 and self._converts_each(node.args[0]):
            value = self.value(node.args[1], frame)
            self.use(value, Use.PIECE_CONVERTED)
            return self.made(node, [Value(view=value.view, form="array")])
        self._refuse_jax(node.func)
        if len(origins) != 1:
            return self.unknown_code(self._arguments(node, frame), node)
        (origin,) = origins
        origin = _canonical(origin)
        if origin in hostlib.FRAME_READERS:
            self._reads_frame(node)
        if origin in hostlib.CONVERTING:
            return self._convert(node, origin, frame)
        values = self._arguments(node, frame)
        written = self._note_out(node, frame)
        known = self._known_function(node, origin, values, written)
        if known is not None:
            return known
        if origin.startswith(hostlib.WRITING_MODULES):
            for value in values:
                self.write_and_escape(value, node)
        self._may_keep_exception(node, frame)
        return self.unknown_code(values, node)

    def _known_function(
        self, node: ast.Call, origin: str, values: Sequence[Value], written: Value
    ) -> Value | None:
        """The result of a function that the tables know; None for any other."""
        if origin in hostlib.FRESH | hostlib.VIEWING and origin not in hostlib.UFUNCS:
            self._check_positions(node, origin, values)
        if origin in hostlib.FRESH or hostlib.is_safe(origin):
            fresh = not origin.startswith("scipy.linalg.") and not written.view
            return self._numpy_result(values, fresh=fresh, is_array=True)
        if origin in hostlib.VIEWING | hostlib.SCALAR_TYPES:
            return self._numpy_result(values, fresh=False, is_array=origin in hostlib.SCALAR_TYPES)
        if origin in hostlib.NEUTRAL:
            self.use(join(values), Use.OTHER)
            return Value(join(values).raw, join(values).view, form="array")
        if origin in hostlib.INQUIRIES | hostlib.MATH_ON_FLOATS:
            self.use(join(values), Use.INQUIRY if origin in hostlib.INQUIRIES else Use.CONVERTED)
            return CLEAN if origin == "numpy.shape" else NUMBER
        if origin.startswith("numpy.") and origin not in hostlib.TAKES_FUNCTION:
            return self._call_other_numpy(node, origin, values)
        return None

    def _check_positions(self, node: ast.Call, origin: str, values: Sequence[Value]) -> None:
        """A function converts its arrays; what else it is given, it computes with as it is."""
        for index, value in enumerate(values):
            is_array = index < len(node.args) and (index == 0 or origin in hostlib.SEVERAL_ARRAYS)
            if value.raw and not is_array:
                self.arithmetic_differs(value, node, f"`{_short(node.func)}`")

    def _convert(self, node: ast.Call, origin: str, frame: Frame) -> Value:
        if not node.args or isinstance(node.args[0], ast.Starred):
            return self.unknown_code(self._arguments(node, frame), node)
        value = self.value(node.args[0], frame)
        for extra in (*node.args[1:], *(keyword.value for keyword in node.keywords)):
            self.operand(extra, frame)
        self.use(value, Use.CONVERTED if origin in hostlib.MAKING else Use.NUMPY)
        self._note_conversion(value, node, frame)
        if any(keyword.arg == "subok" for keyword in node.keywords):
            self.use(value, Use.OTHER)
        if self.of_objects(node):  # an array of objects holds what it is given
            return Value(value.raw, value.view)
        copies = origin == "numpy.array" and not any(keyword.arg == "copy" for keyword in node.keywords)
        if copies or value.is_clean or value.is_container:
            return ARRAY
        return Value(view=value.view, form="array")

    def _note_conversion(self, value: Value, node: ast.Call, frame: Frame) -> None:
        if frame is self.root and isinstance(node.args[0], ast.Name) and node.args[0].id in value.direct:
            usage = self.usages[node.args[0].id]
            if node not in usage.conversions:
                usage.conversions.append(node)

    def _note_out(self, node: ast.Call, frame: Frame) -> Value:
        """Notes arguments that a library function is asked to write into; returns them."""
        written = []
        for keyword in node.keywords:
            asked = not (isinstance(keyword.value, ast.Constant) and keyword.value.value in (None, False))
            if keyword.arg == "out":
                written.append(self.value(keyword.value, frame))
            elif keyword.arg == "copy" and not _is_true(keyword.value):
                written.extend(self.value(argument, frame) for argument in node.args)
            elif keyword.arg and keyword.arg.startswith("overwrite_") and asked:
                # Some of SciPy's write through an array that is read-only.
                for argument in node.args:
                    self.write_and_escape(self.value(argument, frame), node)
        written += [self.value(node.args[index], frame) for index in self._written_positions(node)]
        for value in written:
            self.note_write(value, node)
        return join(written)

    def _written_positions(self, node: ast.Call) -> range:
        """The positional arguments that a function of NumPy writes into."""
        origin = self.module.origin(node.func) or ""
        if origin in hostlib.WRITES_FIRST:
            return range(min(1, len(node.args)))
        if origin in hostlib.UFUNCS:
            return range(2 if origin in hostlib.BINARY else 1, len(node.args))
        return range(0)

    def _numpy_result(self, values: Sequence[Value], *, fresh: bool, is_array: bool) -> Value:
        for value in values:
            self.consume_by_numpy(value)
        form: Form = "array" if is_array else "any"
        return Value(form=form) if fresh else Value(view=join(values).view, form=form)

    def _call_other_numpy(self, node: ast.Call, origin: str, values: Sequence[Value]) -> Value:
        for value in values:
            self.use(value, Use.OTHER)
            if value.raw:
                self.arithmetic_differs(value, node, f"`{_short(node.func)}`")
        if origin in hostlib.ARRAY_MAKERS and not self.of_objects(node):
            return ARRAY
        return Value(view=join(values).view)

    def _reads_frame(self, node: ast.Call) -> None:
        reason = f"`{_short(node.func)}()` may read the callback's own names, which a rewrite changes."
        way_out = "Leave it as it is, or write the callback without it."
        self.obstruct(Obstacle("BC118", node, reason, way_out))

    # Builtins.

    def _call_builtin(self, node: ast.Call, name: str, frame: Frame) -> Value:
        if name in hostlib.READS_FRAME and not (name == "super" and not node.args):
            self._reads_frame(node)
        if name == "map" and len(node.args) == 2 and self._converts_each(node.args[0]):
            value = self.iterated(self.value(node.args[1], frame))
            self.use(value, Use.CONVERTED)
            return self.made(node, [Value(view=value.view, form="array")])
        values = self._arguments(node, frame)
        everything = join(values)
        result = self._contain_functions(node, everything, frame)
        if name == "map" and result is not None:
            return self.made(node, [result])
        if result is not None and result.raw:  # by which elements are compared
            self.arithmetic_differs(result, node, f"`{name}`")
        if name not in _BUILTINS or name not in hostlib.SAFE_BUILTINS | hostlib.ASKS_TYPE:
            return self.unknown_code(values, node)
        if name == "len":
            self.use(everything, Use.INQUIRY)
            return NUMBER
        if name in hostlib.SCALAR_BUILTINS:
            self.use(everything, Use.CONVERTED)
            return NUMBER
        if name == "sum" and len(node.args) > 1 and not everything.raw:  # of lists, perhaps
            self.use(everything, Use.OTHER)
            return Value(view=everything.view)
        if name in hostlib.UNPACKING_BUILTINS:
            return self._unpack_builtin(name, values, node)
        self.use(everything, Use.OTHER)
        if everything.raw:
            self._refuse_builtin(name, everything, node)
        if name == "getattr":
            return Value(view=everything.view)
        return ARRAY if name in hostlib.READING_BUILTINS | {"sum", "abs", "round"} else CLEAN

    def _converts_each(self, function: ast.expr) -> bool:
        """Whether `map` is given a conversion."""
        if self.module.origins(function):
            return self.module.origins(function) <= hostlib.CONVERTING
        scalar = isinstance(function, ast.Name) and function.id in hostlib.SCALAR_BUILTINS
        return scalar and not self.module.bindings(function)  # type: ignore[arg-type]

    def _unpack_builtin(self, name: str, values: Sequence[Value], node: ast.Call) -> Value:
        positional = values[: len(node.args)]
        compared = [value for value in positional if value.form != "dict"]
        if name in ("sorted", "max", "min", "set") and join(compared).raw:
            starred = any(isinstance(argument, ast.Starred) for argument in node.args)
            self._compare_elements(name, [*positional, CLEAN] if starred else positional, node)
        elements = [self.iterated(value) for value in positional]
        match name:
            case "zip" | "enumerate":
                return self.made(node, [self.made(node, elements, "row")])
            case "dict":
                held = [self.element(value) for value in positional]
                pairs = [self.element(value) for value in held]
                return self.made(node, [*held, *pairs, *values[len(positional) :]], form="dict")
            case "next":
                return join([*elements[:1], *positional[1:]])
            case "max" | "min":
                found = elements if len(positional) == 1 else positional
                return join([*found, *values[len(positional) :]])
        return self.made(node, elements)

    def _compare_elements(self, name: str, values: Sequence[Value], node: ast.Call) -> None:
        """Elements are compared with each other, which only those of one array do alike."""
        self.use(join(values), Use.OTHER)
        if name == "set" or len(values) != 1 or values[0].form != "array":
            self.arithmetic_differs(join(values), node, f"`{name}`")

    def _refuse_builtin(self, name: str, value: Value, node: ast.Call) -> None:
        if name in hostlib.ASKS_TYPE:
            self.asks_type(value, node)
        elif name in ("print", "str") and value.form == "array":
            return
        elif name not in hostlib.READING_BUILTINS:
            self.arithmetic_differs(value, node, f"`{name}`")

    def _contain_functions(self, node: ast.Call, everything: Value, frame: Frame) -> Value | None:
        """Runs the functions given to a builtin on the elements of its arguments; joins their results."""
        results = []
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            function = (
                self.function_named(argument, frame) if isinstance(argument, ast.Lambda | ast.Name) else None
            )
            if function is None:
                continue
            self.contained.add(function)
            values = [self.iterated(everything)] * len(function.args.args)
            results.append(self.call_function(function, frame, values, _bare_call(node, function)))
        return join(results) if results else None

    # Methods.

    def _call_method(self, node: ast.Call, function: ast.Attribute, frame: Frame) -> Value:
        base = self.value(function.value, frame)
        values = self._arguments(node, frame)
        if base.is_container:
            return self._container_method(node, function, base, values)
        if base.raw:
            return self._raw_method(node, function.attr, base, values)
        self._note_out_of_method(node, function.attr, base, frame)
        if base.view:
            return self._view_method(node, function.attr, base, values)
        self.use(base, Use.OTHER)
        if base.form == "array" or self.is_array_name(function.value):
            for value in values:
                if value.raw:
                    self.arithmetic_differs(value, node, f"`{function.attr}`")
            return CLEAN if function.attr == "tolist" else ARRAY
        if function.attr in hostlib.LIST_METHODS:
            for value in values:
                self.keep(value, node, f"`{_short(function.value)}`")
            return CLEAN
        self._may_keep_exception(node, frame)
        return self.unknown_code(values, node)

    def _note_out_of_method(self, node: ast.Call, method: str, base: Value, frame: Frame) -> None:
        """Notes what an array's method is asked to write into: `a.clip(0, 1, out=b)`, `a.byteswap(True)`."""
        for keyword in node.keywords:
            if keyword.arg == "out":
                self.note_write(self.value(keyword.value, frame), node)
        if method == "byteswap" and (node.args or node.keywords):
            self.note_write(base, node)

    def _may_keep_exception(self, node: ast.Call, frame: Frame) -> None:
        """Logging with the traceback keeps the exception that is being handled."""
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        asked = any(k.arg == "exc_info" and not _is_false(k.value) for k in node.keywords)
        if frame.handlers and (name in ("exception", "exc_info") or asked):
            self.exception_is_kept(node)

    def _container_method(
        self, node: ast.Call, function: ast.Attribute, base: Value, values: Sequence[Value]
    ) -> Value:
        """A method of a list, tuple or dict."""
        method, inner = function.attr, self.element(base)
        if method in hostlib.LIST_METHODS:
            spread = {"extend": self.iterated, "update": self.element}.get(method)
            added = [spread(v) for v in values] if spread else list(values)
            if base.places:
                self.put_in(base, join(added), node, f"`{_short(function.value)}`")
            elif base.view:
                self.write_into(base, node)
            return join([inner, *values]) if method == "setdefault" else CLEAN
        match method:
            case "items":
                return self.made(node, [self.made(node, [inner], "pair")])
            case "values" | "copy":
                return self.made(node, [inner])
            case "get" | "pop" | "popleft" | "popitem":
                return join([inner, *values])
            case "keys" | "clear" | "reverse":
                return CLEAN
        if base.raw:
            self.arithmetic_differs(base, node, f"the method `{method}`")
        for value in (base, *values):
            self.hand_out(value, node, f"`{_short(function)}`")
        return inner

    def _raw_method(self, node: ast.Call, method: str, base: Value, values: Sequence[Value]) -> Value:
        for value in values:
            self.use(value, Use.OTHER)
            if value.raw:
                self.arithmetic_differs(value, node, f"`{method}`")
        if method in hostlib.PYTHON_METHODS:
            self.use(base, Use.OTHER)
            return NUMBER if method == "item" else CLEAN
        if method in hostlib.MAPPING_METHODS and base.form != "array":
            inner = self.element(base)
            return CLEAN if method == "keys" else self.made(node, [self.made(node, [inner], "pair"), inner])
        self.use(base, Use.OTHER)
        if method in hostlib.NEUTRAL_METHODS:
            return Value(base.raw, base.view, form="array", dtype=base.dtype)
        if method in hostlib.JAX_ATTRIBUTES:
            reason = f"Only JAX arrays have `{method}`."
            self.obstruct(Obstacle("BC103", node, reason, "Write it in NumPy to have it rewritten."))
        if method == "astype" and self._keeps_dtype(node, base):
            return Value(base.raw, base.view, form="array", dtype=base.dtype)
        if method == "sort":
            reason = "`sort` of a JAX array returns another array, and NumPy's sorts in place."
            self.obstruct(Obstacle("BC103", node, reason, "Write `np.sort` to have it rewritten."))
        if method in hostlib.WRITING_METHODS:
            self.write_into(base, node)
        self.arithmetic_differs(base, node, f"the method `{method}`")
        return Value(base.raw, base.view)

    def _keeps_dtype(self, node: ast.Call, base: Value) -> bool:
        """Whether `astype` asks for the dtype that the array is known to have."""
        match node:
            case ast.Call(args=[dtype], keywords=[]):
                wanted = self.module.origin(dtype) or ""
                name = dtype.value if isinstance(dtype, ast.Constant) else wanted.rpartition(".")[2]
                return base.dtype is not None and name == base.dtype
        return False

    def _view_method(self, node: ast.Call, method: str, base: Value, values: Sequence[Value]) -> Value:
        """A method of what may be an array that shares an argument's memory."""
        for value in values:
            self.use(value, Use.OTHER)
            if value.raw:
                self.arithmetic_differs(value, node, f"`{method}`")
        self.use(base, Use.OTHER)
        if method in hostlib.WRITING_METHODS:
            self.note_write(base, node)
            return CLEAN
        if base.form != "array":
            return Value(view=base.view)
        if method == "tolist":
            return CLEAN
        if method in hostlib.VIEWING_METHODS or (method == "astype" and _may_not_copy(node)):
            return Value(view=base.view, form="array")
        return ARRAY


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _canonical(origin: str) -> str:
    """`numpy.core` and `numpy` name the same functions; so do old and new homes in SciPy."""
    return origin.replace("numpy.core.numeric.", "numpy.").replace("scipy.special._ufuncs.", "scipy.special.")


def _may_not_copy(node: ast.Call) -> bool:
    return any(keyword.arg == "copy" for keyword in node.keywords)


def _bare_call(node: ast.Call, function: FunctionLike) -> ast.Call:
    """A call of `function` with one plain argument for each of its parameters, placed at `node`."""
    name = ast.copy_location(ast.Name("function", ast.Load()), node)
    arguments: list[ast.expr] = [name for _ in function.args.args]
    return ast.copy_location(ast.Call(name, arguments, []), node)


def _short(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 40 else text[:37] + "..."
