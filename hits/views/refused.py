"""Shows a refused form again with what was typed, and says at the field what is wrong with it."""

from collections.abc import Mapping
from dataclasses import dataclass

from evalplatform.errors import EvalPlatformError

STATUS = 422  # a browser shows it like any page; a program sees that nothing was done


class FieldRefused(EvalPlatformError):
    """What is wrong with one field of a form; `field` is the input's id."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class Refused:
    """A refused form, for templates. `form` is the id of the part of the page that the form is in; `field` is empty if
    the whole form is refused. `typed` has the form's own fields by name."""

    form: str
    message: str
    field: str
    typed: Mapping[str, str]


def refused_form(form: str, error: EvalPlatformError, typed: Mapping[str, str], field: str = "") -> Refused:
    """Describe a refused form. `field` is where the message stands if the error names no field of its own."""
    return Refused(form, str(error), getattr(error, "field", "") or field, dict(typed.items()))
