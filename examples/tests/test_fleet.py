"""The fleet example: tenants in two regions, on a server of Temporal and with workers of its own.

The example has forty tenants, and at night so have the tests. For every change the first twelve do.
"""

import csv
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.harness import TEMPORAL, Fleet
from examples.servers.widgets import WidgetService

pytestmark = pytest.mark.skipif(not TEMPORAL.exists(), reason="there is no .venv/bin/temporal")

TOKEN = "a token"
BY_DAY = 12
REGIONS = 2


@pytest.fixture
def service() -> Iterator[WidgetService]:
    service = WidgetService(TOKEN)
    with service.running():
        yield service


@pytest.fixture
def fleet(language: str, tmp_path: Path, service: WidgetService) -> Iterator[Fleet]:
    fleet = Fleet(language, tmp_path)
    fleet.env |= {"WIDGETS_URL": service.url, "WIDGETS_TOKEN": TOKEN}
    if not os.environ.get("MALOKO_LONG"):
        table = fleet.folder / "tenants.csv"
        table.write_text("".join(table.read_text().splitlines(keepends=True)[: 1 + BY_DAY]))
    with fleet.served():
        yield fleet


def ends(fleet: Fleet, verb: str, *arguments: str, code: int = 0) -> dict[str, int]:
    """Runs a verb; says how many stacks ended how."""
    done = fleet.run("fleet", verb, "--yes", "--json", *arguments)
    assert done.returncode == code, f"{done.stdout}\n{done.stderr}"
    return {end: count for end, count in json.loads(done.stdout)["counts"].items() if count}


def tenants(fleet: Fleet) -> list[dict[str, str]]:
    with (fleet.folder / "tenants.csv").open() as table:
        return list(csv.DictReader(table))


def wanted(fleet: Fleet) -> int:
    """The widgets of the table, and a room for each region."""
    return REGIONS + sum(int(row["widgets"]) for row in tenants(fleet))


def test_tenants_are_deployed_changed_looked_after_and_removed(fleet: Fleet, service: WidgetService) -> None:
    stacks = REGIONS + len(tenants(fleet))
    european = 1 + sum(row["region"] == "eu" for row in tenants(fleet))
    assert f"{stacks} stacks" in fleet.must("fleet", "check")
    assert ends(fleet, "up") == {"done": stacks}
    assert len(service.widgets) == wanted(fleet)
    fleet.replace("tenants.csv", "globex,eu,2,medium", "globex,eu,3,medium")
    in_europe = ("--select", "region=eu")
    assert ends(fleet, "up", *in_europe) == {"done": 1, "unchanged": european - 1}
    assert len(service.widgets) == wanted(fleet)
    # Somebody changes a widget and deletes another one, behind the fleet's back.
    ids = {widget["name"]: id_ for id_, widget in service.widgets.items()}
    changed = service.widgets[ids["globex 2 in room of eu"]]
    changed["size"] = "large"
    del service.widgets[ids["wayne 0 in room of eu"]]
    assert ends(fleet, "drift", *in_europe) == {"done": 2, "unchanged": european - 2}
    assert ends(fleet, "refresh", *in_europe) == {"done": 2, "unchanged": european - 2}
    assert ends(fleet, "up", *in_europe) == {"done": 2, "unchanged": european - 2}
    assert (changed["size"], len(service.widgets)) == ("medium", wanted(fleet))
    assert ends(fleet, "destroy") == {"done": stacks}
    assert service.widgets == {}


@pytest.mark.nightly
def test_a_tenant_that_the_service_refuses_fails_alone(fleet: Fleet, service: WidgetService) -> None:
    fleet.replace("tenants.csv", "wonka,us,3,medium", "wonka,us,3,huge")
    others = REGIONS + len(tenants(fleet)) - 1
    assert ends(fleet, "up", code=1) == {"done": others, "failed": 1}
    assert "a widget needs a name and one of the sizes" in fleet.run("fleet", "results").stdout
    fleet.replace("tenants.csv", "wonka,us,3,huge", "wonka,us,3,medium")
    assert ends(fleet, "up") == {"done": 1, "unchanged": others}
    assert len(service.widgets) == wanted(fleet)
