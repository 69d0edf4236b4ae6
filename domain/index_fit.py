"""Whether an index and an embedder fit together (C42)."""

from evidence_lookup.domain.errors import DimensionMismatchError, EmbedderMismatchError

_REBUILD = "or rebuild the index with 'evidence-lookup ingest PATH --rebuild'"


def check_fit(
    *, stored_model: str | None, stored_dimension: int, model: str, dimension: int
) -> None:
    """Refuse to mix vectors of two models; an index of an unknown one is judged by its dimension.

    Raises:
        EmbedderMismatchError: the index was made by another model.
        DimensionMismatchError: the dimensions differ.
    """
    if stored_model is not None and stored_model != model:
        raise EmbedderMismatchError(
            f"the index was made by the embedder {stored_model!r}, but {model!r} is configured: "
            f"set embedder.kind and embedder.model back, {_REBUILD}",
            stored=stored_model,
            configured=model,
        )
    if stored_dimension != dimension:
        # An index of an unknown model is not the product's own, and nothing to rebuild.
        rebuild = "" if stored_model is None else f", {_REBUILD}"
        raise DimensionMismatchError(
            f"the index holds vectors of {stored_dimension} dimensions, but the embedder "
            f"{model!r} makes {dimension}: configure the embedder that made the index "
            f"(embedder.kind, embedder.model, embedder.dimensions){rebuild}",
            expected=stored_dimension,
            actual=dimension,
        )
