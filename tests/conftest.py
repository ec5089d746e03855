"""What several test files share."""

from __future__ import annotations

import numpy as np
import pytest

from semsearch.vectors.table import VectorTable
from semsearch.vectors.writer import TableWriter

GLUE = """the of and in to a is was for on as with by that it at from his an are were which be this has or had not have
    but one also their its they who he she we you all when there would can if more her been will two into some out up
    what so no about over only very any other than then most how after first many where made between under"""
TOPICS = {
    "animals": """cat dog horse cow sheep pig bird fish mouse lion tiger bear wolf fox rabbit duck chicken goat snake
        frog bee spider elephant monkey animal kitten puppy tail fur paw""",
    "water": "river lake sea ocean stream rain flood wave shore bank island boat bridge fall spring pond wet swim flow",
    "ships": "ship sail harbour captain anchor sailor storm coast deck rope tide voyage port crew mast",
    "kitchen": """bread oven flour butter bake cake sugar dough kitchen salt pan soup cheese knife cook eat food meal
        apple rice meat egg milk""",
    "sky": "star planet telescope moon orbit comet galaxy sky sun mars light dark night astronomer eclipse",
    "music": "violin song melody piano orchestra singer rhythm concert drum opera note tune choir music play dance",
    "law": "judge court trial lawyer jury witness law crime evidence appeal prison sentence contract police guilty",
    "body": "hand head eye heart blood bone skin foot arm leg brain doctor hospital medicine sick health pain nurse",
    "town": "house street city town road car train station shop market door window wall room school church building",
    "war": "war army soldier battle attack weapon enemy general gun fight king queen castle sword victory peace",
    "code": "computer program file code data network key password server user error software memory disk index query",
    "money": "money price bank market trade tax cost pay sell buy rich poor work business company job",
}
DIMENSION = 32


@pytest.fixture(scope="session")
def small_vectors(tmp_path_factory: pytest.TempPathFactory) -> VectorTable:
    """Some 300 common words with made-up vectors: those of a topic are near each other, glue is near nothing."""
    generator = np.random.default_rng(0)
    rows = {word: 0.3 * generator.standard_normal(DIMENSION) for word in GLUE.split()}
    for members in TOPICS.values():
        centre = generator.standard_normal(DIMENSION)
        for word in members.split():
            rows.setdefault(word, centre + 0.5 * generator.standard_normal(DIMENSION))
    p = 1 / (np.arange(len(rows)) + 3.0)
    folder = tmp_path_factory.mktemp("vectors") / "small"
    card = {"source": "made up for tests", "licence": "none"}
    return TableWriter(folder, dtype="float32").write(list(rows), np.array(list(rows.values())), p / p.sum(), card=card)
