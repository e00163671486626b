"""The audit of what maloko is made of notices what it is there for (docs/internals/reliability.md, P18)."""

import subprocess
from pathlib import Path

import pytest

CONNECTIONS = Path(__file__).parents[2] / ".ci" / "connections"
PLANTED = {
    "engine-core/src/driver/telemetry.rs": 'async fn tell() { let _ = reqwest::get("https://example.org").await; }\n',
    "py-binding/python/maloko/_news.py": "import urllib.request\n",
    "node-binding/ts/news.ts": 'const answer = await fetch("https://example.org");\n',
}


# In Python alone: about files of both languages at once
@pytest.mark.parametrize("name", PLANTED)
def test_a_connection_of_our_own_is_noticed(tmp_path: Path, name: str) -> None:
    def noticed() -> tuple[int, bool]:
        told = subprocess.run([CONNECTIONS, tmp_path], capture_output=True, text=True)
        return told.returncode, f"{name}:1:" in told.stderr

    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text("// fetch( is not called here\n" if path.suffix == ".ts" else "# import socket\n")
    assert noticed() == (0, False)
    path.write_text(PLANTED[name])
    assert noticed() == (1, True)
