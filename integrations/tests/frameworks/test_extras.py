"""Each adapter is a module of its own, which says what to install where its framework is not there."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

ADAPTERS = {"langchain": "langchain_core", "llamaindex": "llama_index.core", "haystack": "haystack"}
REFUSED = """
import sys
sys.modules[{package!r}] = None
from semsearch.errors import MissingExtra
try:
    import semsearch_integrations.{adapter}
except MissingExtra as error:
    print(error)
"""
ALONE = """
import sys
import semsearch_integrations.{adapter}
print(*(other for other in {others!r} if other in sys.modules))
"""


def run(code: str) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "HAYSTACK_TELEMETRY_ENABLED": "False"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_without_its_framework_an_adapter_names_the_command(adapter: str) -> None:
    said = run(REFUSED.format(adapter=adapter, package=ADAPTERS[adapter]))
    assert said.startswith(f"the extra {adapter} is not installed")
    assert said.endswith(f"run in a checkout of semsearch: pip install './integrations[{adapter}]'")


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_adapter_loads_no_other_framework(adapter: str) -> None:
    pytest.importorskip(ADAPTERS[adapter], reason="an optional dependency")
    others = [package for name, package in ADAPTERS.items() if name != adapter]
    assert run(ALONE.format(adapter=adapter, others=others)) == ""
