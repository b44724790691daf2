"""The engine for PyTorch beside the one for JAX: same weights and data, same losses; and users' mistakes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import jax
import numpy as np
import pytest
import torch
from torch import nn
from torch_support import EXAMPLES, LSTM, SMALL, STEPS, Telling, gates, job_of, losses, registered, t, trained

import humboldt
from humboldt.core.events import AbstractSink
from humboldt.errors import Interrupted, RunError, UsageError
from humboldt.models.own import register_model
from humboldt.storage.checkpoints import Checkpoints
from humboldt.suites import catalogue, resolving
from humboldt.training.abilities import CountsRight, HasNetwork, ReadsSymbols, ability
from humboldt.training.base import Job, Milestone, Schedule, engines
from humboldt.training.engines.jax import build
from humboldt.training.engines.torch import _training
from humboldt.training.pytorch.learner import as_array

pytestmark = pytest.mark.extras


class Classifier(nn.Module):
    """Ours, `lstm_classifier`, in PyTorch."""

    def __init__(self, input_size: int, output_size: int, hidden_size: int = 8, embedding_size: int = 6) -> None:
        super().__init__()
        self.embedding = nn.Embedding(input_size, embedding_size)
        self.lstm = nn.LSTM(embedding_size, hidden_size, batch_first=True)
        self.readout = nn.Linear(hidden_size, output_size)

    def forward(self, tokens: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        outputs, _ = self.lstm(self.embedding(tokens))
        return self.readout(outputs[torch.arange(len(tokens)), lengths - 1])

    def copy(self, network: Any) -> None:
        own, (cell,) = dict(self.named_parameters()), network.cells
        for name, layer in (("ih", cell.input), ("hh", cell.recurrent)):
            own[f"lstm.weight_{name}_l0"].data, own[f"lstm.bias_{name}_l0"].data = gates(layer)
        self.embedding.weight.data = t(network.embedding.weight)
        self.readout.weight.data, self.readout.bias.data = t(network.readout.weight).T, t(network.readout.bias)


class EncoderDecoder(nn.Module):
    """Ours, `lstm_s2s` without attention, in PyTorch."""

    def __init__(self, input_size: int, output_size: int, hidden_size: int = 8, embedding_size: int = 5) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(input_size, embedding_size), nn.Embedding(output_size, embedding_size)
        self.reader = nn.LSTM(embedding_size, hidden_size, batch_first=True)
        self.writer = nn.LSTMCell(embedding_size + hidden_size, hidden_size)
        self.hidden = nn.Linear(hidden_size, 512)
        self.readout = nn.Linear(512, output_size)

    def forward(self, source: torch.Tensor, told: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        packed = nn.utils.rnn.pack_padded_sequence(self.source(source), lengths, batch_first=True, enforce_sorted=False)
        _, (h, c) = self.reader(packed)
        h, c, output, outputs = h[0], c[0], torch.zeros_like(h[0]), []
        for x in self.target(told).unbind(1):
            h, c = self.writer(torch.cat([x, output], 1), (h, c))
            output = h
            outputs.append(output)
        return self.readout(self.hidden(torch.stack(outputs, 1)))

    def copy(self, network: Any) -> None:
        own = dict(self.named_parameters())
        (reading,), writing = network.reading[0], network.writing
        for name, layer in (("ih", reading.input), ("hh", reading.recurrent)):
            own[f"reader.weight_{name}_l0"].data, own[f"reader.bias_{name}_l0"].data = gates(layer)
        of_input, bias = gates(writing.layers[0].input)
        self.writer.weight_ih.data = torch.cat([of_input, gates(writing.feeding)[0]], 1)
        self.writer.bias_ih.data = bias
        self.writer.weight_hh.data, self.writer.bias_hh.data = gates(writing.layers[0].recurrent)
        self.source.weight.data, self.target.weight.data = t(network.source_embedding), t(network.target_embedding)
        for ours, theirs in ((self.hidden, network.hidden_layer), (self.readout, network.readout)):
            ours.weight.data, ours.bias.data = t(theirs.weight).T, t(theirs.bias)


RATES = {"learning_rates": (1e-3,)}
SMALL_SPLITS = {"train": 64, "validation": 4, "test": 4, "long": 4, "batch_size": 16, "lengths": (4, 8)}
CASES: dict[str, tuple[str, str, str, type, dict[str, Any]]] = {
    "chomsky": ("chomsky", "reverse_string", "torch_lstm", LSTM, {**RATES, "batch_size": 8, "train_lengths": (1, 4)}),
    "bliss": ("bliss", "an_bn", "lstm", LSTM, {"factors": (4,), "penalties": ("none",), "hidden_size": 8}),
    "syntax": (
        *("syntax", "adj_n_np", "lstm", Classifier),
        {**SMALL_SPLITS, "terminals": (2,), "hidden_size": 8, "embedding_size": 6, "num_layers": 1},
    ),
    "pcfg_set": (
        *("pcfg_set", "task_accuracy", "lstm_s2s_plain", EncoderDecoder),
        {"size": 200, "letters": 40, "deepest": 2, "epochs": 2, "batch_size": 32},
    ),
    "bias": (
        *("bias", "hierarchical_or_linear", "lstm_s2s_no_att", EncoderDecoder),
        {"hidden_size": 8, "embedding_size": 5, "dropout": 0.0, "description_length": False},
    ),
}


def jobs(name: str) -> tuple[Job, Job, nn.Module]:
    """The same job for both engines, and the module with the weights of the first member of the other."""
    suite, task, model, module, settings = CASES[name]
    model = "lstm_s2s" if model == "lstm_s2s_plain" else model
    if suite == "pcfg_set":
        settings = {**settings, "hidden_size": 8, "embedding_size": 5, "num_layers": 1, "dropout": 0.0}
        settings |= {"attention": False, "bidirectional": False, "toolkit": "fairseq"}
    if model == "torch_lstm":
        settings = {**settings, "hidden_size": 8}
    ours = job_of(suite, task, model, **settings)
    ours = replace(ours, recipe=replace(ours.recipe, steps=STEPS), milestone=None)
    shared = {key: value for key, value in settings.items() if key not in ("dropout", "num_layers", "attention")}
    shared = {key: value for key, value in shared.items() if key not in ("bidirectional", "toolkit")}
    theirs = job_of(suite, task, registered(module), **shared)
    theirs = replace(ours, model=theirs.model)
    made = theirs.model.make(ours.problem.input_size, ours.problem.output_size, num_symbols=ours.problem.num_symbols)
    made.copy(build(ours, jax.random.key(ours.members[0].seed)))
    return ours, theirs, made


@pytest.mark.parametrize("name", CASES)
def test_the_same_weights_and_data_give_the_same_losses(name: str):
    ours, theirs = losses(*jobs(name))
    assert np.isfinite(ours).all() and len(set(ours.round(6))) > STEPS // 2
    np.testing.assert_allclose(theirs, ours, rtol=1e-4, atol=1e-4)


RECIPES: dict[str, dict[str, Any]] = {
    "sgd": {"optimiser": "sgd"},
    "momentum": {"optimiser": "sgd", "momentum": 0.9},
    "nesterov": {"optimiser": "sgd", "momentum": 0.9, "nesterov": True},
    "adam": {"optimiser": "adam", "betas": (0.8, 0.95)},
    "adamw": {"optimiser": "adamw"},
    "clipping": {"optimiser": "sgd", "gradient_clip": 0.05},
    "no clipping": {"optimiser": "sgd", "gradient_clip": None},
    "warm-up": {"optimiser": "adam", "schedule": Schedule(8, start=0.1)},
    "warm-up from 0": {"optimiser": "adam", "schedule": Schedule(8, first=0, decay="none")},
    "sum": {"optimiser": "sgd", "loss": "sum"},
    "pooled": {"optimiser": "sgd", "loss": "pooled"},
}


@pytest.mark.parametrize("recipe", RECIPES)
def test_recipes_mean_the_same(recipe: str):
    ours, theirs, module = jobs("chomsky")
    member = replace(ours.members[0], learning_rate=0.05, l1=1e-4, l2=1e-3)
    ours, theirs = (
        replace(job, recipe=replace(job.recipe, **RECIPES[recipe]), members=(member,)) for job in (ours, theirs)
    )
    a, b = losses(ours, theirs, module)
    np.testing.assert_allclose(b, a, rtol=1e-4, atol=1e-4)


class Dropping(LSTM):
    """With random numbers in training."""

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = nn.functional.one_hot(tokens, self.input_size).float()
        return self.readout(nn.functional.dropout(self.lstm(x)[0], 0.3, self.training))


def test_a_resumed_training_ends_with_the_same_bits(tmp_path: Path):
    job = job_of("chomsky", "parity_check", registered(Dropping), learning_rates=(1e-2,), batch_size=4, steps=250)
    job = replace(job, members=(job.members[0], replace(job.members[0], seed=7)))
    whole = trained(job, tmp_path / "whole", Telling())
    for stop in (1, 2, 3):
        with pytest.raises(Interrupted):
            trained(job, tmp_path / "part", Telling(stop_after=stop))
    again = trained(job, tmp_path / "part", Telling())
    alone = trained(replace(job, members=job.members[1:]), tmp_path / "alone", Telling())
    for member in range(2):
        for name, array in whole.weights(member).items():
            np.testing.assert_array_equal(again.weights(member)[name], array)
    for name, array in whole.weights(1).items():  # whoever else is trained
        np.testing.assert_array_equal(alone.weights(0)[name], array)
    assert whole.outcomes == again.outcomes


def test_after_a_restart_weights_are_the_initial_ones_and_the_optimiser_is_as_it_was(tmp_path: Path):
    job = job_of("chomsky", "parity_check", registered(LSTM), learning_rates=(1e-2,), batch_size=4)
    job = replace(job, recipe=replace(job.recipe, steps=24, restart_every=12, schedule=Schedule(8, start=0.1)))
    found = trained(job, tmp_path / "whole", Telling())
    training = _training(replace(job, recipe=replace(job.recipe, steps=12, restart_every=None)))
    learner = training.fresh(job.members[0])
    for first in (0, 12):
        learner.module.load_state_dict(training.fresh(job.members[0]).module.state_dict())
        batches = [training._examples(job.problem.batch(first + step), 0) for step in range(12)]
        training._span(learner, 0, 0, batches)
    for name, array in found.weights(0).items():
        np.testing.assert_array_equal(array, learner.module.state_dict()[name].numpy())
    with pytest.raises(Interrupted):
        trained(job, tmp_path / "part", Telling(stop_after=1))
    again = trained(job, tmp_path / "part", Telling())
    assert all(np.array_equal(again.weights(0)[name], array) for name, array in found.weights(0).items())


def test_members_keep_their_best_weights_and_shrink_their_rates(tmp_path: Path):
    """With a rate of nothing, weights stay as they are after a milestone that is no better."""
    job = job_of("chomsky", "parity_check", registered(LSTM), learning_rates=(1e-2,), batch_size=4)
    members = tuple(replace(job.members[0], seed=seed) for seed in (1, 2, 3))
    problem = copy(job.problem)
    problem.milestones = (5, 10, 15, 20)
    scores = {5: (1, 1, np.nan), 10: (2, 1, np.nan), 15: (3, 0, np.nan), 20: (2, 0.5, np.nan)}

    def shown(folder: Path, sink: AbstractSink, seen: dict[int, Any]) -> Any:
        def look(step: int, predictor: Any) -> Milestone:
            modules = [predictor.model(member).module for member in range(3)]
            seen[step] = [[as_array(x) for x in module.state_dict().values()] for module in modules]
            return Milestone(np.array(scores[step]), step)

        recipe = replace(job.recipe, steps=20, shrink=0.0)
        return trained(replace(job, problem=problem, recipe=recipe, members=members, milestone=look), folder, sink)

    def same(first: Any, second: Any) -> bool:
        return all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))

    seen: dict[int, Any] = {}
    whole = shown(tmp_path / "whole", Telling(), seen)
    assert whole.milestones == (5, 10, 15, 20)
    # Member 0 was better until step 15; member 1 was not better at step 10, and member 2 never had a score.
    for before, after, stays in (
        (5, 10, (False, False, True)),
        (10, 15, (False, True, True)),
        (15, 20, (False, True, True)),
    ):
        assert tuple(map(same, seen[before], seen[after])) == stays
    for member, best in enumerate((15, 5, 20)):
        assert same(whole.weights(member).values(), seen[best][member])
    for stop in (4, 3):
        with pytest.raises(Interrupted):
            shown(tmp_path / "part", Telling(stop_after=stop), seen)
    again = shown(tmp_path / "part", Telling(), seen)
    assert again.outcomes == whole.outcomes and again.milestones == whole.milestones
    assert all(same(again.weights(member).values(), whole.weights(member).values()) for member in range(3))


def test_a_checkpoint_of_an_earlier_form_is_reported_and_not_used(tmp_path: Path):
    job = job_of("chomsky", "parity_check", registered(LSTM), learning_rates=(1e-2,), batch_size=4, steps=3)
    whole, sink = trained(job, tmp_path / "whole", Telling()), Telling()
    member = {f"0/{name}": x for name, x in _training(job).fresh(job.members[0]).arrays().items()}
    curves = {"loss": np.zeros((1, 1), np.float32), "accuracy": np.zeros((1, 1), np.float32)}
    numbers = {"0/numbers": np.array([-1, -np.inf, 1.0])}
    Checkpoints(tmp_path / "old").save(1, {**member, **numbers, **curves}, {"milestones": []})
    again = trained(job, tmp_path / "old", sink)
    assert "of another model or version" in sink.warnings[0]
    assert again.outcomes == whole.outcomes
    assert all(np.array_equal(again.weights(0)[name], x) for name, x in whole.weights(0).items())


class Raises(LSTM):
    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        raise ValueError("no such layer")


class Pair(LSTM):
    def forward(self, tokens: torch.Tensor) -> Any:
        return self.lstm(nn.functional.one_hot(tokens, self.input_size).float())


class TimeFirst(LSTM):
    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return super().forward(tokens).transpose(0, 1)


class NotANumber(LSTM):
    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return super().forward(tokens) / 0 * 0


class LooksAhead(LSTM):
    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        logits = super().forward(tokens)
        return logits + logits.mean(1, keepdim=True)


class NoOutputSize(nn.Module):
    def __init__(self, input_size: int) -> None:
        super().__init__()


class ListSetting(nn.Module):
    def __init__(self, input_size: int, output_size: int, sizes: tuple[int, ...] = (1, 2)) -> None:
        super().__init__()


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (Raises, r"forward raised ValueError: no such layer \(called with token ids of shape \(\d+, \d+\)"),
        (Pair, "forward returned a tuple. Return one tensor of logits"),
        (TimeFirst, r"need the shape \(\d+, \d+, \d\): batch, time, symbols\. Batch and time are swapped"),
        (NotANumber, "logits that are not finite"),
        (LooksAhead, "a later symbol changes answers"),
    ],
)
def test_a_module_that_breaks_a_rule_is_told_which(module: type, message: str, tmp_path: Path):
    job = job_of("bliss", "an_bn", registered(module), factors=(4,), penalties=("none",))
    with pytest.raises(RunError, match=message):
        trained(job, tmp_path, Telling())


@pytest.mark.parametrize(
    ("module", "message"),
    [(NoOutputSize, "no parameter output_size"), (ListSetting, r"'sizes' has the default \(1, 2\)")],
)
def test_a_class_that_cannot_be_called_is_refused_when_it_is_named(module: type, message: str):
    with pytest.raises(UsageError, match=message):
        registered(module)


def test_padding_that_changes_answers_is_told(tmp_path: Path):
    job = job_of("chomsky", "parity_check", registered(LooksAhead), learning_rates=(1e-3,), batch_size=4, steps=1)
    sink = Telling()
    trained(job, tmp_path, sink)
    assert any("of padding after a row of length" in message for message in sink.warnings)


def test_a_diverged_member_keeps_its_last_good_weights(tmp_path: Path):
    job = job_of("chomsky", "parity_check", registered(LSTM), learning_rates=(1e-3,), batch_size=4, steps=5)
    huge = replace(job, recipe=replace(job.recipe, optimiser="sgd", gradient_clip=None))
    huge = replace(huge, members=(replace(job.members[0], learning_rate=1e38), job.members[0]))
    result = trained(huge, tmp_path, Telling())
    assert result.outcomes[0].diverged_at is not None and result.outcomes[1].diverged_at is None
    assert all(np.isfinite(array).all() for array in result.weights(0).values())


@pytest.mark.parametrize("suite", SMALL)
def test_the_example_runs_on_every_suite_and_can_be_loaded(suite: str, tmp_path: Path):
    task, settings = SMALL[suite]
    reference = f"{EXAMPLES / 'pytorch_gru.py'}:GRU"
    study = humboldt.run(
        suite, tasks=task, models=reference, seeds=1, settings={**settings, "hidden_size": 8}, out=tmp_path
    )
    assert "pytorch_gru.py:GRU" in study.table()
    if suite != "bias":  # there nobody fits after three updates, and no rule is asked about
        assert "the paper's own models, as printed, in the same places" in study.table()
    assert not study.pending()
    member = humboldt.load(tmp_path, suite=suite)
    string = {"bliss": "( )", "syntax": "ADJ_0 NP_1", "pcfg_set": "copy A1", "bias": "a b b a"}.get(suite, "a b b")
    said = member.predict(string)
    assert said == list(member.inspect(string).answer[: len(said)])
    assert "embedding" in member.predictor.parameters()


def test_a_gru_read_symbol_by_symbol_is_the_gru_read_at_once(tmp_path: Path):
    job = job_of("bliss", "an_bn", f"{EXAMPLES / 'pytorch_gru.py'}:GRU", factors=(4,), penalties=("none",))
    predictor, seconds = engines.get("torch").sample(job)
    assert seconds > 0
    stepper, _ = ability(predictor, ReadsSymbols).stepper(0, longest=10, most_memory=10)
    tokens = np.array([[0, 1, 1, 2], [0, 2, 1, 1], [0, 1, 2, 2]], np.int32)
    whole = ability(predictor, HasNetwork).model(0)
    state, rows = stepper.init(3), np.array([2, 0, 0, 1])
    for step in range(4):
        state, chances = stepper.step(state, tokens[:, step])
        if step == 1:
            state, tokens = stepper.take(state, rows), tokens[rows]
            chances = chances[rows]
        logits = np.stack([whole(row, np.ones(4, bool))[step] for row in tokens]).astype(np.float64)
        np.testing.assert_allclose(chances, np.exp(logits) / np.exp(logits).sum(1, keepdims=True), rtol=1e-4)


class CountsThreads(nn.Module):
    """Notes how many threads there are while it is called."""

    seen: ClassVar[set[int]] = set()

    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__()
        self.logits = nn.Embedding(input_size, output_size)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        self.seen.add(torch.get_num_threads())
        return self.logits(tokens)


@pytest.mark.parametrize(("chosen", "expected"), [("", {1}), ("2", {2})])
def test_one_thread_is_used_unless_the_user_says_how_many(
    chosen: str, expected: set[int], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OMP_NUM_THREADS", chosen)
    CountsThreads.seen.clear()
    torch.set_num_threads(2)
    try:
        job = job_of("chomsky", "parity_check", registered(CountsThreads), device="cpu")
        predictor, _ = engines.get("torch").sample(job)
        ability(predictor, CountsRight).correct(job.problem.batch(0))
        assert CountsThreads.seen == expected
        assert torch.get_num_threads() == 2  # those of the user's own code
    finally:
        torch.set_num_threads(1)


def test_kill_9_loses_nothing(tmp_path: Path):
    """A process is killed in training, and the same command goes on: the rows are those of an undisturbed run."""
    command = [
        *(sys.executable, "-m", "humboldt", "run", "chomsky", "--task", "parity_check", "--no-estimate"),
        *("--model", f"{EXAMPLES / 'pytorch_gru.py'}:GRU", "--seeds", "2", "--save-every", "0.2"),
        *("--set", "steps=400", "--set", "hidden_size=8", "--set", "num_test_lengths=1", "--set", "batch_size=2"),
        *("--set", "strings_per_length=2", "--out"),
    ]
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([*command, tmp_path / "whole"], check=True, capture_output=True, timeout=300, env=one_thread)
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([*command, tmp_path / "killed"], env=one_thread, **quiet)
    deadline = time.monotonic() + 120
    while not list((tmp_path / "killed").rglob("*.ckpt")) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    subprocess.run([*command, tmp_path / "killed"], check=True, capture_output=True, timeout=300, env=one_thread)

    def shown(*command: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "humboldt", *command], capture_output=True, text=True, timeout=300)

    rows = [shown("show", tmp_path / name, "--json").stdout for name in ("whole", "killed")]
    assert rows[0] == rows[1] and "pytorch_gru.py:GRU" in rows[0]

    # Who shows results needs no file of the model, and sees the paper's own models; who loads a member does.
    table = [line.split() for line in shown("show", tmp_path / "whole").stdout.splitlines()]
    assert ["Level", "Task", "Chance", "Floor", "pytorch_gru.py:GRU", "paper"] in table
    assert ["parity_check", "score", "100", "100", "100", "52", "100", "50", "100", "100"] in table
    refused = shown("inspect", tmp_path / "whole", "--input", "a b")
    assert "Name the model with its path: path/to/pytorch_gru.py:GRU." in refused.stderr


@pytest.mark.parametrize("attribute", ["LinearRecurrence"])
def test_a_jax_network_from_a_users_file_is_trained_as_an_ensemble(attribute: str, tmp_path: Path):
    reference = f"{EXAMPLES / 'jax_linear_recurrence.py'}:{attribute}"
    settings = {"steps": 3, "num_test_lengths": 2, "strings_per_length": 4, "hidden_size": 8}
    study = humboldt.run("chomsky", tasks="parity_check", models=reference, seeds=2, settings=settings, out=tmp_path)
    assert f"jax_linear_recurrence.py:{attribute}" in str(study.table())


def test_an_edited_file_is_trained_again(tmp_path: Path):
    source = (EXAMPLES / "pytorch_gru.py").read_text()
    keys = []
    for i, text in enumerate((source, source + "\n# edited\n")):
        (tmp_path / str(i)).mkdir()
        path = tmp_path / str(i) / "mine.py"
        path.write_text(text)
        script = (
            "import humboldt; s = humboldt.plan('chomsky', tasks='parity_check', models="
            f"{str(path) + ':GRU'!r}); print(s.experiments[0].training.key, s.experiments[0].training.model)"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        keys.append(done.stdout.split())
    assert keys[0][0] != keys[1][0] and keys[0][1] == keys[1][1] == "mine.py:GRU"


def test_wrong_references_are_answered(tmp_path: Path):
    wrong: list[tuple[str, str]] = [
        (f"{tmp_path}/none.py:GRU", "there is no file"),
        (f"{EXAMPLES / 'pytorch_gru.py'}:LSTM", "No attribute of .* named 'LSTM'. Known: .*GRU"),
        (registered(EncoderDecoder), "is for sequence to sequence, and the suite chomsky"),
    ]
    for reference, message in wrong:
        with pytest.raises(UsageError, match=message):
            humboldt.plan("chomsky", tasks="parity_check", models=reference)


@pytest.mark.parametrize(
    ("place", "on", "lines"),
    [
        (f"{EXAMPLES / 'pytorch_gru.py'}:GRU", "bliss/an_bn", ["causality", "on 500 symbols", "Ready to be trained."]),
        (f"{EXAMPLES / 'jax_linear_recurrence.py'}:LinearRecurrence", "chomsky/parity_check", ["Ready to be trained."]),
        (f"{EXAMPLES / 'pytorch_gru.py'}:GRU", "bias/hierarchical_or_linear", ["a later symbol changes"]),
    ],
)
def test_a_network_is_checked_before_it_is_trained(place: str, on: str, lines: list[str]):
    command = [sys.executable, "-m", "humboldt", "check", "model", place, "--on", on, "--set", "hidden_size=8"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "FAILED" not in done.stdout and all(line in done.stdout for line in [*lines, "parameters: "])


def test_our_models_are_given_the_size_of_a_users_own(tmp_path: Path):
    own = f"{EXAMPLES / 'pytorch_gru.py'}:GRU"
    options: dict[str, Any] = {"tasks": "parity_check", "match_parameters": True}
    study = humboldt.plan("chomsky", models=[own, "rnn", "lstm"], **options)
    sizes = {}
    for experiment in study.experiments:
        parts = resolving.resolved(experiment)
        engine = catalogue.engine_of(parts.contender)
        sizes[experiment.training.model] = engine.parameters(study.suite.job(parts, experiment.members))
    goal = sizes.pop("pytorch_gru.py:GRU")
    assert set(sizes) == {"rnn", "lstm"} and all(abs(size / goal - 1) < 0.02 for size in sizes.values())
    for models in ([own], ["rnn"]):
        with pytest.raises(UsageError, match="Name one model of your own and at least one of ours"):
            humboldt.plan("chomsky", models=models, **options)
    with pytest.raises(UsageError, match="has no setting hidden_size"):
        humboldt.plan("chomsky", models=[own, "transformer_encoder"], **options)


def test_factories_and_compilation_are_settings(tmp_path: Path):
    make: Callable[..., nn.Module] = lambda input_size, output_size, hidden_size=4: LSTM(  # noqa: E731
        input_size, output_size, hidden_size
    )
    name = register_model("test_torch.py:make", make)
    job = job_of("chomsky", "parity_check", name, learning_rates=(1e-3,), hidden_size=5, device="cpu")
    assert job.model.make(3, 2, num_symbols=2).lstm.hidden_size == 5 and job.model.on_device().type == "cpu"
    with pytest.raises(UsageError, match="device=cuda: PyTorch sees no GPU here"):
        job_of("chomsky", "parity_check", name, learning_rates=(1e-3,), device="cuda").model.on_device()


@pytest.mark.parametrize(("kept", "step"), [("best", 4), ("before_best", 2)])
def test_a_recipe_can_keep_the_milestone_before_the_best(
    tmp_path: Path, kept: Literal["best", "before_best"], step: int
):
    """As the ensemble of the JAX engine does."""
    job = job_of("chomsky", "parity_check", registered(LSTM), learning_rates=(1e-2,), batch_size=4, steps=6)
    job.problem.milestones = (2, 4, 6)
    seen: dict[int, dict[str, np.ndarray]] = {}

    def look(at: int, predictor: Any) -> Milestone:
        seen[at] = {name: x.detach().numpy().copy() for name, x in predictor.modules[0].state_dict().items()}
        return Milestone(np.array([{2: 0.0, 4: 1.0, 6: 0.5}[at]] * predictor.num_members))

    found = trained(replace(job, recipe=replace(job.recipe, kept=kept), milestone=look), tmp_path, Telling())
    own = found.weights(0)
    assert list(seen) == [2, 4, 6]
    assert all(np.array_equal(own[name], value) for name, value in seen[step].items())
    assert not all(np.array_equal(own[name], value) for name, value in seen[6].items())
