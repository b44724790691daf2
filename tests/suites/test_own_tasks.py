"""Languages from files as tasks: names, identities, what each suite makes of them, and hostile files."""

import collections
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare
from typer.testing import CliRunner

import humboldt
from humboldt.cli import app
from humboldt.errors import UsageError
from humboldt.languages import tasks
from humboldt.languages.formal.language import read
from humboldt.suites import own_tasks, suites
from humboldt.suites.chomsky.problem import Transduction
from humboldt.suites.chomsky.protocol import LengthGeneralisation
from humboldt.suites.own_tasks import register_language
from humboldt.suites.recognition.problem import Recognition
from humboldt.suites.syntax.audit import audit_sentence
from humboldt.suites.tracking.problem import States

PARITY = "start even\naccept even\neven 0 even\neven 1 odd\nodd 0 odd\nodd 1 even\n"
PALINDROMES = "S -> a S a | b S b | a a | b b\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    before = set(tasks.names())
    yield tmp_path
    for name in set(tasks.names()) - before:
        tasks.forget(name)


def version(suite: str, text: str, name: str) -> int | str:
    Path(name).write_text(text, encoding="utf-8")
    key = f"{suite}/{register_language(suites.get(suite), name)}"
    found = tasks.entry(key).version
    tasks.forget(key)
    return found


def test_the_identity_is_that_of_what_a_suite_uses() -> None:
    plain = version("bliss", "S -> a S b [0.7] | a b [0.3]", "my.grammar")
    assert version("bliss", "# the same\nTop -> a Top b [7/10]\nTop -> a b", "other.grammar") == plain
    assert version("bliss", "S -> a S b [0.6] | a b [0.4]", "my.grammar") != plain
    assert version("bliss", "( a b )*", "my.regex") == version("bliss", "( a b a b )* ( a b )?", "my.regex")
    weighted = "start s\naccept s [0.5]\ns a s\ns b s"
    assert version("bliss", weighted, "m.automaton") != version("bliss", weighted.replace(" [0.5]", ""), "m.automaton")
    renamed = PARITY.replace("even", "zero").replace("odd", "one")
    assert version("chomsky", PARITY, "p.automaton") == version("chomsky", renamed, "p.automaton")
    assert version("chomsky", PARITY, "p.automaton") == version("chomsky", PARITY + "accept odd", "p.automaton")
    # Two states that accept alike are one for acceptance, but two answers.
    split = "start a\naccept a b\na 0 b\nb 0 a\na 1 a\nb 1 b"
    merged = "start a\naccept a\na 0 a\na 1 a"
    assert version("bliss", split, "m.automaton") == version("bliss", merged, "m.automaton")
    assert version("chomsky", split, "m.automaton") != version("chomsky", merged, "m.automaton")


def test_an_edited_file_is_another_task_and_a_second_file_of_the_name_is_refused(tmp_path: Path) -> None:
    suite = suites.get("bliss")
    Path("my.regex").write_text("a*")
    assert register_language(suite, str(tmp_path / "my.regex")) == "my.regex"
    first = tasks.entry("bliss/my.regex").version
    assert register_language(suite, "my.regex") == "my.regex"
    Path("my.regex").write_text("a* b")
    register_language(suite, "my.regex")
    assert tasks.entry("bliss/my.regex").version != first
    Path("other").mkdir()
    Path("other/my.regex").write_text("a+")
    with pytest.raises(UsageError, match="registered twice"):
        register_language(suite, "other/my.regex")
    with pytest.raises(UsageError, match=r"Cannot read missing\.regex"):
        register_language(suite, "missing.regex")


def test_which_state_at_the_end_or_after_every_symbol() -> None:
    Path("p.automaton").write_text(PARITY)
    register_language(suites.get("chomsky"), "p.automaton")
    cls = tasks.get("chomsky/p.automaton")
    rng = np.random.default_rng(0)
    for answers, wanted in (("last", ["even"]), ("every", ["odd", "odd", "even"])):
        task = cls(answers=answers)  # pyright: ignore[reportCallIssue]
        assert task.oracle(["1", "0", "1"]) == wanted
        pairs = task.sample(rng, 20, 7)  # pyright: ignore[reportAttributeAccessIssue]
        for source, target in pairs.symbols(task.input_alphabet, task.output_alphabet):
            assert task.oracle(source) == target
        batch = Transduction(task, LengthGeneralisation()).batch(0)  # pyright: ignore[reportArgumentType]
        assert (batch.target_mask.sum(1) == (1 if answers == "last" else batch.mask.sum(1))).all()
        assert batch.time == batch.mask.sum(1).max()
        assert (batch.tokens < len(task.input_alphabet)).all() == (answers == "every")


def test_only_strings_that_an_automaton_can_read_are_drawn_uniformly() -> None:
    Path("m.automaton").write_text("start s\naccept s t\ns a t\nt b s\nt c s\n")
    register_language(suites.get("chomsky"), "m.automaton")
    task = tasks.get("chomsky/m.automaton")()
    strings = task.sample(np.random.default_rng(0), 400, 4)  # pyright: ignore[reportAttributeAccessIssue]
    found = ["".join(source) for source, _ in strings.symbols(task.input_alphabet, task.output_alphabet)]
    assert set(found) == {"abab", "abac", "acab", "acac"}
    assert min(found.count(string) for string in set(found)) > 60
    with pytest.raises(UsageError, match="no transition for 'b'"):
        task.oracle(["b"])


@pytest.mark.parametrize("name", ["p.automaton", "m.automaton"])
@pytest.mark.parametrize("changes", [{}, {"supervision": "last"}, {"tokens_per_step": 3}, {"corpus": 40}], ids=str)
def test_the_states_of_an_automaton_are_tracked(name: str, changes: dict[str, Any]) -> None:
    Path("p.automaton").write_text(PARITY)
    Path("m.automaton").write_text("start s\naccept s\ns a t\nt b s\nt c s\nt d u\nu a u\n")
    settings = {"shortest": 2, "longest": (6,), "test_lengths": (7, 9), "strings_per_length": 8, **changes}
    study = humboldt.plan("tracking", tasks=[name], models=["rnn"], settings=settings)
    (experiment,) = study.experiments
    assert experiment.resolved is not None
    task, problem = experiment.resolved.task, States(experiment.resolved.task, experiment.resolved.protocol)
    for batch in [*(problem.batch(step) for step in range(3)), *(batch for _, _, batch in problem.test_batches())]:
        rows = zip(batch.tokens, batch.mask, batch.targets, batch.target_mask, strict=True)
        for tokens, mask, targets, asked in rows:
            symbols = task.input_alphabet.decode(tokens[mask])
            assert task.output_alphabet.decode(targets[asked]) == task.oracle(symbols)


def test_a_corpus_of_an_automaton_has_uniform_strings_of_each_length() -> None:
    Path("m.automaton").write_text("start s\naccept s\ns a s\ns b t\nt a t\nt b t\nt c t\n")  # 4 + 9 + ... ways on
    register_language(suites.get("tracking"), "m.automaton")
    task: Any = tasks.get("tracking/m.automaton")()
    lengths = np.random.default_rng(1).integers(1, 4, 6000)
    corpus = task.corpus(np.random.default_rng(0), lengths, 3)
    found = collections.Counter(
        tuple(row[:2].tolist()) for row, length in zip(corpus, lengths, strict=True) if length == 2
    )
    assert len(found) == 5  # aa, ab, ba, bb, bc
    assert chisquare(list(found.values())).pvalue > 1e-3


@pytest.mark.parametrize(
    ("name", "text"),
    [("pal.grammar", PALINDROMES), ("pairs.regex", "( a b | b a )* c?"), ("p.automaton", PARITY)],
)
def test_strings_of_a_file_are_recognised(name: str, text: str) -> None:
    Path(name).write_text(text)
    settings = {"train": 60, "validation": 20, "test": 40, "longest": 10, "longest_validation": 12, "longest_test": 20}
    (experiment,) = humboldt.plan("recognition", tasks=[name], models=["lstm"], settings=settings).experiments
    assert experiment.resolved is not None
    task = experiment.resolved.task
    language: Any = read(Path(name))
    for split in ("train", "test"):
        examples = Recognition(task, experiment.resolved.protocol).split(split)
        for string, label in zip(examples.strings(range(len(examples))), examples.labels, strict=True):
            assert language.accepts(task.input_alphabet.decode(string)) == bool(label)
    card = humboldt.score(
        "recognition",
        lambda inputs: [["yes" if language.accepts(symbols) else "no"] for symbols in inputs],
        tasks=name,
        settings=settings,
    )
    detail = card.scored[0].scores.results[0].detail
    assert set(card.scored[0].scores.results[0].measures.values()) == {1.0}
    assert detail["shortcuts"]["test"] and min(detail["accuracy_per_distance"]["values"]) >= 1


def test_positives_of_an_automaton_have_its_weights_whatever_its_spelling() -> None:
    plain = "start s\naccept s\ns a s\ns b s\n"
    doubled = "start s\naccept s t\ns a t\ns b t\nt a s\nt b s\n"
    weighted = "start s\naccept s [0.2]\ns a s [0.7]\ns b s [0.1]\n"
    assert version("recognition", plain, "m.automaton") == version("recognition", doubled, "m.automaton")
    assert version("recognition", plain, "m.automaton") != version("recognition", weighted, "m.automaton")
    assert version("recognition", PALINDROMES, "m.grammar") == version(
        "recognition", PALINDROMES.replace("a a", "a a [0.7]"), "m.grammar"
    )
    Path("m.automaton").write_text(weighted)
    register_language(suites.get("recognition"), "m.automaton")
    task: Any = tasks.get("recognition/m.automaton")()
    symbols = [symbol for string in task.draw(np.random.default_rng(0), 300, 10) for symbol in string]
    assert 0.8 < symbols.count(0) / len(symbols) < 0.95  # 7 of 8


def test_positives_and_negatives_of_a_grammar_and_the_audit() -> None:
    Path("pal.grammar").write_text(PALINDROMES)
    pairs = list(
        suites.get("syntax").data(  # pyright: ignore[reportAttributeAccessIssue]
            "pal.grammar", split="test", count=60, length=None, seed=0, settings={"terminals": "1", "test": "100"}
        )
    )
    for source, target in pairs:
        is_palindrome = len(source) % 2 == 0 and len(source) > 0 and source == source[::-1]
        assert target == ["grammatical" if is_palindrome else "ungrammatical"]
    assert sum(target == ["grammatical"] for _, target in pairs) == 30
    Path("ab.regex").write_text("( a b )+")
    register_language(suites.get("syntax"), "ab.regex")
    sentence = audit_sentence(tasks.get("syntax/ab.regex"), (4, 20), (21, 40))  # pyright: ignore[reportArgumentType]
    assert sentence is not None and "need not know the language" in sentence


@pytest.mark.parametrize(
    ("suite", "name", "text", "problem"),
    [
        ("chomsky", "my.regex", "( a | b )*", "automaton"),
        ("chomsky", "my.automaton", "start s\naccept t\ns a t", "lead back"),
        ("pcfg_set", "my.regex", "a*", "no tasks from files"),
        ("syntax", "my.regex", "()", "no symbols"),
        ("tracking", "my.grammar", "S -> a S | a", "automaton"),
        ("tracking", "my.automaton", "start s\naccept s\ns _ s", "blank"),
        ("recognition", "my.regex", "()", "no symbols"),
        ("recognition", "my.grammar", "S -> a S", "is empty"),
    ],
)
def test_what_a_suite_cannot_use_is_refused(suite: str, name: str, text: str, problem: str) -> None:
    Path(name).write_text(text)
    with pytest.raises(UsageError, match=problem):
        register_language(suites.get(suite), name)


@pytest.mark.parametrize(
    ("suite", "name", "changes"),
    [
        ("bliss", "my.grammar", ()),
        ("chomsky", "p.automaton", ("answers=every",)),
        ("syntax", "my.grammar", ("terminals=1", "train=100")),
        ("tracking", "p.automaton", ("supervision=last",)),
        ("recognition", "my.regex", ()),
    ],
)
def test_examples_of_a_file_are_printed_and_checked(suite: str, name: str, changes: tuple[str, ...]) -> None:
    Path("p.automaton").write_text(PARITY)
    Path("my.grammar").write_text("S -> a S b | a b")
    Path("my.regex").write_text("( a b )* c?")
    options = [text for change in changes for text in ("--set", change)]
    shown = CliRunner().invoke(app, ["data", suite, name, "--count", "4", *options])
    assert shown.exit_code == 0, shown.output
    Path("examples.jsonl").write_text(shown.stdout)
    checked = CliRunner().invoke(app, ["check", suite, name, "examples.jsonl", *options])
    assert f"{suite}/{name}: all 4 examples agree" in checked.stdout, checked.output
    *others, last = shown.stdout.splitlines()
    swapped = {"yes": "no", "no": "yes", "odd": "even", "even": "odd"}
    swapped |= {"grammatical": "ungrammatical", "ungrammatical": "grammatical", "#": "b"}
    record = json.loads(last)
    record["target"] = " ".join(swapped.get(symbol, symbol) for symbol in str(record["target"]).split())
    Path("examples.jsonl").write_text("\n".join([*others, json.dumps(record)]))
    checked = CliRunner().invoke(app, ["check", suite, name, "examples.jsonl", *options])
    assert checked.exit_code == 1 and "1 of 4 examples disagree" in checked.stdout, checked.output


def test_a_warning_comes_before_a_training_that_shortcuts_solve(capsys: pytest.CaptureFixture[str]) -> None:
    Path("first.regex").write_text("a ( a | b )*")
    humboldt.plan("recognition", tasks=["first.regex"], models=["lstm"])
    assert "need not know the language" in capsys.readouterr().err
    Path("all.regex").write_text("( a | b )*")
    with pytest.raises(UsageError, match="a language that leaves more strings out"):
        humboldt.plan("recognition", tasks=["all.regex"], models=["lstm"])


def test_the_commands_know_files() -> None:
    Path("p.automaton").write_text(PARITY)
    Path("my.grammar").write_text("S -> a S b | a b")
    runner = CliRunner()
    shown = runner.invoke(app, ["data", "chomsky", "p.automaton", "--count", "4"])
    assert shown.exit_code == 0, shown.output
    Path("examples.jsonl").write_text(shown.stdout)
    assert "all 4 examples agree" in runner.invoke(app, ["check", "chomsky", "p.automaton", "examples.jsonl"]).stdout
    planned = humboldt.plan("bliss", tasks=["my.grammar"], models=["lstm"], settings={"factors": (1,)})
    assert {experiment.training.task for experiment in planned.experiments} == {"my.grammar"}
    card = humboldt.score(
        "chomsky", lambda inputs: [["even"] for _ in inputs], tasks="p.automaton", preset="quick", settings=SMALL
    )
    assert 0.2 < card.scored[0].scores.results[0].measures["score"] < 0.8


SMALL = {"num_test_lengths": 2, "strings_per_length": 32, "test_lengths": (41, 60)}


def test_results_are_shown_without_the_file() -> None:
    Path("p.automaton").write_text(PARITY)
    predict = lambda inputs: [["even"] for _ in inputs]  # noqa: E731
    humboldt.score("chomsky", predict, tasks="p.automaton", settings=SMALL, out="results")
    tasks.forget("chomsky/p.automaton")
    Path("p.automaton").unlink()
    shown = CliRunner().invoke(app, ["show", "results"])
    assert shown.exit_code == 0 and "p.automaton" in shown.stdout, shown.output
    assert tasks.entry("chomsky/p.automaton").origin == own_tasks.STORE
    with pytest.raises(UsageError, match="Name the task with its place"):
        humboldt.score("chomsky", predict, tasks="p.automaton", settings=SMALL)


@pytest.mark.parametrize(
    ("suite", "name", "measure", "settings"),
    [
        ("chomsky", "p.automaton", "score", SMALL),
        ("syntax", "my.regex", "out_of_dist", {"terminals": 1, "train": 200}),
        ("tracking", "p.automaton", "strings", SMALL),
        ("recognition", "my.grammar", "test", {"train": 100, "validation": 20, "test": 40, "longest_test": 60}),
    ],
)
def test_files_are_scored_and_exported(suite: str, name: str, measure: str, settings: dict[str, Any]) -> None:
    Path("p.automaton").write_text(PARITY)
    Path("my.grammar").write_text("S -> a S b | c S d | ")
    Path("my.regex").write_text("( a b | b a )* c?")
    register_language(suites.get(suite), name)
    task: Any = tasks.get(f"{suite}/{name}")(**{key: settings[key] for key in ("terminals",) if key in settings})
    oracle = lambda inputs: [task.oracle(symbols) for symbols in inputs]  # noqa: E731
    card = humboldt.score(suite, oracle, tasks=name, preset="quick", settings=settings)
    assert card.scored[0].scores.results[0].measures[measure] == 1
    few = [text for key in ("terminals", "train") if key in settings for text in ("--set", f"{key}={settings[key]}")]
    exported = CliRunner().invoke(
        app,
        ["export", "lm-eval", suite, "--task", name, "--preset", "quick", "--count", "5", "--out", "exported", *few],
    )
    assert exported.exit_code == 0 and name in exported.stdout, exported.output
    strings = next(Path("exported").glob("*_test.jsonl")).read_text().splitlines()
    assert len(strings) == 5 and all(json.loads(line) for line in strings)


def test_settings_of_a_task_without_its_file_are_not_compared_with_the_papers() -> None:
    Path("p.automaton").write_text(PARITY)
    predict = lambda inputs: [["even"] * len(symbols) for symbols in inputs]  # noqa: E731
    settings = {"num_test_lengths": 2, "strings_per_length": 4, "test_lengths": (5, 6)}
    humboldt.score("tracking", predict, tasks="p.automaton", settings=settings, out="results")
    tasks.forget("tracking/p.automaton")
    shown = CliRunner().invoke(app, ["show", "results"])
    assert "strings_per_length 4 (paper: 64)" in shown.stdout.replace("\n", " "), shown.output
    assert "paper: none" not in shown.stdout.replace("\n", " ")


def malformed() -> list[tuple[str, str]]:
    """100 files that break a rule, each with a line and a column, made from short pieces."""
    grammars = ["S", "-> a", "S -> a -> b", "S -> a [", "S -> a ]", "S -> T", "S -> 'a", "S -> a [0.5"]
    grammars += ["S -> a [2]", "S -> a [-1]", "S -> a [x]", "S -> a [0.5] b", "S -> a [0.5] [0.5]", "| a", "S a b"]
    grammars += ["S -> a | a", "S -> a [0.9] | b [0.9]", "S -> a [0.2] | b [0.2]", "S -> a [1] | b", "S -> ( a )"]
    grammars += ["S -> a*", "S -> ε a", "'S' -> a", "S -> 'S'", "", "# nothing", "S -> a\n-> b", "S -> a\nS"]
    grammars += ["S -> " + "x" * 101, "S -> a\x00", "S -> ''", "S -> ' '", "S -> a'b'", "S -> [1/0] a"]
    grammars += ["S → → a", "S -> a\nT b", "S -> { a }", "S -> a? b", "1 2 3"]
    automata = ["", "start", "accept", "start s", "accept s", "start s\naccept s\ns a", "start s\naccept s\na"]
    automata += ["start s t\naccept s", "start s\nstart s\naccept s", "start s\naccept t", "start s\naccept s s"]
    automata += ["start s\naccept s\ns a s\ns a s", "start s\naccept s\ns a t", "start s\naccept s\nt a s"]
    automata += ["start s\naccept s\ns ( s", "start s\naccept s\ns a s s", "start s\naccept s\ns a s [2]"]
    automata += ["start s\naccept s [0.9]\ns a s [0.9]", "start s\naccept s [1]\ns a s", "start |\naccept s"]
    automata += ["begin s\naccept s", "start s\naccepts s", "start s\naccept s\ns ε s", "start s\naccept s\ns a s ["]
    automata += ["start s\naccept s\n[0.5] a s", "start s\naccept s\ns [0.5] s", "start 's\naccept s", "-> s"]
    regexes = ["", "(", ")", "a )", "( a", "*", "| *", "a **", "a ?+", "( )* )", "a [0.5]", "a {2}", "a }", "a -> b"]
    regexes += ["'a", '"a', "a'b'", "''", "( ( a )", "a | | *", "( | * )", "a [", "a ]", "[ab]", "( ? )", "a + +"]
    regexes += ["\\", "^", "a $", ".", "a {1000000000}", "x" * 101, "a\x07b", "( a ) ) ( b", "a\n)"]
    return [
        *((text, "my.grammar") for text in grammars),
        *((text, "my.automaton") for text in automata),
        *((text, "my.regex") for text in regexes),
    ]


def test_100_malformed_files_are_refused_with_line_and_column_and_nothing_is_written() -> None:
    files, accepted, unplaced = malformed(), [], []
    began = time.process_time()
    for text, name in files:
        Path(name).write_text(text, encoding="utf-8")
        try:
            register_language(suites.get("bliss"), name)
            accepted.append((name, text))
            tasks.forget(f"bliss/{name}")
        except UsageError as error:
            if ", line " not in str(error) or ", column " not in str(error):
                unplaced.append((name, text, str(error)))
        Path(name).unlink()
    assert len(files) >= 100
    assert not accepted and not unplaced
    assert time.process_time() - began < 10
    assert not list(Path().iterdir())


@pytest.mark.parametrize(
    ("name", "text", "limit"),
    [
        ("deep.regex", "( " * 100_000 + "a" + " )" * 100_000, "200 deep"),
        ("counter.regex", "a {1000000000}", "not part of the notation"),
        ("exponential.regex", "( a | b )* a" + " ( a | b )" * 25, "states"),
        ("large.grammar", "S -> " + " | ".join(f"a{n}" for n in range(2_000)), "1,000 alternatives"),
        ("states.automaton", "start s0\naccept s0\n" + "\n".join(f"s{n} a s{n + 1}" for n in range(10_001)), "states"),
        ("huge.regex", "a " * 600_000, "bytes"),
    ],
)
def test_hostile_files_are_refused_with_the_limit(name: str, text: str, limit: str) -> None:
    Path(name).write_text(text)
    began = time.process_time()
    with pytest.raises(UsageError, match=limit):
        register_language(suites.get("bliss"), name)
    assert time.process_time() - began < 10
    assert [path.name for path in Path().iterdir()] == [name]
