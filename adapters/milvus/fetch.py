"""One list of rows, asked of the collection."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import field, frozen

from evidence_lookup.adapters.milvus.client import MilvusConnection
from evidence_lookup.adapters.milvus.driver import Driver
from evidence_lookup.adapters.milvus.settings import MilvusSettings
from evidence_lookup.domain.hit import SearchMode

if TYPE_CHECKING:
    from evidence_lookup.ports.embedder import Vectors


@frozen
class RowQuery:
    """A dense list by `vector`, or a keyword list by `text`; at most `limit` rows."""

    mode: SearchMode
    vector: "Vectors | None" = field(eq=False)
    text: str
    expression: str
    limit: int

    def data(self) -> list[float] | str:
        """What is looked for."""
        if self.mode is SearchMode.KEYWORD:
            return self.text
        assert self.vector is not None
        numbers: list[float] = self.vector.tolist()
        return numbers

    def searched_field(self, settings: MilvusSettings) -> str:
        """The field that is searched."""
        is_keyword = self.mode is SearchMode.KEYWORD
        return settings.sparse_field if is_keyword else settings.vector_field

    def output_fields(self, settings: MilvusSettings) -> list[str]:
        """The fields that come with each row, beside its key."""
        fields = [settings.content_field, settings.metadata_field]
        if self.mode is SearchMode.KEYWORD and self.vector is not None:
            # The similarity of a keyword hit is known without a second search.
            fields.append(settings.vector_field)
        return fields


Row: TypeAlias = Mapping[str, Any]
"""As the driver gives it: the key as ``id`` or by its field's name, ``distance``, ``entity``."""
Fetch: TypeAlias = Callable[[MilvusConnection, RowQuery], Awaitable[Sequence[Row]]]


async def fetch_with_sdk(connection: MilvusConnection, query: RowQuery) -> Sequence[Row]:
    """The rows by the driver's own client."""
    settings = connection.settings

    async def ask(driver: Driver) -> Sequence[Row]:
        answer = await driver.search(
            settings.collection,
            data=[query.data()],
            anns_field=query.searched_field(settings),
            filter=query.expression,
            limit=query.limit,
            output_fields=query.output_fields(settings),
            consistency_level=settings.consistency,
            timeout=settings.timeout_seconds,
        )
        return answer[0] if answer else []

    return await connection.call(ask)
