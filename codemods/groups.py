"""The call sites of one callback, and what the steps that decide on them share."""

from __future__ import annotations

import ast
import dataclasses
import os
from typing import Final

from codemods.arguments import Supplied
from codemods.bodies import BodyReport, Obstacle, Usage, Use
from codemods.definitions import Definition
from codemods.free_names import FreeNames
from codemods.model import Diagnostic, Options
from codemods.names import Module, parameters
from codemods.plans import How
from codemods.project import Project
from codemods.reflection import Reflection
from codemods.resolve import Arrays, Resolved
from codemods.sites import CallSite
from codemods.source import SourceFile
from codemods.specs import Spec

_MAY_BE_TREE: Final = frozenset({Use.OTHER, Use.PIECE_CONVERTED})


class Adapted(Exception):
    """A group of call sites cannot be rewritten; `arrays` are those that the callback goes on to get."""

    def __init__(self, diagnostic: Diagnostic, arrays: Arrays = "jax") -> None:
        super().__init__(diagnostic.code)
        self.diagnostic, self.arrays = diagnostic, arrays


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Context:
    """The module at hand, and everything that is asked about it."""

    source: SourceFile
    module: Module
    project: Project
    options: Options
    free: FreeNames
    reflection: Reflection


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Group:
    """The call sites of one callback.

    Attributes:
      calls: each call site, with what its callback expression was resolved to.
    """

    function: ast.FunctionDef | ast.Lambda
    calls: tuple[tuple[CallSite, Resolved], ...]

    @property
    def resolved(self) -> Resolved:
        return self.calls[0][1]

    @property
    def position(self) -> int:
        """How many parameters come before the buffers: what a method or a `partial` binds."""
        return self.resolved.implicit + self.resolved.bound.positional

    @property
    def variants(self) -> list[Group]:
        """The same call sites, with each of the definitions that they may call."""
        functions = [self.function, *self.resolved.also]
        return [
            Group(f, tuple((s, dataclasses.replace(r, function=f, also=())) for s, r in self.calls))
            for f in functions
        ]

    @property
    def bound_by_name(self) -> frozenset[str]:
        """The keywords that any `partial` binds."""
        return frozenset().union(*(r.bound.keywords for _, r in self.calls))

    def buffer_names(self, free: FreeNames, taken: frozenset[str]) -> tuple[str, str, bool]:
        """Names for the buffers, and whether they must be positional-only."""
        keywords = {k.arg for site, _ in self.calls for k in site.keywords if k.arg} | self.bound_by_name
        arguments = self.function.args
        named = {p.arg for p in parameters(arguments)}
        clash = arguments.kwarg is not None or bool(arguments.vararg and keywords - named)
        taken = taken | (frozenset() if clash else frozenset(keywords))
        context = free.choose(("ctx", "context", "callback_context"), taken)
        out = free.choose(("out", "out_buffer", "output_buffer"), taken | {context})
        return context, out, clash


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Findings:
    """What is known of a group's callback once its body has been followed.

    Attributes:
      supplied: the parameters that call sites supply.
      report: what the body does with them.
      spec: the structure of the result, the same for every call site.
    """

    supplied: dict[str, Supplied]
    report: BodyReport
    spec: Spec


def conversion(usage: Usage, seen: Supplied, options: Options) -> How:
    """How a parameter is converted: as one array where that is proven, a copy if it may outlive the call."""
    copies = usage.escape is not None and not options.views
    one = seen.argument.form == "array" or (
        seen.argument.form != "tree"
        and bool(usage.uses & {Use.NUMPY, Use.CONVERTED})
        and not usage.uses & _MAY_BE_TREE
    )
    if one:
        return "array copy" if copies else "array"
    return "tree copy" if copies else "tree"


def of_obstacle(obstacle: Obstacle, home: Definition | None = None) -> Diagnostic:
    """What a user is told of an obstacle in the body of a callback, which may be in another module."""
    reason = f"{obstacle.reason.removesuffix('.')} ({place(obstacle.node, home)})."
    return Diagnostic(obstacle.code, reason, obstacle.way_out)


def place(node: ast.AST, home: Definition | None) -> str:
    """Where a node stands: the line, and the file where it is another one."""
    line = f"line {getattr(node, 'lineno', 0)}"
    return line if home is None else f"{line} of {os.path.basename(home.file)}"
