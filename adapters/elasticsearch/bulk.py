"""Writing many rows, with every refusal reported."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from evidence_lookup.adapters.batches import batches
from evidence_lookup.adapters.elasticsearch.client import ElasticsearchConnection
from evidence_lookup.adapters.elasticsearch.driver import Driver, body_of
from evidence_lookup.adapters.elasticsearch.errors import items_refused
from evidence_lookup.adapters.elasticsearch.rows import Action

# Of more the HTTP library warns that it holds up the event loop; larger ones are no faster.
MAX_BATCH_BYTES = 1024 * 1024


_CONFLICT = "version_conflict_engine_exception"


async def send(connection: ElasticsearchConnection, actions: Iterable[Action]) -> int:
    """Do *actions* in their order; nothing of it is seen before the next refresh.

    Returns how many found a higher version in their place, which stays.

    Raises:
        BackendError: rows were refused, each named with its reason up to three; what is in the
            same or an earlier request and was not refused is written.
    """
    settings = connection.settings
    conflicts = 0
    for batch in batches(actions, lambda action: action.size, limit=MAX_BATCH_BYTES):
        lines = [line for action in batch for line in action.lines]
        answer = await connection.call(partial(_bulk, index=settings.index, lines=lines))
        failures = _failures(answer)
        refused = [one for one in failures if one[2].get("type") != _CONFLICT]
        conflicts += len(failures) - len(refused)
        if refused:
            connection.known_layout.forget()
            raise items_refused(refused, len(batch), settings)
    return conflicts


async def _bulk(driver: Driver, *, index: str, lines: list[bytes]) -> Mapping[str, Any]:
    return body_of(await driver.bulk(index=index, operations=lines), "items")


def _failures(body: Mapping[str, Any]) -> list[tuple[str, int, Mapping[str, Any]]]:
    if not body.get("errors"):
        return []
    items: list[Mapping[str, Any]] = [next(iter(one.values())) for one in body["items"]]
    return [
        (str(item.get("_id", "")), int(item.get("status", 0)), item["error"])
        for item in items
        if "error" in item
    ]
