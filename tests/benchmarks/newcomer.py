"""The folder of somebody who tries semsearch for the first time: is every planted sentence found, and where it stands?

    python tests/benchmarks/newcomer.py [--files 20000] [--log-megabytes 50] [--folder FOLDER]

It makes a vault of notes, a Maildir, subtitles, spreadsheets, many small files, a large log, a scanned PDF, an archive,
a manual page and rich text, with a sentence in each that stands nowhere else; indexes all as `semsearch index` does,
and asks for each sentence in words. It prints how long that took, what was not read, and each sentence that was not
found first, or not at its place. The exit status is 1 if there is one.
"""

from __future__ import annotations

import argparse
import io
import random
import resource
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import EmailMessage
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1] / "support")]

from PIL import Image, ImageDraw, ImageFont

from semsearch import Index
from semsearch.readers.registry import PICTURE

made: Any = import_module("sample_files.valid_files")  # which mypy does not check
ods, pdf, taped, zipped = made.ods, made.pdf, made.taped, made.zipped

WORDS = (
    "harbour ship storm captain tide anchor sailor island window garden kitchen letter bridge river mountain forest "
    "meeting budget report invoice server database request worker release version customer contract lease"
).split()


@dataclass(frozen=True, slots=True)
class Planted:
    """A sentence, the file that has it, and the place or line at which a hit has to say that it stands."""

    sentence: str
    path: str
    place: str | None = None
    line: int | None = None


def prose(chance: random.Random, sentences: int) -> str:
    """Sentences that say nothing."""
    return " ".join(f"The {' '.join(chance.choices(WORDS, k=9))}." for _ in range(sentences))


def message(subject: str, text: str) -> EmailMessage:
    """A message that was delivered."""
    made = EmailMessage()
    made["Received"], made["Subject"] = "by mail.example.org", subject
    made["From"], made["To"] = "Ann Lee <ann@example.org>", "bob@example.org"
    made["Date"] = "Wed, 01 May 2024 10:00:00 +0200"
    made.set_content(text, cte="base64")
    return made


def contract(sentence: str) -> bytes:
    """A PDF of three pages, the last of which has the sentence."""

    def draw(canvas: Any) -> None:
        for text in ("This page is first.", "This page is second.", sentence):
            canvas.drawString(40, 450, text)
            canvas.showPage()

    written: bytes = pdf(draw)
    return written


def scan(chance: random.Random, sentence: str) -> bytes:
    """A letter that was scanned at 200 dots an inch, a little crooked, with the sentence as its third paragraph."""
    page, file = Image.new("L", (1654, 2339), 250), io.BytesIO()
    draw, font = ImageDraw.Draw(page), ImageFont.load_default(36)
    for number, line in enumerate((prose(chance, 1), prose(chance, 1), sentence, prose(chance, 1))):
        for at, part in enumerate(textwrap.wrap(line, 60)):
            draw.text((200, 300 + 350 * number + 50 * at), part, font=font, fill=30)
    page.rotate(0.5, fillcolor=250, resample=Image.Resampling.BICUBIC).save(file, "PDF", resolution=200)
    return file.getvalue()


def planted(folder: Path, chance: random.Random, files: int, megabytes: int) -> Iterator[Planted]:
    """Write the folder; yields what was planted in it."""

    def write(path: str, content: str | bytes) -> None:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content.encode() if isinstance(content, str) else content)

    for number in range(200):
        write(f"vault/Note {number}.md", f"---\ntags: [note]\n---\n# Note {number}\n\n{prose(chance, 8)}\n")
    said = "The lighthouse keeper repaired the broken lantern yesterday."
    write("vault/Daily/2024-05-01.md", f"#diary\n\n{said.replace('lantern', '[[Lamps|lantern]]')} ^a1\n")
    yield Planted(said, "vault/Daily/2024-05-01.md", line=3)

    for number in range(300):
        mail = message(f"Report {number}", prose(chance, 5))
        write(f"Maildir/cur/17000000{number:02d}.M{number}P1.host.org:2,S", mail.as_bytes())
    said = "Mushroom soup is served on Thursdays, größere Teller inklusive."
    write("Maildir/.Archive/cur/1700001000.M1P1.host.md!2,S", message("Lunch", said).as_bytes())
    for part in ("new", "tmp"):
        (folder / "Maildir" / part).mkdir()
        (folder / "Maildir/.Archive" / part).mkdir()
    (folder / "Maildir/tmp").mkdir(exist_ok=True)
    yield Planted(said, "Maildir/.Archive/cur/1700001000.M1P1.host.md!2,S")
    said = "The tenant shall pay for the elevator maintenance."
    mail = message("Signed", "See the attachment.")
    mail.add_attachment(contract(said), maintype="application", subtype="pdf", filename="lease.pdf")
    write("Maildir/new/1700002000.M1P1.host.org", mail.as_bytes())
    yield Planted(said, "Maildir/new/1700002000.M1P1.host.org", place="attachment lease.pdf, page 3, top")

    cues = [prose(chance, 1) for _ in range(400)]
    cues[200] = "Penguins are\nexcellent swimmers and"
    cues[201] = "cannot fly at all."
    times = [f"00:{n // 60:02d}:{n % 60:02d}" for n in range(len(cues))]
    shown = (f"{at},000 --> {at},900\n{cue}\n\n" for at, cue in zip(times, cues, strict=True))
    write("films/talk.srt", "".join(f"{n}\n{cue}" for n, cue in enumerate(shown)))
    yield Planted("Penguins are excellent swimmers and cannot fly at all.", "films/talk.srt", place="00:03:20")

    said = "Chocolate deliveries from Belgium arrived two weeks late in autumn."
    write("tables/stock.ods", ods(*([f"Item {n}", str(n)] for n in range(300)), ["Note", said]))
    yield Planted(said, "tables/stock.ods", place="Tides!B301")

    for number in range(files):
        write(f"many/{number // 500}/{number}.txt", prose(chance, 2) + "\n")
    said = "Violins should never be stored beside a radiator."
    write(f"many/{files // 1000}/violin.txt", f"{prose(chance, 2)}\n\n{said}\n")
    yield Planted(said, f"many/{files // 1000}/violin.txt", line=3)

    said = "ERROR quorum lost because replica zebra-7 stopped answering"
    line = "2024-05-01 10:00:{:02d} INFO worker {} finished request {} of the {}\n"
    lines = [line.format(n % 60, n % 9, n, chance.choice(WORDS)) for n in range(megabytes * 1_000_000 // 70)]
    at = 2 * len(lines) // 3
    lines[at] = f"2024-05-01 10:00:01 {said}\n"
    write("logs/server.log", "".join(lines))
    yield Planted(said, "logs/server.log", line=at + 1)

    said = "The dentist moved every appointment to the second week of February."
    write("scans/letter.pdf", scan(chance, said))
    if not PICTURE.lacks_package:
        yield Planted(said, "scans/letter.pdf", place="middle")
    said = "Bicycles may be parked behind the greenhouse after sunset."
    inner = taped({"rules/rules.md": f"# Rules\n\n{prose(chance, 3)}\n\n{said}\n".encode()})
    write("downloads/old.zip", zipped({"readme.txt": prose(chance, 3), "more/rules.tar.gz": inner}))
    yield Planted(said, "downloads/old.zip", place="more/rules.tar.gz, rules/rules.md, line 5")


def missed(index: Index, each: Planted) -> str:
    """Why a planted sentence was not found where it stands; "" if it was."""
    hits = index.search(each.sentence, k=3)
    if not hits:
        return "nothing was found"
    hit = hits[0]
    if " ".join(hit.sentence.split()) != each.sentence and each.sentence not in " ".join(hit.sentence.split()):
        return f"the first hit is {hit.sentence!r} of {hit.document}"
    found = (hit.document, hit.place if each.place else None, hit.line if each.line else None)
    wanted = (each.path, each.place, each.line)
    return "" if found == wanted else f"it is said to stand at {found}, not at {wanted}"


def main() -> int:
    """Make the folder, index it, and ask."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=20_000, help="small files")
    parser.add_argument("--log-megabytes", type=int, default=50)
    parser.add_argument("--folder", type=Path, help="a new folder to keep; otherwise a temporary one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        top = options.folder or Path(temporary)
        sentences = list(planted(top / "home", random.Random(1), options.files, options.log_megabytes))
        started, cpu = time.perf_counter(), time.process_time()
        with Index.create(top / "index") as index:
            index.sync(top / "home")
            print(
                f"indexed in {time.perf_counter() - started:.0f} s, {time.process_time() - cpu:.0f} s of this process"
            )
            print(f"memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
            for problem in index.problems():
                print(f"  {problem.path}: {problem.kind}: {problem.reason}")
            failures = [(each, why) for each in sentences if (why := missed(index, each))]
        for each, why in failures:
            print(f"MISSED {each.sentence!r}: {why}")
        print(f"{len(sentences) - len(failures)} of {len(sentences)} sentences found at their place")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
