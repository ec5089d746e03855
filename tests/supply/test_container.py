"""The container's files agree with each other and with the program; tests/supply/container.py builds and tries it."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import subprocess
from pathlib import Path

import container
import pytest
import yaml

from semsearch.cli.commands.server_commands import serve

ROOT = container.ROOT
START = ROOT / "tests/supply/container_start"


@pytest.fixture(scope="module")
def stages() -> list[container.Stage]:
    return container.stages((ROOT / "Dockerfile").read_text(encoding="utf-8"))


def test_the_container_is_small_without_rights_and_says_whether_it_is_well(stages: list[container.Stage]) -> None:
    build, last = stages
    assert last.steps[0][0] == "COPY"
    assert last.steps[0][1].startswith(f"--from={build.name} ")
    assert last.said["USER"] == "semsearch"
    assert f"--uid {container.UID} " in last.steps[1][1]
    port = inspect.signature(serve).parameters["port"].default
    assert last.said["EXPOSE"] == str(port)
    assert f":{port}/health" in last.said["HEALTHCHECK"]
    assert last.words("VOLUME") == ["/documents", "/indexes"]
    assert "SEMSEARCH_INDEXES=/indexes" in last.environment
    assert last.words("ENTRYPOINT") == [START.name]


def test_compose_mounts_its_volumes_and_offers_its_port_to_this_machine_only(stages: list[container.Stage]) -> None:
    composed = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    service = composed["services"]["semsearch"]
    assert {each.split(":")[-1 if each.count(":") == 1 else -2] for each in service["volumes"]} >= {"/indexes"}
    assert any(each.endswith(":/documents:ro") for each in service["volumes"])
    assert service["ports"] == [f"127.0.0.1:{stages[-1].said['EXPOSE']}:{stages[-1].said['EXPOSE']}"]
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])


def test_the_build_has_what_pyproject_asks_for_and_no_tests() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    names = set(container.copied(ROOT))
    assert {"pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "NOTICES", "semsearch/__main__.py"} <= names
    assert [name for name in names if name.startswith("tests/")] == ["tests/supply/container_start"]


@pytest.mark.skipif(os.name == "nt" or not shutil.which("sh"), reason="the container has a shell")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], ["index D --index I/documents --quiet", "watch --index I/documents --quiet", "serve --host 0.0.0.0"]),
        (
            ["serve", "--require-token"],
            [
                "index D --index I/documents --quiet",
                "watch --index I/documents --quiet",
                "serve --host 0.0.0.0 --require-token",
            ],
        ),
        (["mcp"], ["index D --index I/documents --quiet", "mcp"]),
        (["query", "a ship"], ["query a ship"]),
    ],
)
def test_the_start_indexes_and_runs_what_was_asked_for(
    arguments: list[str], expected: list[str], tmp_path: Path
) -> None:
    program = tmp_path / "semsearch"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/said\necho to stdout\n', encoding="utf-8")
    program.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.defpath}", "SEMSEARCH_INDEXES": "I", "DOCUMENTS": "D"}
    done = subprocess.run([START, *arguments], env=environment, capture_output=True, text=True, check=True)
    assert sorted((tmp_path / "said").read_text(encoding="utf-8").splitlines()) == sorted(expected)
    assert "to stdout" in done.stdout
    if arguments[:1] == ["mcp"]:
        assert done.stdout == "to stdout\n"  # of mcp alone: what else is printed there is no message


def test_a_step_may_have_several_lines_and_comments() -> None:
    text = 'FROM a AS one\n# no\nRUN x \\\n  # neither\n  && y\nFROM b\nENV A=1 B="2 3"\nCMD ["serve"]\n'
    first, last = container.stages(text)
    assert first.steps == [("RUN", "x    && y")]
    assert (last.environment, last.words("CMD")) == (["A=1", "B=2 3"], ["serve"])
    assert json.dumps(last.words("CMD")) == '["serve"]'
