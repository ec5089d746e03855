"""A semsearch index in other programs: LangChain, LlamaIndex, Haystack, MTEB and llm, each with a module of its own.

They use the public API only: any `Searchable`, and adding texts to an `Index`.
"""
