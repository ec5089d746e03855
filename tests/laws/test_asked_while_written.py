"""Whoever asks while somebody writes is told the state before or after, whole, as a model of the index has it."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from index_model import AskedWhileWritten, Crowd


def test_every_answer_is_that_of_the_model_before_or_after_the_write(monkeypatch: pytest.MonkeyPatch) -> None:
    crowd = Crowd(threads=4, processes=1)
    monkeypatch.setattr(AskedWhileWritten, "crowd", crowd, raising=False)
    try:
        run_state_machine_as_test(
            AskedWhileWritten, settings=settings(max_examples=3, stateful_step_count=6, deadline=None)
        )
    finally:
        crowd.close()
