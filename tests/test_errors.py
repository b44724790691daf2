from humboldt.errors import MissingExtra, UsageError, unknown_name


def test_unknown_name_names_the_nearest():
    error = unknown_name("task", "paritycheck", ["even_pairs", "parity_check"])
    assert isinstance(error, UsageError) and error.exit_code == 2
    assert str(error).startswith("No task named 'paritycheck'. Did you mean 'parity_check'?")


def test_a_name_like_no_other_gets_the_list_only():
    assert str(unknown_name("preset", "zzz", ["quick", "paper"])) == "No preset named 'zzz'. Known: paper, quick."


def test_a_missing_extra_names_the_line_to_type():
    assert "pip install 'humboldt[zoo]'" in str(MissingExtra("jax"))


def test_a_command_lists_many_names():
    many = [f"name_{i}" for i in range(21)]
    assert str(unknown_name("setting", "zzz", many)).endswith(
        "There are 21; `humboldt list settings SUITE` lists them."
    )
    assert str(unknown_name("preset", "zzz", many)).endswith(" There are 21.")
