"""What the tests share. They drive the installed wheel: function programs against a state in memory, and the CLI."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from maloko import _seams
from maloko._embedded import Stack
from maloko._host import Host
from maloko._loops import new_loop
from maloko._program import Failure, run_path
from maloko._registry import _factories


@pytest.fixture
def stack() -> Stack:
    return Stack()


@pytest.fixture(autouse=True)
def _no_factories_left() -> object:
    yield
    _factories.clear()


@pytest.fixture(autouse=True)
def _seams_are_put_back() -> object:
    yield
    assert _seams._active == 0


PathRunner = Callable[..., Failure | None]


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., Path]:
    """Writes files into a directory for programs by path."""

    def write(**files: str) -> Path:
        for name, text in files.items():
            file = tmp_path / (name.replace("__slash__", "/") + ".py")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return tmp_path

    return write


__all__ = ["Awaitable", "Host", "asyncio", "new_loop", "run_path"]
