"""Milvus, which spreads vectors and questions over the machines of a cluster: `milvus:http://host:19530`.

A segment is a partition of a collection, and a search names its partitions: a partition is made and dropped in
milliseconds, where a collection takes seconds, and one question asks all of them at once. There are at most two
collections for an index and a dimension: in one all vectors are compared, the other, for segments of many vectors, has
graphs (HNSW; Malkov and Yashunin 2018).
"""

from __future__ import annotations
