"""A verdict as plain data says what the verdict says."""

import json

from humboldt.mdl.proofs import Proved, Refuted, Unknown, float_size, prove, verdict_record

from .mutants import load


def test_each_kind_of_verdict_is_plain_data():
    network = load("an_bn_figure_4")
    proved = prove(network, "an_bn")
    assert isinstance(proved, Proved)
    assert verdict_record(proved, network) == {
        "verdict": "Proved",
        "float_size": float_size(proved.certificate, network),
    }
    wrong = load("an_bn_cn_100_paper_seed_101")
    refuted = prove(wrong, "an_bn_cn")
    assert isinstance(refuted, Refuted)
    record = verdict_record(refuted, wrong)
    assert record["string"] == refuted.mistake.string
    assert json.loads(json.dumps(record)) == record
    unknown = Unknown("hidden 7 is not an affine form after a", "hidden 7", "a", 300)
    assert verdict_record(unknown, network) == {
        "verdict": "Unknown",
        "reason": "hidden 7 is not an affine form after a",
        "unit": "hidden 7",
        "block": "a",
        "examined": 300,
    }
