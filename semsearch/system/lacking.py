"""Errors of the operating system that say this machine has too little of something: nothing is wrong with any file."""

from __future__ import annotations

import errno

LACKING = {  # error number: what to do
    errno.ENOSPC: "make room and try again",
    errno.EMFILE: "raise the limit with ulimit -n",
    errno.ENFILE: "close other programs",
    errno.ENOMEM: "close other programs, or raise the limit with ulimit -v",
}


def is_lacking(error: OSError) -> bool:
    """Return whether the machine has too little of something: then no file is to blame, nor to be passed over."""
    return error.errno in LACKING
