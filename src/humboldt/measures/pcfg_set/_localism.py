"""Localism: consistency of a model with its evaluation from the innermost constituents out (section 6.5)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from humboldt.errors import UsageError
from humboldt.languages.pcfg_set import PCFG_SET, Language, String, Tree, innermost, meaning, parse, reduce, show
from humboldt.measures.pcfg_set._consistency import consistency
from humboldt.measures.pcfg_set._score import Score, check_lengths

LONGEST_TRAINED_STRING = 5  # section 4.3.2: string arguments have at most five letters

Predict = Callable[[list[str]], Sequence[str]]


@dataclass(frozen=True)
class Unrolled:
    """One expression, evaluated constituent by constituent.

    - `output`: the model's output for the outermost function, given its own outputs for the arguments.
    - `steps`: every constituent that was given to the model, with its output, innermost first. The last is the
      outermost.
    """

    output: str
    steps: tuple[tuple[str, str], ...]

    @property
    def longest_intermediate(self) -> int:
        """The number of symbols of the longest output that was fed back to the model; 0 if there was none."""
        return max((len(output.split()) for _, output in self.steps[:-1]), default=0)


def unroll(sources: Sequence[str], predict: Predict, language: Language = PCFG_SET) -> list[Unrolled]:
    """Evaluates expressions with a model constituent by constituent, and replaces constituents by its outputs.

    All expressions are unrolled in parallel: `predict` is called once for each level of nesting, with the innermost
    constituents of all of them. Outputs are inserted unchanged, even if they are empty or have symbols that are not
    letters: the next input may then be `append , A B`.

    **Arguments:** `predict` is given a list of sources and returns as many outputs.

    >>> from humboldt.languages.pcfg_set import interpret
    >>> unroll(["echo append C , prepend B , A"], lambda sources: [interpret(source) for source in sources])[0].steps
    (('prepend B , A', 'A B'), ('append C , A B', 'C A B'), ('echo C A B', 'C A B B'))
    """
    trees: list[Tree] = [parse(source, language) for source in sources]
    steps: list[list[tuple[str, str]]] = [[] for _ in sources]
    while True:
        constituents = [innermost(tree) for tree in trees]
        inputs = [show(constituent) for row in constituents for constituent in row]
        if not inputs:
            break
        outputs = list(predict(inputs))
        if len(outputs) != len(inputs):
            raise UsageError(f"The model was given {len(inputs)} sources and returned {len(outputs)} outputs.")
        place = 0
        for item, row in enumerate(constituents):
            given = outputs[place : place + len(row)]
            steps[item] += zip(inputs[place : place + len(row)], given, strict=True)
            trees[item] = reduce(trees[item], [tuple(output.split()) for output in given])
            place += len(row)
    return [Unrolled(show(tree), tuple(row)) for tree, row in zip(trees, steps, strict=True)]


def longest_intermediate(source: str, language: Language = PCFG_SET) -> int:
    """Returns the length of the longest meaning of a proper constituent, which is fed back if all outputs are right."""
    longest = 0
    tree = parse(source, language)
    while not isinstance(tree, String):
        values = [meaning(constituent).letters for constituent in innermost(tree)]
        tree = reduce(tree, values)
        if not isinstance(tree, String):
            longest = max(longest, *map(len, values))
    return longest


def localism_consistency(
    targets: Sequence[str],
    outputs: Sequence[str],
    unrolled_outputs: Sequence[str],
    longest_intermediates: Sequence[int],
    *,
    num_functions: Sequence[int] | None = None,
    longest_trained: int = LONGEST_TRAINED_STRING,
) -> Score:
    """Returns the share of items for which unrolling does not change the output, right or wrong.

    The breakdown `intermediate_strings` divides items by whether a string longer than any in training was fed back
    (`more than 5`, or `at most 5`).

    **Arguments:** `longest_intermediates` is `Unrolled.longest_intermediate` of each item.
    """
    check_lengths(targets=targets, unrolled_outputs=unrolled_outputs, longest_intermediates=longest_intermediates)
    labels = (f"at most {longest_trained}", f"more than {longest_trained}")
    by: dict[str, Sequence[str] | Sequence[int]] = {
        "intermediate_strings": [labels[longest > longest_trained] for longest in longest_intermediates]
    }
    if num_functions is not None:
        by["num_functions"] = num_functions
    return consistency(targets, outputs, unrolled_outputs, by=by)
