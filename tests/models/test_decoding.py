"""The settings of the search."""

import pytest

from nbkit.errors import ParamsError
from nbkit.models import Decoding


def test_limits_do_not_fall():
    limits = [Decoding().limit(n) for n in range(200)]
    assert limits == sorted(limits)
    assert all(limit >= 2 * n + 32 for n, limit in enumerate(limits))


@pytest.mark.parametrize("settings", [{"beams": 0}, {"max_new_tokens": 0}])
def test_impossible_settings(settings):
    with pytest.raises(ParamsError):
        Decoding(**settings)


def test_identity_tells_settings_apart():
    settings = [Decoding(), Decoding(beams=1), Decoding(max_new_tokens=9), Decoding(early_stopping=True)]
    assert len({str(s.identity()) for s in settings}) == len(settings)
