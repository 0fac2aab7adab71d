"""What `--explain` prints: one page a code, in Markdown, beside this file."""

from __future__ import annotations

import re
from typing import Final

from codemods.diagnostics import CODES, EVERY, LINT_CODES, PLAIN

_BOLD, _RESET = "\x1b[1m", "\x1b[0m"
_FENCE: Final = "```"
_ALL: Final = (PLAIN, *CODES, *LINT_CODES)


def explain(code: str) -> str:
    """The pages of the codes that begin so, in whatever case, or of `ALL` of them.

    Raises:
      KeyError: there is no such code.
    """
    wanted = code.strip().upper()
    found = [known for known in _ALL if wanted == EVERY or known.startswith(wanted)]
    if not wanted or not found:
        raise KeyError(code)
    return "\n".join(map(_read, found))


def coloured(page: str) -> str:
    """A page with its headings in bold, for a terminal."""
    parts = page.split(_FENCE)
    # Every other part is code, where a line with `#` is a comment.
    parts[::2] = [
        re.sub(r"^#+ .*$", rf"{_BOLD}\g<0>{_RESET}", part, flags=re.MULTILINE) for part in parts[::2]
    ]
    return _FENCE.join(parts)


def title(page: str) -> str:
    """What the code means, in a few words."""
    return page.partition("\n")[0].partition(": ")[2]


def summary(page: str) -> str:
    """The first paragraph of a page, on one line."""
    return " ".join(page.split("\n\n")[1].split())


def _read(code: str) -> str:
    from importlib import resources

    return (resources.files(__name__) / f"{code}.md").read_text("utf-8")
