"""The rows of a document, as they stand in the index."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from attrs import frozen

from evidence_lookup.adapters.elasticsearch.client import ElasticsearchConnection
from evidence_lookup.adapters.elasticsearch.driver import Driver, body_of
from evidence_lookup.adapters.elasticsearch.helper_fields import VERSION
from evidence_lookup.adapters.elasticsearch.layout import Layout
from evidence_lookup.adapters.elasticsearch.query import document_clause

_PAGE = 10_000


@frozen
class StoredRow:
    """A row by its ``_id``.

    `version` is that of the replacement that wrote it, if one did, and `counter` the server's own,
    which each write of the row raises.
    """

    id: str
    version: int | None
    counter: int

    @property
    def highest(self) -> int:
        """What a newer version must be above."""
        return max(self.counter, self.version or 0)


async def stored_rows(
    connection: ElasticsearchConnection, doc_ids: Sequence[str], layout: Layout
) -> list[StoredRow]:
    """All rows of *doc_ids* that a search sees, also where they are more than one page."""
    settings = connection.settings
    body: dict[str, Any] = {
        "query": {"bool": {"filter": [document_clause(doc_ids, layout, settings)]}},
        "size": _PAGE,
        "track_total_hits": False,
        "version": True,
        "_source": [VERSION] if layout.is_own else [f"{settings.metadata_field}.doc_id"],
    }

    async def read(driver: Driver) -> list[Mapping[str, Any]]:
        answer = await driver.search(
            index=settings.index, body=body, allow_partial_search_results=False
        )
        hits: list[Mapping[str, Any]] = body_of(answer, "hits")["hits"]["hits"]
        return hits if len(hits) < _PAGE else await _all_pages(driver, settings.index, body)

    return [
        _row(hit)
        for hit in await connection.call(read)
        if layout.is_own or _doc_id(hit, settings.metadata_field) in doc_ids
    ]


async def _all_pages(driver: Driver, index: str, body: dict[str, Any]) -> list[Mapping[str, Any]]:
    opened = await driver.open_point_in_time(index=index, keep_alive="1m")
    name: str = body_of(opened, "id")["id"]
    hits: list[Mapping[str, Any]] = []
    try:
        while True:
            page = {**body, "pit": {"id": name, "keep_alive": "1m"}, "sort": ["_shard_doc"]}
            if hits:
                page["search_after"] = hits[-1]["sort"]
            answer = body_of(
                await driver.search(body=page, allow_partial_search_results=False), "hits"
            )
            name = answer.get("pit_id", name)
            hits += answer["hits"]["hits"]
            if len(answer["hits"]["hits"]) < _PAGE:
                return hits
    finally:
        await driver.close_point_in_time(body={"id": name})


def _row(hit: Mapping[str, Any]) -> StoredRow:
    version = _source(hit).get(VERSION)
    return StoredRow(
        id=str(hit["_id"]),
        version=version if isinstance(version, int) else None,
        counter=int(hit["_version"]),
    )


def _doc_id(hit: Mapping[str, Any], field: str) -> object:
    metadata = _source(hit).get(field)
    if not isinstance(metadata, dict):
        return None
    return cast("Mapping[str, object]", metadata).get("doc_id")


def _source(hit: Mapping[str, Any]) -> Mapping[str, Any]:
    return hit.get("_source") or {}
