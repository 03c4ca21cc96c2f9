"""Configure logs: one line for each event, as JSON in production and readable in a terminal."""

import re
from collections.abc import MutableMapping
from typing import Any

import structlog

# What follows in such addresses is a secret: a share link, a rater's own link, a signed visit to the work.
_SECRET_ADDRESS = re.compile(r"(/shared/|/join/invited/|[?&]joined=)[^\s\"'?&]+")


def without_secrets(text: str) -> str:
    """Leave secrets out of addresses: they would open the link to whoever reads the log."""
    return _SECRET_ADDRESS.sub(r"\1...", text)


def _hide_secrets(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Do so wherever a line has them: in a path, a message of Django's, or a traceback."""
    for name, value in event.items():
        if isinstance(value, str):
            event[name] = without_secrets(value)
    return event


_SHARED_PROCESSORS: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
    _hide_secrets,
]


def logging_config(level: str, as_json: bool) -> dict[str, Any]:
    """Return the LOGGING setting. The standard library's and structlog's loggers use the same formatter."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,  # first, so that an event that is not logged costs nothing
            *_SHARED_PROCESSORS,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    renderer = structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer(colors=False)
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": _SHARED_PROCESSORS,
                "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # Our own middleware logs every request once; Django would log failed ones again.
            "django.server": {"handlers": [], "propagate": False},
            "django.request": {"level": "ERROR"},
            # fontTools would log hundreds of lines about the letters of every figure in a bundle.
            "fontTools": {"level": "WARNING"},
        },
    }
