"""Twenty questions about where a thing is, each answered by the page on architecture alone."""

from pathlib import Path

import pytest

import humboldt

PACKAGE = Path(humboldt.__file__).parent
PAGE = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")

# The question, the file or folder that answers it, and the words of the page that lead there.
QUESTIONS = (
    ("Where is the parity task?", "languages/chomsky/parity_check.py", "`<suite>/<task>.py`"),
    ("What do tasks of a suite derive from?", "languages/syntax/base.py", "in its `base.py`"),
    ("Where is the registered LSTM?", "models/zoo/lstm.py", "`zoo/`: one file for each registered model"),
    ("Where is a proof about a network found?", "mdl/proofs", "`proofs/` proves or refutes that they are right"),
    ("Where is the loop over time?", "models/loop/unroll.py", "`loop`"),
    ("Where does a user's own model become one of ours?", "models/own.py", "`own`: models from users' files"),
    ("Which code reads and writes results.db?", "storage/store.py", "`store` (the database)"),
    ("Which code writes saved weights?", "storage/weights.py", "`weights` (saved members)"),
    ("Where is the key of a training computed?", "core/identity.py", "`identity` (keys of trainings and evaluations)"),
    ("Which loop trains JAX networks and PyTorch modules?", "training/loop.py", "one training loop of both gradient"),
    ("What can a predictor be asked?", "training/abilities.py", "`abilities`: what predictors can be asked"),
    ("Which file is the seam between suites and engines?", "training/base.py", "`base`: the seam between suites"),
    ("Where is a request turned into experiments?", "suites/plans.py", "from a request to experiments"),
    ("Where does a setting's value come from?", "suites/origins.py", "where the value of every setting comes from"),
    ("Which results compete for one place of a table?", "suites/cells.py", "which results compete"),
    ("Where is BLISS scored?", "suites/bliss/scoring.py", "`scoring` (`score`, readings)"),
    ("Which code writes to the store during a run?", "running/study.py", "Only `running/study.py` writes to the store"),
    ("Where are experiments sent to a Ray cluster?", "running/cluster", "`cluster/`: the executor on Ray"),
    ("Where does a file of predictions become a predictor?", "outside/predictor.py", "`outside/predictor.py`"),
    ("Where are the papers' tables?", "published", "the papers' tables"),
)


@pytest.mark.parametrize(("question", "place", "words"), QUESTIONS, ids=[question for question, _, _ in QUESTIONS])
def test_the_page_leads_there(question: str, place: str, words: str):
    assert (PACKAGE / place).exists(), question
    assert words in " ".join(PAGE.split()), question
    assert place.partition("/")[0] in PAGE, question  # its room


def test_the_page_names_every_room():
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir() and not path.name.startswith("_")}
    assert all(f"`{room}/`" in PAGE for room in rooms)


def test_it_is_one_page_with_one_picture():
    assert len(PAGE.splitlines()) < 150 and PAGE.count("```") == 2
    assert len({place for _, place, _ in QUESTIONS}) == 20
