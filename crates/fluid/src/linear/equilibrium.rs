//! Equilibrium of classes of long flows on one link.
//!
//! At equilibrium every window fits one p and the loss of its links, l, and the link is just busy (V. Misra, W.-B.
//! Gong and D. Towsley, "Fluid-based analysis of a network of AQM routers supporting TCP flows with an application to
//! RED", SIGCOMM 2000):
//!
//! ```text
//! mgt:  W^2 s = 2,  full:  W^2 s = 2 (1 - s),  1 - s = (1 - l) (1 - p)        (1)
//! calibrated:  s = p(W), the response function of [`crate::response`]
//! sum of theta_i n_i s_i W_i / R_i + U + theta U' = C,  R_i = T_i + q / C       (2)
//! theta_i = 1 of marked packets, theta = 1 - p of dropped ones
//! ```
//!
//! The left side of (2) falls as p rises, and as q rises: p is found by false position, q on a curve by bisection. A curve
//! p(q) that jumps past the p of (1) has no equilibrium.

use crate::plant::Window;
pub use sojourn_aqm::linear::Signal;
use sojourn_optim::root;
use sojourn_params::{ErrorKind, InputError};
use std::fmt;

/// Identical flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    /// n, number of flows.
    pub flows: f64,
    /// T, base RTT, s.
    pub base_rtt: f64,
    /// s, the size of its packets in packets of the link.
    pub size: f64,
    /// True if its packets can be marked; others are dropped.
    pub ecn: bool,
    /// Window model.
    pub law: Window,
    /// l, the share of packets lost on the links behind the queue.
    pub loss: f64,
}

impl Class {
    /// Standard deviation of one window whose mean is `window`, its packets, at a round trip in s: by the rules of the sender,
    /// or in the published models that of windows that signals halve at random, whose mean is 1.3098 / sqrt(p) and the mean of
    /// whose squares 2 / p (T. J. Ott, J. H. B. Kemperman and M. Mathis, "The stationary behavior of ideal TCP congestion
    /// avoidance", 1996).
    pub fn window_sd(&self, window: f64, rtt: f64) -> f64 {
        match self.law {
            Window::Calibrated(response) => response.window_sd(window, rtt),
            Window::Mgt | Window::Full => HALVED * window,
        }
    }
}

/// Standard deviation of a window that random signals halve, relative to its mean: the root of 2 / 1.3098^2 - 1.
const HALVED: f64 = 0.4072;

/// One link and its traffic.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// C, packets/s.
    pub capacity: f64,
    /// Effect of p on packets that can be marked.
    pub signal: Signal,
    /// U and U', unresponsive packets/s: of those that can be marked, and of others.
    pub unresponsive: [f64; 2],
    /// Responsive flows.
    pub classes: Vec<Class>,
}

/// Equilibrium backlog of a law that gives this p with this signal, packets.
pub type EquilibriumBacklog<'a> = dyn Fn(f64, Signal) -> f64 + 'a;

/// Equilibrium of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Equilibrium {
    /// The probability.
    pub p: f64,
    /// The backlog, packets.
    pub backlog: f64,
    /// Window of each class, its own packets.
    pub windows: Vec<f64>,
    /// Round-trip time of each class, queueing included, s.
    pub rtts: Vec<f64>,
}

/// Reason why there is no equilibrium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoEquilibrium {
    /// There are no responsive flows.
    NoFlows,
    /// A class has neither a base RTT nor a queue.
    NoRoundTrip,
    /// Unresponsive traffic alone fills the link.
    Unresponsive {
        /// U, packets/s.
        rate: f64,
        /// C, packets/s.
        capacity: f64,
    },
    /// The link is saturated at p = 1.
    Overload {
        /// Arrivals at p = 1, packets/s.
        least: f64,
        /// C, packets/s.
        capacity: f64,
    },
    /// The link is not full at this p: the queue is empty.
    Underload {
        /// Arrivals at the empty queue, packets/s.
        most: f64,
        /// C, packets/s.
        capacity: f64,
    },
    /// The curve jumps past the p that the flows need.
    Jump {
        /// Backlog of the jump, packets.
        backlog: f64,
        /// p just below it.
        from: f64,
        /// p at it.
        to: f64,
        /// The p that the flows need there.
        needed: f64,
    },
    /// The law's equilibrium backlog is negative at every p that the flows need.
    NegativeBacklog {
        /// Equilibrium backlog at the p that the flows need at an empty queue, packets.
        backlog: f64,
    },
    /// Losses keep the link below its rate without any signal.
    Lossy {
        /// Arrivals at p = 0, packets/s.
        most: f64,
        /// C, packets/s.
        capacity: f64,
    },
    /// A class needs more signals than its window model has.
    Signals {
        /// s, the share of its packets.
        share: f64,
        /// The greatest one of the model.
        most: f64,
        /// The class.
        class: usize,
    },
    /// A window under one packet, where the window models do not hold.
    Window {
        /// W, packets.
        window: f64,
        /// The class.
        class: usize,
    },
}

impl Link {
    /// Equilibrium at a backlog of `backlog` packets, for a law with a target.
    pub fn at_backlog(&self, backlog: f64) -> Result<Equilibrium, NoEquilibrium> {
        self.check_flows(backlog)?;
        let least = self.arrivals(1.0, backlog);
        if least > self.capacity {
            return Err(NoEquilibrium::Overload { least, capacity: self.capacity });
        }
        let most = self.arrivals(0.0, backlog);
        if most < self.capacity {
            return Err(NoEquilibrium::Lossy { most, capacity: self.capacity });
        }
        self.equilibrium(self.needed(backlog), backlog)
    }

    /// Equilibrium of a law with an equilibrium backlog (packets) that is `most` at p = 0 and falls with p: at a
    /// backlog at which the flows need the law's p; of several the one nearest to `most`.
    pub fn below(
        &self,
        most: f64,
        equilibrium_backlog: &EquilibriumBacklog<'_>,
    ) -> Result<Equilibrium, NoEquilibrium> {
        let found = self.at_backlog(most)?;
        let equilibrium_backlog = |backlog: f64| {
            let p = self.needed(backlog);
            equilibrium_backlog(p, self.signal_at(p, backlog))
        };
        let under = |backlog: f64| backlog < equilibrium_backlog(backlog);
        if equilibrium_backlog(most) >= most {
            return Ok(found);
        }
        let at = |step: u32| most * f64::from(step) / f64::from(PLACES);
        let Some(low) = (0..PLACES).rev().find(|&step| under(at(step))) else {
            return Err(NoEquilibrium::NegativeBacklog { backlog: equilibrium_backlog(0.0) });
        };
        self.at_backlog(bisect(at(low), at(low + 1), under))
    }

    /// Equilibrium at a probability that is a non-decreasing function of the backlog (packets): a law without target,
    /// or a constant.
    pub fn on_curve(&self, curve: &dyn Fn(f64) -> f64) -> Result<Equilibrium, NoEquilibrium> {
        self.check_flows(f64::MIN_POSITIVE)?;
        let too_much = |backlog: f64| self.arrivals(curve(backlog), backlog) > self.capacity;
        if !too_much(f64::MIN_POSITIVE) {
            let most = self.arrivals(curve(0.0), 0.0);
            return Err(NoEquilibrium::Underload { most, capacity: self.capacity });
        }
        let most = (0..LARGEST).map(|power| f64::from(1u32 << power)).find(|&backlog| !too_much(backlog));
        let Some(most) = most else {
            return Err(NoEquilibrium::Overload { least: self.arrivals(1.0, 0.0), capacity: self.capacity });
        };
        let backlog = bisect(0.0, most, too_much);
        let p = curve(backlog);
        if self.capacity - self.arrivals(p, backlog) > ON_CURVE * self.capacity {
            let needed = self.needed(backlog);
            let from = curve(backlog - f64::EPSILON * most);
            return Err(NoEquilibrium::Jump { backlog, from, to: p, needed });
        }
        self.equilibrium(p, backlog)
    }

    /// Admitted arrivals at `p` and `backlog`, packets/s: the left side of (2).
    pub fn arrivals(&self, p: f64, backlog: f64) -> f64 {
        let [markable, others] = self.sent(p, backlog);
        self.signal.passes(p) * markable + Signal::Drop.passes(p) * others
    }

    /// Signal averaged over all arrivals at `p` and `backlog`.
    pub fn signal_at(&self, p: f64, backlog: f64) -> Signal {
        if !self.does_both() {
            return self.signal_of(self.can_mark());
        }
        let [markable, others] = self.sent(p, backlog);
        Signal::Both { passes: self.arrivals(p, backlog) / (markable + others) }
    }

    /// True if any of its traffic can be marked.
    pub fn can_mark(&self) -> bool {
        self.unresponsive[0] > 0.0 || self.classes.iter().any(|class| class.ecn)
    }

    /// True if some of its traffic is marked and some dropped.
    pub fn does_both(&self) -> bool {
        let cannot = self.unresponsive[1] > 0.0 || self.classes.iter().any(|class| !class.ecn);
        self.signal == Signal::Mark && self.can_mark() && cannot
    }

    /// Effect of p on packets that can be marked, or cannot.
    pub(crate) fn signal_of(&self, ecn: bool) -> Signal {
        if ecn { self.signal } else { Signal::Drop }
    }

    /// Arrivals at `p` and `backlog`, packets/s: those that can be marked, and others.
    fn sent(&self, p: f64, backlog: f64) -> [f64; 2] {
        let mut sent = self.unresponsive;
        for class in &self.classes {
            let rtt = class.base_rtt + backlog / self.capacity;
            sent[usize::from(!class.ecn)] += class.flows * class.size * class.window(p, rtt) / rtt;
        }
        sent
    }

    /// p at which the link is just busy.
    fn needed(&self, backlog: f64) -> f64 {
        // Windows fall with the root of p: a function near a straight line.
        root::between(0.0, 1.0, |p| {
            let share = self.capacity / self.arrivals(p, backlog);
            share * share - 1.0
        })
    }

    fn check_flows(&self, backlog: f64) -> Result<(), NoEquilibrium> {
        if !self.classes.iter().any(|class| class.flows > 0.0) {
            return Err(NoEquilibrium::NoFlows);
        }
        if self.classes.iter().any(|class| class.base_rtt + backlog / self.capacity <= 0.0) {
            return Err(NoEquilibrium::NoRoundTrip);
        }
        // Drops can bring even this below the link's rate; marks cannot.
        let [rate, _] = self.unresponsive;
        if self.signal == Signal::Mark && rate >= self.capacity {
            return Err(NoEquilibrium::Unresponsive { rate, capacity: self.capacity });
        }
        Ok(())
    }

    fn equilibrium(&self, p: f64, backlog: f64) -> Result<Equilibrium, NoEquilibrium> {
        let rtts: Vec<f64> =
            self.classes.iter().map(|class| class.base_rtt + backlog / self.capacity).collect();
        let windows: Vec<f64> =
            self.classes.iter().zip(&rtts).map(|(class, rtt)| class.window(p, *rtt)).collect();
        if let Some(class) = windows.iter().position(|&window| window < 1.0) {
            return Err(NoEquilibrium::Window { window: windows[class], class });
        }
        let needs = |class: &Class| (class.signal_share(p), class.most_signals());
        let shares = self.classes.iter().map(needs).enumerate();
        if let Some((class, (share, most))) = shares.into_iter().find(|(_, (share, most))| share > most) {
            return Err(NoEquilibrium::Signals { share, most, class });
        }
        Ok(Equilibrium { p, backlog, windows, rtts })
    }
}

impl Class {
    /// s: the share of packets with a signal where the link's law gives p.
    pub fn signal_share(&self, p: f64) -> f64 {
        p + self.loss * (1.0 - p)
    }

    /// Greatest share of packets with a signal for which the window model is meant.
    pub fn most_signals(&self) -> f64 {
        if let Window::Calibrated(response) = self.law { response.most_signals() } else { 1.0 }
    }

    /// Equation (1) at a round trip of `rtt` s, packets.
    pub fn window(&self, p: f64, rtt: f64) -> f64 {
        let signals = self.signal_share(p);
        match self.law {
            Window::Mgt => (2.0 / signals).sqrt(),
            Window::Full => (2.0 * (1.0 - signals) / signals).sqrt(),
            Window::Calibrated(response) => response.window(signals, rtt),
        }
    }
}

impl NoEquilibrium {
    /// The violated inequality, as an error without a key.
    pub fn error(&self) -> InputError {
        let (problem, expected) = match *self {
            NoEquilibrium::NoFlows => ("no responsive flows".into(), "more than 0".into()),
            NoEquilibrium::NoRoundTrip => ("a round-trip time of 0".into(), "more than 0 s".into()),
            NoEquilibrium::Unresponsive { rate, capacity } => (
                format!("{rate:.6} packets/s do not respond to marks"),
                format!("below the link's {capacity:.6} packets/s"),
            ),
            NoEquilibrium::Overload { least, capacity } => (
                format!("{least:.6} packets/s arrive even at p = 1"),
                format!("at most the link's {capacity:.6} packets/s"),
            ),
            NoEquilibrium::Underload { most, capacity } => (
                format!("{most:.6} packets/s arrive at the empty queue"),
                format!("more than the link's {capacity:.6} packets/s"),
            ),
            NoEquilibrium::Jump { backlog, from, to, needed } => (
                format!(
                    "p jumps from {from:.6} to {to:.6} at {backlog:.6} packets, past the {needed:.6} that the flows need"
                ),
                "a curve that gives it".into(),
            ),
            NoEquilibrium::NegativeBacklog { backlog } => (
                format!("the equilibrium backlog of the law would be {backlog:.6} packets"),
                "more than 0".into(),
            ),
            NoEquilibrium::Lossy { most, capacity } => (
                format!("{most:.6} packets/s arrive even at p = 0, since links lose packets too"),
                format!("more than the link's {capacity:.6} packets/s"),
            ),
            NoEquilibrium::Signals { share, most, class } => (
                format!("class {class} would have signals on {share:.6} of its packets"),
                format!("at most {most:.6}, up to which its windows are known"),
            ),
            NoEquilibrium::Window { window, class } => (
                format!("the equilibrium window of class {class} is {window:.6} packets"),
                String::from("at least 1"),
            ),
        };
        InputError::new(ErrorKind::Conflict, problem, expected)
    }
}

impl fmt::Display for NoEquilibrium {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error().fmt(to)
    }
}

impl std::error::Error for NoEquilibrium {}

/// Point at which `above` changes from true to false, to the last bit.
fn bisect(mut low: f64, mut high: f64, above: impl Fn(f64) -> bool) -> f64 {
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return high;
        }
        if above(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// Tolerance of the link's load at an equilibrium on a curve: bisection to the last bit of a steep one.
const ON_CURVE: f64 = 1e-6;
/// Backlogs between 0 and a target at which a law is compared with its equilibrium backlog.
const PLACES: u32 = 64;
/// Largest power of two to which backlogs are tried, packets.
const LARGEST: u32 = 31;
