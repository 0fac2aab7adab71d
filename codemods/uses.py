"""What one file may take from the modules around it, read from its tree in one walk."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import functools
import itertools
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from codemods.trees import children, walk

_WORD: Final = re.compile(r"[^\W\d]\w*")
# Words that text uses as code does: behind a dot, in front of a call's parenthesis.
_AS_CODE: Final = re.compile(r"\.([^\W\d]\w*)|([^\W\d]\w*)\(")
# Lines of which every word may be code: imports, and examples as an interpreter shows them.
_IMPORT: Final = re.compile(r"^[ \t]*(?:from\s.*import\s|import\s).*$", re.MULTILINE)
_EXAMPLE: Final = re.compile(r"^[ \t]*(?:>>>|\.\.\.)\s.*$", re.MULTILINE)
# `setattr`, `monkeypatch.setattr`, `patch`, `mock.patch.object`, `mocker.spy`, and helpers called alike.
_PATCHER: Final = re.compile(
    r"set|del|patch|mock|object|multiple|spy|stub|swap|replac|overrid", re.IGNORECASE
)
# What replaces attributes by names that may be computed, and what makes a class of them.
_SETTERS: Final = frozenset({"setattr", "__setattr__", "object", "patch"})
_MAKERS: Final = frozenset({"type", "new_class", "make_dataclass"})
_BUILTINS: Final = frozenset(dir(builtins))
# What an attribute may be read of, in `FileUses.bases`; behind the last comes the name of a class.
ANYTHING: Final = "*"
OBJECT_OF: Final = "self "
# Importing by name, and what looks into a module that it is given, without handing it on.
IMPORTERS: Final = frozenset({"import_module", "__import__"})
_LOOKING_IN: Final = frozenset({"getattr", "hasattr", "setattr", "delattr", "object"})
LITERALS: Final = (
    *(ast.Constant, ast.JoinedStr, ast.List, ast.Tuple, ast.Set, ast.Dict),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)

_WITH_SCOPE: Final = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)


@dataclasses.dataclass(frozen=True, slots=True)
class ClassUse:
    """One class, as far as it matters to what others derive from it, or it from others.

    Attributes:
      bases: for each base the dotted names that it may stand for: a plain one is a class of the same
        file, one with a dot an import. None for a base that cannot be seen.
      defined: the names that its body binds.
      assigned: the attributes that its methods assign on `self`.
    """

    name: str
    line: int
    bases: tuple[frozenset[str] | None, ...]
    defined: frozenset[str]
    assigned: frozenset[str]


@dataclasses.dataclass(frozen=True, slots=True)
class FileUses:
    """The names that one file may take from other modules.

    Attributes:
      imported: the names in its `from … import …` statements.
      taken: module and name, from such imports, from attributes and from dotted strings; the module's
        last part alone, empty where the import names none.
      attributes: every attribute that it reads or assigns.
      stored: the attributes that it assigns or deletes, but for those on `self` in a class.
      patched: the names that it replaces by name, as `mock.patch` and `setattr` do; with names that are
        computed, each keyword and each string that is a name.
      spelled: the names that its strings spell as code may.
      declared: the functions and methods of a stub, which say the same as the module's own.
      classes: its classes, nested ones too.
      bases: for each attribute, but for those of literals, what it may be read of: the first part of an
        import's dotted name with a dot behind it, a dot alone where that cannot be seen, `OBJECT_OF` a
        class of the file for what is its object for sure, or `ANYTHING`.
      renamed: what it imports under another name, by both names.
      handed: what it imports, and uses for more than attributes, by the last part of its name; `ANYTHING`
        for a module whose name is computed.
    """

    imported: frozenset[str] = frozenset()
    taken: frozenset[tuple[str, str]] = frozenset()
    attributes: frozenset[str] = frozenset()
    stored: frozenset[str] = frozenset()
    patched: frozenset[str] = frozenset()
    spelled: frozenset[str] = frozenset()
    declared: frozenset[str] = frozenset()
    classes: tuple[ClassUse, ...] = ()
    bases: Mapping[str, frozenset[str]] = dataclasses.field(default_factory=dict)
    handed: frozenset[str] = frozenset()
    renamed: frozenset[tuple[str, str]] = frozenset()

    def mentions(self, name: str) -> bool:
        """Whether the file has a name as more than one of its own: nothing else is taken or read by it."""
        return (
            name in self.imported or name in self.attributes or name in self.spelled or name in self.declared
        )


def everything(data: bytes) -> FileUses:
    """A file that cannot be parsed may use any word in it, and take all that a module has."""
    words = frozenset(_WORD.findall(data.decode("utf-8", "replace")))
    taken = {("", word) for word in words}
    if b"*" in data:
        taken |= {(word, "*") for word in words}
        words |= {"*"}
    bases = dict.fromkeys(words, frozenset({ANYTHING}))
    return FileUses(words, frozenset(taken), words - {"*"}, spelled=words - {"*"}, bases=bases, handed=words)


def names_in_text(text: str) -> Iterable[str]:
    """The names that a string may mean: in a dotted path, in code, or in an example."""
    if not any(character.isspace() for character in text):
        return _WORD.findall(text)
    found = [attribute or called for attribute, called in _AS_CODE.findall(text)]
    for line in _IMPORT.findall(text):
        found += _WORD.findall(line)
    return [*found, *names_in_examples(text)]


def names_in_examples(text: str) -> Iterable[str]:
    """The names in the examples of a docstring, all else of which is prose."""
    return [word for line in _EXAMPLE.findall(text) for word in _WORD.findall(line)]


def read_uses(tree: ast.Module, *, stub: bool = False) -> FileUses:
    """Reads what a parsed file uses; in a stub, declarations count as uses."""
    reader = _Reader()
    for node in walk(tree):
        visit = reader.visits.get(type(node))
        if visit is not None:
            visit(node)
    return reader.found(stub)


class _Reader:
    def __init__(self) -> None:
        self.imports: dict[str, set[str]] = {}
        self.imported: set[str] = set()
        self.taken: set[tuple[str, str]] = set()
        self.attributes: set[str] = set()
        self.stored: list[ast.Attribute] = []
        self.patched: set[str] = set()
        self.spelled: set[str] = set()
        self.replaces_computed = False
        self.words: set[str] = set()
        self.exported: set[int] = set()
        self.docstrings: set[ast.Constant] = set()
        self.functions: set[str] = set()
        self.assigned: set[str] = set()
        self.parameters: Counter[str] = Counter()
        self.captured: set[str] = set()
        self.renamed: set[tuple[str, str]] = set()
        self.classes: list[ast.ClassDef] = []
        self.loaded: list[ast.Name] = []
        # The attributes, each with its base, and those of which no more than an attribute is used.
        self.based: list[ast.Attribute] = []
        self.importing: list[ast.Call] = []
        self.looked_into: set[ast.expr] = set()
        self.visits: dict[type[ast.AST], Callable[[Any], None]] = {
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Expr: self._expression,
            ast.Constant: self._constant,
            ast.Import: self._import,
            ast.ImportFrom: self._import_from,
            ast.FunctionDef: self._function,
            ast.AsyncFunctionDef: self._function,
            ast.ClassDef: self.classes.append,
            ast.Call: self._call,
            ast.Subscript: self._subscript,
            ast.Assign: self._assignment,
            ast.AugAssign: self._assignment,
            ast.keyword: self._keyword,
            ast.arg: self._parameter,
            ast.ExceptHandler: self._capture,
            ast.MatchAs: self._capture,
            ast.MatchStar: self._capture,
            ast.MatchMapping: self._capture,
        }

    def _name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.assigned.add(node.id)
        elif isinstance(node.ctx, ast.Load):
            self.loaded.append(node)

    def _attribute(self, node: ast.Attribute) -> None:
        self.attributes.add(node.attr)
        if tail := _last_name(node.value):
            self.taken.add((tail, node.attr))
        self.looked_into.add(node.value)
        if not isinstance(node.value, LITERALS):
            self.based.append(node)
        if not isinstance(node.ctx, ast.Load):
            self.stored.append(node)

    def _parameter(self, node: ast.arg) -> None:
        self.parameters[node.arg] += 1

    def _capture(self, node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar | ast.MatchMapping) -> None:
        name = node.rest if isinstance(node, ast.MatchMapping) else node.name
        if name:
            self.captured.add(name)

    def _expression(self, node: ast.Expr) -> None:
        match node.value:
            case ast.Call() as call:
                self.looked_into.add(call)  # nothing is done with what it gives
            case ast.Constant(value=str(text)) as docstring:
                self.docstrings.add(docstring)
                self.spelled.update(names_in_examples(text))

    def _constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and node not in self.docstrings:
            self._text(node.value)
            if node.value.isidentifier() and id(node) not in self.exported:
                self.words.add(node.value)

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            first = alias.name.partition(".")[0]
            origin = alias.name if alias.asname else first
            self.imports.setdefault(alias.asname or first, set()).add(origin)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.functions.add(node.name)

    def _call(self, node: ast.Call) -> None:
        """`mock.patch("module.name")`, `setattr(module, "name", …)`, `patch.multiple(module, name=…)`."""
        name = _last_name(node.func)
        if _PATCHER.search(name):
            texts = [text for argument in node.args[:2] for text in _constant_parts(argument)]
            self.patched.update(text.rpartition(".")[2] for text in texts)
            self.patched.update(keyword.arg for keyword in node.keywords if keyword.arg)
        self._call_of_names(node, name)
        if name in _LOOKING_IN:
            self.looked_into.update(node.args[:1])
        elif name in IMPORTERS:
            self.importing.append(node)

    def _subscript(self, node: ast.Subscript) -> None:
        match node:
            case ast.Subscript(slice=ast.Constant(value=str(name)), ctx=ast.Store() | ast.Del()):
                self.patched.add(name)
            case ast.Subscript(value=base, ctx=ast.Store()) if _is_namespace(base):
                self.replaces_computed = True

    def _assignment(self, node: ast.Assign | ast.AugAssign) -> None:
        target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
        if isinstance(target, ast.Name) and target.id == "__all__":
            self.exported.update(map(id, walk(node)))
        elif _is_namespace(target):
            self._namespace_of(node.value)

    def _keyword(self, node: ast.keyword) -> None:
        if node.arg:
            self.words.add(node.arg)

    def _call_of_names(self, node: ast.Call, name: str) -> None:
        """`type("B", (A,), {"name": …})`, `vars(self).update(name=…)`, and setters of computed names."""
        match node:
            case ast.Call(func=ast.Attribute(value=base, attr="update")) if _is_namespace(base):
                self.patched.update(keyword.arg for keyword in node.keywords if keyword.arg)
                for argument in [*node.args, *(k.value for k in node.keywords if k.arg is None)]:
                    self._namespace_of(argument)
            case ast.Call() if name in _MAKERS:
                for argument in [*node.args[2:], *(k.value for k in node.keywords if k.arg == "namespace")]:
                    self.patched.update(_keys(argument))
            case ast.Call(args=[target, *rest]) if name in _SETTERS:
                named = rest[0] if rest and not _is_text(target) else target
                self.replaces_computed |= not _ends_in_text(named)

    def _namespace_of(self, value: ast.expr) -> None:
        """What becomes the names of an object or module, or is added to them."""
        self.patched.update(_keys(value))
        self.replaces_computed |= not isinstance(value, ast.Dict)

    def _text(self, text: str) -> None:
        names = names_in_text(text)
        self.spelled.update(names)
        if "." in text and not any(character.isspace() for character in text):
            self.taken.update(itertools.pairwise(names))

    def _import_from(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        tail = module.rpartition(".")[2]
        for alias in node.names:
            self.imported.add(alias.name)
            self.taken.add((tail, alias.name))
            if alias.asname:
                self.renamed.add((alias.name, alias.asname))
            origin = f"{'.' * node.level}{module}{'.' if module else ''}{alias.name}"
            self.imports.setdefault(alias.asname or alias.name, set()).add(origin)

    def found(self, stub: bool) -> FileUses:
        on_self = {owner: list(_on_self(owner)) for owner in self.classes}
        own = {id(node) for found in on_self.values() for node in found}
        return FileUses(
            frozenset(self.imported),
            frozenset(self.taken),
            frozenset(self.attributes),
            frozenset(node.attr for node in self.stored if id(node) not in own),
            frozenset(self.patched | self.words if self.replaces_computed else self.patched),
            frozenset(self.spelled),
            frozenset(self.functions) if stub else frozenset(),
            tuple(self._class(node, on_self[node]) for node in self.classes),
            self._bases(),
            self._handed(),
            frozenset(self.renamed),
        )

    @functools.cached_property
    def bound(self) -> set[str]:
        """The names that something else than an import binds."""
        return self.assigned | self.functions | self.captured | {owner.name for owner in self.classes}

    def _origins(self, name: str) -> Iterable[str]:
        """What a name stands for that imports alone bind."""
        if name in self.bound or self.parameters[name]:
            return ()
        return self.imports.get(name) or [star[:-1] + name for star in self.imports.get("*", ())]

    def _starts_with_import(self, node: ast.expr) -> bool:
        root = _root(node)
        if not isinstance(root, ast.Name):
            return is_import(root)
        return root.id in self.imports or (root.id not in self.bound and "*" in self.imports)

    def _bases(self) -> dict[str, frozenset[str]]:
        owners = self._owners()
        made = self.assigned | self.functions | self.captured | self.imports.keys() | self.parameters.keys()
        plain = {owner.name for owner in self.classes if makes_own_objects(owner)} - made
        plain -= {owner.name for owner in self.classes if not makes_own_objects(owner)}
        found: dict[str, set[str]] = {}
        for node in self.based:
            found.setdefault(node.attr, set()).update(self._bases_of(node, owners, plain) or {ANYTHING})
        return {attribute: frozenset(bases) for attribute, bases in found.items()}

    def _bases_of(
        self, node: ast.Attribute, owners: Mapping[ast.Attribute, str], plain: Collection[str]
    ) -> Iterable[str]:
        """What an attribute may be read of; nothing where that may be anything."""
        root = _root(node)
        if is_import(root):
            return (".",)
        if node in owners:
            return (OBJECT_OF + owners[node],)
        if isinstance(root, ast.Name):
            return [origin.partition(".")[0] + "." for origin in self._origins(root.id)]
        match node.value:
            case ast.Call(func=ast.Name(id=name)) if name in plain:
                return (OBJECT_OF + name,)
        return ()

    def _owners(self) -> dict[ast.Attribute, str]:
        """The attributes that methods read of the object they are called on, with the name of its class."""
        found: dict[ast.Attribute, str] = {}
        for owner in self.classes:
            for item in owner.body:
                own = first_parameter(item)
                if own is None or own in self.bound or own in self.imports:
                    continue
                nodes = walk(item)
                if sum(isinstance(node, ast.arg) and node.arg == own for node in nodes) > 1:
                    continue  # a nested function has one of its own
                for node in nodes:
                    match node:
                        case ast.Attribute(value=ast.Name(id=name)) if name == own:
                            found[node] = owner.name
        return found

    def _handed(self) -> frozenset[str]:
        found: set[str] = set()
        for name in self.loaded:
            if name not in self.looked_into:
                found.update(origin.rpartition(".")[2] for origin in self.imports.get(name.id, ()))
                if name.id not in self.bound and "*" in self.imports:
                    found.add(name.id)
        for node in self.based:
            if node not in self.looked_into and self._starts_with_import(node):
                found.add(node.attr)
        for owner in self.classes:
            for item in owner.body:
                found.update(_bound_by(item) if isinstance(item, ast.Import | ast.ImportFrom) else ())
        for call in self.importing:
            if call not in self.looked_into:
                match call.args:
                    case [ast.Constant(value=str(dotted)), *_]:
                        found.add(dotted.rpartition(".")[2])
                    case _:
                        found.add(ANYTHING)
        return frozenset(found)

    def _class(self, node: ast.ClassDef, on_self: Sequence[ast.Attribute]) -> ClassUse:
        defined = frozenset(name for item in _own_nodes(node) for name in _bound_by(item))
        assigned = frozenset(attribute.attr for attribute in on_self)
        bases = tuple(found for base in node.bases if (found := self._base(base)) != frozenset())
        return ClassUse(node.name, node.lineno, bases, defined, assigned)

    def _base(self, node: ast.expr) -> frozenset[str] | None:
        """The dotted names that a base may stand for, none for a builtin; None where it cannot be seen."""
        if isinstance(node, ast.Subscript):
            node = node.value
        suffix = ""
        while isinstance(node, ast.Attribute):
            suffix = f".{node.attr}{suffix}"
            node = node.value
        if not isinstance(node, ast.Name) or node.id in self.assigned | self.functions:
            return None
        name = node.id
        found = {origin + suffix for origin in self.imports.get(name, ())}
        if any(owner.name == name for owner in self.classes):
            if suffix:
                return None
            found.add(name)
        if not found and "*" in self.imports and not suffix and name not in _BUILTINS:
            found = {f"{star.removesuffix('*')}{name}" for star in self.imports["*"]}
        if not found and (suffix or name not in _BUILTINS):
            return None
        return frozenset(found)


def is_import(node: ast.AST) -> bool:
    """Whether an expression imports a module by a name."""
    return isinstance(node, ast.Call) and _last_name(node.func) in IMPORTERS


def makes_own_objects(owner: ast.ClassDef) -> bool:
    """Whether what a call of a class gives is an object of it: no decorator or metaclass makes it another."""
    return not (
        owner.decorator_list
        or owner.keywords
        or any(getattr(item, "name", "") == "__new__" for item in owner.body)
    )


def first_parameter(node: ast.AST) -> str | None:
    """The parameter of a method that stands for the object or class which it is called on."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    positional = [*node.args.posonlyargs, *node.args.args]
    if not positional or any(_last_name(each) == "staticmethod" for each in node.decorator_list):
        return None
    return positional[0].arg


def _own_nodes(owner: ast.ClassDef) -> Iterator[ast.AST]:
    """The nodes of a class body, without those inside its functions, classes and comprehensions."""
    waiting: list[ast.AST] = list(owner.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _WITH_SCOPE):
            waiting.extend(children(node))


def _bound_by(node: ast.AST) -> Iterable[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return (name,)
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return [alias.asname or alias.name.partition(".")[0] for alias in aliases]
    return ()


def _on_self(owner: ast.ClassDef) -> Iterator[ast.Attribute]:
    """The attributes that the methods of a class assign on what they are called on."""
    for item in owner.body:
        own = first_parameter(item)
        for node in walk(item) if own is not None else ():
            match node:
                case ast.Attribute(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()) if name == own:
                    yield node


def _root(node: ast.expr) -> ast.expr:
    """What the first attribute of a chain of them is read of."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def _last_name(node: ast.expr) -> str:
    """The last part of a dotted name; empty for any other expression."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _is_namespace(node: ast.expr) -> bool:
    """Whether an expression is the names that an object or a module holds."""
    match node:
        case ast.Attribute(attr="__dict__"):
            return True
        case ast.Call(func=ast.Name(id="vars" | "globals")):
            return True
    return False


def _keys(node: ast.expr) -> Iterable[str]:
    """The names that a dict has, by its display or by keywords."""
    match node:
        case ast.Dict(keys=keys):
            return [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
        case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
            return [keyword.arg for keyword in keywords if keyword.arg]
    return ()


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _ends_in_text(node: ast.expr) -> bool:
    """Whether a text shows the last of the names in it."""
    if isinstance(node, ast.JoinedStr):
        return bool(node.values) and isinstance(node.values[-1], ast.Constant)
    return isinstance(node, ast.Constant)


def _constant_parts(node: ast.expr) -> Iterable[str]:
    """The texts of a string, or of the constant parts of an f-string."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return [p.value for p in parts if isinstance(p, ast.Constant) and isinstance(p.value, str)]
