//! RED: random early detection.
//!
//! S. Floyd, V. Jacobson, "Random Early Detection Gateways for Congestion
//! Avoidance", IEEE/ACM Transactions on Networking 1(4), 1993. The average
//! backlog is an EWMA over arrivals; the probability of a mark or drop grows
//! with it from 0 at `min` to `max_p` at `max`:
//!
//! ```text
//! avg <- (1 - w_q) avg + w_q q                     at each arrival   (1)
//! avg <- (1 - w_q)^m avg,  m = idle / s            after idle time   (2)
//! p_b  = max_p (avg - min_th) / (max_th - min_th)                    (3)
//! p_a  = p_b / (1 - count p_b)                     wait = false      (4)
//! p_a  = 0, then p_b / (2 - count p_b)             wait = true       (5)
//! ```
//!
//! `count` is the number of packets since the last mark or drop; it spaces
//! them evenly. Equation (4) is the 1993 paper's; equation (5) is the first
//! author's in ns since 1997: at least 1/p_b packets between two of them.
//! `gentle` (Floyd 2000): p_b rises linearly from `max_p` at `max` to 1 at twice
//! `max`, instead of jumping to 1 at `max`. Beyond the end of the curve every packet is hit.
//! An ECN-capable packet that is hit is marked while p_b < `mark_below_p`, else
//! dropped. At 1, the default, packets are marked along the whole curve and dropped beyond its end
//! (RFC 3168, section 7); above 1 they are marked there, too. A full buffer drops every packet.
//!
//! `byte_mode`: the backlog, the thresholds, `count` and p_a are in bytes over
//! `mean_packet`, so that the probability is proportional to the packet size.
//! `thresholds = auto`: thresholds and weight follow the link, as in Adaptive RED
//! (Floyd, Gummadi, Shenker 2001), for a target delay d:
//!
//! ```text
//! w_q    = 1 - e^(-1/C)                    the average forgets within 1 s     (6)
//! min_th = max(5, d C / 2),  max_th = 3 min_th                                (7)
//! ```
//!
//! C in (6) and 1/s in (2) are the link rate in packets of `mean_packet`. In (7), and in thresholds given as times, C
//! has the unit of the backlog: packets of the link, or mean packets in byte mode.

pub mod fluid;

use crate::analysis::{Analysis, NoiseModel};
use crate::entry::{Designed, Entry};
use crate::gauges::Gauges;
use crate::law::{Arrival, Law, Verdict};
use crate::linear::{Linear, OperatingPoint, Rational};
use crate::link_context::LinkContext;
use sojourn_params::{Described, ErrorKind, Given, InputError, Page};
use sojourn_units::{Amount, Bytes, Prob, Rate, Span, Time, math};

sojourn_params::choice! {
    /// Thresholds without `min` and `max`.
    pub enum Thresholds {
        /// A sixth and a half of the buffer.
        Buffer = "buffer",
        /// Equation (7), and the weight of equation (6).
        Auto = "auto",
    }
}

/// Catalogue entry.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "red",
        summary: "random early detection: mark with a probability that grows with the average backlog",
        idea: "The average backlog is compared with two thresholds. Below the lower one every packet passes; \
               between them packets are marked or dropped with a probability that rises to max_p; above the \
               upper one it rises to 1 (gentle) or is 1 at once. A count since the last mark \
               spreads marks out in time.",
        equation: "avg <- (1 - w_q) avg + w_q q;  p_b = max_p (avg - min_th) / (max_th - min_th)",
        source: "S. Floyd, V. Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993; gentle: S. Floyd 2000",
        fields: Params::fields,
    },
    read: Given::read::<Params>,
    design: |params, context| {
        let law = Red::new(params.of()?, context)?;
        Ok(Designed::new(law.clone()).with_fluid(fluid::FluidRed::new(law, context)))
    },
};

sojourn_params::params! {
    /// Parameters of RED.
    pub struct Params {
        /// average backlog below which every packet passes
        min "min_th": Option<Amount> = None, above 0, where "less than max",
            "a third of max, Floyd 1997; without max a sixth of the buffer (5 packets where there is no limit)";
        /// average backlog at which p_b reaches max_p
        max "max_th": Option<Amount> = None, above 0, where "more than min, within the buffer",
            "three times min, Floyd 1997";
        /// thresholds that are not given: buffer, shares of it, or auto, from the target, with the weight from the rate
        thresholds "thresholds": Thresholds = Thresholds::Buffer,
            "valid for any link; auto is Floyd et al. 2001, ns-2's default";
        /// average backlog to hold under thresholds = auto; a time follows the link's rate
        target "d C": Option<Amount> = None, above 0, where "at most two thirds of the buffer, with thresholds = auto",
            "5 ms, Floyd et al. 2001, section 5; less where the buffer does not hold it";
        /// weight of a new sample in the average
        weight "w_q": Option<f64> = None, in above 0.0 to 1.0,
            "0.002, Floyd and Jacobson 1993; with thresholds = auto 1 - e^(-1/C), a time constant of 1 s";
        /// probability at the upper threshold
        max_p "max_p": Prob = Prob::clamped(0.1), above 0.0, "Floyd 1997: 0.1 instead of the 0.02 of 1993";
        /// rise to 1 at twice max instead of jumping there
        gentle "gentle": bool = true, "Floyd 2000: less sensitive to max and max_p";
        /// ECN-capable packets are marked while p_b is below this, else dropped; 1: all but those beyond the curve's end
        mark_below_p "mark_p": f64 = 1.0, in 0.0 to 2.0, where "above 1 nothing is dropped that can be marked",
            "RFC 3168, section 7: drop above the upper threshold; ns-2 drops above 0.1";
        /// count bytes: the average, and the probability by packet size
        byte_mode "bytes": bool = false, "RFC 7567, section 4.4: do not favour small packets";
        /// size of the packets that pace the average; with byte_mode also the unit of backlog and thresholds
        mean_packet "mean packet size": Option<Bytes> = None, above "0 B", "the scenario's segment; ns-2 takes 500 B";
        /// wait 1/p_b packets after a mark or drop, equation (5)
        wait "wait": bool = true, "the first author's own simulator since 1997; false is the 1993 paper, equation (4)";
    }
}

/// Random early detection.
#[derive(Clone, Debug)]
pub struct Red {
    curve: Curve,
    weight: f64,
    mark_below_p: f64,
    byte_mode: bool,
    wait: bool,
    /// Context in the packets of the backlog: those of the link, in byte mode mean packets.
    context: LinkContext,
    /// Size of a packet of the link in mean packets in byte mode, else 1.
    unit: f64,
    /// Size of the packets that pace the average, bytes.
    mean_packet: f64,
    automatic: Automatic,
    /// Link rate, mean packets/s, for the ageing of the average; 0 while the link is stopped.
    capacity: f64,

    average: f64,
    p: f64,
    /// Packets (in byte mode: bytes in mean packets) since the last mark or drop.
    count: f64,
    /// The average was above `min` at the last arrival.
    in_band: bool,
    idle_since: Option<Time>,
}

/// Parameters that follow the link rate.
#[derive(Clone, Copy, Debug)]
struct Automatic {
    /// Target of the thresholds, equation (7).
    target: Option<Amount>,
    /// The weight is that of equation (6).
    weight: bool,
}

/// Probability as a function of the average, equation (3) and its gentle extension.
#[derive(Clone, Copy, Debug)]
struct Curve {
    min: f64,
    max: f64,
    max_p: f64,
    gentle: bool,
}

impl Red {
    /// RED on the link of `context`, from an empty queue.
    pub fn new(params: &Params, context: &LinkContext) -> Result<Red, InputError> {
        let own = counted(params, context);
        let target = target(params, &own)?;
        let automatic = Automatic { target, weight: target.is_some() && params.weight.is_none() };
        let (min, max) = match target {
            Some(target) => automatic_thresholds(target, &own),
            None => thresholds(params, &own),
        };
        if min >= max {
            let problem = format!("is not below max = {max} packets");
            let expected = "more than 0, less than max";
            return Err(InputError::conflict(format!("{min} packets"), problem, expected).at("min"));
        }
        if max > own.limit {
            return Err(above_the_buffer(params, max, &own));
        }
        let mean_packet = mean_packet(params, context);
        let capacity = context.rate.packets_per_second(mean_packet);
        Ok(Red {
            curve: Curve { min, max, max_p: params.max_p.get(), gentle: params.gentle },
            weight: if automatic.weight {
                automatic_weight(capacity)
            } else {
                params.weight.unwrap_or(WEIGHT)
            },
            mark_below_p: params.mark_below_p,
            byte_mode: params.byte_mode,
            wait: params.wait,
            context: own,
            unit: context.packet / own.packet,
            mean_packet,
            automatic,
            capacity,
            average: 0.0,
            p: 0.0,
            count: 0.0,
            in_band: false,
            idle_since: Some(Time::ZERO),
        })
    }

    /// Sets the weight of equation (6).
    pub(crate) fn with_automatic_weight(mut self) -> Red {
        self.automatic.weight = true;
        self.weight = automatic_weight(self.capacity);
        self
    }
}

impl Law for Red {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        self.observe(arrival);
        self.judge(arrival)
    }

    fn on_idle(&mut self, now: Time) {
        self.idle_since.get_or_insert(now);
    }

    fn on_overflow(&mut self, _now: Time) {
        self.count = 0.0;
    }

    fn on_link_change(&mut self, _now: Time, rate: Rate) {
        self.context.rate = rate;
        self.capacity = rate.packets_per_second(self.mean_packet);
        // A stopped link determines no thresholds.
        if self.capacity <= 0.0 {
            return;
        }
        if let Some(target @ Amount::Delay(_)) = self.automatic.target {
            (self.curve.min, self.curve.max) = automatic_thresholds(target, &self.context);
        }
        if self.automatic.weight {
            self.weight = automatic_weight(self.capacity);
        }
    }

    fn set_params(&mut self, _now: Time, given: &Given, context: &LinkContext) -> Result<(), InputError> {
        *self = Red::new(given.params.of()?, context)?.after(self);
        Ok(())
    }

    fn analysis(&self) -> &dyn Analysis {
        self
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("p", "1", self.p);
        out.gauge("average", "packets", self.average / self.unit);
    }
}

impl Analysis for Red {
    fn steady_state_p(&self, backlog: f64) -> Option<Prob> {
        Some(Prob::clamped(self.share(self.counted(backlog))))
    }

    fn marks_at(&self, p: Prob) -> bool {
        // The largest share along the curve under (5).
        let beyond = self.wait && p.get() > MOST_WAITING;
        if beyond { self.marks_at_the_end() } else { self.marks(self.before_spreading(p.get())) }
    }

    fn linear(&self, point: &OperatingPoint) -> Option<Linear> {
        let p_b = self.before_spreading(point.p);
        let slope = self.curve.slope(p_b).filter(|_| !self.wait || point.p < MOST_WAITING)?;
        Some(self.about(p_b, slope, point))
    }

    fn noise(&self, _point: &OperatingPoint) -> NoiseModel {
        NoiseModel { dispersion: dispersion(self.wait), ..NoiseModel::default() }
    }

    fn derived(&self, out: &mut dyn Gauges) {
        out.gauge("min", "packets", self.curve.min);
        out.gauge("max", "packets", self.curve.max);
        out.gauge("weight", "1", self.weight);
    }
}

// Components, also of the laws built on RED.
impl Red {
    /// Takes over the state of `old`.
    pub(crate) fn after(self, old: &Red) -> Red {
        let Red { p, in_band, idle_since, .. } = *old;
        // Convert to the own unit.
        let scale = self.unit / old.unit;
        let (average, count) = (old.average * scale, old.count * scale);
        let capacity = if old.capacity > 0.0 { self.capacity } else { 0.0 };
        Red { capacity, average, p, count, in_band, idle_since, ..self }
    }

    /// Converts a backlog from packets of the link to the own unit.
    pub(crate) fn counted(&self, backlog: f64) -> f64 {
        backlog * self.unit
    }

    /// Rate of updates of the average on an idle link of `capacity` packets/s, equation (2), 1/s.
    pub(crate) fn ageing_rate(&self, capacity: f64, packet: f64) -> f64 {
        capacity * packet / self.mean_packet
    }

    /// Updates the average with the backlog at an arrival, equations (1) and (2).
    pub(crate) fn observe(&mut self, arrival: &Arrival) {
        let backlog = if self.byte_mode {
            arrival.backlog.bytes as f64 / self.context.packet
        } else {
            f64::from(arrival.backlog.packets)
        };
        self.average = self.average_at(arrival.now);
        self.idle_since = None;
        self.average += self.weight * (backlog - self.average);
    }

    /// Verdict under the present average, equations (3) to (5).
    pub(crate) fn judge(&mut self, arrival: &Arrival) -> Verdict {
        let size = if self.byte_mode { f64::from(arrival.len) / self.context.packet } else { 1.0 };
        self.count += size;

        let waiting = arrival.backlog;
        if self.average < self.curve.min || !self.judges(waiting.packets.into(), waiting.bytes as f64) {
            self.in_band = false;
            self.p = 0.0;
            return Verdict::Pass;
        }
        if self.average >= self.curve.end() {
            self.in_band = true;
            self.p = 1.0;
            return self.signal(arrival, self.marks_at_the_end());
        }
        self.p = self.curve.probability(self.average);
        if !self.in_band {
            // The first packet after the average enters the band starts the count.
            self.in_band = true;
            self.count = size;
            return Verdict::Pass;
        }
        if arrival.u[0] >= spread(self.p, self.count, self.wait) * size {
            return Verdict::Pass;
        }
        self.signal(arrival, self.marks(self.p))
    }

    /// True if the backlog is large enough for a verdict. At most one packet (in byte mode: one byte) is exempt: the
    /// average is then of the past alone.
    pub(crate) fn judges(&self, packets: f64, bytes: f64) -> bool {
        if self.byte_mode { bytes > 1.0 } else { packets > 1.0 }
    }

    /// Verdict on a packet that is hit.
    fn signal(&mut self, arrival: &Arrival, marks: bool) -> Verdict {
        self.count = 0.0;
        if marks { arrival.signalled() } else { Verdict::Drop }
    }

    /// True if ECN-capable packets are marked, not dropped, at `p_b` on the curve.
    fn marks(&self, p_b: f64) -> bool {
        p_b < self.mark_below_p || self.mark_below_p >= 1.0
    }

    /// As [`Red::marks`], beyond the end of the curve.
    fn marks_at_the_end(&self) -> bool {
        self.mark_below_p > 1.0
    }

    /// As [`Red::marks`], at `average`.
    pub(crate) fn marks_about(&self, average: f64) -> bool {
        if average < self.curve.end() {
            self.marks(self.curve.probability(average))
        } else {
            self.marks_at_the_end()
        }
    }

    /// Share of packets marked or dropped at `average`: the inverse of the mean gap between signals. The gap is
    /// uniform over 1 .. 1/p_b - 1 under (4), over 1/p_b .. 2/p_b - 1 under (5), with 1/p_b rounded up (half a packet
    /// on average), and never two signals in a row. Packets of u mean packets are hit as if p_b were u p_b: `count`
    /// and p_a both scale with u.
    pub fn share(&self, average: f64) -> f64 {
        if average < self.curve.min {
            return 0.0;
        }
        if average >= self.curve.end() {
            return 1.0;
        }
        let p_b = (self.unit * self.curve.probability(average)).min(1.0);
        if self.wait { (4.0 * p_b / (6.0 - p_b)).min(MOST_WAITING) } else { (2.0 * p_b).min(1.0) }
    }

    /// p_b of a share of packets marked or dropped.
    pub(crate) fn before_spreading(&self, p: f64) -> f64 {
        let p_b = if self.wait { 6.0 * p / (4.0 + p) } else { p / 2.0 };
        (p_b / self.unit).min(1.0)
    }

    /// Linear model: the average as a lag of 1/K, times the `slope` of the curve (per mean packet) at `p_b`.
    pub(crate) fn about(&self, p_b: f64, slope: f64, point: &OperatingPoint) -> Linear {
        let lag = -point.offered() * math::ln(1.0 - self.weight);
        let hit = 6.0 - self.unit * p_b;
        let spread = if self.wait { 24.0 / (hit * hit) } else { 2.0 };
        let continuous = Rational::new([spread * slope * self.unit * self.unit], [1.0, 1.0 / lag]);
        Linear::new(Some(continuous), None).assuming(true, AT_EVERY_PACKET)
    }

    /// Average at `now`, aged by equation (2) on an idle link: as by `m` arrivals at an empty queue.
    pub(crate) fn average_at(&self, now: Time) -> f64 {
        let Some(since) = self.idle_since else { return self.average };
        let missed = (now.since(since).seconds() * self.capacity) as u64;
        self.average * math::pow_int(1.0 - self.weight, missed)
    }

    /// Average after the last arrival.
    pub fn average(&self) -> f64 {
        self.average
    }

    /// Thresholds, in the own unit.
    pub(crate) fn thresholds(&self) -> (f64, f64) {
        (self.curve.min, self.curve.max)
    }

    /// Converts a backlog from the own unit to packets of the link.
    pub(crate) fn in_packets(&self, counted: f64) -> f64 {
        counted / self.unit
    }

    /// Probability at `max`.
    pub fn max_p(&self) -> f64 {
        self.curve.max_p
    }

    /// Sets the probability at `max`.
    pub(crate) fn set_max_p(&mut self, max_p: f64) {
        self.curve.max_p = max_p;
    }

    /// Weight of a new sample in the average.
    pub(crate) fn weight(&self) -> f64 {
        self.weight
    }
}

impl Curve {
    /// End of the curve: beyond it every packet is hit.
    fn end(&self) -> f64 {
        if self.gentle { 2.0 * self.max } else { self.max }
    }

    /// Equation (3), and its gentle extension from `max` to twice `max`.
    fn probability(&self, average: f64) -> f64 {
        if average < self.max {
            self.max_p * (average - self.min) / (self.max - self.min)
        } else {
            self.max_p + (1.0 - self.max_p) * (average - self.max) / self.max
        }
    }

    /// Slope of the curve at probability `p_b`; None: not on the curve.
    fn slope(&self, p_b: f64) -> Option<f64> {
        match p_b {
            p_b if p_b > 0.0 && p_b < self.max_p => Some(self.max_p / (self.max - self.min)),
            p_b if self.gentle && p_b >= self.max_p && p_b < 1.0 => Some((1.0 - self.max_p) / self.max),
            _ => None,
        }
    }
}

/// Index of dispersion of signals: between them are 1 to 1/p_b packets, or with (5) 1/p_b to 2/p_b, equally likely each.
fn dispersion(wait: bool) -> f64 {
    if wait { 1.0 / 27.0 } else { 1.0 / 3.0 }
}

/// Probability after `count` packets without a mark or drop, equations (4) and (5).
fn spread(p: f64, count: f64, wait: bool) -> f64 {
    let expected = count * p;
    match (wait, expected) {
        (true, ..1.0) => 0.0,
        (true, ..2.0) => p / (2.0 - expected),
        (false, ..1.0) => p / (1.0 - expected),
        _ => 1.0,
    }
}

/// Context in the packets of the backlog; in byte mode the buffer limit is in bytes, too.
fn counted(params: &Params, context: &LinkContext) -> LinkContext {
    if !params.byte_mode {
        return *context;
    }
    let packet = mean_packet(params, context);
    LinkContext { packet, limit: context.limit * (context.packet / packet), ..*context }
}

/// Mean packet size, bytes.
fn mean_packet(params: &Params, context: &LinkContext) -> f64 {
    params.mean_packet.map_or(context.packet, |size| size.get() as f64)
}

/// Target of automatic thresholds; None: they are not automatic.
fn target(params: &Params, context: &LinkContext) -> Result<Option<Amount>, InputError> {
    if params.thresholds == Thresholds::Buffer {
        if params.target.is_none() {
            return Ok(None);
        }
        let expected = "thresholds = auto with it, or min and max";
        return Err(InputError::new(ErrorKind::Conflict, "needs thresholds = auto", expected).at("target"));
    }
    if params.min.is_some() || params.max.is_some() {
        let expected = "auto alone, or the thresholds";
        return Err(InputError::conflict("auto", "conflicts with min and max", expected).at("thresholds"));
    }
    match params.target {
        Some(target) if 1.5 * context.packets(target) > context.limit => {
            let problem = format!("is above two thirds of the buffer of {} packets", context.limit);
            Err(InputError::conflict(target, problem, "at most two thirds of the buffer").at("target"))
        }
        given => Ok(Some(given.unwrap_or(TARGET))),
    }
}

/// Equation (6), for mean packets/s.
fn automatic_weight(capacity: f64) -> f64 {
    1.0 - math::exp(-1.0 / capacity)
}

/// Equation (7), within the buffer.
fn automatic_thresholds(target: Amount, context: &LinkContext) -> (f64, f64) {
    let min = (context.packets(target) / 2.0).max(SMALLEST_MIN).min(context.limit / THRESHOLD_RATIO);
    (min, (THRESHOLD_RATIO * min).min(context.limit))
}

fn thresholds(params: &Params, context: &LinkContext) -> (f64, f64) {
    match (params.min.map(|min| context.packets(min)), params.max.map(|max| context.packets(max))) {
        (Some(min), Some(max)) => (min, max),
        (Some(min), None) => (min, THRESHOLD_RATIO * min),
        (None, Some(max)) => (max / THRESHOLD_RATIO, max),
        (None, None) if context.limit.is_finite() => {
            (context.limit / 2.0 / THRESHOLD_RATIO, context.limit / 2.0)
        }
        (None, None) => (SMALLEST_MIN, THRESHOLD_RATIO * SMALLEST_MIN),
    }
}

/// Error for an upper threshold above the buffer limit; names `min` if the threshold follows from it.
fn above_the_buffer(params: &Params, max: f64, context: &LinkContext) -> InputError {
    if params.max.is_none() {
        let found = format!("max = {THRESHOLD_RATIO} min = {max} packets");
        let expected = "at most a third of the buffer, or give max";
        return InputError { expected: expected.into(), ..context.above_the_buffer(found) }.at("min");
    }
    context.above_the_buffer(format!("{max} packets")).at("max")
}

const AT_EVERY_PACKET: &str = "The law acts on every packet, so that it has no sampled-data form: its average is a lag, \
                               and p is the share of packets that it marks or drops.";
/// Largest share of packets hit under (5), below the end of the curve.
const MOST_WAITING: f64 = 0.5;
/// `max` over `min` (Floyd 1997).
const THRESHOLD_RATIO: f64 = 3.0;
/// Smallest default of `min` unless the buffer is too small, packets (Floyd 1997).
const SMALLEST_MIN: f64 = 5.0;
/// Default target of automatic thresholds.
const TARGET: Amount = Amount::Delay(Span::from_millis(5));
/// Default weight (Floyd and Jacobson 1993).
const WEIGHT: f64 = 0.002;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{Backlog, FlowId};
    use sojourn_units::{Ecn, Span};

    fn context() -> LinkContext {
        LinkContext::example()
    }

    fn arrival(packets: u32, ecn: Ecn, u: f64) -> Arrival {
        let backlog = Backlog { packets, bytes: u64::from(packets) * 1000 };
        Arrival { now: Time::ZERO, len: 1000, ecn, flow: FlowId(0), backlog, victim: None, u: [u, 0.0] }
    }

    fn red(change: impl Fn(&mut Params)) -> Red {
        let mut params = Params { weight: Some(1.0), ..Params::default() };
        change(&mut params);
        Red::new(&params, &context()).unwrap()
    }

    #[test]
    fn thresholds_follow_the_buffer_where_they_are_not_given() {
        let red = red(|_| ());
        assert_eq!((red.curve.min, red.curve.max), (50.0, 150.0));
    }

    #[test]
    fn the_curve_passes_its_corners() {
        let curve = Curve { min: 50.0, max: 150.0, max_p: 0.1, gentle: true };
        assert_eq!(curve.probability(50.0), 0.0);
        assert!((curve.probability(100.0) - 0.05).abs() < 1e-15);
        assert!((curve.probability(150.0) - 0.1).abs() < 1e-15);
        assert!((curve.probability(300.0) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn gaps_between_drops_are_uniform() {
        // p_b is 0.02. The count includes the present packet, so (4) makes the gap between drops
        // uniform on 1..49: mean 25. Equation (5) makes it uniform on 50..99: mean 74.5.
        for (wait, mean) in [(false, 25.0), (true, 74.5)] {
            let mut red = red(|params| params.wait = wait);
            let mut draws = sojourn_random::Stream::named(1, "red");
            let (mut drops, mut squares, mut last) = (0, 0.0, 0);
            for number in 0..200_000 {
                let verdict = red.on_arrival(&arrival(70, Ecn::NotEct, draws.uniform()));
                if verdict == Verdict::Drop {
                    drops += 1;
                    squares += f64::from(number - last) * f64::from(number - last);
                    last = number;
                }
            }
            let gap = 200_000.0 / f64::from(drops);
            assert!((gap / mean - 1.0).abs() < 0.02, "wait {wait}: gap {gap}, expected {mean}");
            // The index of dispersion of their number, in the limit of small p.
            let index = squares / f64::from(drops) / (gap * gap) - 1.0;
            let declared = dispersion(wait);
            assert!((index / declared - 1.0).abs() < 0.06, "wait {wait}: {index}, declared {declared}");
        }
    }

    #[test]
    fn ecn_packets_are_marked_below_the_policy_and_dropped_above() {
        for (below, expected) in [(0.1, Verdict::Drop), (1.0, Verdict::Mark)] {
            let mut red = red(|params| params.mark_below_p = below);
            red.on_arrival(&arrival(200, Ecn::Ect0, 0.5));
            assert!(red.p < 1.0);
            red.count = 100.0;
            assert_eq!(red.on_arrival(&arrival(200, Ecn::Ect0, 0.5)), expected);
        }
    }

    /// A step is a curve with probability 1 from `max` on; DCTCP needs marks there.
    #[test]
    fn a_step_marks_up_to_its_end() {
        let mut red = red(|params| {
            (params.min, params.max) = (Some(Amount::Packets(40.0)), Some(Amount::Packets(41.0)));
            params.max_p = Prob::ONE;
        });
        let verdicts = [39, 42, 42, 81, 82].map(|packets| red.on_arrival(&arrival(packets, Ecn::Ect0, 0.0)));
        assert_eq!(verdicts, [Verdict::Pass, Verdict::Pass, Verdict::Mark, Verdict::Mark, Verdict::Drop]);
    }

    /// The curve ends at 300, at 150 without `gentle`. ns-2 2.35, 200 flows on a curve of 10 and 30 packets: with
    /// `mark_p_` 1.0 it drops 12 % (gentle) and 20 %, with 1.1 nothing.
    #[test]
    fn from_the_curves_end_on_one_drops_and_more_than_one_marks() {
        for (gentle, packets) in [(true, 300), (false, 150)] {
            for (below, expected) in [(1.0, Verdict::Drop), (1.1, Verdict::Mark)] {
                let mut red = red(|params| (params.gentle, params.mark_below_p) = (gentle, below));
                assert_eq!(red.on_arrival(&arrival(packets, Ecn::Ect0, 0.99)), expected, "{gentle} {below}");
                assert_eq!(red.on_arrival(&arrival(packets, Ecn::NotEct, 0.99)), Verdict::Drop);
                assert_eq!(red.marks_at(Prob::ONE), below > 1.0);
                assert_eq!(red.marks_about(f64::from(packets)), below > 1.0);
            }
        }
    }

    #[test]
    fn idle_time_ages_the_average() {
        let mut red = red(|params| params.weight = Some(0.1));
        red.average = 100.0;
        red.on_idle(Time::ZERO);
        red.on_idle(Time::ZERO + Span::from_millis(5));
        let mut late = arrival(0, Ecn::NotEct, 0.5);
        late.now = Time::ZERO + Span::from_millis(10);
        red.on_arrival(&late);
        // Ten packet times at 1 ms, then this arrival's own sample of 0.
        assert!((red.average - 100.0 * math::pow_int(0.9, 11)).abs() < 1e-10);
    }

    #[test]
    fn byte_mode_scales_by_size() {
        let mut red = red(|params| params.byte_mode = true);
        red.on_arrival(&arrival(100, Ecn::NotEct, 0.5));
        red.count = 23.0;
        let mut small = arrival(100, Ecn::NotEct, 0.0);
        small.len = 100;
        // p_b = 0.05, count 23.1: p_a = 0.05 / (2 - 1.155) = 0.0592, a tenth of it for 100 bytes.
        let p = spread(0.05, 23.1, true) * 0.1;
        small.u[0] = p * 1.01;
        assert_eq!(red.clone().on_arrival(&small), Verdict::Pass);
        small.u[0] = p * 0.99;
        assert_eq!(red.on_arrival(&small), Verdict::Drop);
    }

    /// As in ns-2: in byte mode verdicts start above a backlog of one byte, else at two packets.
    #[test]
    fn byte_mode_exempts_a_queue_of_one_byte() {
        for (byte_mode, waiting, judged) in
            [(true, [1, 1], false), (true, [1, 2], true), (false, [1, 900], false), (false, [2, 80], true)]
        {
            let mut red = red(|params| params.byte_mode = byte_mode);
            red.on_arrival(&arrival(100, Ecn::NotEct, 0.5));
            red.weight = 1e-9;
            red.count = 100.0;
            let mut packet = arrival(0, Ecn::NotEct, 0.0);
            packet.backlog = Backlog { packets: waiting[0], bytes: waiting[1].into() };
            assert_eq!(red.on_arrival(&packet) == Verdict::Drop, judged, "{byte_mode} {waiting:?}");
        }
    }

    /// 50 ms and 50 kB are 50 packets of the link for any mean packet; counts are in the own unit.
    #[test]
    fn a_mean_packet_scales_no_threshold_that_is_a_time_or_bytes() {
        let delay = |millis| Amount::Delay(Span::from_millis(millis));
        let bytes = |kilo: u64| Amount::Bytes(Bytes::new(kilo * 1000));
        let count = |packets: u32| Amount::Packets(f64::from(packets));
        for (mean, byte_mode) in [(100, false), (500, false), (500, true), (3000, false), (3000, true)] {
            let with = |change: &dyn Fn(&mut Params)| {
                let red = red(|params| {
                    (params.mean_packet, params.byte_mode) = (Some(Bytes::new(mean)), byte_mode);
                    change(params);
                });
                let (min, max) = red.thresholds();
                (red.in_packets(min), red.in_packets(max))
            };
            let near = |thresholds: (f64, f64), min: f64| {
                let off = (thresholds.0 / min - 1.0).abs() + (thresholds.1 / (3.0 * min) - 1.0).abs();
                assert!(off < 1e-12, "{mean} {byte_mode}: {thresholds:?}, expected {min}");
            };
            for (min, max) in [(delay(50), delay(150)), (bytes(50), bytes(150))] {
                near(with(&|params| (params.min, params.max) = (Some(min), Some(max))), 50.0);
            }
            let target = Some(delay(100));
            near(with(&|params| (params.thresholds, params.target) = (Thresholds::Auto, target)), 50.0);
            let unit = if byte_mode { mean as f64 / 1000.0 } else { 1.0 };
            near(with(&|params| (params.min, params.max) = (Some(count(10)), Some(count(30)))), 10.0 * unit);
        }
    }

    /// Equations (2) and (6) in mean packets: 2000/s of 500 B on this link.
    #[test]
    fn a_mean_packet_paces_the_average_whatever_is_counted() {
        for byte_mode in [false, true] {
            let mut red = red(|params| {
                (params.thresholds, params.weight) = (Thresholds::Auto, None);
                (params.mean_packet, params.byte_mode) = (Some(Bytes::new(500)), byte_mode);
            });
            assert!((red.weight() / (1.0 - math::exp(-1.0 / 2000.0)) - 1.0).abs() < 1e-12);
            assert_eq!(red.ageing_rate(1000.0, 1000.0), 2000.0);
            (red.average, red.weight) = (100.0, 0.1);
            red.on_idle(Time::ZERO);
            let aged = red.average_at(Time::ZERO + Span::from_millis(10));
            assert!((aged - 100.0 * math::pow_int(0.9, 20)).abs() < 1e-10);
        }
    }

    /// Defaults of ns-2 2.35 on this link: thresholds of 5 and 15 packets of 500 B, a weight of 0.00049988.
    #[test]
    fn automatic_thresholds_and_weight_follow_the_rate_in_mean_packets() {
        let automatic = |change: fn(&mut Params)| {
            red(|params| {
                (params.thresholds, params.weight) = (Thresholds::Auto, None);
                change(params);
            })
        };
        let mut own =
            automatic(|params| (params.byte_mode, params.mean_packet) = (true, Some(Bytes::new(500))));
        assert_eq!(own.thresholds(), (5.0, 15.0));
        assert!((own.weight() - 0.000_499_88).abs() < 5e-9, "{}", own.weight());
        // 7500 B are 15 packets of 500 B, where the curve is at max_p.
        own.weight = 1.0;
        let mut packet = arrival(0, Ecn::NotEct, 1.0);
        packet.backlog = Backlog { packets: 7, bytes: 7500 };
        own.on_arrival(&packet);
        assert!((own.p - 0.1).abs() < 1e-12);
        // 100 ms are 100 packets; the rate doubles, and so do the thresholds.
        let mut held = automatic(|params| params.target = Some(Amount::Delay(Span::from_millis(100))));
        assert_eq!(held.thresholds(), (50.0, 150.0));
        held.on_link_change(Time::ZERO, Rate::from_bits_per_second(16e6));
        assert_eq!(held.thresholds(), (100.0, 300.0));
        assert!((held.weight() / (1.0 - math::exp(-1.0 / 2000.0)) - 1.0).abs() < 1e-12);
        held.on_link_change(Time::ZERO, Rate::ZERO);
        assert_eq!(held.thresholds(), (100.0, 300.0));
    }
}
