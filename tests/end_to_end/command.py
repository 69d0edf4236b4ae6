"""Runs the installed command."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

HANDBOOK = Path(__file__).parents[1] / "data" / "handbook"
COMMAND = Path(sys.executable).with_name("evidence-lookup")
# A busy machine takes longer than people wait.
PATIENCE = {
    "EVIDENCE_LOOKUP_MILVUS_TIMEOUT_SECONDS": "60",
    "EVIDENCE_LOOKUP_RAG_DEADLINE_SECONDS": "120",
    "EVIDENCE_LOOKUP_VECTOR_STORE_TIMEOUT_SECONDS": "60",
    "EVIDENCE_LOOKUP_TRACE_TIMEOUT_SECONDS": "30",
}


def run(
    *arguments: str | Path,
    folder: Path,
    code: int = 0,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> subprocess.CompletedProcess[str]:
    """Run the command in *folder* and check its exit code."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("EVIDENCE_LOOKUP_")}
    done = subprocess.run(
        [COMMAND, *map(str, arguments)],
        cwd=folder,
        env={**environment, "COLUMNS": "100", **PATIENCE, **variables},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=240,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done
