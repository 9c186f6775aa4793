//! Exact optimum for a load that changes in steps.
//!
//! The problem is convex in disguise ([`Run::gap`]), so the least cost from x at t on is convex in x, and its slope, the
//! costate, rises with x. So the optimal feedback is a threshold: u = 0 where x lies above it, u = w below. With R constant,
//!
//! ```text
//! [l - R]' = -1 + l g'(x)     is above 0 where l > R, x < x_s,   below 0 where l < R, x > x_s
//! ```
//!
//! 1. l > R needs x > x_s: from x <= x_s it would rise to t_f, where it is 0. So the threshold is never below x_s.
//! 2. It is x_s exactly on the singular arcs, which need u_s < w. A step with w <= u_s lets the queue fall below x_s, so a
//!    singular arc ends *before* that step, and the queue rises in advance.
//! 3. Where l falls below R above x_s, it stays below until the queue is back at x_s. So u = 0 occurs only at the beginning.
//!
//! What remains is one root a stretch of steps with w > u_s, the last stretch first: the time T at which its singular arc ends.
//! From there u = w until the queue rises to x_s on a later singular arc, where l = R, or until t_f, where l = 0. The costate at
//! T follows backwards along these arcs, and is R. For a later T it is less, and for an earlier one more, or the conditions would
//! hold for both and the threshold be in two places; so a stretch where it is less from its first moment on has no singular arc.
//! Last, from x0 > x_s the first switch is the root of l = R along u = 0.

use super::arc::Arc;
use super::run::{Piece, Run};
use super::{Instance, Queue, instance};
use crate::root;
use sojourn_params::InputError;
use std::cell::{Cell, RefCell};

/// A queue, a load that changes in steps, and a horizon.
#[derive(Clone, Debug, PartialEq)]
pub struct Stepped {
    /// w(t), in the order of time; the last step ends at t_f.
    pub steps: Vec<Load>,
    /// mu and a.
    pub queue: Queue,
    /// R, cost of a rejected packet, s.
    pub price: f64,
    /// x0, initial backlog, packets.
    pub start: f64,
}

/// A step of the load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// w, packets/s.
    pub offered: f64,
    /// End, s.
    pub until: f64,
}

/// Optimum, as a sequence of arcs.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimum {
    /// The arcs, in the order of time.
    pub arcs: Vec<OptimalArc>,
    /// Run under that input.
    pub run: Run,
}

/// An arc of an optimum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OptimalArc {
    /// Kind of its input.
    pub kind: ArcKind,
    /// End, s.
    pub until: f64,
}

/// Kind of an arc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArcKind {
    /// u = 0.
    Lower,
    /// u = u_s, at x_s.
    Singular,
    /// u = w, over steps of the load.
    Upper,
}

impl Stepped {
    /// The problem itself, if its numbers are valid.
    pub fn checked(self) -> Result<Stepped, InputError> {
        let Stepped { queue, price, start, .. } = self;
        if self.steps.is_empty() {
            return Err(InputError::out_of_range("0 steps", "1 or more").at("w"));
        }
        Instance { offered: 0.0, queue, price, start, horizon: self.horizon() }.checked()?;
        let mut begins = 0.0;
        for (index, &Load { offered, until }) in self.steps.iter().enumerate() {
            let key = format!("w[{index}]");
            instance::check_not_negative(&key, offered)?;
            if !(begins < until && until <= self.horizon()) {
                let expected = format!("later than {begins} s, where it begins");
                return Err(InputError::out_of_range(format!("until {until} s"), expected).at(&key));
            }
            begins = until;
        }
        Ok(self)
    }

    /// t_f, s.
    pub fn horizon(&self) -> f64 {
        self.steps.last().map_or(0.0, |step| step.until)
    }

    /// Equation (3): x_s, packets; not above 0 where there is no singular arc.
    pub fn x_s(&self) -> f64 {
        self.queue.x_s(self.price)
    }

    /// Equation (3): u_s, packets/s.
    pub fn u_s(&self) -> f64 {
        self.queue.outflow(self.x_s())
    }

    /// The optimum.
    pub fn solve(&self) -> Result<Optimum, InputError> {
        self.solve_while(|| true).map(|optimum| optimum.expect("nothing ended the search"))
    }

    /// The optimum, if `go_on`, which is called for each arc that the search follows, returns true until
    /// then.
    pub fn solve_while(&self, go_on: impl FnMut() -> bool) -> Result<Option<Optimum>, InputError> {
        let problem = self.clone().checked()?;
        let search = Search { go_on: RefCell::new(go_on), ended: Cell::new(false) };
        let arcs = Synthesis::of(&problem, &|| search.goes_on()).arcs();
        if search.ended.get() {
            return Ok(None);
        }
        let run = problem.run(&problem.pieces(&arcs))?;
        Ok(Some(Optimum { arcs, run }))
    }

    /// Pieces of constant input of a sequence of arcs.
    pub(super) fn pieces(&self, arcs: &[OptimalArc]) -> Vec<Piece> {
        let mut pieces = Vec::with_capacity(arcs.len() + self.steps.len());
        let (mut begins, mut rest) = (0.0, self.steps.as_slice());
        for arc in arcs {
            let constant = |input| vec![Piece { input, until: arc.until }];
            pieces.extend(match arc.kind {
                ArcKind::Lower => constant(0.0),
                ArcKind::Singular => constant(self.u_s()),
                ArcKind::Upper => {
                    let within = rest.iter().filter(|step| step.until > begins);
                    let last = within.clone().take_while(|step| step.until < arc.until).count();
                    within
                        .take(last + 1)
                        .map(|step| Piece { input: step.offered, until: step.until.min(arc.until) })
                        .collect()
                }
            });
            begins = arc.until;
            rest = &rest[rest.partition_point(|step| step.until <= begins)..];
        }
        pieces
    }
}

/// A search that may be ended from outside.
struct Search<F> {
    go_on: RefCell<F>,
    ended: Cell<bool>,
}

impl<F: FnMut() -> bool> Search<F> {
    fn goes_on(&self) -> bool {
        let ends = self.ended.get() || !(self.go_on.borrow_mut())();
        self.ended.set(ends);
        !ends
    }
}

/// The threshold where it is x_s, and the search for it.
struct Synthesis<'a> {
    problem: &'a Stepped,
    x_s: f64,
    u_s: f64,
    /// Begin and end of the times of singular arcs, the last one first.
    singular: Vec<[f64; 2]>,
    /// Begin of each stretch without a singular arc, and a bound of the costate at x_s there, which is at most R; the last one
    /// first.
    without: Vec<[f64; 2]>,
    goes_on: &'a dyn Fn() -> bool,
}

/// The arcs of u = w from a state on.
struct Rise {
    arcs: Vec<Arc>,
    /// End, s: at x_s, or t_f.
    until: f64,
    /// Costate at the end, s.
    costate: f64,
}

impl Rise {
    /// Costate at the begin, s.
    fn first_costate(&self) -> f64 {
        self.arcs.iter().rev().fold(self.costate, |costate, arc| arc.costate(costate))
    }
}

impl Synthesis<'_> {
    fn of<'a>(problem: &'a Stepped, goes_on: &'a dyn Fn() -> bool) -> Synthesis<'a> {
        let (x_s, u_s) = (problem.x_s(), problem.u_s());
        let (singular, without) = (Vec::new(), Vec::new());
        let mut found = Synthesis { problem, x_s, u_s, singular, without, goes_on };
        if x_s > 0.0 {
            for [begin, end] in found.stretches().into_iter().rev() {
                let excess = |time| found.excess(time, x_s);
                let bound = found.bound(begin);
                if bound <= problem.price {
                    found.without.push([begin, bound]);
                } else {
                    let until = root::between(begin, end, excess);
                    found.singular.push([begin, until]);
                }
            }
        }
        found
    }

    /// Begin and end of the longest sequences of steps with w > u_s.
    fn stretches(&self) -> Vec<[f64; 2]> {
        let (mut found, mut begins): (Vec<[f64; 2]>, f64) = (Vec::new(), 0.0);
        for step in &self.problem.steps {
            match found.last_mut() {
                _ if step.offered <= self.u_s => {}
                Some(last) if last[1] == begins => last[1] = step.until,
                _ => found.push([begins, step.until]),
            }
            begins = step.until;
        }
        found
    }

    /// l - R at a state under u = w.
    fn excess(&self, time: f64, backlog: f64) -> f64 {
        self.rise(time, backlog, |time, backlog| self.fall(time, backlog)).first_costate()
            - self.problem.price
    }

    /// l above x_s at the begin of a stretch with a singular arc: by u = 0 until x_s, if that is on the arc.
    ///
    /// Along u = w from the end of an earlier singular arc it would be below R, so the root is elsewhere, and l need not be
    /// followed to t_f.
    fn fall(&self, time: f64, backlog: f64) -> Option<f64> {
        let end = self.singular_at(time).filter(|_| backlog > self.x_s)?;
        let arc = Arc::leading(self.problem.queue, 0.0, backlog, self.x_s)?;
        (time + arc.time() <= end).then(|| arc.costate(self.problem.price))
    }

    /// l at x_s at the begin of a stretch, or more where it is at most R anyway, so that many stretches without a singular arc
    /// need not be followed to t_f each: l rises with x, and a queue that comes to a later one at or below x_s has at most the l
    /// of x_s there.
    fn bound(&self, begin: f64) -> f64 {
        let known = |time, backlog| self.fall(time, backlog).or_else(|| self.bound_at(time, backlog));
        let bounded = self.rise(begin, self.x_s, known).first_costate();
        if bounded <= self.problem.price {
            bounded
        } else {
            self.excess(begin, self.x_s) + self.problem.price
        }
    }

    fn bound_at(&self, time: f64, backlog: f64) -> Option<f64> {
        if backlog > self.x_s {
            return None;
        }
        let place = self.without.partition_point(|[begin, _]| *begin > time);
        self.without.get(place).filter(|[begin, _]| *begin == time).map(|[_, costate]| *costate)
    }

    /// u = w from a state on, until the queue rises to a singular arc that has not ended before, or until a later step at whose
    /// begin `known` has l for the time and the backlog.
    fn rise(&self, from: f64, mut backlog: f64, known: impl Fn(f64, f64) -> Option<f64>) -> Rise {
        let (queue, mut arcs, mut time) = (self.problem.queue, Vec::new(), from);
        let first = self.problem.steps.partition_point(|step| step.until <= from);
        for step in &self.problem.steps[first..] {
            if !(self.goes_on)() {
                break;
            }
            if time > from
                && let Some(costate) = known(time, backlog)
            {
                return Rise { arcs, until: time, costate };
            }
            if let Some((arc, until)) = self.arrival(step, time, backlog)
                && self.singular_at(until).is_some_and(|end| end > from)
            {
                arcs.push(arc);
                return Rise { arcs, until, costate: self.problem.price };
            }
            let arc = Arc::lasting(queue, step.offered, backlog, step.until - time);
            (time, backlog) = (step.until, arc.end());
            arcs.push(arc);
        }
        Rise { arcs, until: time, costate: 0.0 }
    }

    /// Arc within a step that rises to x_s, and its end.
    fn arrival(&self, step: &Load, time: f64, backlog: f64) -> Option<(Arc, f64)> {
        if backlog > self.x_s || step.offered <= self.u_s {
            return None;
        }
        let arc = Arc::leading(self.problem.queue, step.offered, backlog, self.x_s)?;
        let until = time + arc.time();
        (until <= step.until).then_some((arc, until))
    }

    /// End of the singular arc that includes a time.
    fn singular_at(&self, time: f64) -> Option<f64> {
        let before = self.singular.partition_point(|[begin, _]| *begin > time);
        self.singular.get(before).map(|[_, end]| *end).filter(|end| time <= *end)
    }

    /// The optimum from x0 on.
    fn arcs(&self) -> Vec<OptimalArc> {
        let (mut arcs, horizon) = (Vec::new(), self.problem.horizon());
        let mut push = |kind, from: f64, until: f64| {
            if from < until {
                arcs.push(OptimalArc { kind, until });
            }
        };
        let (mut time, mut backlog) = self.descent();
        push(ArcKind::Lower, 0.0, time);
        loop {
            if backlog == self.x_s
                && let Some(end) = self.singular_at(time)
            {
                push(ArcKind::Singular, time, end);
                time = end;
            }
            let rise = self.rise(time, backlog, |_, _| None);
            push(ArcKind::Upper, time, rise.until);
            if rise.until == horizon || !(self.goes_on)() {
                return arcs;
            }
            (time, backlog) = (rise.until, self.x_s);
        }
    }

    /// Time until which u = 0 from x0 on, and the backlog then.
    fn descent(&self) -> (f64, f64) {
        let Stepped { queue, start, .. } = *self.problem;
        if self.x_s > 0.0 && start <= self.x_s {
            return (0.0, start);
        }
        let horizon = self.problem.horizon();
        let arrival = (self.x_s > 0.0).then(|| Arc::leading(queue, 0.0, start, self.x_s)).flatten();
        let arrives = arrival.map_or(f64::INFINITY, |arc| arc.time());
        if arrives < horizon && self.singular_at(arrives).is_some() {
            return (arrives, self.x_s);
        }
        let below = |time: f64| Arc::lasting(queue, 0.0, start, time).end();
        let excess = |time: f64| self.excess(time, below(time));
        if excess(0.0) <= 0.0 {
            return (0.0, start);
        }
        let until = root::between(0.0, arrives.min(horizon), excess);
        (until, below(until))
    }
}

impl Optimum {
    /// J of the optimum, packets s.
    pub fn cost(&self) -> f64 {
        self.run.cost()
    }

    /// Times at which the kind of the arc changes, s.
    pub fn switch_times(&self) -> Vec<f64> {
        self.arcs.iter().take(self.arcs.len() - 1).map(|arc| arc.until).collect()
    }
}
