"""All claims of all papers: grade, command, reason, and evidence on the page, whatever was measured."""

import ast
import html
import os
import re
import zlib
from pathlib import Path

import numpy as np
import pytest
from permuting import surviving

from sojourn.reproduce import Reproduction, grades
from sojourn.reproduce.grades import Grade, grade
from sojourn.reproduce.page import page
from sojourn.reproduce.paper import names, read
from sojourn.reproduce.predicate import Predicate, Truth
from sojourn.reproduce.runs import Samples, carry_out, command

#: Folder of a full run.
REPRODUCED = os.environ.get("REPRODUCED")


class MadeUp(Samples):
    """Three runs of everything."""

    def __init__(self, paper):
        super().__init__()
        self.experiments = set(paper.experiments)

    def of(self, name, qdisc):
        return np.random.default_rng(zlib.crc32(f"{name} {qdisc}".encode())).uniform(1, 2, 3)


@pytest.mark.parametrize("truth", Truth)
@pytest.mark.parametrize("name", names())
def test_each_claim_has_grade_command_and_reason_and_shows_its_evidence(name, truth, monkeypatch):
    def holds(self, lookup):
        for one in self.names:
            lookup(one)
        return truth

    monkeypatch.setattr(Predicate, "holds", holds)
    monkeypatch.setattr(grades, "value", lambda *_: 1.5)
    paper = read(name)
    samples = MadeUp(paper)
    # A few cases of each are enough.
    monkeypatch.setattr(grades._Judge, "cases", few(grades._Judge.cases))
    found = Reproduction(paper, [grade(paper, claim, samples) for claim in paper.claims], samples, False)
    rows = dict(re.findall(r'<tr><th scope="row" id="([\w.]+)">(.*?)</tr>', page(found), re.DOTALL))
    assert list(rows) == [claim.id for claim in paper.claims]
    for one in found.claims:
        claim, text = one.claim, words(rows[one.claim.id])
        assert isinstance(one.grade, Grade), claim.id
        assert all((claim.claim, claim.item, claim.says, one.evidence)), claim.id
        assert claim.why or claim.contradiction or claim.not_run, claim.id
        assert words(html.escape(one.evidence.removesuffix("."))) in text, claim.id
        assert f'<td data-column="grade">{one.grade.value}</td>' in rows[claim.id], claim.id
        assert '<td data-column="why">' in rows[claim.id], claim.id
        if one.grade is Grade.NOT_RUN:
            assert claim.not_run, claim.id
            continue
        assert repeats(command(paper, claim, quick=False)), claim.id
        assert words(command(paper, claim, quick=False)) in text, claim.id
        if one.grade in (Grade.NOT, Grade.CONTRADICTS_ITSELF):
            quantities = [of.text for of in claim.test.quantities]
            assert all(f"<code>{html.escape(of)}</code> " in rows[claim.id] for of in quantities), claim.id
    contradictions = {one.claim.id for one in found.claims if one.grade is Grade.CONTRADICTS_ITSELF}
    expected = {claim.id for claim in paper.claims if claim.contradiction} if truth is Truth.TRUE else set()
    assert contradictions == expected


@pytest.mark.skipif(REPRODUCED is None, reason="REPRODUCED=FOLDER, of a full run: minutes")
@pytest.mark.parametrize("name", names())
def test_claims_that_survive_all_permutations_of_the_laws_are_marked(name):
    paper = read(name)
    found = list(surviving(paper, carry_out(paper, Path(REPRODUCED or ""), 1)))
    assert found == [claim.id for claim in paper.claims if claim.permuted]


@pytest.mark.parametrize(
    ("word", "form"),
    [
        (r"slightly", r"< 1\.5 \* "),
        (r"nearly the same", r"> 0\.9 \* "),
        (r"small gaps|gaps .* are small|alike", r"< 1\.5 \* "),
        (r"much more|poorly", r"> 1\.5 \* "),
    ],
)
def test_words_have_the_reading_of_the_how_to(word, form):
    """docs/howto/reproduce-a-paper.md, Words."""
    texts = {one.id: expanded(one) for one in all_claims() if one.test and re.search(word, one.claim)}
    assert texts
    assert [name for name, text in texts.items() if not re.search(form, text)] == []


def test_about_a_number_is_within_a_tenth_of_it():
    about = r"about ([\d.]+) (packets|ms|%)"
    found = [(claim, re.search(about, claim.claim)) for claim in all_claims() if claim.test]
    texts = {claim.id: (expanded(claim), *match.groups()) for claim, match in found if match}
    for name, (text, number, unit) in texts.items():
        value = float(number) / {"packets": 1, "ms": 1000, "%": 100}[unit]
        bounds = {(float(of), round(float(by), 9)) for of, by in re.findall(r", ([\d.]+), ([\d.]+)\)", text)}
        assert (value, round(value / 10, 9)) in bounds, name
    assert {"arm_pfc.15", "cpc.09", "cpc.13", "cpc.20"} <= texts.keys()


@pytest.mark.parametrize("lines", ["", "\n", "sojourn run\n", "sojourn run a\n\nsojourn run b"])
def test_what_runs_nothing_is_no_command(lines):
    assert not repeats(lines)


def repeats(commands):
    """True if each line of them is a run of a scenario or a calculation."""
    runs = r"sojourn (?:run|lab) \S+ .*--qdisc .*--seeds "
    kinds = (runs, r"python3 -c '.+CALCULATIONS\[\"[\w.]+\"\]\(\)\)'")
    return all(any(re.match(kind, line) for kind in kinds) for line in commands.split("\n"))


def all_claims():
    return [claim for name in names() for claim in read(name).claims]


def expanded(claim):
    """Its predicate without abbreviations."""
    return ast.unparse(claim.test.tree)


def few(cases):
    return lambda self, test: cases(self, test)[:3]


def words(text):
    """Small letters without tags and marks of code."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).replace("`", "").lower().split())
