"""How many passages a sentence encoder embeds in a second of one processor, and how long a question takes it.

    python tests/benchmarks/scale/encoder.py MODEL TEXT.txt.xz [--passages 300]

It needs sentence-transformers (`./research[train]`). Passages are paragraphs of 60 to 140 words; one thread, batches of
32. Seconds are those of the processor, so that what else the machine does counts little.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", TOKENIZERS_PARALLELISM="false")

from costs import paragraphs

QUESTIONS = 20


def seconds(work: Callable[[], object]) -> float:
    """The seconds of the processor that something takes."""
    began = time.process_time()
    work()
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("text", type=Path)
    parser.add_argument("--passages", type=int, default=300)
    given = parser.parse_args()
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    model = SentenceTransformer(given.model, device="cpu")
    texts = list(islice((text for text in paragraphs([given.text]) if 60 <= len(text.split()) <= 140), given.passages))
    model.encode(texts[:32])  # the first is slower
    took = seconds(lambda: model.encode(texts, batch_size=32))
    asked = seconds(lambda: [model.encode([text[:60]]) for text in texts[:QUESTIONS]]) / QUESTIONS
    words = sum(len(text.split()) for text in texts) / len(texts)
    print(f"{len(texts) / took:.1f} passages of {words:.0f} words a second, {1000 * asked:.1f} ms a question")


if __name__ == "__main__":
    main()
