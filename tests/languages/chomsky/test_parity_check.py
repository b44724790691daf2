from chomsky_support import drawn, every_string, make, oracle

TASK = make("parity_check")


def test_all_short_strings():
    for length in range(1, 11):
        for source in every_string("ab", length):
            assert oracle(TASK, source) == "ab"[source.count("b") % 2 == 0]


def test_sampler_draws_every_short_string():
    assert {source for source, _ in drawn(TASK, 2000, 5)} == set(every_string("ab", 5))
