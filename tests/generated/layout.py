"""Random changes of a program's layout that leave its syntax tree as it is."""

import ast
import codecs
import dataclasses
import io
import itertools
import re
import tokenize
import warnings
from collections.abc import Callable, Iterator

from expressions import Draw
from hypothesis import strategies as st

NEWLINES = ("\n", "\r\n", "\r")
INDENTS = ("    ", "\t", "  ", " ", "        ")
COOKIES = (None, "utf-8", "latin-1", "utf-8-sig", "cp1252")
COMMENTS = ("# note", "# é: ü", "#", "#: jax.pure_callback(f, s, x)", "# type: ignore", "# \t )")
_BETWEEN = {getattr(tokenize, name) for name in "NL NEWLINE INDENT DEDENT ENDMARKER COMMENT".split()}
# Newer Pythons have more tokens for parts of strings.
_STRINGS = [kind for kind, name in tokenize.tok_name.items() if name in ("STRING", "FSTRING_MIDDLE")]
PARENTHESES = (("(", ")"), ("( ", " )"), ("(\n", ")"), ("(  # why\n  ", "\n)"), ("((", "))"))
WRAPPABLE = (ast.Name, ast.Attribute, ast.Call, ast.BinOp, ast.Lambda, ast.IfExp, ast.Dict)
_OPEN, _CLOSE = "([{", ")]}"


@dataclasses.dataclass(frozen=True)
class Text:
    """A text with `\\n` endings, and its tokens."""

    text: str

    def __post_init__(self) -> None:
        starts = [0, *(match.end() for match in re.finditer("\n", self.text))]
        object.__setattr__(self, "starts", starts)

    def offset(self, place: tuple[int, int]) -> int:
        return self.starts[place[0] - 1] + place[1]

    def byte_offset(self, line: int, column: int) -> int:
        """The offset of a place of `ast`, whose columns count bytes."""
        text = self.text[self.starts[line - 1] :].split("\n", 1)[0]
        return self.starts[line - 1] + len(text.encode()[:column].decode())

    def tokens(self) -> list[tokenize.TokenInfo]:
        """The tokens outside of f-strings, which older Pythons take for one token."""
        found, inside = [], 0
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            kind = tokenize.tok_name[token.type]
            inside += (kind == "FSTRING_START") - (kind == "FSTRING_END")
            if not inside and not kind.startswith("FSTRING"):
                found.append(token)
        return found

    def tree(self) -> ast.Module:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(self.text)


@dataclasses.dataclass(frozen=True)
class Splice:
    start: int
    end: int
    new: str

    def of(self, text: str) -> str:
        return text[: self.start] + self.new + text[self.end :]


def _gaps(text: Text) -> Iterator[tuple[tokenize.TokenInfo, tokenize.TokenInfo, int]]:
    """Neighbouring tokens of one logical line, with how many brackets are open between them."""
    tokens, level = text.tokens(), 0
    for a, b in itertools.pairwise(tokens):
        if a.type == tokenize.OP:
            level += (a.string in _OPEN) - (a.string in _CLOSE)
        if a.type not in _BETWEEN and b.type not in _BETWEEN:
            yield a, b, level


def breaks_in_brackets(text: Text, draw: Draw) -> list[Splice]:
    comment = draw(st.sampled_from(("", "", *COMMENTS)))
    new = f"{'  ' * bool(comment)}{comment}\n{draw(st.sampled_from(('', '        ', '  ', chr(9))))}"
    return [
        Splice(text.offset(a.end), text.offset(b.start), new)
        for a, b, level in _gaps(text)
        if level and (a.string in (*_OPEN, ",") or b.string in _CLOSE)
    ]


def backslashes(text: Text, draw: Draw) -> list[Splice]:
    new = f" \\\n{draw(st.sampled_from(('', '    ', '          ')))}"
    return [
        Splice(text.offset(a.end), text.offset(b.start), new)
        for a, b, _ in _gaps(text)
        if a.end[0] == b.start[0]
    ]


def spaces(text: Text, draw: Draw) -> list[Splice]:
    space = draw(st.sampled_from((" ", "  ", "\t", "\f", " \\\n ")))
    return [
        Splice(text.offset(a.end), text.offset(a.end), space)
        for a, b, _ in _gaps(text)
        if a.type == tokenize.OP or b.type == tokenize.OP
    ]


def no_spaces(text: Text, draw: Draw) -> list[Splice]:
    return [
        Splice(text.offset(a.end), text.offset(b.start), "")
        for a, b, _ in _gaps(text)
        if a.end[0] == b.start[0]
        and a.end != b.start
        and (a.type == tokenize.OP or b.type == tokenize.OP)
        and not {a.string, b.string} & {":=", "=", ".", "..."}
    ]


def trailing_comments(text: Text, draw: Draw) -> list[Splice]:
    comment = draw(st.sampled_from(("  ", *COMMENTS)))
    tokens = text.tokens()
    return [
        Splice(text.offset(b.start), text.offset(b.start), f"  {comment}")
        for a, b in itertools.pairwise(tokens)
        if b.type == tokenize.NEWLINE and a.type != tokenize.COMMENT
    ]


def lines_between(text: Text, draw: Draw) -> list[Splice]:
    """Comments, empty lines and form feeds in front of statements."""
    line = draw(st.sampled_from(("", "   ", "\f", *COMMENTS)))
    places = [text.starts[s.lineno - 1] for s in statements(text.tree()) if _starts_line(text, s)]
    return [Splice(p, p, f"{line}\n") for p in places] + [
        Splice(p, p, f"{_white(text.text[p:])}{line}\n") for p in places if line.startswith("#")
    ]


def semicolons(text: Text, draw: Draw) -> list[Splice]:
    """Two simple statements on one line."""
    between = draw(st.sampled_from(("; ", ";", " ; ")))
    return [
        Splice(end, start, between)
        for block in blocks(text.tree())
        for a, b in itertools.pairwise(block)
        if is_simple(a) and is_simple(b)
        if not text.text[(end := _end(text, a)) : (start := _start(text, b))].strip()
        and "\n" in text.text[end:start]
    ]


def one_line_blocks(text: Text, draw: Draw) -> list[Splice]:
    """The statement of a block on the line of its header."""
    found = []
    for statement in statements(text.tree()):
        body = getattr(statement, "body", None)
        if not isinstance(body, list) or len(body) != 1 or not is_simple(body[0]):
            continue
        start = _start(text, body[0])
        head = text.text[:start].rstrip()
        if head.endswith(":") and "\n" in text.text[len(head) : start]:
            found.append(Splice(len(head), start, draw_space(draw)))
    return found


def draw_space(draw: Draw) -> str:
    return draw(st.sampled_from((" ", "  ")))


def parentheses(text: Text, draw: Draw) -> list[Splice]:
    left, right = draw(st.sampled_from(PARENTHESES))
    return [
        Splice(start, end, f"{left}{text.text[start:end]}{right}")
        for node in _wrappable(text.tree())
        if (start := text.byte_offset(node.lineno, node.col_offset)) is not None
        and (end := text.byte_offset(node.end_lineno or 0, node.end_col_offset or 0))
    ]


def _wrappable(tree: ast.AST) -> Iterator[ast.expr]:
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.JoinedStr | ast.pattern):
            continue
        if (
            isinstance(child, WRAPPABLE)
            and isinstance(getattr(child, "ctx", ast.Load()), ast.Load)
            and not isinstance(tree, ast.FunctionDef | ast.ClassDef)
        ):
            yield child
        yield from _wrappable(child)


def _starts_line(text: Text, statement: ast.stmt) -> bool:
    return not text.text[text.starts[statement.lineno - 1] : _start(text, statement)].strip(" \t\f")


def _white(text: str) -> str:
    return text[: len(text) - len(text.lstrip(" \t"))]


def statements(tree: ast.AST) -> Iterator[ast.stmt]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.stmt) and not _decorated(node))


def _decorated(node: ast.stmt) -> bool:
    return bool(getattr(node, "decorator_list", []))


def blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            if isinstance(block := getattr(node, field, None), list):
                yield block


def is_simple(statement: ast.stmt) -> bool:
    return not hasattr(statement, "body") and not isinstance(statement, ast.Match)


def _start(text: Text, node: ast.stmt) -> int:
    return text.byte_offset(node.lineno, node.col_offset)


def _end(text: Text, node: ast.stmt) -> int:
    return text.byte_offset(node.end_lineno or 0, node.end_col_offset or 0)


CHANGES: dict[str, Callable[[Text, Draw], list[Splice]]] = {
    "trailing comment": trailing_comments,
    "line between": lines_between,
    "break in brackets": breaks_in_brackets,
    "semicolon": semicolons,
    "one-line block": one_line_blocks,
    "backslash": backslashes,
    "spaces": spaces,
    "no space": no_spaces,
    "parentheses": parentheses,
}


def reindented(text: str, indent: str) -> str:
    """The text with another indentation; what continues a line, or stands in a string, keeps its own."""
    lines, level, fresh = text.split("\n"), 0, True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.INDENT:
            level += 1
        elif token.type == tokenize.DEDENT:
            level -= 1
        elif token.type == tokenize.NEWLINE:
            fresh = True
        elif token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.ENDMARKER) and fresh:
            line = token.start[0] - 1
            lines[line] = indent * level + lines[line][token.start[1] :]
            fresh = False
    return "\n".join(lines)


def indented_by(text: str, white: str) -> str:
    """The lines of a text behind some more white space, but for those that continue a string."""
    inside = set()
    for token in tokenize.generate_tokens(io.StringIO(_as_block(text)).readline):
        if token.start[0] != token.end[0] and token.type in _STRINGS:
            inside.update(range(token.start[0] + 1, token.end[0] + 1))
    first = 1 if _as_block(text) is text else 0
    lines = text.split("\n")
    return "\n".join(
        white + line if line.strip() and number + (not first) not in inside else line
        for number, line in enumerate(lines, 1)
    )


def _as_block(text: str) -> str:
    """A text that starts with an indented line is no Python without a header."""
    return f"if True:\n{text}" if text[:1] in " \t" else text


@st.composite
def laid_out(draw: Draw, text: str, focus: tuple[str, ...] = ()) -> tuple[bytes, set[str]]:
    """The bytes of a program laid out anew, and the kinds of changes made.

    Half of the changes are made where one of the words `focus` stands.
    """
    tree, features = ast.dump(ast.parse(text)), set()
    indent = draw(st.sampled_from(INDENTS))
    if indent != INDENTS[0]:
        text = reindented(text, indent)
        features.add("tabs" if indent == "\t" else "other indentation")
    for kind in draw(st.lists(st.sampled_from(tuple(CHANGES)), max_size=10)):
        splices = CHANGES[kind](Text(text), draw)
        if focus and draw(st.booleans()):
            splices = [splice for splice in splices if _is_near(text, splice, focus)] or splices
        if splices:
            new = splices[draw(st.integers(0, len(splices) - 1))].of(text)
            if _dump(new) == tree:
                text = new
                features.add(kind)
    return _encoded(draw, text, features), features


def _is_near(text: str, splice: Splice, words: tuple[str, ...]) -> bool:
    around = text[max(0, splice.start - 60) : splice.end + 60]
    return any(word in around for word in words)


def _dump(text: str) -> str:
    try:
        return ast.dump(Text(text).tree())
    except SyntaxError:
        return ""


def _encoded(draw: Draw, text: str, features: set[str]) -> bytes:
    encoding = draw(st.sampled_from(COOKIES))
    newline = draw(st.sampled_from(NEWLINES))
    if draw(st.sampled_from((False, False, True))):
        text = text.rstrip("\n")
        features.add("no newline at the end")
    if newline != "\n":
        features.add("CRLF" if newline == "\r\n" else "CR")
    if encoding is not None:
        text = f"# -*- coding: {encoding.removesuffix('-sig')} -*-\n{text}"
        features.add(encoding)
    try:
        data = text.replace("\n", newline).encode(encoding or "utf-8")
    except UnicodeEncodeError:
        data = text.replace("\n", newline).replace(f"coding: {encoding}", "coding: utf-8").encode()
    assert not data.startswith(codecs.BOM_UTF8 * 2)
    return data
