"""The references of the command line, written from the code, of semsearch and of semsearch-research.

python tests/support/reference_page > docs/reference.md
python tests/support/reference_page research > research/docs/reference.md
"""
