"""The recipes of benchmarks/trained_systems.py fit train_generator and the papers' tables."""

from pathlib import Path

import pytest

from benchmarks.trained_recipes import RECIPES
from generation.management.commands.train_generator import Command
from generation.metrics.published_tables import PAPER_TABLES
from generation.networks.families import FAMILIES, generating_families


def test_every_family_that_answers_has_a_recipe() -> None:
    assert {recipe.kind for recipe in RECIPES.values()} == set(generating_families())


@pytest.mark.parametrize("name", RECIPES)
def test_train_generator_takes_each_recipe(name: str) -> None:
    recipe = RECIPES[name]
    parser = Command().create_parser("manage.py", "train_generator")
    line = FAMILIES[recipe.kind]

    for arguments in recipe.commands(name, Path("out"), 5.0, Path("emotions.safetensors")):
        given = parser.parse_args([recipe.kind, *arguments, "--data", "train.jsonl"])
        assert given.part in (None, *line.parts)
        assert given.max_cpu_minutes > 0 < given.validate_every
        assert bool(given.labeller) <= ("labeller" in line.takes)


@pytest.mark.parametrize("name", RECIPES)
def test_published_figures_of_each_recipe_exist(name: str) -> None:
    for paper, row in RECIPES[name].published:
        assert row in PAPER_TABLES[paper].published


def test_parts_of_a_system_share_its_minutes() -> None:
    assert {sum(stage.share for stage in recipe.stages) for recipe in RECIPES.values()} == {1.0}
