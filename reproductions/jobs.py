"""Writes the lists of commands that fill the papers' tables and the references, for `reproductions/lanes.py`.

    python reproductions/jobs.py

Each file of `reproductions/jobs` is one table or a few, in the order in which they are wanted; each line is one
training or a few, with the GPU memory that it needs, in GiB, before it. A sitting of ten minutes is

    python reproductions/lanes.py OUT 540 --file reproductions/jobs/1_chomsky_table_2.txt --lanes 7 --back BACK

and the same again until it exits with 0: commands that have succeeded are listed in BACK/done.txt and are not run
again, the others resume in OUT. The lists have what is on record, too;

    python reproductions/jobs.py NAME_OR_FILE ...

prints the commands of lists that would add something to the records and references. Numbers of steps, seeds and test
strings are smaller than in the papers where that is written in the command; `humboldt show` then lists the departures.
`reproductions/sitting.sh` runs several lists at once, without what is on record, and `reproductions/integrate.py` adds
what they made to the records.
"""

import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

from humboldt.languages import tasks
from humboldt.running.bench import misfit
from humboldt.running.budgets import size_for
from humboldt.suites import benched, catalogue, plans, suites
from humboldt.suites.answers import SELECTION_SEEDS
from humboldt.suites.bench import BUDGETS, PREFIX
from humboldt.suites.bias.protocol import FIRST_SIZES, LEARNERS
from humboldt.suites.bias.protocol import TASKS as BIAS_TASKS
from humboldt.suites.bliss.protocol import CONTENDERS
from humboldt.suites.bliss.protocol import TASKS as BLISS_TASKS
from humboldt.suites.chomsky.protocol import TASKS as CHOMSKY_TASKS
from humboldt.suites.experiments import Experiment
from humboldt.suites.pcfg_set.protocol import TASKS as PCFG_SET_TASKS
from humboldt.suites.plans import Request
from humboldt.suites.reading import stored

FOLDER = Path(__file__).parent / "jobs"
RUN = "${PYTHON:-python3} -m humboldt run"
SHORT = "--set steps=10000 --set num_test_lengths=47 --set strings_per_length=128"
SYNTAX = ("adj_n_np", "np_n_vp_n", "nested_dependency", "cross_serial_dependency")
GENERATORS = {"a5": (2, 6, 8, 12), "s5": (4, 8, 32)}  # Table 3 of Terzić et al. (2025), of the suite `tracking`
FEWER_STEPS = {  # cells of Table 2 that are on record after fewer steps
    "rnn": ("reverse_string",),
    "lstm": ("even_pairs", "modular_arithmetic_simple", "parity_check", "cycle_navigation", "reverse_string"),
    "stack_rnn": ("even_pairs", "modular_arithmetic_simple", "parity_check", "cycle_navigation"),
}
DONE = {  # cells of Table 2 that are on record after 10,000 steps
    "rnn": ("even_pairs", "modular_arithmetic_simple", "parity_check", "cycle_navigation"),
    "lstm": ("bucket_sort",),
    "stack_rnn": ("reverse_string",),
}
REFERENCES = (  # those that gain most by a GPU first; processor cores begin with the last (`lanes.py --reversed`)
    *("transformer", "gated_deltanet", "mamba", "deltanet", "slstm", "mlstm", "rwkv7", "xlstm", "gla", "mamba2"),
    *("transformer_alibi", "transformer_nope", "transformer_fire", "transformer_random_rope"),
    *("gated_deltaproduct", "deltaproduct", "tape_rnn", "hgrn2", "retnet", "linear_attention", "ndstack_rnn"),
    *("s4d", "lru", "mingru"),
)
LARGE_SUITES = ("chomsky", "pcfg_set")  # a command for each task
CLASSIFIERS = ("transformer_encoder", "transformer_decoder", "bilstm", "lstm")


def line(memory: int, suite: str, options: str) -> str:
    """Returns one line of a list."""
    return f'{memory}:{RUN} {suite} --preset {options} --no-estimate --out "$OUT"'


def references(preset: str, families: tuple[str, ...], suite_names: tuple[str, ...], memory: int) -> Iterator[str]:
    """What `humboldt bench FAMILY --seeds 5` trains, family by family, without its tables and its page."""
    for family in families:
        model = f"family/{family}"
        sizes = size_for(model, BUDGETS[preset])
        size = " ".join(f"--set {key}={value}" for key, value in sizes.items())
        for suite in map(suites.get, suite_names):
            if misfit(suite.name, model, preset, sizes):
                continue
            chosen = catalogue.preset(suite, preset)
            chooses = len(chosen.changes["learning_rates"]) > 1 and suite.name != "bias"
            seeds = 5 + SELECTION_SEEDS * chooses
            for task in (chosen.tasks or ()) if suite.name in LARGE_SUITES else ("",):
                part = f" --task {task}" if task else ""
                yield line(memory, suite.name, f"{preset}{part} --model {model} {size} --seeds {seeds}")


def quick_references() -> Iterator[str]:
    """References of the quick bench, of all families that have none yet."""
    names = ("tracking", "recognition", "syntax", "bias", "bliss", "pcfg_set", "chomsky")
    yield from references(f"{PREFIX}quick", REFERENCES, names, 6)


def standard_references() -> Iterator[str]:
    """References of the standard bench, of four families."""
    for names in (("syntax", "pcfg_set"), ("tracking", "recognition"), ("chomsky",), ("bliss", "bias")):
        yield from references(f"{PREFIX}standard", ("rnn", "lstm", "stack_rnn", "transformer"), names, 12)


def chomsky_table_2() -> Iterator[str]:
    """All 75 cells at equal steps: 30 members, or ten of one setting of the sweep for the two slow models."""
    models = (
        ("rnn", 10, ""),
        ("stack_rnn", 14, ""),
        ("lstm", 12, ""),
        ("transformer_encoder", 20, " --set positions=relative --set learning_rates=0.0003"),
        ("tape_rnn", 16, " --set num_tapes=1 --set learning_rates=0.0003"),
    )

    def cells(which: Iterable[tuple[str, int, str]], chosen: Callable[[str, str], bool]) -> list[str]:
        """Returns the commands of the chosen tasks of some models."""
        lines = []
        for model, memory, few in which:
            for task in [task for task in CHOMSKY_TASKS if chosen(model, task)]:
                answers_at_once = tasks.get(f"chomsky/{task}")().answers_at_every_step  # pyright: ignore[reportAttributeAccessIssue]
                tokens = f" --set computation_tokens={int(not answers_at_once)}" if model == "tape_rnn" else ""
                lines.append(line(memory, "chomsky", f"paper --task {task} --model {model} {SHORT}{few}{tokens}"))
        return lines

    fewer = {(model, task) for model, own in FEWER_STEPS.items() for task in own}
    done = {(model, task) for model, own in DONE.items() for task in own}
    quick = cells(models[:3], lambda *cell: cell not in fewer | done) + cells(models[:3], lambda *cell: cell in fewer)
    slow = cells(models[3:], lambda *cell: True)  # hosts, not the GPU, are busy with these: two others to each of them
    while quick or slow:
        yield from (*quick[:2], *slow[:1])
        quick, slow = quick[2:], slow[1:]
    yield from cells(models[:3], lambda *cell: cell in done)


def chomsky_rest() -> Iterator[str]:
    """The models of Table B.2, one setting of each sweep."""
    for model, memory, few in (
        ("stack_lstm", 16, ""),
        ("cnn", 16, " --set kernel_size=7"),
        ("ndstack_rnn", 40, " --set num_stack_symbols=2 --set read_states=true --set learning_rates=0.0003"),
    ):
        for task in CHOMSKY_TASKS:
            yield line(memory, "chomsky", f"paper --task {task} --model {model} {SHORT}{few}")


def chomsky_million_steps() -> Iterator[str]:
    """Four cells of Table 2 at the paper's full setting: a million steps, 30 members, all test strings."""
    for model, memory in (("rnn", 10), ("stack_rnn", 14)):
        for task in ("parity_check", "reverse_string"):
            yield line(memory, "chomsky", f"paper --task {task} --model {model}")


def bliss_table_2() -> Iterator[str]:
    """The paper's whole grid of networks that are trained by gradients, and the searches that are missing."""
    for model in (name for name in CONTENDERS if name != "mdlrnn"):
        for language in BLISS_TASKS:
            yield line(16, "bliss", f"paper --task {language} --model {model}")
    yield line(1, "bliss", "paper --task dyck_2 --model mdlrnn")


def pcfg_set_table_1() -> Iterator[str]:
    """All 21 cells on the current corpus; localism is a test of the models of the base task."""
    for task in PCFG_SET_TASKS:
        for model, memory in (("lstm_s2s", 30), ("conv_s2s", 40), ("transformer", 45)):
            rate = " --set rates=0.001" if task == "overgeneralisation" else ""
            yield line(memory, "pcfg_set", f"paper --task {task} --model {model} --keep all{rate}")


def bias_agreement() -> Iterator[str]:
    """Agreement in all cells of Tables 1 and 2, in the text of appendix D, and with SGD (appendix C)."""
    missing = [
        *(("count_or_memorization", "l=30", learner) for learner in LEARNERS),
        *(("add_or_multiply", f"l={size}", learner) for size in (15, 10, 5) for learner in LEARNERS),
        *(("composition_or_memorization", "M=36", learner) for learner in LEARNERS[2:]),
        *(("composition_or_memorization", f"M={size}", learner) for size in (24, 6) for learner in LEARNERS),
        *(("multiply_by_3", f"l={size}", learner) for size in (20, 15, 5) for learner in LEARNERS),
    ]
    on_record = [
        *(("count_or_memorization", f"l={size}", learner) for size in (40, 20, 10) for learner in LEARNERS),
        *(("add_or_multiply", "l=20", learner) for learner in LEARNERS),
        *(("composition_or_memorization", "M=36", learner) for learner in LEARNERS[:2]),
        *(("multiply_by_3", "l=10", learner) for learner in LEARNERS),
        *(("hierarchical_or_linear", "d=4", learner) for learner in LEARNERS),
    ]
    for task, size, learner in (*missing, *on_record):
        options = f"--set {size} --set precision=tf32 --set description_length=false"
        yield line(20, "bias", f"paper --task {task} --model {learner} {options}")
    for task in BIAS_TASKS[5:]:
        for learner in LEARNERS:
            yield line(20, "bias", f"paper --task {task} --model {learner} --set description_length=false")
    for task in BIAS_TASKS[:4]:
        yield line(20, "bias", f"paper --task {task} --model joint_attention --set description_length=false")
        of_task = " ".join(f"--set {key}={value}" for key, value in FIRST_SIZES[task].items())
        for learner in LEARNERS:
            options = f"{of_task} --set optimiser=sgd --seeds 20 --set description_length=false"
            yield line(20, "bias", f"paper --task {task} --model {learner} {options}")


def bias_lengths() -> Iterator[str]:
    """Description lengths, those with the fewest trainings first; then with the moments that Adam keeps."""
    cells = [
        ("hierarchical_or_linear", "d=4"),
        ("composition_or_memorization", "M=36"),
        *(("add_or_multiply", f"l={size}") for size in (5, 10, 15, 20)),
    ]
    for task, size in cells:
        for learner in LEARNERS:
            yield line(40, "bias", f"paper --task {task} --model {learner} --set {size}")
    for learner in LEARNERS:
        options = f"--task hierarchical_or_linear --model {learner} --set moments=kept"
        yield line(40, "bias", f"paper {options}")


def bias_appendices() -> Iterator[str]:
    """Tables 3 to 6, then Figure 3."""
    for table in ("table_3", "table_4", "table_5", "table_6"):
        for task in BIAS_TASKS[:4]:
            for learner in LEARNERS:
                options = f"{table} --task {task} --model {learner} --set description_length=false"
                yield line(20, "bias", options)
    for learner in LEARNERS:
        yield line(60, "bias", f"figure_3 --model {learner}")


def syntax_tables() -> Iterator[str]:
    """Table 2 (Zipf's law), then Table 3 (uniform), which the paper prints with the numbers of Table 2."""
    everything = (("zipf", (5, 10, 1000, 5000)), ("zipf", (2, 100)), ("uniform", (2, 5, 10, 100, 1000, 5000)))
    for distribution, sizes in everything:
        for size in sizes:  # those of Table 2 that are not on record first
            for language in SYNTAX:
                for model in CLASSIFIERS:
                    precision = " --set precision=bfloat16" if model.startswith("transformer") else ""
                    options = f"--set terminals={size} --set distribution={distribution}{precision}"
                    yield line(20, "syntax", f"paper --task {language} --model {model} {options}")


def tracking_tables() -> Iterator[str]:
    """The cells of Table 3 of Terzić et al. (2025), with a tenth of the steps and one rate of the grid."""
    short = "--set steps=10000 --set learning_rates=0.0005 --set num_test_lengths=37"
    for model, layers in (("family/gated_deltaproduct", (1, 2)), ("lstm", ()), ("rnn", ())):
        for depth in layers or (0,):
            for task, counts in GENERATORS.items():
                for count in counts:
                    size = f" --set layers={depth}" if depth else ""
                    options = f"paper --task {task} --model {model} --set generators={count}{size} {short}"
                    yield line(12, "tracking", options)


LISTS = {
    "0_quick_references": quick_references,
    "1_chomsky_table_2": chomsky_table_2,
    "2_bliss_table_2": bliss_table_2,
    "3_pcfg_set_table_1": pcfg_set_table_1,
    "4_bias_agreement": bias_agreement,
    "5_bias_lengths": bias_lengths,
    "6_syntax_tables_2_and_3": syntax_tables,
    "7_chomsky_table_b2": chomsky_rest,
    "8_bias_appendices": bias_appendices,
    "9_standard_references": standard_references,
    "10_tracking_table_3": tracking_tables,
    "11_chomsky_million_steps": chomsky_million_steps,
}


@cache
def text_of(name: str) -> str:
    """Returns the text of a list."""
    make = LISTS[name]
    return "".join(f"{each}\n" for each in (f"# {make.__doc__ or ''}".split("\n")[0], *make()))


def planned(command: str) -> list[Experiment]:
    """Returns the experiments of a command of a list."""
    words = shlex.split(command.partition(RUN)[2])
    named, models, settings, preset, seeds = [], [], {}, "", None
    for option, value in zip(words[1::2], words[2::2], strict=False):
        if option == "--no-estimate":
            break
        named += [value] if option == "--task" else []
        models += [value] if option == "--model" else []
        settings |= dict([value.split("=", 1)]) if option == "--set" else {}
        preset = value if option == "--preset" else preset
        seeds = int(value) if option == "--seeds" else seeds
    return plans.plan(suites.get(words[0]), Request(tuple(named), tuple(models), preset, seeds, settings))


@cache
def recorded() -> Counter[str]:
    """Returns the number of members on record of each evaluation of a training, by its key."""
    counts = Counter[str]()
    for scores in (*stored(FOLDER.parent), *benched.reference_scores()):
        counts[scores.evaluation.key_for(scores.training)] += len(scores.results)
    return counts


def is_open(command: str) -> bool:
    """Returns whether members of a command's experiments are not on record; of any other command, true."""
    return RUN not in command or any(
        recorded()[evaluation.key_for(experiment.training)] < len(experiment.members)
        for experiment in planned(command)
        for evaluation in experiment.evaluations
    )


def main(lists: Iterable[str]) -> None:
    """Writes all lists or, given lists, prints what is open of them."""
    for name in lists:
        path = FOLDER / f"{name}.txt"
        lines = (path if path.exists() else Path(name)).read_text(encoding="utf-8").splitlines()
        print(*(each for each in lines if not each.startswith("#") and is_open(each)), sep="\n")
    if lists:
        return
    FOLDER.mkdir(exist_ok=True)
    for name in LISTS:
        (FOLDER / f"{name}.txt").write_text(text_of(name), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
