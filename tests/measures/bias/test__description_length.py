"""L of learners whose description lengths are known, and what is said about many seeds."""

import math
from typing import Any

import numpy as np
import pytest

from humboldt.errors import UsageError
from humboldt.languages import tasks
from humboldt.languages.bias import AbstractBiasTask
from humboldt.measures.bias import (
    DescriptionLengths,
    Measured,
    Retraining,
    description_lengths,
    measured,
    retrainings,
    summarise,
    uniform_nats,
)


def make(name: str, **settings: Any) -> AbstractBiasTask:
    task = tasks.get(f"bias/{name}")(**settings)
    assert isinstance(task, AbstractBiasTask)
    return task


SMALL = [name for name in tasks.names("bias/") if name != "bias/scan_jump"]


@pytest.mark.parametrize("name", SMALL)
def test_a_rule_played_as_a_learner_needs_no_nats_for_itself(name: str):
    task = make(name.removeprefix("bias/"))
    schedule = retrainings(task, seed=0)
    for played in task.rules:

        def code(step: Retraining, played: str = played) -> list[float]:
            """The probability of the played rule's output is 1, that of any other is 0."""
            return [0.0 if task.output(played, e.pair[0]) == e.pair[1] else math.inf for e in step.coded]

        lengths = description_lengths(task, measured(schedule, map(code, schedule)))
        assert {rule: float(lengths.of(rule)[0]) for rule in task.rules} == {
            rule: 0.0 if rule == played else math.inf for rule in task.rules
        }


def test_a_uniform_learner_needs_the_same_for_every_symbol():
    task = make("add_or_multiply", l=5)
    schedule = retrainings(task, seed=0)
    nats = [[uniform_nats(task, example.pair[1]) for example in step.coded] for step in schedule]
    lengths = description_lengths(task, measured(schedule, nats))
    # m = 2, 3, 4, 6, 7, 8; every output of n symbols has n + 1 places, each with b or the end
    assert lengths.of("add")[0] == pytest.approx(sum(m + 5 + 1 for m in (2, 3, 4, 6, 7, 8)) * math.log(2))
    assert lengths.of("mul")[0] == pytest.approx(sum(2 * m + 1 for m in (2, 3, 4, 6, 7, 8)) * math.log(2))
    assert lengths.of("mem")[0] == pytest.approx(6 * 11 * math.log(2))


def test_the_uniform_learner_counts_the_end_as_a_symbol():
    assert uniform_nats(make("hierarchical_or_linear"), ["A"]) == pytest.approx(2 * math.log(3))
    assert uniform_nats(make("scan_jump"), []) == pytest.approx(math.log(7))


def test_a_learner_that_needs_two_examples_of_a_rule_pays_for_two():
    task = make("hierarchical_or_linear")  # 16 examples in blocks of 4
    schedule = retrainings(task, seed=3)
    nats = [[0.5 if step.block < 2 else 0.0 for _ in step.coded] for step in schedule]
    lengths = description_lengths(task, measured(schedule, nats))
    assert lengths.nats.tolist() == [[4.0, 4.0]]  # 8 examples of each rule were coded before


def complete(task: AbstractBiasTask, seed: int, **nats: float) -> list[Measured]:
    return [Measured(seed, rule, source, value) for rule, value in nats.items() for source in task.holdout_inputs]


def test_sums_over_examples_by_seed_and_rule():
    task = make("add_or_multiply")
    values = [*complete(task, 7, mul=2.0, add=1.0, mem=0.0), *complete(task, 5, add=3.0, mul=0.5, mem=0.25)]
    lengths = description_lengths(task, values)
    assert lengths.seeds == (7, 5) and lengths.rules == ("add", "mul", "mem")
    assert lengths.nats.tolist() == [[6.0, 12.0, 0.0], [18.0, 3.0, 1.5]]
    assert lengths.only([5]).nats.tolist() == [[18.0, 3.0, 1.5]]
    with pytest.raises(UsageError, match="No rule named 'mum'"):
        lengths.of("mum")


def test_what_is_missing_twice_or_strange_is_named():
    task = make("add_or_multiply", l=5)
    values = complete(task, 1, add=1.0)
    with pytest.raises(
        UsageError, match=r"Seed 1, rule 'add': 1 of 6 hold-out examples are missing, the first is 'a a'"
    ):
        description_lengths(task, values[1:])
    with pytest.raises(UsageError, match=r"Seed 2, rule 'mul': 6 of 6"):
        description_lengths(task, [*complete(task, 1, add=1.0, mul=1.0), *complete(task, 2, add=1.0)])
    with pytest.raises(UsageError, match="the input 'a a' is coded twice"):
        description_lengths(task, [*values, values[0]])
    with pytest.raises(UsageError, match="the input 'a a a a a' is not a hold-out example"):
        description_lengths(task, [Measured(1, "add", ("a",) * 5, 0.0)])
    with pytest.raises(UsageError, match=r"the input 'a a' costs NaN nats. Leave out a seed whose training diverged"):
        description_lengths(task, [Measured(1, "add", ("a", "a"), math.nan)])
    with pytest.raises(UsageError, match="No rule named 'sum'"):
        description_lengths(task, [Measured(1, "sum", ("a", "a"), 0.0)])
    with pytest.raises(UsageError, match="There is no coded example"):
        description_lengths(task, [])


def lengths_of(**columns: list[float]) -> DescriptionLengths:
    values = np.array(list(columns.values())).T
    return DescriptionLengths(tuple(range(len(values))), tuple(columns), values)


def test_means_bits_and_the_preferred_rule():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=20)
    report = summarise(lengths_of(comp=list(40 + noise), mem=list(20 + noise + 0.1 * rng.normal(size=20))))
    comp, mem = report.everyone.rules
    assert comp.nats == pytest.approx(40 + noise.mean()) and comp.bits == pytest.approx(comp.nats / math.log(2))
    assert comp.interval is not None and comp.interval.low < comp.nats < comp.interval.high
    assert report.everyone.lowest == "mem" and report.everyone.preferred() == "mem"
    assert report.everyone.seeds == 20 and report.fitting is None
    assert mem.nats < comp.nats


def test_the_lowest_of_three_must_beat_every_other():
    rng = np.random.default_rng(1)
    a, b, c = (list(mean + rng.normal(size=30)) for mean in (10.0, 10.1, 50.0))
    summary = summarise(lengths_of(a=a, b=b, c=c)).everyone
    assert len(summary.comparisons) == 3
    assert summary.lowest in ("a", "b") and summary.preferred() is None  # far below c, but not below the other
    against_c = [each for each in summary.comparisons if "c" in (each.left, each.right)]
    assert all(each.p is not None and each.p < 1e-10 for each in against_c)


def test_misfits_are_left_out_of_the_second_mean():
    lengths = lengths_of(count=[1.0, 3.0, 100.0], mem=[9.0, 9.0, 9.0])
    report = summarise(lengths, fits={0: True, 1: True, 2: False})
    assert report.everyone.rules[0].nats == pytest.approx(104 / 3) and report.everyone.lowest == "mem"
    assert report.fitting is not None and report.fitting.seeds == 2
    assert report.fitting.rules[0].nats == 2.0 and report.fitting.lowest == "count"
    assert summarise(lengths, fits={0: False, 1: False, 2: False}).fitting is None
    with pytest.raises(UsageError, match="`fits` has no entry for seed 2"):
        summarise(lengths, fits={0: True, 1: True})


def test_one_seed_has_no_test_and_no_interval():
    summary = summarise(lengths_of(count=[1.0], mem=[2.0])).everyone
    assert summary.lowest == "count" and summary.lowest_p is None and summary.preferred() is None
    assert summary.rules[0].interval is None and summary.comparisons[0].difference == -1.0


def test_infinite_lengths_have_no_test():
    summary = summarise(lengths_of(count=[0.0, 0.0], mem=[math.inf, math.inf])).everyone
    assert summary.lowest == "count" and summary.lowest_p is None
    assert summary.comparisons[0].difference is None and summary.rules[1].nats == math.inf


def test_the_report_with_misfits_and_without():
    report = summarise(lengths_of(count=[0.0, 0.0], mem=[math.log(2), math.log(2)]), {0: True, 1: False})
    assert report.everyone.rules[1].bits == pytest.approx(1)
    assert report.everyone.lowest == "count" and report.everyone.lowest_p == 0.0
    assert report.fitting is not None and report.fitting.seeds == 1 and report.fitting.lowest_p is None
