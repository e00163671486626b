"""Audits what maloko is made of: `make audit`.

Licences, bans and sources of the Rust crates, known advisories of all three registries, and that no code of ours
opens a connection that nobody asked for. What could not be checked, because a database did not answer, is said at the
end, and is a failure with --strict (for releases).
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Where connections are the user's wish: remote assets, the stores that a backend's address names, the plugins of this
# machine, on loopback, the servers that have those that are missing, and the collector that takes traces.
# The guards of a law of the testing kits stand in the way of connections, and what lets a Node process end wraps
# `listen` of the providers' servers: none of them makes any.
GUARDS = (
    "py-binding/python/maloko/testing/_laws/_recorder.py",
    "node-binding/ts/run/idle.ts",
    "node-binding/ts/testing/laws/guard.ts",
)
MAY_CONNECT = (
    "engine-core/src/assets/remote.rs",
    "engine-plugins/src/",
    "engine-stores/src/",
    "engine-telemetry/src/",
    # The page of --page-live, on the loopback interface.
    "engine-cli/src/page/live.rs",
    *GUARDS,
)
CONNECTS = {
    ".rs": re.compile(
        r"\b(ureq|reqwest|hyper|object_store|tokio_postgres|TcpStream|TcpListener|UdpSocket|UnixStream)\b"
    ),
    ".py": re.compile(
        r"^\s*(import|from) (socket|ssl|http|urllib\.request|requests|httpx|aiohttp|ftplib|smtplib)\b", re.M
    ),
    ".ts": re.compile(r"""\bfetch\(|["'](node:)?(http|https|http2|net|tls|dgram|dns)["']"""),
}
OURS = (
    "engine-core/src",
    "engine-plugins/src",
    "engine-stores/src",
    "engine-telemetry/src",
    "engine-kit/src",
    "engine-cli/src",
    "py-binding/src",
    "py-binding/python",
    "node-binding/src",
    "node-binding/ts",
)
PATIENCE = 1800
OK, FAILED, NOT_CHECKED = "ok", "FAILED", "NOT CHECKED"


def own_connections(root: Path = ROOT) -> tuple[str, str]:
    """Does code of ours, in a tree like this one, open connections by itself?"""
    found = []
    for folder in OURS:
        for path in sorted((root / folder).rglob("*")):
            name = str(path.relative_to(root))
            pattern = CONNECTS.get(path.suffix)
            if pattern is None or name.startswith(MAY_CONNECT) or "node_modules" in path.parts or "test" in path.stem:
                continue
            text = re.sub(r"^\s*(//|#).*$", "", path.read_text(), flags=re.M)
            found += [f"{name}: {match.group(0).strip()}" for match in pattern.finditer(text)]
    return (FAILED, "; ".join(found)) if found else (OK, "")


def run(*command: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"no answer within {PATIENCE} s")


def last_lines(done: subprocess.CompletedProcess[str]) -> str:
    return "\n".join((done.stdout + done.stderr).strip().splitlines()[-15:])


def cargo_deny(*checks: str, database: bool = False) -> tuple[str, str]:
    if shutil.which("cargo-deny") is None:
        print("installing cargo-deny; this takes some minutes")
        installed = run("cargo", "install", "--locked", "--quiet", "cargo-deny")
        if installed.returncode != 0:
            return NOT_CHECKED, f"cargo-deny cannot be installed: {last_lines(installed)}"
    done = run("cargo", "deny", "--all-features", "check", *checks)
    if done.returncode == 0:
        return OK, ""
    unreachable = database and re.search(
        r"failed to (fetch|clone|update|load) .*advisor|unable to (fetch|clone)", done.stderr, re.I
    )
    return NOT_CHECKED if unreachable else FAILED, last_lines(done)


def pip_audit() -> tuple[str, str]:
    """The Python packages that the wheel needs, and those of our tests."""
    tool = ROOT / ".venv" / "bin" / "pip-audit"
    if not tool.exists():
        installed = run(str(ROOT / ".venv" / "bin" / "python"), "-m", "pip", "install", "--quiet", "pip-audit")
        if installed.returncode != 0:
            return NOT_CHECKED, f"pip-audit cannot be installed: {last_lines(installed)}"
    done = run(str(tool), "-r", "requirements-dev.txt", "--progress-spinner", "off")
    if done.returncode == 0:
        return OK, ""
    found = re.search(r"Found \d+ known vulnerabilit", done.stdout + done.stderr)
    return FAILED if found else NOT_CHECKED, last_lines(done)


def npm_audit(folder: str) -> tuple[str, str]:
    done = run("npm", "--prefix", folder, "audit", "--omit=dev", "--json")
    try:
        answer = json.loads(done.stdout)
        total = answer["metadata"]["vulnerabilities"]["total"]
    except (json.JSONDecodeError, KeyError, TypeError):
        return NOT_CHECKED, f"the registry does not answer audit queries: {last_lines(done)[:300]}"
    return (
        (OK, "") if total == 0 else (FAILED, f"{total} known vulnerabilities: {', '.join(answer['vulnerabilities'])}")
    )


def main() -> int:
    checks: dict[str, Callable[[], tuple[str, str]]] = {
        "no connections of our own": own_connections,
        "licences, bans and sources of crates": lambda: cargo_deny("licenses", "bans", "sources"),
        "advisories of crates": lambda: cargo_deny("advisories", database=True),
        "advisories of Python packages": pip_audit,
        "advisories of npm packages (node-binding)": lambda: npm_audit("node-binding"),
    }
    if "--own" in sys.argv:
        checks = {"no connections of our own": own_connections}
    outcomes = {}
    for name, check in checks.items():
        outcomes[name], detail = check()
        print(f"{outcomes[name]:12} {name}" + (f"\n{detail}" if detail else ""), flush=True)
    bad = {FAILED, NOT_CHECKED} if "--strict" in sys.argv else {FAILED}
    missing = [name for name, outcome in outcomes.items() if outcome == NOT_CHECKED]
    if missing:
        print(f"could not be checked here: {', '.join(missing)}. Before a release: make audit STRICT=--strict")
    return 1 if bad & set(outcomes.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
