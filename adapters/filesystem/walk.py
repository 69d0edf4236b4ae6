"""One walk through a tree of folders."""

import os
import unicodedata
from collections.abc import Iterator
from os import DirEntry
from pathlib import Path

from evidence_lookup.adapters.filesystem.patterns import Patterns, is_passed_over
from evidence_lookup.ports.document_source import SkippedFile, SourceFile


def printable(name: str) -> str:
    """*name* with what cannot be shown or encoded as UTF-8 escaped."""
    return "".join(
        char.encode("unicode_escape").decode()
        if unicodedata.category(char) in ("Cc", "Cs")
        else char
        for char in name
    )


def name_fault(name: str) -> str | None:
    """Why a file of this name cannot be cited, if so."""
    categories = {unicodedata.category(char) for char in name}
    if "Cs" in categories:
        return "the name is not UTF-8"
    return "the name holds a control character" if "Cc" in categories else None


class Walk:
    """What is found below *root*; links come last, so that a file is known by its own name."""

    def __init__(self, root: Path, patterns: Patterns) -> None:
        self._root = root
        self._real_root = Path(os.path.realpath(root))
        self._patterns = patterns
        self._links: list[str] = []
        self._seen: set[Path] = set()

    def run(self) -> Iterator[SourceFile | SkippedFile]:
        """Everything asked for, in no particular order."""
        yield from self._folders("")
        while self._links:
            links, self._links = sorted(self._links), []
            for source in links:
                yield from self._link(source)

    def _folders(self, top: str) -> Iterator[SourceFile | SkippedFile]:
        waiting = [top]
        while waiting:
            folder = waiting.pop()
            real = Path(os.path.realpath(self._root / folder))
            if real in self._seen:
                continue
            self._seen.add(real)
            try:
                with os.scandir(self._root / folder) as found:
                    entries = list(found)
            except OSError as error:
                yield SkippedFile(folder, f"the folder cannot be read: {error.strerror}")
                continue
            for entry in entries:
                if is_passed_over(entry.name):
                    continue
                source = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir(follow_symlinks=False):
                    if self._patterns.wants_folder(source):
                        fault = name_fault(entry.name)
                        if fault is None:
                            waiting.append(source)
                        else:
                            yield SkippedFile(printable(source), fault)
                else:
                    yield from self._leaf(source, entry, real)

    def _leaf(
        self, source: str, entry: DirEntry[str], folder: Path
    ) -> Iterator[SourceFile | SkippedFile]:
        is_link = entry.is_symlink()
        if not is_link and not self._patterns.wants_file(source):
            return
        fault = name_fault(entry.name)
        if fault is not None:
            yield SkippedFile(printable(source), fault)
        elif is_link:
            self._links.append(source)
        elif not entry.is_file(follow_symlinks=False):
            yield SkippedFile(source, "not a regular file")
        elif (real := folder / entry.name) not in self._seen:
            self._seen.add(real)
            yield SourceFile(self._root, source)

    def _link(self, source: str) -> Iterator[SourceFile | SkippedFile]:
        place = self._root / source
        wants = self._patterns.wants_folder if place.is_dir() else self._patterns.wants_file
        if not wants(source):
            return
        try:
            real = Path(os.path.realpath(place, strict=True))
        except OSError:
            yield SkippedFile(source, "a link that leads nowhere")
            return
        if not real.is_relative_to(self._real_root):
            yield SkippedFile(source, "a link that leads out of the tree")
        elif real.is_dir():
            yield from self._folders(source)
        elif not real.is_file():
            yield SkippedFile(source, "a link to what is no regular file")
        elif real not in self._seen:
            self._seen.add(real)
            yield SourceFile(self._root, source)
