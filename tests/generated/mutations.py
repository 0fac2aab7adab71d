"""Random changes of a program's text that leave it a program that does the same, or does not run at all."""

import ast
import builtins
import itertools
import keyword
import re
import tokenize
from collections.abc import Callable, Iterator

from expressions import Draw
from hypothesis import strategies as st
from layout import Splice, Text, blocks, indented_by, laid_out

# Names that the migration uses itself, or that are spelled oddly.
NAMES = ("out", "ctx", "bufcb", "out_buffer", "_", "__", "é", "ﬁ", "jax_", "callback", "x", "match", "Ω")
WRAPPERS = (
    "if True:",
    "with __import__('contextlib').nullcontext():",
    "for _once in range(1):",
    "try:",
    "match 0:\n    case _:",
)


def renamed(text: str, draw: Draw) -> str:
    """A name that the program binds, and nothing but binds and reads, is another one everywhere."""
    bound = sorted(set(_bound(ast.parse(text))) - _other_words(text))
    fresh = [name for name in NAMES if not re.search(rf"\b{name}\b", text)]
    if not bound or not fresh:
        return text
    old, new = draw(st.sampled_from(bound)), draw(st.sampled_from(fresh))
    spliced = Text(text)
    splices = [
        Splice(spliced.offset(token.start), spliced.offset(token.end), new)
        for token in spliced.tokens()
        if token.type == tokenize.NAME and token.string == old
    ]
    for splice in reversed(splices):
        text = splice.of(text)
    return text


def _bound(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _other_words(text: str) -> set[str]:
    """The words that are more than variables: attributes, keywords, imports, and words in strings."""
    words = {"main", *dir(builtins), *keyword.kwlist, *keyword.softkwlist}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute):
            words.add(node.attr)
        elif isinstance(node, ast.keyword) and node.arg:
            words.add(node.arg)
        elif isinstance(node, ast.alias):
            words |= {*re.split(r"\W", node.name), node.asname or ""}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words |= set(re.findall(r"\w+", node.value))
        elif isinstance(node, ast.JoinedStr):
            words |= set(re.findall(r"\w+", ast.unparse(node)))
        elif isinstance(node, ast.ClassDef):
            words |= {name for item in node.body for name in _bound(ast.Module([item], []))}
    return words


def reordered(text: str, draw: Draw) -> str:
    """Two definitions that stand next to each other change places."""
    spliced = Text(text)
    pairs = [
        (a, b)
        for block in blocks(ast.parse(text))
        for a, b in itertools.pairwise(block)
        if _is_definition(a) and _is_definition(b)
    ]
    if not pairs:
        return text
    a, b = draw(st.sampled_from(pairs))
    (start, middle), (again, end) = (_lines(spliced, node) for node in (a, b))
    between = text[middle:again]
    return text[:start] + text[again:end] + between + text[start:middle] + text[end:]


def _is_definition(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.ClassDef)


def _lines(text: Text, node: ast.stmt) -> tuple[int, int]:
    """The offsets of the lines of a definition, its decorators included."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    end = node.end_lineno or 0
    return text.starts[first - 1], text.starts[end] if end < len(text.starts) else len(text.text)


def wrapped_statement(text: str, draw: Draw) -> str:
    """Some statements of a block stand in a block of their own."""
    spliced = Text(text)
    runs = [
        block
        for block in blocks(ast.parse(text))
        if block and all(_owns_lines(spliced, node) for node in block) and not _is_head(block[0])
    ]
    if not runs:
        return text
    block = draw(st.sampled_from(runs))
    first = draw(st.integers(0, len(block) - 1))
    last = draw(st.integers(first, len(block) - 1))
    wrapper = draw(st.sampled_from(WRAPPERS))
    start, end = _lines(spliced, block[first])[0], _lines(spliced, block[last])[1]
    white = re.match(r"[ \t]*", text[start:]).group()  # type: ignore[union-attr]
    inside = text[start:end]
    if not inside.endswith("\n"):
        inside += "\n"
    deeper = "    " * (1 + wrapper.count("\n"))
    lines = [white + line for line in wrapper.split("\n")]
    tail = f"{white}finally:\n{white}    pass\n" if wrapper == "try:" else ""
    return text[:start] + "\n".join(lines) + "\n" + indented_by(inside, deeper) + tail + text[end:]


def _is_head(node: ast.stmt) -> bool:
    """Whether a statement has to stay first: a docstring, or an import of the future."""
    return (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) or (
        isinstance(node, ast.ImportFrom) and node.module == "__future__"
    )


def _owns_lines(text: Text, node: ast.stmt) -> bool:
    start, end = _lines(text, node)
    has_decorator = bool(getattr(node, "decorator_list", []))
    before = "" if has_decorator else text.text[start : text.byte_offset(node.lineno, node.col_offset)]
    after = text.text[text.byte_offset(node.end_lineno or 0, node.end_col_offset or 0) : end].strip()
    return not before.strip() and (not after or after.startswith("#"))


def in_function(text: str, draw: Draw) -> str:
    """The whole program is the body of a function, or of a method."""
    head, body = _head(text)
    inside = f"{indented_by(body, '    ')}\n    return main\n"
    if draw(st.booleans()):
        return f"{head}def program():\n{inside}\n\ndef main():\n    program()()\n"
    inside = indented_by(inside, "    ")
    return f"{head}class Program:\n    def make(self):\n{inside}\n\ndef main():\n    Program().make()()\n"


def _head(text: str) -> tuple[str, str]:
    """The part of the text that has to stay at the top, and the rest."""
    tree, end = ast.parse(text), 0
    for node in tree.body:
        if not _is_head(node):
            break
        end = node.end_lineno or 0
    start = Text(text).starts[end] if end < len(Text(text).starts) else len(text)
    return text[:start], text[start:]


MUTATIONS: dict[str, Callable[[str, Draw], str]] = {
    "renamed": renamed,
    "reordered": reordered,
    "in a block": wrapped_statement,
    "in a function": in_function,
}


@st.composite
def mutated(draw: Draw, text: str) -> tuple[bytes, set[str]]:
    """The bytes of a changed program, and the kinds of changes."""
    features = set()
    for kind in draw(st.lists(st.sampled_from(tuple(MUTATIONS)), max_size=4)):
        new = MUTATIONS[kind](text, draw)
        if new != text and _is_python(new):
            text = new
            features.add(kind)
    data, laid = draw(laid_out(text, ("callback", "return", "def ", "lambda")))
    return data, features | laid


def _is_python(text: str) -> bool:
    try:
        compile(text, "program.py", "exec")
    except (SyntaxError, ValueError):
        return False
    return True
