"""The run as a log in the Static Analysis Results Interchange Format, version 2.1.0."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from codemods.diagnostics import CODES, LINT_CODES, PLAIN
from codemods.model import FileResult, Hop
from codemods.report.entries import Entry, entries, failure
from codemods.report.run import Run, source_of
from codemods.source import SourceFile

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT: Final = "%SRCROOT%"
# The order is that in which they are tried, as Python does.
_NEWLINES: Final = ("\r\n", "\r", "\n")
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
# Names what is hashed. One that is computed in another way gets another name.
_FINGERPRINT: Final = "callSiteText/v1"
_FAILURE: Final = "failure"

Object = dict[str, Any]


def to_sarif(run: Run) -> str:
    """The run as one log, in ASCII."""
    import json

    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [_run(run)]}
    return json.dumps(log, indent=2)


def _run(run: Run) -> Object:
    failures = [file for file in run.files if file.error is not None]
    rules = tuple(LINT_CODES) if run.is_audit else (PLAIN, *CODES)
    sources = list(map(source_of, run.files))
    return {
        "tool": {"driver": _driver(rules)},
        "invocations": [
            {
                "executionSuccessful": not failures,
                "toolExecutionNotifications": [_notification(file) for file in failures],
            }
        ],
        **_base(),
        "artifacts": list(map(_artifact, run.files, sources)),
        "results": [
            result
            for index, (file, source) in enumerate(zip(run.files, sources, strict=True))
            for result in _results(file, source, index, rules, written=run.written)
        ],
        "columnKind": "unicodeCodePoints",
        "newlineSequences": list(_NEWLINES),
        "defaultEncoding": "UTF-8",
        "defaultSourceLanguage": "python",
    }


# The tool.


def _driver(rules: Sequence[str]) -> Object:
    from importlib import metadata

    return {
        "name": "bufcb",
        "version": metadata.version("bufcb"),
        "rules": [_rule(code) for code in rules],
        "notifications": [
            {"id": _FAILURE, "shortDescription": {"text": "A path could not be processed."}},
        ],
    }


def _rule(code: str) -> Object:
    from codemods import pages

    page = pages.explain(code)
    return {
        "id": code,
        "shortDescription": _text(pages.title(page)),
        "fullDescription": _text(pages.summary(page)),
        "help": {**_text(page), "markdown": _text(page)["text"]},
        "defaultConfiguration": {"level": "warning" if code.startswith(("BC2", "BCL")) else "note"},
    }


def _text(text: str) -> Object:
    """A message; in one, braces stand for placeholders unless they are doubled."""
    return {"text": text.replace("{", "{{").replace("}", "}}")}


def _message(text: str) -> Object:
    """A message about code, where brackets in front of parentheses are no link."""
    return _text(text.replace("](", "] ("))


# Files.


def _base() -> Object:
    """The folder that relative locations are relative to, where there is one."""
    try:
        folder = Path.cwd().as_uri()
    except OSError:
        return {}
    return {"originalUriBaseIds": {_ROOT: {"uri": folder.rstrip("/") + "/"}}}


def _artifact(file: FileResult, source: SourceFile | None) -> Object:
    import hashlib

    artifact: Object = {"location": _location(file.path), "roles": ["analysisTarget"]}
    if file.before:
        artifact["length"] = len(file.before)
        artifact["hashes"] = {"sha-256": hashlib.sha256(file.before).hexdigest()}
    if source is not None and source.encoding != "utf-8":
        artifact["encoding"] = source.encoding.upper()
    return artifact


def _location(path: Path) -> Object:
    """A location that is relative wherever the file is below the current folder, and normalised if not."""
    from urllib.parse import quote

    if ".." in path.parts:  # behind a symbolic link, that is not the folder which the text suggests
        path = Path(os.path.realpath(path))
    if path.is_absolute():
        try:
            path = path.relative_to(Path.cwd())
        except (OSError, ValueError):
            return {"uri": path.as_uri()}
    return {"uri": quote(os.fsencode(path.as_posix())), "uriBaseId": _ROOT}


def _notification(file: FileResult) -> Object:
    line, reason = failure(file)
    place: Object = {"artifactLocation": _location(file.path)}
    if line is not None:
        place["region"] = {"startLine": line}
    return {
        "descriptor": {"id": _FAILURE, "index": 0},
        "level": "error",
        "message": _message(reason),
        "locations": [{"physicalLocation": place}],
    }


# Results.


def _results(
    file: FileResult, source: SourceFile | None, index: int, rules: Sequence[str], *, written: bool
) -> Iterator[Object]:
    """One result an entry. The first whose place is changed has the file's changes as its fix.

    Changes are of the whole file, whose call sites share callbacks and imports: a fix for each would be
    applied as often as there are call sites.
    """
    lines = _LINE.findall(source.own_text) if source else []
    location = {**_location(file.path), "index": index}
    fix = None if written or source is None or not file.changed else _fix(file, source, lines, location)
    seen: Counter[str] = Counter()
    for entry in entries(file, written=written):
        result = _result(entry, location, rules)
        fingerprint = _fingerprint(entry, lines)
        seen[fingerprint] += 1
        result["partialFingerprints"] = {_FINGERPRINT: f"{fingerprint}:{seen[fingerprint]}"}
        is_fixed = entry.fixable or (entry.site is not None and entry.site.status in ("rewritten", "adapted"))
        if fix is not None and is_fixed:
            result["fixes"], fix = [fix], None
        yield result


def _place(entry: Entry, location: Object) -> Object:
    if entry.cell:
        return {
            "physicalLocation": {"artifactLocation": location},
            "logicalLocations": [{"name": entry.place}],
        }
    region = {
        "startLine": entry.line,
        "startColumn": entry.column,
        "endLine": entry.end_line,
        "endColumn": entry.end_column,
    }
    known = {key: value for key, value in region.items() if value is not None}
    return {"physicalLocation": {"artifactLocation": location, "region": known}}


def _result(entry: Entry, location: Object, rules: Sequence[str]) -> Object:
    result: Object = {
        "ruleId": entry.code,
        "ruleIndex": rules.index(entry.code),
        "level": entry.level,
        "message": _message(entry.text),
        "locations": [_place(entry, location)],
        "suppressions": [{"kind": entry.suppression}] if entry.suppression else [],
    }
    if entry.level == "none":
        result["kind"] = "notApplicable"
    if entry.hops:
        result["codeFlows"] = [{"threadFlows": [{"locations": [_step(hop) for hop in entry.hops]}]}]
    if entry.site is not None:
        result["properties"] = {
            "status": entry.site.status.value,
            "callback": entry.site.callback,
            "gradient": entry.site.gradient.value,
        }
    return result


def _step(hop: Hop) -> Object:
    """A step of the way from a transform to a call site."""
    place: Object = {"artifactLocation": _location(hop.path)}
    location: Object = {"physicalLocation": place, "message": _message(hop.name)}
    if hop.cell is not None:
        location["logicalLocations"] = [{"name": f"cell {hop.cell}, line {hop.line}"}]
    elif hop.line:
        place["region"] = {"startLine": hop.line}
    return {"location": location}


def _fingerprint(entry: Entry, lines: Sequence[str]) -> str:
    """A hash of what is remarked on what text, which stays when that moves or is indented anew."""
    import hashlib

    at = [] if entry.cell else lines[entry.line - 1 : entry.end_line or entry.line]
    text = " ".join(word for line in at for word in line.split()) or entry.text
    return hashlib.sha256(f"{entry.code} {text}".encode(errors="surrogatepass")).hexdigest()[:32]


# Fixes.


def _fix(file: FileResult, source: SourceFile, lines: Sequence[str], location: Object) -> Object:
    if source.encoding == "utf-8":
        after = SourceFile.from_bytes(file.path, file.after).own_text
        replacements = list(_text_replacements(lines, _LINE.findall(after)))
    else:
        replacements = [_binary_replacement(file.before, file.after)]
    return {
        "description": {"text": "Change this file as the command does."},
        "artifactChanges": [{"artifactLocation": location, "replacements": replacements}],
    }


def _text_replacements(before: Sequence[str], after: Sequence[str]) -> Iterator[Object]:
    """The lines that change, whole lines with their ends."""
    import difflib

    def position(index: int) -> tuple[int, int]:
        # Behind the last character there is no line: a column is counted on its line.
        return (index + 1, 1) if index < len(before) else (len(before), len(before[-1]) + 1)

    for tag, start, end, new_start, new_end in difflib.SequenceMatcher(None, before, after).get_opcodes():
        if tag != "equal":
            (line, column), (end_line, end_column) = position(start), position(end)
            yield {
                "deletedRegion": {
                    "startLine": line,
                    "startColumn": column,
                    "endLine": end_line,
                    "endColumn": end_column,
                },
                "insertedContent": {"text": "".join(after[new_start:new_end])},
            }


def _binary_replacement(before: bytes, after: bytes) -> Object:
    """What differs, in bytes: a text is applied only by who knows the file's encoding."""
    import base64

    prefix = _equal(before, after)
    rest, new = before[prefix:], after[prefix:]
    suffix = _equal(rest[::-1], new[::-1])
    inserted = new[: len(new) - suffix]
    return {
        "deletedRegion": {"byteOffset": prefix, "byteLength": len(rest) - suffix},
        "insertedContent": {"binary": base64.b64encode(inserted).decode("ascii")},
    }


def _equal(one: bytes, other: bytes) -> int:
    """How many bytes are equal at the start of both."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))
