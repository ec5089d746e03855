"""Texts that the shipped word vectors are trained on beside encyclopaedias and textbooks, a text a line.

    python research/benchmarks/training_texts.py wordnet CHECKOUT --to wordnet.texts    of globalwordnet/english-wordnet
    python research/benchmarks/training_texts.py trivia CHECKOUT --to trivia.texts      of uberspot/OpenTriviaQA
    python research/benchmarks/training_texts.py dialogue CHECKOUT --to dialogue.texts
                                             of google-research-datasets/dstc8-schema-guided-dialogue
    python research/benchmarks/training_texts.py masc CHECKOUT --to masc.texts          of nltk/nltk_data
    python research/benchmarks/training_texts.py scenes --to scenes.texts               made up, of the words below

An encyclopaedia seldom asks a question, talks to someone, or says that a dog runs on a beach. WordNet (CC BY 4.0) gives
words with their definitions, and examples; OpenTriviaQA (CC BY-SA 4.0) questions; the dialogues (CC BY-SA 4.0) talk;
MASC, the open part of the American National Corpus (free for any use), letters, blogs, jokes and conversations.
Scenes are sentences put together by chance, such as captions are: the teacher knows which of them are alike.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import yaml

UTTERANCES = 40_000
SCENES = 60_000

ONE = """
man woman boy girl child baby person lady guy kid teenager toddler couple group crowd family player dancer
singer chef cook doctor soldier farmer artist worker student teacher athlete cyclist runner swimmer skateboarder
surfer climber skier snowboarder golfer boxer wrestler musician guitarist drummer pianist cheerleader clown
policeman fireman waiter bride groom tourist hiker fisherman sailor cowboy
""".split()
SEVERAL = """
men women boys girls children people kids players dancers cyclists runners soldiers students workers musicians
friends tourists
""".split()
ANIMALS = """
dog cat puppy kitten horse cow sheep goat pig bird duck chicken rabbit monkey elephant lion tiger bear panda
fish turtle snake frog squirrel mouse hamster deer parrot owl seal dolphin fox wolf
""".split()
OF_PEOPLE = """
young old tall little small large big happy sad smiling bearded elderly blond dark-haired shirtless tattooed
muscular pretty
""".split()
OF_ANIMALS = "black white brown grey small large spotted wet tan fluffy shaggy hairy young".split()
COLOURS = "red blue green yellow black white orange purple pink brown grey gold".split()
CLOTHES = """
shirt jacket hat coat dress suit uniform helmet sweater t-shirt scarf cap tie skirt swimsuit bikini wetsuit
jersey backpack costume mask glasses sunglasses
""".split()
DOING = """
running walking jumping sitting standing sleeping dancing singing swimming smiling laughing crying talking
speaking shouting climbing falling kneeling crawling skating skiing surfing fishing exercising working resting
waiting eating drinking reading writing cooking painting drawing cleaning driving fighting playing posing
praying stretching skateboarding snowboarding cycling diving
""".split()
DOING_TO = {
    "playing": "guitar piano violin flute drum trumpet keyboard football soccer basketball baseball tennis volleyball "
    "golf chess cards hockey rugby frisbee ball",
    "riding": "horse bicycle bike motorcycle skateboard scooter elephant camel bull wave bus train",
    "cutting": "onion potato tomato carrot paper bread meat cake apple tree rope hair grass cucumber garlic pepper",
    "slicing": "onion potato tomato carrot bread meat cake cucumber garlic pepper lemon mushroom fish",
    "peeling": "potato carrot orange banana shrimp apple onion",
    "chopping": "onion wood vegetables parsley herbs garlic broccoli",
    "eating": "sandwich pizza banana apple cake rice noodles hamburger salad bread ice-cream food bone leaf bamboo",
    "drinking": "water milk beer coffee tea wine juice",
    "holding": "baby camera sign ball phone gun flag umbrella microphone book bottle cup knife stick snake fish puppy "
    "flower",
    "throwing": "ball frisbee stone stick knife javelin rock",
    "catching": "ball frisbee fish stick",
    "kicking": "ball door football soccer-ball",
    "pushing": "cart stroller car wheelchair wheelbarrow lawnmower",
    "pulling": "rope cart sled wagon",
    "carrying": "bag box basket child backpack bucket surfboard ladder",
    "washing": "car dishes hands dog hair clothes floor",
    "cooking": "rice eggs meat pasta soup dinner fish steak",
    "frying": "eggs meat fish onions bacon potatoes",
    "mixing": "ingredients batter water flour eggs cement",
    "pouring": "water oil milk sauce wine batter",
    "adding": "salt sugar ingredients spices oil water",
    "stirring": "soup sauce pot rice",
    "driving": "car truck bus tractor boat motorcycle",
    "reading": "book newspaper letter magazine map",
    "writing": "letter note book name",
    "opening": "door box package window bottle can",
    "closing": "door window box",
    "climbing": "tree rope wall mountain ladder rock stairs",
    "jumping": "rope fence hurdle wall puddle log",
    "shooting": "gun rifle arrow bow basketball ball",
    "lifting": "weights barbell car box dumbbell",
    "painting": "picture wall fence face house",
    "brushing": "teeth hair horse",
    "combing": "hair",
    "feeding": "baby bird duck cat horse giraffe goat",
    "petting": "dog cat tiger horse sheep",
    "chasing": "ball cat dog bird squirrel rabbit",
    "watching": "television movie game birds fireworks show",
    "taking": "picture photograph bath shower nap break",
    "using": "computer phone hammer saw sewing-machine laptop drill shovel telescope",
    "breaking": "eggs board glass window bricks",
    "folding": "paper clothes towel blanket",
    "removing": "hat shirt makeup seeds skin lid",
    "putting on": "makeup lipstick hat shoes",
    "hugging": "child woman dog tree panda",
    "kissing": "girl boy baby bride dog",
    "fixing": "car bicycle roof computer pipe",
    "making": "cake bed pizza sandwich snowman sculpture pot",
    "wearing": " ".join(f"{colour}_{piece}" for colour in COLOURS for piece in CLOTHES),
}
UNCOUNTED = set(
    """
water milk beer coffee tea wine juice bread meat paper grass rice garlic football soccer basketball baseball
tennis volleyball golf chess hockey rugby pasta soup salt sugar flour batter oil sauce food bamboo parsley
makeup hair bacon television cement dinner wood cake broccoli lipstick
""".split()
)
PLACES = """
in a field;in the park;on the beach;on the street;in the snow;in the water;on a bench;at a table;in a kitchen;
on a stage;in a room;on a couch;on a bed;in the grass;in front of a building;by a lake;in a pool;on a
mountain;in the forest;in a restaurant;near a river;on a boat;at night;in a car;on a bridge;in the rain;on a
trampoline;in a living room; on a road;down a hill;through the woods;at a party;in the air;on the sidewalk;next
to a fence;under a tree;on the grass;in a stadium;on a train;at an airport;in a garden;on the roof;in a
classroom;in an office;along the shore;outside a shop; behind a car;near a house;at the zoo;on a snowy slope;in
the city;at a desk;on the ground;in the sand
""".replace("\n", " ").split(";")
THINGS = """
car bicycle boat train bus airplane motorcycle table chair couch bed lamp television computer laptop bottle cup
plate bowl window door house building church tower bridge tree flower sign clock bench umbrella truck ship
helicopter toilet sink stove refrigerator vase potted_plant bookshelf guitar piano book statue fountain castle
""".split()


def wordnet(checkout: Path) -> Iterator[str]:
    """Each synset's first words with its definition, and its examples."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for file in sorted((checkout / "src" / "yaml").glob("*.yaml")):
        if file.name.split(".")[0] not in ("noun", "verb", "adj", "adv"):
            continue
        for synset in yaml.load(file.read_text(encoding="utf-8"), Loader=loader).values():  # both loaders are safe ones
            members = ", ".join(member.replace("_", " ") for member in synset.get("members", [])[:3])
            yield from (f"{members}: {definition}" for definition in synset.get("definition", [])[:1])
            yield from (each if isinstance(each, str) else each.get("text", "") for each in synset.get("example", []))


def trivia(checkout: Path) -> Iterator[str]:
    """The questions, without their answers."""
    for file in sorted((checkout / "categories").iterdir()):
        question = ""
        for line in file.read_text(encoding="utf-8", errors="replace").split("\n"):
            if line.startswith("#Q"):
                question = line[2:]
            elif line.startswith("^"):
                yield question
                question = ""
            elif question and not re.match(r"[A-F] ", line):
                question += " " + line


def dialogue(checkout: Path) -> Iterator[str]:
    """An even share of what is said in four words or more, in the first 36 files."""
    said = []
    for file in sorted((checkout / "train").glob("dialogues_*.json"))[:36]:
        for talk in json.loads(file.read_text(encoding="utf-8")):
            said += [turn["utterance"] for turn in talk["turns"] if len(turn["utterance"].split()) >= 4]
    said = list(dict.fromkeys(said))
    yield from random.Random(0).sample(said, min(UTTERANCES, len(said)))


def masc(checkout: Path) -> Iterator[str]:
    """Sentences of four to forty words, put together again from their tagged words."""
    with zipfile.ZipFile(checkout / "packages" / "corpora" / "masc_tagged.zip") as archive:
        for name in sorted(name for name in archive.namelist() if name.endswith(".txt")):
            for line in archive.read(name).decode("utf-8", "replace").split("\n"):
                text = " ".join(word.rpartition("_")[0] for word in line.split())
                text = re.sub(r" (?=[.,;:!?%)\]]|n't\b|'(?:s|re|ve|ll|d|m)\b)", "", text)
                if 4 <= len(text.split()) <= 40:
                    yield text


def scenes(_: Path) -> Iterator[str]:
    """Made-up captions."""
    made: set[str] = set()
    chance = random.Random(0)
    while len(made) < SCENES:
        scene = _scene(chance)
        if scene not in made:
            made.add(scene)
            yield scene


def _scene(chance: random.Random) -> str:
    one_of, roll = chance.choice, chance.random
    someone, are = _someone(chance)
    if are == "is" and roll() < 0.15:
        someone += f" in {_a(one_of(COLOURS))} {one_of(CLOTHES)}"
    place, kind = one_of(PLACES).strip(), roll()
    if kind < 0.4:
        verb = one_of(list(DOING_TO))
        act = f"{verb} {_thing(chance, one_of(DOING_TO[verb].split()))}"
    elif kind < 0.85:
        act = one_of(DOING)
    else:
        thing, form = _a(one_of(THINGS)), roll()
        if form < 0.5:
            text = f"{_a(one_of(COLOURS))} {thing.split(' ', 1)[1]} {one_of(['is', 'sits', 'stands', ''])} {place}"
        elif form < 0.75:
            text = f"{someone} with {thing} {place}"
        else:
            text = f"{someone} and {_someone(chance)[0]} {one_of(DOING)} {place}"
        return _finished(chance, text)
    form = roll()
    if form < 0.45:
        text = f"{someone} {are} {act}"
    elif form < 0.7:
        text = f"{someone} {are} {act} {place}"
    elif form < 0.9:
        text = f"{someone} {act} {place}"
    else:
        text = f"{someone} {are} {one_of(['not ', ''])}{act}"
    return _finished(chance, text)


def _someone(chance: random.Random) -> tuple[str, str]:
    """Who, and whether they are one."""
    kind = chance.random()
    if 0.5 <= kind < 0.65:
        number = chance.choice(["two", "three", "some", "several", "the", "a group of", "many", "four"])
        return f"{number} {chance.choice(SEVERAL)}", "are"
    if kind < 0.5:
        who = chance.choice(ONE)
        if chance.random() < 0.35:
            who = f"{chance.choice(OF_PEOPLE)} {who}"
    else:
        who = chance.choice(ANIMALS)
        if chance.random() < 0.5:
            who = f"{chance.choice(OF_ANIMALS)} {who}"
            if chance.random() < 0.25:
                who = f"{chance.choice(OF_ANIMALS)} and {who}"
    return (_a(who) if chance.random() < 2 / 3 else f"the {who}"), "is"


def _thing(chance: random.Random, thing: str) -> str:
    if thing.endswith("s") or thing in UNCOUNTED:
        return thing
    return _a(thing) if chance.random() < 0.5 else f"the {thing}"


def _a(thing: str) -> str:
    return f"{'an' if thing[0] in 'aeiou' else 'a'} {thing}"


def _finished(chance: random.Random, text: str) -> str:
    text = " ".join(text.replace("_", " ").split())
    return text[0].upper() + text[1:] + ("." if chance.random() < 0.7 else "")


SOURCES: dict[str, Callable[[Path], Iterator[str]]] = {
    "wordnet": wordnet, "trivia": trivia, "dialogue": dialogue, "masc": masc, "scenes": scenes,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", choices=SOURCES)
    parser.add_argument("checkout", type=Path, nargs="?", default=Path())
    parser.add_argument("--to", type=Path, required=True)
    asked = parser.parse_args()
    texts = (" ".join(text.split()) for text in SOURCES[asked.source](asked.checkout))
    lines = list(dict.fromkeys(text for text in texts if len(text) >= 10))
    asked.to.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    print(f"{asked.to}: {len(lines)} texts")


if __name__ == "__main__":
    main()
