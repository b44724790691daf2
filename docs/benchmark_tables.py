"""Parts of the pages on benchmarks that are made from `benchmarks/records`; `generated.py` puts them there."""

import json
import statistics
import textwrap
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from humboldt.models import models

RECORDS = Path(__file__).parents[1] / "benchmarks" / "records"
WIDTH = 140
TIMES = ("forward", "forward, products", "both", "both, products")
TF32_ROWS = (
    ("lstm", "float32", "`nn.LSTM`, 256 units"),
    ("gru", "float32", "`nn.GRU`, 256 units"),
    ("gated_recurrence", "float32", "gated linear recurrence as a loop over time, 256 units"),
)
KERNEL_ROWS = (("transformer", "float32", "Transformer of 5 layers, width 64"),)
OTHER_ROWS = (
    ("lstm", "bfloat16", "`nn.LSTM`, 256 units, bfloat16"),
    ("encoder_decoder", "float32", "encoder-decoder of this page, on `pcfg_set` quick"),
)


def load(name: str) -> Any:
    """Returns a record."""
    return json.loads((RECORDS / f"{name}.json").read_text(encoding="utf-8"))


def records(name: str) -> list[Any]:
    """Returns the records of a file that has several, one after the other."""
    text, decoder, found = (RECORDS / f"{name}.jsonl").read_text(encoding="utf-8").strip(), json.JSONDecoder(), []
    while text:
        record, end = decoder.raw_decode(text)
        found.append(record)
        text = text[end:].lstrip()
    return found


def markdown(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Returns a table, with an empty line before and after it."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n" + "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines) + "\n\n"


def paragraph(text: str) -> str:
    """Returns a text in lines, with an empty line before and after it."""
    return "\n" + textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False) + "\n\n"


def link(name: str, ending: str = "json") -> str:
    """Returns the link from `benchmarks/README.md` to a record."""
    return f"[record](records/{name}.{ending})"


def minutes(seconds: float) -> str:
    """Returns a time as minutes and seconds."""
    return f"{round(seconds) // 60} min {round(seconds) % 60} s"


def ratios() -> str:
    """Returns how much faster training is than the released code, model by model."""
    rows = []
    for model, title in (("rnn", "RNN"), ("lstm", "LSTM"), ("stack_rnn", "Stack-RNN"), ("tape_rnn", "Tape-RNN")):
        name = f"training_speed-{model}-cpu"
        record = load(name)
        sizes = record["reference"]["sizes"]
        memory = {"stack_rnn": "stack_size", "tape_rnn": "memory_size"}.get(model)
        shown = f", {model.partition('_')[0]} of {sizes[memory]} cells" if memory else ""
        rows.append(
            (f"{title}{shown}", record["ratio_of_processor_time"], f"[record](../benchmarks/records/{name}.json)")
        )
    columns = (
        "training steps per processor second, hidden 256, batch 128, lengths 5/10/20/40 in turn, 2 cores",
        "times the released code's",
        "record",
    )
    return markdown(columns, rows)


def family_speeds() -> str:
    """Returns the processor time of a training step of each family, beside that of the LSTM in the same run; of a
    family that was measured twice, the later."""
    runs = load("family_speed-cpu")["runs"]
    measured = {name: each for run in runs for name, each in run["families"].items() if name != "family/lstm"}
    times = sorted((each["slower"]["processor"], models.get(name).title) for name, each in measured.items())
    loads = [run["machine"]["load"] for run in runs]
    return paragraph(
        f"On two busy cores (other work: loads of {min(loads):.0f} to {max(loads):.0f}), with about 33,000 parameters "
        f"and batches of {runs[0]['batch']} strings of 10 to 80 tokens, a step takes this many times the processor "
        "time of the LSTM's in the same run ([record](../benchmarks/records/family_speed-cpu.json)): "
        + "; ".join(f"{title} {ratio:.1f}" for ratio, title in times)
        + "."
    )


def fused() -> str:
    """Returns how fast ensembles are trained with the loop over time as a kernel, as a scan and by PyTorch."""
    titles = {"rnn": "RNN", "lstm": "LSTM", "family/gru": "GRU", "stack_rnn": "Stack-RNN", "tape_rnn": "Tape-RNN"}
    theirs = {(one["model"], one["precision"]): one for one in records("torch_recurrent-h200")}
    measured, rows = records("ensemble_speed-h200-fused"), []
    for one in measured:
        kernel, scan = one.get("fused"), one["scan"]
        pytorch = theirs.get((one["model"], one["precision"])) if not one["settings"] else None
        best = max(pytorch["model_steps_per_second"].items(), key=lambda pair: pair[1]) if pytorch else None
        size = "".join(f", {value} units" for value in one["settings"].values())
        rows.append(
            (
                titles[one["model"]] + size + (", bfloat16" if one["precision"] == "bfloat16" else ""),
                f"{kernel['model_steps_per_second']['median']:,}" if kernel else "",
                f"{scan['model_steps_per_second']['median']:,}",
                one.get("times_as_fast", ""),
                f"{best[1]:,} (`{best[0]}`)" if best else "",
                (kernel or scan)["milliseconds_of_a_step"],
                (kernel or scan)["milliseconds_of_making_a_batch"],
            )
        )
    columns = ("", "kernel", "scan", "times as fast", "PyTorch", "ms of a step", "ms to make a batch")
    days = dict.fromkeys(one["date"] for one in measured)
    loads = {day: [one["machine"]["load"] for one in measured if one["date"] == day] for day in days}
    text = "; ".join(f"{day}: {min(found)} to {max(found)}" for day, found in loads.items())
    return markdown(columns, rows) + f"Load of the machine, which has 16 cores: {text} (rows without a kernel).\n\n"


def fused_errors() -> str:
    """Returns how far the kernels are from a plain loop in double precision, beside scans."""
    titles = {"rnn": "RNN, ReLU", "tanh_rnn": "RNN, tanh", "lstm": "LSTM", "gru": "GRU"}
    titles |= {"stack_rnn": "Stack-RNN", "tape_rnn": "Tape-RNN"}
    rows = []
    for kind, found in load("fused_check-h200")["kinds"].items():
        cases = {each["case"]: each for each in found["errors"]}
        kernel, scan = cases["benchmark"], cases["benchmark, scan"]
        numbers = (each[name] for name in ("outputs", "recurrent") for each in (kernel, scan))
        rows.append((titles[kind], *(f"{number:.1e}".replace("e-0", "e-") for number in numbers)))
    columns = ("", "outputs", "scan in TF32", "gradient of the recurrent weights", "scan in TF32")
    return markdown(columns, rows)


def attention() -> str:
    """Returns errors and times of attention as a kernel and as plain products."""
    rows = []
    for kind, found in load("attention_check-h200")["kinds"].items():
        ways = {each["way"]: each for each in found["errors"] if each["case"].startswith("30 128 80 80 8 8 causal")}
        errors = [max(value for value in ways[way].values() if isinstance(value, float)) for way in ways]
        times = found["milliseconds"]
        rows.append((kind, *(f"{error:.1e}".replace("e-0", "e-") for error in errors), *map(times.get, TIMES)))
    return markdown(("positions", "largest error", "in TF32", *TIMES), rows)


def torch_members() -> str:
    """Returns how fast the members of PyTorch modules are trained, beside a bare loop of one."""
    rows = []
    files = {"-transformer": KERNEL_ROWS, "-tf32": TF32_ROWS, "": OTHER_ROWS}
    for name, of_file in ((f"torch_members-h200{end}", rows_of_file) for end, rows_of_file in files.items()):
        measured = [one for one in records(name) if "part" in one]
        for module, precision, title in of_file:
            rates = {
                one["part"]: one["model_steps_per_second"]
                for one in measured
                if (one["module"], one["precision"]) == (module, precision)
            }
            bare = rates["bare"], rates["bare, again"]
            fast = {part: rate for part, rate in rates.items() if not part.startswith("bare")}
            best = max(fast.values())
            rows.append(
                (
                    title,
                    f"{bare[0]:.0f}, {bare[1]:.0f}",
                    *(f"{fast[part]:,.0f}" if part in fast else "" for part in ("stacked", "graphs")),
                    f"{best / max(bare):.1f} to {best / min(bare):.1f}",
                )
            )
    return markdown(("module", "bare loop, before and after", "`stacked`", "`graphs`", "fastest / bare loop"), rows)


def scoring() -> str:
    """Returns what it takes to score one network, beside the released code."""
    record = load("evaluation_speed-rnn-cpu")
    theirs = record["reference"]
    ours_each, theirs_each = (
        " and ".join(f"{seconds:.0f}" for seconds in part["seconds_of_each_round"]) for part in (record, theirs)
    )
    return paragraph(
        f"`python benchmarks/evaluation_speed.py`: one RNN of {theirs['sizes']['hidden_size']} units that was "
        "not trained, "
        f"Parity Check, lengths {record['lengths'][0]} to {record['lengths'][1]}, 512 strings each, {record['rounds']} "
        f"rounds of each side ({link('evaluation_speed-rnn-cpu')}). Ours takes {record['processor_seconds']:.0f} s of "
        f"processor time, the released code of the Chomsky paper {theirs['processor_seconds']:.0f} s, "
        f"{record['ratio_of_processor_time']} times as much. It reads 64 strings at a time, as in its example, "
        "and compiles "
        "at every length; ours is compiled for few lengths, and strings are padded to these. By the clock, "
        "single rounds "
        f"took {ours_each} s, and {theirs_each} s: other work was running (load {record['machine']['load']})."
    )


def search() -> str:
    """Returns the speed of the search by description length, beside the released code."""
    record = load("mdl_search-cpu")
    ours, theirs = record["results"], record["reference"]
    titles = (
        ("the published search (`SearchSettings.reference`, one island)", ours["reference_rules"]),
        ("our default", ours["default"]),
        ("the released code", theirs),
    )
    rows = []
    for title, part in titles:
        beside = (1, 1, "")
        if part is not theirs:
            beside = (
                f"{part['times_reference']:.0f}",
                f"{part['full_evaluations_times_reference']:.0f}",
                part["full_evaluations_times_plain_python"],
            )
        tried, full = part["per_second_median"], part["full_evaluations_per_second"]
        share = part["full_share_of_networks_tried"]
        rows.append((title, f"{tried:,}", beside[0], f"{share:.1%}", f"{full:,}", beside[1], beside[2]))
    columns = (
        *("rules", "networks tried (median)", "times the released code's", "run to the end", "full evaluations"),
        *("times the released code's", "times ours in plain Python"),
    )
    return markdown(columns, rows)


def score_file() -> str:
    """Returns what it takes to score a file of predictions."""
    record = load("score_file-cpu")
    rows = [
        (
            f"{part['predictions']:,}",
            f"{part['file_MB']} MB",
            part["seconds"],
            part["processor_seconds"],
            f"{part['memory_MB']} MB",
        )
        for part in record["results"]
    ]
    table = markdown(("predictions", "file", "seconds", "processor seconds", "largest memory"), rows)
    return table + f"Other work was running (load {record['machine']['load']}).\n\n"


def million_predictions() -> str:
    """Returns the sentence on large files."""
    million = load("score_file-cpu")["results"][-1]
    return paragraph(
        f"A file is read once, line by line: {million['predictions']:,} predictions take "
        f"{million['seconds']:.0f} s and "
        f"{million['memory_MB']} MB on two busy cores ([record](../benchmarks/records/score_file-cpu.json))."
    )


def alternating(name: str) -> str:
    """Returns the times of two versions, measured in turns."""
    results = load(name)["results"]
    rows = [(each, len(result["seconds"]), result["ratio"]) for each, result in results.items()]
    return markdown(("benchmark", "rounds", "new / old"), rows)


def tests_take() -> str:
    """Returns what tests and demo take."""
    record = load("tests-cpu")
    rows = []
    for part in ("demo", "after", "extras", "lowest"):
        if part in record:
            its = record[part]
            passed = f"{its['passed']:,}" if "passed" in its else ""
            processor = minutes(its["processor_seconds"]) if "processor_seconds" in its else ""
            rows.append((f"`{its['command']}`", passed, minutes(its["seconds"]), processor))
    table = markdown(("command", "tests", "by the clock", "processor time"), rows)
    before, flag = record["before"], record["flag"]
    times = flag["with_fusion_emitters"]["seconds"] / flag["without_fusion_emitters"]["seconds"]
    return table + (
        textwrap.fill(
            f"{record['machine']} ({link('tests-cpu')}). Tests turn XLA's fusion emitters off, "
            f"because programs then compile faster: with them the tests took {times:.1f} times as long. Before "
            "there was one "
            f"frame for all suites, {before['passed']:,} tests of three suites took "
            f"{minutes(before['processor_seconds'])} of "
            "processor time.",
            WIDTH,
            break_long_words=False,
        )
        + "\n\n"
    )


def flipped_bits() -> str:
    """Returns what flipped bits do to a store and to checkpoints."""
    record = load("bit_flips")
    later = record["checkpoints"]
    return paragraph(
        f"`python benchmarks/bit_flips.py` ({link('bit_flips')}) flips {record['flips']} single bits in copies "
        "of a small "
        f"`results.db`, and compares what is read with the truth: {record['rows_left_out']} times rows are left "
        "out with a "
        f"sentence, {record['refused']} times the file is refused with a sentence, {record['same']} times all "
        "results are as "
        f"before (most bits are free space or indexes). Results that changed silently: {record['silent']}; tracebacks: "
        f"{record['tracebacks']}. Of {later['flips']} flips in the newest checkpoint of a stopped study, "
        f"{later['noticed']} "
        "are noticed when it is run again, and its rows and weights are those of an undisturbed study."
    )


def large_studies() -> str:
    """Returns what commands take with many members in one cell."""
    record = load("large_studies-100000-cpu")
    (largest,) = record["results"]
    bar = record["bar_at_100000"]
    rows = [
        (
            f"`{command}`",
            f"{largest[command]['wall_seconds']:.1f}",
            f"{largest[command]['processor_seconds']:.1f}",
            f"{largest[command]['peak_megabytes']} MB",
        )
        for command in ("show", "report", "archive")
    ]
    table = markdown(("command", "seconds by the clock", "processor seconds", "largest memory"), rows)
    text = textwrap.fill(
        f"{largest['members']:,} members ({link('large_studies-100000-cpu')}, `--sizes 100000`), at a load of "
        f"{record['machine']['load']} on {record['machine']['cores']} cores. The bar is {bar['wall_seconds']} s and "
        f"{bar['peak_megabytes']} MB for each command. Times and memory grow in proportion to the members "
        f"({link('large_studies-cpu')}: 20 sizes from 5,000 to 100,000, an earlier version).",
        WIDTH,
        break_long_words=False,
    )
    return table + text + "\n\n"


def page() -> str:
    """Returns what a page of many members takes."""
    record = load("report_page-cpu")
    return paragraph(
        f"`python benchmarks/report_page.py` makes up a study of {record['members']:,} members of the Chomsky "
        "suite in 675 "
        f"cells, and times `humboldt report` ({link('report_page-cpu')}): {record['wall_seconds']} s "
        f"({record['processor_seconds']} s of processor time), and a page of {record['page_megabytes']} MB."
    )


def loop() -> str:
    """Returns what our loop around a PyTorch module costs, and how much faster two members are in two processes."""
    record, two_threads = load("torch_loop-cpu"), load("torch_loop-two-threads-cpu")
    single = [part["ratio"] for part in record["rounds"]]
    as_run, titles = records("torch_loop-as-run-cpu"), {"gru": "GRU", "transformer": "Transformer"}
    sizes = "; ".join(
        f"{title} of "
        + ", ".join(f"{x['hidden_size']} units {x['median_ratio']:.2f}" for x in as_run if x["module"] == module)
        for module, title in titles.items()
    )
    most, fewest = (len(next(x["rounds"] for x in as_run if x["module"] == module)) for module in titles)
    _, members = records("torch_members-two-cpu")
    processes = [part["ratio"] for part in members["rounds"]]
    return paragraph(
        f"`python benchmarks/torch_loop.py`: {record['steps']} steps of a GRU of {record['hidden_size']} units "
        "on batches of "
        f"128 strings, ours and a bare PyTorch loop in turns, {len(single)} rounds, on {record['date']}, "
        f"{record['threads']} thread{'s' * (record['threads'] > 1)} each. Ours takes "
        f"{record['median_ratio']:.3f} "
        f"times as long (median; single rounds {min(single):.2f} to {max(single):.2f}) ({link('torch_loop-cpu')}). "
        f"A bare loop with {two_threads['bare_threads']} threads is {two_threads['median_ratio']:.2f} times as fast as "
        f"one of ours with one, on idle cores ({link('torch_loop-two-threads-cpu')}), so a single member that is "
        "not tiny is trained with all threads. Ours then takes this many times as long as a bare loop with PyTorch's "
        f"own threads (medians of {most} rounds, Transformers {fewest}, on idle cores): {sizes} "
        f"({link('torch_loop-as-run-cpu', 'jsonl')}). Two members in two processes "
        f"do {members['median_ratio']:.2f} times as many steps as one after the other (median; {min(processes):.2f} to "
        f"{max(processes):.2f}) ({link('torch_members-two-cpu', 'jsonl')})."
    )


def wrong_calls() -> str:
    """Returns what became of generated wrong calls."""
    record = load("bad_calls-cpu")
    slowest = record["slowest"]["processor_seconds"]
    return paragraph(
        f"Of the {record['calls']:,} calls of the record (`{record['command']}`; {record['of_commands']:,} of "
        f"commands, {record['of_functions']:,} of functions) {record['refused']:,} were refused, "
        f"{record['accepted']} accepted; "
        f"{record['traceback']} ended in a traceback. The slowest took {slowest} s of processor time; "
        f"{record['slower_than_10_seconds']} took longer than 10 s by the clock (load {record['machine']['load']})."
    )


def kills() -> str:
    """Returns how many kills each engine survived."""
    titles = {
        "chomsky": ("JAX", "chomsky: RNN, two tasks"),
        "bliss": ("search", "bliss: networks by description length, two languages"),
        "torch": ("PyTorch, in processes", "chomsky: a GRU from a file"),
        "stacked": ("PyTorch, stacked", "chomsky: a GRU from a file"),
    }
    rows, total = [], 0
    for line in (RECORDS / "kill_campaign-cpu.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        for name, study in record["studies"].items():
            engine, what = titles[name]
            same = "the same bits" if study["identical"] else "**others**"
            rounds = study["rounds_of_two_processes"]
            rows.append((engine, what, record["kills"], record["kills_after_a_checkpoint"], rounds, same))
        total += record["kills"]
    columns = (
        *("engine", "study", "kills", "of these after a checkpoint of the killed process"),
        *("rounds of two processes", "rows and weights in the end"),
    )
    return paragraph(f"{total} kills in all:") + markdown(columns, rows).lstrip("\n")


def ray_costs() -> str:
    """Returns what an experiment costs on Ray."""
    record = load("ray_overhead-cpu")
    on_ray, here = record["on_ray"], record["in_this_process"]
    memory = [round(megabytes) for megabytes in on_ray["driver_megabytes_every_500"]]
    rows = [
        ("seconds to start a local Ray", f"{record['seconds_to_start_ray']:.0f}"),
        ("seconds from there to the first outcome", f"{on_ray['seconds_to_the_first_outcome']:.0f}"),
        ("milliseconds for each experiment, on Ray", f"{on_ray['milliseconds_each']:.0f}"),
        ("milliseconds for each experiment, in one process without Ray", f"{here['milliseconds_each']:.0f}"),
        ("driver's memory after 500 and after 10,000 experiments, in megabytes", f"{memory[0]}, {memory[-1]}"),
    ]
    return markdown(("", ""), rows)


def rooms() -> str:
    """Returns the counted parts of the package, before it was divided into rooms and after."""
    record = load("rooms")
    titles = {
        "loose_modules": "modules directly in the package",
        "rooms": "rooms (folders and these modules)",
        "levels": "levels of imports",
        "suite_methods": "methods of `AbstractSuite`",
        "suite_abstract_methods": "abstract ones",
        "public_classes": "public classes",
        "names_of_several_classes": "names of several classes",
        "source_files": "files in `src`",
        "source_lines": "lines in `src`",
        "test_lines": "lines in `tests`",
        "repeated_pairs": "pairs of repeated code",
        "repeated_pairs_in_source": "pairs in `src`",
    }
    rows = [(title, *(f"{record[key][name]:,}" for key in ("before", "after"))) for name, title in titles.items()]
    return markdown(("", f"before (`{record['before']['commit']}`)", f"after (`{record['after']['commit']}`)"), rows)


def hops() -> str:
    """Returns how often one command does the same work, before the package was divided into rooms and after."""
    record = load("hops-cpu")
    titles = {
        "to_json": "trainings made from settings",
        "from_json": "trainings made from stored JSON",
        "jobs": "jobs of an engine built",
        "problems": "problems built",
        "stores": "folders of results opened",
        "connections": "connections to a database",
        "files": "files of the package with a function that ran",
    }
    columns = [(command, key) for command in ("run", "score") for key in ("before", "after")]
    rows = [(title, *(record[key][command][name] for command, key in columns)) for name, title in titles.items()]
    return markdown(("", *(f"`{command}`, {key}" for command, key in columns)), rows)


def same_results() -> str:
    """Returns what was compared before the package was divided into rooms and after, and how much differs."""
    record = load("same_results-rooms-cpu")
    differing = len(record["differences"])
    return paragraph(
        f"{record['members']} members with {record['values']} measures and curves, of `{record['commits'][0]}` and of "
        f"`{record['commits'][1]}`; values that differ: {differing or 'none'}. They are of "
        f"{record['commands']}: {', '.join(record['cells'])}."
    )


def first_line() -> str:
    """Returns the time until the first line of a plan."""
    record = load("first_line-cpu")
    rows = [
        (name, f"{statistics.median(result['seconds']):.2f}", f"{result['median_processor_seconds']:.2f}")
        for name, result in record["results"].items()
    ]
    return markdown(("", f"seconds (median of {record['rounds']})", "processor seconds"), rows)


def outside() -> str:
    """Returns what it takes to add a suite and a package from outside."""
    rows = [
        (part["what"], part["lines"], part["lines_of_code"], part["attempts"], part["note"])
        for part in load("outside-cpu")["parts"]
    ]
    return markdown(("", "lines", "of code", "attempts", ""), rows)


def walk_through() -> str:
    """Returns what a first run of an own module takes, suite by suite."""
    record = load("walk_through-cpu")
    rows = [
        (
            part["command"].split()[2],
            f"`{part['command']}`",
            part["lines"],
            part["wall_seconds"],
            part["processor_seconds"],
        )
        for part in record["suites"]
    ]
    return markdown(("suite", "command", "lines", "seconds", "of them on the processor"), rows)


def first_table() -> str:
    """Returns what the way from a clone to a table takes, and a bench of an own model."""
    record, bench = load("first_table-cpu"), load("bench_own-cpu")
    *_, install, _, train = record["steps"]
    low, high = record["load_before_and_after"]
    return paragraph(
        f"From `git clone` to the table above, in a new environment: {record['wall_seconds']} s by the clock on "
        "two cores of "
        f"an AMD EPYC (load {low:.0f} to {high:.0f}: other programs), and {record['processor_seconds']} s of "
        "processor time, "
        f"of which installing took {install['processor_seconds']:.0f} s and the run {train['processor_seconds']:.0f} s "
        "([record](../benchmarks/records/first_table-cpu.json), `python benchmarks/first_table.py`). All "
        f"{len(bench['suites'])} suites, `{bench['command'].removesuffix(' --no-estimate')}`, took "
        f"{minutes(bench['wall_seconds'])} on one core: {bench['members']} members of a class of "
        f"{bench['lines_of_code']} lines ([record](../benchmarks/records/bench_own-cpu.json))."
    )


BLOCKS: dict[str, Callable[[], str]] = {
    "benchmark_ratios": ratios,
    "benchmark_fused": fused,
    "benchmark_fused_errors": fused_errors,
    "benchmark_attention": attention,
    "benchmark_torch_members": torch_members,
    "benchmark_scoring": scoring,
    "benchmark_search": search,
    "benchmark_score_file": score_file,
    "benchmark_million": million_predictions,
    "benchmark_alternating": partial(alternating, "alternating-cpu"),
    "benchmark_alternating_rooms": partial(alternating, "alternating-rooms-cpu"),
    "benchmark_tests": tests_take,
    "benchmark_bits": flipped_bits,
    "benchmark_studies": large_studies,
    "benchmark_page": page,
    "benchmark_loop": loop,
    "benchmark_families": family_speeds,
    "benchmark_wrong_calls": wrong_calls,
    "benchmark_kills": kills,
    "benchmark_ray": ray_costs,
    "benchmark_rooms": rooms,
    "benchmark_hops": hops,
    "benchmark_outside": outside,
    "benchmark_same_results": same_results,
    "benchmark_first_line": first_line,
    "benchmark_walk_through": walk_through,
    "benchmark_first_table": first_table,
}
