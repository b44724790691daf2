"""Are languages from files right? Counts, uniform samples, and the verdicts about random networks, against slow forms.

    python benchmarks/language_files.py > record.json

Claims: the numbers of strings of 200 random regular expressions, 200 random automata and 100 random grammars (ambiguous
and improper ones among them) are those of brute force, exactly; samples are uniform (chi-square, no p-value below
0.05 / number of tests); the four context-free languages of BLISS, written as files, give 1,000 random networks the
verdicts that the built-in languages give. The exit status is 1 if a claim fails.
"""

import collections
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from _record import report
from scipy.stats import chisquare, kstest

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from languages.bliss.own_support import FILES, compared, random_network
from languages.formal.brute_force import numbers_of_derivations, random_grammar
from languages.formal.regular_support import RandomRegex, all_strings, language_of, random_automaton

from humboldt.errors import UsageError
from humboldt.languages.formal.language import AbstractLanguage, ContextFreeLanguage, RegularLanguage
from humboldt.languages.formal.regex import parse_regex

LONGEST = 6
DRAWS = 20  # for each string
FEWEST, MOST = 2, 60  # strings of a length that is sampled
NETWORKS = 1_000


def checked(language: AbstractLanguage, strings: set[tuple[str, ...]], rng: np.random.Generator) -> dict[str, Any]:
    """Compares counts with the strings themselves, and draws from the longest length that has few enough."""
    by_length = [sorted(string for string in strings if len(string) == length) for length in range(LONGEST + 1)]
    found: dict[str, Any] = {"wrong": sum(language.count(n) != len(each) for n, each in enumerate(by_length))}
    fitting = [n for n, each in enumerate(by_length) if FEWEST <= len(each) <= MOST]
    if fitting:
        few = by_length[fitting[-1]]
        try:
            drawn = collections.Counter(language.uniform(rng, count=DRAWS * len(few), length=fitting[-1]))
        except UsageError:  # so ambiguous that fewer than 1 in 1,000 would be accepted
            return {**found, "refused": 1}
        found["outside"] = len(set(drawn) - set(few))
        found["p"] = float(chisquare([drawn[string] for string in few]).pvalue)
    return found


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What many languages have together."""
    values = [row["p"] for row in rows if "p" in row]
    return {
        "languages": len(rows),
        "counts_wrong": sum(row["wrong"] for row in rows),
        "outside_the_language": sum(row.get("outside", 0) for row in rows),
        "refused_as_too_ambiguous": sum(row.get("refused", 0) for row in rows),
        "sampled": len(values),
        "smallest_p": min(values),
        "p_values_uniform": float(kstest(values, "uniform").pvalue),
    }


def main() -> None:
    rng = np.random.default_rng(0)
    rows: dict[str, list[dict[str, Any]]] = {"regex": [], "automaton": [], "grammar": []}
    for _ in range(200):
        regex = RandomRegex(rng, "ab", int(rng.integers(2, 10)))
        matched = {string for string in all_strings("ab", LONGEST) if regex.accepts(string)}
        rows["regex"].append(checked(RegularLanguage(parse_regex(regex.text)), matched, rng))
        automaton = random_automaton(rng, states=int(rng.integers(1, 6)), symbols=int(rng.integers(1, 4)))
        rows["automaton"].append(checked(RegularLanguage(automaton), language_of(automaton, LONGEST), rng))
    improper = ambiguous = 0
    for seed in range(100):
        grammar = random_grammar(seed)
        parses = numbers_of_derivations(grammar, LONGEST)
        language = ContextFreeLanguage(grammar)
        improper += bool(grammar.useful) and not language.properness.is_proper
        ambiguous += any(count > 1 for count in parses.values())
        rows["grammar"].append(checked(language, {string for string, count in parses.items() if count}, rng))
    results: dict[str, Any] = {kind: summary(each) for kind, each in rows.items()}
    results["grammar"] |= {"improper": improper, "ambiguous": ambiguous}
    results["verdicts"] = {}
    with TemporaryDirectory() as folder:
        for name in FILES:
            own, built = compared(name, Path(folder))
            pairs = [random_network(name, seed) for seed in range(NETWORKS)]
            verdicts = [(own(network), built(network)) for network in pairs]
            results["verdicts"][name] = {
                "networks": len(verdicts),
                "different": sum(one != other for one, other in verdicts),
                "meeting_some_criterion": sum(any(score[-2] for score in other) for _, other in verdicts),
            }
            print(name, results["verdicts"][name], file=sys.stderr)
    tests = sum(results[kind]["sampled"] for kind in rows)
    passed = (
        not any(results[kind][fault] for kind in rows for fault in ("counts_wrong", "outside_the_language"))
        and min(results[kind]["smallest_p"] for kind in rows) > 0.05 / tests
        and not any(each["different"] for each in results["verdicts"].values())
    )
    report("language_files", {"longest": LONGEST, "draws_per_string": DRAWS, **results, "passed": passed})
    sys.exit(not passed)


if __name__ == "__main__":
    main()
