"""Optimal control of a queue over a horizon: the problem, controls on a mesh, and their certificates.

The mathematics is in docs/theory/ocq.md. `solve` has all methods; `collocate` and `evolve` are the peers of
the paper's Table 1, which need the extra ``sojourn[optimal]``; `table` has all methods beside its numbers.

>>> import sojourn as sj
>>> round(sj.ocq.solve(sj.ocq.INSTANCES["A"]).J, 9)
6.661394457
>>> problem = sj.ocq.Problem(w=[(0, 60), (1, 0)], mu=50, a=1, R=0.2, t_f=2)
>>> problem == sj.ocq.INSTANCES["P"]
True
"""

from __future__ import annotations

from sojourn.ocq.collocation import collocate
from sojourn.ocq.comparison import PAPER, Row, Table, table
from sojourn.ocq.feedback import Feedback, feedback
from sojourn.ocq.genetic import evolve
from sojourn.ocq.instances import INSTANCES
from sojourn.ocq.methods import METHODS, solve
from sojourn.ocq.problem import Mesh, Problem
from sojourn.ocq.solution import Arc, Piece, Solution
from sojourn.ocq.trajectory import Run, integrate

__all__ = [
    "INSTANCES",
    "METHODS",
    "PAPER",
    "Arc",
    "Feedback",
    "Mesh",
    "Piece",
    "Problem",
    "Row",
    "Run",
    "Solution",
    "Table",
    "collocate",
    "evolve",
    "feedback",
    "integrate",
    "solve",
    "table",
]
