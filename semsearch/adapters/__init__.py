"""Adapters: an index as the retriever, embedding and store of other frameworks, each with a module and an extra.

They use the public API only: any `Searchable`, and adding texts to an `Index`.
"""
