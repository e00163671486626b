"""Secrets of a fleet are nowhere in the server: not in its database, with and without a key for its payloads."""

import base64
import json
import os

import pytest
from conftest import MakeFleet
from fleet_kit import FleetServer

CANARY = "c4n4ry-0f-th3-fl33t"
PLAN = "p1an-0f-th3-t3nant"
"""A value that is no secret."""


@pytest.mark.parametrize("encrypted", [False, True])
def test_no_secret_and_with_a_key_no_name_enters_the_server(
    own_server: FleetServer, make_fleet: MakeFleet, encrypted: bool
) -> None:
    fleet = make_fleet(own_server)
    if encrypted:
        fleet.variables["MALOKO_FLEET_KEY"] = base64.b64encode(os.urandom(32)).decode()
    fleet.variables["TENANT_TOKEN"] = CANARY
    config = {"token": {"secretFrom": "env TENANT_TOKEN"}, "plan": PLAN, "fails": "{fails}"}
    rows = [{"tenant": "kind", "fails": ""}, {"tenant": "broken", "fails": CANARY}]
    stacks = {"project": "tenant", "program": "raising.py:tenant", "stack": "{tenant}", "for": rows, "config": config}
    # An exception with the secret in its text, as careless providers raise it.
    (fleet.folder / "raising.py").write_text(
        "import pulumi\nfrom tenant import File, Files\n\n\n"
        "class Raising(Files):\n"
        "    def create(self, props):\n"
        "        raise OSError('refused with the token ' + props['token'])\n\n\n"
        "class Told(pulumi.dynamic.Resource):\n"
        "    def __init__(self, name, props):\n"
        "        super().__init__(Raising(), name, props)\n\n\n"
        "def tenant():\n"
        "    config = pulumi.Config()\n"
        "    token = config.require_secret('token')\n"
        "    if pulumi.get_stack() == 'broken':\n"
        "        Told('told', {'token': token})\n"
        "    pulumi.export('token', token)\n"
    )
    rows[1]["fails"] = "yes"
    fleet.write([stacks])
    fleet.worker()

    result = fleet.run("up", "--outputs", code=1)

    assert result["ends"]["tenant/kind"]["outputs"] == {"token": "[secret]"}
    end = result["ends"]["tenant/broken"]
    assert end["reason"] == "provider"
    assert CANARY not in json.dumps(result)
    assert "refused with the token" in end["text"]
    # The raw bytes of the database do not show what is compressed.
    payloads = own_server.payloads()
    has_plan = [was_compressed for was_compressed, content in payloads if PLAN.encode() in content]
    assert (True in has_plan) is not encrypted, "a value that is no secret is found in what is compressed"
    assert any(b"refused with the token [secret]" in content for _, content in payloads) is not encrypted
    assert not any(CANARY.encode() in content for _, content in payloads)
    own_server.stop()
    files = [own_server.database, *own_server.database.parent.glob("temporal.db-*")]
    database = b"".join(file.read_bytes() for file in files)
    assert b"FleetRun" in database
    assert CANARY.encode() not in database
    assert (b"refused with the token" in database) is not encrypted
    logs = "".join(log.read_text() for log in fleet.folder.glob("worker-*.log"))
    assert CANARY not in logs
