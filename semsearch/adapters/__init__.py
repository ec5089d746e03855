"""Adapters: an index as the retriever, embedding and store of other frameworks. Each framework has a file and an extra.

They know an index from outside: what can be asked of any `Searchable`, and how texts are added to an `Index`.
"""
