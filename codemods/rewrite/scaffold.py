"""A call with a derivative of its own, as text: a custom function and its rules."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from codemods.free_names import FreeNames
from codemods.plans import HostCall, HostExpression, HostScaffold, Parameter, ScaffoldPlan
from codemods.rewrite.translated import Spell, Translated, cast
from codemods.scaffolds.derivatives import DERIVATIVES, HOST, Formula, Slopes, Twin

_WIDTH: Final = 100
_JAX: Final = re.compile(r"\{jax:([\w.]+)\}")
_SHIFTED: Final = re.compile(r"\(?(-?\d+(?:\.\d+)?)\)? ([-+]) 1")
_PLACES: Final = {"-": "_below", "+": "_above"}


@dataclasses.dataclass(frozen=True, slots=True)
class Runtime:
    """How the scaffold spells what is no part of JAX's public API.

    Attributes:
      call_host: gives a call of a host function, by its name, spec, arguments and `vmap_method`.
      difference: gives a call that makes finite differences, by its arguments.
    """

    call_host: Callable[[str, str, str, str], str]
    difference: Callable[[str], str]


@dataclasses.dataclass(frozen=True, slots=True)
class Layout:
    """One step of indentation, and how much a scaffold as a whole is indented."""

    unit: str
    indent: int


def blocks(
    plan: ScaffoldPlan, call: str, spell: Spell, runtime: Runtime, root: str, layout: Layout
) -> list[str]:
    """The definitions and statements of a scaffold, as whole lines.

    `call` is the call of the callback, and `root` a sentence on where gradients come from.
    """
    return _Scaffold(plan, spell, runtime, root, layout).blocks(call)


class _Scaffold:
    def __init__(self, plan: ScaffoldPlan, spell: Spell, runtime: Runtime, root: str, layout: Layout) -> None:
        self.plan, self.spell, self.runtime = plan, spell, runtime
        self.root, self.layout, self.unit = root, layout, layout.unit
        self.room = _WIDTH - layout.indent - len(layout.unit)
        self.static = [p.name for p in plan.parameters if p.is_static]
        self.primals = [p for p in plan.parameters if not p.is_static]
        self.is_star = len(self.primals) == 1 and self.primals[0].is_starred
        self.own = [p for p in plan.parameters if p.is_given]
        self.call = plan.host if isinstance(plan.host, HostCall) else None
        self.unknown = [self.own[index].name for index in self.call.unknown] if self.call else []
        self.taken = {p.name for p in plan.parameters} | {plan.name, *plan.rules}
        wanted = ("residuals", "cotangent", "primals", "tangents", "result", "tangent", "pullback", "spec")
        self.names = {name: self._fresh(name) for name in wanted}

    def _fresh(self, wanted: str) -> str:
        name = FreeNames.choose((wanted,), frozenset(self.taken))
        self.taken.add(name)
        return name

    # Parts.

    def blocks(self, call: str) -> list[str]:
        custom = self.spell(f"jax.custom_{self.plan.mode}")
        if self.static:
            numbers = _tuple([str(i) for i, p in enumerate(self.plan.parameters) if p.is_static])
            custom = f"{self.spell('functools.partial')}({custom}, nondiff_argnums={numbers})"
        signature = ", ".join(_starred(self.plan.parameters))
        higher = [block for each in self.plan.higher if each.rules for block in self._of_host(each)]
        body = [*self._arrays(), f"return {call}"]
        function = self._function([f"@{custom}", f"def {self.plan.name}({signature}):"], body)
        if self.plan.mode == "jvp":
            (rule,) = self.plan.rules
            inner = [*self.static, self.names["primals"], self.names["tangents"]]
            sets = f"{self.plan.name}.defjvp"
            if self.unknown:
                sets = f"{self.spell('functools.partial')}({sets}, symbolic_zeros=True)"
            header = [f"@{sets}", f"def {rule}({', '.join(inner)}):"]
            return [function, self._function(header, self._forward_rule()), *higher]
        forward, backward = self.plan.rules
        inner = [*self.static, self.names["residuals"], self.names["cotangent"]]
        rule_lines, keeps_result = self._backward_rule()
        rules = [forward, backward, *(["symbolic_zeros=True"] if self.unknown else [])]
        return [
            function,
            self._function([f"def {forward}({signature}):"], self._forward(keeps_result)),
            self._function([f"def {backward}({', '.join(inner)}):"], rule_lines),
            f"{self.plan.name}.defvjp({', '.join(rules)})\n",
            *higher,
        ]

    def _of_host(self, plan: HostScaffold) -> list[str]:
        """The scaffold of a host function that a rule calls."""
        assert self.call is not None
        parameters = [
            dataclasses.replace(self.own[operand], form="array", may_be_number=True)
            if isinstance(operand, int)
            else Parameter("order", "tree", is_static=True)
            for operand in self.call.operands
        ]
        arrays = [p.name for p in parameters if not p.is_static]
        operands = tuple(i if isinstance(o, int) else "order" for i, o in enumerate(self.call.operands))
        inner = dataclasses.replace(
            self.plan,
            name=plan.name,
            rules=plan.rules,
            parameters=tuple(parameters),
            host=HostCall(plan.origin, operands),
            keeps_dtype=len(parameters) - 1,
            higher=tuple(dataclasses.replace(each, rules=()) for each in self.plan.higher),
        )
        shapes = ", ".join(f"{name}.shape" for name in arrays)
        shape = shapes if len(arrays) == 1 else f"{self.spell('jax.numpy')}.broadcast_shapes({shapes})"
        spec = f"{self.spell('jax.ShapeDtypeStruct')}({shape}, {arrays[-1]}.dtype)"
        given = ", ".join(p.name for p in parameters)
        called = f"{self.spell('numpy.asarray')}({self.spell(plan.origin)}({given}), {arrays[-1]}.dtype)"
        function = f"lambda {', '.join(arrays)}: {called}"
        method = "sequential" if len(arrays) > 1 else "expand_dims"
        call = "\n".join(self._called("return ", function, spec, arrays, method)).removeprefix("return ")
        call = call.replace("\n", f"\n{self.unit}")
        return _Scaffold(inner, self.spell, self.runtime, self.root, self.layout).blocks(call)

    def _arrays(self) -> Iterator[str]:
        """Statements that make arrays of what may be Python numbers, for the spec."""
        for parameter in self.primals:
            if parameter.may_be_number:
                array = self._mapped("asarray", parameter.name, parameter.form == "array")
                yield f"{parameter.name} = {array}"

    def _function(self, header: Sequence[str], body: Iterable[str]) -> str:
        lines = list(body)
        if not lines[0]:
            del lines[0]
        return "\n".join([*header, *(f"{self.unit}{line}" if line else "" for line in lines)]) + "\n"

    def _call(self, *arguments: str) -> str:
        return f"{self.plan.name}({', '.join([*self.static, *arguments])})"

    def _without_static(self) -> str:
        """The function as one of its primals."""
        name = self.plan.name
        if not self.static:
            return name
        return f"{self.spell('functools.partial')}({', '.join([name, *self.static])})"

    # Reverse mode.

    def _forward(self, keeps_result: bool) -> list[str]:
        call = self._call(*_starred(self.primals))
        lines = []
        if self.unknown:
            lines = [*self._asked([f"{name}.perturbed" for name in self.unknown]), *self._values()]
        if keeps_result:
            result = self.names["result"]
            residuals = _tuple([*_starred(self.primals), result])
            return [*lines, f"{result} = {call}", f"return {result}, {residuals}"]
        residuals = self.primals[0].name if self.is_star else _tuple(_starred(self.primals))
        return [*lines, f"return {call}, {residuals}"]

    def _asked(self, conditions: Sequence[str]) -> list[str]:
        """The statement that raises if an argument without a known derivative is differentiated."""
        assert self.call is not None
        origin, names = self.call.origin, " or ".join(self.unknown)
        first = f"{self.plan.rules[0]}: the derivative of {origin} in {names} is not known."
        error = self._error(first, self.root, self.room - len(self.unit))
        return [f"if {' or '.join(conditions)}:", *(f"{self.unit}{line}" for line in error)]

    def _values(self) -> Iterator[str]:
        """The statements that take the arguments out of what says whether they are differentiated."""
        assert self.call is not None
        taken = {self.own[index].name for index in self.call.arguments}
        arrays = [p.name for p in self.primals if p.name in taken]
        yield f"{', '.join(arrays)} = {', '.join(f'{name}.value' for name in arrays)}"
        for name in [p.name for p in self.primals if p.name not in taken]:
            yield f"{name} = {self.spell('jax.tree')}.map(lambda leaf: leaf.value, {name})"

    def _backward_rule(self) -> tuple[list[str], bool]:
        """The lines of the rule, and whether it needs the result."""
        unpacked = self._unpacked("residuals")
        match self.plan.rule:
            case "raise":
                names = [p.name for p in self.primals if p.is_differentiated]
                what = f"cotangent{'s' if len(names) > 1 else ''} of {_listed(names)}"
                return [unpacked, *self._raise(what), *self._returned(map(self._zero, self.primals))], False
            case "zeros":
                zeros = [self._plain_zero(p) for p in self.primals]
                needed = [unpacked] if any("(" in zero for zero in zeros) else []
                return [_WARNING, *needed, *self._returned(zeros)], False
            case "integer":
                return [_INTEGER, *self._returned(_none(p) for p in self.primals)], False
            case "finite-difference":
                given = f"{self._without_static()}, {self.names['residuals']}, {self.names['cotangent']}"
                return [f"return {self.runtime.difference(given)}"], False
        if self.call and isinstance(slopes := DERIVATIVES[self.call.origin], Slopes):
            return self._of_slopes(self.call, slopes)
        read = self._read()
        defined, function = self._in_jax("cotangent", read)
        pullback = self.names["pullback"]
        lines = [
            unpacked,
            *defined,
            *self._split(f"_, {pullback} = {self.spell('jax.vjp')}({function}, {', '.join(read)})"),
        ]
        called = f"{pullback}({self.names['cotangent']})"
        if read == list(_starred(self.primals)):
            return [*lines, f"return {called}"], False
        cotangents = {name: self._fresh(f"{name}_cotangent") for name in read}
        lines.append(f"{_target(list(cotangents.values()))} = {called}")
        returned = self._returned(cotangents.get(p.name, _none(p)) for p in self.primals)
        return [*lines, *returned], False

    def _of_slopes(self, host: HostCall, known: Slopes) -> tuple[list[str], bool]:
        cotangent = self.names["cotangent"]
        lines, slopes = self._slopes(host, known, cotangent)
        keeps_result = any("{result}" in (text or "") for text in known.texts)
        names = [*_starred(self.primals), *([self.names["result"]] if keeps_result else [])]
        lines.insert(0, f"{_target(names)} = {self.names['residuals']}")
        if len(slopes) == 1 and len(host.arguments) == 1:
            ((index, slope),) = slopes.items()
            sign = "-" if slope.startswith("-") else ""
            product = f"{sign}{cotangent} * {slope.removeprefix('-')}"
            if self.plan.keeps_dtype != index:
                product = f"({product}).astype({self.own[index].name}.dtype)"
            found = {self.own[index].name: product}
        else:
            # What was broadcast along an axis gets the sum of that axis.
            parameters = ", ".join(self.own[index].name for index in slopes)
            terms = " + ".join(f"{slope} * {self.own[index].name}" for index, slope in slopes.items())
            function = f"lambda {parameters}: ({terms}).astype({cotangent}.dtype)"
            pullback = self.names["pullback"]
            lines.append("# A sum over the axes along which an argument was broadcast is part of this.")
            lines.append(f"_, {pullback} = {self.spell('jax.vjp')}({function}, {parameters})")
            found = {
                self.own[index].name: self._fresh(f"{self.own[index].name}_cotangent") for index in slopes
            }
            lines.append(f"{_target(list(found.values()))} = {pullback}({cotangent})")
        return [*lines, *self._returned(found.get(p.name, _none(p)) for p in self.primals)], keeps_result

    # Forward mode.

    def _forward_rule(self) -> list[str]:
        result, primals = self.names["result"], self.names["primals"]
        called = f"{result} = {self._call(f'*{primals}')}"
        match self.plan.rule:
            case "raise":
                tangents = [self._fresh(f"{p.name}_tangent") for p in self.primals]
                starred = [
                    f"*{t}" if p.is_starred else t for p, t in zip(self.primals, tangents, strict=True)
                ]
                return [
                    self._unpacked("primals"),
                    f"{_target(starred)} = {self.names['tangents']}",
                    called,
                    *self._raise("tangent of the result"),
                    f"return {result}, {self._mapped('zeros_like', result, self.plan.spec.kind == 'leaf')}",
                ]
            case "zeros" | "integer" as rule:
                zero = f"{self.spell('jax.custom_derivatives')}.zero_from_primal({result})"
                return [_INTEGER if rule == "integer" else _WARNING, called, f"return {result}, {zero}"]
            case "finite-difference":
                given = f"{self._without_static()}, {primals}, {self.names['tangents']}"
                return [f"return {self.runtime.difference(given)}"]
        if self.call and isinstance(slopes := DERIVATIVES[self.call.origin], Slopes):
            return self._of_slopes_forward(self.call, slopes, called)
        tangent = self.names["tangent"]
        defined, function = self._in_jax("result", list(_starred(self.primals)))
        given = f"{function}, {primals}, {self.names['tangents']}"
        pushed = [*defined, *self._split(f"_, {tangent} = {self.spell('jax.jvp')}({given})")]
        if f"{result}.dtype" in "".join(pushed):
            return [called, *pushed, f"return {result}, {tangent}"]
        return [*pushed, f"return {self._call(f'*{primals}')}, {tangent}"]

    def _of_slopes_forward(self, host: HostCall, known: Slopes, called: str) -> list[str]:
        result = self.names["result"]
        lines, slopes = self._slopes(host, known, result)
        tangents = {p.name: self._fresh(f"{p.name}_tangent") for p in self.primals}
        used = [p.name if p.name in "".join(lines) else "_" for p in self.primals]
        wanted = [*self.unknown, *(self.own[i].name for i in slopes)]
        moved = [tangents[p.name] if p.name in wanted else "_" for p in self.primals]
        unpacked = [f"{_target(moved)} = {self.names['tangents']}"]
        if set(used) != {"_"}:
            unpacked.insert(0, f"{_target(used)} = {self.names['primals']}")
        if self.unknown:
            zero = f"{self.spell('jax.custom_derivatives')}.SymbolicZero"
            asked = self._asked([f"not isinstance({tangents[name]}, {zero})" for name in self.unknown])
            lines = [*unpacked, *asked, called, *lines]
        else:
            lines = [called, *unpacked, *lines]
        terms = " + ".join(f"{slope} * {tangents[self.own[i].name]}" for i, slope in slopes.items())
        if [self.plan.keeps_dtype] != list(slopes):
            terms = f"({terms}).astype({result}.dtype)"
        return [*lines, f"return {result}, {terms}"]

    # Known derivatives.

    def _read(self) -> list[str]:
        """The arguments of the function that JAX differentiates."""
        if isinstance(self.plan.host, HostExpression):
            return [self.own[index].name for index in self.plan.host.arguments]
        return list(_starred(self.primals))

    def _in_jax(self, like: str, parameters: Sequence[str]) -> tuple[list[str], str]:
        """What JAX differentiates: the statements that define it, and itself."""
        if not isinstance(self.plan.host, HostExpression):
            assert self.call is not None
            return [], self._twin(self.call, like)
        host, name = self.plan.host, self._fresh("in_jax")
        self.taken |= host.names
        texts = Translated(self.spell, self.own, self._fresh)
        statements = [f"{texts.of(target)} = {texts.of(value)}" for target, value in host.statements]
        results = [texts.of(result) for result in host.results]
        value = ", ".join(results) if host.is_tuple else results[0]
        if not host.is_tuple and len(self.own) > 1:
            value = cast(value, f"{self.names[like]}.dtype")
        listed = ", ".join(parameters)
        if not statements:
            function = f"lambda {listed}: {f'({value})' if host.is_tuple else value}"
            if len(function) <= self.room - len(f"_, pullback = jax.vjp(, {listed})"):
                return [], function
        body = [f"{self.unit}{line}" for line in (*statements, f"return {value}")]
        return ["", f"def {name}({listed}):", *body, ""], name

    def _twin(self, host: HostCall, like: str) -> str:
        """The function that JAX differentiates in place of the host's."""
        known = DERIVATIVES[host.origin]
        assert isinstance(known, Twin | Formula)
        operands = self._operands(host)
        is_plain = operands == [p.name for p in self.primals] and not host.keywords and not host.has_cast
        if isinstance(known, Twin):
            function = self.spell(known.origin)
            if is_plain:
                return function
            given = [*operands, *(f"{name}={text}" for name, text in host.keywords)]
            value = f"{function}({', '.join(given)})"
        else:
            value = known.text.format(*operands, jnp=self.spell("jax.numpy"))
        if host.has_cast:
            value = f"({value})" if isinstance(known, Formula) else value
            value = f"{value}.astype({self.names[like]}.dtype)"
        return f"lambda {', '.join(p.name for p in self.primals)}: {value}"

    def _operands(self, host: HostCall) -> list[str]:
        texts = (self.own[o].name if isinstance(o, int) else o for o in host.operands)
        return [f"({text})" if text.startswith("-") else text for text in texts]

    def _slopes(self, host: HostCall, known: Slopes, like: str) -> tuple[list[str], dict[int, str]]:
        """The statements that compute slopes, and the name of each by its argument; `like` has its shape."""
        operands = self._operands(host)
        several = len(host.arguments) > 1
        method = "sequential" if several else "expand_dims"
        spec = self.names["spec"]
        values: dict[str, str] = {}
        lines: list[str] = []
        higher = {each.origin: each.name for each in self.plan.higher}

        def named(call: re.Match[str]) -> str:
            texts = call[2].split(", ")
            given = [_computed(text.format(*operands)) for text in texts]
            if call[1] in higher:
                text = f"{higher[call[1]]}({', '.join(given)})"
            else:
                function, arrays = self._on_host(call[1], texts, given, host)
                text = self.runtime.call_host(function, spec, ", ".join(arrays), method)
            if text not in values:
                place = _PLACES.get(call[2][4:5], "")
                values[text] = self._fresh(call[1].rpartition(".")[2] + place)
                new = f"{values[text]} = "
                is_short = call[1] in higher or len(new + text) <= self.room
                lines.extend([new + text] if is_short else self._called(new, function, spec, arrays, method))
            return values[text]

        slopes: dict[int, str] = {}
        wanted = [(o, t) for o, t in zip(host.operands, known.texts, strict=True) if isinstance(o, int) and t]
        for operand, text in wanted:
            expression = _JAX.sub(lambda found: self.spell(found[1]), text)
            expression = HOST.sub(named, expression).format(
                *operands, result=self.names["result"], jnp=self.spell("jax.numpy")
            )
            if expression.removeprefix("-").isidentifier():
                slopes[operand] = expression
                continue
            name = self._fresh("slope" if len(wanted) == 1 else f"{self.own[operand].name}_slope")
            lines.append(f"{name} = {expression}")
            slopes[operand] = name
        if any(spec in text for text in values):
            struct = self.spell("jax.ShapeDtypeStruct")
            lines.insert(0, f"{spec} = {struct}({like}.shape, {like}.dtype)")
        return lines, slopes

    def _on_host(
        self, origin: str, texts: Sequence[str], given: Sequence[str], host: HostCall
    ) -> tuple[str, list[str]]:
        """A function that calls one of the host's with arrays and constants, and what are the arrays."""
        function = self.spell(origin)
        self.taken.add(function.partition(".")[0])
        used = [[host.operands[int(index)] for index in re.findall(r"\{(\d)\}", text)] for text in texts]
        names = [next((self.own[o].name for o in found if isinstance(o, int)), None) for found in used]
        arrays = [text for text, name in zip(given, names, strict=True) if name is not None]
        if len(arrays) == len(given) and not host.has_cast:
            return function, arrays
        inner = [name or text for text, name in zip(given, names, strict=True)]
        called = f"{function}({', '.join(inner)})"
        if host.has_cast:
            called = f"{self.spell('numpy.asarray')}({called}, {self.names['spec']}.dtype)"
        return f"lambda {', '.join(filter(None, names))}: {called}", arrays

    def _called(self, before: str, function: str, spec: str, arrays: Sequence[str], method: str) -> list[str]:
        """The lines of a statement that calls a host function."""
        text = self.runtime.call_host(function, spec, ", ".join(arrays), method)
        if len(before + text) <= self.room:
            return [before + text]
        parts = [function, spec, *arrays, f'vmap_method="{method}"']
        return [f"{before}{text.partition('(')[0]}(", *(f"{self.unit}{part}," for part in parts), ")"]

    def _split(self, line: str) -> list[str]:
        """A statement that ends in a call, on several lines if it is long."""
        if len(line) <= self.room:
            return [line]
        function, _, given = line.partition("(")
        return [f"{function}(", f"{self.unit}{given.removesuffix(')')}", ")"]

    # Pieces.

    def _unpacked(self, what: str) -> str:
        names = [self.primals[0].name] if self.is_star else list(_starred(self.primals))
        return f"{names[0] if self.is_star else _target(names)} = {self.names[what]}"

    def _raise(self, what: str) -> Iterator[str]:
        first = f"{self.plan.rules[-1]}: fill in the {what}, then delete this line."
        return self._error(first, self.root, self.room)

    def _error(self, first: str, second: str, room: int) -> Iterator[str]:
        """The statement that raises an error of two sentences."""
        unit, first, second = self.unit, _escaped(first), _escaped(second)
        yield "raise NotImplementedError("
        if len(f'{unit}"{first} {second}"') <= room or not second:
            yield f'{unit}"{f"{first} {second}".strip()}"'
        else:
            yield f'{unit}"{first} "'
            yield f'{unit}"{second}"'
        yield ")"

    def _zero(self, parameter: Parameter) -> str:
        if not parameter.is_differentiated:
            return _none(parameter)
        zeros = self._mapped("zeros_like", parameter.name, parameter.form == "array")
        return f"*{zeros}" if parameter.is_starred else zeros

    def _plain_zero(self, parameter: Parameter) -> str:
        """A cotangent of zeros, of whatever dtypes the leaves are."""
        return self._zero(parameter) if parameter.form == "array" else _none(parameter)

    def _mapped(self, function: str, name: str, is_array: bool) -> str:
        """A call of a function of `jax.numpy` on an array, or on each leaf of a pytree."""
        called = f"{self.spell('jax.numpy')}.{function}"
        return f"{called}({name})" if is_array else f"{self.spell('jax.tree')}.map({called}, {name})"

    def _returned(self, values: Iterable[str]) -> list[str]:
        """The statement that returns a tuple."""
        found = list(values)
        if self.is_star:
            return [f"return {found[0].removeprefix('*')}".replace("return (", "return tuple(")]
        text = f"return {', '.join(found)}" if len(found) > 1 else f"return {_tuple(found)}"
        if len(text) <= self.room:
            return [text]
        return ["return (", *(f"{self.unit}{value}," for value in found), ")"]


_WARNING: Final = (
    "# WARNING: no gradient flows through this call, which is wrong unless its result is constant."
)
_INTEGER: Final = "# The result is of integers, which have no derivative."


def _computed(text: str) -> str:
    """A constant that is shifted by one, as a constant."""
    found = _SHIFTED.fullmatch(text)
    if found is None:
        return text
    number = float(found[1]) if "." in found[1] else int(found[1])
    return repr(number + (1 if found[2] == "+" else -1))


def _starred(parameters: Iterable[Parameter]) -> Iterator[str]:
    return (f"*{p.name}" if p.is_starred else p.name for p in parameters)


def _none(parameter: Parameter) -> str:
    """A cotangent that stands for zeros."""
    return f"*(None for _ in {parameter.name})" if parameter.is_starred else "None"


def _tuple(names: Iterable[str]) -> str:
    found = list(names)
    return f"({found[0]},)" if len(found) == 1 else f"({', '.join(found)})"


def _target(names: Sequence[str]) -> str:
    return f"({names[0]},)" if len(names) == 1 else ", ".join(names)


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
