"""What is uploaded: the same bytes from the same files, nothing that git does not know, a page whose links lead on."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import release
import yaml
from packages import needed

needed("hatchling")

ROOT = release.ROOT
ADDRESS = "https://github.com/ada/semsearch"
VECTORS = "semsearch/word_vectors/"
RULES = {  # the main ones of the MCP registry's schema, SCHEMA
    "type": "object",
    "required": ["$schema", "name", "description", "version", "packages"],
    "properties": {
        "name": {"pattern": r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "minLength": 3, "maxLength": 200},
        "title": {"type": "string", "minLength": 1, "maxLength": 100},
        "description": {"type": "string", "minLength": 1, "maxLength": 100},
        "version": {"type": "string", "maxLength": 255, "pattern": r"^\d+\.\d+\.\d+\w*$"},
        "repository": {"required": ["url", "source"], "properties": {"url": {"pattern": "^https://"}}},
        "packages": {
            "type": "array",
            "minItems": 1,
            "items": {
                "required": ["registryType", "identifier", "version", "transport"],
                "properties": {
                    "registryType": {"enum": ["npm", "pypi", "cargo", "oci", "nuget", "mcpb"]},
                    "version": {"type": "string", "minLength": 1, "not": {"const": "latest"}},
                    "runtimeHint": {"enum": ["npx", "uvx", "docker", "dnx"]},
                    "transport": {"required": ["type"], "properties": {"type": {"const": "stdio"}}},
                    "packageArguments": {
                        "items": {
                            "required": ["type"],
                            "properties": {"type": {"enum": ["positional", "named"]}},
                            "anyOf": [{"required": ["value"]}, {"required": ["valueHint"]}, {"required": ["name"]}],
                        }
                    },
                    "environmentVariables": {
                        "items": {
                            "required": ["name"],
                            "properties": {"format": {"enum": ["string", "number", "boolean", "filepath"]}},
                        }
                    },
                },
                "additionalProperties": {"type": ["string", "array"]},
            },
        },
    },
}


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    return release.run(["git", "ls-files"], cwd=ROOT, quiet=True).splitlines()


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory, tracked: list[str]) -> Path:
    """The project without the arrays of its word vectors, which take seconds to compress; committed."""
    root = tmp_path_factory.mktemp("project")
    for name in tracked:
        if not (name.startswith(VECTORS) and name.endswith((".npy", ".txt"))) and (ROOT / name).exists():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, root / name)
    settings = root / "pyproject.toml"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(re.sub('(?m)^repository = ".*?"', f'repository = "{ADDRESS}"', text), encoding="utf-8")
    git(root, "init", "-q")
    git(root, "add", "--all")
    git(root, "commit", "-q", "-m", "all")
    return root


def git(root: Path, *arguments: str) -> str:
    names = {f"GIT_{who}_{what}": "ada" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(
        ["git", *arguments], cwd=root, env={**os.environ, **names}, check=True, capture_output=True, text=True
    )
    return done.stdout


@pytest.fixture(scope="module")
def built(tree: Path) -> list[Path]:
    return release.build(tree, tree / "build/release")


def test_two_builds_have_the_same_bytes(tree: Path, built: list[Path]) -> None:
    for path in tree.glob("semsearch/*.py"):
        os.utime(path, (1, 1))
        path.chmod(0o600)
    again = release.build(tree, tree / "build/again")
    assert [path.suffix for path in built] == [".gz", ".whl"]
    assert release.digests(again) == release.digests(built)


def test_a_distribution_has_what_git_has_and_nothing_else(tree: Path, built: list[Path]) -> None:
    known = git(tree, "ls-files").splitlines()
    assert [release.problems(path, known) for path in built] == [[], []]
    without = [name for name in known if name != "semsearch/__main__.py"]
    assert [release.problems(path, without)[0].partition(": ")[2] for path in built] == [
        "semsearch/__main__.py is not in git"
    ] * 2
    more = [*known, "semsearch/lost.py"]
    assert [release.problems(path, more)[0].partition(": ")[2] for path in built] == ["semsearch/lost.py lacks"] * 2


def test_a_file_that_is_too_large_is_refused(built: list[Path], tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release, "MOST_BYTES", 1000)
    assert "an index takes less" in release.problems(built[-1], git(tree, "ls-files").splitlines())[-1]


def test_the_packages_page_leads_to_the_repository_and_names_the_server(built: list[Path]) -> None:
    found = release.description(built[-1])
    page = found.get_payload(decode=True).decode()
    version = found["Version"]
    assert f"<!-- mcp-name: {release.server_json(ADDRESS, version)['name']} -->" in page
    links = re.findall(r"\]\(([^)]*)\)", page)
    assert f"{ADDRESS}/blob/v{version}/docs/getting-started.md" in links
    assert f"{ADDRESS}/raw/v{version}/docs/images/query.svg" in links
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
    for link in links:
        if link.startswith(f"{ADDRESS}/"):
            assert (ROOT / link.partition(f"v{version}/")[2].partition("#")[0]).exists(), link
    urls = dict(line.split(", ", 1) for line in found.get_all("Project-URL"))
    assert (urls["Source"], urls["Issues"]) == (ADDRESS, f"{ADDRESS}/issues")
    assert found["Author"]
    assert {f"Programming Language :: Python :: 3.{minor}" for minor in range(11, 15)} <= set(
        found.get_all("Classifier")
    )


def test_pdf_and_the_interactive_search_need_no_extra(built: list[Path]) -> None:
    asked = release.description(built[-1]).get_all("Requires-Dist")
    assert {"pypdfium2", "prompt-toolkit"} <= {re.split(r"[^\w-]", line)[0] for line in asked if "extra" not in line}


def test_the_servers_entry_keeps_the_rules_of_the_registry() -> None:
    jsonschema.validate(release.server_json(ADDRESS, "0.1.0"), RULES)
    jsonschema.validate(release.server_json(ADDRESS, "1.10.0rc1"), RULES)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(release.server_json(ADDRESS, "latest"), RULES)
    for path in ROOT.glob("server.json"):  # of the newest release
        jsonschema.validate(json.loads(path.read_text(encoding="utf-8")), RULES)


def test_notices_name_all_word_vectors_that_ship() -> None:
    notices = (ROOT / "NOTICES").read_text(encoding="utf-8")
    cards = sorted((ROOT / VECTORS).glob("**/card.json"))
    assert [card for card in cards if f"({card.parent.relative_to(ROOT).as_posix()})" not in notices] == []
    assert len(cards) > 0


def test_a_release_needs_a_repository(tmp_path: Path) -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for address in ("", "http://example.org/semsearch", "https://github.com/ada"):
        changed = re.sub('(?m)^repository = ".*?"', f'repository = "{address}"', text)
        (tmp_path / "pyproject.toml").write_text(changed, encoding="utf-8")
        with pytest.raises(release.Refused, match=r"set it to where the project is published"):
            release.release(tmp_path, "0.1.0")


def test_a_release_is_a_version_a_changelog_a_commit_and_a_tag(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for who in ("AUTHOR", "COMMITTER"):
        for what in ("NAME", "EMAIL"):
            monkeypatch.setenv(f"GIT_{who}_{what}", "ada")
    root = tmp_path / "project"
    git(tree, "clone", "-q", str(tree), str(root))
    before = git(root, "rev-parse", "HEAD")
    changelog = root / "CHANGELOG.md"
    text = re.sub(r"(?m)^## .*$", "## 7.2.0, unreleased", changelog.read_text(encoding="utf-8"), count=1)
    changelog.write_text(text, encoding="utf-8")
    with pytest.raises(release.Refused, match="commit these first"):
        release.release(root, "7.2.0", lambda _: [])
    git(root, "commit", "-q", "-a", "-m", "notes")
    with pytest.raises(release.Refused, match=r"CHANGELOG\.md begins with '7\.2\.0, unreleased'"):
        release.release(root, "7.3.0", lambda _: [])

    def fails(_: Path) -> list[Path]:
        raise release.Refused("the wheel does not run")

    with pytest.raises(release.Refused, match="does not run"):
        release.release(root, "7.2.0", fails)
    assert git(root, "status", "--porcelain") + git(root, "tag") == ""
    wheel = root / "build/release/semsearch-7.2.0-py3-none-any.whl"
    command = release.release(root, "7.2.0", lambda _: [wheel])
    assert command.endswith(f"upload {wheel}")
    assert git(root, "tag") == "v7.2.0\n"
    assert git(root, "rev-parse", "HEAD") != before
    assert git(root, "status", "--porcelain") == ""
    changed = git(root, "show", "v7.2.0", "--unified=0", "--format=")
    assert '+__version__ = "7.2.0"' in changed
    assert '+version = "7.2.0"' in changed
    assert re.search(r"(?m)^\+## 7\.2\.0, \d{4}-\d\d-\d\d$", changed)
    assert json.loads((root / "server.json").read_text(encoding="utf-8"))["packages"][0]["version"] == "7.2.0"
    with pytest.raises(release.Refused, match=r"there is a tag v7\.2\.0 already"):
        release.release(root, "7.2.0", lambda _: [wheel])


def test_public_ci_runs_scripts_of_the_repository_with_each_python_on_each_system() -> None:
    text = (ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    for job in jobs.values():
        lines = [step["run"] for step in job["steps"] if "run" in step]
        assert [line for line in lines if not (ROOT / line.removeprefix("python ").split()[0]).is_file()] == []
        assert len(lines) == 1
    matrix = jobs["everywhere"]["strategy"]["matrix"]
    for name in ("everywhere", "distributions"):
        systems = jobs[name]["strategy"]["matrix"]["system"]
        assert [each.split("-")[0] for each in systems] == ["ubuntu", "macos", "windows"]
    classifiers = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    *supported, new = matrix["python"]
    assert supported == re.findall(r'Python :: (3\.\d+)"', classifiers)
    assert jobs["everywhere"]["continue-on-error"] == f"${{{{ matrix.python == '{new}' }}}}"  # of that one only


def test_what_a_program_says_is_told_if_it_fails() -> None:
    with pytest.raises(release.Refused, match=r"(?s)failed \(3\).*here is why"):
        release.run([sys.executable, "-c", "print('here is why'); raise SystemExit(3)"], quiet=True)
