"""The program of one file as it sees itself; tests/supply/one_file.py builds it."""

from __future__ import annotations

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from semsearch import errors
from semsearch.cli.commands import doctor_command
from semsearch.errors import MissingExtra, SemsearchError
from semsearch.system import one_file

BEGIN = "from semsearch.system.one_file import begin, program; import sys, os; "


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["-c", "print(1)"], "print(1)"),
        (["-P", "-B", "-c", "x = 1"], "x = 1"),
        (["-B", "-S", "-I", "-c", "from multiprocessing.resource_tracker import main;main(5)"], ...),
        ([], None),
        (["query", "-c", "x"], None),
        (["query", "what does -c mean"], None),
        (["-i", "docs", "-c", "x"], None),
        (["-c"], None),
        (["-a", "-b", "-d", "-e", "-f", "-g", "-h", "-c", "x"], None),
    ],
)
def test_only_processes_that_python_starts_run_code(arguments: list[str], expected: str | None) -> None:
    found = one_file.code_to_run(["semsearch", *arguments])
    assert found == (arguments[-1] if expected is ... else expected)


def test_it_stands_in_for_python() -> None:
    code = BEGIN + "sys.argv[1:] = ['-P', '-B', '-c', 'import sys; print(len(sys.argv))']; begin(); print('not this')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "5\n"


def test_it_knows_its_file_and_tells_no_program_that_it_starts(tmp_path: Path) -> None:
    code = BEGIN + "begin(); print(program()); print([name for name in os.environ if '_LIB' in name or 'PYI' in name])"
    environment = {
        "SEMSEARCH_PROGRAM": "bin/semsearch", "LD_LIBRARY_PATH": "/inside", "LD_LIBRARY_PATH_ORIG": "/own",
        "_PYI_ARCHIVE_FILE": "x", "PYTHONPATH": str(Path(one_file.__file__).parents[2]),
    }  # fmt: skip
    for name in ("SYSTEMROOT", "PATH"):
        environment[name] = os.environ.get(name, "")
    done = subprocess.run(
        [sys.executable, "-c", code + "; print(os.environ['LD_LIBRARY_PATH'])"],
        env=environment, cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines() == [str(tmp_path / "bin/semsearch"), "['LD_LIBRARY_PATH']", "/own"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"LD_LIBRARY_PATH": "/inside"}, {}),
        ({"LD_LIBRARY_PATH": "/inside", "LD_LIBRARY_PATH_ORIG": "/own"}, {"LD_LIBRARY_PATH": "/own"}),
        ({"LD_LIBRARY_PATH_ORIG": ""}, {"LD_LIBRARY_PATH": ""}),
        ({"HOME": "/h", "_PYI_SPLASH": "x"}, {"HOME": "/h"}),
    ],
)
def test_other_programs_find_the_libraries_of_the_system(given: dict[str, str], expected: dict[str, str]) -> None:
    one_file.restore_libraries(given)
    assert given == expected


def test_doctor_finds_damaged_and_lacking_files_of_what_was_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "programs/abc"
    (folder / "a").mkdir(parents=True)
    for name in ("x", "a/y"):
        (folder / name).write_bytes(name.encode())
    listed = "".join(f"{sha256(name.encode()).hexdigest()}  {name}\n" for name in ("x", "a/y"))
    (folder / one_file.LIST).write_text(listed, encoding="utf-8")
    monkeypatch.setattr(one_file, "folder", lambda: folder)
    assert one_file.damaged_files(folder) == []
    assert doctor_command._unpacked().startswith(f"whole in {folder}; licences")
    (tmp_path / "programs/older").mkdir()
    assert "1 other versions in" in doctor_command._unpacked()
    (folder / "a/y").write_bytes(b"z")
    with pytest.raises(SemsearchError, match=r"a/y is damaged; delete .*abc"):
        doctor_command._unpacked()
    (folder / "x").unlink()
    with pytest.raises(SemsearchError, match=r"x, and 1 other files are damaged"):
        doctor_command._unpacked()


def test_what_is_not_inside_cannot_be_installed_into_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert str(MissingExtra("torch", "rerank")) == "torch is not installed; run: pip install 'semsearch[rerank]'"
    monkeypatch.setattr(errors, "_is_one_file", lambda: True)
    said = str(MissingExtra("torch", "rerank"))
    assert said.startswith("torch is not in this program of one file")
    assert said.endswith("pipx install 'semsearch[rerank]'")
