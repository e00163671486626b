from collections.abc import Sequence

import pulumi
import pulumi_tls as tls
import pulumi_tls.config
from pulumi_tls.outputs import GetCertificateCertificateResult

RESULTS = {
    "tls:index/getPublicKey:getPublicKey": {
        "algorithm": "RSA",
        "id": "1",
        "publicKeyPem": "pem",
        "publicKeyFingerprintMd5": "md5",
        "publicKeyOpenssh": "ssh",
    },
    "tls:index/getCertificate:getCertificate": {
        "id": "2",
        "url": "https://example.com",
        "certificates": [{"certPem": "pem", "isCa": True, "serialNumber": "7"}, {"certPem": "other", "isCa": False}],
    },
}


def first_subject(certificates: Sequence[GetCertificateCertificateResult]) -> str:
    return certificates[0].cert_pem


def program() -> dict[str, object]:
    provider = tls.Provider("provider", proxy=tls.ProviderProxyArgs(url="http://proxy", from_env=False))
    by_dictionary = tls.Provider("by-dictionary", proxy={"url": "http://proxy", "from_env": True})
    key = tls.PrivateKey("key", algorithm="RSA", rsa_bits=4096, opts=pulumi.ResourceOptions(provider=provider))
    request = tls.CertRequest(
        "request",
        private_key_pem=key.private_key_pem,
        dns_names=["a.example.com", key.id],
        subject=tls.CertRequestSubjectArgs(common_name="example.com", street_addresses=["one", key.algorithm]),
    )
    by_type: tls.CertRequestSubjectArgsDict = {"common_name": "typed", "postal_code": "1"}
    again = tls.CertRequest("again", private_key_pem="pem", subject=by_type)
    signed = tls.SelfSignedCert(
        "signed",
        tls.SelfSignedCertArgs(
            allowed_uses=["server_auth"],
            private_key_pem=key.private_key_pem,
            validity_period_hours=12,
            subject={"common_name": "plain dictionary"},  # type: ignore
        ),
        pulumi.ResourceOptions(parent=key),
    )
    plain = tls.get_public_key(private_key_pem="pem")
    output = tls.get_public_key_output(private_key_pem=key.private_key_pem)
    options = tls.get_public_key("ssh", opts=pulumi.InvokeOptions(version="5.0.0"))
    certificate = tls.get_certificate_output(url=pulumi.Output.from_input("https://example.com"), verify_chain=False)
    direct = tls.get_certificate(url="https://example.com")
    config = provider.terraform_config()
    fresh = tls.GetPublicKeyResult(algorithm="x")
    return {
        "subject": request.subject,
        "common name": request.subject.apply(
            lambda subject: (
                [subject.common_name, subject["common_name"], subject.get("street_addresses")] if subject else None
            )
        ),
        "again": again.subject,
        "signed": signed.subject,
        "key": key.private_key_pem,
        "plain": plain,
        "plain member": plain.public_key_pem,
        "awaitable": isinstance(plain, tls.AwaitableGetPublicKeyResult),
        "output": output,
        "output member": output.public_key_openssh,
        "options": options.id,
        "certificate": certificate.certificates.apply(lambda found: found[0]),
        "serial": certificate.certificates[0].serial_number,
        "first": first_subject(direct.certificates),
        "whole": direct,
        "config": config,
        "config variable": pulumi_tls.config.proxy,
        "by dictionary": by_dictionary.urn,
        "fresh": [fresh.algorithm, fresh.id],
    }
