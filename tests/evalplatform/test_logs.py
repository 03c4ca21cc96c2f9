"""Logs are one line an event, and JSON where machines read them."""

import json
from pathlib import Path

from tests.processes import manage

SCRIPT = """
import logging, structlog
from django.test import Client
structlog.get_logger("ours").info("dialogs_imported", count=3, file="two\\nlines")
logging.getLogger("theirs").warning("plain %s", "text")
try:
    1 / 0
except ZeroDivisionError:
    structlog.get_logger("ours").exception("it_broke")
Client(headers={"host": "localhost"}).get("/login/")
"""


def test_every_event_is_one_json_line(tmp_path: Path) -> None:
    result = manage("shell", "-v0", "-c", SCRIPT, VAR_DIR=str(tmp_path), LOG_FORMAT="json", LOG_LEVEL="INFO")

    ours, theirs, broken, request = map(json.loads, result.stderr.splitlines())
    assert (ours["event"], ours["count"], ours["level"], ours["logger"]) == ("dialogs_imported", 3, "info", "ours")
    assert (theirs["event"], theirs["level"]) == ("plain text", "warning")
    assert "ZeroDivisionError" in broken["exception"]
    assert (request["event"], request["path"], request["method"]) == ("request", "/login/", "GET")
    assert request["timestamp"].endswith("Z")
