"""The laboratory of semsearch: the papers' experiments, training of word vectors, measurements on collections, bench.

from semsearch_research.analysis.sweep import evaluate_sweep
print(evaluate_sweep(["sts/"]).best)
"""
