"""Writes a plan into the text: the only part that parses with LibCST, and only the statements that change."""

from __future__ import annotations

import ast
import dataclasses
import functools
import os
import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Final

from codemods.free_names import FreeNames
from codemods.model import Options, Status
from codemods.names import Module
from codemods.plans import FunctionPlan, ModulePlan, Parameter, ScaffoldPlan, SiblingPlan, SitePlan
from codemods.returns import leaves
from codemods.rewrite import call, functions
from codemods.rewrite import scaffold as derivative
from codemods.rewrite.dialect import Dialect, JaxDialect, Names
from codemods.rewrite.edits import Edits, line_after
from codemods.rewrite.imports import Imports, NoPlace
from codemods.rewrite.spacing import Spacing
from codemods.sites import CallSite, ValueUse
from codemods.source import Change, SourceFile
from codemods.trees import walk

__all__ = ["NoPlace", "rewrite", "with_writes"]

_INDENT: Final = re.compile(r"^(?: {4})+", re.MULTILINE)
# The options that say what `vmap` does.
_ON_VMAP: Final = frozenset({"vmap_method", "vectorized"})
_WIDTH: Final = 100
# What stands for a scaffold's call until that is laid out, and for a line of the file until that is known.
_CALL: Final = "\ue000"
_LINE: Final = "\ue001{}\ue001"
BUFFER_CALLBACK: Final = "jax.experimental.buffer_callback.buffer_callback"


def rewrite(
    source: SourceFile,
    module: Module,
    plan: ModulePlan,
    options: Options,
    is_kept: Callable[[str], bool],
) -> tuple[Change, ...]:
    """What changes in the text; `is_kept` tells whether other modules still use an imported name."""
    return _Rewriter(source, module, plan, options).run(is_kept)


def with_writes(
    source: SourceFile, module: Module, functions: tuple[FunctionPlan, ...], options: Options
) -> tuple[Change, ...]:
    """What changes where the returns of buffer callbacks are turned into writes, and nothing else is."""
    return _Rewriter(source, module, ModulePlan((), functions, ()), options).run(lambda name: True)


class _Rewriter:
    def __init__(self, source: SourceFile, module: Module, plan: ModulePlan, options: Options) -> None:
        self._source, self._module, self._plan, self._options = source, module, plan, options
        self._edits = Edits(source.text)
        self._dialect, runtime = _dialect(options, module, plan.names())
        self._imports = Imports(source, module, runtime, plan.names())
        self._gone: set[ast.Name] = set()
        self._kept: set[str] = set()
        self._unit = indent_unit(source)
        self._spacing = Spacing(source, module)
        self._below: dict[ast.stmt, list[Callable[[], str]]] = {}
        self._above: list[tuple[ast.stmt, Callable[[], str]]] = []
        self._mentioned: list[int] = []

    def run(self, is_kept: Callable[[str], bool]) -> tuple[Change, ...]:
        for site in self._plan.sites:
            if site.status in (Status.REWRITTEN, Status.ADAPTED):
                self._site(site)
        for function in self._plan.functions:
            for conversion in function.copied:
                end = self._source.end(conversion.func)
                self._edits.replace(end - len("asarray"), end, "array")
            if isinstance(function.function, ast.Lambda):
                self._lambda(function, function.function)
            else:
                self._definition(function, function.function)
        for sibling in self._plan.siblings:
            self._sibling(sibling)
        for site in self._plan.sites:
            scaffold = site.scaffold
            if scaffold and scaffold.rule != "reused" and scaffold.sites[0] is site.site:
                self._scaffold(site, scaffold)
        self._add_below()
        helpers = self._helpers()
        rewritten: set[ast.AST] = {plan.function for plan in self._plan.functions}
        rewritten |= {plan.anchor for plan in self._plan.siblings}
        self._imports.apply(self._edits, frozenset(rewritten))
        self._add_above()
        if helpers:
            offset, behind = self._imports.end_of_header()
            before = "\n" if behind else ""
            self._edits.insert(offset, lambda: before + helpers + behind)
        self._imports.drop_unused(
            frozenset(self._gone), lambda name: name in self._kept or is_kept(name), self._edits
        )
        return self._with_lines(self._edits.changes())

    def _with_lines(self, changes: tuple[Change, ...]) -> tuple[Change, ...]:
        """The changes with the lines that their texts name, as they are once all is changed."""
        for line in self._mentioned:
            moved = str(line_after(self._source.text, self._source.line_start(line), changes))
            changes = tuple(
                dataclasses.replace(change, text=change.text.replace(_LINE.format(line), moved))
                for change in changes
            )
        return changes

    def _helpers(self) -> str:
        """The functions that the dialect needs in the module."""
        plans: list[FunctionPlan | SiblingPlan] = [*self._plan.functions, *self._plan.siblings]
        if not self._dialect.generates_helpers or not (plans or self._dialect.has_more_helpers()):
            return ""
        root = self._module.tree
        names = self._names(root, runtime=self._dialect.has_more_helpers(), numpy=True)
        jax = self._imports.jax(root)
        self._kept |= {names.numpy, jax}
        texts = self._dialect.helpers(
            names,
            jax,
            store=any(map(_writes, plans)),
            to_numpy=any(plan.conversions for plan in plans),
        )
        indented = (_INDENT.sub(lambda found: self._unit * (len(found.group()) // 4), text) for text in texts)
        return "".join(f"\n\n{text}" for text in indented)

    def _names(self, node: ast.AST, *, runtime: bool, numpy: bool) -> Names:
        return Names(
            self._imports.runtime(node) if runtime else "",
            self._imports.numpy(node) if numpy else "",
        )

    # Call sites.

    def _site(self, plan: SitePlan) -> None:
        site = plan.site
        names = self._names(site.node, runtime=True, numpy=False)
        if isinstance(site, CallSite) and (plan.owner is not None or plan.adapt is not None):
            self._call(plan, site, names)
            return
        node = site.function if isinstance(site, CallSite) else site.node
        self._leave(node)
        self._edits.replace(
            self._source.start(node), self._source.end(node), self._dialect.pure_callback(names)
        )
        options = site.options if isinstance(site, CallSite) else ()
        if isinstance(site, ValueUse) and site.vectorized is not None:
            options = (site.vectorized,)
        for keyword in options:
            if keyword.arg == "vectorized":
                self._vectorized(keyword)

    def _vectorized(self, keyword: ast.keyword) -> None:
        text = call.vectorized(self._source.segment(keyword.value))
        start, end = self._source.start(keyword), self._source.end(keyword)
        self._edits.replace(start, end, f"vmap_method={text}")

    def _call(self, plan: SitePlan, site: CallSite, names: Names) -> None:
        function, adapt = self._dialect.buffer_callback(names), self._adapting(plan, names)
        options = frozenset(option.arg for option in site.options if option.arg)
        more = self._keywords(site, options)
        place = call.Place.of(self._source, self._module, site.call, self._unit_at(site.call))

        def make(text: str) -> str:
            if plan.scaffold is not None:
                given = [p.name for p in plan.scaffold.parameters if not p.is_given]
                return call.handed_over(text, plan.scaffold.name, given, options, place=place)
            return call.rewritten(
                text, function, adapt, options, more, is_partial=site.is_partial, place=place
            )

        self._leave(site.function)
        if site.is_partial:
            self._leave(site.call.func)
        self._edits.transform(self._source.start(site.call), self._source.end(site.call), make)
        if plan.target is not None and plan.replacement is not None:
            self._edits.replace(
                self._source.start(plan.target), self._source.end(plan.target), plan.replacement
            )

    def _adapting(self, plan: SitePlan, names: Names) -> Callable[[str], str] | None:
        arrays = plan.adapt
        return (lambda text: self._dialect.adapt(names, text, arrays)) if arrays else None

    def _keywords(self, site: CallSite, given: frozenset[str]) -> list[tuple[str, str]]:
        """What a new call says beside the options that were given."""
        keywords = list(site.api.keywords)
        if "vmap_method" in site.api.options:
            method = self._options.default_vmap_method if given.isdisjoint(_ON_VMAP) else None
        else:
            method = site.api.vmap_method if site.takes_arguments else None
        return [*keywords, ("vmap_method", f'"{method}"')] if method else keywords

    def _leave(self, node: ast.expr) -> None:
        """Notes that the names of an expression are no longer read there."""
        self._gone.update(n for n in walk(node) if isinstance(n, ast.Name))

    # Callbacks.

    def _needs(self, plan: FunctionPlan | SiblingPlan) -> Names:
        hows = [conversion.how for conversion in plan.conversions]
        forms = (
            [plan.result] if isinstance(plan.function, ast.Lambda) or isinstance(plan, SiblingPlan) else []
        )
        if isinstance(plan, FunctionPlan):
            forms += [planned.form for planned in plan.returns]
            kept_trees = any(
                planned.after is not None and planned.form == "leaves" for planned in plan.returns
            )
            runtime = plan.falls_through or kept_trees
            numpy = bool(plan.fused)
        else:
            runtime = numpy = False
        if not self._dialect.generates_helpers:
            runtime = runtime or "store" in forms or any(how.startswith("tree") for how in hows)
            numpy = numpy or any(how.startswith("array") for how in hows)
        else:
            runtime = False  # the helpers are the module's own
        node = plan.anchor if isinstance(plan, SiblingPlan) else plan.function
        return self._names(node, runtime=runtime, numpy=numpy)

    def _definition(self, plan: FunctionPlan, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        names, header = self._needs(plan), self._header(plan, function)
        start, end = self._lines(function)
        if function.returns is not None:
            self._leave(function.returns)
        if header.numpy:
            for parameter in plan.jax_annotated:
                if parameter.annotation is not None:
                    self._leave(parameter.annotation)

        def make(text: str) -> str:
            imports = self._imports.lines_in(function)
            step = self._unit_at(function)
            return functions.definition(text, plan, self._module, self._dialect, names, header, imports, step)

        self._edits.transform(start, end, make)

    def _header(self, plan: FunctionPlan, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Names:
        """The names for annotations; empty where there is nothing to annotate or no name is bound in time."""
        is_typed = plan.is_typed and not self._dialect.generates_helpers
        return Names(
            self._imports.runtime_in_header(function) if is_typed else "",
            self._imports.numpy_in_header(function) if plan.jax_annotated else "",
        )

    def _lines(self, statement: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[int, int]:
        """The span of the whole lines of a definition, decorators included."""
        first = min([statement.lineno, *(d.lineno for d in statement.decorator_list)])
        return self._source.line_start(first), self._source.line_end(statement.end_lineno or statement.lineno)

    def _lambda(self, plan: FunctionPlan, function: ast.Lambda) -> None:
        names = self._needs(plan)
        statement = plan.anchor or self._module.statement(function)
        start, end = self._source.start(function), self._source.end(function)
        first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
        indent = self._source.indentation(first)
        line = function.lineno
        origin = functions.Origin(start - self._source.line_start(line), self._source.indentation(line))

        unit = self._unit_at(statement)

        def make() -> str:
            text = self._edits.inside(start, end)
            imports = self._imports.lines_in(function)
            return functions.hoisted(text, plan, self._dialect, names, imports, indent, unit, origin)

        offset, before, after = self._spacing.above(statement)
        if plan.name != _assigned_name(statement, function):
            if plan.takes_buffers:
                self._edits.replace(start, end, plan.name)
            self._edits.insert(offset, lambda: before + make() + after)
            return
        last = self._source.line_end(statement.end_lineno or statement.lineno)
        tail = self._source.text[self._source.end(statement) : last]
        behind = self._spacing.behind(statement)
        self._edits.insert(offset, lambda: before)
        self._edits.transform(
            self._source.line_start(first), last, lambda _: _with_comment(make(), tail) + behind
        )

    def _unit_at(self, node: ast.AST) -> str:
        """One step of indentation as the blocks around a node have it."""
        around = (block_unit(self._source, outer) for outer in (node, *self._module.ancestors(node)))
        return next(filter(None, around), self._unit)

    def _sibling(self, plan: SiblingPlan) -> None:
        names = self._needs(plan)
        indent = self._source.indentation(plan.anchor.lineno)
        imports = self._imports.lines_in(plan.anchor)
        text = functions.sibling(plan, self._dialect, names, imports, indent, self._unit_at(plan.anchor))
        if plan.above:
            start, before, after = self._spacing.above(plan.anchor)
            self._edits.insert(start, lambda: before + text + after)
            return
        self._below.setdefault(plan.anchor, []).append(lambda: text)

    def _add_below(self) -> None:
        """Adds what goes behind each statement."""
        for statement, texts in self._below.items():
            end, before, after = self._spacing.below(statement)
            self._edits.insert(end, functools.partial(self._joined, end, texts, before, after))

    def _joined(self, end: int, texts: Sequence[Callable[[], str]], before: str, after: str) -> str:
        text = before.join(make() for make in texts)
        if self._source.text[:end].endswith(("\n", "\r")):
            return before + text + after
        return "\n" + before + text.removesuffix("\n")

    # Derivatives.

    def _scaffold(self, plan: SitePlan, scaffold: ScaffoldPlan) -> None:
        """Adds the function that gives a call its derivative, and its rules."""
        site = scaffold.sites[0]
        anchor, dialect = scaffold.anchor, self._dialect
        names = self._names(anchor, runtime=True, numpy=False)
        unit, indent = self._unit_at(anchor), self._source.indentation(anchor.lineno)
        runtime = derivative.Runtime(
            functools.partial(dialect.call_host, names),
            functools.partial(dialect.difference, names, scaffold.mode),
        )
        spell = functools.partial(self._imports.spelled, node=anchor)
        layout = derivative.Layout(unit, len(indent))
        blocks = derivative.blocks(scaffold, _CALL, spell, runtime, self._of_root(scaffold), layout)
        make = self._body_of(plan, site, scaffold, names, indent + unit)

        def text() -> str:
            gap = "\n" * self._spacing.wanted(anchor)
            return _indented(gap.join(blocks), indent).replace(_CALL, make())

        if not scaffold.above:
            self._below.setdefault(anchor, []).append(text)
            return
        self._above.append((anchor, text))

    def _add_above(self) -> None:
        """Adds what goes in front of statements, behind the imports there."""
        for statement, make in self._above:
            start, before, after = self._spacing.above(statement)
            before = before or ("\n" if self._imports.adds_at(start) else "")
            self._edits.insert(start, functools.partial(_between, before, make, after))

    def _body_of(
        self, plan: SitePlan, site: CallSite, scaffold: ScaffoldPlan, names: Names, body: str
    ) -> Callable[[], str]:
        """Makes the call of the callback as the scaffold has it."""
        function, adapt = self._dialect.buffer_callback(names), self._adapting(plan, names)
        options = frozenset(option.arg for option in site.options if option.arg)
        more = self._keywords(site, options)
        unit = self._unit_at(scaffold.anchor)
        place = call.Place.of(self._source, self._module, site.call, unit)
        new = dataclasses.replace(
            place, column=len(f"{body}return "), indent=body, unit=unit, tail=0, width=_WIDTH, quote='"'
        )
        given = [_as_argument(parameter) for parameter in scaffold.parameters if parameter.is_given]
        start, end = self._source.start(site.call), self._source.end(site.call)
        return lambda: call.moved(
            self._edits.inside(start, end), function, adapt, options, more, given, place=place, new=new
        )

    def _of_root(self, scaffold: ScaffoldPlan) -> str:
        """Where gradients come from, as a sentence."""
        root = scaffold.root
        if root is None:
            return ""
        may = "may reach it" if scaffold.is_assumed else "reach it"
        file = _relative(root.path, self._source.path.parent)
        if root.cell is not None:
            place = f"{file}, cell {root.cell}"
        elif root.path == self._source.path:
            self._mentioned.append(root.line)
            place = f"{file}:{_LINE.format(root.line)}"
        else:
            place = f"{file}:{root.line}"
        return f"Gradients {may} from {root.name.partition('(')[0]} ({place})."


def _between(before: str, make: Callable[[], str], after: str) -> str:
    return before + make() + after


def _relative(path: Path, folder: Path) -> str:
    """A path as seen from a folder, with slashes."""
    try:
        return os.path.relpath(path, folder).replace(os.sep, "/")
    except (OSError, ValueError):  # the current folder is gone, or on another drive
        return path.as_posix()


def _as_argument(parameter: Parameter) -> str:
    """How the callback gets a parameter."""
    if parameter.is_starred:
        return f"*{parameter.name}"
    return f"{parameter.keyword}={parameter.name}" if parameter.keyword else parameter.name


def _indented(text: str, indent: str) -> str:
    return "".join(indent + line if line.strip() else line for line in text.splitlines(keepends=True))


def _writes(plan: FunctionPlan | SiblingPlan) -> bool:
    """Whether it stores any value, which ufuncs do not need for their outputs."""
    if isinstance(plan, SiblingPlan) or plan.falls_through:
        return True
    for node, form, value in plan.results:
        count = len(leaves(value)) if form == "leaves" and value is not None else 1
        if form != "bare" and len(plan.fused.get(node, ())) < count:
            return True
    return False


def _dialect(options: Options, module: Module, planned: Collection[str]) -> tuple[Dialect, str]:
    """The dialect of a target, and what it imports."""
    if options.target == "bufcb":
        return Dialect(), "bufcb"
    free = FreeNames(module, planned)
    return JaxDialect(free.fresh), BUFFER_CALLBACK


def _assigned_name(statement: ast.stmt, function: ast.Lambda) -> str | None:
    """The name that a statement binds to a lambda and nothing more."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is function:
            return name
    return None


def _with_comment(text: str, tail: str) -> str:
    """Puts an assignment's trailing comment behind the header of the `def` that replaces it."""
    comment = tail.strip()
    if not tail.endswith(("\n", "\r")):
        text = text.removesuffix("\n")
    if not comment:
        return text
    header, _, rest = text.partition("\n")
    return f"{header}  {comment}\n{rest}"


def block_unit(source: SourceFile, node: ast.AST) -> str:
    """The step of indentation of a statement's block; empty where it has none on lines of its own."""
    body = getattr(node, "body", None)
    if not isinstance(body, list) or not body or not isinstance(body[0], ast.stmt):
        return ""
    lineno = getattr(node, "lineno", 0)  # a `case` has none
    if not lineno or body[0].lineno <= lineno:
        return ""
    outer = source.indentation(lineno)
    return source.indentation(body[0].lineno).removeprefix(outer)


def indent_unit(source: SourceFile) -> str:
    """One step of a file's indentation: that of its first indented block, else four spaces."""
    return next(filter(None, (block_unit(source, node) for node in source.tree.body)), "    ")
