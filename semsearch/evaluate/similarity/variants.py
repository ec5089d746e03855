"""The methods that similarity is measured with: the papers' own, their parts, and uSIF's three parts taken singly.

mean tfidf          the baselines
w r sif             SIF paper, table 6: weights only, removal only, both (WR)
usif                all three parts of the uSIF paper: weights (u), piecewise removal (p), normalisation (n)
sif+u sif+p sif+n   uSIF paper, section 4.3: one of the parts in place of SIF's
usif-u usif-p usif-n   the counterpart, which the paper lacks: SIF's way in place of one of the parts
"""

from __future__ import annotations

from collections.abc import Sequence

from semsearch.embedding.methods import METHODS, Method
from semsearch.errors import UsageError
from semsearch.evaluate.arguments import check_several

DEFAULT = tuple(METHODS)
VARIANTS: dict[str, Method] = {
    "mean": METHODS["mean"],
    "tfidf": METHODS["tfidf"],
    "w": Method("w", "sif", normalise=False, components=0, piecewise=False),
    "r": Method("r", "none", normalise=False, components=1, piecewise=False),
    "sif": METHODS["sif"],
    "usif": METHODS["usif"],
    "sif+u": Method("sif+u", "usif", normalise=False, components=1, piecewise=False),
    "sif+p": Method("sif+p", "sif", normalise=False, components=5, piecewise=True),
    "sif+n": Method("sif+n", "sif", normalise=True, components=1, piecewise=False),
    "usif-u": Method("usif-u", "sif", normalise=True, components=5, piecewise=True),
    "usif-p": Method("usif-p", "usif", normalise=True, components=1, piecewise=False),
    "usif-n": Method("usif-n", "usif", normalise=False, components=5, piecewise=True),
}
_OTHER_NAMES = {"wr": "sif"}  # as the SIF paper calls it


def find_variants(methods: Sequence[str | Method]) -> list[Method]:
    """The methods of these names, or as they are. Raises UsageError where there is none, or one twice."""
    check_several(methods=methods)
    chosen = [method if isinstance(method, Method) else _find(method) for method in methods]
    if len({method.name for method in chosen}) != len(chosen):
        raise UsageError(f"methods are named once each, not {', '.join(method.name for method in chosen)}")
    return chosen


def _find(name: str) -> Method:
    known = _OTHER_NAMES.get(name, name)
    if known not in VARIANTS:
        raise UsageError(f"there is no method {name!r}; choose one of {', '.join([*VARIANTS, *_OTHER_NAMES])}")
    return VARIANTS[known]
