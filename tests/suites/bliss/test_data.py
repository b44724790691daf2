from typing import cast

import pytest

from humboldt.errors import UsageError
from humboldt.suites import suites
from humboldt.suites.capabilities import OffersData

SUITE = cast(OffersData, suites.get("bliss"))


def data(task: str, split: str | None = None, count: int = 3, seed: int = 100, length: int | None = None, **settings):
    return list(SUITE.data(task, split=split, count=count, length=length, seed=seed, settings=settings))


def test_training_strings_and_those_that_come_next():
    assert data("an_bn", "train", p="0.3")[0] == (["#", "a", "a", "b", "b"], ["a", "a", "b", "b", "#"])
    assert sorted(data("an_bn")) == sorted(data("an_bn", "train"))  # the same strings, in the order of drawing
    strings = ["".join(target[:-1]) for _, target in data("dyck_1", "test", after="4")]
    assert strings == ["((()))", "(()())", "(())()"]
    assert data("an_bn") == data("an_bn") != data("an_bn", seed=101, count=30)[:3]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": "test"}, "needs --after"),
        ({"split": "dev"}, "No split named 'dev'"),
        ({"after": "3"}, "a training corpus is sampled"),
        ({"p": "0"}, "p = 0 is not a prior"),
        ({"p": "nan"}, "p"),
        ({"p": "x"}, "p must be a number"),
        ({"q": "1"}, "No setting named 'q'"),
        ({"length": 3}, "Leave --length out"),
        ({"format": "csv"}, "known formats"),
        ({"split": "test", "after": "1.5"}, "after must be a whole number"),
        ({"task": "anbn"}, "Did you mean 'an_bn'"),
    ],
)
def test_wrong_requests(options: dict, message: str):
    with pytest.raises(UsageError, match=message):
        data(**{"task": "an_bn", **options})
