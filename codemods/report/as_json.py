"""The run as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from codemods.model import Diagnostic, FileResult, SiteResult
from codemods.report.run import Run, summary

JSON_VERSION: Final = 1


def to_json(run: Run, more: Mapping[str, Any] | None = None) -> str:
    """The run as one JSON object, in ASCII: `{"version": 1, "files": […], "summary": {…}}`, and `more`."""
    import json

    document = {
        "version": JSON_VERSION,
        "files": [_file_object(file) for file in run.files],
        "summary": summary(run),
        **(more or {}),
    }
    return json.dumps(document, indent=2)


def _file_object(file: FileResult) -> dict[str, Any]:
    return {
        "path": str(file.path),
        "changed": file.changed,
        "error": file.error,
        "sites": [_site_object(site) for site in file.sites],
        "notes": [
            {
                "cell": note.cell,
                "line": note.line,
                "column": note.column,
                **_diagnostic_object(note.diagnostic),
            }
            for note in file.notes
        ],
    }


def _site_object(site: SiteResult) -> dict[str, Any]:
    return {
        "cell": site.cell,
        "line": site.line,
        "column": site.column,
        "end_line": site.end_line,
        "callback": site.callback,
        "status": site.status.value,
        **_diagnostic_object(site.diagnostic),
        "gradient": site.gradient.value,
        "gradient_path": [
            {"path": str(hop.path), "cell": hop.cell, "line": hop.line, "name": hop.name}
            for hop in site.gradient_path
        ],
    }


def _diagnostic_object(diagnostic: Diagnostic | None) -> dict[str, str | None]:
    if diagnostic is None:
        return {"code": None, "message": ""}
    return {"code": diagnostic.code, "message": diagnostic.message}
