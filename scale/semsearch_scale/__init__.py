"""Where semsearch outgrows one machine: engines for vectors, published snapshots, object stores, clusters.

semsearch finds all of it by entry points (scale/pyproject.toml); nothing here is imported before it is asked for.
"""
