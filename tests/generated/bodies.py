"""Random bodies of callbacks: statements over the arguments that end, on every path, with a result."""

import dataclasses
from collections.abc import Callable

from expressions import Draw, Expressions, Names, bare
from hypothesis import strategies as st
from specs import Node, Structure, Values

INDENT = "    "
Lines = list[str]


def indented(lines: Lines) -> Lines:
    return [INDENT + line if line else line for line in lines]


@dataclasses.dataclass
class Body:
    """Draws the body of one callback.

    Attributes:
      batched: whether `vmap` may put axes in front of the arguments' own.
      structure: that of the result.
      kept: whether an argument may be kept in the module's `KEPT`.
      features: the kinds of statements that have been drawn.
    """

    draw: Draw
    batched: bool
    structure: Structure
    kept: bool = False
    features: set[str] = dataclasses.field(default_factory=set)
    _count: int = 0
    _budget: int = 7

    def __post_init__(self) -> None:
        self.expressions = Expressions(self.draw, self.batched)
        self.values = Values(self.expressions)

    def lines(self, names: Names) -> Lines:
        """The body, without its docstring and what converts the arguments."""
        return self._block(names, depth=2, ends=True)

    def docstring(self) -> Lines:
        return [*self.expressions.choice(DOCSTRINGS)]

    def _new(self) -> str:
        self._count += 1
        return f"{self.expressions.choice(LOCALS)}{self._count if self._count > 1 else ''}"

    def _block(self, names: Names, depth: int, *, ends: bool) -> Lines:
        """Some statements; a block that `ends` has a result on every path."""
        lines: Lines = []
        for _ in range(self.draw(st.integers(0, 3 if depth == 2 else 1))):
            self._budget -= 1
            if self._budget < 0:
                break
            lines += self._statement(names, depth)
        if ends:
            return lines + self._end(names, depth)
        return lines or ["pass"]

    def _statement(self, names: Names, depth: int) -> Lines:
        kinds = SIMPLE if depth == 0 else (*SIMPLE, *COMPOUND)
        name, make = self.expressions.choice(kinds)
        self.features.add(name)
        return make(self, names, depth)

    def _end(self, names: Names, depth: int) -> Lines:
        kinds = ENDS if depth else ENDS[:4]
        name, make = self.expressions.choice(kinds)
        self.features.add(name)
        return make(self, names, depth)

    # ------------------------------------------------------------------------------------ ends

    def _return(self, names: Names, depth: int) -> Lines:
        return [f"return {self.values.value(self.structure, names, 1 + (depth > 0))}"]

    def _return_name(self, names: Names, depth: int) -> Lines:
        name = self._new()
        return [f"{name} = {self.values.value(self.structure, names)}", f"return {name}"]

    def _return_unpacked(self, names: Names, depth: int) -> Lines:
        if not isinstance(self.structure, Node) or not self.structure.children:
            return self._return(names, depth)
        first = self.values.value(self.structure, names)
        name = self._new()
        if self.structure.kind == "dict":
            return [f"{name} = {first}", f"return {{**{name}}}"]
        rest = "*" + name
        shown = {"Pair": f"Pair({rest})", "list": f"[{rest}]", "tuple": f"{rest},"}[self.structure.kind]
        return [f"{name} = {first}", f"return {shown}"]

    def _return_conditional(self, names: Names, depth: int) -> Lines:
        a, b = (self.values.value(self.structure, names, 1) for _ in range(2))
        return [f"return {a} if {self.expressions.condition(names)} else {b}"]

    def _if_end(self, names: Names, depth: int) -> Lines:
        lines = [f"if {bare(self.expressions.condition(names))}:"]
        lines += indented(self._block(names.copy(), depth - 1, ends=True))
        if self.draw(st.booleans()):
            lines += [f"elif {bare(self.expressions.condition(names))}:"]
            lines += indented(self._block(names.copy(), depth - 1, ends=True))
        if self.draw(st.booleans()):
            return [*lines, "else:", *indented(self._block(names.copy(), depth - 1, ends=True))]
        return lines + self._block(names, depth - 1, ends=True)

    def _try_end(self, names: Names, depth: int) -> Lines:
        lines = ["try:", *indented(self._may_fail(names))]
        lines += indented(self._block(names.copy(), depth - 1, ends=True))
        lines += [self.expressions.choice(HANDLERS)]
        lines += indented(self._block(names.copy(), depth - 1, ends=True))
        if self.draw(st.booleans()):
            lines += ["finally:", *indented(self._block(names.copy(), 0, ends=False))]
        return lines

    def _with_end(self, names: Names, depth: int) -> Lines:
        inner = names.copy()
        head = self.expressions.choice(CONTEXTS)
        if "{o}" in head:
            head = head.format(o=self.expressions.choice(names.owned)) if names.owned else "LOCK"
        if "{a}" in head:
            name = self._new()
            head = head.format(a=self.expressions.array(names, 1), name=name)
            inner.arrays.append(name)
        lines = [f"with {head}:", *indented(self._block(inner, depth - 1, ends=True))]
        return lines + (self._return(names, 0) if "suppress" in head else [])

    def _match_end(self, names: Names, depth: int) -> Lines:
        inner = names.copy()
        head, pattern = self.expressions.choice(MATCHES)
        name = self._new()
        if "{name}" in pattern:
            inner.arrays.append(name)
        subject = head.format(a=self.expressions.array(names, 1), b=self.expressions.array(names, 1))
        lines = [f"match {subject}:", f"{INDENT}case {pattern.format(name=name)}:"]
        lines += indented(indented(self._block(inner, depth - 1, ends=True)))
        other = self._block(names.copy(), depth - 1, ends=True)
        if self.draw(st.booleans()):
            return [*lines, f"{INDENT}case _:", *indented(indented(other))]
        return lines + other

    def _loop_end(self, names: Names, depth: int) -> Lines:
        inner = names.copy()
        target = self._new()
        inner.arrays.append(target)
        lines = [f"for {target} in ({self.expressions.array(names, 1)}, {self.expressions.array(names, 1)}):"]
        lines += indented([f"if {bare(self.expressions.condition(inner))}:"])
        lines += indented(indented(self._block(inner.copy(), depth - 1, ends=True)))
        if self.draw(st.booleans()):
            return [*lines, "else:", *indented(self._block(names.copy(), depth - 1, ends=True))]
        return lines + self._block(names, depth - 1, ends=True)

    def _inner_end(self, names: Names, depth: int) -> Lines:
        """The result is that of a function in the body."""
        function, parameter = self._new(), self._new()
        inner = names.copy()
        inner.arrays.append(parameter)
        lines = [f"def {function}({parameter}):", *indented(self._block(inner, depth - 1, ends=True)), ""]
        return [*lines, f"return {function}({bare(self.expressions.array(names, 1))})"]

    # ------------------------------------------------------------------------------------ statements

    def _assign(self, names: Names, depth: int) -> Lines:
        name = self._new()
        value = bare(self.expressions.array(names))
        names.arrays.append(name)
        return [self.expressions.choice(["{} = {}", "{}: np.ndarray = {}", "({}) = {}"]).format(name, value)]

    def _rebind(self, names: Names, depth: int) -> Lines:
        plain = [name for name in names.arrays if name.isidentifier() and name not in names.owned]
        if not plain:
            return self._assign(names, depth)
        return [f"{self.expressions.choice(plain)} = {bare(self.expressions.array(names))}"]

    def _two(self, names: Names, depth: int) -> Lines:
        a, b = self._new(), self._new()
        line = f"{a}, {b} = {self.expressions.array(names, 1)}, {self.expressions.array(names, 1)}"
        names.arrays += [a, b]
        return [line]

    def _number(self, names: Names, depth: int) -> Lines:
        name = self._new()
        line = f"{name} = {bare(self.expressions.number(names))}"
        names.numbers.append(name)
        return [line]

    def _own(self, names: Names, depth: int) -> Lines:
        """An array of the callback's own, written into right away."""
        name = self._new()
        template = self.expressions.choice(["np.array({})", "np.asarray({}).copy()", "np.sin({})"])
        lines = [f"{name} = {template.format(bare(self.expressions.array(names, 1)))}"]
        names.arrays.append(name)
        names.owned.append(name)
        return lines + self._write(names, depth)

    def _write(self, names: Names, depth: int) -> Lines:
        if not names.owned:
            return self._own(names, depth)
        name = self.expressions.choice(names.owned)
        template = self.expressions.choice(WRITES)
        return [template.format(t=name, a=bare(self.expressions.array(names, 1)))]

    def _augment(self, names: Names, depth: int) -> Lines:
        """What fails for an argument that NumPy reads, and rebinds one of JAX."""
        name = self.expressions.choice([name for name in names.arrays if name.isidentifier()] or ["t"])
        target = self.expressions.choice(["{} += {}", "{}[..., 0] = {}[..., 1]", "{} = {}"])
        line = target.format(name, bare(self.expressions.array(names, 1)))
        return ["try:", INDENT + line, "except (TypeError, ValueError, NameError):", f"{INDENT}pass"]

    def _plain(self, names: Names, depth: int) -> Lines:
        template = self.expressions.choice(PLAIN_LINES)
        return [template.format(a=self.expressions.array(names, 1), c=self.expressions.condition(names))]

    def _keep(self, names: Names, depth: int) -> Lines:
        if not self.kept:
            return self._plain(names, depth)
        return [f'KEPT["é"] = {self.expressions.choice(names.arrays)}']

    def _inner(self, names: Names, depth: int) -> Lines:
        function = self._new()
        template = self.expressions.choice(INNER)
        inner = names.copy()
        inner.arrays.append("q")
        lines = template.format(f=function, a=self.expressions.array(inner, 1)).split("\n")
        result = self._new()
        lines.append(f"{result} = {function}({bare(self.expressions.array(names, 1))})")
        names.arrays.append(result)
        return lines

    def _if(self, names: Names, depth: int) -> Lines:
        test = bare(self.expressions.condition(names))
        lines = [f"if {self.expressions.choice(['{}', '(w := {})', 'not ({})', '{} or None']).format(test)}:"]
        if self.draw(st.booleans()):
            lines += indented(self._block(names.copy(), depth - 1, ends=True))
        else:
            lines += indented(self._block(names.copy(), depth - 1, ends=False))
            if self.draw(st.booleans()):
                lines += ["else:", *indented(self._block(names.copy(), depth - 1, ends=False))]
        return lines

    def _for(self, names: Names, depth: int) -> Lines:
        name = self._new()
        line = f"{name} = {bare(self.expressions.array(names, 1))}"
        names.arrays.append(name)
        inner = names.copy()
        body = self._block(inner, depth - 1, ends=False)
        body.append(f"{name} = {bare(self.expressions.array(inner, 1))}")
        if self.draw(st.booleans()):
            jump = self.expressions.choice(["break", "continue"])
            body += [f"if {bare(self.expressions.condition(inner))}:", INDENT + jump]
        return [line, f"for {self.expressions.choice(['_', 'i'])} in range(2):", *indented(body)]

    def _while(self, names: Names, depth: int) -> Lines:
        count = self._new()
        body = [f"{count} -= 1", *self._block(names.copy(), depth - 1, ends=False)]
        lines = [f"{count} = 2", f"while {count} > 0:", *indented(body)]
        if self.draw(st.booleans()):
            lines += ["else:", *indented(self._block(names.copy(), 0, ends=False))]
        return lines

    def _try(self, names: Names, depth: int) -> Lines:
        lines = ["try:", *indented(self._may_fail(names))]
        lines += indented(self._block(names.copy(), depth - 1, ends=False))
        lines += [
            self.expressions.choice(HANDLERS),
            *indented(self._block(names.copy(), depth - 1, ends=False)),
        ]
        if self.draw(st.booleans()):
            lines += ["else:", *indented(self._block(names.copy(), 0, ends=False))]
        return lines

    def _with(self, names: Names, depth: int) -> Lines:
        return ["with LOCK:", *indented(self._block(names.copy(), depth - 1, ends=False))]

    def _may_fail(self, names: Names) -> Lines:
        template = self.expressions.choice(["{a}.shape[9]", "[1, 2][{a}.ndim]", "int('3')", "np.ones(3)[3]"])
        return [template.format(a=self.expressions.array(names, 1))]


LOCALS = ("t", "out", "result", "ctx", "Δ", "value", "np_", "jax_")
DOCSTRINGS: tuple[Lines, ...] = (
    [],
    [],
    [],
    ['"""What the host computes."""'],
    ['"""Two lines.', "", "  Returns: an array `x[...]`.", '"""'],
    ["'é'  # not here"],
)
HANDLERS = ("except IndexError:", "except (IndexError, ValueError):", "except Exception as error:", "except:")
CONTEXTS = (
    "LOCK",
    'np.errstate(all="ignore")',
    "contextlib.nullcontext()",
    "contextlib.nullcontext({a}) as {name}",
    "contextlib.suppress(IndexError)",
    "_afterwards({o})",
    "_afterwards({o}), LOCK",
    "LOCK, contextlib.suppress(ZeroDivisionError)",
    '(LOCK, np.errstate(divide="ignore"))',
)
MATCHES = (
    ("{a}.ndim", "1"),
    ("{a}.ndim", "0 | 1"),
    ("{a}.shape", "(3,)"),
    ("({a}, {b})", "({name}, _)"),
    ("[{a}, {b}]", "[*_, {name}]"),
    ('{{"k": {a}}}', '{{"k": {name}}}'),
    ("len({a})", "n if n > 2"),
)
WRITES = (
    "{t} += {a}",
    "{t}[...] = {a}",
    "{t}[..., 0] = 0.5",
    "{t}[:] *= 2",
    "np.copyto({t}, {a})",
    "np.add({a}, 1, out={t})",
    "{t}.fill(0.25)",
    "{t}.sort()",
)
PLAIN_LINES = (
    "pass",
    "assert {a}.shape[-1] == 3",
    "assert {c} or True, 'never'",
    'STATE["seen"] = True',
    "_ = {a}",
    "import math",
    "from numpy import sin as _sin",
    "...",
    "global COUNT",
    "lambda x: x",
    "del_ = 1; del del_",
    "[_ for _ in range(2)]",
)
INNER = (
    "def {f}(q):\n    return {a}",
    "{f} = lambda q: {a}",
    "def {f}(q, n=2):\n    if n == 0:\n        return q\n    return {f}({a}, n - 1)",
    "def {f}(q):\n    def items():\n        yield {a}\n        return\n    return next(items())",
    "class {f}:\n    def __new__(cls, q):\n        return {a}",
)
Make = Callable[[Body, Names, int], Lines]
SIMPLE: tuple[tuple[str, Make], ...] = (
    ("assignment", Body._assign),
    ("rebinding", Body._rebind),
    ("unpacking", Body._two),
    ("number", Body._number),
    ("own array", Body._own),
    ("write", Body._write),
    ("augmented", Body._augment),
    ("plain", Body._plain),
    ("kept", Body._keep),
    ("inner function", Body._inner),
)
COMPOUND: tuple[tuple[str, Make], ...] = (
    ("if", Body._if),
    ("for", Body._for),
    ("while", Body._while),
    ("try", Body._try),
    ("with", Body._with),
)
ENDS: tuple[tuple[str, Make], ...] = (
    ("return", Body._return),
    ("return a name", Body._return_name),
    ("return with a star", Body._return_unpacked),
    ("return either", Body._return_conditional),
    ("return in if", Body._if_end),
    ("return in try", Body._try_end),
    ("return in with", Body._with_end),
    ("return in match", Body._match_end),
    ("return in for", Body._loop_end),
    ("return of an inner function", Body._inner_end),
)
