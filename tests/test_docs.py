"""What the docs name exists: files, commands and their options, settings, variables, addresses, links; examples run."""

import ast
import doctest
import importlib
import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command, get_commands, load_command_class
from django.urls import Resolver404, resolve

from examples import write_map
from hits.models.design import Part, StudyDesign
from tests.conftest import ROOT

LISTED = subprocess.run(
    ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
    cwd=ROOT,
    capture_output=True,
    text=True,
    check=True,
)
FILES = [name for name in LISTED.stdout.splitlines() if (ROOT / name).exists()]
PAGES = [name for name in FILES if re.fullmatch(r"(README|CONTRIBUTING)\.md|docs/.*\.md|examples/.*\.md", name)]
TOP = {name.split("/")[0] for name in FILES if "/" in name}

# Of other programs, or of a shell in an example.
FOREIGN_VARIABLES = {
    "AWS_ENDPOINT_URL_MTURK",
    "CONN_HEALTH_CHECKS",
    "CUDA_VISIBLE_DEVICES",
    "OMP_NUM_THREADS",
    "OPENAI_API_KEY",
}

every_page = pytest.mark.parametrize("page", PAGES)


def text_of(page: str) -> str:
    return (ROOT / page).read_text()


def code_in(text: str) -> Iterator[str]:
    """Give what stands in backticks, fenced or indented by four spaces. A line that ends in a backslash goes on."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    yield from (" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose))
    fenced = "".join(re.findall(r"^```\w*\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL))
    indented = "\n".join(re.findall(r"^ {4}(.*)$", text, flags=re.MULTILINE))
    yield from re.sub(r"\\\n *", " ", f"{fenced}\n{indented}").splitlines()


def exists(name: str) -> bool:
    """Whether a file or folder of the repository has this path, or one that ends with it (`networks/family.py`)."""
    pattern = re.compile(r"(^|/)" + re.escape(name).replace(r"\*", "[^/]*") + ("" if name.endswith("/") else "(/|$)"))
    return any(pattern.search(file) for file in FILES)


@every_page
def test_files_that_a_page_names_exist(page: str) -> None:
    named = {
        word.split("::")[0].rstrip(",;:")
        for code in code_in(text_of(page))
        for word in code.split()
        if re.fullmatch(r"[\w./*-]+\.(py|ts|css|html)", word) or (word.split("/")[0] in TOP and re.search(r"\w/", word))
    }
    # By guides on how to add a file.
    of_server = ("generation/networks/bigram.py", "generation/corpora/bars.py", "lab_crowd.py")
    of_page = ("frontend/src/worker/protocols/thumbs.ts", "frontend/src/styles/worker/thumbs.css")
    invented = {*of_server, *of_page}

    assert [name for name in sorted(named - invented) if not exists(name)] == []


@every_page
def test_commands_that_a_page_names_exist_with_their_options(page: str) -> None:
    wrong = []
    for line in code_in(text_of(page)):
        for name, rest in re.findall(r"manage\.py (\w+)([^#|]*)", line):
            if name == "help":
                continue
            if name not in get_commands():
                wrong.append(name)
                continue
            app = get_commands()[name]
            command = load_command_class(app, name) if isinstance(app, str) else app
            known = {
                option
                for action in command.create_parser("manage.py", name)._actions
                for option in action.option_strings
            }
            wrong += [
                f"{name} {option}" for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", rest) if option not in known
            ]

    assert wrong == []


@every_page
def test_modules_that_a_page_runs_exist(page: str) -> None:
    modules = {name for code in code_in(text_of(page)) for name in re.findall(r"python -m ([\w.]+)", code)}
    ours = [name for name in modules if name.split(".")[0] in TOP]

    assert [name for name in ours if not exists(f"{name.replace('.', '/')}.py")] == []


def settings_of(part: type[Part], prefix: str = "") -> Iterator[str]:
    for name, field in part.model_fields.items():
        shown = prefix + (field.alias or name)
        yield shown
        if isinstance(field.annotation, type) and issubclass(field.annotation, Part):
            yield from settings_of(field.annotation, f"{shown}.")


@every_page
def test_settings_of_studies_that_a_page_names_exist(page: str) -> None:
    known = {setting for design in StudyDesign.of_protocol.values() for setting in settings_of(design)}
    parts = "|".join(name for name in StudyDesign.model_fields if any(one.startswith(f"{name}.") for one in known))
    named = {
        match[1]
        for code in code_in(text_of(page))
        if (match := re.match(rf"((?:{parts})\.[a-z_]+)(?:$|[ ,=])", code))
        and match[1].split(".")[1] not in {"py", "ts", "css"}
        and not exists(match[1].replace(".", "/"))
    }

    assert sorted(named - known) == []


@every_page
def test_environment_variables_that_a_page_names_exist(page: str) -> None:
    sources = "\n".join(
        path.read_text() for folder in ("evalplatform", "tests") for path in (ROOT / folder).glob("*.py")
    )
    named = {
        name
        for code in code_in(text_of(page))
        for name in [*re.findall(r"^([A-Z]+(?:_[A-Z]+)+)$", code), *re.findall(r"(?:^| )([A-Z]+(?:_[A-Z]+)+)=", code)]
    }

    unknown = [name for name in named - FOREIGN_VARIABLES if not re.search(rf"\b{name}\b", sources, re.IGNORECASE)]
    assert sorted(unknown) == []


@every_page
def test_addresses_that_a_page_names_lead_somewhere(page: str) -> None:
    wrong = []
    for code in code_in(text_of(page)):
        if re.fullmatch(r"/(?:[\w-]+/)+", code):
            try:
                resolve(code.replace("KEY", "00000000-0000-4000-8000-000000000000"))
            except Resolver404:
                wrong.append(code)

    assert wrong == []


def anchors_of(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*PAGES, "CHANGELOG.md"])
def test_links_and_pictures_of_a_page_lead_somewhere(page: str) -> None:
    wrong = []
    for address in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", text_of(page))):
        if re.match(r"https?:|mailto:", address):
            continue
        name, _, anchor = address.partition("#")
        target = (ROOT / page).parent / name if name else ROOT / page
        if not target.exists() or (anchor and anchor not in anchors_of(target.read_text())):
            wrong.append(address)

    assert wrong == []


@every_page
def test_no_table_of_a_page_is_torn_by_an_empty_line(page: str) -> None:
    torn = re.findall(r"^\|.*\n\n+(\|.*)\n(?!\|[ :|-]+$)", text_of(page), re.MULTILINE)

    assert torn == []


def test_every_guide_decision_and_measurement_can_be_reached_from_the_readme() -> None:
    found, waiting = set(), [ROOT / "README.md"]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        links = re.findall(r"\]\(([^)\s#]+)", path.read_text()) if path.suffix == ".md" else []
        waiting += [(path.parent / link).resolve() for link in links if (path.parent / link).is_file()]

    assert [page for page in PAGES if page.startswith("docs/") and ROOT / page not in found] == []


def test_the_map_of_files_is_fresh() -> None:
    assert write_map.files_without_a_line() == [], "say in the first sentence of each what it is about"
    page = write_map.PAGE.read_text()
    assert page == write_map.with_map(page), "run python -m examples.write_map"


def with_examples(suffix: str) -> list[str]:
    return [
        name for name in FILES if name.endswith(suffix) and name != "tests/test_docs.py" and ">>> " in text_of(name)
    ]


@pytest.mark.parametrize("name", with_examples(".py"))
def test_the_examples_in_a_module_run(name: str) -> None:
    ran = doctest.testmod(
        importlib.import_module(name.removesuffix(".py").replace("/", ".")), optionflags=doctest.ELLIPSIS
    )

    assert ran.attempted
    assert not ran.failed


def test_the_python_in_pages_is_python() -> None:
    for page in PAGES:
        for block in re.findall(r"^```python\n(.*?)^```$", text_of(page), re.MULTILINE | re.DOTALL):
            ast.parse(block)
        if ">>> " in text_of(page):
            assert not doctest.testfile(str(ROOT / page), module_relative=False, optionflags=doctest.ELLIPSIS).failed, (
                page
            )


@pytest.mark.once
@pytest.mark.django_db(transaction=True)
def test_the_first_study_runs_as_its_guide_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    guide = text_of("docs/first-study.md")
    blocks = [
        re.sub("^ {4}", "", block, flags=re.M) for block in re.findall(r"(?:^ {4}.*\n|^\n(?= {4}))+", guide, re.M)
    ]
    dialog, replies = (json.loads(block) for block in blocks if block.strip().startswith("{"))
    (study_file,) = (block for block in blocks if block.strip().startswith("name ="))
    monkeypatch.chdir(tmp_path)
    for name, one in (("dialogs", dialog), ("replies", replies)):
        lines = (json.dumps(one).replace("chat-00", f"chat-{number:02}") for number in range(20))
        Path(f"{name}.jsonl").write_text("\n".join(lines))
    Path("my_study.toml").write_text(study_file)

    for line in re.findall(
        r"manage\.py ((?:import|create|build|publish|simulate|sync|screen|show|export|check)_.*)", guide
    ):
        if not line.endswith(".") and "`" not in line:
            call_command(*shlex.split(line, comments=True))

    assert "my-bundle holds together" in capsys.readouterr().out
