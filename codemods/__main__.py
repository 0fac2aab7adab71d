"""`python -m codemods` is `bufcb-migrate`."""

from codemods.cli import migrate

if __name__ == "__main__":
    migrate(prog_name="bufcb-migrate")
