"""The audit of what maloko is made of notices what it is there for (docs/internals/reliability.md, P18)."""

import runpy
from pathlib import Path

import pytest

AUDIT = Path(__file__).parents[2] / ".ci" / "audit.py"
PLANTED = {
    "engine-core/src/driver/telemetry.rs": 'async fn tell() { let _ = reqwest::get("https://example.org").await; }\n',
    "py-binding/python/maloko/_news.py": "import urllib.request\n",
    "node-binding/ts/news.ts": 'const answer = await fetch("https://example.org");\n',
}


# In Python alone: about files of both languages at once
@pytest.mark.parametrize("name", PLANTED)
def test_a_connection_of_our_own_is_noticed(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    own_connections = runpy.run_path(str(AUDIT))["own_connections"]
    path.write_text("// fetch( is not called here\n" if path.suffix == ".ts" else "# import socket\n")
    assert own_connections(tmp_path) == ("ok", "")
    path.write_text(PLANTED[name])
    outcome, found = own_connections(tmp_path)
    assert (outcome, name in found) == ("FAILED", True)
