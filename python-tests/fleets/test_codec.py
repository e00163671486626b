"""How payloads travel to the server, by the table that both languages have."""

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.common.v1 import Payload

from maloko.fleet import FleetError
from maloko.fleet._codec import VARIABLE, FleetCodec, fleet_key

TABLE = json.loads((Path(__file__).parents[2] / "conformance" / "fleets" / "codec.json").read_text(encoding="utf-8"))
ROWS = [pytest.param(row, id=row["about"].replace(" ", "-")) for row in TABLE["payloads"]]
KEY = base64.b64decode(TABLE["key"])


def payload_of(metadata: dict[str, str], data: bytes) -> Payload:
    return Payload(metadata={name: value.encode() for name, value in metadata.items()}, data=data)


def decoded(payload: Payload, key: bytes | None) -> Payload:
    return asyncio.run(FleetCodec(key).decode([payload]))[0]


@pytest.mark.parametrize("row", ROWS)
def test_payloads_travel_alike_in_both_languages(row: dict[str, Any]) -> None:
    key = KEY if row["encrypted"] else None
    travels = payload_of(row["travels"]["metadata"], base64.b64decode(row["travels"]["data"]))
    meant = payload_of(row["is"]["metadata"], row["is"]["text"].encode())

    assert decoded(travels, key) == meant
    sent = asyncio.run(FleetCodec(key).encode([meant]))[0]
    assert sent.metadata == travels.metadata
    assert decoded(sent, key) == meant


def test_what_another_key_or_none_has_encrypted_is_not_read() -> None:
    travels = TABLE["payloads"][-1]["travels"]
    payload = payload_of(travels["metadata"], base64.b64decode(travels["data"]))
    with pytest.raises(FleetError, match="the run is encrypted, and MALOKO_FLEET_KEY is not set"):
        decoded(payload, None)
    with pytest.raises(FleetError, match="the run is encrypted with another key"):
        decoded(payload, bytes(32))


def test_what_is_encrypted_looks_new_each_time() -> None:
    payload = payload_of({"encoding": "json/plain"}, b'"the same"')
    sent = asyncio.run(FleetCodec(KEY).encode([payload, payload]))

    assert sent[0].data != sent[1].data
    assert b"the same" not in sent[0].data


@pytest.mark.parametrize("text", ["no base64!", base64.b64encode(bytes(31)).decode()])
def test_a_key_of_the_wrong_form_is_told(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(FleetError, match="MALOKO_FLEET_KEY is no key: it has to be 32 bytes in base64"):
        fleet_key()
    monkeypatch.setenv(VARIABLE, TABLE["key"])
    assert fleet_key() == KEY
