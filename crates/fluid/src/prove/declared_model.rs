//! Verification of a custom law's declared model against its behaviour.
//!
//! The law is brought to equilibrium: an integrating one under a backlog that falls as its p rises, any other under
//! the equilibrium backlog. Three copies then see that backlog, two of them with a pulse of a fraction of a packet,
//! one up and one down. The difference between these two is the impulse response to compare with the declared one; the
//! difference of each from the third reveals a law whose slope above its equilibrium is not that below.

use sojourn_aqm::linear::{InSamples, OperatingPoint, Rational, Signal};
use sojourn_aqm::{Backlog, Departure, FlowId, Law, LinkContext, Observation};
use sojourn_params::{ErrorKind, InputError};
use sojourn_units::{Ecn, Prob, Rate, Span, Time};

/// Operating point and context of a law.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) point: &'a OperatingPoint,
    pub(super) context: &'a LinkContext,
}

/// Error of a law whose behaviour about its equilibrium is not the declared one.
pub(super) fn verify_declared_model(
    law: Box<dyn Law>,
    declared: &InSamples,
    place: At<'_>,
) -> Result<(), InputError> {
    let Rational { numerator, denominator } = &declared.transfer;
    if share_factor(numerator, denominator) {
        let problem = "numerator and denominator have a common factor, whose zero would be reported as a pole of the loop";
        return Err(error(problem.into(), "the ratio without it"));
    }
    let response = impulse_response(&declared.transfer);
    let size = response.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let point = place.point;
    let unsettled = Driven::new(law.clone(), place);
    let settled = Driven::new(law, place).at_equilibrium(integrates(&declared.transfer), size).ok_or_else(|| {
        // With a wrong slope no law reaches equilibrium.
        if let Some(mismatch) = unsettled.mismatch(&response, size) {
            return mismatch;
        }
        let problem = format!(
            "update does not converge to p = {:.4} at {:.4} packets, the equilibrium of the traffic, so that its model \
             cannot be verified",
            point.p, point.backlog
        );
        error(problem, "the transfer function of an update that does")
    })?;
    let (up, still, down) =
        (settled.copied().pulse(PULSE), settled.copied().pulse(0.0), settled.pulse(-PULSE));
    for (period, declared) in response.iter().enumerate() {
        let [above, below] = [up[period] - still[period], still[period] - down[period]].map(|by| by / PULSE);
        if (above - below).abs() > BENT * (declared.abs() + SMALL * size) {
            let problem = format!(
                "{period} periods after a pulse of the backlog p has moved by {above:.6e} a packet above its equilibrium \
                 and by {below:.6e} below"
            );
            return Err(error(problem, "a law with one slope at its equilibrium"));
        }
        let seen = f64::midpoint(above, below);
        if (seen - declared).abs() > ALIKE * (declared.abs() + SMALL * size) {
            return Err(mismatch(period, *declared, seen));
        }
    }
    Ok(())
}

/// Error of a transfer function that is not that of `update`.
fn mismatch(period: usize, declared: f64, measured: f64) -> InputError {
    let problem = format!(
        "declared slope {declared:.1e}, measured {measured:.1e} (of p, a packet, {period} periods after a pulse of the \
         backlog)"
    );
    error(problem, "the transfer function of update about its equilibrium")
}

/// Error of the declared transfer function.
fn error(problem: String, expected: &str) -> InputError {
    InputError::new(ErrorKind::Conflict, problem, expected).at("linear")
}

/// True if the transfer function has a pole at z = 1.
pub(super) fn integrates(transfer: &Rational) -> bool {
    let below: f64 = transfer.denominator.iter().sum();
    let scale: f64 = transfer.denominator.iter().map(|x| x.abs()).sum();
    below.abs() <= INTEGRAL * scale
}

/// True if two polynomials have a common zero, to rounding: by Euclid's algorithm.
fn share_factor(one: &[f64], other: &[f64]) -> bool {
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

/// Impulse response of a ratio in z^-1.
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

/// A law driven by a sequence of backlogs while the link is busy.
struct Driven<'a> {
    law: Box<dyn Law>,
    now: Time,
    last: f64,
    place: At<'a>,
}

impl<'a> Driven<'a> {
    fn new(law: Box<dyn Law>, place: At<'a>) -> Driven<'a> {
        Driven { law, now: Time::ZERO, last: place.point.backlog, place }
    }

    fn copied(&self) -> Driven<'a> {
        Driven { law: self.law.clone(), ..*self }
    }

    /// The law at equilibrium; None: it does not reach it.
    fn at_equilibrium(mut self, integrates: bool, size: f64) -> Option<Driven<'a>> {
        let OperatingPoint { p: needed, backlog, .. } = *self.place.point;
        let mut p = self.p();
        let mut still = 0;
        for _ in 0..LONGEST {
            let slope = if integrates { TOWARDS / size } else { 0.0 };
            p = self.drive((backlog + slope * (needed - p)).max(0.0));
            still = if (p - needed).abs() <= AT_EQUILIBRIUM * needed { still + 1 } else { 0 };
            if still == STILL {
                (0..STILL).for_each(|_| _ = self.drive(backlog));
                return Some(self);
            }
        }
        None
    }

    /// Error if the response to a pulse is not the declared one, though the law may not be at equilibrium: the larger
    /// of the responses up and down counts, since p may be at a bound.
    fn mismatch(mut self, response: &[f64], size: f64) -> Option<InputError> {
        let backlog = self.place.point.backlog;
        (0..STILL).for_each(|_| _ = self.drive(backlog));
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
        Some(mismatch(period, *declared, seen(period)))
    }

    /// p after a pulse of the backlog, packets.
    fn pulse(mut self, size: f64) -> Vec<f64> {
        let backlog = self.place.point.backlog;
        (0..PERIODS).map(|period| self.drive(backlog + if period == 0 { size } else { 0.0 })).collect()
    }

    fn p(&self) -> f64 {
        self.law.probability().map_or(0.0, Prob::get)
    }

    /// Runs one period in which the link was busy, with this backlog at its end.
    fn drive(&mut self, backlog: f64) -> f64 {
        let Some(due) = self.law.next_update() else { return self.p() };
        let At { point, context } = self.place;
        let (p, packet, capacity) = (self.p(), context.packet, point.network.capacity);
        let elapsed = due.since(self.now).seconds();
        let (left, head_sojourn) = (elapsed * capacity, backlog / capacity);
        let entered = left + backlog - self.last;
        let arrived = entered / point.signal.passes(p);
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
        let (marked, dropped) = match point.signal {
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
                base_rtt: context.base_rtt,
                mean_packet: packet,
                limit: context.limit,
                applied: Prob::clamped(p),
            },
        );
        (self.now, self.last) = (due, backlog);
        self.p()
    }
}

/// Pulse, packets.
const PULSE: f64 = 0.02;
/// Periods over which responses are compared.
const PERIODS: usize = 60;
/// Tolerance of a response, relative to itself and to the largest one: the remainder of a curve is of third order in
/// the pulse.
const ALIKE: f64 = 1e-3;
const SMALL: f64 = 1e-2;
/// Tolerance between the responses up and down: a curve that bends over a packet or more passes.
const BENT: f64 = 2e-2;
/// Tolerance of a response before a law has reached equilibrium.
const FAR_OFF: f64 = 0.1;
/// Tolerance of p at equilibrium, relative to it, and the number of periods it must hold.
const AT_EQUILIBRIUM: f64 = 1e-6;
const STILL: usize = 50;
/// Periods within which a law must reach equilibrium.
const LONGEST: usize = 200_000;
/// Gain of the loop that brings it to equilibrium, relative to the law's largest response.
const TOWARDS: f64 = 0.5;
/// Remainder of a division that counts as zero, relative to the dividend.
const COMMON: f64 = 1e-9;
/// Value of the denominator at z = 1 that counts as zero.
const INTEGRAL: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_in_common_are_seen() {
        // (1 - 1.05 x) (a - b x) and (1 - 1.05 x) (1 - x); the same without the first.
        let (a, b) = (1.822e-5, 1.816e-5);
        let times = |of: [f64; 2]| [of[0], of[1] - 1.05 * of[0], -1.05 * of[1]];
        assert!(share_factor(&times([a, -b]), &times([1.0, -1.0])));
        assert!(!share_factor(&[a, -b], &[1.0, -1.0]));
        assert!(!share_factor(&times([a, -b]), &[1.0, -1.0]));
        assert!(share_factor(&[a, -a], &[1.0, -1.0]));
        assert!(!share_factor(&[1.0], &[1.0, -1.0]) && !share_factor(&[0.0, 1.0], &[2.0]));
    }
}
