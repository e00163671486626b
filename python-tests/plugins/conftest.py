"""The projects with a plugin that several topics need."""

import os
import signal
from collections.abc import Iterator

import pytest
from cli import Project
from plugged import Plugged, is_alive


@pytest.fixture
def without(project: Project) -> Plugged:
    """Without a plugin."""
    return Plugged(project)


@pytest.fixture
def plugged(without: Plugged) -> Iterator[Plugged]:
    """With the plugin on PATH, of which no process outlives the test."""
    without.put_on_path()
    yield without
    os.close(without.alive)
    for pid in without.pids.read_text().split() if without.pids.exists() else []:
        if is_alive(pid):
            os.kill(int(pid), signal.SIGKILL)
