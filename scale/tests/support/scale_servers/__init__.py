"""Servers that the tests of semsearch-scale start: PostgreSQL, Milvus, S3, a cluster of Dask; and stores that watch."""
