"""The page of a fleet's run, made of its document."""

import json
from typing import Any

import pytest
from pages import data_of

from maloko._maloko import fleet_page

TEXT = "</script><script>alert(1)</script>"


def document(**more: Any) -> str:
    end = {"id": "tenant/acme", "outcome": "failed", "changes": {}, "reason": "program", "attempts": 1, "seconds": 2.5}
    return json.dumps(
        {
            "run": "tenants-up-1",
            "fleet": "tenants",
            "verb": "up",
            "state": "ended",
            "outcome": "failed",
            "stopped": "",
            "began": 1764000000.5,
            "seconds": 3,
            "wave": 1,
            "waves": 1,
            "counts": {"failed": 1},
            "stacks": [{"id": "tenant/acme", "labels": {"ring": "main"}, "needs": [], "wave": 0, "queue": None}],
            "ends": [{**end, "text": TEXT, "worker": "one", "outputs": {"url": "elsewhere"}}],
            "atWork": [],
            **more,
        }
    )


def test_the_page_of_a_fleet_s_run_has_its_document() -> None:
    page = fleet_page(document())
    data = data_of(page)
    assert (data["page"], data["run"], data["outcome"]) == ("fleet", "tenants-up-1", "failed")
    assert data["stacks"] == [{"id": "tenant/acme", "labels": {"ring": "main"}, "wave": 0}]
    [end] = data["ends"]
    assert (end["text"], end["worker"]) == (TEXT, "one")
    assert TEXT not in page
    assert "elsewhere" not in page


def test_what_is_no_document_of_a_fleet_s_run_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be made of this document: unknown variant `asleep`"):
        fleet_page(document(state="asleep"))
