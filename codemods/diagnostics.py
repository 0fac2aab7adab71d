"""The stable diagnostic codes, each with its one-line title.

`BC0xx` notes, `BC1xx` adapted because, `BC2xx` refused because, `BCLxxx` findings of the audit. A code is
never reused.
"""

from __future__ import annotations

from typing import Final

CODES: Final[dict[str, str]] = {
    # Notes.
    "BC001": "a sibling function is added",
    "BC002": "arguments are copied",
    "BC003": "another API of the same name",
    "BC004": "suppressed by a comment",
    "BC005": "unused suppression",
    "BC006": "`pure_callback` or `io_callback` named in a string",
    "BC007": "NumPy arithmetic taken by choice",
    "BC008": "float arithmetic moves from JAX to NumPy",
    "BC009": "a docstring describes the result that is written now",
    "BC010": "left alone by `--select` or `--ignore`",
    "BC011": "an API to migrate in a command that is not read",
    # Adapted because.
    "BC101": "the callback's definition is not in sight",
    "BC102": "the callback is a library function",
    "BC103": "the callback uses JAX",
    "BC104": "an argument's arithmetic differs between JAX and NumPy",
    "BC105": "the callback writes into an argument",
    "BC106": "a return stands where a write would change meaning",
    "BC107": "the callback is decorated",
    "BC108": "a def cannot stand for this lambda",
    "BC109": "the callback is a generator or a coroutine",
    "BC110": "`pure_callback` is used as a value",
    "BC111": "an argument is handed to code out of sight",
    "BC112": "an argument outlives the call as a JAX array",
    "BC113": "the callback asks for an argument's type",
    "BC114": "the callback's name has several definitions",
    "BC115": "the callback's signature cannot take `ctx, out`",
    "BC116": "the arguments of the call cannot be sorted out",
    "BC117": "`--arrays jax` was given",
    "BC118": "the callback reads its own names at run time",
    "BC119": "an argument may be a typed random key",
    # Refused because.
    "BC201": "the origin of this `pure_callback` or `io_callback` is unknown",
    "BC202": "the call lacks a callback or a spec",
    "BC203": "`pure_callback` or `io_callback` is re-exported to other modules",
    "BC204": "no place for the import",
    "BC205": "the migrated text does not parse",
    "BC207": "only the bufcb runtime could adapt this call",
    "BC206": "`pure_callback` or `io_callback` is replaced at run time",
    "BC208": "`vectorized=` is an old option or an argument",
    "BC209": "code that must change is nested too deeply",
    "BC210": "`io_callback` is ordered, or may be",
    "BC211": "`io_callback` is used as a value",
    # Gradients.
    "BC301": "the call is differentiated, and has no derivative",
    "BC302": "code out of sight may differentiate the call",
    "BC303": "a derivative was added, which is yet to be filled in",
    "BC304": "a derivative was added",
    "BC305": "no derivative can be added",
}

LINT_CODES: Final[dict[str, str]] = {
    "BCL000": "unused suppression of a finding",
    "BCL001": "the callback returns a value",
    "BCL002": "an output is not written on some path",
    "BCL003": "an output is rebound instead of written",
    "BCL004": "a buffer is kept after the call",
    "BCL005": "an input is written to",
    "BCL006": "the callback's signature does not fit",
    "BCL007": "a buffer callback is differentiated without a rule",
    "BCL008": "the callback uses JAX",
    "BCL009": "a buffer of JAX's own is used as an array",
    "BCL010": "NumPy views a buffer in code for GPUs",
    "BCL011": "a callback for command buffers has side effects in Python",
    "BCL012": "an alias is out of range",
}
"""The codes of `bufcb-lint`; each of the others is one of `bufcb-migrate`."""

PLAIN: Final = "BC000"
"""What a plain rewrite, which has nothing to say and hence no code, is called where codes are chosen."""

EVERY: Final = "ALL"
"""Stands for every code where codes are chosen."""


def near(text: str) -> str:
    """The end of a sentence about an unknown code: which ones look like it, if any do."""
    import difflib

    found = difflib.get_close_matches(text, (EVERY, PLAIN, *CODES, *LINT_CODES), n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(sorted(found))}?" if found else "."


def title(code: str) -> str:
    """The title of a code of either command; empty for one that is unknown, or has nothing to say."""
    return CODES.get(code) or LINT_CODES.get(code, "")
