"""Vectors in tables of Lance, in a folder or on an object store: any number of readers, and no server.

Lance (https://lance.org, Apache-2.0) is a columnar format with vector indexes, made for object stores. Of its two
Python packages this uses pylance, the format's own, and not LanceDB, which wraps it: row masks, batches of queries and
lists of files are needed here, and are in the former only.

`place` is a folder or a bucket, `store` and `writer` are the vector store, `lists` are the segments of many vectors.
"""
