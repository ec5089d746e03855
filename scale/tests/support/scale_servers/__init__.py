"""Servers that the tests of semsearch-scale start: PostgreSQL, S3, a cluster of Dask; and stores that watch."""
