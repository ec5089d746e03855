"""Your own questions on your own index: are their answers found, and do the quoted sentences have them?

from semsearch.evaluate.golden import evaluate_golden
print(evaluate_golden("questions.jsonl", index).modes[0].figures)
"""
