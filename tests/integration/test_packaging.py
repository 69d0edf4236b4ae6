"""The wheel that people install."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LAYERS = ("domain", "ports", "adapters", "application")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel, built from the source distribution as an index would get it."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    built = subprocess.run(build, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def test_the_wheel_holds_one_import_name(wheel: zipfile.ZipFile) -> None:
    """Nothing but `evidence_lookup` and its metadata lands in site-packages."""
    tops = {name.partition("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"evidence_lookup"}


def test_the_wheel_holds_every_file_once(wheel: zipfile.ZipFile) -> None:
    """Each file of the five source folders is in the wheel, py.typed and data files included."""
    facade = ROOT / "bootstrap" / "evidence_lookup"
    expected = {file.relative_to(ROOT) for layer in LAYERS for file in _files(ROOT / layer)}
    expected |= {
        path for file in _files(facade) if (path := file.relative_to(facade)).parts[0] not in LAYERS
    }
    names = [name for name in wheel.namelist() if name.startswith("evidence_lookup/")]
    assert len(names) == len(set(names))
    assert {f"evidence_lookup/{path.as_posix()}" for path in expected} == set(names)
    assert "evidence_lookup/py.typed" in names


def _files(folder: Path) -> list[Path]:
    found = folder.rglob("*")
    return [file for file in found if file.is_file() and "__pycache__" not in file.parts]


def test_the_import_is_light() -> None:
    """`import evidence_lookup` loads no backend, no event loop and no number cruncher."""
    heavy = ("pymilvus", "numpy", "pandas", "onnxruntime", "rich", "typer", "anyio", "cattrs")
    code = f"import sys, evidence_lookup; print([m for m in {heavy!r} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_the_public_names_are_sorted_and_there() -> None:
    """`__all__` is in order, and each of its names can be imported."""
    import evidence_lookup

    assert evidence_lookup.__all__ == sorted(evidence_lookup.__all__)
    assert all(hasattr(evidence_lookup, name) for name in evidence_lookup.__all__)
