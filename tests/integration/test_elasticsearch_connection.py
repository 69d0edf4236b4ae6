"""How the adapter speaks to a server and takes its refusals, against a real one on loopback."""

import asyncio
import base64
import re
import socket
import ssl
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from evidence_lookup.adapters.elasticsearch import (
    ElasticsearchKnowledge,
    ElasticsearchSettings,
    client,
)
from evidence_lookup.adapters.elasticsearch.driver import load
from evidence_lookup.adapters.elasticsearch.mapping import index_body
from evidence_lookup.domain.errors import (
    BackendError,
    BackendFailedError,
    BackendTimeoutError,
    BackendUnavailableError,
    CollectionMissingError,
    SettingsError,
    StorageError,
)
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.testing.knowledge_samples import asked, embedded

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]
_PRODUCT = {"X-Elastic-Product": "Elasticsearch"}
_JSON = "application/vnd.elasticsearch+json;compatible-with=9"
_OWN = index_body(ElasticsearchSettings(), model="m", dimension=4)["mappings"]


def says(body: Any, status: int = 200, headers: dict[str, str] = _PRODUCT) -> web.Response:
    """An answer as a node gives it."""
    response = web.json_response(body, status=status, headers=headers)
    response.headers["Content-Type"] = _JSON
    return response


def refuses(status: int, kind: str, reason: str) -> web.Response:
    """A refusal as a node gives it."""
    root = {"type": kind, "reason": reason}
    return says({"error": {"root_cause": [root], **root}, "status": status}, status)


class Node:
    """Keeps what it is asked, and answers as `answers` says by the last part of the path."""

    def __init__(self) -> None:
        self.requests: list[web.Request] = []
        self.answers: dict[str, Answer | web.Response] = {}
        self.url = ""

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """One answer."""
        await request.read()
        self.requests.append(request)
        answer = self.answers.get(request.path.rpartition("/")[2])
        if isinstance(answer, web.Response):
            return says_again(answer)
        if answer is not None:
            return await answer(request)
        if request.path.endswith("/_mapping"):
            return says({"knowledge": {"mappings": _OWN}})
        return says({"hits": {"hits": []}})


def says_again(answer: web.Response) -> web.Response:
    """A copy of *answer*, which can be sent once."""
    return web.Response(body=answer.body, status=answer.status, headers=answer.headers)


@pytest.fixture
def node() -> Node:
    """A node that holds an empty index of the product."""
    return Node()


async def _started(node: Node, context: ssl.SSLContext | None = None) -> web.AppRunner:
    app = web.Application(client_max_size=2**27)
    app.router.add_route("*", "/{path:.*}", node.serve)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    port = runner.addresses[0][1]
    node.url = f"http{'s' if context else ''}://127.0.0.1:{port}"
    return runner


@pytest.fixture
async def url(node: Node) -> AsyncIterator[str]:
    """Where the node listens, in the clear."""
    runner = await _started(node)
    yield node.url
    await runner.cleanup()


@pytest.fixture
def closed_port() -> int:
    """A port at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
    return port


class Certificate:
    """A certificate for 127.0.0.1 that nobody has signed but itself."""

    def __init__(self, folder: Path) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
        now = datetime.now(UTC)
        made = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(
                x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), False
            )
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
            .sign(key, hashes.SHA256())
        )
        self.path = folder / "node.crt"
        self.path.write_bytes(made.public_bytes(serialization.Encoding.PEM))
        secret = folder / "node.key"
        secret.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        self.fingerprint = made.fingerprint(hashes.SHA256()).hex()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.path, secret)


@pytest.fixture
def certificate(tmp_path: Path) -> Certificate:
    """What the encrypted node shows."""
    return Certificate(tmp_path)


@pytest.fixture
async def secure_url(node: Node, certificate: Certificate) -> AsyncIterator[str]:
    """Where the node listens, encrypted."""
    runner = await _started(node, certificate.context)
    yield node.url
    await runner.cleanup()


async def failure(work: Callable[[ElasticsearchKnowledge], Awaitable[Any]], **settings: Any) -> Any:
    """The error of *work* on the node, the adapter closed after it."""
    knowledge = ElasticsearchKnowledge(ElasticsearchSettings(**settings))
    try:
        with pytest.raises(Exception, match=r"elasticsearch\.") as caught:
            await work(knowledge)
    finally:
        await knowledge.aclose()
    return caught.value


async def search(knowledge: ElasticsearchKnowledge) -> Any:
    """A search for anything."""
    return await knowledge.search(asked())


async def write(knowledge: ElasticsearchKnowledge) -> None:
    """Twelve chunks."""
    await knowledge.upsert([embedded(name) for name in "abcdefghijkl"])


@pytest.mark.parametrize(
    ("settings", "header"),
    [
        ({}, None),
        ({"api_key": "geheim=="}, "ApiKey geheim=="),
        (
            {"username": "anna", "password": "päss:wort"},
            "Basic " + base64.b64encode("anna:päss:wort".encode()).decode(),
        ),
    ],
)
async def test_credentials_reach_the_server(
    node: Node, url: str, settings: dict[str, Any], header: str | None
) -> None:
    """Each request brings the key or the name that the settings give, and no other."""
    knowledge = ElasticsearchKnowledge(ElasticsearchSettings(url, **settings))
    await search(knowledge)
    await knowledge.aclose()
    assert {one.headers.get("Authorization") for one in node.requests} == {header}


async def test_a_path_before_the_api(node: Node, url: str) -> None:
    """A node behind a path of a proxy is asked below that path."""
    knowledge = ElasticsearchKnowledge(ElasticsearchSettings(f"{url}/es/"))
    await search(knowledge)
    await knowledge.aclose()
    assert [one.path for one in node.requests] == [
        "/es/knowledge/_mapping",
        "/es/knowledge/_search",
    ]


async def test_a_search_is_whole_or_an_error(node: Node, url: str) -> None:
    """Answers of a part of the index are not taken, and one copy answers equal questions."""
    knowledge = ElasticsearchKnowledge(ElasticsearchSettings(url))
    await search(knowledge)
    await knowledge.aclose()
    assert node.requests[-1].query == {
        "allow_partial_search_results": "false", "preference": "evidence-lookup",
    }  # fmt: skip


@pytest.mark.parametrize("way", ["ca", "folder", "fingerprint", "unverified"])
async def test_tls_is_trusted_as_told(
    node: Node, secure_url: str, certificate: Certificate, way: str, tmp_path: Path
) -> None:
    """A certificate that nobody signed is trusted by its file, its digest, or when told so."""
    ways: dict[str, dict[str, Any]] = {
        "ca": {"ca_cert_path": str(certificate.path)},
        "folder": {"ca_cert_path": str(_hashed(certificate, tmp_path))},
        "fingerprint": {"certificate_fingerprint": certificate.fingerprint},
        "unverified": {"verify_certificates": False},
    }
    settings = ElasticsearchSettings(secure_url, api_key="k", **ways[way])
    knowledge = ElasticsearchKnowledge(settings)
    await search(knowledge)
    await knowledge.aclose()
    assert node.requests[-1].headers["Authorization"] == "ApiKey k"


def _hashed(certificate: Certificate, folder: Path) -> Path:
    """A folder as ``openssl rehash`` makes it, of one certificate."""
    ran = subprocess.run(
        ["openssl", "x509", "-hash", "-noout", "-in", str(certificate.path)],
        capture_output=True, check=True, text=True,
    )  # fmt: skip
    trusted = folder / "trusted"
    trusted.mkdir()
    (trusted / f"{ran.stdout.strip()}.0").write_bytes(certificate.path.read_bytes())
    return trusted


@pytest.mark.parametrize(
    "settings", [{}, {"certificate_fingerprint": "00" * 32}], ids=["unknown", "another"]
)
async def test_tls_that_is_not_trusted(
    node: Node, secure_url: str, settings: dict[str, str]
) -> None:
    """A certificate that is not trusted ends the call before anything is sent."""
    error = await failure(search, url=secure_url, api_key="geheim", **settings)
    assert isinstance(error, BackendFailedError)
    keys = ["certificate-fingerprint"]
    if not settings:
        keys += ["ca-cert-path", "verify-certificates"]
    assert all(f"elasticsearch.{key}" in str(error) for key in keys)
    assert node.requests == []


@pytest.mark.parametrize("content", [None, "no certificate"])
async def test_certificates_that_cannot_be_read(tmp_path: Path, content: str | None) -> None:
    """A file of certificates that is missing or no such file is a fault of the settings."""
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    error = await failure(search, url="https://127.0.0.1:1", ca_cert_path=str(path))
    assert isinstance(error, SettingsError)
    assert "elasticsearch.ca-cert-path" in str(error)


async def test_certificates_that_are_no_file() -> None:
    """A device in place of a file of certificates is a fault of the settings too."""
    error = await failure(search, url="https://127.0.0.1:1", ca_cert_path="/dev/null")
    assert isinstance(error, SettingsError)
    assert "elasticsearch.ca-cert-path" in str(error)


async def test_no_elasticsearch(node: Node, url: str) -> None:
    """A server that answers, but is another product, is told as such."""
    node.answers["_mapping"] = says({"knowledge": {"mappings": _OWN}}, headers={})
    error = await failure(search, url=url)
    assert isinstance(error, BackendFailedError)
    assert "is no Elasticsearch" in str(error)


async def test_a_web_page(node: Node, url: str) -> None:
    """A page of a proxy is a failure, not an answer."""
    page = web.Response(text="<html>hello</html>", content_type="text/html", headers=_PRODUCT)
    node.answers["_search"] = page
    assert isinstance(await failure(search, url=url), BackendError)
    node.answers["_mapping"] = page
    assert isinstance(await failure(search, url=url), BackendError)


@pytest.mark.parametrize(
    ("status", "kind", "expected", "message"),
    [
        (404, "index_not_found_exception", CollectionMissingError,
         r"no index 'knowledge' \(elasticsearch\.index\).*ingest PATH"),
        (401, "security_exception", BackendFailedError, r"credentials.*api-key.*username"),
        (403, "security_exception", BackendFailedError, r"credentials.*api-key.*username"),
        (429, "cluster_block_exception", StorageError, r"elasticsearch\.index.*disk"),
        (403, "cluster_block_exception", StorageError, r"elasticsearch\.index.*disk"),
        (429, "circuit_breaking_exception", BackendUnavailableError, r"status 429.*because"),
        (503, "no_shard_available_action_exception", BackendUnavailableError, r"status 503"),
        (503, "cluster_block_exception", BackendUnavailableError, r"status 503.*because"),
        (504, "", BackendTimeoutError, r"elasticsearch\.url"),
        (413, "", BackendFailedError, r"http\.max_content_length"),
        (400, "query_shard_exception", BackendFailedError, r"query_shard_exception.*because"),
        (500, "", BackendFailedError, r"status 500"),
    ],
)  # fmt: skip
async def test_refusals(
    node: Node, url: str, status: int, kind: str, expected: type[BackendError], message: str
) -> None:
    """Each refusal becomes the error that says what it means, with the setting to change."""
    node.answers["_search"] = refuses(status, kind, "because")
    error = await failure(search, url=url, api_key="geheim")
    assert type(error) is expected
    assert re.search(message, str(error)), str(error)
    assert "geheim" not in str(error) + repr(error)
    assert error.__cause__ is not None


async def test_C68_nobody_listens(closed_port: int) -> None:
    """A closed port is no answer, and worth another try."""
    error = await failure(search, url=f"http://127.0.0.1:{closed_port}")
    assert isinstance(error, BackendUnavailableError)
    assert error.retryable


async def test_a_server_that_hangs(node: Node, url: str) -> None:
    """A call ends within the time that is set, whatever the server does, and says which setting."""

    async def never(_: web.Request) -> web.Response:
        await asyncio.sleep(5)
        return says({})

    node.answers["_search"] = never
    started = asyncio.get_running_loop().time()
    error = await failure(search, url=url, timeout_seconds=0.2)
    assert isinstance(error, BackendTimeoutError)
    assert "elasticsearch.timeout-seconds" in str(error)
    assert asyncio.get_running_loop().time() - started < 2
    assert len(node.requests) == 2  # nothing was asked twice


async def test_a_failure_is_forgotten(node: Node, url: str) -> None:
    """A search that fails asks anew what the index is like, and the next one is served."""
    knowledge = ElasticsearchKnowledge(ElasticsearchSettings(url))
    await search(knowledge)
    node.answers["_search"] = refuses(500, "", "because")
    node.requests.clear()
    with pytest.raises(BackendFailedError):
        await search(knowledge)
    assert [one.path for one in node.requests] == ["/knowledge/_search", "/knowledge/_mapping"]
    node.answers.clear()
    assert (await search(knowledge)).hits == ()
    await knowledge.aclose()


async def test_modules_that_take_long_to_load(
    node: Node, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening the client ends in time too, for whoever opens it and for whoever waits for that."""
    load()  # the true ones, for the search at the end
    monkeypatch.setattr(client, "load", lambda: time.sleep(3))
    knowledge = ElasticsearchKnowledge(ElasticsearchSettings(url, timeout_seconds=0.1))
    started = time.monotonic()
    outcomes = await asyncio.gather(*(search(knowledge) for _ in range(3)), return_exceptions=True)
    assert time.monotonic() - started < 2.5
    for one in outcomes:
        assert isinstance(one, BackendTimeoutError)
        assert "elasticsearch.timeout-seconds" in str(one)
    monkeypatch.undo()
    assert (await search(knowledge)).hits == ()
    await knowledge.aclose()


async def test_rows_that_are_refused_are_named(node: Node, url: str) -> None:
    """An error of single rows names the first few with their reasons, and how many there are."""
    items = [
        {"index": {"_id": f"a#chunk-{n}", "status": 400,
                   "error": {"type": "document_parsing_exception", "reason": f"bad {n}"}}}
        if n % 2 else {"index": {"_id": f"a#chunk-{n}", "status": 201}}
        for n in range(12)
    ]  # fmt: skip
    node.answers["_bulk"] = says({"errors": True, "items": items})
    error = await failure(write, url=url)
    assert type(error) is BackendFailedError
    assert "6 of 12 rows" in str(error)
    for part in ("a#chunk-1: bad 1", "a#chunk-3: bad 3", "a#chunk-5: bad 5", "and 3 more"):
        assert part in str(error)
    assert "a#chunk-7" not in str(error)
    assert "_refresh" not in {one.path.rpartition("/")[2] for one in node.requests}


async def test_rows_refused_for_want_of_room(node: Node, url: str) -> None:
    """A disk that is almost full, told row by row, is an error of storage."""
    cause = {"type": "cluster_block_exception", "reason": "disk usage exceeded flood-stage"}
    items = [{"index": {"_id": "a", "status": 429, "error": cause}}] * 3
    node.answers["_bulk"] = says({"errors": True, "items": items})
    error = await failure(write, url=url)
    assert isinstance(error, StorageError)
    assert "flood-stage" in str(error)


async def test_large_batches_are_cut(node: Node, url: str) -> None:
    """No request is longer than 1 MiB, and one refresh ends them all."""
    node.answers["_bulk"] = says({"errors": False, "items": []})
    knowledge = ElasticsearchKnowledge(ElasticsearchSettings(url))
    text = "word " * 20_000
    await knowledge.upsert([embedded("a", n, text) for n in range(12)])
    await knowledge.aclose()
    sizes = [len(await one.read()) for one in node.requests if one.path.endswith("_bulk")]
    assert len(sizes) >= 3
    assert max(sizes) <= 1024 * 1024
    assert [one.path for one in node.requests[-2:]] == ["/knowledge/_bulk", "/knowledge/_refresh"]


async def test_C24_hits_without_a_score(node: Node, url: str) -> None:
    """Hits whose score is null keep the server's order, and are no crash in any mode."""
    hits = [
        {"_id": name, "_score": None, "_source": {"content": name, "evidence_key": name}}
        for name in ("z", "a", "m")
    ]
    node.answers["_search"] = says({"hits": {"hits": hits}})
    knowledge = ElasticsearchKnowledge(ElasticsearchSettings(url))
    for mode in SearchMode:
        found = (await knowledge.search(asked("word", mode=mode))).hits
        assert [hit.id for hit in found] == ["z", "a", "m"]
        if mode is not SearchMode.HYBRID:
            assert {hit.score.value for hit in found} == {None}
            assert {hit.score.semantics.value for hit in found} == {"rank_only"}
    await knowledge.aclose()
