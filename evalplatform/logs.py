"""Configure logs: one line for each event, as JSON in production and readable in a terminal."""

from typing import Any

import structlog

_SHARED_PROCESSORS: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
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
