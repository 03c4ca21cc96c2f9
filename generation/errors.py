"""Define the errors of generators and of training. Each message is one line for the researcher and says what to do."""

from evalplatform.errors import EvalPlatformError


class CheckpointRefused(EvalPlatformError):
    """The checkpoint is missing, broken, cut short, or belongs to another kind."""


class SettingsRefused(EvalPlatformError):
    """A setting is unknown to this kind, or out of range."""


class GeneratorUnavailable(EvalPlatformError):
    """The generator can't answer now but may later, such as a server that is down. It is tried again."""


class TrainingRefused(EvalPlatformError):
    """An option of training makes no sense, or contradicts the run that is to be resumed."""


class DataRefused(EvalPlatformError):
    """There is nothing to train on, or the data does not fit the network."""


def first_line(error: Exception) -> str:
    """Return the first line of a library's error, or the name of its class if it has no message."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
