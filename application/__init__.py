"""The use cases: lookup and ingest."""
