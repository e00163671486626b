"""The tenants example: a service that gives each tenant a stack, asked over HTTP by many at once."""

import functools
import json
import os
import shutil
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from examples.harness import EXAMPLES, ROOT

LONG = bool(os.environ.get("MALOKO_LONG"))
LARGE = 4000 if LONG else 1000
"""Resources of a deployment that is not over before somebody can end it."""


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """Gives the service in JavaScript, which is compiled when it is first asked for."""

    @functools.cache
    def compiled() -> Path:
        folder, source = tmp_path_factory.mktemp("compiled"), EXAMPLES / "typescript"
        words = ["-p", str(source / "tenants"), "--noEmit", "false", "--outDir", str(folder)]
        subprocess.run([str(source / "node_modules/.bin/tsc"), *words], check=True)
        (folder / "package.json").write_text("{}")
        (folder / "node_modules").symlink_to(source / "node_modules")
        return folder

    return compiled


class Service:
    """The example in a process of its own."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self.state = folder / "state"
        environment = {**os.environ, "STATE": str(self.state), "MASTER_KEY": "a master key", "HOME": str(folder)}
        self.process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Sends a request; gives status and body of the answer."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/tenants/{path}", data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def begins(self, tenant: str) -> None:
        """Waits until a deployment of the tenant is at work: its stack is locked."""
        locks = self.state / ".pulumi" / "locks"
        while not any(tenant in str(lock) for lock in locks.rglob("*.json")):
            pass


@pytest.fixture
def service(language: str, tmp_path: Path, compiled: Callable[[], Path]) -> Iterator[Service]:
    if language == "python":
        command = [str(ROOT / ".venv/bin/python"), str(EXAMPLES / "python/tenants/service.py"), "0"]
    else:
        shutil.copytree(compiled(), tmp_path, symlinks=True, dirs_exist_ok=True)
        command = ["node", "--import", "maloko/register", "service.js", "0"]
    service = Service(command, tmp_path)
    yield service
    service.process.kill()
    service.process.wait()


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(40) as threads:
        yield threads


def test_many_tenants_are_deployed_changed_and_removed_at_once(service: Service, threads: ThreadPoolExecutor) -> None:
    names = [f"tenant-{number}" for number in range(30 if LONG else 10)]

    def of_all(method: str, body: object = None) -> list[tuple[int, Any]]:
        return list(threads.map(lambda name: service.ask(method, name, body), names))

    assert of_all("POST", {"size": 2}) == [(200, {"seats": [f"{name}-0", f"{name}-1"]}) for name in names]
    # Two requests for one tenant wait for each other.
    both: list[Future[tuple[int, Any]]] = [
        threads.submit(service.ask, "POST", names[0], {"size": 1}),
        threads.submit(service.ask, "POST", names[0], {"size": 1}),
    ]
    assert [one.result() for one in both] == [(200, {"seats": ["tenant-0-0"]})] * 2
    assert service.ask("GET", names[0]) == (200, {"seats": ["tenant-0-0"]})
    assert service.ask("GET", names[1]) == (200, {"seats": ["tenant-1-0", "tenant-1-1"]})
    assert of_all("DELETE") == [(200, {})] * len(names)
    status, said = service.ask("POST", "broken", {"size": "many"})
    assert (status, 'send {"size": NUMBER}' in said["error"]) == (400, True)


def test_each_tenant_has_a_key_of_their_own(service: Service) -> None:
    for name in ("one", "two"):
        service.ask("POST", name, {"size": 1})
    salts = {json.loads(file.read_text())["checkpoint"]["latest"]["secrets_providers"]["state"]["salt"]
             for file in service.state.rglob("stacks/**/*.json")}  # fmt: skip
    assert len(salts) == 2


def test_a_tenant_s_deployment_is_cancelled_by_another_request(service: Service, threads: ThreadPoolExecutor) -> None:
    going = threads.submit(service.ask, "POST", "large", {"size": LARGE})
    while not going.done():
        # What has not begun yet is not cancelled.
        assert service.ask("POST", "large/cancel") == (200, {})
    status, said = going.result()
    assert (status, "cancel" in said["error"]) == (500, True)
    assert service.ask("POST", "large", {"size": 1}) == (200, {"seats": ["large-0"]})


def test_a_service_that_is_ended_lets_what_goes_on_end(service: Service, threads: ThreadPoolExecutor) -> None:
    going = threads.submit(service.ask, "POST", "large", {"size": LARGE})
    service.begins("large")
    service.process.send_signal(signal.SIGTERM)
    status, said = going.result()
    assert (status, len(said["seats"])) == (200, LARGE)
    assert service.process.wait(30) == 0
    assert not list((service.state / ".pulumi" / "locks").rglob("*.json"))
