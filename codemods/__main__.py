"""`python -m codemods` is `bufcb-migrate`."""

from codemods.cli import migrate

migrate(prog_name="bufcb-migrate")
