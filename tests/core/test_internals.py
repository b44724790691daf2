"""Named arrays with named axes."""

import json

import numpy as np
import pytest

from humboldt.core.internals import MOST_COLUMNS, TIME, Internal, blocks


def test_one_table_for_each_layer_and_head():
    values = np.arange(2 * 3 * 4 * 4.0).reshape(2, 3, 4, 4)
    found = list(blocks("attention", Internal(values, ("layer", "head", TIME, "seen")), 4))
    assert [block.title for block in found][:4] == [
        *("attention, layer 0, head 0", "attention, layer 0, head 1", "attention, layer 0, head 2"),
        "attention, layer 1, head 0",
    ]
    np.testing.assert_array_equal(found[5].rows, values[1, 2])
    assert found[0].columns == ["0", "1", "2", "3"] and found[0].remark == ""


def test_time_may_be_any_axis_and_padding_is_not_shown():
    values = np.arange(12.0).reshape(3, 4)  # (unit, time)
    (block,) = blocks("hidden", Internal(values, ("unit", TIME)), 2)
    np.testing.assert_array_equal(block.rows, values.T[:2])


def test_two_axes_are_one_row_and_too_many_numbers_are_left_out():
    values = np.arange(2 * 5 * 3.0).reshape(2, 5, 3)
    (block,) = blocks("memory", Internal(values, (TIME, "place", "cell")), 2)
    assert block.columns[:4] == ["0,0", "0,1", "0,2", "1,0"] and len(block.columns) == MOST_COLUMNS
    assert "12 of 15" in block.remark
    (single,) = blocks("weight", Internal(np.zeros(2), (TIME,)), 2)
    assert single.columns == ["value"] and single.rows.shape == (2, 1)


def test_labels_name_the_last_axis():
    (block,) = blocks("actions", Internal(np.zeros((2, 2)), (TIME, "action"), ("push", "pop")), 2)
    assert block.columns == ["push", "pop"]


def test_axes_must_fit():
    with pytest.raises(ValueError, match="hidden"):
        list(blocks("hidden", Internal(np.zeros((2, 2)), (TIME,)), 2))


def test_as_json_what_is_not_finite_is_null():
    found = Internal(np.array([[1.5, np.nan]]), (TIME, "unit"), ("a", "b")).to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == {
        **{"axes": ["time", "unit"], "shape": [1, 2], "values": [[1.5, None]]},
        "labels": ["a", "b"],
    }
