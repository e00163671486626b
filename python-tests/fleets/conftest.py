"""A server for the fleets' tests, and fleets on it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fleet_kit import FleetFolder, FleetServer

MakeFleet = Callable[..., FleetFolder]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FleetServer]:
    """A server that the tests of a process share."""
    found = FleetServer(tmp_path_factory.mktemp("temporal"))
    found.start()
    yield found
    found.stop()


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[FleetServer]:
    """A server that a test may stop."""
    found = FleetServer(tmp_path)
    found.start()
    yield found
    found.stop()


@pytest.fixture
def make_fleet(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[MakeFleet]:
    """Makes fleets that end with the test."""
    made: list[FleetFolder] = []

    def make(server: FleetServer) -> FleetFolder:
        name = f"{request.node.name[:40]}-{len(made)}".replace("[", "-").replace("]", "").replace("_", "-")
        made.append(FleetFolder(tmp_path / name, server, name))
        return made[-1]

    yield make
    for fleet in made:
        fleet.end()
