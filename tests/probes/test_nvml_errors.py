"""NVML's errors in words, whatever class pynvml gives them."""

from __future__ import annotations

import pynvml
import pytest

from pytest_membudget.probes.nvml_errors import nvml_error


@pytest.mark.parametrize("code", [3, 4, 9, 12, 13, 15, 18])
def test_known_code(code: int) -> None:
    """A sentence, and the code for those who must tell versions apart; the class itself cannot be hashed."""
    error = pynvml.NVMLError(code)
    with pytest.raises(TypeError):
        hash(error)
    found = nvml_error(error)

    assert found.code == code
    assert "NVML says" not in str(found)


def test_other_code() -> None:
    """NVML's own words, even before the library is open."""
    assert str(nvml_error(pynvml.NVMLError(28))) == "NVML says: NVML Error with code 28"


def test_mismatch_of_versions() -> None:
    """It is no NVMLError and has no code."""
    found = nvml_error(pynvml.NVMLLibraryMismatchError("too new"))

    assert (str(found), found.code) == ("NVML says: too new", None)
