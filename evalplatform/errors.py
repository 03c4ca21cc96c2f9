"""The one base of errors that are the user's to solve. Its message says what is wrong and what to do."""


class EvalPlatformError(Exception):
    """Edges turn it into one line (commands) or one message (pages); it never becomes a stack trace."""
