"""Every test here runs once per language; in `make test` in one of them, by turns (.ci/by_turns.json)."""

import os

import pytest

from examples.harness import LANGUAGES

BY_TURNS = {"1": ("nodejs",), "2": ("python",)}


@pytest.fixture(params=BY_TURNS.get(os.environ.get("MALOKO_TURN", ""), LANGUAGES))
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)
