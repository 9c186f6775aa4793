"""The examples in the docstrings run."""

import doctest
import importlib
import pkgutil

import pytest

import sojourn

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(sojourn.__path__, "sojourn.")
    if module.name not in ("sojourn._core", "sojourn.__main__")
)


@pytest.mark.parametrize("name", ["sojourn", *MODULES])
def test_examples_run(name, root, monkeypatch):
    monkeypatch.chdir(root)
    found = doctest.testmod(importlib.import_module(name))
    assert found.failed == 0


def test_every_public_name_is_there():
    for name in sojourn.__all__:
        assert getattr(sojourn, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        sojourn.nonsense  # noqa: B018
