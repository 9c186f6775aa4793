"""Future work of the papers: each has a finding and runs only without `--quick`."""

import itertools

import pytest

from sojourn.reproduce.paper import names, read


@pytest.mark.parametrize("name", names())
def test_each_paper_has_a_finding_of_its_future_work(name):
    paper = read(name)
    found = [one for one in itertools.chain(paper.figures, paper.tables) if one.finding is not None]
    assert found
    for one in found:
        assert one.finding.endswith(".")
        assert len(one.finding) > 60


@pytest.mark.parametrize("name", names())
def test_future_work_costs_nothing_with_few_seeds(name):
    paper = read(name)
    figures = [one for one in paper.figures if one.finding is not None]
    experiments = {experiment for one in figures for experiment in one.at.values()}
    assert all(paper.experiments[one].quick_seeds == 0 for one in experiments)


def test_margins_of_pi_pd_grow_with_the_period_and_fall_with_the_gain():
    from sojourn.reproduce.calculations import value

    margins = [value("pi_pd", "pi_pd_margins", name) for name in ("ms12", "ms25", "ms50", "ms100", "ms200")]
    assert margins == sorted(margins)
    assert value("pi_pd", "pi_pd_margins", "half") > margins[2] > value("pi_pd", "pi_pd_margins", "double")
