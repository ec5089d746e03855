"""Plain text: what a paragraph is."""

from semsearch.readers.read import read_text


def texts(source: str) -> list[str]:
    return [block.text for block in read_text(source, "notes.txt").blocks]


def test_blank_lines_part_paragraphs() -> None:
    assert texts("\n one\ntwo\n  \n\nthree  \n") == ["one\ntwo", "three"]
    assert texts("one\r\ntwo\r\n\r\nthree") == ["one\r\ntwo", "three"]
    assert texts("one\rtwo\r\rthree") == ["one\rtwo", "three"]


def test_long_lines_are_paragraphs() -> None:
    lines = ["This line is a whole paragraph, and so it is much longer than anyone would wrap a line at. " * 2] * 3
    assert texts("\n".join(lines)) == [line.strip() for line in lines]


def test_lines_that_do_not_go_on_are_entries_of_a_list() -> None:
    entries = [f"{n} Entry" for n in range(20)]
    assert texts("\n".join(entries)) == entries


def test_each_line_of_a_list_of_tasks_is_one_and_so_is_each_entry() -> None:
    tasks = ["buy milk", "call the plumber about the boiler", "(A) pay rent +home", "x 2026-01-01 water plants"]
    assert texts("\n".join(tasks)) == tasks
    short = ["Milk", "(A) call mum", "paint the fence", "water the plants on friday", "book a hotel in Lyon"]
    assert texts("\n".join(short)) == short
    assert texts("- one that\n  goes on\n- two\n- three") == ["- one that\n  goes on", "- two", "- three"]
    code = "if ready:\n    go()\nelse:\n    wait(1)\nprint('gone at last, or not')"
    assert texts(code) == [code]


def test_lines_of_a_log_that_differ_in_their_time_only_are_one_with_their_number() -> None:
    log = "".join(f"2026-01-0{n} 10:00:00 WARN disk is full\n2026-01-0{n} 10:00:01 took {n} ms\n" for n in range(1, 4))
    document = read_text(log, "a.log")
    assert [block.text for block in document.blocks] == [
        "2026-01-01 10:00:00 WARN disk is full (×3)", *(f"2026-01-0{n} 10:00:01 took {n} ms" for n in range(1, 4))
    ]  # fmt: skip
    assert document.blocks[0].source_offset(len(document.blocks[0].text) - 1) == log.index("\n")


def test_wrapped_prose_stays_together() -> None:
    prose = "\n".join(["Long ago there was a", "man who had a dog, and", "the dog had a flea."] * 10)
    assert texts(prose) == [prose]


def test_an_underlined_line_is_a_heading() -> None:
    document = read_text("My notes\n========\nOne.\n\nPart\n----\n\nTwo.\n", "notes.txt")
    assert [(b.text, b.level) for b in document.blocks] == [("My notes", 1), ("One.", 0), ("Part", 2), ("Two.", 0)]
    assert document.title == "My notes"


def test_the_title_is_else_the_name_of_the_file() -> None:
    assert read_text("One.", "some/notes.txt").title == "notes"
