"""Sixty kinds of secrets as they stand in logs, files and protocols; their values are built, none is real."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Iterator
from typing import NamedTuple

LETTERS = string.ascii_letters + string.digits
HEX, UPPER = "0123456789abcdef", string.ascii_uppercase + string.digits


class Planted(NamedTuple):
    """One secret in its surroundings.

    Attributes:
        kind: what it is.
        text: what a program prints, reads or sends.
        secret: the part that must not be in a record.
    """

    kind: str
    text: str
    secret: str


def planted() -> list[Planted]:
    """Return the kinds, with other values each, the same in every call."""
    return [Planted(kind, text.replace("@@", secret), secret) for kind, text, secret in _rows()]


def _rows() -> Iterator[tuple[str, str, str]]:
    draw = random.Random(20260911)

    def some(count: int, of: str = LETTERS) -> str:
        return "".join(draw.choices(of, k=count))

    def word() -> str:
        return f"{some(5, string.ascii_lowercase)}-{some(3, string.digits)}{some(4)}"

    def packed(count: int) -> str:
        return base64.b64encode(draw.randbytes(count)).decode()

    # Tokens that say whose they are.
    yield "AWS key id", "using credentials @@ for the bucket", "AKIA" + some(16, UPPER)
    yield "AWS session key id", "assumed role, @@ until noon", "ASIA" + some(16, UPPER)
    yield "AWS secret key in a file", "aws_secret_access_key = @@\n", some(40)
    yield "GitHub token", "cloning https://example.org with @@", "ghp_" + some(36)
    yield "GitHub fine-grained token", "token is @@", "github_pat_" + some(22) + "_" + some(40)
    yield "GitLab token", "PRIVATE-TOKEN header @@", "glpat-" + some(20)
    yield "npm token", "//registry.npmjs.org/:_authToken=@@", "npm_" + some(36)
    yield "PyPI token", "uploading as __token__ @@", "pypi-AgEIcHlwaS5vcmc" + some(70)
    yield "Slack bot token", "posting with @@", "xoxb-" + some(11, string.digits) + "-" + some(24)
    yield (
        "Slack webhook",
        "POST https://hooks.slack.com/services/@@",
        f"T{some(9, UPPER)}/B{some(9, UPPER)}/{some(24)}",
    )
    yield "Stripe key", "charge by @@", "sk_live_" + some(24)
    yield "Stripe webhook secret", "checking with @@", "whsec_" + some(32)
    yield "OpenAI key", "model client ready @@", "sk-proj-" + some(48)
    yield "Anthropic key", "model client ready @@", "sk-ant-api03-" + some(60)
    yield "Hugging Face token", "logged in by @@", "hf_" + some(34)
    yield "Google API key", "maps?client=web&@@", "AIza" + some(35)
    yield "Google OAuth token", "refreshed: @@", "ya29.a0" + some(60)
    yield "Google client secret", "desktop client @@", "GOCSPX-" + some(28)
    yield (
        "Azure storage key",
        "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=@@;",
        packed(64),
    )
    yield "Azure SAS", "https://shop.blob.core.windows.net/a?sv=2024&sig=@@", some(43) + "%3D"
    yield "signed S3 URL", "GET https://s3/x?X-Amz-Signature=@@", some(64, HEX)
    yield "SendGrid key", "mail by @@", f"SG.{some(22)}.{some(43)}"
    yield "Mailgun key", "mail by @@", "key-" + some(32, HEX)
    yield "Twilio key", "sms by @@", "SK" + some(32, HEX)
    yield "Telegram token", "bot @@ polls", f"{some(10, '123456789')}:AA{some(33)}"
    yield "Discord token", "bot @@ joins", f"MTk4{some(20)}.{some(6)}.{some(30)}"
    yield "DigitalOcean token", "droplets by @@", "dop_v1_" + some(64, HEX)
    yield "Databricks token", "cluster by @@", "dapi" + some(32, HEX)
    yield "Vault token", "unsealed by @@", "hvs." + some(90)
    yield "Grafana token", "board by @@", "glsa_" + some(32) + "_" + some(8, HEX)
    yield "New Relic key", "agent @@", "NRAK-" + some(27, UPPER)
    yield "JSON Web Token", "session @@ accepted", f"eyJ{some(20)}.eyJ{some(60)}.{some(43)}"
    # Keys and passwords in files.
    yield (
        "private key",
        "-----BEGIN RSA PRIVATE KEY-----\n@@\n-----END RSA PRIVATE KEY-----\n",
        packed(200),
    )
    yield (
        "OpenSSH key",
        "-----BEGIN OPENSSH PRIVATE KEY-----\n@@\n-----END OPENSSH PRIVATE KEY-----\n",
        packed(150),
    )
    yield "netrc", "machine example.org login me password @@\n", word()
    yield "pgpass", "db.example.org:5432:shop:me:@@\n", word()
    yield "env file", "DB_PASSWORD=@@\n", word()
    yield "YAML", "database:\n  user: me\n  password: @@\n", word()
    yield "TOML", 'api_key = "@@"\n', some(32)
    yield "JSON", '{"user": "me", "client_secret": "@@"}\n', some(32)
    yield "INI of pip", "index-url = https://me:@@@pypi.example.org/simple\n", word()
    yield "Docker login", '{"auths": {"example.org": {"auth": "@@"}}}\n', packed(24)
    yield "kubeconfig", "    client-key-data: @@\n", packed(120)
    yield "WireGuard", "[Interface]\nPrivateKey = @@\n", packed(32)
    yield (
        "one-time password",
        "otpauth://totp/Shop:me?secret=@@&issuer=Shop",
        some(32, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    )
    yield "password hash", "me:$6$rounds=5000$@@:19000::::::\n", some(16) + "$" + some(86)
    # In lines that programs print.
    yield "bearer in a log", "DEBUG > Authorization: Bearer @@", some(40)
    yield "basic in a log", "DEBUG > Authorization: Basic @@", packed(20)
    yield "password in a URL", "connecting to postgresql://me:@@@db.example.org/shop", word()
    yield "Redis URL", "connecting to redis://:@@@cache.example.org:6379/0", word()
    yield "password in a log", "login failed: user=me password=@@ from 10.0.0.7", word()
    yield "option in a log", "$ mysql --user=me --password @@ shop", word()
    yield "curl", "$ curl -u me:@@ https://example.org", word()
    yield "SQL", "CREATE USER me WITH PASSWORD '@@';", word()
    # Protocols.
    yield "Redis, inline", "AUTH @@\r\n", word()
    yield "Redis, RESP", "*2\r\n$4\r\nAUTH\r\n$13\r\n@@\r\n", word()
    yield "SMTP", "AUTH PLAIN @@\r\n", packed(24)
    yield "FTP", "PASS @@\r\n", word()
    yield "IMAP", 'a1 LOGIN me "@@"\r\n', word()
    yield "PostgreSQL", "p\0\0\0\x12@@\0", word()
