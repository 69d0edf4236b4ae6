"""The collection: made by the product, or found as others made it."""

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any, cast

from attrs import frozen

from evidence_lookup.adapters.milvus.analyzer import analyzer_params
from evidence_lookup.adapters.milvus.driver import Driver, pymilvus
from evidence_lookup.adapters.milvus.settings import MilvusSettings
from evidence_lookup.domain.errors import SchemaMismatchError
from evidence_lookup.domain.score import ScoreSemantics

MAX_ID_BYTES = 1_024
MAX_TEXT_BYTES = 65_535
_INT64, _VARCHAR, _JSON, _FLOAT_VECTOR = 5, 21, 23, 101
_KINDS = {_INT64: "INT64", _VARCHAR: "VARCHAR", _JSON: "JSON", _FLOAT_VECTOR: "FLOAT_VECTOR"}
_LOOKS, _SECONDS_BETWEEN_LOOKS = 50, 0.1
_SEMANTICS = {
    "COSINE": ScoreSemantics.COSINE,
    "L2": ScoreSemantics.L2_SQUARED,
    "IP": ScoreSemantics.INNER_PRODUCT,
}
_MARK = "evidence_lookup"


@frozen
class Layout:
    """What a collection is like. Limits are bytes of UTF-8; `model` is known for own ones.

    `collection_id` is the server's own, of which each collection has another, or 0.
    """

    collection_id: int
    dimension: int
    semantics: ScoreSemantics
    has_keyword: bool
    model: str | None
    max_id_bytes: int
    max_content_bytes: int
    max_keyword_bytes: int

    @property
    def is_own(self) -> bool:
        """Whether the product made the collection."""
        return self.model is not None


async def create(driver: Driver, settings: MilvusSettings, *, model: str, dimension: int) -> None:
    """Make the collection, with keyword search where the server can; one that is there stays."""
    sdk = pymilvus()

    def schema(*, with_keyword: bool) -> tuple[Any, Any]:
        made = driver.create_schema(
            auto_id=False,
            enable_dynamic_field=False,
            description=json.dumps({_MARK: {"model": model, "schema": 1}}),
        )
        made.add_field(
            settings.id_field, sdk.DataType.VARCHAR, is_primary=True, max_length=MAX_ID_BYTES
        )
        made.add_field(settings.content_field, sdk.DataType.VARCHAR, max_length=MAX_TEXT_BYTES)
        made.add_field(settings.vector_field, sdk.DataType.FLOAT_VECTOR, dim=dimension)
        made.add_field(settings.metadata_field, sdk.DataType.JSON)
        index = driver.prepare_index_params()
        index.add_index(settings.vector_field, index_type="AUTOINDEX", metric_type=settings.metric)
        if with_keyword:
            made.add_field(
                settings.keyword_field,
                sdk.DataType.VARCHAR,
                max_length=MAX_TEXT_BYTES,
                enable_analyzer=True,
                analyzer_params=analyzer_params(settings.analyzer),
            )
            made.add_field(settings.sparse_field, sdk.DataType.SPARSE_FLOAT_VECTOR)
            made.add_function(
                sdk.Function(
                    name="bm25",
                    function_type=sdk.FunctionType.BM25,
                    input_field_names=[settings.keyword_field],
                    output_field_names=[settings.sparse_field],
                )
            )
            index.add_index(
                settings.sparse_field, index_type="SPARSE_INVERTED_INDEX", metric_type="BM25"
            )
        return made, index

    async def make(*, with_keyword: bool) -> None:
        made, index = schema(with_keyword=with_keyword)
        await driver.create_collection(
            settings.collection,
            schema=made,
            index_params=index,
            # One shard: an upsert is then one step for every search.
            num_shards=1,
            consistency_level=settings.consistency,
            timeout=settings.timeout_seconds,
        )

    try:
        await make(with_keyword=await _knows_keywords(driver, settings))
    except sdk.MilvusException:
        there = await driver.has_collection(settings.collection, timeout=settings.timeout_seconds)
        if not there:
            raise
        # Another process made it in the same moment; what it lacks shows when it is read.


async def _knows_keywords(driver: Driver, settings: MilvusSettings) -> bool:
    """Whether the server has BM25: from 2.5 on. Older ones take the fields and fail later."""
    if settings.path is not None:
        return True
    version = await driver.get_server_version(timeout=settings.timeout_seconds)
    numbers = re.match(r"v?(\d+)\.(\d+)", version)
    return numbers is None or (int(numbers[1]), int(numbers[2])) >= (2, 5)


async def read_layout(
    driver: Driver, settings: MilvusSettings, known: Layout | None = None
) -> Layout:
    """What the collection is like, asked of the server; *known* as it is if it is still the same.

    Raises:
        SchemaMismatchError: a field that the settings name is missing or of another kind, or the
            vectors have no index whose metric is known.
    """
    described = await driver.describe_collection(
        settings.collection, timeout=settings.timeout_seconds
    )
    collection_id = int(described.get("collection_id", 0))
    if known is not None and collection_id and collection_id == known.collection_id:
        return known
    fields = {str(one["name"]): cast("Mapping[str, Any]", one) for one in described["fields"]}
    _check_fields(fields, settings)
    model = _model(str(described.get("description", "")))
    metrics = await _metrics(driver, settings)
    indexed = fields.keys() & {settings.vector_field, settings.sparse_field}
    for _ in range(_LOOKS if model is not None else 0):
        if indexed <= metrics.keys():
            break
        # Ours, and being made at this moment: its indexes come one by one after its fields.
        await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
        metrics = await _metrics(driver, settings)
    metric = metrics.get(settings.vector_field, "")
    if metric not in _SEMANTICS:
        raise SchemaMismatchError(
            f"collection {settings.collection!r} has the metric {metric or 'none (no index)'} on "
            f"{settings.vector_field!r} (milvus.vector-field); COSINE, L2 or IP is needed"
        )
    vector = fields[settings.vector_field]
    keyword = fields.get(settings.keyword_field, {})
    return Layout(
        collection_id=collection_id,
        dimension=int(vector["params"]["dim"]),
        semantics=_SEMANTICS[metric],
        has_keyword=metrics.get(settings.sparse_field) == "BM25",
        model=model,
        max_id_bytes=_max_length(fields[settings.id_field], MAX_ID_BYTES),
        max_content_bytes=_max_length(fields[settings.content_field], MAX_TEXT_BYTES),
        max_keyword_bytes=_max_length(keyword, MAX_TEXT_BYTES),
    )


def _check_fields(fields: Mapping[str, Mapping[str, Any]], settings: MilvusSettings) -> None:
    wanted = {
        "id_field": (_VARCHAR, _INT64),
        "content_field": (_VARCHAR,),
        "vector_field": (_FLOAT_VECTOR,),
        "metadata_field": (_JSON,),
    }
    faults: list[str] = []
    for setting, kinds in wanted.items():
        name: str = getattr(settings, setting)
        key = f"milvus.{setting.replace('_', '-')}"
        kind = int(fields[name]["type"]) if name in fields else None
        if kind is None:
            faults.append(f"no field {name!r} ({key})")
        elif kind not in kinds:
            needed = " or ".join(_KINDS[one] for one in kinds)
            faults.append(f"{name!r} ({key}) of the type {_KINDS.get(kind, kind)}, not {needed}")
        elif setting == "id_field" and not fields[name].get("is_primary"):
            faults.append(f"{name!r} ({key}), which is not its primary key")
    if faults:
        raise SchemaMismatchError(
            f"collection {settings.collection!r} has {'; '.join(faults)}; "
            f"its fields are {', '.join(sorted(fields))}"
        )


async def _metrics(driver: Driver, settings: MilvusSettings) -> dict[str, str]:
    metrics: dict[str, str] = {}
    timeout = settings.timeout_seconds
    for name in await driver.list_indexes(settings.collection, timeout=timeout):
        index = await driver.describe_index(settings.collection, name, timeout=timeout)
        metrics[str(index.get("field_name", name))] = str(index.get("metric_type", ""))
    return metrics


def _max_length(field: Mapping[str, Any], otherwise: int) -> int:
    return int(field.get("params", {}).get("max_length", otherwise))


def _model(description: str) -> str | None:
    try:
        model = json.loads(description)[_MARK]["model"]
    except (ValueError, KeyError, TypeError, IndexError):
        return None
    return model if isinstance(model, str) else None
