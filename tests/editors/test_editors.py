"""The packages for Neovim and Emacs (`editors/`), each in its editor without a screen, where that is installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from console import index_docs, write_docs

from semsearch.word_vectors.table import VectorTable

EDITORS = Path(__file__).parents[2] / "editors"
ODD = 'docs/it\'s a "bridge" $HOME.md'
NEOVIM = """
vim.g.semsearch_command = vim.fn.json_decode(vim.env.COMMAND)
vim.g.semsearch_options = {"-k", "3", "--all"}
local said, offered, ended = {}, {}, false
vim.notify = function(text) table.insert(said, text) end
vim.ui.input = function(_, take) take("bread in the oven") end
vim.ui.select = function(items, options, take)
  for _, item in ipairs(items) do table.insert(offered, options.format_item(item)) end
  take(items[1], 1)
end
local jobstart = vim.fn.jobstart
vim.fn.jobstart = function(words, options)
  local exit = options.on_exit
  options.on_exit = function(...) exit(...); ended = true end
  return jobstart(words, options)
end
local shown = function() return vim.fn.fnamemodify(vim.fn.bufname(), ":.") .. ":" .. vim.fn.line(".") end
%s
vim.wait(60000, function() return ended or #said > 0 end, 20)
local hits = {}
for _, item in ipairs(vim.fn.getqflist()) do
  table.insert(hits, {vim.fn.bufname(item.bufnr), item.lnum, item.col, item.text})
end
local at = shown()
if #hits > 0 and #offered == 0 then vim.cmd("cfirst") at = shown() end
local answer = {hits = hits, said = table.concat(said, " "), at = at, offered = offered}
answer.title = vim.fn.getqflist({title = 0}).title
vim.fn.writefile({vim.fn.json_encode(answer)}, vim.env.ANSWER)
"""
EMACS = """
(require 'json)
(setq semsearch-command (append (json-read-from-string (getenv "COMMAND")) nil)
      semsearch-options '("-k" "3" "--all"))
(setq said "")
(advice-add 'message :before (lambda (form &rest rest)
  (when form (setq said (concat said (apply #'format form rest))))))
(condition-case problem
    (let ((process (progn %s)))
      (while (process-live-p process) (accept-process-output process 0.1))
      (while (accept-process-output nil 0.1)))
  (user-error (setq said (error-message-string problem))))
(setq hits nil at "" answer said)
(defun shown () (with-current-buffer (window-buffer)
  (format "%%s:%%d" (file-relative-name (or buffer-file-name "") folder) (line-number-at-pos))))
(when (get-buffer "*semsearch*")
  (with-current-buffer "*semsearch*"
    (goto-char (point-min))
    (while (re-search-forward "^\\\\(.+?\\\\):\\\\([0-9]+\\\\):\\\\([0-9]+\\\\):\\\\(.*\\\\)" nil t)
      (push (list (match-string 1) (string-to-number (match-string 2)) (string-to-number (match-string 3))
                  (match-string 4)) hits)))
  (next-error 1 t)
  (setq at (shown)))
(with-temp-file (getenv "ANSWER")
  (insert (json-encode (list (cons "hits" (vconcat (nreverse hits))) (cons "said" answer) (cons "at" at)))))
"""


@dataclass(frozen=True)
class Editor:
    """An editor, and what it is told for each thing that a person does."""

    name: str
    query: Callable[[str], str]
    open: Callable[[str], str]
    similar: str
    program: Callable[[str], list[str]]


def lisp(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


NVIM = Editor(
    "nvim",
    lambda text: f"vim.cmd({json.dumps('Semsearch ' + text, ensure_ascii=False)})",
    lambda path: f"vim.cmd('edit ' .. vim.fn.fnameescape({json.dumps(path)})) vim.cmd('10')",
    'vim.cmd("SemsearchSimilar")',
    lambda script: ["--headless", "--clean", "--cmd", f"set rtp^={EDITORS / 'nvim'}", "-c", f"luafile {script}"],
)
GNU_EMACS = Editor(
    "emacs",
    lambda text: f"(semsearch {lisp(text)})",
    lambda path: f"(find-file {lisp(path)}) (goto-char (point-min)) (forward-line 9) (setq default-directory folder)",
    "(semsearch-similar)",
    lambda script: ["-Q", "--batch", "-L", str(EDITORS / "emacs"), "-l", "semsearch", "-l", script],
)


@pytest.fixture(params=[NVIM, GNU_EMACS], ids=["nvim", "emacs"])
def editor(request: pytest.FixtureRequest) -> Editor:
    made: Editor = request.param
    if shutil.which(made.name) is None:
        pytest.skip(f"{made.name} is not installed")
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Path:
    folder = tmp_path_factory.mktemp("a folder")
    write_docs(folder)
    (folder / ODD).write_text("# Bridge\n\nThe ship and the anchor, the deck and a wave.\n", encoding="utf-8")
    return index_docs(folder, small_vectors)


def done(editor: Editor, folder: Path, told: str, *, command: list[str] | None = None) -> Any:
    """What an editor shows after it is told something."""
    script = folder / f"script.{editor.name}"
    template = NEOVIM if editor is NVIM else f"(setq folder {lisp(str(folder) + '/')})" + EMACS
    script.write_text(template.replace("%s", told, 1).replace("%%", "%"), encoding="utf-8")
    (answer := folder / "answer.json").unlink(missing_ok=True)
    run = subprocess.run(
        [editor.name, *editor.program(str(script)), *(["-c", "qa!"] if editor is NVIM else [])],
        cwd=folder, capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL,
        env={
            **os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "ANSWER": str(answer),
            "COMMAND": json.dumps(command or [sys.executable, "-m", "semsearch"]),
        },
    )  # fmt: skip
    assert answer.exists(), run.stdout + run.stderr
    return json.loads(answer.read_text(encoding="utf-8"))


def test_the_hits_of_a_question_are_a_list_that_one_goes_through(editor: Editor, folder: Path) -> None:
    found = done(editor, folder, editor.query("the captain of the ship"))
    assert len(found["hits"]) == 3
    path, line, column, text = found["hits"][0]
    assert (path, line, column) == ("docs/guide.md", 10, 1)
    assert "captain of the ship" in text
    assert found["at"] == "docs/guide.md:10"
    assert found["said"] == ""


@pytest.mark.parametrize(
    "question",
    [
        'the ship\'s "anchor" $(touch made); touch made | `touch made` & %s',
        "--open 1 anchor",
        "größer 船 anchor",
        'anchor deck -"captain of"',
    ],
)
def test_a_question_is_one_argument_whatever_it_has(editor: Editor, folder: Path, question: str) -> None:
    words = [sys.executable, "-c", "import sys; print(f'docs/guide.md:1:1:{sys.argv[1:]!r}')"]
    found = done(editor, folder, editor.query(question), command=words)
    options = ["query", "--format", "vimgrep", "-k", "3", "--all", "--"]
    assert [text for *_, text in found["hits"]] == [repr([*options, question])]
    assert not (folder / "made").exists()


def test_names_of_files_may_have_blanks_and_quotes(editor: Editor, folder: Path) -> None:
    found = done(editor, folder, editor.query('anchor deck -"captain of"'))
    assert found["hits"][0][:2] == [ODD, 3]
    assert found["at"] == f"{ODD}:3"


def test_passages_similar_to_the_current_line(editor: Editor, folder: Path) -> None:
    told = editor.open("docs/guide.md") + " " + editor.similar
    words = [sys.executable, "-c", "import sys; print(f'docs/guide.md:1:1:{sys.argv[-1]}')"]
    (hit,) = done(editor, folder, told, command=words)["hits"]
    assert Path(hit[3].removesuffix(":10")).resolve() == (folder / "docs/guide.md").resolve()


def test_an_error_is_the_editors_message_and_no_list(editor: Editor, folder: Path) -> None:
    found = done(editor, folder, editor.query("-captain"))
    assert "only excludes words" in found["said"]
    assert found["hits"] == []


def test_without_a_file_nothing_is_similar(editor: Editor, folder: Path) -> None:
    assert "has no file" in done(editor, folder, editor.similar)["said"]


def test_a_program_that_is_not_there_is_a_message_that_says_what_to_set(editor: Editor, folder: Path) -> None:
    said = done(editor, folder, editor.query("captain"), command=["semsearch-that-is-not-there"])["said"]
    assert "semsearch-that-is-not-there" in said
    assert "semsearch_command" in said.replace("-command", "_command")


@pytest.mark.skipif(shutil.which("nvim") is None, reason="nvim is not installed")
def test_neovim_offers_the_hits_to_choose_from_and_asks_for_a_question(folder: Path) -> None:
    found = done(NVIM, folder, 'vim.cmd("Semsearch!")')
    assert found["offered"][0].startswith("docs/guide.md:14: The bread is from the oven.")
    assert found["at"] == "docs/guide.md:14"
    assert found["title"] == "semsearch: bread in the oven"


@pytest.mark.skipif(shutil.which("emacs") is None, reason="emacs is not installed")
def test_the_package_for_emacs_is_compiled_without_a_warning(tmp_path: Path) -> None:
    into = f'(setq byte-compile-error-on-warn t byte-compile-dest-file-function (lambda (_) "{tmp_path / "made.elc"}"))'
    subprocess.run(
        ["emacs", "-Q", "--batch", "--eval", into, "-f", "batch-byte-compile", EDITORS / "emacs" / "semsearch.el"],
        check=True,
        capture_output=True,
    )
    assert (tmp_path / "made.elc").exists()
