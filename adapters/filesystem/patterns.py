"""Which names are looked at."""

from collections.abc import Sequence

from evidence_lookup.domain.errors import SettingsError

_PASSED_OVER = frozenset({"CVS", "__pycache__", "node_modules"})


def is_passed_over(name: str) -> bool:
    """Whether a file or folder is hidden, or holds what tools put there."""
    return name.startswith(".") or name in _PASSED_OVER


class Patterns:
    """What *include* and *exclude*, as in ``.gitignore``, say of a path from the root.

    Raises:
        SettingsError: a pattern is malformed; every such one is named.
    """

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        from pathspec import GitIgnoreSpec
        from pathspec.patterns.gitignore import GitIgnorePatternError

        faults: list[str] = []
        for name, patterns in (("include", include), ("exclude", exclude)):
            for pattern in patterns:
                try:
                    GitIgnoreSpec.from_lines([pattern])
                except GitIgnorePatternError:
                    faults.append(f"{name}: {pattern!r} is no pattern as in .gitignore")
        if faults:
            raise SettingsError(faults)
        self._include = GitIgnoreSpec.from_lines(include) if include else None
        self._exclude = GitIgnoreSpec.from_lines(exclude)

    def wants_file(self, source: str) -> bool:
        """Whether the file is asked for."""
        if self._exclude.match_file(source):
            return False
        return self._include is None or self._include.match_file(source)

    def wants_folder(self, source: str) -> bool:
        """Whether a file below the folder may be asked for."""
        return not self._exclude.match_file(f"{source}/")
