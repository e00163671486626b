"""A web service that gives each tenant a stack of their own: deploy, look, remove, cancel, over HTTP.

    POST   /tenants/NAME    {"size": 3}    deploys; the answer is sent when that has ended
    GET    /tenants/NAME                   the outputs of the stack
    DELETE /tenants/NAME                   deletes what was deployed
    POST   /tenants/NAME/cancel            ends what goes on for the tenant

One tenant's requests wait for each other; of all tenants, LIMIT are worked on at a time. A caller that goes away
cancels nothing: a deployment is not undone by a closed laptop. SIGTERM ends the service when what goes on has ended in
order.

Run it: MASTER_KEY=... STATE=/srv/state python service.py 8080
"""

import hashlib
import hmac
import json
import os
import re
import signal
import sys
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

from maloko import automation as auto

LIMIT = 16
"""Stacks that are worked on at a time."""
NAME = re.compile(r"/tenants/([a-z][a-z0-9-]{0,30})(/cancel)?")


class Seats(ResourceProvider):
    """Stands for the API of whatever a tenant gets. One object serves all tenants: it keeps nothing of any."""

    def create(self, props: dict[str, Any]) -> CreateResult:
        return CreateResult(f"{props['tenant']}-{int(props['number'])}", props)


class Seat(Resource):
    """One of a tenant's seats."""

    def __init__(self, name: str, tenant: str, number: int) -> None:
        super().__init__(SEATS, name, {"tenant": tenant, "number": number})


SEATS = Seats()


def program() -> None:
    """What each tenant has. Everything that differs comes from the stack's configuration."""
    size = pulumi.Config().require_int("size")
    seats = [Seat(f"seat-{number}", pulumi.get_stack(), number) for number in range(size)]
    pulumi.export("seats", [seat.id for seat in seats])


class Tenants:
    """The stacks of all tenants."""

    def __init__(self, state: Path, master_key: bytes) -> None:
        self.state, self._master_key = state, master_key
        self._permits = threading.BoundedSemaphore(LIMIT)
        self._turns: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def _passphrase(self, tenant: str) -> str:
        """Each tenant has a key of their own, and the service keeps one: a tenant's key follows from it."""
        return hmac.new(self._master_key, tenant.encode(), hashlib.sha256).hexdigest()

    def _stack(self, tenant: str) -> auto.Stack:
        variables = {
            "PULUMI_BACKEND_URL": f"file://{self.state}",
            "PULUMI_CONFIG_PASSPHRASE": self._passphrase(tenant),
        }
        options = auto.LocalWorkspaceOptions(env_vars=variables)
        return auto.create_or_select_stack(tenant, project_name="tenants", program=program, opts=options)

    def deploy(self, tenant: str, size: int) -> dict[str, Any]:
        with self._turns[tenant], self._permits:
            stack = self._stack(tenant)
            stack.set_config("size", auto.ConfigValue(str(size)))
            return {name: output.value for name, output in stack.up().outputs.items()}

    def outputs(self, tenant: str) -> dict[str, Any]:
        return {name: output.value for name, output in self._stack(tenant).outputs().items()}

    def remove(self, tenant: str) -> dict[str, Any]:
        with self._turns[tenant], self._permits:
            stack = self._stack(tenant)
            stack.destroy()
            return {}

    def cancel(self, tenant: str) -> dict[str, Any]:
        self._stack(tenant).cancel()
        return {}


class Handler(BaseHTTPRequestHandler):
    """One request, on a thread of its own."""

    tenants: Tenants

    def _handle(self) -> None:
        found = NAME.fullmatch(self.path)
        if found is None:
            return self._answer(404, {"error": "there are /tenants/NAME and /tenants/NAME/cancel"})
        tenant, cancel = found.groups()
        try:
            if cancel is not None:
                return self._answer(200, self.tenants.cancel(tenant))
            if self.command == "GET":
                return self._answer(200, self.tenants.outputs(tenant))
            if self.command == "DELETE":
                return self._answer(200, self.tenants.remove(tenant))
            order = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            return self._answer(200, self.tenants.deploy(tenant, int(order["size"])))
        except (ValueError, KeyError, TypeError) as error:
            return self._answer(400, {"error": f'send {{"size": NUMBER}}: {error}'})
        except auto.ConcurrentUpdateError as error:
            return self._answer(409, {"error": str(error)})
        except auto.CommandError as error:
            return self._answer(500, {"error": str(error)})

    do_GET = do_POST = do_DELETE = _handle  # noqa: N815 the names that the standard library calls

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        """Says nothing of each request."""


class Server(ThreadingHTTPServer):
    """Waits, when it is closed, for the requests that it answers."""

    daemon_threads = False
    request_queue_size = 1024


def main() -> None:
    state = Path(os.environ["STATE"])
    state.mkdir(parents=True, exist_ok=True)
    Handler.tenants = Tenants(state, os.environ["MASTER_KEY"].encode())
    server = Server(("127.0.0.1", int(sys.argv[1])), Handler)
    # `shutdown` waits for `serve_forever`, which runs on this thread.
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
    server.server_close()


if __name__ == "__main__":
    main()
