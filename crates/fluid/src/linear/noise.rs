//! Noise of a queue: its spectrum under random signals, while p is held.
//!
//! A reduction of one of n windows of class i by a packet moves their mean by 1 / n, so that the queue follows by
//!
//! ```text
//! t_i = m_i d'_i / D,         m_i = s_i (theta_i / R_i, or theta_i (s + 1 / R_i) where ACKs clock the packets) /
//!                                   (s + mu_i (a_i + b_i d_i))               (1)
//! ```
//!
//! in the notation of [`super::disturbed`], d'_i the mean over the delays of signals, while the flight falls by a packet an
//! ACK. Where windows grow after a window of acknowledged bytes, a reduction also discards the count so far, uniform between
//! 0 and 1 packet of growth; the steps of growth that it delays are a round trip apart, t'_i = m_i d_i (1 - d_i) / (s R_i D).
//!
//! Each flow has f_i reductions per second, with the mean x_i and the mean square y_i, independent of each other and of those
//! of other flows (N. Campbell, "The study of discontinuous phenomena", 1909): the spectral density of the backlog is
//!
//! ```text
//! S(w) = sum of n_i f_i (y_i |t_i|^2 + x_i Re(t_i conj(t'_i)) + |t'_i|^2 / 3)        (2)
//! ```
//!
//! CUBIC's growth depends on earlier signals by their number: its y_i has x_i^2 (|mu_i|^2 - 1) more, mu_i that of (6) in
//! [`super::plant`], and in (3) its t_i has the factor mu_i.
//!
//! Signals that are spaced more evenly than independent ones have less: with their index of dispersion I, and the share r of
//! signals that reduce a window (others meet one that is in recovery), that of reductions is I' = 1 - r (1 - I), and (2)
//! loses
//!
//! ```text
//! (1 - I') |sum of n_i f_i x_i u_i|^2 / sum of n_i f_i,  x_i u_i = x_i t_i + t'_i / 2  (3)
//! ```
//!
//! Receivers that acknowledge every m-th packet hold 0 to m - 1 of a flow, as a telegraph signal if packets come at random
//! times W / R apart on average (S. O. Rice, "Mathematical analysis of random noise", 1944, section 2.7): in addition
//!
//! ```text
//! sum of n_i s_i^2 (m_i^2 - 1) / 12 * 4 (W_i / R_i) / (4 (W_i / R_i)^2 + w^2)          (4)
//! ```
//!
//! Datagrams at random times, u packets/s of size s_u, have the density u s_u^2 / |D|^2.
//!
//! Where a window responds to an average of signals (DCTCP) each packet is a draw: (2) is the response to signals, that to p
//! by 1 - l where a share l is lost behind the queue, squared, times s (1 - s) R_i / (n_i W_i).

use super::complex::{Complex64, exp};
use super::plant::Exact;
use super::windows::Windows;

/// Signals of a law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Signals {
    /// Index of dispersion of their number: variance by mean; 1: independent of each other.
    pub dispersion: f64,
    /// Share of the packets that are signalled.
    pub share: f64,
}

impl Exact {
    /// Spectral density of the backlog at a frequency, rad/s, p held, packets^2 s: its variance is the integral over all
    /// frequencies, by 2 pi. `arrivals` is the spectral density of those that do not respond, packets^2/s.
    pub fn noise(&self, signals: Signals, arrivals: f64, frequency: f64) -> f64 {
        let s = Complex64::new(0.0, frequency);
        let (mut random, mut together, mut rate) = (0.0, Complex64::ZERO, 0.0);
        let (mut packets, mut waiting) = (0.0, 0.0);
        for class in &self.classes {
            let of = class.moved(s);
            random += of.random * class.flows;
            together += of.mean * class.flows;
            rate += class.reductions[2] * class.flows;
            packets += class.flows * class.window / class.delay;
            waiting += class.waiting(frequency);
        }
        let responding = (rate / (signals.share * packets)).clamp(0.0, 1.0);
        let evenly = responding * (1.0 - signals.dispersion);
        let lost = if evenly > 0.0 { evenly * together.norm_sqr() / rate } else { 0.0 };
        ((random - lost).max(0.0) + arrivals) / self.queue_denominator(s).norm_sqr() + waiting
    }
}

/// Movements of the queue's growth by one flow.
struct Moved {
    /// The terms of (2).
    random: f64,
    /// f x u, those of (3).
    mean: Complex64,
}

impl Windows {
    fn moved(&self, s: Complex64) -> Moved {
        let late = exp(-s * self.delay);
        let by_window = self.queue_by_window(s, late) / self.flows;
        if self.draws > 0.0 {
            let [own, fall, _] = self.at(s, [late, self.late_signals(s, late)]);
            let by_p = (s * self.clock + self.rate) / own * fall / self.flows;
            let random = by_p.norm_sqr() * self.draws * self.delay / self.window;
            return Moved { random, mean: Complex64::ZERO };
        }
        let [squares, sum, rate] = self.reductions;
        let fall = by_window * self.late_signals(s, late);
        // The same of growth: 1 for all of it that a reduction may discard.
        let step = (1.0 - late) / (s * self.delay);
        let growth = by_window * late * if s == Complex64::ZERO { Complex64::ONE } else { step };
        // The mean growth, sum, is that of windows and counts.
        let part = self.lost_growth;
        let of_windows = sum - part * rate;
        let both = 2.0 * part * of_windows * (fall * growth.conj()).re;
        let square = 4.0 / 3.0 * part * part * rate;
        // A memory counts reductions, whatever their size.
        let memory = self.growth(s);
        let counted =
            if rate > 0.0 { of_windows * of_windows / rate * (memory.norm_sqr() - 1.0) } else { 0.0 };
        Moved {
            random: (squares + counted) * fall.norm_sqr() + both + square * growth.norm_sqr(),
            mean: fall * memory * of_windows + growth * (part * rate),
        }
    }

    /// Equation (4).
    fn waiting(&self, frequency: f64) -> f64 {
        let (size, packets) = (self.flight / self.flows, self.window / self.delay);
        let twice = 2.0 * packets;
        self.flows * size * size * self.unacknowledged * 2.0 * twice / (twice * twice + frequency * frequency)
    }
}
