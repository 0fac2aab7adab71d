"""What is to be done, decided before a character changes: the input of `rewrite`."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Mapping
from typing import Literal

from codemods.model import Diagnostic, Hop, Status
from codemods.names import FunctionNode
from codemods.sites import CallSite, Site
from codemods.specs import Spec

How = Literal["array", "array copy", "tree", "tree copy"]
ReturnForm = Literal["write", "leaves", "store", "bare", "stays"]


@dataclasses.dataclass(frozen=True, slots=True)
class Conversion:
    """Turns one parameter into NumPy: one array or a pytree, as a view or as a copy."""

    name: str
    how: How


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class ReturnPlan:
    """What becomes of one `return`.

    Attributes:
      node: the statement; its value is what is written.
      form: one strict write, one write a leaf, `store`, or a bare `return`; or it stays as it is.
      after: the `with` or `try` behind which the write goes; None for the place of the `return`.
      may_miss: whether the `with` may swallow an exception, so that there is no value.
    """

    node: ast.Return
    form: ReturnForm
    after: ast.With | ast.Try | ast.TryStar | None = None
    may_miss: bool = False


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class FunctionPlan:
    """How one callback becomes a buffer callback.

    Attributes:
      function: the definition or lambda.
      name: what it is called afterwards.
      position: how many positional parameters come before the buffers.
      positional_only: whether the buffers' names could clash with a keyword.
      context, out: the names of the new parameters.
      conversions: the parameters to convert at the top of the body.
      copied: `np.asarray(p)` calls of the body that must become `np.array(p)`.
      returns: one plan a `return`; for a lambda, `result` alone.
      result: the form of a lambda's value.
      spec: the structure of `out`.
      falls_through: whether the end of the body must store None, which is an error as it was before.
      kept: the free name that carries a value behind a `with` or `try`.
      jax_annotated: parameters that arrive as buffers and whose annotation names a JAX array.
      is_typed: whether the definition is annotated throughout, so that the new parameters should be.
      anchor: the statement in front of which the `def` of a lambda goes.
      takes_buffers: whether the function is a buffer callback already, whose signature stays.
      fused: for a `return`, or the lambda, which of its values, in their order, ufuncs compute straight into
        the outputs.
    """

    function: FunctionNode
    name: str
    position: int
    positional_only: bool
    context: str
    out: str
    conversions: tuple[Conversion, ...]
    copied: tuple[ast.Call, ...]
    returns: tuple[ReturnPlan, ...]
    result: ReturnForm
    spec: Spec
    falls_through: bool
    kept: str
    jax_annotated: tuple[ast.arg, ...]
    is_typed: bool
    anchor: ast.stmt | None = None
    takes_buffers: bool = False
    fused: Mapping[ast.AST, frozenset[int]] = dataclasses.field(default_factory=dict)

    @property
    def results(self) -> list[tuple[ast.AST, ReturnForm, ast.expr | None]]:
        """Each `return`, or the lambda, with the form of its value."""
        if isinstance(self.function, ast.Lambda):
            return [(self.function, self.result, self.function.body)]
        return [(planned.node, planned.form, planned.node.value) for planned in self.returns]


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class SiblingPlan:
    """A new function beside the original one, which it calls.

    Attributes:
      anchor: the statement behind which it stands, or in front of which with `above`.
      callee: the expression that calls the original, such as `self.solve`.
      implicit: how many of the original's parameters that expression binds.
      parameters: the parameters that it takes, in order; those bound by a `partial` are not converted.
      conversions: how each converted parameter is handed on.
      decorator: `staticmethod` or `classmethod`, where the original has it.
    """

    function: ast.FunctionDef | ast.Lambda
    anchor: ast.stmt
    name: str
    callee: str
    position: int
    positional_only: bool
    context: str
    out: str
    parameters: tuple[ast.arg, ...]
    conversions: tuple[Conversion, ...]
    result: ReturnForm
    decorator: str | None = None
    implicit: int = 0
    above: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function that gives a call its derivative.

    Attributes:
      name: its name; one with a star takes all arguments that are left.
      form: `array` where it surely is one, else `tree`.
      is_differentiated: whether a cotangent is asked of it.
      is_given: whether the callback gets it; the others are read by the callback's expression or the spec.
      is_static: whether it is a Python value, which `nondiff_argnums` leaves alone.
      may_be_number: whether it may be a Python number where the spec needs an array.
      keyword: the keyword by which the callback gets it.
    """

    name: str
    form: Literal["array", "tree"]
    is_differentiated: bool = False
    is_given: bool = True
    is_static: bool = False
    may_be_number: bool = False
    is_starred: bool = False
    keyword: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class HostCall:
    """A call of a host function with a known derivative, which is all that a callback does.

    Attributes:
      origin: the host function's dotted name.
      operands: its positional arguments: the index of one of the callback's own, or the text of a constant.
      keywords: its keyword arguments, with the texts of their constants.
      has_cast: whether the result may be cast to another dtype.
      unknown: the indices of the callback's arguments that have no known derivative, and may need one.
    """

    origin: str
    operands: tuple[int | str, ...]
    keywords: tuple[tuple[str, str], ...] = ()
    has_cast: bool = False
    unknown: tuple[int, ...] = ()

    @property
    def arguments(self) -> list[int]:
        """The indices of those of the callback's arguments that it takes."""
        return [operand for operand in self.operands if isinstance(operand, int)]


@dataclasses.dataclass(frozen=True, slots=True)
class HostExpression:
    """What a callback computes, in terms of JAX.

    In the texts `{argument:0}` stands for the callback's argument with that index, `{array:0}` for that as an
    array, `{local:1:name}` for a variable, and `{jax:jax.numpy.sin}` for something of JAX's.

    Attributes:
      statements: the variables that are assigned, and their values.
      results: the value, or with `is_tuple` the elements of the tuple.
      names: the module's own constants that are read.
      arguments: the indices of the arguments that are read.
    """

    statements: tuple[tuple[str, str], ...]
    results: tuple[str, ...]
    is_tuple: bool
    names: frozenset[str]
    arguments: tuple[int, ...]


Rule = Literal["raise", "zeros", "finite-difference", "known", "integer", "reused"]


@dataclasses.dataclass(frozen=True, slots=True)
class HostScaffold:
    """A function with rules that calls a host function, for a rule that is differentiated in its turn.

    Attributes:
      origin: the host function's dotted name.
      name: the function that calls it; that of the scaffold itself where that does the same.
      rules: the names of its rules; empty for the scaffold itself.
    """

    origin: str
    name: str
    rules: tuple[str, ...]


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class ScaffoldPlan:
    """A function that gives a call its derivative, and the rules of it.

    Attributes:
      sites: the call sites that become calls of it; its body is the first one's call.
      mode: `vjp` for a rule of reverse mode; `jvp` for one of forward mode or both.
      name, rules: the name of the function, and those of its rules.
      parameters: its parameters, in order.
      rule: where the derivative comes from: `integer` for a result that has none, `reused` for a function
        that is there already.
      host: the call whose derivative is known, or the expression that JAX differentiates.
      spec: the structure of the result.
      keeps_dtype: whether the result surely has the dtype of the argument with this index.
      anchor: the statement behind which it stands, or in front of which with `above`.
      root: where differentiation comes from; the line is that of the file as it was.
      is_assumed: whether that is but assumed.
      higher: what its rules call in place of host functions, if they are differentiated in their turn.
    """

    sites: tuple[CallSite, ...]
    mode: Literal["vjp", "jvp"]
    name: str
    rules: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    rule: Rule
    host: HostCall | HostExpression | None
    spec: Spec
    keeps_dtype: int | None
    anchor: ast.stmt
    above: bool
    root: Hop | None
    is_assumed: bool
    higher: tuple[HostScaffold, ...] = ()


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class SitePlan:
    """What becomes of one call site.

    Attributes:
      adapt: wraps the callback in `adapt` with these arrays; None for a buffer callback.
      replacement: the new text of `target`; None to leave it.
      target: the part of the callback expression to replace: a lambda, or a name or attribute.
      owner: the plan of the callback that this site needs; None when adapted.
      scaffold: what gives the call its derivative, if anything must.
    """

    site: Site
    status: Status
    diagnostic: Diagnostic | None = None
    adapt: Literal["numpy", "jax"] | None = None
    replacement: str | None = None
    target: ast.expr | None = None
    owner: FunctionPlan | SiblingPlan | None = None
    scaffold: ScaffoldPlan | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class ModulePlan:
    """Everything to be done in one module.

    Attributes:
      remarks: what a reviewer of the changes should know, with the node that each is about.
      callbacks: the definition of each call site's callback that is in sight.
    """

    sites: tuple[SitePlan, ...]
    functions: tuple[FunctionPlan, ...]
    siblings: tuple[SiblingPlan, ...]
    remarks: tuple[tuple[ast.expr | ast.stmt, Diagnostic], ...] = ()
    callbacks: Mapping[Site, FunctionNode] = dataclasses.field(default_factory=dict)

    def __bool__(self) -> bool:
        return any(site.status in (Status.REWRITTEN, Status.ADAPTED) for site in self.sites)

    def names(self) -> frozenset[str]:
        """The names of the functions that it changes or adds."""
        scaffolds = [site.scaffold for site in self.sites if site.scaffold]
        added: list[ScaffoldPlan | HostScaffold] = [
            *scaffolds,
            *(host for scaffold in scaffolds for host in scaffold.higher),
        ]
        rules = [rule for plan in added for rule in plan.rules]
        return frozenset([*(plan.name for plan in (*self.functions, *self.siblings, *added)), *rules])
