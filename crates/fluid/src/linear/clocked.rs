//! Plants whose queues follow their windows at once, as ACKs clock the packets: simple terms of them, and the remainder.
//!
//! With n_i for theta n s, rates (1 + s R_i) n_i / R_i of equation (4) of [`super::plant`], mu_i the factor (6) there, own_i = s +
//! mu_i (a_i + b_i d_i), d_i the delay of ACKs and d'_i the factor (5) of signals, and kappa_i = k_i (1 - d_i - x_i),
//!
//! ```text
//! dq/dp = - sum of n_i g_i d'_i mu_i (1 + alpha_i / own_i) / D - u / D,   alpha_i = 1 / R_i - mu_i (a_i + b_i d_i)
//! D     = s + eta + eps,  eta = h + sum of n_i kappa_i,  eps = sum of n_i kappa_i (mu_i - 1 + mu_i alpha_i / own_i)
//! ```
//!
//! With one class of marked packets that fills the link, h = 1 / R and n k = b, and this is exactly - n g d' / (s + a + b -
//! n k x), with CUBIC's mu - n g d' mu / (s + mu (a + b - n k x)): no queue lags behind its windows. In general the terms of
//! first and second order are those of
//!
//! ```text
//! (1 + alpha / own) / D = 1 / sigma + (lambda - eta + alpha) / (sigma sigma_2) + O(s^-3)              (1)
//! sigma = s + lambda,  sigma_2 = s + 2 lambda,  lambda = h
//! ```
//!
//! in which eta and alpha, with mu = 1, are sums of exponentials. What (1) leaves out is
//!
//! ```text
//! (lambda - eta) (2 lambda - eta - eps) / (sigma D sigma_2) - eps / (sigma D)
//! + alpha ((2 lambda - a - b d) / (own D sigma_2) + (lambda - eta - eps) / (D sigma sigma_2))
//! ```
//!
//! and -(mu - 1) (a + b d) / (own D). A memory adds a lag of second order to the response to signals, m / ((s + m) sigma).

use super::bound::{Bound, Outside, grown};
use super::complex::{Complex64, scale};
use super::plant::{Exact, Lag};
use super::windows::Windows;

/// Bounds that the classes share.
struct Shared {
    /// 1 / sigma, 1 / sigma_2, 1 / D.
    sigma: Bound,
    twice: Bound,
    below: Bound,
    /// lambda - eta - eps.
    off: Bound,
    /// The remainder with alpha = 0.
    straight: Bound,
}

impl Exact {
    /// Equation (1).
    pub(super) fn clocked_lags(&self) -> Vec<Lag> {
        if let Some((class, rate)) = self.lone() {
            return class.lone_lags(rate);
        }
        let lambda = self.leak;
        let slowed: f64 = self.classes.iter().map(|class| class.clock * (class.slow - class.by_rtt)).sum();
        let mut lags = Vec::new();
        for (number, class) in self.classes.iter().enumerate() {
            let gain = class.clock * class.fall * class.at_once;
            let bend = -slowed + 1.0 / class.delay - class.now;
            self.add_lags(&mut lags, (gain, class.delay, class.span), (bend, Some(number)));
            if class.memory > 0.0 {
                let gain = class.clock * class.fall * class.memory * class.remembered;
                let rates = [class.memory, class.beside(lambda)];
                lags.push(Lag::real(gain, (class.delay, class.span), &rates));
            }
        }
        if self.dropped > 0.0 {
            self.add_lags(&mut lags, (self.dropped, 0.0, 0.0), (-slowed, None));
        }
        lags
    }

    /// e^(-s delay) of the shortest delay of a lag by its number, in the order of [`Exact::clocked_lags`].
    pub(super) fn late_of_clocked_lag(&self, number: usize, late: &[Complex64]) -> Complex64 {
        if self.lone().is_some() {
            return late[0];
        }
        let count = self.classes.len();
        let mut number = number;
        for (place, class) in self.classes.iter().enumerate() {
            let own = 2 + count + usize::from(class.memory > 0.0);
            if number < own {
                let crosses = (2..2 + count).contains(&number);
                return late[place] * if crosses { late[number - 2] } else { Complex64::ONE };
            }
            number -= own;
        }
        if number < 2 { Complex64::ONE } else { late[number - 2] }
    }

    /// Sum of the lags, class by class: those of second order have common rates.
    pub(super) fn clocked_lags_at(&self, s: Complex64, late: &[Complex64]) -> Complex64 {
        if let Some((class, rate)) = self.lone() {
            let of_signals = class.late_signals_between(s, [late[0], late[1]]);
            return class.lone_lags(rate).iter().map(|lag| of_signals * lag.at_once(s)).sum();
        }
        let (lambda, count) = (self.leak, self.classes.len());
        let first = (s + lambda).inv();
        let second = first / (s + 2.0 * lambda);
        let mut slowed = Complex64::ZERO;
        for (class, late) in self.classes.iter().zip(late) {
            slowed += class.clock * (class.slow * (1.0 - late) - class.by_rtt);
        }
        let mut sum = (first - second * slowed) * self.dropped;
        for (number, class) in self.classes.iter().enumerate() {
            let bend = 1.0 / class.delay - class.now - late[number] * class.then - slowed;
            let mut of = (first + second * bend) * class.at_once;
            if class.memory > 0.0 {
                of += class.memory * class.remembered / ((s + class.memory) * (s + class.beside(lambda)));
            }
            let of_signals = class.late_signals_between(s, [late[number], late[count + number]]);
            sum += of * of_signals * (class.clock * class.fall);
        }
        sum
    }

    /// The only class, if it fills the link with marked packets, and a + b - n k x.
    fn lone(&self) -> Option<(&Windows, f64)> {
        let [class] = self.classes.as_slice() else { return None };
        let rate = class.now + class.then - class.clock * class.by_rtt;
        let fills = (self.leak * class.delay - 1.0).abs() < ROUNDED
            && (class.clock * class.slow / class.then - 1.0).abs() < ROUNDED;
        // Partial fractions need two rates.
        let [one, other] = if class.growth_memory > 0.0 {
            class.rates_with_memory(rate)
        } else {
            [class.memory, rate].map(Complex64::from)
        };
        let apart = class.memory == 0.0 || scale(one / other - 1.0) > 1e-3;
        (fills && self.dropped == 0.0 && rate > 0.0 && apart).then_some((class, rate))
    }

    /// Adds the terms of a source of signals, whose constant part of lambda - eta + alpha is `bend`.
    fn add_lags(
        &self,
        lags: &mut Vec<Lag>,
        (gain, delay, span): (f64, f64, f64),
        (bend, class): (f64, Option<usize>),
    ) {
        let lambda = self.leak;
        let second = [lambda, 2.0 * lambda];
        lags.push(Lag::real(gain, (delay, span), &[lambda]));
        lags.push(Lag::real(gain * bend, (delay, span), &second));
        for (number, other) in self.classes.iter().enumerate() {
            let own = if class == Some(number) { other.then } else { 0.0 };
            let gain = gain * (other.clock * other.slow - own);
            lags.push(Lag::real(gain, (delay + other.delay, span), &second));
        }
    }

    /// Bound of what (1) leaves out.
    pub(super) fn clocked_remainder(&self, at: Outside) -> Option<Bound> {
        if self.lone().is_some() {
            return Some(Bound::NONE);
        }
        let of = self.shared_bounds(at)?;
        let mut remainder = of.straight.times(self.dropped);
        for class in &self.classes {
            remainder = remainder.plus(self.remainder_of(class, &of, at)?, at.radius);
        }
        Some(remainder)
    }

    fn shared_bounds(&self, at: Outside) -> Option<Shared> {
        let (lambda, radius) = (self.leak, at.radius);
        let [sigma, twice] = [Bound::over(lambda, radius)?, Bound::over(2.0 * lambda, radius)?];
        let (mut eta, mut eps) = (lambda, Bound::NONE);
        for class in &self.classes {
            let [own, _, slow] = class.bounds(at)?;
            let kappa = class.clock * slow.at(radius);
            eta += kappa;
            eps = eps.plus(own.times(kappa * class.alpha(at)?), radius);
            eps = eps.plus(class.grown_by_memory(radius)?.times(kappa), radius);
        }
        let below = Bound::over(eta + eps.at(radius), radius)?;
        let [off, more] = [lambda, 2.0 * lambda].map(|by| Bound::flat(by + eta).plus(eps, radius));
        let straight = sigma.with(below).with(twice).with(more).times(lambda + eta);
        let straight = straight.plus(eps.with(sigma).with(below), radius);
        Some(Shared { sigma, twice, below, off, straight })
    }

    fn remainder_of(&self, class: &Windows, of: &Shared, at: Outside) -> Option<Bound> {
        let radius = at.radius;
        let [own, ..] = class.bounds(at)?;
        let grown_by_memory = class.grown_by_memory(radius)?;
        let own_rate = class.now.abs() + class.then * grown(at.left, class.delay);
        let itself = 2.0 * self.leak + own_rate * (1.0 + grown_by_memory.at(radius));
        let bent = own.with(of.below).with(of.twice).times(itself);
        let bent = bent.plus(of.off.with(of.below).with(of.sigma).with(of.twice), radius);
        let alpha = class.alpha(at)?;
        let late = class.clock * class.fall * grown(at.left, class.longest_delay());
        let bent = bent.times(alpha).plus(own.with(of.below).with(grown_by_memory).times(own_rate), radius);
        let at_once = of.straight.plus(bent, radius).times(class.at_once * late);
        if class.memory == 0.0 {
            return Some(at_once);
        }
        let beside = class.beside(self.leak);
        let off = of.off.plus(Bound::flat(beside), radius);
        let moved = off.with(Bound::over(beside, radius)?).with(of.below);
        let moved = moved.plus(own.with(of.below).times(alpha), radius);
        let memory = Bound::over(class.memory, radius)?.times(class.memory * class.remembered);
        let averaged = moved.with(memory).times(late);
        Some(at_once.plus(averaged, radius))
    }
}

impl Windows {
    /// The plant of a lone class, where its windows have this rate.
    fn lone_lags(&self, rate: f64) -> Vec<Lag> {
        let (gain, delay, span) = (self.clock * self.fall, self.delay, self.span);
        if self.growth_memory > 0.0 {
            // (s + q) / ((s + x) (s + y)) in partial fractions.
            let q = self.memory * (1.0 + self.growth_memory);
            let [x, y] = self.rates_with_memory(rate);
            return [[x, y], [y, x]]
                .map(|[own, other]| Lag {
                    gain: gain * (q - own) / (other - own),
                    delay,
                    span,
                    rates: vec![own],
                })
                .into();
        }
        let mut lags = vec![Lag::real(gain * self.at_once, (delay, span), &[rate])];
        if self.memory > 0.0 {
            lags.push(Lag::real(gain * self.memory, (delay, span), &[self.memory, rate]));
        }
        lags
    }

    /// x and y of (s + x) (s + y) = s (s + m) + (s + (1 + c) m) rate, the denominator of a lone class whose growth remembers.
    fn rates_with_memory(&self, rate: f64) -> [Complex64; 2] {
        let half = Complex64::from(f64::midpoint(self.memory, rate));
        let apart = (half * half - (1.0 + self.growth_memory) * self.memory * rate).sqrt();
        [half + apart, half - apart]
    }

    /// Bound of alpha.
    fn alpha(&self, at: Outside) -> Option<f64> {
        let late = self.then * grown(at.left, self.delay);
        let by_memory = self.grown_by_memory(at.radius)?.at(at.radius) * (self.now.abs() + late);
        Some((1.0 / self.delay - self.now).abs() + late + by_memory)
    }

    /// lambda, or twice that where it is too close to the rate of its average for partial fractions.
    fn beside(&self, lambda: f64) -> f64 {
        if (self.memory / lambda - 1.0).abs() < 0.1 { 2.0 * lambda } else { lambda }
    }
}

/// Relative error of sums over an equilibrium.
const ROUNDED: f64 = 1e-9;
