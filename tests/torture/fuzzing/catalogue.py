"""All targets, by name."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from fuzzing import (
    archive_targets,
    container_targets,
    exchange_targets,
    file_targets,
    index_targets,
    message_targets,
    reader_targets,
    text_targets,
)
from fuzzing.target import Target

TARGETS: Mapping[str, Target] = {
    target.name: target
    for target in chain(
        reader_targets.targets(),
        archive_targets.targets(),
        container_targets.targets(),
        text_targets.targets(),
        file_targets.targets(),
        index_targets.targets(),
        message_targets.targets(),
        exchange_targets.targets(),
    )
}
