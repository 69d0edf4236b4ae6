"""How a model is called whose texts get a prefix."""

from hashlib import sha256


def prefixed_model(model: str, *, query_prefix: str, passage_prefix: str) -> str:
    """*model*, with a digest of the prefixes if there are any: they make other vectors."""
    if not query_prefix and not passage_prefix:
        return model
    prefixes = f"{query_prefix}\0{passage_prefix}".encode("utf-8", "replace")
    return f"{model}+{sha256(prefixes).hexdigest()[:8]}"
