"""One random callback in one of its forms, and a random function that calls it back."""

import dataclasses
from collections.abc import Sequence
from typing import TypeVar

from bodies import Body, Lines, indented
from expressions import Draw, Expressions, Names
from hypothesis import strategies as st
from placements import METHODS, PLACEMENTS, RULES
from specs import STRUCTURES, Leaf, Specs, Structure, Values, leaves

T = TypeVar("T")
PARAMETERS = ("x", "y", "out", "ctx", "value", "é")
ARGUMENTS = {
    "array": ("A", "B", "A * 2"),
    "integers": ("I", "I[::-1]"),
    "number": ("N",),
    "pair": ("(A, B)",),
    "dict": ("dict(a=A)",),
}
# Arrays of `float32` made of one of integers.
INTEGERS = ("{}.astype(np.float32)", "({} * 0.5)", "np.float32({} // 2)", "np.asarray({} + 1, np.float32)")
LIBRARY = ("np.sin", "np.sort", "np.negative", "np.abs")


@dataclasses.dataclass
class Site:
    """Draws a callback with a function `run` that calls it, and what `main` does with that.

    After `write`, the lines are in `host`, a module beside the program; `module`, in front of `run`; and
    `main`.

    Attributes:
      spelling: what is called, such as `jax.pure_callback`.
      names: of the callback, and of what is made of it.
      features: what is drawn, to tell what a run has seen.
    """

    draw: Draw
    number: int
    spelling: str
    host: Lines = dataclasses.field(default_factory=list)
    module: Lines = dataclasses.field(default_factory=list)
    main: Lines = dataclasses.field(default_factory=list)
    names: set[str] = dataclasses.field(default_factory=set)
    features: set[str] = dataclasses.field(default_factory=set)

    def __post_init__(self) -> None:
        self.form = self.choice(tuple(FORMS))
        self.placement = self.choice(tuple(PLACEMENTS))
        mapped = "vmap" in self.placement
        self.method = self.choice(METHODS if mapped else (None, None, *METHODS))
        self.batched = mapped and self.method != "sequential"
        self.expressions = Expressions(self.draw, self.batched)
        self.structure: Structure = Leaf("array")
        if self.form != "library function":
            self.structure = self.draw(STRUCTURES)
        self.parameters = self._parameters(mapped)
        self.inner: Lines = []  # in `run`, in front of the call
        self.run = f"run{self.number}"
        self.by_keyword, self.converted, self.style = False, "", ""
        self.features |= {self.form, self.placement, f"vmap_method={self.method}"}
        self.features |= {f"returns {leaf.kind}" for leaf in leaves(self.structure)}
        is_leaf = isinstance(self.structure, Leaf)
        self.features.add("returns a leaf" if is_leaf else f"returns a {self.structure.kind}")

    @property
    def is_converted(self) -> bool:
        """Whether the callback computes in NumPy alone."""
        return bool(self.converted) and set(self.parameters.values()) == {"array"}

    def choice(self, options: Sequence[T]) -> T:
        return self.draw(st.sampled_from(options))

    def _parameters(self, mapped: bool) -> dict[str, str]:
        """The parameters that the call supplies, with what kind of argument they take."""
        kinds = ["array", "array", "pair", "dict"]
        if self.placement not in RULES:
            kinds += ["integers", *([] if mapped else ["number"])]
        count = 1 if self.form == "library function" else self.draw(st.integers(1, 3))
        names = self.draw(st.permutations(PARAMETERS))[:count] if self.draw(st.booleans()) else PARAMETERS
        return dict(zip(names, ["array", *(self.choice(kinds) for _ in range(count - 1))], strict=False))

    # ------------------------------------------------------------------------------------ the callback

    def _function(
        self, name: str, before: Sequence[str] = (), after: Sequence[str] = (), *numbers: str
    ) -> Lines:
        """A `def` with a random body; `numbers` are names of numbers that the call does not supply."""
        names, lines = self._arguments()
        names.numbers += numbers
        body = Body(self.draw, self.batched, self.structure, kept=not self.batched)
        lines = [*body.docstring(), *lines, *body.lines(names)]
        self.features |= body.features
        return [self._head(name, before, after), *indented(lines), ""]

    def _head(self, name: str, before: Sequence[str], after: Sequence[str]) -> str:
        parameters = [*before, *self.parameters]
        style = self.choice(("", "", "", "annotated", "default", "keyword only", "positional only"))
        result = ""
        if style == "annotated":
            parameters = [*before, *(f"{name}: jax.Array" for name in self.parameters)]
            result = " -> np.ndarray"
        elif style == "default" and not any("*" in parameter for parameter in after):
            parameters.append("unused=None")
        elif style == "keyword only" and not after:
            parameters += ["*", "unused=2"]
        elif style == "positional only" and not self.by_keyword:
            parameters.append("/")
        return f"def {name}({', '.join([*parameters, *after])}){result}:"

    def _arguments(self) -> tuple[Names, Lines]:
        """The names that the arguments have in the body, and the lines that convert or unpack them."""
        self.converted = self.choice(("asarray", "asarray", "asarray", "one line", "array", ""))
        names, lines, plain = Names([], []), [], []
        for name, kind in self.parameters.items():
            if kind == "array":
                plain.append(name)
                names.arrays.append(name)
            elif kind == "number":
                names.numbers.append(name)
            elif kind == "integers":
                names.arrays += [template.format(name) for template in INTEGERS]
            else:
                names.arrays += self._parts(name, kind, lines)
        return names, [*self._conversion(plain), *lines]

    def _parts(self, name: str, kind: str, lines: Lines) -> list[str]:
        """How the arrays in an argument are named; `lines` may get more."""
        parts = [f'{name}["a"]'] if kind == "dict" else [f"{name}[0]", f"{name}[1]"]
        how = self.choice(("as they are", "each time", "unpacked", "tree"))
        if how == "unpacked":
            held = [f"{name}_{index}" for index in range(len(parts))]
            values = [f"np.asarray({part})" if self.converted else part for part in parts]
            lines += [f"{left} = {value}" for left, value in zip(held, values, strict=True)]
            return held
        if how == "tree" and self.converted:
            lines.append(f"{name} = jax.tree.map(np.asarray, {name})")
        elif how == "each time" and self.converted:
            return [f"np.asarray({part})" for part in parts]
        return parts

    def _conversion(self, plain: list[str]) -> Lines:
        if self.converted == "one line":
            return [f"{', '.join(plain)} = {', '.join(f'np.asarray({name})' for name in plain)}"]
        return [f"{name} = np.{self.converted}({name})" for name in plain if self.converted]

    def _lambda(self) -> str:
        names, _ = self._arguments()
        names.arrays = [name for name in self.parameters if self.parameters[name] == "array"]
        if self.converted:
            names.arrays = [f"np.asarray({name})" for name in names.arrays]
        return f"lambda {', '.join(self.parameters)}: {Values(self.expressions).value(self.structure, names)}"

    def _as_function(self, name: str) -> str:
        self.module += ["", *self._function(name), ""]
        return name

    def _as_nested(self, name: str) -> str:
        self.inner += self._function(name)
        return name

    def _as_lambda(self, name: str) -> str:
        return self._lambda()

    def _as_named_lambda(self, name: str) -> str:
        self.choice((self.module, self.inner)).append(f"{name} = {self._lambda()}")
        return name

    def _as_partial(self, name: str) -> str:
        self.module += ["", *self._function(name, ["k"], (), "k"), ""]
        bound = self.choice(("2.0", "3", "np.float32(0.5)"))
        return self._held(f"functools.partial({name}, {bound})")

    def _as_partial_by_keyword(self, name: str) -> str:
        self.module += ["", *self._function(name, (), ["*", "k=1.0"], "k"), ""]
        return self._held(f"functools.partial({name}, k=2.0)")

    def _held(self, made: str) -> str:
        """The callable itself, or a variable that holds it."""
        held = f"_held{self.number}"
        where = self.choice((None, self.module, self.inner))
        if where is None:
            return made
        where.append(f"{held} = {made}")
        return held

    def _as_method(self, name: str) -> str:
        lines = self._function(name, ["self"], (), "self.k")
        self._class(["def __init__(self):", "    self.k = 0.75", "", *lines])
        return f"self.{name}"

    def _as_static_method(self, name: str) -> str:
        self._class(["@staticmethod", *self._function(name)])
        return self.choice((f"self.{name}", f"Holder{self.number}.{name}"))

    def _as_class_method(self, name: str) -> str:
        self._class(["k = 0.75", "", "@classmethod", *self._function(name, ["cls"], (), "cls.k")])
        return self.choice((f"self.{name}", f"Holder{self.number}.{name}"))

    def _class(self, lines: Lines) -> None:
        """Puts a callback, and `run` after it, into a class."""
        self.module += ["", f"class Holder{self.number}:", *indented(lines)]
        self.run = f"Holder{self.number}().run"

    def _as_closure(self, name: str) -> str:
        self.inner += ["k = 1.25", *self._function(name, (), (), "k")]
        return name

    def _as_factory(self, name: str) -> str:
        inner = self.choice((name, "host", "wrapped"))
        made = indented([*self._function(inner, (), (), "k"), f"return {inner}"])
        self.names.add(inner)
        self.module += ["", f"def _made{self.number}(k):", *made, ""]
        return self._held(f"_made{self.number}(1.5)")

    def _as_factory_of_a_lambda(self, name: str) -> str:
        self.module += ["", f"def _made{self.number}():", f"    return {self._lambda()}", ""]
        return self._held(f"_made{self.number}()")

    def _as_decorated(self, name: str) -> str:
        self.module += ["", "@through", *self._function(name), ""]
        return name

    def _as_imported(self, name: str) -> str:
        self.host += ["", *self._function(name), ""]
        self.module += [self.choice((f"from host import {name}", "import host"))]
        return name if self.module[-1].endswith(name) else f"host.{name}"

    def _as_callable_object(self, name: str) -> str:
        self.module += ["", f"class Host{self.number}:", *indented(self._function("__call__", ["self"])), ""]
        return f"Host{self.number}()"

    def _as_library_function(self, name: str) -> str:
        return self.choice(LIBRARY)

    # ------------------------------------------------------------------------------------ the call

    def write(self) -> None:
        """Draws everything."""
        name = self.choice(("_host", "_f", "solve", "_é", "_out")) + str(self.number)
        self.names |= {name, f"_made{self.number}", f"_held{self.number}"}
        self.style = self._style()
        callback = FORMS[self.form](self, name)
        call = self._call(callback)
        in_class = self.run != f"run{self.number}"
        parameters = ", ".join(self.parameters)
        lines = [*self.inner, *call, ""]
        head = f"def run(self, {parameters}):" if in_class else f"def {self.run}({parameters}):"
        decorator = self.choice(("", "", "@jax.jit")) if not in_class else ""
        function = [*([decorator] if decorator else []), head, *indented(lines)]
        self.module += ["", *(indented(function) if in_class else function), ""]
        self._write_main()

    def _style(self) -> str:
        """How the call is spelled, which also decides whether it hands on keywords."""
        by_position = ("plain call", "starred arguments", "partial of the call", "call of a lambda")
        style = self.choice(by_position if self.form == "library function" else tuple(CALLS))
        self.by_keyword = style in ("call by keywords", "spec by keyword")
        if self.form != "library function" and style in ("plain call", "partial of the call", "sharding"):
            self.by_keyword = self.choice((False, False, True))
        self.features.add(style)
        return style

    def _spec(self) -> str:
        array = next(iter(self.parameters))
        specs = Specs(self.expressions, array)
        how = self.choice(("inline", "inline", "variable", "eval_shape", "function"))
        self.features.add(f"spec {how}")
        if how == "eval_shape":
            return f"jax.eval_shape(lambda {array}: {specs.example(self.structure)}, {array})"
        spec = specs.spec(self.structure)
        if how == "inline":
            return spec
        if how == "variable":
            self.inner.append(f"spec = {spec}")
            return "spec"
        self.inner.append(f"spec_of = lambda {array}: {spec}")
        return f"spec_of({array})"

    def _call(self, callback: str) -> Lines:
        spec = self._spec()
        arguments = list(self.parameters)
        if self.by_keyword:
            arguments[-1] = f"{arguments[-1]}={arguments[-1]}"
        option = [f'vmap_method="{self.method}"'] if self.method else []
        call = CALLS[self.style].format(
            api=self.spelling,
            callback=callback,
            spec=spec,
            args=", ".join(arguments),
            more="".join(", " + text for text in option),
            keywords=", ".join(f"{name}={name}" for name in self.parameters),
        )
        template = self.choice(STATEMENTS)
        return template.format(call=call).split("\n")

    def _write_main(self) -> None:
        arguments = [self.choice(ARGUMENTS[kind]) for kind in self.parameters.values()]
        tree = ", ".join(arguments)
        stacked = [f"jax.tree.map(lambda v: jnp.stack([v, v + 1]), {a})" for a in arguments]
        twice = [f"jax.tree.map(lambda v: jnp.stack([jnp.stack([v, v * 2])] * 2), {a})" for a in arguments]
        rule = f"safe{self.number}"
        fields = {"run": self.run, "rule": rule, "parameters": ", ".join(self.parameters)}
        if self.placement in RULES:
            self.module += ["", *RULES[self.placement].format(**fields).split("\n"), ""]
        made = PLACEMENTS[self.placement].format(
            args=tree, stacked=", ".join(stacked), twice=", ".join(twice), **fields
        )
        self.main.append(f'show("{self.number}", lambda: {made})')


FORMS = {
    "function": Site._as_function,
    "nested": Site._as_nested,
    "lambda": Site._as_lambda,
    "lambda with a name": Site._as_named_lambda,
    "partial": Site._as_partial,
    "partial by keyword": Site._as_partial_by_keyword,
    "method": Site._as_method,
    "static method": Site._as_static_method,
    "class method": Site._as_class_method,
    "closure": Site._as_closure,
    "factory": Site._as_factory,
    "factory of a lambda": Site._as_factory_of_a_lambda,
    "decorated": Site._as_decorated,
    "imported": Site._as_imported,
    "callable object": Site._as_callable_object,
    "library function": Site._as_library_function,
}
CALLS = {
    "plain call": "{api}({callback}, {spec}, {args}{more})",
    "call by keywords": "{api}(callback={callback}, result_shape_dtypes={spec}, {keywords}{more})",
    "spec by keyword": "{api}({callback}, result_shape_dtypes={spec}, {keywords}{more})",
    "starred arguments": "{api}({callback}, {spec}, *({args},){more})",
    "partial of the call": "functools.partial({api}, {callback}, {spec}{more})({args})",
    "sharding": "{api}({callback}, {spec}, {args}, sharding=None{more})",
    "call of a lambda": "(lambda *a: {api}({callback}, {spec}, *a{more}))({args})",
}
STATEMENTS = (
    "return {call}",
    "return {call}",
    "y = {call}\nreturn y",
    "with contextlib.nullcontext():\n    return {call}",
    "return jax.tree.map(lambda v: v, {call})",
    "return [{call} for _ in range(1)][0]",
    "first = {call}; second = {call}\nreturn (first, second)",
    "if True: return {call}",
    "return (y := {call})",
    'return {{"é": {call}}}',
)
