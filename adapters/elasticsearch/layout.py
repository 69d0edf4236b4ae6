"""What an index is like: made by the product, or found as others made it."""

from collections.abc import Mapping
from typing import Any, cast

from attrs import field, frozen

from evidence_lookup.adapters.elasticsearch.driver import Driver, body_of
from evidence_lookup.adapters.elasticsearch.helper_fields import HELPER_FIELDS
from evidence_lookup.adapters.elasticsearch.mapping import MARK, SCHEMA
from evidence_lookup.adapters.elasticsearch.scores import SEMANTICS
from evidence_lookup.adapters.elasticsearch.settings import ElasticsearchSettings
from evidence_lookup.domain.errors import SchemaMismatchError
from evidence_lookup.domain.score import ScoreSemantics

_TEXTS = ("text", "match_only_text")
_CONTENTS = (*_TEXTS, "keyword", "wildcard")
_EXACT = ("hnsw", "flat")

Fields = Mapping[str, Any]


@frozen
class Layout:
    """One index by its own name, which may not be the one that is set; `model` is of own ones.

    `keyword_field` is searched by words, or None where no field can be. `is_exact` says that its
    vectors are searched at their full precision. `root` is the mapping itself, for filters.
    """

    index: str
    dimension: int
    similarity: str
    is_exact: bool
    keyword_field: str | None
    model: str | None
    root: Fields = field(repr=False)

    @property
    def is_own(self) -> bool:
        """Whether the product made the index."""
        return self.model is not None

    @property
    def semantics(self) -> ScoreSemantics:
        """What its dense scores mean once they are turned back."""
        return SEMANTICS[self.similarity]


async def read_layout(driver: Driver, settings: ElasticsearchSettings) -> Layout:
    """What the index is like, asked of the server.

    Raises:
        SchemaMismatchError: a field that the settings name is missing or of another kind, or the
            name stands for several indexes.
    """
    answer = body_of(await driver.indices.get_mapping(index=settings.index))
    if len(answer) != 1:
        raise SchemaMismatchError(
            f"{settings.index!r} (elasticsearch.index) stands for {len(answer)} indexes "
            f"({', '.join(sorted(answer))}): name one"
        )
    ((index, described),) = answer.items()
    root = cast("Fields", described.get("mappings", {}))
    mark = _mark(root)
    model = str(mark["model"]) if mark is not None else None
    if mark is not None and mark.get("schema") != SCHEMA:
        raise SchemaMismatchError(
            f"index {settings.index!r} (elasticsearch.index) has the schema "
            f"{mark.get('schema')!r}, but this release makes and reads {SCHEMA}: rebuild it with "
            "'evidence-lookup ingest PATH --rebuild'"
        )
    fields = properties(root)
    _check_fields(fields, settings, is_own=mark is not None)
    vector = fields[settings.vector_field]
    return Layout(
        index=index,
        dimension=int(vector["dims"]),
        similarity=str(vector.get("similarity", "cosine")),
        is_exact=vector.get("index_options", {}).get("type", "hnsw") in _EXACT,
        keyword_field=_keyword_field(fields, settings),
        model=model,
        root=root,
    )


def properties(mapping: Fields) -> dict[str, Fields]:
    """The fields below *mapping*, by name."""
    return cast("dict[str, Fields]", mapping.get("properties", {}))


def kind_of(mapping: Fields) -> str:
    """The type of a field; the server leaves ``object`` out."""
    return str(mapping.get("type", "object"))


def _mark(root: Fields) -> Fields | None:
    mark: object = root.get("_meta", {}).get(MARK)
    is_right = isinstance(mark, dict) and isinstance(mark.get("model"), str)  # pyright: ignore
    return cast("Fields", mark) if is_right else None


def _keyword_field(fields: Mapping[str, Fields], settings: ElasticsearchSettings) -> str | None:
    for name in (settings.keyword_field, settings.content_field):
        one = fields.get(name, {})
        if kind_of(one) in _TEXTS and one.get("index", True):
            return name
    return None


def _check_fields(
    fields: Mapping[str, Fields], settings: ElasticsearchSettings, *, is_own: bool
) -> None:
    wanted: dict[str, tuple[str, ...]] = {
        "content_field": _CONTENTS,
        "vector_field": ("dense_vector",),
        "metadata_field": ("object", "flattened"),
    }
    if is_own:
        wanted["keyword_field"] = _TEXTS
    faults: list[str] = []
    for setting, kinds in wanted.items():
        name: str = getattr(settings, setting)
        key = f"elasticsearch.{setting.replace('_', '-')}"
        if name not in fields:
            faults.append(f"no field {name!r} ({key})")
        elif kind_of(fields[name]) not in kinds:
            faults.append(
                f"{name!r} ({key}) of the type {kind_of(fields[name])}, not {' or '.join(kinds)}"
            )
        elif setting == "vector_field":
            faults += [f"{name!r} ({key}) {fault}" for fault in _vector_faults(fields[name])]
    if is_own:
        faults += [f"no field {name!r}" for name in HELPER_FIELDS if name not in fields]
    if faults:
        raise SchemaMismatchError(
            f"index {settings.index!r} (elasticsearch.index) has {'; '.join(faults)}; its fields "
            f"are {', '.join(sorted(fields)) or 'none'}"
        )


def _vector_faults(vector: Fields) -> list[str]:
    faults: list[str] = []
    if vector.get("index") is False:
        faults.append("which is not indexed, so that nothing can be searched by it")
    if "dims" not in vector:
        faults.append("without a dimension: its mapping says none, and it holds no vector yet")
    if vector.get("element_type", "float") not in ("float", "bfloat16"):
        faults.append(f"of {vector['element_type']} elements, not float")
    if str(vector.get("similarity", "cosine")) not in SEMANTICS:
        faults.append(f"of the unknown similarity {vector['similarity']!r}")
    return faults
