from chomsky_support import every_string, make, oracle

TASK = make("even_pairs")


def test_same_as_comparing_both_ends():
    for length in range(1, 11):
        for source in every_string("ab", length):
            assert oracle(TASK, source) == ("b" if source[0] == source[-1] else "a")
