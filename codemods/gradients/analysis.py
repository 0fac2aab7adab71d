"""Evaluates what may lead to the call sites of one module, and reads the verdicts off."""

from __future__ import annotations

import ast
import dataclasses
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from codemods.discovery import NOTEBOOK
from codemods.gradients.frames import OUTSIDE, Extent, Frame, Place, Source, whatever
from codemods.gradients.interpreter import Interpreter, Reached
from codemods.gradients.levels import UNSEEN, Mode, by_rules
from codemods.gradients.modules import Call, top_statement
from codemods.gradients.reach import Name, Search
from codemods.gradients.table import Table
from codemods.gradients.values import PLAIN, Class, Instance, TooLarge, Value, join
from codemods.gradients.verdict import Verdict
from codemods.model import Gradient, Hop
from codemods.names import Module, is_private
from codemods.project import Project

# Evaluating once more follows what the evaluation before has found out; most programs take two or three.
_MOST_ROUNDS: Final = 8

# With these a program gets at its own functions by name.
_LOOK_UP: Final = frozenset({"globals", "eval", "exec"})

_UNSEEN: Final = Extent(active=True, parameters=frozenset({UNSEEN}))

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Analysis:
    """The evaluation of everything that may lead to the call sites of one module."""

    def __init__(
        self,
        module: Module,
        path: Path,
        project: Project,
        sites: Mapping[ast.expr, frozenset[str]],
        transforms: Table,
    ) -> None:
        self.interpreter = Interpreter(project, transforms, sites)
        self.sites, self.path = list(sites), path
        self.source = self.interpreter.add(os.path.realpath(path), module)
        self.search = Search(self.interpreter, self.source, self.sites)
        self.reach = self.search.found
        self.interpreter.on_the_way = self.reach.statements
        self.interpreter.around_sites = self.reach.around
        self.is_complete = True

    def verdicts(self) -> dict[ast.expr, Verdict]:
        """The verdict of each call site, by the expression that stands for the API."""
        self._run()
        return {site: self._verdict(site) for site in self.sites}

    def _run(self) -> None:
        """Evaluates until nothing new is seen."""
        try:
            self.search.run()
            while True:
                if not self._until_settled(self._round):
                    self.is_complete = False
                self._follow_what_holds_functions()
                if not self.search.run():
                    break
            left = [site for site in self.sites if site not in self.interpreter.reached]
            if left and not self._until_settled(lambda: self._alone(left)):
                self.is_complete = False
        except (TooLarge, RecursionError):
            self.is_complete = False
        if self.interpreter.incomplete or not self.reach.is_whole:
            self.is_complete = False

    def _follow_what_holds_functions(self) -> None:
        """Looks for the names of what has been given a function: a table, or an attribute of an object."""
        interpreter = self.interpreter
        for file, name, value in interpreter.globals():
            if interpreter.that_matter(value):
                self.search.add(Name(name, file))
        for instance in interpreter.heap.instances():
            for key, value in instance.content.items():
                if isinstance(key, str) and interpreter.that_matter(value):
                    self.search.add(Name(key))

    def _until_settled(self, evaluate: Callable[[], None]) -> bool:
        heap = self.interpreter.heap
        for _ in range(_MOST_ROUNDS):
            heap.changed = False
            self.interpreter.start_round()
            evaluate()
            if not heap.changed:
                return True
        return False

    def _round(self) -> None:
        for file in self.search.in_order(self.reach.statements):
            source = self.interpreter.source(file)
            assert source is not None
            for statement in sorted(self.reach.statements[file], key=lambda each: each.lineno):
                self._enter(source, statement)

    def _enter(self, source: Source, statement: ast.stmt) -> None:
        """Runs a statement as its module does, and calls what it defines as code out of sight may."""
        self.interpreter.run_top_level(source, statement)
        frame = self.interpreter.frame_of(source)
        for node in _definitions(statement):
            if isinstance(node, ast.ClassDef):
                self._enter_class(source, node, frame)
            elif self._is_open(source, node.name):
                self._call_from_outside(frame.global_value(node.name), node, frame)

    def _is_open(self, source: Source, name: str) -> bool:
        """Whether code out of sight may call a function."""
        module = source.module
        if name in self.reach.spelled or module.names_in_strings(name):
            return True
        if any(each in module.uses for each in _LOOK_UP):
            return True
        if source.is_test:
            return _is_test(source, name)
        return not is_private(name) and not self.interpreter.is_program(source)

    def _enter_class(self, source: Source, node: ast.ClassDef, frame: Frame) -> None:
        for owner in frame.global_value(node.name):
            if isinstance(owner, Class):
                self._enter_methods(source, owner, frame)

    def _enter_methods(self, source: Source, owner: Class, frame: Frame) -> None:
        interpreter, place = self.interpreter, Place(frame, owner.node)
        unseen = interpreter.heap.make((owner, "unseen"), Instance, owner)
        me = join(map(interpreter.heap.value, {unseen, *interpreter.heap.instances_of(owner)}))
        open_class = self._is_open(source, owner.node.name)
        for name in sorted(interpreter.member_names(owner)):
            member = interpreter.member(owner, name) or PLAIN
            interpreter.add_owner(me, name, member)
            if open_class and (not is_private(name) or name in self.reach.spelled):
                defined = (each for each in owner.node.body if isinstance(each, _Definition))
                node = next((each for each in defined if each.name == name), owner.node)
                method = interpreter.attribute(me.at({UNSEEN}), name, place)
                if interpreter.callables(member):
                    self._call_from_outside(method, node, frame)

    def _call_from_outside(self, function: Value, node: _Definition, frame: Frame) -> None:
        interpreter = self.interpreter
        if not interpreter.callables(function):
            return
        extent, at = OUTSIDE if _is_test(frame.source, node.name) else _UNSEEN, Place(frame, node)
        with interpreter.within(extent), interpreter.called(Call(at, node.name)):
            interpreter.call(function, whatever(Value(extent.parameters)), at)

    def _alone(self, sites: list[ast.expr]) -> None:
        """Evaluates functions that nothing was seen to call."""
        module, frame = self.source.module, self.interpreter.frame_of(self.source)
        for site in sites:
            statement = top_statement(module, site)
            assert statement is not None
            for node in _definitions(statement):
                self.interpreter.run_top_level(self.source, statement)
                value = frame.global_value(node.name)
                extent = dataclasses.replace(OUTSIDE, active=True)
                place = Place(frame, node)
                with self.interpreter.within(extent), self.interpreter.called(Call(place, node.name)):
                    self.interpreter.escape(value, place)

    # Verdicts.

    def _verdict(self, site: ast.expr) -> Verdict:
        seen = self.interpreter.reached.get(site)
        if seen is None:
            return Verdict(Gradient.UNKNOWN)
        definite = {level.mode for level in seen.levels} - {Mode.UNKNOWN}
        arguments = frozenset(seen.arguments)
        if definite:
            preferred = (Mode.REVERSE, Mode.FORWARD, Mode.TRANSPOSE, Mode.TAYLOR)
            first = next(mode for mode in preferred if mode in definite)
            order = len({level.depth for level in by_rules(seen.levels)})
            hops = self._hops(seen, first, site)
            return Verdict(Gradient.UNPROTECTED, frozenset(definite), hops, arguments, order=order)
        if seen.levels or not self.is_complete:
            hops = self._hops(seen, Mode.UNKNOWN, site) if seen.levels else ()
            return Verdict(Gradient.UNKNOWN, frozenset(), hops, arguments)
        return Verdict(Gradient.PROTECTED if seen.active else Gradient.NONE)

    def _hops(self, seen: Reached, mode: Mode, site: ast.expr) -> tuple[Hop, ...]:
        calls, at = seen.trace[mode]
        start = 0
        if mode is not Mode.UNKNOWN:
            roots = [i for i, call in enumerate(calls) if call.level in seen.levels]
            start = roots[0] if roots else 0
        hops = []
        was_root = False
        for call in calls[start:]:
            if call.level is not None or call is calls[0]:
                hop = self._hop(call.at, call.label)
                was_root = True
            elif was_root:
                was_root = False
                continue
            else:
                hop = self._hop(call.at, call.at.frame.name)
            if hop not in hops:
                hops.append(hop)
        return (*hops, self._placed(at.frame.source.file, site.lineno, at.frame.name))

    def _hop(self, at: Place, label: str) -> Hop:
        text = label if len(label) <= 60 else label[:57] + "..."
        return self._placed(at.frame.source.file, at.line, text)

    def _placed(self, file: str, line: int, name: str) -> Hop:
        """A hop; in another notebook, with its cell. Who has the own file's text places those in it."""
        if file != self.source.file and file.endswith(NOTEBOOK):
            notebook = self.interpreter.project.source(file)
            if notebook is not None:
                place = notebook.position(line, 1)
                return Hop(self._shown(file), place.line, name, place.cell)
        return Hop(self._shown(file), line, name)

    def _shown(self, file: str) -> Path:
        """A path as the user would write it."""
        if file == self.source.file:
            return self.path
        try:
            relative = os.path.relpath(file)
        except (OSError, ValueError):  # the current folder is gone, or on another drive
            return Path(file)
        return Path(file if relative.startswith(os.pardir) else relative)


def _is_test(source: Source, name: str) -> bool:
    """Whether a function or class is one that a test runner calls, with arguments of its own."""
    return source.is_test and name.lower().startswith("test")


def _definitions(statement: ast.stmt) -> list[_Definition]:
    """The functions and classes that a statement defines at the top level, in branches too."""
    found: list[_Definition] = []
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, _Definition):
            found.append(node)
        else:
            inner = ast.iter_child_nodes(node)
            waiting += [each for each in inner if isinstance(each, ast.stmt | ast.ExceptHandler)]
    return found
