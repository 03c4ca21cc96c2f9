"""Where the browser is, and how it runs as root and alone."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FLAGS = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync "
    "--no-first-run"
).split()


def chromium_path() -> str:
    """What `make` found or installed; looked for again where the tests run without it."""
    noted = Path(sys.prefix) / "browser"
    if noted.exists():
        return noted.read_text().strip()
    command = [sys.executable, "-m", "tests.install_browser"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
