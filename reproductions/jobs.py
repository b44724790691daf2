"""Writes the lists of commands that fill the papers' tables, for `reproductions/lanes.py`.

    python reproductions/jobs.py

Each file of `reproductions/jobs` is one table or a few, in the order in which they are wanted; each line is one
training or a few, with the GPU memory that it needs, in GiB, before it. A sitting of ten minutes is

    python reproductions/lanes.py OUT 540 --file reproductions/jobs/1_chomsky_table_2.txt --lanes 7 --back BACK

and the same again until it exits with 0: commands that have succeeded are listed in BACK/done.txt and are not run
again, the others resume in OUT. Numbers of steps, seeds and test strings are smaller than in the papers where that is
written in the command; `humboldt show` then lists the departures.
"""

from collections.abc import Iterator
from pathlib import Path

from humboldt.languages import tasks
from humboldt.suites.bias.protocol import FIRST_SIZES, LEARNERS
from humboldt.suites.bias.protocol import TASKS as BIAS_TASKS
from humboldt.suites.bliss.protocol import CONTENDERS
from humboldt.suites.bliss.protocol import TASKS as BLISS_TASKS
from humboldt.suites.chomsky.protocol import TASKS as CHOMSKY_TASKS
from humboldt.suites.pcfg_set.protocol import TASKS as PCFG_SET_TASKS

FOLDER = Path(__file__).parent / "jobs"
RUN = "${PYTHON:-python3} -m humboldt run"
SHORT = "--set steps=10000 --set num_test_lengths=47 --set strings_per_length=128"
SYNTAX = ("adj_n_np", "np_n_vp_n", "nested_dependency", "cross_serial_dependency")
CLASSIFIERS = ("transformer_encoder", "transformer_decoder", "bilstm", "lstm")


def line(memory: int, suite: str, options: str) -> str:
    """Returns one line of a list."""
    return f'{memory}:{RUN} {suite} --preset {options} --no-estimate --out "$OUT"'


def chomsky_table_2() -> Iterator[str]:
    """All 75 cells at equal steps: 30 members, or ten of one setting of the sweep for the two slow models."""
    for model, memory, few in (
        ("rnn", 10, ""),
        ("lstm", 12, ""),
        ("stack_rnn", 14, ""),
        ("transformer_encoder", 30, " --set positions=relative --set learning_rates=0.0003"),
        ("tape_rnn", 20, " --set num_tapes=1 --set learning_rates=0.0003"),
    ):
        for task in CHOMSKY_TASKS:
            answers_at_once = tasks.get(f"chomsky/{task}")().answers_at_every_step  # pyright: ignore[reportAttributeAccessIssue]
            tokens = f" --set computation_tokens={int(not answers_at_once)}" if model == "tape_rnn" else ""
            yield line(memory, "chomsky", f"paper --task {task} --model {model} {SHORT}{few}{tokens}")


def chomsky_rest() -> Iterator[str]:
    """The models of Table B.2, one setting of each sweep."""
    for model, memory, few in (
        ("stack_lstm", 16, ""),
        ("cnn", 16, " --set kernel_size=7"),
        ("ndstack_rnn", 40, " --set num_stack_symbols=2 --set read_states=true --set learning_rates=0.0003"),
    ):
        for task in CHOMSKY_TASKS:
            yield line(memory, "chomsky", f"paper --task {task} --model {model} {SHORT}{few}")


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
    for task in BIAS_TASKS:
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
    for distribution in ("zipf", "uniform"):
        for language in SYNTAX:
            for model in CLASSIFIERS:
                yield line(20, "syntax", f"paper --task {language} --model {model} --set distribution={distribution}")


LISTS = {
    "1_chomsky_table_2": chomsky_table_2,
    "2_bliss_table_2": bliss_table_2,
    "3_pcfg_set_table_1": pcfg_set_table_1,
    "4_bias_agreement": bias_agreement,
    "5_bias_lengths": bias_lengths,
    "6_syntax_tables_2_and_3": syntax_tables,
    "7_chomsky_table_b2": chomsky_rest,
    "8_bias_appendices": bias_appendices,
}


def contents() -> dict[str, str]:
    """Returns the text of each list by the name of its file."""
    return {
        f"{name}.txt": "".join(f"{each}\n" for each in (f"# {make.__doc__ or ''}".split("\n")[0], *make()))
        for name, make in LISTS.items()
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in contents().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
