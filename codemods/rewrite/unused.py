"""Which imports nothing uses once the call sites are migrated, and which statements held nothing else."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterable, Iterator

from codemods.names import Binding, Module

Import = ast.Import | ast.ImportFrom
Choice = ast.Try | ast.If

_PURE_BUILTINS = frozenset({"getattr", "hasattr", "int", "len", "map", "str", "tuple"})
_PURE_METHODS = frozenset({"removeprefix", "removesuffix", "rpartition", "partition", "split", "startswith"})


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Unused:
    """What can go.

    Attributes:
      aliases: the imported names, which may be all or some of their statements.
      choices: `try` and `if` statements that choose between imports all of which go.
    """

    aliases: frozenset[ast.alias]
    choices: frozenset[Choice]


def find(
    module: Module,
    gone: frozenset[ast.Name],
    is_kept: Callable[[str], bool],
    is_touched: Callable[[ast.stmt], bool],
) -> Unused:
    """What nothing uses, but for the names in `gone`; statements into which something is put stay."""
    while True:
        found = _Finder(module, gone, is_kept, is_touched).run()
        tests = [choice.test for choice in found.choices if isinstance(choice, ast.If)]
        more = {n for test in tests for n in ast.walk(test) if isinstance(n, ast.Name)}
        if more <= gone:
            return found
        gone |= more


class _Finder:
    def __init__(
        self,
        module: Module,
        gone: frozenset[ast.Name],
        is_kept: Callable[[str], bool],
        is_touched: Callable[[ast.stmt], bool],
    ) -> None:
        self._module, self._gone = module, gone
        self._is_kept, self._is_touched = is_kept, is_touched

    def run(self) -> Unused:
        groups = {group[0]: group for use in self._gone if (group := self._bindings(use))}
        unused = [group for group in groups.values() if self._is_unused(group)]
        aliases = {b.node for group in unused for b in group if isinstance(b.node, ast.alias)}
        fallbacks = {
            self._module.parents[b.node] for g in unused for b in g if not isinstance(b.node, ast.alias)
        }
        dead = fallbacks | {s for a in aliases if self._is_whole(s := self._module.parents[a], aliases)}
        choices = self._choices(dead)
        inside = {node for choice in choices for node in ast.walk(choice)}
        kept = {b.node for group in unused if self._leaves_traces(group, inside, dead) for b in group}
        return Unused(
            frozenset(a for a in aliases if a not in kept),
            frozenset(c for c in choices if not any(node in kept for node in ast.walk(c))),
        )

    def _bindings(self, use: ast.Name) -> list[Binding]:
        """Everything that binds a name, if that is imports and, as the last resort, None; else nothing."""
        found = self._module.bindings(use)
        is_plain = all(isinstance(b.node, ast.alias) or _is_none(b.value) for b in found)
        return found if is_plain and any(isinstance(b.node, ast.alias) for b in found) else []

    def _is_unused(self, group: list[Binding]) -> bool:
        name, home = group[0].name, group[0].scope
        if not all(use in self._gone for use in self._module.references(name, home)):
            return False
        if not home.is_function and self._module.names_in_strings(name):
            return False  # `getattr` and its like reach the names of modules, not those of functions
        return not self._is_kept(name)  # which may mean to look through the project

    def _is_whole(self, statement: ast.AST, aliases: Iterable[ast.AST]) -> bool:
        return isinstance(statement, Import) and all(alias in aliases for alias in statement.names)

    def _leaves_traces(self, group: list[Binding], inside: set[ast.AST], dead: set[ast.AST]) -> bool:
        """Whether a fallback would stay, or a `try` that looks whether an import works would be emptied."""
        for binding in group:
            statement = self._module.statement(binding.node)
            if binding.node in inside:
                continue
            block, parent = self._module.block(statement), self._module.parents[statement]
            probes = isinstance(parent, ast.Try) and block is parent.body and all(s in dead for s in block)
            if probes or not isinstance(binding.node, ast.alias):
                return True
        return False

    def _choices(self, dead: set[ast.AST]) -> list[Choice]:
        """The statements that choose between dead ones, outermost alone."""
        found: list[Choice] = []
        for statement in dead:
            for parent in self._module.ancestors(statement):
                if (
                    not isinstance(parent, Choice)
                    or self._is_touched(parent)
                    or not self._is_dead(parent, dead)
                ):
                    break
                found.append(parent)
        nested = {
            inner for choice in found for block in _blocks(choice) for s in block for inner in ast.walk(s)
        }
        return [choice for choice in dict.fromkeys(found) if choice not in nested]

    def _is_dead(self, choice: Choice, dead: set[ast.AST]) -> bool:
        if isinstance(choice, ast.Try) and (choice.orelse or choice.finalbody):
            return False
        if isinstance(choice, ast.If) and self._is_elif(choice):
            return False
        if isinstance(choice, ast.If) and not self._is_pure(choice.test):
            return False
        return all(
            s in dead
            or isinstance(s, ast.Pass)
            or (isinstance(s, Choice) and self._is_dead(s, dead))
            or (isinstance(s, ast.Raise) and s not in choice.body and self._has_jax_above(choice))
            for block in _blocks(choice)
            for s in block
        )

    def _has_jax_above(self, choice: Choice) -> bool:
        """Whether JAX has been imported before, so that it is there, and with it what is looked for."""
        body = self._module.tree.body
        earlier = body[: body.index(choice)] if choice in body else []
        return any(
            any(a.name.partition(".")[0] == "jax" for a in s.names) and isinstance(s, ast.Import)
            for s in earlier
            if isinstance(s, Import)
        )

    def _is_elif(self, choice: ast.If) -> bool:
        parent = self._module.parents[choice]
        in_else = isinstance(parent, ast.If) and parent.orelse == [choice]
        return in_else and parent.col_offset == choice.col_offset  # type: ignore[attr-defined]

    def _is_pure(self, node: ast.AST) -> bool:
        """Whether evaluating a test does nothing but compare versions or look for names."""
        if isinstance(node, ast.Call):
            return self._is_pure_call(node) and all(self._is_pure(a) for a in (*node.args, *node.keywords))
        allowed = (ast.Name, ast.Attribute, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Tuple)
        plain = (*allowed, ast.Subscript, ast.Slice, ast.keyword, ast.expr_context, ast.cmpop, ast.boolop)
        return isinstance(node, (*plain, ast.unaryop)) and all(map(self._is_pure, ast.iter_child_nodes(node)))

    def _is_pure_call(self, call: ast.Call) -> bool:
        if isinstance(call.func, ast.Attribute) and call.func.attr in _PURE_METHODS:
            return self._is_pure(call.func.value)
        if origins := self._module.origins(call.func):
            return all(origin.startswith("packaging.") for origin in origins)
        return isinstance(call.func, ast.Name) and call.func.id in _PURE_BUILTINS


def _is_none(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _blocks(choice: Choice) -> Iterator[list[ast.stmt]]:
    yield choice.body
    yield choice.orelse
    if isinstance(choice, ast.Try):
        yield from (handler.body for handler in choice.handlers)
