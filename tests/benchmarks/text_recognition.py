"""How well and how fast text is recognized on pages that this program draws and makes worse, as a scanner does.

    python tests/benchmarks/text_recognition.py

For each language, with two fonts: the share of characters that are wrong (edits for each character of the text), on
clean pages with letters of 12 points and on pages of 9 points that are turned by 0.7 degrees, blurred and noisy, both
at 200 dots an inch; and the processor time of a page. Needs the extra `ocr` and the fonts Liberation.
"""

from __future__ import annotations

import sys
import textwrap
import time
from itertools import pairwise

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from semsearch.readers.pages.text_recognition import by_rapidocr, joined_lines

FONTS = ("LiberationSerif-Regular.ttf", "LiberationSans-Regular.ttf")
SIZE = (1654, 2339)  # A4
TEXTS = {
    "English": "Passengers who miss the last ferry, at 23:45, may wait in the small hall beside the ticket "
    "office. It is heated between October and April; dogs are welcome, bicycles (£3.50 each) are not.",
    "German": "Wer die letzte Fähre um 23:45 Uhr verpaßt, darf in der kleinen Halle neben dem Schalter "
    "übernachten. Geheizt wird von Oktober bis April; Hunde sind erwünscht, Fahrräder (3,50 € je "
    "Stück) müssen draußen bleiben.",
    "French": "Les voyageurs qui ont manqué le dernier bac, à 23 h 45, peuvent dormir dans la petite salle à "
    "côté du guichet. Elle est chauffée d'octobre à avril ; les chiens y sont acceptés, les vélos n'y "
    "entrent pas.",
    "Spanish": "¿Quién perdió el último barco de las 23:45? Los pasajeros pueden dormir en la pequeña sala junto "
    "a la taquilla; se calienta de octubre a abril, y los niños viajan mañana sin pagar.",
    "Polish": "Pasażerowie, którzy spóźnili się na ostatni prom o 23:45, mogą przenocować w małej sali obok "
    "kasy. Ogrzewa się ją od października do kwietnia; źrebięta i psy są mile widziane.",
    "Czech": "Cestující, kteří zmeškali poslední přívoz ve 23:45, mohou přespat v malé čekárně vedle pokladny. "
    "Od října do dubna se v ní topí; psi jsou vítáni, kůň už méně, řekl převozník.",
    "Turkish": "Son vapuru kaçıran yolcular, gişenin yanındaki küçük salonda geceleyebilir. Salon ekimden nisana "
    "kadar ısıtılır; köpekler girebilir, bisikletler dışarıda bırakılır.",
    "Swedish": "Den som missar sista färjan klockan 23.45 får övernatta i den lilla väntsalen bredvid luckan. "
    "Där är det varmt från oktober till april; hundar är välkomna, men cyklar måste stå ute på "
    "gården.",
}


def edits(one: str, other: str) -> int:
    """The number of characters to insert, delete or replace (Levenshtein)."""
    row = [*range(len(other) + 1)]
    for number, letter in enumerate(one, start=1):
        following = [number]
        for (before, above), column in zip(pairwise(row), other, strict=True):
            following.append(min(above + 1, following[-1] + 1, before + (letter != column)))
        row = following
    return int(row[-1])


def page(text: str, font: str, points: float, chance: np.random.Generator, *, is_worn: bool) -> Image.Image:
    """A page of three paragraphs with the same text."""
    made, letters = Image.new("L", SIZE, 250), ImageFont.truetype(font, round(points * 200 / 72))
    draw, tall = ImageDraw.Draw(made), points * 200 / 72 * 1.35
    for number, line in enumerate(textwrap.wrap(" ".join([text] * 3), int(2500 / letters.getlength("n") / 2))):
        draw.text((200, 250 + number * tall), line, font=letters, fill=30)
    if is_worn:
        made = made.rotate(0.7, fillcolor=250, resample=Image.Resampling.BICUBIC).filter(ImageFilter.GaussianBlur(1))
        noisy = np.asarray(made) + chance.normal(0, 25, SIZE[::-1])
        made = Image.fromarray(noisy.clip(0, 255).astype(np.uint8))
    return made


def main() -> int:
    """Print a line for each language."""
    chance = np.random.default_rng(1)
    by_rapidocr(np.full((100, 100, 3), 255, np.uint8))  # loads the models
    print("| language | clean, 12 points | worn, 9 points | seconds a page |\n|---|---|---|---|")
    for language, text in TEXTS.items():
        wrong, seconds, wanted = {True: 0, False: 0}, 0.0, " ".join([text] * 3)
        for font in FONTS:
            for is_worn, points in ((False, 12), (True, 9)):
                pixels = np.asarray(page(text, font, points, chance, is_worn=is_worn).convert("RGB"))
                begun = time.process_time()
                lines = joined_lines(by_rapidocr(pixels), *SIZE)
                seconds += time.process_time() - begun
                wrong[is_worn] += edits(" ".join(line.text for line in lines), wanted)
        shares = [wrong[is_worn] / len(FONTS) / len(wanted) for is_worn in (False, True)]
        print(f"| {language} | {shares[0]:.2%} | {shares[1]:.2%} | {seconds / 4:.1f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
