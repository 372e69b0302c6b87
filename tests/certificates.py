"""Certificates made by tests: authorities, and what they vouch for."""

from __future__ import annotations

import dataclasses
import datetime
import ipaddress
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

_DAY = datetime.timedelta(days=1)


@dataclasses.dataclass(frozen=True)
class Pair:
    """A certificate and its key, as files."""

    cert: Path
    key: Path

    def replace_by(self, other: Pair) -> None:
        """Puts another pair in its place, each file by renaming, as a Secret's volume does."""
        for mine, its in ((self.key, other.key), (self.cert, other.cert)):
            fresh = mine.with_suffix(".new")
            fresh.write_bytes(its.read_bytes())
            fresh.replace(mine)


class Authority:
    """Who vouches for certificates; its own is the file `ca`."""

    def __init__(self, folder: Path, name: str = "tests") -> None:
        self.folder = folder / name
        self.folder.mkdir()
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _subject(f"{name} authority")
        usage = x509.BasicConstraints(ca=True, path_length=0)
        built = _builder(self._name, self._name, self._key).add_extension(usage, critical=True)
        self.ca = self.folder / "ca.pem"
        self.ca.write_bytes(_pem(built.sign(self._key, hashes.SHA256())))

    def issue(self, label: str, names: Sequence[str] = ("localhost", "127.0.0.1"), *, expired: bool = False) -> Pair:
        """A new certificate for these host names and addresses, in files called `label`."""
        key = ec.generate_private_key(ec.SECP256R1())
        alternatives = x509.SubjectAlternativeName([_general(name) for name in names])
        built = _builder(_subject(label), self._name, key, expired=expired).add_extension(alternatives, critical=False)
        pair = Pair(self.folder / f"{label}.pem", self.folder / f"{label}.key")
        pair.cert.write_bytes(_pem(built.sign(self._key, hashes.SHA256())))
        pair.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return pair


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, *, expired: bool = False
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    end = now - _DAY if expired else now + _DAY
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 2 * _DAY)
        .not_valid_after(end)
    )


def _subject(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
