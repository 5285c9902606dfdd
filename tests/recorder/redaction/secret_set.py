"""Sixty secrets, each at one place where a program would show it; written without a look at the code.

No secret stands in this source: each is put together from a seeded generator, with the prefix, alphabet and
length of the real thing. None was ever valid.
"""

from __future__ import annotations

import base64
import json
import random
import string
import struct
import zlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """What it is, where a program shows it, the text there, and the secret in it."""

    name: str
    place: str
    text: str
    secret: str


_R = random.Random(7041963)

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALNUM = string.ascii_letters + DIGITS
B62 = DIGITS + UPPER + LOWER
B64 = ALNUM + "+/"
B64URL = ALNUM + "-_"
HEX = "0123456789abcdef"
B32 = UPPER + "234567"
WORDS = (
    "falcon winter copper harbor meadow tiger silver rocket orange planet "
    "summer coffee dragon bridge forest violet marble thunder"
).split()


# ---------------------------------------------------------------- builders
def _s(alphabet: str, n: int) -> str:
    return "".join(_R.choice(alphabet) for _ in range(n))


def _bytes(n: int) -> bytes:
    return bytes(_R.randrange(256) for _ in range(n))


def _b64(data: bytes | str) -> str:
    if isinstance(data, str):
        data = data.encode()
    return base64.b64encode(data).decode()


def _b64u(data: bytes | str) -> str:
    return _b64(data).replace("+", "-").replace("/", "_").rstrip("=")


def _uuid() -> str:
    h = _s(HEX, 32)
    return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-a{h[17:20]}-{h[20:]}"


def _crc62(body: str) -> str:
    n, out = zlib.crc32(body.encode()), ""
    while n:
        n, r = divmod(n, 62)
        out = B62[r] + out
    return out.rjust(6, "0")


def _checked(prefix: str) -> str:  # GitHub classic / npm layout
    body = _s(ALNUM, 30)
    return prefix + body + _crc62(body)


def _pw_random(n: int = 16) -> str:  # password manager / openssl rand
    return _s(LOWER, 1) + _s(ALNUM, n - 3) + _s(DIGITS, 1) + _s(UPPER, 1)


def _pw_human() -> str:  # Word-Word followed by digits, and a mark
    a, b = _R.sample(WORDS, 2)
    return a.capitalize() + b.capitalize() + _s(DIGITS, 4) + "!"


def _pw_human_plain() -> str:  # same, safe inside a URL
    a, b = _R.sample(WORDS, 2)
    return f"{a.capitalize()}-{b}-{_s(DIGITS, 4)}"


def _jwt(claims: dict, sig: int = 32, alg: str = "HS256") -> str:
    head = _b64u(json.dumps({"alg": alg, "typ": "JWT"}, separators=(",", ":")))
    body = _b64u(json.dumps(claims, separators=(",", ":")))
    return f"{head}.{body}.{_b64u(_bytes(sig))}"


def _wrap(text: str, n: int) -> list[str]:
    return [text[i : i + n] for i in range(0, len(text), n)]


def _openssh_ed25519(comment: str) -> list[str]:
    def st(b: bytes) -> bytes:
        return struct.pack(">I", len(b)) + b

    pub, seed, chk = _bytes(32), _bytes(32), _bytes(4)
    kt = b"ssh-ed25519"
    priv = chk + chk + st(kt) + st(pub) + st(seed + pub) + st(comment.encode())
    pad = 1
    while len(priv) % 8:
        priv += bytes([pad])
        pad += 1
    blob = (
        b"openssh-key-v1\0"
        + st(b"none")
        + st(b"none")
        + st(b"")
        + struct.pack(">I", 1)
        + st(st(kt) + st(pub))
        + st(priv)
    )
    return _wrap(_b64(blob), 70)


def _rsa_pem_body() -> list[str]:
    def integer(n: int) -> bytes:
        b = bytes([_R.randrange(1, 128)]) + _bytes(n - 1)
        ln = (
            bytes([0x82]) + struct.pack(">H", n)
            if n > 127
            else bytes([0x81, n])
            if n == 128
            else bytes([n])
        )
        return b"\x02" + ln + b

    inner = b"\x02\x01\x00"
    inner += b"\x02\x82\x01\x01\x00" + bytes([0x80 | _R.randrange(128)]) + _bytes(255)
    inner += b"\x02\x03\x01\x00\x01" + integer(256)
    for _ in range(5):
        inner += b"\x02\x81\x81\x00" + bytes([0x80 | _R.randrange(128)]) + _bytes(127)
    return _wrap(_b64(b"\x30\x82" + struct.pack(">H", len(inner)) + inner), 64)


def _ec_pem() -> str:
    der = (
        b"\x30\x77\x02\x01\x01\x04\x20"
        + _bytes(32)
        + b"\xa0\x0a\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\xa1\x44\x03\x42\x00\x04"
        + _bytes(64)
    )
    what = "EC PRIVATE KEY"
    return (
        f"-----BEGIN {what}-----\n" + "\n".join(_wrap(_b64(der), 64)) + f"\n-----END {what}-----\n"
    )


def _mqtt_connect(client: str, user: str, pw: str) -> bytes:
    def st(x: str) -> bytes:
        b = x.encode()
        return struct.pack(">H", len(b)) + b

    rest = st("MQTT") + b"\x04\xc2\x00\x3c" + st(client) + st(user) + st(pw)
    n, ln = len(rest), b""
    while True:
        n, d = divmod(n, 128)
        ln += bytes([d | (0x80 if n else 0)])
        if not n:
            return b"\x10" + ln + rest


def _ldap_bind(dn: str, pw: str) -> bytes:
    def tlv(tag: int, b: bytes) -> bytes:
        assert len(b) < 128
        return bytes([tag, len(b)]) + b

    op = tlv(2, b"\x03") + tlv(4, dn.encode()) + tlv(0x80, pw.encode())
    return tlv(0x30, tlv(2, b"\x01") + tlv(0x60, op))


# ------------------------------------------------------------------- kinds
def _build() -> tuple[Kind, ...]:
    out: list[Kind] = []

    def add(name: str, place: str, text: str | bytes, secret: str) -> None:
        if isinstance(text, bytes):
            text = text.decode("latin-1")
        out.append(Kind(name, place, text, secret))

    # ---- stdout
    s = _checked("ghp" + "_")
    add(
        "GitHub classic token in a clone URL",
        "stdout",
        f"Cloning https://x-access-token:{s}@github.com/acme/infra.git into /tmp/build/infra ...",
        s,
    )
    s = "sk-" + "proj-" + _s(B64URL, 74) + "T3Blbk" + "FJ" + _s(B64URL, 74)
    add(
        "OpenAI key in a printed curl command",
        "stdout",
        "curl https://api.openai.com/v1/chat/completions -H 'Content-Type: application/json' "
        f"-H 'Authorization: Bearer {s}' -d @request.json",
        s,
    )
    s = _pw_human_plain()
    add(
        "MySQL connection string printed at start",
        "stdout",
        f"[worker-2] using database mysql+pymysql://shop_rw:{s}@db01.internal.acme.io:3306/shop?charset=utf8mb4",
        s,
    )

    # ---- stderr
    s = _b64("svc-reports:" + _pw_random(18))
    add("Basic authorization in curl -v trace", "stderr", f"> Authorization: Basic {s}", s)
    s = "glpat" + "-" + _s(B64URL, 20)
    add(
        "GitLab token in a failed git push",
        "stderr",
        f"fatal: unable to access 'https://oauth2:{s}@gitlab.com/acme/backend/api.git/': "
        "The requested URL returned error: 403",
        s,
    )
    s = _b64u(str(_R.randrange(10**18, 10**19 // 8))) + "." + _s(B64URL, 6) + "." + _s(B64URL, 38)
    add(
        "Discord bot token in a warning",
        "stderr",
        f"warning: gateway closed with 4004 (authentication failed), token={s}, will not reconnect",
        s,
    )

    # ---- logging
    s = (
        "xox"
        "b-"
        + _s("123456789", 1)
        + _s(DIGITS, 11)
        + "-"
        + _s("123456789", 1)
        + _s(DIGITS, 12)
        + "-"
        + _s(ALNUM, 24)
    )
    add(
        "Slack bot token in a log line",
        "logging",
        f"2025-03-11 09:14:02,331 DEBUG notifier.slack: posting to #ops-alerts with token {s}",
        s,
    )
    s = _pw_human()
    add(
        "Password in a logged settings dict",
        "logging",
        "2025-03-11 09:14:05,008 INFO app.mail: mail settings {'host': 'smtp.acme.io', 'port': 587, "
        f"'username': 'robot@acme.io', 'password': '{s}', 'use_tls': True}}",
        s,
    )
    s = _s(HEX, 64)
    add(
        "S3 presigned URL in a log line",
        "logging",
        "INFO exports.publish: download link https://acme-exports.s3.eu-west-1.amazonaws.com/2025/03/report.csv"
        "?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIA"
        + _s(B32, 16)
        + "%2F20250311%2Feu-west-1%2Fs3%2Faws4_request&X-Amz-Date=20250311T091402Z&X-Amz-Expires=86400"
        f"&X-Amz-SignedHeaders=host&X-Amz-Signature={s}",
        s,
    )

    # ---- exception
    s = "$2b$" + "12$" + _s("./" + ALNUM, 53)
    add(
        "bcrypt hash in SQL parameters of an error",
        "exception",
        "sqlalchemy.exc.IntegrityError: (psycopg2.errors.UniqueViolation) duplicate key value violates unique "
        'constraint "users_email_key" [SQL: INSERT INTO users (email, password_hash, is_admin) VALUES '
        "(%(email)s, %(password_hash)s, %(is_admin)s)] [parameters: {'email': 'jane@acme.io', "
        f"'password_hash': '{s}', 'is_admin': False}}]",
        s,
    )
    s = "dop" + "_v1_" + _s(HEX, 64)
    add(
        "DigitalOcean token in a traceback's call",
        "exception",
        'RuntimeError: File "/srv/deploy/droplets.py", line 88, in create: '
        f"create_droplet(name='web-1', region='fra1', token='{s}') failed: 401 Unable to authenticate you",
        s,
    )
    s = _s("123456789", 1) + _s(DIGITS, 9) + ":AA" + _s(B64URL, 33)
    add(
        "Telegram bot token in a connection error",
        "exception",
        "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='api.telegram.org', port=443): "
        f"Max retries exceeded with url: /bot{s}/sendMessage?chat_id=-100{_s(DIGITS, 10)} (Caused by "
        "NewConnectionError('Failed to establish a new connection: [Errno 111] Connection refused'))",
        s,
    )

    # ---- file read
    s = _s(B64, 40)
    add(
        "AWS credentials file",
        "file read",
        f"[default]\naws_access_key_id = AKIA{_s(B32, 16)}\naws_secret_access_key = {s}\n\n"
        "[profile-ro]\nregion = eu-central-1\noutput = json\n",
        s,
    )
    s = _pw_random(20)
    add(
        "TOML secrets file with a Snowflake password",
        "file read",
        '[connections.snowflake]\naccount = "ab12345.eu-west-1"\nuser = "ETL_SERVICE"\n'
        f'password = "{s}"\nwarehouse = "LOAD_WH"\ndatabase = "ANALYTICS"\n\n[ui]\ntheme = "dark"\n',
        s,
    )
    s = _uuid()
    add(
        ".netrc with a Heroku key",
        "file read",
        f"machine api.heroku.com\n  login ops@acme.io\n  password {s}\n",
        s,
    )
    s = _b64(_ec_pem())
    add(
        "kubeconfig client key",
        "file read",
        "apiVersion: v1\nkind: Config\nclusters:\n- name: prod\n  cluster:\n    server: https://10.20.0.1:6443\n"
        "contexts:\n- name: prod\n  context:\n    cluster: prod\n    user: admin\ncurrent-context: prod\n"
        f"users:\n- name: admin\n  user:\n    client-key-data: {s}\n",
        s,
    )
    s = _s(HEX, 32)
    add(
        ".env with a Twilio auth token",
        "file read",
        f"# local settings\nDEBUG=0\nPORT=8000\nTWILIO_ACCOUNT_SID=AC{_s(HEX, 32)}\nTWILIO_AUTH_TOKEN={s}\n"
        "TWILIO_FROM=+15005550006\nLOG_LEVEL=info\n",
        s,
    )

    # ---- file written
    s = _checked("npm" + "_")
    add(
        ".npmrc with an npm token",
        "file written",
        f"registry=https://registry.npmjs.org/\n//registry.npmjs.org/:_authToken={s}\nalways-auth=true\n",
        s,
    )
    s = _b64("acme-ci:" + _pw_random(24))
    add(
        "docker config.json auth",
        "file written",
        json.dumps({"auths": {"registry.acme.io": {"auth": s}}, "credsStore": ""}, indent=2) + "\n",
        s,
    )
    s = _pw_random(14)
    add(
        ".pgpass line",
        "file written",
        f"# hostname:port:database:username:password\ndb.internal.acme.io:5432:billing:billing_app:{s}\n",
        s,
    )
    s = _s(B64URL, 40)
    add(
        "terraform.tfvars with a Cloudflare token",
        "file written",
        'region               = "eu-west-1"\ninstance_count       = 3\n'
        f'cloudflare_api_token = "{s}"\ndomain               = "acme.io"\n',
        s,
    )
    mac = (
        b"\x02\x01\x08"
        b"pypi.org"
        b"\x02\x24"
        + _uuid().encode()
        + b'\x00\x02\x2a[3,"'
        + _uuid().encode()
        + b'"]\x00\x00\x06\x20'
        + _bytes(32)
    )
    s = "pypi" + "-" + _b64u(mac)
    add(
        ".pypirc with an upload token",
        "file written",
        "[distutils]\nindex-servers =\n    pypi\n\n[pypi]\nrepository = https://upload.pypi.org/legacy/\n"
        f"username = __token__\npassword = {s}\n",
        s,
    )

    # ---- standard input
    s = "github" + "_pat_" + _s(ALNUM, 22) + "_" + _s(ALNUM, 59)
    add(
        "git credential answer with a fine-grained token",
        "standard input",
        f"protocol=https\nhost=github.com\nusername=acme-bot\npassword={s}\n\n",
        s,
    )
    s = _pw_human()
    add(
        "SQL CREATE USER with a password",
        "standard input",
        "BEGIN;\nCREATE DATABASE metrics;\n"
        f"CREATE USER metrics_rw WITH LOGIN PASSWORD '{s}';\n"
        "GRANT ALL PRIVILEGES ON DATABASE metrics TO metrics_rw;\nCOMMIT;\n",
        s,
    )
    lines = _openssh_ed25519("deploy@acme.io")
    s = lines[3]  # the line that holds the seed
    what = "OPENSSH PRIVATE KEY"
    add(
        "OpenSSH private key piped to ssh-add",
        "standard input",
        f"-----BEGIN {what}-----\n" + "\n".join(lines) + f"\n-----END {what}-----\n",
        s,
    )
    s = _b64(_bytes(32))
    add(
        "WireGuard configuration",
        "standard input",
        f"[Interface]\nPrivateKey = {s}\nListenPort = 51820\n\n[Peer]\nPublicKey = {_b64(_bytes(32))}\n"
        "AllowedIPs = 10.8.0.2/32\nEndpoint = vpn.acme.io:51820\n",
        s,
    )

    # ---- child output
    s = "hvs" + "." + "CAESI" + _s(B64URL, 90)
    add(
        "Vault login table",
        "child output",
        "Success! You are now authenticated.\n\nKey                  Value\n---                  -----\n"
        f"token                {s}\ntoken_accessor       {_s(ALNUM, 24)}\ntoken_duration       768h\n"
        'token_renewable      true\ntoken_policies       ["default" "deploy"]\n',
        s,
    )
    s = _s(HEX, 32)
    add(
        "Datadog api_key in a YAML dump",
        "child output",
        f"## Datadog agent\nsite: datadoghq.eu\napi_key: {s}\nhostname: web-01.acme.io\ntags:\n  - env:prod\n"
        "logs_enabled: true\n",
        s,
    )
    s = "AKCp8" + _s(ALNUM, 68)
    add(
        "pip.conf with an Artifactory key in the index URL",
        "child output",
        f"[global]\ntimeout = 60\nindex-url = https://ci-reader:{s}@acme.jfrog.io/artifactory/api/pypi/pypi/simple\n",
        s,
    )

    # ---- child argument
    s = "sk" + "_live_" + "51" + _s(ALNUM, 97)
    add(
        "Stripe live key as curl user",
        "child argument",
        f"curl -s https://api.stripe.com/v1/charges -u {s}: -d amount=2000 -d currency=eur",
        s,
    )
    s = _b64(_bytes(32)).replace("+", "%2B").replace("/", "%2F").replace("=", "%3D")
    add(
        "Azure SAS URL given to azcopy",
        "child argument",
        "azcopy copy /var/backups/db.dump https://acmebackups.blob.core.windows.net/nightly/db.dump"
        f"?sv=2023-11-03&st=2025-03-01T00:00:00Z&se=2026-03-01T00:00:00Z&sr=c&sp=racwl&sig={s}",
        s,
    )
    s = _pw_random(16)
    add(
        "mysqldump --password option",
        "child argument",
        f"mysqldump --host=db01 --user=backup --password={s} --single-transaction shop",
        s,
    )

    # ---- environment
    s = _pw_random(24)
    add(
        "DATABASE_URL for PostgreSQL",
        "environment",
        f"DATABASE_URL=postgresql://app:{s}@pg-prod.acme.io:5432/app?sslmode=require",
        s,
    )
    s = "sk-" + "ant-" + "api03-" + _s(B64URL, 93) + "AA"
    add("Anthropic key in the environment", "environment", f"ANTHROPIC_API_KEY={s}", s)
    s = _s(LOWER, 1) + _s(LOWER + DIGITS + "!@#$%^&*(-_=+)", 49)
    add("Django secret key in the environment", "environment", f"DJANGO_SECRET_KEY={s}", s)

    # ---- argument
    s = "dckr" + "_pat_" + _s(B64URL, 27)
    add(
        "Docker Hub token as an option",
        "argument",
        f"release.py --image acme/api:1.4.2 --registry-user acme --registry-token {s} --push",
        s,
    )
    s = _pw_human_plain()
    add(
        "MongoDB URL as an option",
        "argument",
        f"migrate.py --db-url mongodb+srv://migrator:{s}@cluster0.x7k2p.mongodb.net/crm?retryWrites=true --dry-run",
        s,
    )
    s = "SG" + "." + _s(B64URL, 22) + "." + _s(B64URL, 43)
    add(
        "SendGrid key as an option",
        "argument",
        f"newsletter.py send --api-key={s} --list customers --limit 500",
        s,
    )

    # ---- http response body
    s = "ya29" + ".a0" + _s(B64URL, 160)
    add(
        "OAuth token response",
        "http response body",
        json.dumps(
            {
                "access_token": s,
                "expires_in": 3599,
                "scope": "https://www.googleapis.com/auth/drive.readonly",
                "token_type": "Bearer",
            },
            indent=2,
        ),
        s,
    )
    s = _s(B32, 32)
    add(
        "TOTP enrolment with an otpauth URL",
        "http response body",
        json.dumps(
            {
                "method": "totp",
                "digits": 6,
                "provisioning_uri": f"otpauth://totp/Acme:jane%40acme.io?secret={s}&issuer=Acme&period=30",
            }
        ),
        s,
    )
    s = _s(B64, 40)
    add(
        "AWS STS AssumeRole answer in XML",
        "http response body",
        '<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">\n  <AssumeRoleResult>\n'
        "    <AssumedRoleUser>\n      <Arn>arn:aws:sts::123456789012:assumed-role/deploy/ci</Arn>\n    </AssumedRoleUser>\n"
        f"    <Credentials>\n      <AccessKeyId>ASIA{_s(B32, 16)}</AccessKeyId>\n"
        f"      <SecretAccessKey>{s}</SecretAccessKey>\n      <Expiration>2025-03-11T10:14:02Z</Expiration>\n"
        "    </Credentials>\n  </AssumeRoleResult>\n</AssumeRoleResponse>\n",
        s,
    )
    lines = _rsa_pem_body()
    s = lines[12]  # a line from the middle of the key
    what = "RSA PRIVATE KEY"
    add(
        "PEM RSA key in a Vault PKI answer",
        "http response body",
        json.dumps(
            {
                "request_id": _uuid(),
                "lease_duration": 0,
                "data": {
                    "private_key_type": "rsa",
                    "private_key": f"-----BEGIN {what}-----\n"
                    + "\n".join(lines)
                    + f"\n-----END {what}-----",
                    "expiration": 1773220442,
                },
            }
        ),
        s,
    )

    # ---- http response header
    s = _s(B64URL, 43)
    add(
        "Session cookie being set",
        "http response header",
        f"Set-Cookie: session={s}; Path=/; HttpOnly; Secure; SameSite=Lax; Max-Age=1209600",
        s,
    )
    s = "gAAAAAB" + _s(B64URL, 176)
    add("OpenStack Keystone token", "http response header", f"X-Subject-Token: {s}", s)
    s = _s(HEX, 512)
    add(
        "GCS signed URL in a redirect",
        "http response header",
        "Location: https://storage.googleapis.com/acme-media/video/4711.mp4?X-Goog-Algorithm=GOOG4-RSA-SHA256"
        "&X-Goog-Credential=media%40acme-prod.iam.gserviceaccount.com%2F20250311%2Fauto%2Fstorage%2Fgoog4_request"
        f"&X-Goog-Date=20250311T091402Z&X-Goog-Expires=3600&X-Goog-SignedHeaders=host&X-Goog-Signature={s}",
        s,
    )

    # ---- http request header
    s = _jwt(
        {
            "iss": "https://login.acme.io/",
            "sub": "user|48213",
            "aud": "api",
            "iat": 1741684442,
            "exp": 1741688042,
            "scope": "read:orders write:orders",
        }
    )
    add("Bearer JWT", "http request header", f"Authorization: Bearer {s}", s)
    s = "AIza" + "Sy" + _s(B64URL, 33)
    add("Google API key header", "http request header", f"x-goog-api-key: {s}", s)
    s = _s(LOWER + DIGITS, 32)
    add(
        "Django session cookie",
        "http request header",
        f"Cookie: theme=dark; _ga=GA1.2.1093847561.1741684442; sessionid={s}; lang=en",
        s,
    )

    # ---- http request body
    s = _pw_human_plain()
    add(
        "Form-encoded login",
        "http request body",
        f"username=jane.doe%40acme.io&password={s}&remember=on&next=%2Fdashboard",
        s,
    )
    s = _pw_random(15)
    add(
        "SOAP WS-Security password",
        "http request body",
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/">\n  <soapenv:Header>\n'
        '    <wsse:Security xmlns:wsse="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd">\n'
        "      <wsse:UsernameToken>\n        <wsse:Username>erp-bridge</wsse:Username>\n"
        '        <wsse:Password Type="http://docs.oasis-open.org/wss/2004/01/'
        f'oasis-200401-wss-username-token-profile-1.0#PasswordText">{s}</wsse:Password>\n'
        "      </wsse:UsernameToken>\n    </wsse:Security>\n  </soapenv:Header>\n"
        "  <soapenv:Body><GetOrders><from>2025-03-01</from></GetOrders></soapenv:Body>\n</soapenv:Envelope>\n",
        s,
    )
    s = "GOC" + "SPX-" + _s(B64URL, 28)
    add(
        "OAuth code exchange with a client secret",
        "http request body",
        json.dumps(
            {
                "grant_type": "authorization_code",
                "client_id": f"{_s(DIGITS, 12)}-{_s(LOWER + DIGITS, 32)}.apps.googleusercontent.com",
                "client_secret": s,
                "redirect_uri": "https://app.acme.io/oauth/callback",
            }
        ),
        s,
    )

    # ---- socket sent
    s = _pw_random(32)
    add(
        "Redis AUTH in RESP",
        "socket sent",
        f"*2\r\n$4\r\nAUTH\r\n${len(s)}\r\n{s}\r\n*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n",
        s,
    )
    s = _b64("\0robot@acme.io\0" + _pw_random(16))
    add("SMTP AUTH PLAIN", "socket sent", f"AUTH PLAIN {s}\r\n", s)
    s = _pw_random(20)
    add(
        "PostgreSQL cleartext password message",
        "socket sent",
        b"p" + struct.pack(">I", 4 + len(s) + 1) + s.encode() + b"\0",
        s,
    )
    s = _pw_random(18)
    add("MQTT CONNECT", "socket sent", _mqtt_connect("sensor-gw-17", "gateway", s), s)
    s = _pw_human()
    add(
        "LDAP simple bind", "socket sent", _ldap_bind("cn=svc-sync,ou=services,dc=acme,dc=io", s), s
    )

    # ---- socket received (a server in Python sees its clients' logins)
    s = _pw_random(22)
    add("Redis AUTH inline", "socket received", f"AUTH {s}\r\nPING\r\n", s)
    s = _b64(_pw_human())
    add(
        "SMTP AUTH LOGIN",
        "socket received",
        f"EHLO web-01.acme.io\r\nAUTH LOGIN\r\n{_b64('newsletter@acme.io')}\r\n{s}\r\n",
        s,
    )
    s = _pw_human()
    add("FTP USER and PASS", "socket received", f"USER uploads\r\nPASS {s}\r\nTYPE I\r\n", s)
    s = _pw_human_plain()
    add(
        "IMAP LOGIN",
        "socket received",
        f'a001 LOGIN "support@acme.io" "{s}"\r\na002 SELECT INBOX\r\n',
        s,
    )

    return tuple(out)


KINDS: tuple[Kind, ...] = _build()


def by_place(place: str) -> list[Kind]:
    """Return the kinds of one place."""
    return [k for k in KINDS if k.place == place]
