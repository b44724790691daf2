"""Languages from files: those of the paper give what the built-in ones give."""

from pathlib import Path

import numpy as np
import pytest
from languages.bliss.own_support import FILES, compared, own_task, random_network

from humboldt.errors import UsageError
from humboldt.languages.bliss import Measure, get
from humboldt.measures.bliss import Oracle, Uniform, evaluate, excess_cross_entropy


@pytest.mark.parametrize("name", FILES)
def test_the_file_of_a_built_in_language_gives_its_corpora_masks_and_test_sets(name: str, tmp_path: Path) -> None:
    own, built = own_task(FILES[name], tmp_path), get(name)
    assert (own.input_alphabet, own.measure) == (built.input_alphabet, built.measure)
    for count, seed in ((100, 100), (250, 7)):
        assert own.corpus(count, seed).strings == built.corpus(count, seed).strings
    corpora = own.corpus(100, 100), built.corpus(100, 100)
    for string in list(corpora[0].counts)[:30]:
        assert (own.valid_mask(string) == built.valid_mask(string)).all()
        assert (own.deterministic_mask(string) == built.deterministic_mask(string)).all()
        for end in range(len(string) + 1):
            assert own.next_distribution(string[:end]) == pytest.approx(
                built.next_distribution(string[:end]), abs=1e-12
            )
        assert own.log2_probability(string) == pytest.approx(built.log2_probability(string))
    assert own.expected_length() == pytest.approx(built.expected_length())
    uniform = Uniform(len(own.input_alphabet))
    excess = [excess_cross_entropy(language, uniform, smallest=1e-3).bits_per_symbol for language in (own, built)]
    assert excess[0] == pytest.approx(excess[1])
    tests = [language.test_set(after=corpus, count=100) for language, corpus in zip((own, built), corpora, strict=True)]
    assert (list(tests[0]) == list(tests[1])) == (name != "an_bm_cn_plus_m")  # whose test set is a square
    if name != "an_bm_cn_plus_m":
        assert (tests[0].deterministic_steps == tests[1].deterministic_steps).all()
    assert evaluate(tests[0], Oracle(own)).score(own.measure, 0.0).met()


@pytest.mark.parametrize("name", FILES)
def test_verdicts_about_random_networks_are_those_of_the_built_in_language(name: str, tmp_path: Path) -> None:
    own, built = compared(name, tmp_path)
    verdicts = [(own(network), built(network)) for network in (random_network(name, seed) for seed in range(25))]
    assert all(one == other for one, other in verdicts)
    assert len({str(other) for _, other in verdicts}) > 3  # they differ between networks


def test_an_automaton_with_weights_and_symbols_of_several_characters(tmp_path: Path) -> None:
    text = "start odd\naccept even\nodd one even\neven one odd [0.25]\neven two even"
    task = own_task(text, tmp_path, "my.automaton")
    assert task.next_distribution(["one"]).tolist() == [0.375, 0.25, 0.375]
    assert task.measure is Measure.DETERMINISTIC  # after two `one`, a third must follow
    assert task.pair(("one", "two")) == ("# one two", "one two #")
    corpus = task.corpus(500, 0)
    assert task.corpus(500, 0).strings == corpus.strings
    lengths = [len(string) for string in corpus.strings]
    assert np.mean(lengths) == pytest.approx(task.expected_length(), rel=0.2)
    tests = list(task.test_set(after=3, count=4))
    assert all(task.accepts(string) and len(string) > 3 for string in tests)
    assert sorted(tests, key=lambda string: (len(string), string)) == tests


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("my.grammar", "S -> S S [0.6] | a", "improper"),
        ("my.grammar", "S -> S S [0.5] | a", "mean length is infinite"),
        ("my.grammar", "S -> a | b b", "finite"),
        ("my.grammar", "S -> a S", "empty"),
        ("my.regex", "a b? c?", "finite"),
        ("my.regex", "a* '#'", "rename"),
    ],
)
def test_languages_without_a_corpus_or_a_test_set_are_refused(
    name: str, text: str, problem: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=problem):
        own_task(text, tmp_path, name)


def test_a_prior_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="weights of its own"):
        own_task(FILES["dyck_1"], tmp_path).corpus(10, 0, p=0.2)
