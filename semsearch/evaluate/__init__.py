"""Measure what semsearch finds: retrieval on test collections, similarity on sentence pairs, your own questions.

from semsearch.evaluate.retrieval import evaluate_retrieval
from semsearch.evaluate.sts import evaluate_sts
for row in evaluate_retrieval(["scifact", "cisi"]):
    print(row.collection, row.mode, row.figures["ndcg@10"].value)
"""
