"""The presets of the bias suite."""

import pytest

from humboldt.suites import plans, suites
from humboldt.suites.experiments import Request


@pytest.mark.parametrize(
    ("preset", "changed"), [("table_3_num_layers_10", {"num_layers": "10"}), ("table_6_dropout_0", {"dropout": "0"})]
)
def test_presets_of_the_appendix_plan_what_one_size_of_the_paper_with_one_change_plans(
    preset: str, changed: dict[str, str]
):
    suite = suites.get("bias")
    sizes = {"count_or_memorization": {"l": "40"}, "composition_or_memorization": {"M": "36"}}
    for task, size in sizes.items():
        by_preset = plans.plan(suite, Request((task,), ("cnn_s2s",), preset))
        by_settings = plans.plan(suite, Request((task,), ("cnn_s2s",), "paper", 20, {**size, **changed}))
        assert [experiment.id for experiment in by_preset] == [experiment.id for experiment in by_settings]
    assert len(plans.pairs(suite, Request(preset=preset))) == 16
