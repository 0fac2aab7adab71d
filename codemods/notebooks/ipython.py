"""A notebook's cell as Python: what only IPython understands is told apart, and Python put in its place.

Commands are found as IPython finds them: at the start of a logical line (`%magic`, `!shell`, `?help`),
behind an assignment (`x = !ls`), at the end of a line (`help?`), and at the top of a cell (`%%magic`). Inside
a string, a bracket or a continued line there are none.
"""

from __future__ import annotations

import ast
import dataclasses
import keyword
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from codemods.apis import APIS

_TOKEN: Final = re.compile(
    r"""(?P<string>\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?''')
    |(?P<unclosed>\"\"\"|''')
    |"(?:\\(?:\r\n|.)|[^"\\\r\n])*"?|'(?:\\(?:\r\n|.)|[^'\\\r\n])*'?
    |\#[^\r\n]*
    |(?P<continued>\\(?:\r\n|\r|\n))
    |(?P<newline>\r\n|\r|\n)
    |(?P<opening>[(\[{])|(?P<closing>[)\]}])
    |[!=<>:+\-*/%@&|^]=|//=|\*\*=|>>=|<<=
    |(?P<assignment>=(?=[ \t\f]*(?:%[ \t]*[^\W\d]|!)))
    |(?P<help>\?\??(?=[ \t\f]*(?:[\r\n]|\Z)))
    |[^\W\d]\w*
    |.""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = re.compile(r"[ \t\f]*(?=[%!?,;/])")
_COMMAND: Final = re.compile(r"(?:[^\r\n\\]|\\(?:\r\n|\r|\n)|\\)*")
_BLANK: Final = re.compile(r"[ \t\f]*")
_CELL_MAGIC: Final = re.compile(
    # Possessive, lest `\r\n` be tried as two line endings as well, in every combination.
    r"(?:[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*+[ \t\f]*%%(?P<name>[\w.!]+)(?![\w?])"
)
_LINE_MAGIC: Final = re.compile(r"%%?[ \t]*(?P<name>[\w.*]*)")
_OPTION: Final = re.compile(r"[ \t]+--?(?P<name>[A-Za-z][\w-]*)(?:=\S*)?(?=\s|\Z)")
_VALUE: Final = re.compile(r"[ \t]+\S+")
_OPTIONS: Final = re.compile(r"(?<!\S)--?[A-Za-z][\w-]*")
_NAME: Final = re.compile(r"(?P<attribute>(?<=[\w)\]]\.))?[^\W\d]\w*")
_EXPANDED: Final = re.compile(r"\{[^{}]*\}|\$\w+")
_FIRST_CODE: Final = re.compile(r"^[ \t\f]*(?=[^\s#])", re.MULTILINE)
_MODULE: Final = re.compile(r"(?P<above>(?:\.\./)*)(?P<path>[^\W\d]\w*(?:/[^\W\d]\w*)*)")

# A name that a definition, an import, a loop or an assignment binds.
_BINDING: Final = re.compile(
    r"\b(?:def|class|import|as|for|global|del)[ \t]+([^\W\d]\w*)"
    r"|([^\W\d]\w*)[ \t]*(?:[,)\]]|:[^=\n]*)?[ \t]*=(?!=)"
)
# Line magics that run the Python behind their options; of these options a value follows.
_RUNS_LINE: Final = {
    "time": "", "timeit": "nrp", "prun": "lsTD", "memit": "rti", "mprun": "fT", "lprun": "fmTDuo",
}  # fmt: skip
# Those of them that run it in a function of their own, which binds no name of the notebook.
_SCRATCH: Final = frozenset({"timeit", "memit"})
# Line magics that take the notebook's names in `{}` and behind `$` alone, and bind none.
_LIKE_SHELL: Final = frozenset(
    """
    alias autoawait autocall automagic autoreload autosave bookmark cat cd clear colors conda config
    connect_info cp debug dhist dirs doctest_mode env gui hist history killbgscripts ldir less lf lk ll
    load_ext logoff logon logstart logstate logstop ls lsmagic lx magic mamba man matplotlib micromamba
    mkdir more mv notebook page pastebin pdb pip popd pprint precision pushd pwd pycat quickref
    reload_ext rm rmdir save set_env shell sx system tb tensorboard tensorflow_version uv watermark who
    who_ls whos xmode unalias unload_ext
    """.split()
)
# Line magics that look at names.
_LOOKS: Final = frozenset("pdef pdoc pfile pinfo pinfo2 psearch psource".split())
# Cell magics that run the cell in the notebook's own namespace, but for those in `_SCRATCH`.
_RUNS_CELL: Final = frozenset(
    "capture debug heat lprun memit memray_flamegraph mprun notify prun pyinstrument scalene snakeviz time "
    "timeit wandb".split()
)
# Cell magics for other languages, whose first line may name what they bind.
_OTHER_LANGUAGE: Final = frozenset(
    "! HTML R SVG bash bigquery cmd html javascript js julia latex markdown perl powershell ruby script sh "
    "shell sql svg sx system".split()
)
# Cell magics for Python that runs elsewhere, whose names are not the notebook's.
_ELSEWHERE: Final = frozenset("file pypy python python2 python3 writefile".split())

Fresh = Callable[[], str]
"""Makes a name that nothing else has."""


@dataclasses.dataclass(frozen=True, slots=True)
class Piece:
    """A span of a cell's text.

    Attributes:
      python: what stands for it; None where it is Python as it is.
      is_prefix: whether it is a magic that runs the rest of its line.
    """

    start: int
    end: int
    python: str | None = None
    is_prefix: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Code:
    """A cell as Python.

    Attributes:
      pieces: spans that cover the whole text, in order.
      bound: the names that commands may bind.
      header: a line to put in front, so that code which is indented from its first line on can be parsed.
      is_scratch: whether the names that the cell binds are gone when it ends.
      runs_files: whether it runs other files in the notebook's namespace.
      unread: start, end and command of what is not read, but may be Python.
      is_open: whether its last string, bracket or line is not finished, so that it cannot be parsed.
    """

    pieces: tuple[Piece, ...]
    bound: tuple[str, ...] = ()
    header: str = ""
    is_scratch: bool = False
    runs_files: bool = False
    unread: tuple[tuple[int, int, str], ...] = ()
    is_open: bool = False


def read(text: str, fresh: Fresh) -> Code:
    """Reads one code cell.

    One that cannot be parsed, such as a pasted output, has never run. All the same it is taken to bind what
    it may be meant to. If it spells an API to migrate, it stays what it is: a syntax error.
    """
    code = _Reader(text, fresh).code()
    if _is_python(text, code) or any(api.name in text for api in APIS):
        return code
    names = tuple(dict.fromkeys(one or other for one, other in _BINDING.findall(text)))
    stand_in = f"{fresh()}({', '.join(map(repr, dict.fromkeys(_words(text))))})"
    bound = tuple(name for name in names if not keyword.iskeyword(name))
    return Code((Piece(0, len(text), stand_in),), bound, runs_files=code.runs_files)


def _is_python(text: str, code: Code) -> bool:
    """Whether a cell can be parsed on its own."""
    lines = "".join(text[p.start : p.end] if p.python is None else p.python for p in code.pieces)
    return not code.is_open and _parses(f"{code.header}\n{lines}\npass")


class _Reader:
    def __init__(self, text: str, fresh: Fresh) -> None:
        self._text, self._fresh = text, fresh
        self._pieces: list[Piece] = []
        self._bound: dict[str, None] = {}
        self._unread: list[tuple[int, int, str]] = []
        self._is_scratch = self._runs_files = False

    def code(self) -> Code:
        start = self._cell_magics()
        is_open = False
        if start < len(self._text):
            if start == 0 and self._is_automagic():
                name, _, arguments = self._text.strip().partition(" ")
                self._magic(name, 0, len(self._text), arguments)
            else:
                is_open = self._body(start)
        indent = _FIRST_CODE.search(self._text) if not start else None
        return Code(
            tuple(self._covering()),
            tuple(self._bound),
            f"if {self._fresh()}:" if indent and indent.group() else "",
            self._is_scratch,
            self._runs_files,
            tuple(self._unread),
            is_open,
        )

    def _covering(self) -> Iterator[Piece]:
        """The pieces, and the Python between them."""
        position = 0
        for piece in self._pieces:
            if position < piece.start:
                yield Piece(position, piece.start)
            yield piece
            position = piece.end
        if position < len(self._text):
            yield Piece(position, len(self._text))

    # Whole cells.

    def _cell_magics(self) -> int:
        """Reads the cell magics at the top; the offset at which Python follows."""
        start = 0
        while (found := _CELL_MAGIC.match(self._text, start)) is not None:
            name = found["name"]
            line = _COMMAND.match(self._text, found.end())
            assert line is not None
            if name not in _RUNS_CELL:
                self._other_cell(name, found.start("name") - 2, line.group())
                return len(self._text)
            self._is_scratch |= name in _SCRATCH
            words = _words(line.group())
            self._bind(line.group())
            self._stand_in(found.start("name") - 2, line.end(), self._call(words))
            start = line.end()
        return start

    def _other_cell(self, name: str, start: int, line: str) -> None:
        """A cell whose body is not the notebook's Python."""
        if name in _OTHER_LANGUAGE:
            self._bind(line)
            self._stand_in(start, len(self._text), self._call(_words(line)))
        elif name in _ELSEWHERE:
            self._bind(line if name.startswith("py") else "")
            self._unread.append((start, len(self._text), f"%%{name}"))
            self._stand_in(start, len(self._text), self._call(_words(line)))
        else:
            self._opaque(start, len(self._text), f"%%{name}", self._text[start + len(name) + 2 :])

    def _is_automagic(self) -> bool:
        """Whether the text is one line such as `pip install jax`, to which IPython adds the `%`."""
        text = self._text.strip()
        name = text.partition(" ")[0]
        is_known = name in _LIKE_SHELL or name in _LOOKS or name in _RUNS_LINE
        return is_known and len(text.splitlines()) == 1 and not _parses(text)

    # Lines.

    def _body(self, position: int) -> bool:
        """Reads Python with commands in it; whether it ends in the middle of something."""
        depth, line_start, is_continued = 0, position, False
        starts_line = True
        while position < len(self._text):
            if starts_line and (found := _ESCAPE.match(self._text, position)) is not None:
                position = self._line(found.end())
                starts_line = False  # the line ending comes next
                continue
            if starts_line:
                blank = _BLANK.match(self._text, position)
                assert blank is not None
                position = line_start = blank.end()
                starts_line = False
                continue
            token = _TOKEN.match(self._text, position)
            assert token is not None
            kind, position, is_continued = token.lastgroup, token.end(), False
            if kind == "unclosed":
                return True
            if kind == "newline":
                starts_line = depth == 0
            elif kind == "opening":
                depth += 1
            elif kind == "closing":
                depth = max(0, depth - 1)
            elif kind == "continued":
                is_continued = True
            elif kind == "assignment" and depth == 0:
                position = self._assigned(token.end())
            elif kind == "help" and depth == 0:
                self._stand_in(line_start, position, self._call(_words(self._text[line_start:position])))
        return depth > 0 or is_continued

    def _line(self, start: int) -> int:
        """Reads a command that is a line; the offset of its end."""
        end = self._command_end(start)
        text = self._text[start:end]
        magic = _LINE_MAGIC.match(text) if text.startswith("%") else None
        if text.startswith("!"):
            self._stand_in(start, end, self._call(_expanded(text)))
        elif magic is None:
            self._stand_in(start, end, self._call(_words(text)))
        elif magic["name"] in ("run", "pylab"):
            self._star_import(magic["name"], start, end, text[magic.end() :])
        elif not (magic["name"] in _RUNS_LINE and self._runs_line(magic["name"], start, magic.end(), text)):
            self._magic(magic["name"], start, end, text[magic.end() :])
        return end

    def _assigned(self, start: int) -> int:
        """Reads a command whose result is assigned; the offset of its end."""
        blank = _BLANK.match(self._text, start)
        assert blank is not None
        end = self._command_end(blank.end())
        text = self._text[blank.end() : end]
        magic = _LINE_MAGIC.match(text)
        if magic is None:
            self._stand_in(blank.end(), end, self._call(_expanded(text)))
        else:
            self._magic(magic["name"], blank.end(), end, text[magic.end() :])
        return end

    def _magic(self, name: str, start: int, end: int, arguments: str) -> None:
        if name in _LIKE_SHELL:
            self._stand_in(start, end, self._call(_expanded(arguments)))
        elif name in _LOOKS or name.endswith("?") or arguments.rstrip().endswith("?"):
            self._stand_in(start, end, self._call(_words(arguments)))
        else:
            self._opaque(start, end, f"%{name}", arguments)

    def _runs_line(self, name: str, start: int, position: int, text: str) -> bool:
        """Reads a line magic that runs Python; false where that is no statement which fits on its line."""
        behind = _skip_options(text, position, _RUNS_LINE[name])
        blank = _BLANK.match(text, behind)
        assert blank is not None
        call = self._call(_words(text[position:behind]))
        # Under an `if`, an import is no sure one.
        prefix = f"if {call}: " if name in _SCRATCH else f"{call}; "
        if not text[blank.end() :].strip() or not _parses(prefix + text[blank.end() :]):
            return False
        self._pieces.append(Piece(start, start + blank.end(), prefix, is_prefix=True))
        return True

    def _star_import(self, name: str, start: int, end: int, arguments: str) -> None:
        """`%run file` and `%pylab` fill the notebook's namespace."""
        self._runs_files |= name == "run"
        module = _module_run(arguments) if name == "run" else "pylab"
        star = f"; from {module} import *" if module else ""
        self._stand_in(start, end, self._call(_words(arguments)) + star)

    # What stands for commands.

    def _command_end(self, start: int) -> int:
        found = _COMMAND.match(self._text, start)
        assert found is not None
        return found.end()

    def _opaque(self, start: int, end: int, command: str, text: str) -> None:
        """A command that may do whatever it likes with the names in its text."""
        self._unread.append((start, end, command))
        self._bind(text)
        self._stand_in(start, end, self._call(_words(text)))

    def _bind(self, text: str) -> None:
        for found in _NAME.finditer(_OPTIONS.sub("", text)):
            if found["attribute"] is None and not keyword.iskeyword(found.group()):
                self._bound[found.group()] = None

    def _call(self, names: Iterable[str]) -> str:
        """A call of nothing known. Strings spell the names, as a string of the program itself might."""
        return f"{self._fresh()}({', '.join(repr(name) for name in dict.fromkeys(names))})"

    def _stand_in(self, start: int, end: int, python: str) -> None:
        self._pieces.append(Piece(start, end, python))


def _words(text: str) -> list[str]:
    """The names in a text, options apart."""
    return [found.group() for found in _NAME.finditer(_OPTIONS.sub("", text))]


def _expanded(text: str) -> list[str]:
    """The names that IPython looks up in the text of a shell command."""
    return [name for part in _EXPANDED.findall(text) for name in _words(part)]


def _skip_options(text: str, position: int, valued: str) -> int:
    """The offset behind the options that start at `position`."""
    while (found := _OPTION.match(text, position)) is not None:
        position = found.end()
        if found["name"] in valued and (value := _VALUE.match(text, position)) is not None:
            position = value.end()
    return position


def _module_run(arguments: str) -> str | None:
    """The module that `%run` runs, as an import in the notebook would name it; None where none could."""
    words = re.findall(r"\"[^\"]*\"|'[^']*'|\S+", arguments)
    if "-m" in words[:-1]:
        path = words[words.index("-m") + 1].replace(".", "/")
    else:
        path = next((word.strip("\"'") for word in words if not word.startswith("-")), "")
        path = path.removeprefix("./").removesuffix(".py").removesuffix(".ipynb")
    found = _MODULE.fullmatch(path)
    if found is None or any(map(keyword.iskeyword, found["path"].split("/"))):
        return None
    above = "." * (found["above"].count("/") + 1) if found["above"] else ""
    return above + found["path"].replace("/", ".")


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
