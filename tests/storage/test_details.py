import json

import pytest

from humboldt.storage.details import Detail


def test_it_is_the_mapping_that_its_texts_make():
    own, more = {"curve": [1, 2], "best": 1}, {"best": 2, "last": None}
    detail = Detail(json.dumps(own), "{}", json.dumps(more))
    whole = {**own, **more}
    assert detail == whole and whole == detail and dict(detail) == whole and len(detail) == 3
    assert list(detail) == list(whole) and "last" in detail and "none" not in detail
    assert detail["best"] == 2 and detail.get("none", 5) == 5 and {**detail} == whole
    assert not Detail("{}") and Detail() == {}
    with pytest.raises(KeyError):
        detail["none"]


def test_a_text_is_parsed_only_if_it_may_have_the_key():
    assert Detail("never parsed").get("curve") is None
    assert Detail('{"\\u0063urve":[1]}')["curve"] == [1], "a key may be written with escapes"
    assert Detail('{"other":"curve"}').get("curve") is None
