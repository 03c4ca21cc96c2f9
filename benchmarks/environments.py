"""Make Python environments for other people's software, once, under var/bench/."""

import hashlib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENTS = ROOT / "var" / "bench"


def requirements_of(name: str) -> Path:
    return ROOT / "benchmarks" / "third_party" / f"{name}.txt"


def version_in(requirements: Path, package: str) -> str:
    pins = (line.lower().partition("==") for line in requirements.read_text().splitlines())
    return next(version for name, _, version in pins if name == package)


def python_of(name: str) -> Path:
    """Return the Python of the tool's environment, which is made if it is missing. All packages are pinned."""
    requirements = requirements_of(name)
    content = f"{sys.version} {requirements.read_text()}"
    folder = ENVIRONMENTS / f"{name}-{hashlib.sha256(content.encode()).hexdigest()[:8]}"
    python, is_complete = folder / "bin" / "python", folder / "installed"
    if not is_complete.exists():
        print(f"Installing {name} ...", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        options = ["--quiet", "--quiet", "--disable-pip-version-check", "--no-deps", "--requirement"]
        subprocess.run([python, "-m", "pip", "install", *options, requirements], check=True)
        is_complete.touch()
    return python
