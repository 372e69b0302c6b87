"""What the user can mend: shown as one line, without a traceback, and the command exits with 2."""


class Mistake(Exception):
    """The message says what is wrong and what to do about it."""
