"""The examples in the docstrings run."""

import doctest
import importlib
import inspect
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


#: Shared by the figures; users need none of it.
HELPERS = {
    f"Plots.{name}"
    for name in [
        "changes_s",
        "delay_grid",
        "delay_unit",
        "end_s",
        "goodput_unit",
        "ping_unit",
        "tail_grid",
        "time_unit",
        "warmup_s",
    ]
}


def public():
    """Functions of every public `__all__`, and the methods of the classes in them."""
    for home in ("sojourn", *(f"sojourn.{part}" for part in ("catalogue", "conform", "laws", "ocq", "plot"))):
        module = importlib.import_module(home)
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isfunction(value):
                yield value
            # The compiled classes have no source to run an example from.
            elif inspect.isclass(value) and value.__module__ != "sojourn._core":
                for one in (inspect.getattr_static(value, name) for name in dir(value) if name[0] != "_"):
                    method = getattr(one, "fget", None) or getattr(one, "__func__", one)
                    if inspect.isfunction(method):
                        yield method


def test_every_public_function_shows_an_example():
    found = {function.__qualname__: function.__doc__ or "" for function in public()}
    assert {"run", "load", "replay", "Result.read", "Result.plot", "Plots.queue", "TracedLaw.answer"} <= set(
        found
    )
    assert {name for name, text in found.items() if ">>>" not in text} == HELPERS


def test_every_public_name_is_there():
    for name in sojourn.__all__:
        assert getattr(sojourn, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        sojourn.nonsense  # noqa: B018
