from chomsky_support import drawn, every_string, make, oracle

TASK = make("cycle_navigation")


def test_all_short_walks():
    for length in range(1, 8):
        for source in every_string("012", length):
            assert oracle(TASK, source) == str((source.count("1") - source.count("2")) % 5)


def test_sampler_draws_every_short_walk():
    assert {source for source, _ in drawn(TASK, 4000, 4)} == set(every_string("012", 4))
