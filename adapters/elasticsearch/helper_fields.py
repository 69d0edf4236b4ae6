"""The fields of an own index beside those that the settings name."""

EVIDENCE_KEY = "evidence_key"
"""The key of a chunk, by which equal scores are ordered; ``_id`` is bounded and cannot be."""
DOC_ID = "doc_id"
"""Which document a chunk is of, for deleting."""
FILTER_TERMS = "filter_terms"
"""What filters match: ``name=value`` for each value of the metadata, the value as JSON."""
VERSION = "version"
"""When `replace_document` wrote a chunk, in nanoseconds; plain upserts have none."""

HELPER_FIELDS = (EVIDENCE_KEY, DOC_ID, FILTER_TERMS, VERSION)
