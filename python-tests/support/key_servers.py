#!/usr/bin/env python3
"""Key services on this machine, by their own protocols: Azure Key Vault with Entra ID, Google Cloud KMS and Vault's
transit engine. AWS KMS is moto's, which checks signatures and permissions.

    key_servers.py      prints the address, and serves until its standard input ends

Each service has the key `one`, refuses `no` and does not know any other; a transit engine makes keys that it does not
know. Keys are of the server: another server opens nothing of what this one wrapped.
"""

from __future__ import annotations

import base64
import json
import os
import re
import ssl
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

TOKEN = "token-of-the-tests"
SECRET = "secret-of-the-application"
ENTRA = "https://login.microsoftonline.com/tenant"
CHALLENGE = f'Bearer authorization="{ENTRA}", resource="https://vault.azure.net"'
"""By this a vault says where its tokens come from. Azure's own libraries ask for a token after it alone."""
Answer = tuple[int, dict[str, Any]]


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def url64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def un_url64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class KeyServers:
    """The servers, what they were asked, and what they are told to answer."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        """Method and path of each request for a key, in order."""
        self.busy = 0
        """So many requests are answered with 503 first."""
        self.application: x509.Certificate | None = None
        """The certificate of the application, where it may show one."""
        self.keys: list[str] = []
        """What was wrapped, in base64."""
        self.away = 0.0
        """So many seconds pass before an answer."""
        self.google = AESGCM(AESGCM.generate_key(256))
        self.azure = [self._azure_version()]
        self.vault: dict[str, list[AESGCM]] = {}
        self.vault_least = 1
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                owner._serve(self)

            do_GET = do_PUT = do_POST  # noqa: N815 (the names of the library)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_port
        self.address = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def demand_tls(self, certificate: Path, authority: Path) -> None:
        """From now on connections are by TLS, with a certificate of their own that this authority has signed."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(authority))
        context.load_cert_chain(certificate)
        context.verify_mode = ssl.CERT_REQUIRED
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.address = f"https://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """What leads a command here, with credentials."""
        return {
            **self.credentials,
            "GOOGLE_KMS_CUSTOM_ENDPOINT": f"{self.address}/v1",
            "MALOKO_AZURE_KEY_VAULT_ADDRESS": self.address,
            "AZURE_AUTHORITY_HOST": self.address,
        }

    @property
    def credentials(self) -> dict[str, str]:
        """Credentials alone, for a command that goes to the addresses of Azure and Google. Vault's is never fixed."""
        return {
            "VAULT_ADDR": self.address,
            "VAULT_TOKEN": TOKEN,
            "GOOGLE_OAUTH_ACCESS_TOKEN": TOKEN,
            "AZURE_TENANT_ID": "tenant",
            "AZURE_CLIENT_ID": "application",
            "AZURE_CLIENT_SECRET": SECRET,
        }

    def rotate_vault(self, key: str, least: int = 1) -> None:
        """A new version of a key; those below `least` open nothing any more."""
        self.vault[key].append(AESGCM(AESGCM.generate_key(256)))
        self.vault_least = least

    def rotate_azure(self) -> None:
        """A new version of `one`."""
        self.azure.append(self._azure_version())

    @staticmethod
    def _azure_version() -> tuple[str, rsa.RSAPrivateKey]:
        return os.urandom(16).hex(), rsa.generate_private_key(65537, 2048)

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        time.sleep(self.away)
        status, answer = self._answer(handler, body)
        text = json.dumps(answer).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(text)))
        if status == 401:
            handler.send_header("WWW-Authenticate", CHALLENGE)
        handler.end_headers()
        handler.wfile.write(text)

    def _answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> Answer:
        url = urlsplit(handler.path)
        if url.path.endswith("/oauth2/v2.0/token"):
            return self._token(url.path, parse_qs(body.decode()))
        if url.path.startswith("/computeMetadata/v1/instance/service-accounts/default/"):
            assert handler.headers["Metadata-Flavor"] == "Google"
            return 200, {"access_token": TOKEN, "token_type": "Bearer", "expires_in": 3599}
        if url.path.endswith(("/discovery/instance", "/openid-configuration")):
            return self._entra()
        self.requests.append(f"{handler.command} {url.path}")
        if self.busy:
            self.busy -= 1
            return 503, {"error": {"message": "busy"}, "errors": ["busy"]}
        asked = json.loads(body or b"{}")
        if url.path.startswith("/v1/projects/"):
            return self.google_kms(url.path, handler.headers.get("Authorization"), asked)
        if url.path.startswith("/v1/"):
            return self._transit(url.path, handler.headers.get("X-Vault-Token"), asked)
        return self._key_vault(url.path, handler.headers.get("Authorization"), asked)

    @staticmethod
    def _entra() -> Answer:
        """What Azure's own libraries read before they ask for a token: of an authority, and of its tenant."""
        metadata = f"{ENTRA}/v2.0/.well-known/openid-configuration"
        authority = {"tenant_discovery_endpoint": metadata, "metadata": []}
        endpoints = {
            "authorization_endpoint": f"{ENTRA}/oauth2/v2.0/authorize",
            "token_endpoint": f"{ENTRA}/oauth2/v2.0/token",
        }
        return 200, authority | endpoints | {"issuer": f"{ENTRA}/v2.0"}

    def _token(self, path: str, form: dict[str, list[str]]) -> Answer:
        known = path.startswith("/tenant/") and form["client_id"] == ["application"]
        if "client_assertion" in form and not self._has_signed(form["client_assertion"][0], path):
            return 401, {
                "error": "invalid_client",
                "error_description": "AADSTS700027: The assertion is not of the application.",
            }
        proved = form.get("client_secret") == [SECRET] or "client_assertion" in form
        # Azure's own libraries ask for scopes of OpenID, too.
        if known and proved and "https://vault.azure.net/.default" in form["scope"][0].split():
            return 200, {"access_token": TOKEN, "token_type": "Bearer", "expires_in": 3599}
        return 401, {"error": "invalid_client", "error_description": "AADSTS7000215: Invalid client secret provided."}

    def _has_signed(self, assertion: str, path: str) -> bool:
        """Did the application's certificate sign this, for this address?"""
        if self.application is None:
            return False
        header, claims, signature = assertion.split(".")
        assert json.loads(un_url64(header))["x5t"] == url64(self.application.fingerprint(hashes.SHA1()))
        assert json.loads(un_url64(claims))["aud"] == f"{self.address}{path}"
        key = self.application.public_key()
        assert isinstance(key, rsa.RSAPublicKey)
        key.verify(un_url64(signature), f"{header}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256())
        return True

    def google_kms(self, path: str, authorization: str | None, asked: dict[str, str]) -> Answer:
        """What Cloud KMS answers by REST. Who serves it by gRPC asks here, too."""

        def refused(status: int, name: str, message: str) -> Answer:
            return status, {"error": {"code": status, "message": message, "status": name}}

        key, verb = path.removeprefix("/v1/").split(":")
        if authorization != f"Bearer {TOKEN}":
            return refused(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.")
        if key.endswith("/no"):
            return refused(403, "PERMISSION_DENIED", f"Permission denied on resource '{key}' (or it may not exist).")
        if not key.endswith("/one"):
            return refused(404, "NOT_FOUND", f"CryptoKey {key} not found.")
        aad = base64.b64decode(asked.get("additionalAuthenticatedData", "")) or None
        if verb == "encrypt":
            self.keys.append(asked["plaintext"])
            nonce = os.urandom(12)
            sealed = nonce + self.google.encrypt(nonce, base64.b64decode(asked["plaintext"]), aad)
            return 200, {"name": f"{key}/cryptoKeyVersions/1", "ciphertext": b64(sealed)}
        sealed = base64.b64decode(asked["ciphertext"])
        try:
            return 200, {"plaintext": b64(self.google.decrypt(sealed[:12], sealed[12:], aad))}
        except Exception:
            return refused(
                400, "INVALID_ARGUMENT", "Decryption failed: verify that 'name' refers to the correct CryptoKey."
            )

    def _transit(self, path: str, token: str | None, asked: dict[str, str]) -> Answer:
        found = re.match(r"^/v1/transit/(encrypt|decrypt)/(.+)$", path)
        if token != TOKEN or path.endswith("/no"):
            return 403, {"errors": ["permission denied"]}
        if found is None:
            return 404, {"errors": [f'no handler for route "{path[4:]}". route entry not found.']}
        verb, name = found.groups()
        if verb == "encrypt":
            self.keys.append(asked["plaintext"])
            versions = self.vault.setdefault(name, [AESGCM(AESGCM.generate_key(256))])
            nonce = os.urandom(12)
            sealed = nonce + versions[-1].encrypt(nonce, base64.b64decode(asked["plaintext"]), None)
            return 200, {"data": {"ciphertext": f"vault:v{len(versions)}:{b64(sealed)}", "key_version": len(versions)}}
        if name not in self.vault:
            return 400, {"errors": ["encryption key not found"]}
        _, version, text = asked["ciphertext"].split(":")
        number, sealed = int(version[1:]), base64.b64decode(text)
        if number < self.vault_least:
            return 400, {"errors": ["ciphertext or signature version is disallowed by policy (too old)"]}
        try:
            return 200, {
                "data": {"plaintext": b64(self.vault[name][number - 1].decrypt(sealed[:12], sealed[12:], None))}
            }
        except Exception:
            return 400, {"errors": ["cipher: message authentication failed"]}

    def _key_vault(self, path: str, authorization: str | None, asked: dict[str, str]) -> Answer:
        def refused(status: int, code: str, message: str) -> Answer:
            return status, {"error": {"code": code, "message": message}}

        if authorization != f"Bearer {TOKEN}":
            return refused(401, "Unauthorized", "AKV10000: Request is missing a Bearer or PoP token.")
        segments = path.strip("/").split("/")[1:]
        if segments[0] == "no":
            return refused(403, "Forbidden", "The user, group or application does not have keys permission.")
        if segments[0] != "one":
            return refused(404, "KeyNotFound", f"A key with (name/id) {segments[0]} was not found in this key vault.")
        if segments[1] == "versions":
            kids = [f"https://throwaway.vault.azure.net/keys/one/{version}" for version, _ in self.azure]
            return 200, {"value": [{"kid": kid, "attributes": {"enabled": True}} for kid in kids]}
        versions = dict(self.azure)
        version = segments[1] if len(segments) == 3 else self.azure[-1][0]
        if version not in versions:
            return refused(404, "KeyNotFound", f"A key with (name/id) one/{version} was not found in this key vault.")
        digest = {"RSA-OAEP-256": hashes.SHA256(), "RSA-OAEP": hashes.SHA1()}[asked["alg"]]
        pad = padding.OAEP(padding.MGF1(digest), digest, None)
        private, value = versions[version], un_url64(asked["value"])
        try:
            encrypts = segments[-1] == "encrypt"
            value = private.public_key().encrypt(value, pad) if encrypts else private.decrypt(value, pad)
        except ValueError:
            return refused(400, "BadParameter", "The parameter is incorrect.")
        return 200, {"kid": f"https://throwaway.vault.azure.net/keys/one/{version}", "value": url64(value)}


class KeyManagementService:
    """AWS KMS, by moto: the alias `one`, and an identity that may use its key."""

    def __init__(self) -> None:
        # Keys of identities are told before signatures count.
        from moto import settings
        from moto.core.responses import ActionAuthenticatorMixin
        from moto.server import DomainDispatcherApplication, create_backend_app
        from werkzeug.serving import make_server

        settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
        self._server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app), threaded=True)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self._mixin = ActionAuthenticatorMixin
        self._mixin.request_count = -1_000_000
        self.key = self._client("kms", "root", "root").create_key()["KeyMetadata"]["Arn"]
        self._client("kms", "root", "root").create_alias(AliasName="alias/one", TargetKeyId=self.key)
        self.may_all = self._identity("all", ["kms:Encrypt", "kms:Decrypt"])
        self.may_encrypt = self._identity("encrypts", ["kms:Encrypt"])
        self._mixin.request_count = 1_000_000

    def _client(self, service: str, key: str, secret: str) -> Any:
        import boto3

        return boto3.client(
            service,
            region_name="us-east-1",
            endpoint_url=self.address,
            aws_access_key_id=key,
            aws_secret_access_key=secret,
        )

    def _identity(self, name: str, actions: list[str]) -> dict[str, str]:
        iam = self._client("iam", "root", "root")
        iam.create_user(UserName=name)
        statement = {"Effect": "Allow", "Action": actions, "Resource": "*"}
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        iam.put_user_policy(UserName=name, PolicyName="of-tests", PolicyDocument=document)
        made = iam.create_access_key(UserName=name)["AccessKey"]
        return {
            "AWS_ACCESS_KEY_ID": made["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": made["SecretAccessKey"],
            "AWS_ENDPOINT_URL_KMS": self.address,
            "AWS_REGION": "us-east-1",
        }

    def move_alias(self) -> None:
        """The alias is another key's from now on."""
        count, self._mixin.request_count = self._mixin.request_count, -1_000_000
        kms = self._client("kms", "root", "root")
        kms.update_alias(AliasName="alias/one", TargetKeyId=kms.create_key()["KeyMetadata"]["KeyId"])
        self._mixin.request_count = count

    def close(self) -> None:
        self._server.shutdown()


@contextmanager
def key_management_service() -> Iterator[KeyManagementService]:
    """A server of AWS KMS."""
    server = KeyManagementService()
    try:
        yield server
    finally:
        server.close()


@contextmanager
def key_servers() -> Iterator[KeyServers]:
    """Servers of their own keys."""
    servers = KeyServers()
    try:
        yield servers
    finally:
        servers.close()


if __name__ == "__main__":
    with key_servers() as running:
        print(json.dumps(running.environment), flush=True)
        sys.stdin.read()
