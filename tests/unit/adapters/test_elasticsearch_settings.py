"""The settings of Elasticsearch are checked where they are read."""

from typing import Any

import pytest

from evidence_lookup.adapters.elasticsearch import ElasticsearchSettings


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"url": "localhost:9200"}, r"elasticsearch\.url is 'localhost:9200'"),
        ({"url": "ftp://host:1"}, r"elasticsearch\.url"),
        ({"url": "http://"}, r"elasticsearch\.url"),
        ({"url": "http://host:99999"}, r"elasticsearch\.url"),
        ({"url": "http://host:9200/?x=1"}, r"elasticsearch\.url"),
        ({"url": "http://exa mple:1"}, r"elasticsearch\.url"),
        ({"url": "http://a..b:1"}, r"elasticsearch\.url"),
        ({"url": "http://%41:1"}, r"elasticsearch\.url"),
        ({"url": f"http://{'a' * 64}:1"}, r"elasticsearch\.url"),
        ({"url": "http://[::x]:1"}, r"elasticsearch\.url"),
        ({"index": "Knowledge"}, r"elasticsearch\.index is 'Knowledge'"),
        ({"index": "a,b"}, r"elasticsearch\.index"),
        ({"index": "*"}, r"elasticsearch\.index"),
        ({"index": "_all"}, r"elasticsearch\.index"),
        ({"index": ".."}, r"elasticsearch\.index"),
        ({"index": "a/../b"}, r"elasticsearch\.index"),
        ({"index": "a" * 256}, r"elasticsearch\.index"),
        ({"content_field": "_id"}, r"elasticsearch\.content-field is '_id'"),
        ({"vector_field": "a.b"}, r"elasticsearch\.vector-field"),
        ({"metadata_field": ""}, r"elasticsearch\.metadata-field"),
        ({"keyword_field": "filter_terms"}, r"elasticsearch\.keyword-field.*evidence_key"),
        ({"content_field": "vector"}, r"vector, vector.*must differ"),
        ({"metric": "cosine"}, r"metric"),
        ({"timeout_seconds": 0}, r"timeout_seconds"),
        ({"api_key": "k", "username": "u", "password": "p"}, r"api-key.*username.*use one"),
        ({"api_key": "a\nb"}, r"elasticsearch\.api-key holds"),
        ({"username": "a:b", "password": "p"}, r"elasticsearch\.username is 'a:b'"),
        ({"username": "u"}, r"username and elasticsearch\.password go together"),
        ({"password": "p"}, r"username and elasticsearch\.password go together"),
        ({"certificate_fingerprint": "12:34"}, r"elasticsearch\.certificate-fingerprint"),
    ],
)
def test_faults_name_the_key(given: dict[str, Any], message: str) -> None:
    """A value that cannot be right is refused at once, with the key to change."""
    with pytest.raises(ValueError, match=message):
        ElasticsearchSettings(**given)


def test_no_secret_is_shown() -> None:
    """Keys and passwords stand neither in the settings' text nor in a complaint about them."""
    assert "geheim" not in repr(ElasticsearchSettings(api_key="geheim"))
    assert "geheim" not in repr(ElasticsearchSettings(username="u", password="geheim"))
    with pytest.raises(ValueError, match=r"elasticsearch\.username") as caught:
        ElasticsearchSettings(url="http://u:geheim@host:9200")
    assert "geheim" not in str(caught.value)
    assert "geheim" not in repr(caught.value.__cause__)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://localhost:9200", "http://localhost:9200"),
        ("http://search", "http://search:80"),
        ("http://search_1.intern.:9200", "http://search_1.intern.:9200"),
        ("http://büro.intern:9200", "http://büro.intern:9200"),
        ("https://search/", "https://search:443"),
        ("https://[::1]:9200", "https://[::1]:9200"),
        ("https://proxy:8443/es/", "https://proxy:8443/es"),
    ],
)
def test_the_driver_gets_a_port(url: str, address: str) -> None:
    """An address without a port means that of its scheme."""
    assert ElasticsearchSettings(url).address == address


def test_usual_names_are_taken() -> None:
    """Names that others' tools give to indexes and fields can be set."""
    settings = ElasticsearchSettings(
        index="docs-2026.08_v1",
        content_field="text",
        metadata_field="metadata-x",
        timeout_seconds=1,
    )
    assert (settings.index, settings.content_field) == ("docs-2026.08_v1", "text")
