import ast
from pathlib import Path

import humboldt
from humboldt.errors import MissingExtra, UsageError, unknown_name


def test_unknown_name_names_the_nearest():
    error = unknown_name("task", "paritycheck", ["even_pairs", "parity_check"])
    assert isinstance(error, UsageError) and error.exit_code == 2
    assert str(error).startswith("No task named 'paritycheck'. Did you mean 'parity_check'?")


def test_a_name_like_no_other_gets_the_list_only():
    assert str(unknown_name("preset", "zzz", ["quick", "paper"])) == "No preset named 'zzz'. Known: paper, quick."


def test_a_missing_extra_names_the_line_to_type():
    assert "pip install 'humboldt[zoo]'" in str(MissingExtra("jax"))


def test_json_of_others_is_read_where_long_numbers_and_deep_brackets_are_caught():
    """`json.loads` raises a `ValueError` that is no `JSONDecodeError` for a number of 5,000 digits, and a
    `RecursionError` for 100,000 brackets."""
    careless = []
    for path in sorted((Path(humboldt.__file__).parent).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Try):
                continue
            reads = [part for step in node.body for part in ast.walk(step) if isinstance(part, ast.Call)]
            readers = ("json.loads", "json.load", "_DECODER.decode")
            of_others = [
                part for part in reads if ast.unparse(part.func) in readers and "to_json" not in ast.unparse(part)
            ]
            if of_others:
                caught = {name for handler in node.handlers for name in ast.unparse(handler.type or node).split()}
                caught = {name.strip("(),") for name in caught}
                if not {"ValueError", "RecursionError"} <= caught and "RuntimeError" not in caught:
                    careless.append(f"{path.name}, line {node.lineno}")
    assert not careless
