"""Corpora that several test files look at."""

import pytest

from humboldt.languages.pcfg_set import Corpus, CorpusSettings, corpus


@pytest.fixture(scope="session")
def full() -> Corpus:
    """A corpus of the paper's size."""
    return corpus(0)


@pytest.fixture(scope="session")
def small() -> Corpus:
    """A corpus that has something of everything."""
    return corpus(1, CorpusSettings(size=4_000))
