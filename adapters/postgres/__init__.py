"""PostgreSQL: records of lookups and the catalogue, which several hosts share."""
