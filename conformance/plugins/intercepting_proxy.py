"""A proxy that brings the addresses of Azure and Google, which `pulumi` cannot be told to replace, to the key servers.

Programs that honour HTTPS_PROXY ask it to connect them to a host. It answers in that host's place, with a certificate
of an authority that SSL_CERT_FILE names. Other hosts are refused.
"""

from __future__ import annotations

import base64
import select
import socket
import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import grpc
from certificates import Authority
from google.protobuf import descriptor_pb2, message_factory
from key_servers import KeyServers, b64

GOOGLE = "cloudkms.googleapis.com"
HOSTS = ("login.microsoftonline.com", "throwaway.vault.azure.net", GOOGLE)
STATUSES = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND"}


def _fields() -> Any:
    """A message with the fields 1, 2 and 3 of each message of Cloud KMS: all are texts or bytes."""
    file = descriptor_pb2.FileDescriptorProto(name="cloud_kms.proto", syntax="proto3")
    message = file.message_type.add(name="Fields")
    for place, name in enumerate(("first", "second", "third"), start=1):
        message.field.add(name=name, number=place, type="TYPE_BYTES", label="LABEL_OPTIONAL")
    return message_factory.GetMessages([file])["Fields"]


Fields = _fields()


def cloud_kms(servers: KeyServers) -> tuple[grpc.Server, int]:
    """Cloud KMS by gRPC with the keys of these servers, and its port. Google's own libraries speak no REST with it."""

    def method(verb: str, asked: str, answered: str) -> grpc.RpcMethodHandler[Any, Any]:
        def run(request: Any, context: grpc.ServicerContext) -> Any:
            authorization = str(dict(context.invocation_metadata()).get("authorization"))
            members = {asked: b64(request.second), "additionalAuthenticatedData": b64(request.third)}
            status, answer = servers.google_kms(f"/v1/{request.first.decode()}:{verb}", authorization, members)
            if status != 200:
                context.abort(getattr(grpc.StatusCode, STATUSES[status]), answer["error"]["message"])
            data = base64.b64decode(answer[answered])
            return Fields(first=answer["name"].encode(), second=data) if "name" in answer else Fields(first=data)

        return grpc.unary_unary_rpc_method_handler(run, Fields.FromString, Fields.SerializeToString)

    methods = {
        "Encrypt": method("encrypt", "plaintext", "ciphertext"),
        "Decrypt": method("decrypt", "ciphertext", "plaintext"),
    }
    server = grpc.server(ThreadPoolExecutor(4))
    service = grpc.method_handlers_generic_handler("google.cloud.kms.v1.KeyManagementService", methods)
    server.add_generic_rpc_handlers((service,))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return server, port


def tls(certificate: Path, *protocols: str) -> ssl.SSLContext:
    """TLS of a server that speaks these protocols, the first one best."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.set_alpn_protocols(list(protocols))
    return context


def relay(client: ssl.SSLSocket, server: socket.socket) -> None:
    """Hands on what each of them says, until one of them ends."""
    while True:
        # What TLS has deciphered already is seen by no `select`.
        for source in [client] if client.pending() else select.select([client, server], [], [])[0]:
            data = source.recv(65536)
            if not data:
                return
            (server if source is client else client).sendall(data)


@contextmanager
def intercepting_proxy(servers: KeyServers, folder: Path) -> Iterator[dict[str, str]]:
    """The variables by which a command reaches these servers at the addresses of Azure and Google."""
    authority = Authority(folder)
    certificate = authority.issue("server", *HOSTS)
    by_rest, by_both = tls(certificate, "http/1.1"), tls(certificate, "h2", "http/1.1")
    kms, kms_port = cloud_kms(servers)

    class Handler(BaseHTTPRequestHandler):
        def do_CONNECT(self) -> None:
            host = self.path.rpartition(":")[0]
            if host not in HOSTS:
                self.send_error(403, f"{host} is no host of these servers")
                return
            self.send_response(200)
            self.end_headers()
            context = by_both if host == GOOGLE else by_rest
            # A client that does not trust the certificate, or goes away, says so itself.
            with suppress(OSError), context.wrap_socket(self.connection, server_side=True) as client:
                # Whoever speaks gRPC asks for HTTP/2, which REST does without.
                port = kms_port if client.selected_alpn_protocol() == "h2" else servers.port
                with socket.create_connection(("127.0.0.1", port)) as server:
                    relay(client, server)

        def log_message(self, *_: object) -> None:
            pass

    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    address, direct = f"http://127.0.0.1:{proxy.server_port}", "127.0.0.1,localhost"
    try:
        yield {
            # Each program looks at a spelling of its own.
            "HTTPS_PROXY": address,
            "https_proxy": address,
            "NO_PROXY": direct,
            "no_proxy": direct,
            "SSL_CERT_FILE": str(authority.certificate),
        }
    finally:
        proxy.shutdown()
        proxy.server_close()
        kms.stop(None)
