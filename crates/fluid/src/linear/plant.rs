//! Small-signal plants: from deviations of p to those of the packets in flight and of the backlog.
//!
//! [`Hollot`] is the textbook's (C. V. Hollot, V. Misra, D. Towsley and W.-B. Gong, "Analysis and
//! design of controllers for AQM routers supporting TCP flows", IEEE TAC 47(6), 2002):
//!
//! ```text
//! dF/dp = -(R C^2 / 2N) e^(-s R) / (s + 2N / (R^2 C)),  dq/dF = 1 / (1 + R s)  (1)
//! P     = dq/dp = -(C^2 / 2N) e^(-s R) / ((s + 2N / (R^2 C)) (s + 1 / R))     (2)
//! ```
//!
//! It leaves out the effect of the state-dependent round trip on the windows, and that drops do not arrive. [`Exact`]
//! is the linearised model of several classes i (subscript d: one round trip of the class earlier), with its window
//! law's a, b, g, k, theta of the link's signal, and the share s of packets with a signal where links lose l of them,
//! 1 - s = (1 - l) (1 - p):
//!
//! ```text
//! dW_i' = -a_i dW_i - b_i dW_i,d - g_i dp_d - k_i (dq - dq_d)                 (3)
//! mgt:    a = b = W s / (2 R),  g = (1 - l) W^2 / (2 R),  k = W^2 s / (2 R^2 C)
//! full:   a = s W / R,  b = 0,  g = (1 - l) (1 + W^2 / 2) / R,  k = 0
//! calibrated: a = (e - 1) G / (R W),  b = G / (R W),  g = (1 - l) G / (R s),  k = G / (R^2 C)
//! dq'   = sum of theta_i n_i s_i (dW_i / R_i - W_i dq / (R_i^2 C)) - u dp     (4)
//! u     = sum of n_i s_i W_i / R_i over dropped packets, and U' with it
//! ```
//!
//! Calibrated windows move the queue at once: dW_i / R_i in (4) is dW_i / R_i + dW_i', and dp_d is the mean over the span
//! from (1 + 2 r) R to R ago, as a recovery takes effect by degrees: the factor
//!
//! ```text
//! d' = (e^(-s R) - e^(-s (1 + 2 r) R)) / (2 r R s)                            (5)
//! ```
//!
//! `clocked.rs` has the simple terms of these plants.
//!
//! e = - d ln p / d ln W of the response function, and G the growth ([`crate::response`]). Where p(W) depends on R, too,
//! with x = d ln p / d ln R, dW_i' has k x dq in addition. With DCTCP's average, m = its weight / R, and z = 1 / (1 +
//! (W - 1) s), g is g (z + m / (s + m)), and a has e (1 + z) in place of e. CUBIC's growth depends on
//! earlier signals: all terms of (3) have the factor
//!
//! ```text
//! mu = 1 + c m / (s + m),  m = reductions of a window per second           (6)
//! ```
//!
//! The delay itself depends on the backlog, but at equilibrium every delayed value is the same whatever the delay, so
//! that to first order it is the equilibrium delay.

use super::bound::{Bound, Outside, doubled, grown};
use super::complex::{Complex64, Wide, exp};
use super::equilibrium::{Class, Equilibrium, Link, Signal};
use super::windows::{State, Windows, is_clocked};
use sojourn_aqm::Network;

/// Response of a plant at one s: two quotients with one denominator, each part analytic once multiplied by
/// [`LinearPlant::factors`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response {
    /// Numerator of dF/dp: packets in flight by probability.
    pub flight: Complex64,
    /// Numerator of dq/dp: packets in the queue by probability.
    pub backlog: Complex64,
    /// Denominator; with the factors its zeros are the plant's poles.
    pub below: Complex64,
}

/// -gain e^(-s delay) / product of (s + rate), the mean over delays of a span. One that is not real has its conjugate beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Lag {
    /// Mostly positive.
    pub gain: Complex64,
    /// The shortest, s.
    pub delay: f64,
    /// The longest less the shortest, s.
    pub span: f64,
    /// One or two, distinct, 1/s.
    pub rates: Vec<Complex64>,
}

/// A small-signal plant.
pub trait LinearPlant: Sync {
    /// Response at `s`, 1/s.
    fn at(&self, s: Complex64) -> Response;

    /// The delays of the exponentials in it, s.
    fn delays(&self) -> Vec<f64>;

    /// dq/dp at `s`, given e^(-s delay) of each of the delays.
    fn queue(&self, s: Complex64, late: &[Complex64]) -> Complex64;

    /// Counts an evaluation of its lags in place of [`LinearPlant::queue`]; false beyond a limit.
    fn count_evaluation(&self) -> bool {
        true
    }

    /// e^(-s delay) of the shortest delay of a lag of [`LinearPlant::lags`], by its number, given those of the delays: these
    /// in their order, then 1.
    fn late_of_lag(&self, number: usize, late: &[Complex64]) -> Complex64 {
        late.get(number).copied().unwrap_or(Complex64::ONE)
    }

    /// Sum of the lags, `lags`, at `s`, given e^(-s delay) of each of the delays.
    fn lags_at(&self, lags: &[Lag], s: Complex64, late: &[Complex64]) -> Complex64 {
        let of = |(number, lag): (usize, &Lag)| self.late_of_lag(number, late) * lag.undelayed(s);
        lags.iter().enumerate().map(of).sum()
    }

    /// Its greatest delay, s: rate at which dq/dp winds along the imaginary axis.
    fn delay(&self) -> f64 {
        self.delays().into_iter().fold(0.0, f64::max)
    }

    /// The greatest delay in any product of its terms, s: rate at which numerator and denominator wind.
    fn delay_of_parts(&self) -> f64 {
        self.delays().iter().sum()
    }

    /// Product of analytic factors that its parts are divided by.
    fn factors(&self, _s: Complex64) -> Wide {
        Wide::ONE
    }

    /// Real zeros of the factors, 1/s: poles of many classes are beside them.
    fn real_zeros_of_factors(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Bounds of |dF/dp| and |dq/dp| outside; none where the radius is too small.
    fn bounds(&self, at: Outside) -> Option<[Bound; 2]>;

    /// Simple terms whose sum approximates dq/dp at high frequencies, so that the remainder can be summed fast; their
    /// delays are those of [`LinearPlant::late_of_lag`].
    fn lags(&self) -> Vec<Lag>;

    /// Bound of dq/dp less the lags; none where the radius is too small, 0 where nothing remains.
    fn remainder(&self, at: Outside) -> Option<Bound>;

    /// Radius that encloses all poles with Re s >= -left; none where none is known.
    fn pole_radius(&self, left: f64) -> Option<f64> {
        doubled(|radius| self.bounds(Outside { radius, left }).is_some())
    }
}

/// The textbook's plant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hollot {
    /// N, C and R.
    pub network: Network,
    /// Delay in the exponential, s: R, or another one to show its effect.
    pub delay: f64,
}

/// The linearised model of several classes.
#[derive(Clone, Debug, PartialEq)]
pub struct Exact {
    pub(super) classes: Vec<Windows>,
    /// h: decay rate of the queue, since longer round trips slow the flows, 1/s.
    pub(super) leak: f64,
    /// u, packets/s.
    pub(super) dropped: f64,
    /// True if its queue follows the windows at once.
    pub(super) is_clocked: bool,
}

/// A plant whose backlog a law sees by the sojourn of the packet that leaves: as it was when that packet arrived, at
/// equilibrium q / C ago.
#[derive(Clone, Debug)]
pub struct Seen<P> {
    /// The plant.
    pub plant: P,
    /// q / C, s; 0: the law sees the backlog itself.
    pub wait: f64,
}

impl Lag {
    /// With a gain and rates that are real, the shortest delay and the span.
    pub fn real(gain: f64, (delay, span): (f64, f64), rates: &[f64]) -> Lag {
        let rates = rates.iter().copied().map(Complex64::from).collect();
        Lag { gain: gain.into(), delay, span, rates }
    }
}

impl Hollot {
    /// With the delay of a round trip.
    pub fn new(network: Network) -> Hollot {
        Hollot { network, delay: network.rtt }
    }

    /// C^2 / 2N, packets/s^2.
    pub fn gain(&self) -> f64 {
        self.network.capacity * self.network.capacity / (2.0 * self.network.flows)
    }

    /// Poles of the windows and of the queue, as rates, 1/s.
    pub fn rates(&self) -> [f64; 2] {
        let Network { flows, capacity, rtt } = self.network;
        [2.0 * flows / (rtt * rtt * capacity), 1.0 / rtt]
    }
}

impl<P: LinearPlant> LinearPlant for Seen<P> {
    fn at(&self, s: Complex64) -> Response {
        let Response { flight, backlog, below } = self.plant.at(s);
        Response { flight, backlog: backlog * exp(-s * self.wait), below }
    }

    fn delays(&self) -> Vec<f64> {
        let mut delays = self.plant.delays();
        delays.push(self.wait);
        delays
    }

    fn queue(&self, s: Complex64, late: &[Complex64]) -> Complex64 {
        match late.split_last() {
            Some((wait, late)) => self.plant.queue(s, late) * wait,
            None => self.plant.queue(s, late),
        }
    }

    fn lags_at(&self, lags: &[Lag], s: Complex64, late: &[Complex64]) -> Complex64 {
        match late.split_last() {
            Some((wait, late)) => self.plant.lags_at(lags, s, late) * wait,
            None => self.plant.lags_at(lags, s, late),
        }
    }

    fn late_of_lag(&self, number: usize, late: &[Complex64]) -> Complex64 {
        match late.split_last() {
            Some((wait, late)) => self.plant.late_of_lag(number, late) * wait,
            None => self.plant.late_of_lag(number, late),
        }
    }

    fn delay(&self) -> f64 {
        self.plant.delay() + self.wait
    }

    fn factors(&self, s: Complex64) -> Wide {
        self.plant.factors(s)
    }

    fn real_zeros_of_factors(&self) -> Vec<f64> {
        self.plant.real_zeros_of_factors()
    }

    fn bounds(&self, at: Outside) -> Option<[Bound; 2]> {
        let [flight, backlog] = self.plant.bounds(at)?;
        Some([flight, backlog.times(grown(at.left, self.wait))])
    }

    fn lags(&self) -> Vec<Lag> {
        let lags = self.plant.lags().into_iter();
        lags.map(|lag| Lag { delay: lag.delay + self.wait, ..lag }).collect()
    }

    fn remainder(&self, at: Outside) -> Option<Bound> {
        Some(self.plant.remainder(at)?.times(grown(at.left, self.wait)))
    }

    fn pole_radius(&self, left: f64) -> Option<f64> {
        self.plant.pole_radius(left)
    }
}

impl LinearPlant for Hollot {
    /// Equations (1) and (2).
    fn at(&self, s: Complex64) -> Response {
        let [windows, queue] = self.rates();
        let backlog = exp(-s * self.delay) * -self.gain();
        Response {
            flight: backlog * (s * self.network.rtt + 1.0),
            backlog,
            below: (s + windows) * (s + queue),
        }
    }

    fn delays(&self) -> Vec<f64> {
        vec![self.delay]
    }

    fn queue(&self, s: Complex64, late: &[Complex64]) -> Complex64 {
        let [windows, queue] = self.rates();
        late[0] * -self.gain() / ((s + windows) * (s + queue))
    }

    fn bounds(&self, at: Outside) -> Option<[Bound; 2]> {
        let [windows, queue] = self.rates().map(|rate| Bound::over(rate, at.radius));
        let gain = self.gain() * grown(at.left, self.delay);
        Some([windows?.times(gain * self.network.rtt), windows?.with(queue?).times(gain)])
    }

    fn lags(&self) -> Vec<Lag> {
        vec![Lag::real(self.gain(), (self.delay, 0.0), &unlike(self.rates()))]
    }

    fn remainder(&self, at: Outside) -> Option<Bound> {
        let [slow, fast] = self.rates();
        let [kept, bent] = [fast, unlike(self.rates())[1]];
        if kept == bent {
            return Some(Bound::NONE);
        }
        let bounds = [slow, kept, bent].map(|rate| Bound::over(rate, at.radius));
        let difference = (bent - kept).abs() * self.gain() * grown(at.left, self.delay);
        Some(bounds[0]?.with(bounds[1]?).with(bounds[2]?).times(difference))
    }
}

impl Exact {
    /// Linearises `link` at its equilibrium.
    pub fn new(link: &Link, equilibrium: &Equilibrium) -> Exact {
        let theta = |class: &Class| link.signal_of(class.ecn).passes(equilibrium.p);
        let states = equilibrium.windows.iter().zip(&equilibrium.rtts);
        let classes: Vec<Windows> = link
            .classes
            .iter()
            .zip(states.clone())
            .map(|(class, (&window, &rtt))| {
                let flight = class.flows * class.size;
                let own = State {
                    window,
                    rtt,
                    signals: class.signal_share(equilibrium.p),
                    capacity: link.capacity,
                };
                let own = own.linear(class);
                let clock = if is_clocked(class) { theta(class) * flight } else { 0.0 };
                Windows { flight, rate: theta(class) * flight / rtt, clock, flows: class.flows, ..own }
            })
            .collect();
        let states_of = || classes.iter().zip(&link.classes).zip(states.clone());
        let leaks = states_of().map(|((own, _), (window, rtt))| own.rate * window / (rtt * link.capacity));
        let lost = states_of().filter(|((_, class), _)| link.signal_of(class.ecn) == Signal::Drop);
        let responsive: f64 = lost.map(|((own, _), (window, rtt))| own.flight * window / rtt).sum();
        let [markable, others] = link.unresponsive;
        let unresponsive = if link.signal == Signal::Drop { markable + others } else { others };
        let (leak, dropped) = (leaks.sum(), responsive + unresponsive);
        // A scenario has one model for all of its classes.
        let is_clocked = link.classes.iter().all(is_clocked);
        Exact { classes, leak, dropped, is_clocked }
    }
}

impl LinearPlant for Exact {
    /// Equations (3) and (4), divided by the denominators of all classes.
    fn at(&self, s: Complex64) -> Response {
        let of = |class: &Windows| {
            let late = exp(-s * class.delay);
            class.at(s, [late, class.late_signals(s, late)])
        };
        let terms: Vec<_> = self.classes.iter().map(of).collect();
        let (mut backlog, mut below) = (Complex64::new(-self.dropped, 0.0), s + self.leak);
        for (class, [own, fall, slow]) in self.classes.iter().zip(&terms) {
            let share = (s * class.clock + class.rate) / own;
            backlog -= share * fall;
            below += share * slow;
        }
        let flight = self.classes.iter().zip(&terms).map(|(class, [own, fall, slow])| {
            // Its zeros are zeros of the sum, too.
            (fall * below + slow * backlog) / own * -class.flight
        });
        Response { flight: flight.sum(), backlog, below }
    }

    /// The denominators of all classes.
    fn factors(&self, s: Complex64) -> Wide {
        self.classes.iter().fold(Wide::ONE, |product, class| product.times(class.own(s)))
    }

    /// All round trips, and what a signal is later by at most.
    fn delay_of_parts(&self) -> f64 {
        let later = self.classes.iter().map(|class| class.span);
        self.classes.iter().map(|class| class.delay).sum::<f64>() + later.fold(0.0, f64::max)
    }

    fn real_zeros_of_factors(&self) -> Vec<f64> {
        self.classes.iter().flat_map(Windows::real_zeros).collect()
    }

    /// Those of ACKs, then the longest ones of signals where they differ.
    fn delays(&self) -> Vec<f64> {
        let of_acks = self.classes.iter().map(|class| class.delay);
        let of_signals = self.classes.iter().map(Windows::longest_delay);
        let of_signals = of_signals.take(if self.is_clocked { self.classes.len() } else { 0 });
        of_acks.chain(of_signals).collect()
    }

    fn late_of_lag(&self, number: usize, late: &[Complex64]) -> Complex64 {
        if self.is_clocked {
            return self.late_of_clocked_lag(number, late);
        }
        late.get(number).copied().unwrap_or(Complex64::ONE)
    }

    fn lags_at(&self, lags: &[Lag], s: Complex64, late: &[Complex64]) -> Complex64 {
        if self.is_clocked {
            return self.clocked_lags_at(s, late);
        }
        let late_of = late.iter().copied().chain(std::iter::repeat(Complex64::ONE));
        lags.iter().zip(late_of).map(|(lag, late)| late * lag.undelayed(s)).sum()
    }

    fn delay(&self) -> f64 {
        self.classes.iter().map(Windows::longest_delay).fold(0.0, f64::max)
    }

    fn queue(&self, s: Complex64, late: &[Complex64]) -> Complex64 {
        let (mut backlog, mut below) = (Complex64::new(-self.dropped, 0.0), s + self.leak);
        let count = self.classes.len();
        for (number, class) in self.classes.iter().enumerate() {
            let of_signals = if self.is_clocked {
                class.late_signals_between(s, [late[number], late[count + number]])
            } else {
                late[number]
            };
            let [own, fall, slow] = class.at(s, [late[number], of_signals]);
            let share = (s * class.clock + class.rate) / own;
            backlog -= share * fall;
            below += share * slow;
        }
        backlog / below
    }

    fn bounds(&self, at: Outside) -> Option<[Bound; 2]> {
        let below = Bound::over(self.leak + self.bent(at)?.at(at.radius), at.radius)?;
        let mut backlog = Bound::flat(self.dropped);
        for class in &self.classes {
            let [own, fall, _] = class.bounds(at)?;
            backlog = backlog.plus(own.with(fall).with(class.rates(at.radius)), at.radius);
        }
        let backlog = backlog.with(below);
        let mut flight = Bound::NONE;
        for class in &self.classes {
            let [own, fall, slow] = class.bounds(at)?;
            let answer = fall.plus(slow.with(backlog), at.radius);
            flight = flight.plus(own.with(answer).times(class.flight), at.radius);
        }
        Some([flight, backlog])
    }

    fn lags(&self) -> Vec<Lag> {
        if self.is_clocked {
            return self.clocked_lags();
        }
        let of_windows = self.classes.iter().map(|class| {
            let gain = class.rate * class.fall * class.at_once;
            Lag::real(gain, (class.delay, 0.0), &self.rates_of(class))
        });
        let direct = Lag::real(self.dropped, (0.0, 0.0), &[self.leak]);
        of_windows.chain((self.dropped > 0.0).then_some(direct)).collect()
    }

    fn remainder(&self, at: Outside) -> Option<Bound> {
        if self.is_clocked {
            return self.clocked_remainder(at);
        }
        let leak = Bound::over(self.leak, at.radius)?;
        let bent = self.bent(at)?;
        let below = Bound::over(self.leak + bent.at(at.radius), at.radius)?;
        let mut remainder = bent.with(below).with(leak).times(self.dropped);
        for class in &self.classes {
            let rates = self.rates_of(class);
            let [own, ..] = class.bounds(at)?;
            let [at_once, averaged] = class.signal_bounds(at)?;
            let [plain, queue] = [Bound::over(rates[0], at.radius)?, Bound::over(rates[1], at.radius)?];
            let moved = Bound::flat((rates[1] - self.leak).abs()).plus(bent, at.radius).with(below);
            let apart = (class.now - rates[0]).abs();
            let late = plain.times(apart + class.then * grown(at.left, class.delay));
            let off = moved.plus(late, at.radius).with(own).with(queue).with(at_once);
            let averaged = averaged.with(own).with(below);
            remainder = remainder.plus(off.plus(averaged, at.radius).times(class.rate), at.radius);
        }
        Some(remainder)
    }
}

impl Exact {
    /// Rates of the lag of a class whose packets are not clocked.
    fn rates_of(&self, class: &Windows) -> Vec<f64> {
        unlike([class.lagging(), self.leak])
    }

    /// Bound of the contribution of (3) to the queue's denominator.
    fn bent(&self, at: Outside) -> Option<Bound> {
        self.classes.iter().try_fold(Bound::NONE, |sum, class| {
            let [own, _, slow] = class.bounds(at)?;
            Some(sum.plus(own.with(slow).with(class.rates(at.radius)), at.radius))
        })
    }
}

/// The two rates, the second one moved where they are too close for partial fractions.
fn unlike([first, second]: [f64; 2]) -> Vec<f64> {
    let alike = (first - second).abs() < ALIKE * first.max(second);
    vec![first, if alike { 2.0 * first } else { second }]
}

/// Least relative distance of two poles: partial fractions lose the digits of its inverse.
const ALIKE: f64 = 1e-2;
