"""Members as lines of JSON."""

import timeit

from humboldt.core.identity import Evaluation, Training
from humboldt.core.results import Result, Scores, State
from humboldt.storage.exports import exported

TRAINING = Training("chomsky", "parity_check", "rnn", "jax", {}, {})

CURVE = {"steps": [1, 2], "loss": [3.0, 1.0], "accuracy": [0.5, 0.75]}
END = {"loss": 2.0, "accuracy": 0.625}


def result(seed: int, environment: dict[str, str], score: float = 0.5) -> Result:
    detail = {"training": CURVE, "shortcuts": 1, "kept": seed}
    return Result({"seed": seed}, State.FINISHED, {"score": score}, 1.0, detail, environment)


def test_equal_environments_are_written_once_and_curves_of_the_best_alone():
    first, second = {"device": "a", "python": "3"}, {"device": "b"}
    results = (
        result(0, first),
        result(1, dict(reversed(first.items())), 0.9),
        result(2, second),
        result(3, dict(first)),
    )
    entry = exported(Scores(TRAINING, Evaluation("score"), results), format=2, headline="score")
    assert entry["environments"] == [first, second]
    assert [one["environment"] for one in entry["results"]] == [0, 0, 1, 0]
    assert [one["detail"] for one in entry["results"]] == [
        {"shortcuts": 1, "kept": 0, "end": END},
        {"training": CURVE, "kept": 1},
        {"kept": 2, "end": END},
        {"kept": 3, "end": END},
    ]


def test_the_time_grows_with_the_number_of_members():
    def seconds(members: int) -> float:
        results = tuple(result(seed, {"device": "cpu"}) for seed in range(members))
        scores = Scores(TRAINING, Evaluation("score"), results)
        return min(timeit.repeat(lambda: exported(scores, format=2, headline="score"), number=1, repeat=3))

    seconds(100)
    assert seconds(8_000) < 40 * max(seconds(800), 1e-3)  # the square would be a hundred times as much
