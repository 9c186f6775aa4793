"""Instances of the problem with a known optimum."""

from __future__ import annotations

from sojourn.ocq.problem import Problem

#: P is the paper's own: its authors' archive of trajectories fixes the parameters, which the text does not
#: print. The others have a constant load: A and L resemble P; D and I have one switch, E and J none, and H
#: has R below a / mu.
INSTANCES = {
    "P": Problem(w=[(0, 60), (1, 0)], mu=50, a=1, R=0.2, t_f=2),
    "A": Problem(w=60, mu=50, a=1, R=2 / 9),
    "B": Problem(w=60, mu=50, a=1, R=0.2),
    "C": Problem(w=60, mu=50, a=1, R=2 / 9, x0=10),
    "D": Problem(w=60, mu=50, a=1, R=2 / 9, x0=30, t_f=0.5),
    "E": Problem(w=60, mu=50, a=1, R=2 / 9, t_f=0.1),
    "F": Problem(w=40, mu=60, a=5, R=0.5, t_f=5),
    "G": Problem(w=60, mu=60, a=1, R=0.1, x0=5, t_f=2),
    "H": Problem(w=60, mu=50, a=1, R=0.015, x0=3),
    "I": Problem(w=30, mu=50, a=1, R=2 / 9, x0=10, t_f=3),
    "J": Problem(w=30, mu=50, a=1, R=2 / 9, t_f=3),
    "K": Problem(w=60, mu=50, a=1.5, R=1 / 3, x0=0.5, t_f=0.8),
    "L": Problem(w=60, mu=50, a=1, R=2 / 9, x0=1),
}
