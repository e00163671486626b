"""Certificates for servers and clients of tests."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _pem(key: rsa.RSAPrivateKey) -> bytes:
    plain = serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)


class Authority:
    """An authority, whose certificate is the file `certificate`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._key = rsa.generate_private_key(65537, 2048)
        self.certificate = directory / "authority.pem"
        made = self._signed("authority", self._key, is_authority=True)
        self.certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))

    def issue(self, name: str, *hosts: str) -> Path:
        """A file with the key and the certificate of `name`, for 127.0.0.1 and these hosts."""
        key = rsa.generate_private_key(65537, 2048)
        made = self._signed(name, key, *hosts, is_authority=False)
        file = self._directory / f"{name}.pem"
        file.write_bytes(_pem(key) + made.public_bytes(serialization.Encoding.PEM))
        return file

    def _signed(self, name: str, key: rsa.RSAPrivateKey, *hosts: str, is_authority: bool) -> x509.Certificate:
        now = datetime.datetime.now(datetime.timezone.utc)
        day = datetime.timedelta(days=1)
        names = [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), *(x509.DNSName(host) for host in hosts)]
        builder = x509.CertificateBuilder(
            _name("authority"), _name(name), key.public_key(), x509.random_serial_number()
        )
        builder = builder.not_valid_before(now - day).not_valid_after(now + day)
        builder = builder.add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        return builder.sign(self._key, hashes.SHA256())
