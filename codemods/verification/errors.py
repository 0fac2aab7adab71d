"""What ends a verification before there is anything to compare."""


class VerificationError(Exception):
    """The command could not be run, or what it called could not be recorded; the text says why."""
