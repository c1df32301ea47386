"""The settings of the search."""

import re

import pytest

from nbkit.errors import ParamsError
from nbkit.models import Decoding


def test_limits_do_not_fall():
    limits = [Decoding().limit(n) for n in range(200)]
    assert limits == sorted(limits)
    assert all(limit >= 2 * n + 32 for n, limit in enumerate(limits))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"beams": 0}, "beams: 0 given, 1 to 1,000 expected"),
        ({"beams": 10**6}, "beams: 1000000 given, 1 to 1,000 expected"),
        ({"max_new_tokens": 0}, "max_new_tokens: 0 given, 1 to 10,000 expected"),
        ({"max_new_tokens": 10**6}, "1 to 10,000 expected"),
        ({"length_penalty": 1e308}, "length_penalty: 1e+308 given, -10 to 10 expected"),
        ({"length_penalty": float("nan")}, "length_penalty: nan given"),
        ({"length_penalty": float("-inf")}, "length_penalty: -inf given"),
    ],
)
def test_impossible_settings(settings, expected):
    with pytest.raises(ParamsError, match=re.escape(expected)):
        Decoding(**settings)


def test_identity_tells_settings_apart():
    settings = [Decoding(), Decoding(beams=1), Decoding(max_new_tokens=9), Decoding(early_stopping=True)]
    assert len({str(s.identity()) for s in settings}) == len(settings)
