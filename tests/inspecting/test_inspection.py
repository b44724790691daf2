"""What a member answers to a string is what it is scored by; and what it shows is what happened."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kept_support import fill

import humboldt
from humboldt.errors import UsageError
from humboldt.inspecting.inspection import COMPUTATION, END, MARK, KeptMember
from humboldt.languages import tasks
from humboldt.training.abilities import CountsRight, GivesProbabilities

SMALL = {"hidden_size": 8, "learning_rates": (1e-3,)}
BLISS = {"factors": (1,), "penalties": ("none",)}
SYNTAX = {"terminals": (40,), "hidden_size": 8, "train": 50, "validation": 10, "test": 10, "long": 10}
TRANSFORMER = {"width": 8, "num_heads": 2, "feed_forward_size": 8, "num_layers": 2, "learning_rates": (1e-3,)}

CASES: dict[str, tuple[str, str, str, dict[str, Any], str]] = {
    "transduction": ("chomsky", "reverse_string", "stack_rnn", {**SMALL, "cell_size": 2}, "a b b"),
    "a target that ends early": ("chomsky", "binary_addition", "rnn", SMALL, "1 0 + 1"),
    "computation tokens": ("chomsky", "parity_check", "rnn", {**SMALL, "computation_tokens": 1}, "a b b"),
    "own answers": ("chomsky", "duplicate_string", "rnn", {**SMALL, "autoregressive": True}, "a b"),
    "next symbol": ("bliss", "dyck_1", "lstm", {**BLISS, "hidden_size": 4}, "( ( ) )"),
    "a network that was searched for": ("bliss", "dyck_1", "mdlrnn", BLISS, "( ( ) )"),
    "classification": ("syntax", "adj_n_np", "lstm", {**SYNTAX, "embedding_size": 4}, "ADJ_0 ADJ_39 NP_1"),
}


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[KeptMember, str]:
    suite, task, model, settings, string = CASES[request.param]
    folder = tmp_path_factory.mktemp("kept")
    fill(folder, suite, task, model, settings)
    return humboldt.load(folder, suite=suite, task=task, model=model, member="best"), string


def test_the_answer_is_what_scoring_counts_as_said(case: tuple[KeptMember, str]):
    member, string = case
    seen, batch = member.inspect(string), member.problem.framed(string.split())
    assert member.predict(string) == member.predict(string.split()) == list(seen.answer)
    ids = member.resolved.task.output_alphabet.encode(seen.answer)
    targets = batch.targets.copy()
    targets[0, list(seen.steps)] = ids
    if isinstance(member.predictor, CountsRight):
        assert member.predictor.correct(replace(batch, targets=targets)).tolist() == [[len(ids)]]
    if isinstance(member.predictor, GivesProbabilities) and member.problem.answers_from is None:
        lengths = -np.log([row[i] for row, i in zip(seen.probabilities, ids, strict=True)])
        np.testing.assert_allclose(member.predictor.nats(replace(batch, targets=targets)), [[lengths.sum()]], rtol=1e-4)
    np.testing.assert_allclose(seen.probabilities.sum(1), 1.0, rtol=1e-6)


def test_it_is_shown_as_text_and_as_json(case: tuple[KeptMember, str]):
    member, string = case
    seen = member.inspect(string)
    assert seen.internals and all(name in str(seen) for name in seen.internals)
    shown = json.loads(json.dumps(seen.to_dict(), allow_nan=False))
    assert shown["answer"] == list(seen.answer) and shown["tokens"] == list(seen.tokens)
    for name, internal in seen.internals.items():
        np.testing.assert_allclose(shown["internals"][name]["values"], internal.values, rtol=1e-6)
    assert member.title in str(seen) and ("right" if seen.is_right else "wrong") in str(seen)


def test_a_symbol_that_is_not_in_the_alphabet_and_no_symbol(case: tuple[KeptMember, str]):
    member, string = case
    with pytest.raises(UsageError, match=r"'q' at position \d is not in the alphabet"):
        member.predict([*string.split(), "q"])
    with pytest.raises(UsageError, match="is not a string of symbols"):
        member.predict([1, 0])  # pyright: ignore[reportArgumentType]
    with pytest.raises(UsageError, match="<int> is not a string of symbols"):
        member.predict(10**5000)  # pyright: ignore[reportArgumentType]
    if member.training.suite != "bliss":  # where nothing is a prefix
        with pytest.raises(UsageError, match=r"empty|too short"):
            member.predict("")


PCFG = {"size": 200, "letters": 40, "deepest": 2, "num_layers": 2, "hidden_size": 8}
WRITERS = {
    "lstm_s2s_att": ("bias", "hierarchical_or_linear", {"hidden_size": 8}, "a b b a"),
    "lstm_s2s_no_att": ("bias", "hierarchical_or_linear", {"hidden_size": 8}, "a a a a b a a a a"),
    "cnn_s2s": ("bias", "count_or_memorization", {"hidden_size": 8, "l": 5, "span": 2}, ""),
    "joint_attention": ("bias", "composition_or_memorization", {"hidden_size": 8}, "thrice a1"),
    "transformer": ("pcfg_set", "systematicity", {**PCFG, "embedding_size": 8, "num_heads": 2}, "swap A1 B1 A2"),
}


#: Their parts are looked into in the others: tried by `pytest -m slow`.
ALIKE = {"lstm_s2s_no_att", "joint_attention"}


@pytest.mark.parametrize(
    "model", [pytest.param(model, marks=pytest.mark.slow if model in ALIKE else ()) for model in WRITERS]
)
def test_a_sequence_to_sequence_member_says_what_it_is_scored_by(model: str, tmp_path: Path):
    suite, task, settings, string = WRITERS[model]
    extra = {"description_length": False} if suite == "bias" else {"epochs": 1}
    fill(tmp_path, suite, task, model, {**settings, **extra})
    member = humboldt.load(tmp_path, suite=suite, model=model, member="best")
    seen, source = member.inspect(string), string.split()
    read = len(member.problem.framed(source).tokens[0])  # with an end mark, where the toolkit has one
    assert seen.tokens[: len(source)] == tuple(source) and seen.tokens[read] == MARK
    assert seen.tokens[read + 1 :] == seen.answer[:-1] and seen.steps == tuple(range(read, len(seen.tokens)))
    assert END not in seen.answer[:-1] and member.predict(string) == [s for s in seen.answer if s != END]
    likeliest = [seen.alphabet[i] for i in seen.probabilities.argmax(1)]
    assert likeliest == list(seen.answer)  # decoding symbol by symbol, and all at once
    assert seen.internals.keys() <= set(json.loads(json.dumps(seen.to_dict(), allow_nan=False))["internals"])
    assert seen.internals and all(name in str(seen) for name in seen.internals)
    for name, internal in seen.internals.items():
        if name.endswith("source"):
            np.testing.assert_allclose(np.asarray(internal.values).sum(-1), 1.0, rtol=1e-5)
            assert internal.values.shape[-2:] == (len(seen.answer), read) and internal.first == read
    expected = {
        "thrice a1": ("b1", "b1", "b1", END),
        "swap A1 B1 A2": ("A2", "B1", "A1", END),
        "a a a a b a a a a": ("B", END),
    }
    assert seen.expected == expected.get(string)
    with pytest.raises(UsageError, match=r"'q' at position \d is not in the alphabet"):
        member.predict([*source, "q"])


def member_of(tmp_path: Path, name: str) -> KeptMember:
    suite, task, model, settings, _ = CASES[name]
    fill(tmp_path, suite, task, model, settings)
    return humboldt.load(tmp_path, suite=suite)


def test_what_is_read_is_written_with_its_marks(tmp_path: Path):
    seen = member_of(tmp_path / "a", "computation tokens").inspect("a b b")
    assert seen.tokens == ("a", "b", "b", *[COMPUTATION] * 3, MARK)
    assert seen.expected == tuple(tasks.get("chomsky/parity_check")().oracle(["a", "b", "b"]))
    told = member_of(tmp_path / "b", "own answers").inspect("a b")
    assert told.tokens[:3] == ("a", "b", MARK) and told.tokens[3:] == told.answer[:-1]


def test_where_the_task_has_no_answer_none_is_expected(tmp_path: Path):
    member = member_of(tmp_path, "next symbol")
    prefix = member.inspect("( (")
    assert prefix.expected is None and prefix.is_right is None and "Expected" not in str(prefix)
    assert prefix.tokens == ("#", "(", "(") == member.inspect("# ( (").tokens
    assert member.inspect("( )").expected == ("(", ")", "#")


def test_the_published_network_knows_when_brackets_close(tmp_path: Path):
    seen = member_of(tmp_path, "a network that was searched for").inspect("( )")
    end = seen.alphabet.index("#")
    assert seen.probabilities[1, end] == 0 and seen.probabilities[2, end] > 0
    assert seen.internals["units"].labels[:2] == ("input #", "input (")


def test_attention_is_shown_for_each_head(tmp_path: Path):
    fill(tmp_path, "chomsky", "parity_check", "transformer_encoder", {**TRANSFORMER, "positions": "none"})
    seen = humboldt.load(tmp_path).inspect("a b b")
    assert seen.internals["attention"].values.shape == (2, 2, 4, 4)
    assert "attention, layer 1, head 1" in str(seen)


def test_a_network_without_internals_still_answers(tmp_path: Path):
    member = member_of(tmp_path, "transduction")
    plain = member.network
    member.__dict__["network"] = lambda tokens, mask: plain(tokens, mask)
    seen = member.inspect("a b")
    assert not seen.internals and "This network shows no internals." in str(seen) and len(seen.answer) == 2
