//! What a law of the caller's own declares, against the law at work.
//!
//! The law is brought to its rest: one that integrates under a backlog that falls as its p rises, another one under
//! the backlog of rest. Three copies then see that backlog, but for a pulse of a fraction of a packet up in the one and
//! down in the other. What these two differ by is the impulse response that the law declares; what each differs from the
//! third by shows a law that is another one above its rest than below.

use sojourn_aqm::linear::{InSamples, Rational, Rest, Signal};
use sojourn_aqm::{Backlog, Departure, FlowId, Law, Observation, Site};
use sojourn_units::{Ecn, Fault, Prob, Rate, Span, Time};

/// Where a law rests.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) rest: &'a Rest,
    pub(super) site: &'a Site,
}

/// Refuses a law that does something else about its rest than it declares.
pub(super) fn refuse_another(law: Box<dyn Law>, declared: &InSamples, place: Place<'_>) -> Result<(), Fault> {
    let Rational { numerator, denominator } = &declared.transfer;
    if share_a_factor(numerator, denominator) {
        let what = "numerator and denominator have a factor in common, whose zero would be told as a root of the loop; \
                    legal: the ratio without it";
        return Err(Fault::new("linear", what));
    }
    let response = impulse_response(&declared.transfer);
    let size = response.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let rest = place.rest;
    let unrested = Shown::new(law.clone(), place);
    let rested = Shown::new(law, place).rested(integrates(&declared.transfer), size).ok_or_else(|| {
        // Under a slope that is not its own no law comes to rest.
        if let Some(fault) = unrested.another(&response, size) {
            return fault;
        }
        let what = format!(
            "update does not come to rest at p = {:.4} and {:.4} packets, where the traffic does, so that nothing can be \
             checked; legal: a transfer function of an update that does",
            rest.p, rest.backlog
        );
        Fault::new("linear", what)
    })?;
    let (up, still, down) = (rested.copied().pulse(PULSE), rested.copied().pulse(0.0), rested.pulse(-PULSE));
    for (period, declared) in response.iter().enumerate() {
        let [above, below] = [up[period] - still[period], still[period] - down[period]].map(|by| by / PULSE);
        if (above - below).abs() > BENT * (declared.abs() + SMALL * size) {
            let what = format!(
                "{period} periods after a pulse of the backlog p has moved by {above:.6e} a packet above its rest and by \
                 {below:.6e} below; legal: a law with one slope at its rest"
            );
            return Err(Fault::new("linear", what));
        }
        let seen = f64::midpoint(above, below);
        if (seen - declared).abs() > ALIKE * (declared.abs() + SMALL * size) {
            return Err(another(period, *declared, seen));
        }
    }
    Ok(())
}

/// The refusal of a transfer function that is not that of `update`.
fn another(period: usize, declared: f64, measured: f64) -> Fault {
    let what = format!(
        "declared slope {declared:.1e}, measured {measured:.1e} (of p, a packet, {period} periods after a pulse of the \
         backlog); expected: the transfer function of update about its rest"
    );
    Fault::new("linear", what)
}

/// Whether a lasting error moves p without end.
pub(super) fn integrates(transfer: &Rational) -> bool {
    let below: f64 = transfer.denominator.iter().sum();
    let scale: f64 = transfer.denominator.iter().map(|x| x.abs()).sum();
    below.abs() <= INTEGRAL * scale
}

/// Whether two polynomials have a zero in common, to rounding: by Euclid's algorithm.
fn share_a_factor(one: &[f64], other: &[f64]) -> bool {
    let size = |of: &[f64]| of.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let trimmed = |of: &[f64], least: f64| {
        let length = of.iter().rposition(|x| x.abs() > least).map_or(0, |last| last + 1);
        of[..length].to_vec()
    };
    let scaled = |of: &[f64]| -> Vec<f64> { trimmed(of, 0.0).iter().map(|x| x / size(of)).collect() };
    let (mut long, mut short) = (scaled(one), scaled(other));
    if long.len() < short.len() {
        std::mem::swap(&mut long, &mut short);
    }
    while short.len() > 1 {
        while long.len() >= short.len() {
            let (shift, factor) = (long.len() - short.len(), long[long.len() - 1] / short[short.len() - 1]);
            for (place, x) in short.iter().enumerate() {
                long[shift + place] -= factor * x;
            }
            long.pop();
        }
        let left = trimmed(&long, COMMON);
        if left.is_empty() {
            return true;
        }
        (long, short) = (short, scaled(&left));
    }
    false
}

/// What a ratio in z^-1 answers to a single 1.
fn impulse_response(transfer: &Rational) -> Vec<f64> {
    let Rational { numerator, denominator } = transfer;
    let mut out: Vec<f64> = Vec::new();
    for period in 0..PERIODS {
        let fed = numerator.get(period).copied().unwrap_or(0.0);
        let past = (1..denominator.len().min(period + 1)).map(|i| denominator[i] * out[period - i]);
        let past: f64 = past.sum();
        out.push((fed - past) / denominator[0]);
    }
    out
}

/// A law that is shown one backlog after another, while the link is busy.
struct Shown<'a> {
    law: Box<dyn Law>,
    now: Time,
    last: f64,
    place: Place<'a>,
}

impl<'a> Shown<'a> {
    fn new(law: Box<dyn Law>, place: Place<'a>) -> Shown<'a> {
        Shown { law, now: Time::ZERO, last: place.rest.backlog, place }
    }

    fn copied(&self) -> Shown<'a> {
        Shown { law: self.law.clone(), ..*self }
    }

    /// The law at rest; none where it does not come there.
    fn rested(mut self, integrates: bool, size: f64) -> Option<Shown<'a>> {
        let Rest { p: needed, backlog, .. } = *self.place.rest;
        let mut p = self.p();
        let mut still = 0;
        for _ in 0..LONGEST {
            let slope = if integrates { TOWARDS / size } else { 0.0 };
            p = self.show((backlog + slope * (needed - p)).max(0.0));
            still = if (p - needed).abs() <= AT_REST * needed { still + 1 } else { 0 };
            if still == STILL {
                (0..STILL).for_each(|_| _ = self.show(backlog));
                return Some(self);
            }
        }
        None
    }

    /// Whether it answers a pulse by something else than declared, though it may not have come to rest: by the larger of
    /// its answers up and down, since p may be at a bound.
    fn another(mut self, response: &[f64], size: f64) -> Option<Fault> {
        let backlog = self.place.rest.backlog;
        (0..STILL).for_each(|_| _ = self.show(backlog));
        let [up, down] = [PULSE, -PULSE].map(|pulse| self.copied().pulse(pulse));
        let still = self.pulse(0.0);
        let seen = |period: usize| {
            let [up, down] = [(up[period] - still[period]) / PULSE, (still[period] - down[period]) / PULSE];
            if up.abs() > down.abs() { up } else { down }
        };
        let off =
            |declared: f64, seen: f64| (seen - declared).abs() > FAR_OFF * (declared.abs() + SMALL * size);
        let (period, declared) =
            response.iter().enumerate().find(|(period, declared)| off(**declared, seen(*period)))?;
        Some(another(period, *declared, seen(period)))
    }

    /// p after a pulse of the backlog of so many packets.
    fn pulse(mut self, size: f64) -> Vec<f64> {
        let backlog = self.place.rest.backlog;
        (0..PERIODS).map(|period| self.show(backlog + if period == 0 { size } else { 0.0 })).collect()
    }

    fn p(&self) -> f64 {
        self.law.probability().map_or(0.0, Prob::get)
    }

    /// A period in which the link was busy and the backlog came to this.
    fn show(&mut self, backlog: f64) -> f64 {
        let Some(due) = self.law.next_update() else { return self.p() };
        let Place { rest, site } = self.place;
        let (p, packet, capacity) = (self.p(), site.packet, rest.network.capacity);
        let elapsed = due.since(self.now).seconds();
        let (left, head_sojourn) = (elapsed * capacity, backlog / capacity);
        let entered = left + backlog - self.last;
        let arrived = entered / rest.signal.passes(p);
        let chosen = p * arrived;
        self.law.on_departure(&Departure {
            now: due,
            len: packet as u32,
            ecn: Ecn::NotEct,
            flow: FlowId(0),
            sojourn: Span::from_seconds(head_sojourn),
            backlog: Backlog { packets: backlog as u32, bytes: (packet * backlog) as u64 },
            u: [0.5; 2],
        });
        let (marked, dropped) = match rest.signal {
            Signal::Mark => (chosen, 0.0),
            Signal::Drop => (0.0, chosen),
            Signal::Both { passes } => (chosen - (1.0 - passes) * arrived, (1.0 - passes) * arrived),
        };
        self.law.on_update(
            due,
            &Observation {
                now: due,
                elapsed,
                backlog_packets: backlog,
                backlog_bytes: packet * backlog,
                head_sojourn,
                arrived_packets: arrived,
                arrived_bytes: packet * arrived,
                departed_packets: left,
                departed_bytes: packet * left,
                dropped_packets: dropped,
                marked_packets: marked,
                busy: elapsed,
                capacity: Some(Rate::from_bits_per_second(8.0 * packet * capacity)),
                base_rtt: site.base_rtt,
                mean_packet: packet,
                limit: site.limit,
                applied: Prob::clamped(p),
            },
        );
        (self.now, self.last) = (due, backlog);
        self.p()
    }
}

/// Packets.
const PULSE: f64 = 0.02;
/// So long the answers are compared.
const PERIODS: usize = 60;
/// How far an answer may be off, by itself and by the largest one: what is left of a curve is of the pulse's third order.
const ALIKE: f64 = 1e-3;
const SMALL: f64 = 1e-2;
/// How far those above and below may be apart: a curve that bends over a packet or more.
const BENT: f64 = 2e-2;
/// How far an answer may be off before a law has come to rest.
const FAR_OFF: f64 = 0.1;
/// How far from its p of rest a law at rest may be, by that, and for how many periods.
const AT_REST: f64 = 1e-6;
const STILL: usize = 50;
/// Periods in which a law must come there.
const LONGEST: usize = 200_000;
/// The gain of the loop in which it does, by the law's largest answer.
const TOWARDS: f64 = 0.5;
/// What counts as nothing left of a division, by the dividend.
const COMMON: f64 = 1e-9;
/// What counts as no pole at z = 1.
const INTEGRAL: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_in_common_are_seen() {
        // (1 - 1.05 x) (a - b x) and (1 - 1.05 x) (1 - x); the same without the first.
        let (a, b) = (1.822e-5, 1.816e-5);
        let times = |of: [f64; 2]| [of[0], of[1] - 1.05 * of[0], -1.05 * of[1]];
        assert!(share_a_factor(&times([a, -b]), &times([1.0, -1.0])));
        assert!(!share_a_factor(&[a, -b], &[1.0, -1.0]));
        assert!(!share_a_factor(&times([a, -b]), &[1.0, -1.0]));
        assert!(share_a_factor(&[a, -a], &[1.0, -1.0]));
        assert!(!share_a_factor(&[1.0], &[1.0, -1.0]) && !share_a_factor(&[0.0, 1.0], &[2.0]));
    }
}
