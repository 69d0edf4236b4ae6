"""The servers of the integration tests, each started once for the session, when first asked for."""

import urllib.request
from collections.abc import Callable, Generator
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest
from tests.servers import LABELS, Server, ServerKind, engine, running_elsewhere, started

from evidence_lookup.adapters.milvus.driver import pymilvus


def _milvus_answers(url: str) -> None:
    client = pymilvus().MilvusClient(url, timeout=5, dedicated=True)
    try:
        client.list_collections(timeout=5)
    finally:
        client.close()


def _elasticsearch_answers(url: str) -> None:
    # The node of the own image has no handler for GET /.
    health = f"{url}/_cluster/health?wait_for_status=yellow&timeout=1s"
    with urllib.request.urlopen(health, timeout=5) as answer:
        assert answer.status == 200


def _postgres_answers(url: str) -> None:
    with psycopg.connect(url, connect_timeout=5) as connection:
        connection.execute("SELECT 1")


MILVUS = ServerKind(
    name="milvus",
    own_image="evidence-lookup-test/milvus:2.3.5",
    official_image="milvusdb/milvus:v2.6.16",
    port=19530,
    address="http://127.0.0.1:{port}",
    address_variable="URI",
    answers=_milvus_answers,
    command="milvus run standalone",
    environment={
        "DEPLOY_MODE": "STANDALONE",
        "ETCD_USE_EMBED": "true",
        "ETCD_DATA_DIR": "/var/lib/milvus/etcd",
        "COMMON_STORAGETYPE": "local",
        # A strong read waits for one tick (200 ms as shipped).
        "PROXY_TIMETICKINTERVAL": "20",
        # After a power cut the dead node is waited for (30 s as shipped); Milvus ends itself if it
        # was paused for longer than this.
        "COMMON_SESSION_TTL": "10",
        # A collection is made and loaded in 2 s (3 s as shipped).
        "INDEXCOORD_SCHEDULER_INTERVAL": "100",
        "QUERYCOORD_CHECKCHANNELINTERVAL": "100",
        "QUERYCOORD_CHECKINTERVAL": "100",
        "QUERYCOORD_CHECKSEGMENTINTERVAL": "100",
        "QUERYCOORD_DISTPULLINTERVAL": "50",
        "QUERYCOORD_UPDATENEXTTARGETINTERVAL": "1",
    },
)
ELASTICSEARCH = ServerKind(
    name="elasticsearch",
    own_image="evidence-lookup-test/elasticsearch:9.5.0",
    official_image="elasticsearch:9.5.1",
    port=9200,
    address="http://127.0.0.1:{port}",
    answers=_elasticsearch_answers,
    environment={
        "discovery.type": "single-node",
        "xpack.security.enabled": "false",
        "cluster.routing.allocation.disk.threshold_enabled": "false",
        # The quick compiler alone: a node is up in half the time.
        "ES_JAVA_OPTS": "-Xms512m -Xmx512m -XX:TieredStopAtLevel=1",
    },
)
POSTGRES = ServerKind(
    name="postgres",
    own_image="evidence-lookup-test/postgres:18",
    official_image="postgres:18",
    port=5432,
    address="postgresql://evidence:in-tests-only@127.0.0.1:{port}/evidence",
    answers=_postgres_answers,
    environment={
        "POSTGRES_USER": "evidence",
        "POSTGRES_PASSWORD": "in-tests-only",
        "POSTGRES_DB": "evidence",
    },
)


@pytest.fixture(scope="session")
def docker_client() -> Generator[Any, None, None]:
    """A client of the Docker engine."""
    client = engine()
    yield client
    client.close()


@pytest.fixture(scope="session")
def container_network(docker_client: Any) -> Generator[Any, None, None]:
    """The network of this session's containers."""
    from testcontainers.core.network import Network

    with Network(docker_network_kw={"labels": LABELS}) as network:
        yield network


Start = Callable[[ServerKind], Server]


@pytest.fixture(scope="session")
def start_server(docker_client: Any, container_network: Any) -> Generator[Start, None, None]:
    """Starts servers in containers of their own, which end with the session."""
    with ExitStack() as stack:

        def start(kind: ServerKind) -> Server:
            return stack.enter_context(started(kind, docker_client, container_network))

        yield start


@pytest.fixture(scope="session")
def milvus_server(request: pytest.FixtureRequest) -> Server:
    """A Milvus server that the tests share."""
    return _shared(MILVUS, request)


@pytest.fixture(scope="session")
def elasticsearch_server(request: pytest.FixtureRequest) -> Server:
    """An Elasticsearch node that the tests share."""
    return _shared(ELASTICSEARCH, request)


@pytest.fixture(scope="session")
def postgres_server(request: pytest.FixtureRequest) -> Server:
    """A PostgreSQL server that the tests share."""
    return _shared(POSTGRES, request)


def _shared(kind: ServerKind, request: pytest.FixtureRequest) -> Server:
    # An engine is asked for only if it is needed.
    return running_elsewhere(kind) or request.getfixturevalue("start_server")(kind)
