"""Corpora equal the released files string for string, and follow the languages' probabilities."""

import collections
import hashlib
import io
import math
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from humboldt.errors import UsageError
from humboldt.languages.bliss import NAMES, Corpus, from_released, get, read_released, to_released

COUNTS = (100, 250, 500, 1000)

# SHA-256, first 16 digits, of the authors' files train_{count}_p_0_3_seed_100.txt.
RELEASED_DIGESTS = {
    "an_bm_cn_plus_m": ("578cd5cf98284a66", "9e75b0d361297d18", "5a3290ed78810bbf", "e1d182418a0b168a"),
    "an_bn": ("0ed32d5faa0de414", "8c2dcf36edfa4308", "86fbc7386e54b477", "e04436a072083965"),
    "an_bn_cn": ("f13e346002f9f747", "2dc9269fd95822ab", "adfd3a19d6388978", "81235dbfa601d27c"),
    "an_bn_cn_dn": ("b10985758b3f63b0", "a611b276d0ca1517", "4542288006ea5d61", "b7142e17418602be"),
    "dyck_1": ("999582004d955ff4", "f5b73b6ba086d543", "ebbdd08280ee9056", "b9aa0a0315176fb7"),
    "dyck_2": ("72ce389a85aa1f33", "1e8a5f6fb1b99bc6", "485b0e1413c847ec", "01316517dd355cc1"),
}
# The last strings of those with 100, to read what a digest only says is so.
LAST = {
    "an_bn": ["a" * 12 + "b" * 12, "a" * 13 + "b" * 13, "a" * 20 + "b" * 20],
    "an_bn_cn": ["a" * n + "b" * n + "c" * n for n in (11, 12, 14)],
    "an_bn_cn_dn": ["a" * n + "b" * n + "c" * n + "d" * n for n in (11, 12, 14)],
    "an_bm_cn_plus_m": ["a" * n + "b" * m + "c" * (n + m) for n, m in ((2, 19), (6, 15), (9, 20))],
    "dyck_1": ["()(()())()()", "(()((())))()", "()()(((()))(()))"],
    "dyck_2": ["[]([]())()()", "([](([])))()", "()()((([]))[[]])"],
}


def folder() -> Path:
    """The authors' data, where it lies beside the repository."""
    root = Path(__file__).resolve().parents[3]
    for parent in root.parents:
        if (parent / "shared/data/bliss").is_dir():
            return parent / "shared/data/bliss"
    pytest.skip("the released data is not here")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("i", range(4))
def test_equal_to_the_released_digest(name, i):
    text = to_released(get(name).corpus(COUNTS[i], 100).strings)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == RELEASED_DIGESTS[name][i]


@pytest.mark.parametrize("name", NAMES)
def test_last_strings(name):
    assert list(get(name).corpus(100, 100).strings[-3:]) == LAST[name]


def test_equal_to_every_released_file():
    files = sorted(folder().glob("*/train_*.txt.zip"))
    assert files
    for file in files:
        name = file.parent.name.replace("c_n_plus_m", "cn_plus_m")
        _, count, *_ = file.name.split("_")
        assert get(name).corpus(int(count), 100, 0.3).strings == read_released(file), file.name


def test_masks_equal_the_released_ones():
    language = get("dyck_1")
    strings = read_released(folder() / "dyck_1/test.txt.zip")
    masks = np.load(folder() / "dyck_1/test_valid_next_symbols.npz")["data"]
    assert masks.shape == (len(strings), max(map(len, strings)) + 2, len(language.input_alphabet))
    for string, mask in list(zip(strings, masks, strict=True))[::25]:
        steps = len(string) + 1
        np.testing.assert_array_equal(language.valid_mask(string), mask[:steps])
        assert not mask[steps:].any()


def test_released_dyck_test_strings_are_in_the_language_but_not_all_of_it():
    language = get("dyck_1")
    strings = read_released(folder() / "dyck_1/test.txt.zip")
    assert all(language.accepts(string) for string in strings[::50])
    ours = language.test_set(after=0, count=1000)
    assert set(ours) - set(strings)  # depth-limited enumeration skips strings; ours does not


@pytest.mark.parametrize("name", NAMES)
def test_corpora_follow_the_language(name):
    language = get(name)
    count = 3000
    for p, fits in ((0.35, True), (0.3, False)):
        seen = collections.Counter(language.corpus(count, 7, 0.35).strings)
        statistic, cells, rest = 0.0, 0, float(count)
        for string in [*([""] if name.startswith("dyck") else []), *language.test_set(after=0, count=60)]:
            expected = count * language.probability(string, p)
            if expected >= 5:
                statistic += (seen.pop(string, 0) - expected) ** 2 / expected
                cells, rest = cells + 1, rest - expected
        statistic += (sum(seen.values()) - rest) ** 2 / rest
        # Wilson and Hilferty's approximation of the 1 - 1e-4 quantile of chi-square
        limit = cells * (1 - 2 / (9 * cells) + 3.719 * math.sqrt(2 / (9 * cells))) ** 3
        assert cells >= 5
        assert (statistic < limit) == fits, (p, statistic, limit)


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_strings_and_global_state_untouched(name):
    language = get(name)
    before = pickle.dumps(np.random.get_state())
    assert language.corpus(50, 3) == language.corpus(50, 3).__class__(language, language.corpus(50, 3).strings)
    assert language.corpus(50, 3).strings != language.corpus(50, 4).strings
    assert pickle.dumps(np.random.get_state()) == before


def test_counts_and_arrays():
    language = get("an_bn")
    corpus = Corpus(language, ("ab", "ab", "aabb"))
    assert corpus.counts == {"ab": 2, "aabb": 1}
    assert corpus.last == "aabb"
    assert next(corpus.records()) == {"input": "# a b", "target": "a b #"}
    pairs, weights = corpus.pairs()
    assert weights.tolist() == [2, 1]
    assert pairs.inputs.tolist() == [[0, 1, 2, 0, 0], [0, 1, 1, 2, 2]]
    assert pairs.targets.tolist() == [[1, 2, 0, 0, 0], [1, 1, 2, 2, 0]]
    assert pairs.input_lengths.tolist() == pairs.target_lengths.tolist() == [3, 5]


def test_the_released_layout(tmp_path):
    assert to_released(["ab", ""]) == "#ab#\n##"
    assert from_released("#ab#\n##") == ("ab", "")
    (tmp_path / "x.txt").write_text("#ab#\n#aabb#")
    assert read_released(tmp_path / "x.txt") == ("ab", "aabb")
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        archive.writestr("a.txt", "#ab#")
    (tmp_path / "x.txt.zip").write_bytes(memory.getvalue())
    assert read_released(tmp_path / "x.txt.zip") == ("ab",)
    with pytest.raises(UsageError, match=r"Line 2, 'ab', is not a string between two '#'"):
        from_released("#ab#\nab")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("p", [0, 1, -0.1, 1.5, float("nan")])
def test_priors_that_are_none(name, p):
    language = get(name)
    with pytest.raises(UsageError, match="it must lie between 0 and 1"):
        language.corpus(10, 1, p)


def test_other_wrong_requests():
    language = get("an_bn")
    with pytest.raises(UsageError, match="A corpus of 0 strings is empty"):
        language.corpus(0, 1)
    with pytest.raises(UsageError, match="Seed -1 is not a seed"):
        language.corpus(1, -1)
    with pytest.raises(UsageError, match=r"p = 0.6 opens brackets faster .* Use p of at most 0.5"):
        get("dyck_1").corpus(10, 1, 0.6)
    with pytest.raises(UsageError, match="no strings"):
        Corpus(language, ())
