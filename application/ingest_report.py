"""What an ingest did, while it runs and at its end."""

from attrs import field, frozen

from evidence_lookup.ports.document_source import SkippedFile


@frozen
class IngestProgress:
    """Where a running ingest stands: files done and known, and passages embedded so far."""

    files_done: int
    files_total: int
    passages: int
    source: str


@frozen
class IngestReport:
    """The documents by what became of them, ids in order; `chunk_count` is of what was written."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    skipped: tuple[SkippedFile, ...] = ()
    warnings: tuple[str, ...] = ()
    chunk_count: int = 0
    seconds: float = field(default=0.0, eq=False)
