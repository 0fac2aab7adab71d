"""The run as one HTML page that needs nothing else: no network, and no script for reading."""

from codemods.report.html.page import START, to_html

__all__ = ["START", "to_html"]
