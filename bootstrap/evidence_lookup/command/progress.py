"""Progress bars, on standard error."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

if TYPE_CHECKING:
    from evidence_lookup.application.compare_report import CompareProgress, CompareReport
    from evidence_lookup.application.ingest_report import IngestProgress, IngestReport
    from evidence_lookup.application.replay_report import ReplayProgress, ReplayReport
    from evidence_lookup.knowledge_base import SyncKnowledgeBase


def ingest_with_progress(base: "SyncKnowledgeBase", path: Path, **options: Any) -> "IngestReport":
    """As `SyncKnowledgeBase.ingest`, with a bar where standard error is a terminal."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("files, {task.fields[passages]} passages, {task.fields[rate]}/s"),
        TimeElapsedColumn(),
    )
    console = Console(stderr=True)
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        task = progress.add_task("Ingesting", total=None, passages=0, rate="0.0")

        def on_progress(at: "IngestProgress") -> None:
            elapsed = progress.tasks[task].elapsed or 0.0
            rate = f"{at.passages / elapsed:.1f}" if elapsed else "0.0"
            progress.update(
                task,
                completed=at.files_done,
                total=at.files_total,
                passages=at.passages,
                rate=rate,
            )

        return base.ingest(path, on_progress=on_progress, **options)


def compare_with_progress(
    base: "SyncKnowledgeBase", queries: Sequence[str], **options: Any
) -> "CompareReport":
    """As `SyncKnowledgeBase.compare`, with a bar for several queries in a terminal."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("queries"),
        TimeElapsedColumn(),
    )
    console = Console(stderr=True)
    hidden = not console.is_terminal or len(queries) < 2
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        task = progress.add_task("Comparing", total=len(queries))

        def on_progress(at: "CompareProgress") -> None:
            progress.update(task, completed=at.done)

        return base.compare(queries, on_progress=on_progress, **options)


def replay_with_progress(base: "SyncKnowledgeBase", **options: Any) -> "ReplayReport":
    """As `SyncKnowledgeBase.replay`, with a bar where standard error is a terminal."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("lookups, {task.fields[changed]} changed"),
        TimeElapsedColumn(),
    )
    console = Console(stderr=True)
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        task = progress.add_task("Replaying", total=None, changed=0)

        def on_progress(at: "ReplayProgress") -> None:
            progress.update(task, completed=at.done, total=at.total, changed=at.changed)

        return base.replay(on_progress=on_progress, **options)
