"""The shared, batched, early-stopping evaluation against one that reads every string by itself."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest

from humboldt.core.stepping import FromPrefixes
from humboldt.errors import UsageError
from humboldt.languages.bliss import NAMES, Measure, get
from humboldt.measures.bliss import Oracle, Persistent, Uniform, evaluate
from humboldt.models.stepping.jax_stepper import Padded

DET, CAT = Measure.DETERMINISTIC, Measure.CATEGORICAL


def faulty(language, rate, seed):
    """A model that is the language itself, except after some prefixes, chosen by their content."""

    def predict(prefixes):
        rows = []
        for prefix in prefixes:
            symbols = language.input_alphabet.decode(prefix)
            right = language.next_distribution(symbols)
            rng = np.random.default_rng([seed, len(prefix), *prefix])
            rows.append(rng.dirichlet(np.ones(len(right))) if rng.random() < rate else right)
        return np.array(rows)

    return predict


def one_by_one(test_set, predict, epsilons):
    """The definitions, word for word: no sharing, no batches, no stopping."""
    language = test_set.language
    outcome = {}
    divergence = []
    for epsilon in epsilons:
        det, cat = [], []
        for string in test_set:
            valid, deterministic = language.valid_mask(string), language.deterministic_mask(string)
            target = language.input_alphabet.encode([*string, "#"])
            wrong_det, wrong_cat = 0, 0
            for cut in range(len(string) + 1):
                q = predict(language.input_alphabet.encode(["#", *string[:cut]])[None])[0]
                if deterministic[cut]:
                    wrong_det += not all(q[target[cut]] > q[x] for x in range(len(q)) if x != target[cut])
                wrong_cat += not all(q[x] > epsilon if valid[cut, x] else q[x] <= epsilon for x in range(len(q)))
                p = language.next_distribution(string[:cut])
                if epsilon == epsilons[0]:
                    divergence.append(sum(a * math.log2(a / b) for a, b in zip(p, q, strict=True) if a > 0))
            det.append((wrong_det, int(deterministic.sum())))
            cat.append((wrong_cat, len(string) + 1))
        for measure, counts in ((DET, det), (CAT, cat)):
            steps = sum(count for _, count in counts)
            errors = sum(wrong for wrong, _ in counts)
            if steps == 0:
                continue
            share = Fraction(str(epsilon)) if measure is DET else 0
            rejected = [i for i, (wrong, count) in enumerate(counts) if wrong > share * count]
            first = rejected[0] if rejected else None
            outcome[measure, epsilon] = {
                "errors": errors,
                "steps": steps,
                "met_over_test_set": errors <= share * steps,
                "met_per_string": not rejected,
                "first_failure": None if first is None else test_set[first],
                "largest_accepted": 0 if first == 0 else language.size(test_set[(first or len(test_set)) - 1]),
            }
    return outcome, float(np.mean(divergence))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rate, seed", [(0, 1), (0.01, 2), (0.01, 3), (0.1, 4)])
def test_against_one_by_one(name, rate, seed):
    language = get(name)
    test_set = language.test_set(after=2, count=25)
    epsilons = (0.1, 0.005, 0.0)
    predict = faulty(language, rate, seed)
    expected, divergence = one_by_one(test_set, predict, epsilons)
    for most_rows in (100, 4):
        found = evaluate(test_set, FromPrefixes(predict), epsilons=epsilons, exhaustive=True, most_rows=most_rows)
        assert found.complete
        assert found.symbols == sum(len(string) + 1 for string in test_set)
        assert found.test_set_divergence == pytest.approx(divergence)
        assert {(s.measure, s.epsilon) for s in found.scores} == set(expected)
        for score in found.scores:
            fields = {k: v for k, v in dataclasses.asdict(score).items() if k not in ("measure", "epsilon")}
            assert fields == expected[score.measure, score.epsilon]
            assert score.accuracy == pytest.approx(1 - score.errors / score.steps)
        early = evaluate(test_set, FromPrefixes(predict), epsilons=epsilons, most_rows=most_rows)
        for score in early.scores:  # stopping early changes no verdict, nor which string fails first
            truth = expected[score.measure, score.epsilon]
            for key in ("met_over_test_set", "met_per_string", "first_failure", "largest_accepted"):
                assert getattr(score, key) == truth[key]
        assert early.complete or not any(score.met_over_test_set for score in early.scores)


def test_padding_changes_nothing():
    language = get("dyck_2")
    test_set = language.test_set(after=4, count=60)
    model = FromPrefixes(faulty(language, 0.02, 5))
    seen = set()

    class Recorder(FromPrefixes):
        def step(self, state, symbols):
            seen.add(len(symbols))
            return super().step(state, symbols)

    padded = evaluate(test_set, Padded(Recorder(tolerant(model.function)), smallest=8), exhaustive=True)
    assert padded == evaluate(test_set, model, exhaustive=True)
    assert seen == {8, 16, 32, 64}


def tolerant(predict):
    """Rows added by padding read strings that are in no language."""

    def call(prefixes):
        rows = []
        for prefix in prefixes:
            try:
                rows.append(predict(prefix[None])[0])
            except UsageError:
                rows.append(np.full(5, 0.2))
        return np.array(rows)

    return call


class Counted:
    """Counts what a stepper is asked for."""

    def __init__(self, stepper):
        self.stepper, self.calls, self.rows, self.most = stepper, 0, 0, 0

    def init(self, count):
        return self.stepper.init(count)

    def step(self, state, symbols):
        self.calls, self.rows, self.most = self.calls + 1, self.rows + len(symbols), max(self.most, len(symbols))
        return self.stepper.step(state, symbols)

    def take(self, state, rows):
        return self.stepper.take(state, rows)


def test_common_beginnings_are_read_once():
    language = get("an_bn")
    model = Counted(Oracle(language))
    found = evaluate(language.test_set(after=20, count=100), model)
    assert found.symbols == sum(2 * n + 1 for n in range(21, 121))
    # `#` and the a's once, and for every n its b's.
    assert model.rows == found.prefixes == 121 + sum(range(21, 121))


def test_memory_is_bounded():
    language = get("an_bm_cn_plus_m")
    model = Counted(Oracle(language))
    assert evaluate(language.test_set(after=3, count=500), model, most_rows=50).score(DET, 0).met()
    assert model.most <= 50


def test_stops_at_the_first_error_where_none_is_allowed():
    language = get("dyck_1")
    model = Counted(Uniform(3))
    found = evaluate(language.test_set(after=20, count=5000), model)
    assert not found.complete
    assert model.calls == 1


def test_stops_when_the_budget_is_spent():
    language = get("an_bn")
    test_set = language.test_set(after=20, count=1000)
    model = Counted(Uniform(3))
    found = evaluate(test_set, model)
    budget = int(0.005 * test_set.deterministic_steps.sum())
    assert not found.complete
    assert budget < found.score(DET, 0.005).errors < budget + 100
    assert model.calls < 150


def test_goes_on_only_for_the_first_failing_string():
    """The model errs early in the string with n = 60, and late in the one with n = 50: that one comes first.

    By M_cat, n = 25 is first; that must not end the search for the first string that fails by M_det.
    """
    language = get("an_bn")

    def predict(prefixes):
        a, b = (prefixes == 1).sum(1), (prefixes == 2).sum(1)
        right = np.array([language.next_distribution("a" * i + "b" * j) for i, j in zip(a, b, strict=True)])
        rows = np.where(((a == 60) & (b == 1))[:, None], [1.0, 0, 0], right)
        rows = np.where(((a == 50) & (b == 50))[:, None], [0, 1.0, 0], rows)
        return np.where(((a == 25) & (b == 3))[:, None], [0.1, 0, 0.9], rows)

    model = Counted(FromPrefixes(predict))
    found = evaluate(language.test_set(after=20, count=60), model, epsilons=(0.0,))
    assert found.score(DET, 0).first_failure == "a" * 50 + "b" * 50
    assert found.score(DET, 0).largest_accepted == 49
    assert found.score(CAT, 0).first_failure == "a" * 25 + "b" * 25
    assert not found.complete
    assert model.calls == 101  # of 161


def test_the_margin_is_exact():
    """One error in a string with 200 deterministic steps is 0.005: allowed. In one with 199 it is not."""
    language = get("an_bn")
    for n, accepted in ((200, True), (199, False)):
        found = evaluate(language.test_set(after=n - 1, count=1), Persistent(3, 2), exhaustive=True)
        assert found.score(DET, 0.005).errors == 1
        assert found.score(DET, 0.005).met_per_string is accepted
        assert found.score(DET, 0.005).met_over_test_set is accepted


def test_a_tie_is_an_error():
    language = get("an_bn")
    undecided = FromPrefixes(lambda prefixes: np.tile([0.4, 0.2, 0.4], (len(prefixes), 1)))
    score = evaluate(language.test_set(after=2, count=3), undecided, exhaustive=True).score(DET, 0)
    assert score.errors == score.steps


def test_categorical_thresholds_are_as_defined():
    """p = ε is too little for a symbol that can follow, and not too much for one that cannot."""
    language = get("dyck_1")

    def predict(epsilon_at_invalid):
        def call(prefixes):
            rows = np.array([language.next_distribution(language.input_alphabet.decode(x)) for x in prefixes])
            valid = rows > 0
            low = np.where(valid, 0.4375, 0.125) if epsilon_at_invalid else np.where(valid, rows, 0)
            if not epsilon_at_invalid:
                low = np.where(np.arange(3) == 1, 0.125, np.where(valid, 0.875, 0))
            return low

        return call

    test_set = language.test_set(after=2, count=10)
    assert evaluate(test_set, FromPrefixes(predict(True)), epsilons=(0.125,)).score(CAT, 0.125).met()
    assert not evaluate(test_set, FromPrefixes(predict(False)), epsilons=(0.125,)).score(CAT, 0.125).met()
    assert evaluate(test_set, FromPrefixes(predict(False)), epsilons=(0.12,)).score(CAT, 0.12).met()


@pytest.mark.parametrize(
    "values, fault",
    [
        ([0.5, 0.5, 0.5], "sums to 1.5"),
        ([float("nan"), 0.5, 0.5], "holds NaN"),
        ([-0.5, 1.0, 0.5], "holds a negative value"),
        ([float("inf"), 0, 0], "sums to inf"),
    ],
)
def test_what_is_no_distribution_names_the_prefix(values, fault):
    language = get("an_bn")

    def predict(prefixes):
        rows = np.array([language.next_distribution(language.input_alphabet.decode(x)) for x in prefixes])
        at_fault = ((prefixes == 1).sum(1) == 4) & ((prefixes == 2).sum(1) == 2)
        return np.where(at_fault[:, None], values, rows)

    with pytest.raises(UsageError, match=f"After '# a a a a b b' the model's distribution .* {fault}.*softmax"):
        evaluate(language.test_set(after=2, count=5), FromPrefixes(predict))


def test_other_wrong_input():
    language = get("an_bn")
    test_set = language.test_set(after=2, count=5)
    with pytest.raises(UsageError, match=r"shape \(1, 4\) after '#'.* 3 symbols has shape \(1, 3\)"):
        evaluate(test_set, Uniform(4))
    with pytest.raises(UsageError, match=r"epsilon = 1.5 is not in \[0, 1\)"):
        evaluate(test_set, Uniform(3), epsilons=(1.5,))
    with pytest.raises(UsageError, match="No margin was given"):
        evaluate(test_set, Uniform(3), epsilons=())
    with pytest.raises(UsageError, match="A batch of 0 rows is empty"):
        evaluate(test_set, Uniform(3), most_rows=0)
    with pytest.raises(UsageError, match="M_det at epsilon 0 was not measured"):
        dyck = get("dyck_1")
        evaluate(dyck.test_set(after=2, count=2), Oracle(dyck)).score(DET, 0)


def test_single_precision_passes():
    language = get("an_bn")

    def predict(prefixes):
        return np.full((len(prefixes), 3), 1 / 3, np.float32)

    assert not evaluate(language.test_set(after=2, count=5), FromPrefixes(predict)).score(DET, 0).met()
