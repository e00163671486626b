"""Every test here runs once per language."""

import pytest

from examples.harness import LANGUAGES


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)
