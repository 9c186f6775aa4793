//! RED: random early detection.
//!
//! S. Floyd, V. Jacobson, "Random Early Detection Gateways for Congestion
//! Avoidance", IEEE/ACM Transactions on Networking 1(4), 1993. The average
//! backlog, an EWMA over arrivals, is laid between two thresholds; the
//! probability of a mark or drop grows from 0 at `min` to `max_p` at `max`:
//!
//! ```text
//! avg <- (1 - w_q) avg + w_q q                     at each arrival   (1)
//! avg <- (1 - w_q)^m avg,  m = idle / s            after idle time   (2)
//! p_b  = max_p (avg - min_th) / (max_th - min_th)                    (3)
//! p_a  = p_b / (1 - count p_b)                     wait = false      (4)
//! p_a  = 0, then p_b / (2 - count p_b)             wait = true       (5)
//! ```
//!
//! `count` is the number of packets since the last mark or drop; it spreads
//! them out. Equation (4) is the 1993 paper's. Equation (5) is how the first
//! author ran RED afterwards (ns, since 1997): it also waits 1/p_b packets
//! before the next one. `gentle` (Floyd 2000) lets p_b rise from `max_p` at `max`
//! to 1 at twice `max` instead of jumping there. ECN-capable packets are
//! marked while p_b < `mark_below_p` and dropped above it; above the upper end
//! of the curve, and when the buffer is full, every packet is dropped.

use crate::catalogue::Entry;
use crate::law::{Arrival, Gauges, Given, Law, Verdict};
use crate::linear::{Linear, Rational, Rest};
use crate::site::Site;
use sojourn_units::param::Described;
use sojourn_units::{Amount, Fault, Page, Prob, Rate, Time, math};

/// What the catalogue tells of it.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "red",
        summary: "random early detection: mark with a probability that grows with the average backlog",
        idea: "An average of the backlog is laid between two thresholds. Below the lower one nothing happens; \
               between them packets are marked or dropped with a probability that rises to max_p; above the \
               upper one it rises to 1 (gentle) or every packet is dropped. A count since the last mark \
               spreads marks out in time.",
        equation: "avg <- (1 - w_q) avg + w_q q;  p_b = max_p (avg - min_th) / (max_th - min_th)",
        source: "S. Floyd, V. Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993; gentle: S. Floyd 2000",
        fields: Params::fields,
    },
    build: |given, site| Ok(Box::new(Red::new(&Params::from_values(given)?, site)?)),
};

sojourn_units::params! {
    /// Parameters of RED.
    pub struct Params {
        /// average backlog below which every packet passes
        min: Option<Amount> = None, "min_th", "more than 0, less than max" if |min| min.is_none_or(positive),
            "a third of max, Floyd 1997; without max a sixth of the buffer (5 packets where there is no limit)";
        /// average backlog at which p_b reaches max_p
        max: Option<Amount> = None, "max_th", "more than min, within the buffer" if |max| max.is_none_or(positive),
            "three times min, Floyd 1997";
        /// weight of a new sample in the average
        weight: f64 = 0.002, "w_q", "more than 0, at most 1" if |w| *w > 0.0 && *w <= 1.0,
            "Floyd and Jacobson 1993";
        /// probability at the upper threshold
        max_p: Prob = Prob::clamped(0.1), "max_p", "more than 0, at most 1" if |p| p.get() > 0.0,
            "Floyd 1997: 0.1 instead of the 0.02 of 1993";
        /// rise to 1 at twice max instead of jumping there
        gentle: bool = true, "gentle", "true or false" if |_| true,
            "Floyd 2000: less sensitive to max and max_p";
        /// ECN-capable packets are marked while p_b is below this and dropped above it; 1 marks always
        mark_below_p: Prob = Prob::ONE, "mark_p", "0 to 1" if |_| true,
            "RFC 3168, section 7; ns-2 drops above 0.1";
        /// scale the probability by packet size
        byte_mode: bool = false, "bytes", "true or false" if |_| true,
            "RFC 7567, section 4.4: do not favour small packets";
        /// wait 1/p_b packets after a mark or drop, equation (5)
        wait: bool = true, "wait", "true or false" if |_| true,
            "the first author's own simulator since 1997; false is the 1993 paper, equation (4)";
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
    packet: f64,
    /// Packets per second of the link, for the ageing of the average.
    capacity: f64,

    average: f64,
    p: f64,
    /// Packets (in byte mode: mean packets' worth of bytes) since the last mark or drop.
    count: f64,
    /// Whether the average was above `min` at the last arrival.
    in_band: bool,
    idle_since: Option<Time>,
}

/// The probability as a function of the average, equation (3) and its gentle extension.
#[derive(Clone, Copy, Debug)]
struct Curve {
    min: f64,
    max: f64,
    max_p: f64,
    gentle: bool,
}

impl Red {
    /// RED in front of the link at `site`, from an empty queue.
    pub fn new(params: &Params, site: &Site) -> Result<Red, Fault> {
        let (min, max) = thresholds(params, site);
        if min >= max {
            let what =
                format!("{min} packets is not below max = {max} packets; legal: more than 0, less than max");
            return Err(Fault::new("min", what));
        }
        if max > site.limit {
            return Err(above_the_buffer(params, max, site.limit));
        }
        Ok(Red {
            curve: Curve { min, max, max_p: params.max_p.get(), gentle: params.gentle },
            weight: params.weight,
            mark_below_p: params.mark_below_p.get(),
            byte_mode: params.byte_mode,
            wait: params.wait,
            packet: site.packet,
            capacity: site.capacity(),
            average: 0.0,
            p: 0.0,
            count: 0.0,
            in_band: false,
            idle_since: Some(Time::ZERO),
        })
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
        self.capacity = rate.packets_per_second(self.packet);
    }

    fn retune(&mut self, _now: Time, given: &Given, site: &Site) -> Result<(), Fault> {
        *self = Red::new(&Params::from_values(given)?, site)?.after(self);
        Ok(())
    }

    fn settled(&self, backlog: f64) -> Option<Prob> {
        Some(Prob::clamped(self.share(backlog)))
    }

    fn marks_at(&self, p: Prob) -> bool {
        self.mark_below_p >= 1.0 || self.before_spreading(p.get()) < self.mark_below_p
    }

    fn linear(&self, rest: &Rest) -> Option<Linear> {
        let p_b = self.before_spreading(rest.p);
        let slope = self.curve.slope(p_b).filter(|_| !self.wait || rest.p < MOST_WAITING)?;
        Some(self.about(p_b, slope, rest))
    }

    fn derived(&self, out: &mut dyn Gauges) {
        out.gauge("min", "packets", self.curve.min);
        out.gauge("max", "packets", self.curve.max);
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("p", "1", self.p);
        out.gauge("average", "packets", self.average);
    }
}

// What RED is made of, also for the laws that are made of RED.
impl Red {
    /// This one with the average, the count and the link's rate of another.
    pub(crate) fn after(self, old: &Red) -> Red {
        let Red { capacity, average, p, count, in_band, idle_since, .. } = *old;
        Red { capacity, average, p, count, in_band, idle_since, ..self }
    }

    /// Takes the backlog that a packet finds into the average, equations (1) and (2).
    pub(crate) fn observe(&mut self, arrival: &Arrival) {
        let backlog = if self.byte_mode {
            arrival.backlog.bytes as f64 / self.packet
        } else {
            f64::from(arrival.backlog.packets)
        };
        self.average = self.average_at(arrival.now);
        self.idle_since = None;
        self.average += self.weight * (backlog - self.average);
    }

    /// What becomes of a packet under the average as it is, equations (3) to (5).
    pub(crate) fn judge(&mut self, arrival: &Arrival) -> Verdict {
        let size = if self.byte_mode { f64::from(arrival.len) / self.packet } else { 1.0 };
        self.count += size;

        // With at most one packet waiting the average speaks of the past only.
        if self.average < self.curve.min || arrival.backlog.packets <= 1 {
            self.in_band = false;
            self.p = 0.0;
            return Verdict::Pass;
        }
        if self.average >= self.curve.end() {
            self.in_band = true;
            self.p = 1.0;
            return self.drop();
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
        let mark = self.p < self.mark_below_p || self.mark_below_p >= 1.0;
        if mark && arrival.ecn.is_capable() {
            self.count = 0.0;
            return Verdict::Mark;
        }
        self.drop()
    }

    fn drop(&mut self) -> Verdict {
        self.count = 0.0;
        Verdict::Drop
    }

    /// The share of packets that is marked or dropped where the average is about `average`: one in as many as lie
    /// between two signals on average. By (4) these are spread evenly over 1 .. 1/p_b - 1; by (5) over
    /// 1/p_b .. 2/p_b - 1, with 1/p_b rounded up, for which half a packet is taken; and never two in a row.
    pub fn share(&self, average: f64) -> f64 {
        if average < self.curve.min {
            return 0.0;
        }
        if average >= self.curve.end() {
            return 1.0;
        }
        let p_b = self.curve.probability(average);
        if self.wait { (4.0 * p_b / (6.0 - p_b)).min(MOST_WAITING) } else { (2.0 * p_b).min(1.0) }
    }

    /// The p_b with which this share of packets is marked or dropped.
    pub(crate) fn before_spreading(&self, p: f64) -> f64 {
        if self.wait { 6.0 * p / (4.0 + p) } else { p / 2.0 }
    }

    /// The average of backlogs as a lag of 1/K, and the `slope` of the curve where it gives `p_b`.
    pub(crate) fn about(&self, p_b: f64, slope: f64, rest: &Rest) -> Linear {
        let lag = -rest.offered() * math::ln(1.0 - self.weight);
        let spread = if self.wait { 24.0 / ((6.0 - p_b) * (6.0 - p_b)) } else { 2.0 };
        let continuous = Rational::new([spread * slope], [1.0, 1.0 / lag]);
        Linear::new(Some(continuous), None).assuming(true, AT_EVERY_PACKET)
    }

    /// The average at `now`, aged by equation (2) where the link is idle: as if `m` packets had come to an
    /// empty queue.
    pub(crate) fn average_at(&self, now: Time) -> f64 {
        let Some(since) = self.idle_since else { return self.average };
        let missed = (now.since(since).seconds() * self.capacity) as u64;
        self.average * math::pow_int(1.0 - self.weight, missed)
    }

    /// The average after the last arrival.
    pub fn average(&self) -> f64 {
        self.average
    }

    /// The thresholds, packets.
    pub fn thresholds(&self) -> (f64, f64) {
        (self.curve.min, self.curve.max)
    }

    /// Sets the thresholds, packets.
    pub(crate) fn set_thresholds(&mut self, (min, max): (f64, f64)) {
        (self.curve.min, self.curve.max) = (min, max);
    }

    /// The probability at `max`.
    pub fn max_p(&self) -> f64 {
        self.curve.max_p
    }

    /// Sets the probability at `max`.
    pub(crate) fn set_max_p(&mut self, max_p: f64) {
        self.curve.max_p = max_p;
    }

    /// The weight of a new sample in the average.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// Sets the weight of a new sample in the average.
    pub(crate) fn set_weight(&mut self, weight: f64) {
        self.weight = weight;
    }
}

impl Curve {
    /// Where the curve ends and every packet is dropped.
    fn end(&self) -> f64 {
        if self.gentle { 2.0 * self.max } else { self.max }
    }

    /// Equation (3), and from `max` to twice `max` the gentle line from `max_p` to 1.
    fn probability(&self, average: f64) -> f64 {
        if average < self.max {
            self.max_p * (average - self.min) / (self.max - self.min)
        } else {
            self.max_p + (1.0 - self.max_p) * (average - self.max) / self.max
        }
    }

    /// The slope where the probability is `p_b`, if it is anywhere on the curve.
    fn slope(&self, p_b: f64) -> Option<f64> {
        match p_b {
            p_b if p_b > 0.0 && p_b < self.max_p => Some(self.max_p / (self.max - self.min)),
            p_b if self.gentle && p_b >= self.max_p && p_b < 1.0 => Some((1.0 - self.max_p) / self.max),
            _ => None,
        }
    }
}

/// Equations (4) and (5): the probability after `count` packets without a mark or drop.
fn spread(p: f64, count: f64, wait: bool) -> f64 {
    let expected = count * p;
    match (wait, expected) {
        (true, ..1.0) => 0.0,
        (true, ..2.0) => p / (2.0 - expected),
        (false, ..1.0) => p / (1.0 - expected),
        _ => 1.0,
    }
}

fn thresholds(params: &Params, site: &Site) -> (f64, f64) {
    match (params.min.map(|min| site.packets(min)), params.max.map(|max| site.packets(max))) {
        (Some(min), Some(max)) => (min, max),
        (Some(min), None) => (min, THRESHOLD_RATIO * min),
        (None, Some(max)) => (max / THRESHOLD_RATIO, max),
        (None, None) if site.limit.is_finite() => (site.limit / 2.0 / THRESHOLD_RATIO, site.limit / 2.0),
        (None, None) => (SMALLEST_MIN, THRESHOLD_RATIO * SMALLEST_MIN),
    }
}

/// Refuses an upper threshold that the buffer does not hold; where it follows from `min`, that is what was given.
fn above_the_buffer(params: &Params, max: f64, limit: f64) -> Fault {
    if params.max.is_none() {
        let what = format!(
            "max = {THRESHOLD_RATIO} min = {max} packets is above the buffer of {limit} packets; legal: at most a \
             third of the buffer, or give max"
        );
        return Fault::new("min", what);
    }
    let what = format!("{max} packets is above the buffer of {limit} packets; legal: within the buffer");
    Fault::new("max", what)
}

/// Whether a length of queue is more than nothing.
pub(crate) fn positive(amount: Amount) -> bool {
    match amount {
        Amount::Packets(count) => count > 0.0,
        Amount::Bytes(size) => size.get() > 0,
        Amount::Delay(span) => span.nanos() > 0,
    }
}

const AT_EVERY_PACKET: &str = "The law is asked at every packet, so that it has no form in samples: its average is a lag, \
                               and the share of packets that it hits is p.";
/// The largest share of packets that (5) hits, below the end of the curve.
const MOST_WAITING: f64 = 0.5;
/// `max` over `min` (Floyd 1997).
pub(crate) const THRESHOLD_RATIO: f64 = 3.0;
/// The smallest `min` that is chosen where the buffer does not ask for less, packets (Floyd 1997).
pub(crate) const SMALLEST_MIN: f64 = 5.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{Backlog, FlowId};
    use sojourn_units::{Ecn, Span};

    fn site() -> Site {
        let rate = Rate::from_bits_per_second(8e6);
        Site { rate, packet: 1000.0, limit: 300.0, flows: None, base_rtt: None }
    }

    fn arrival(packets: u32, ecn: Ecn, u: f64) -> Arrival {
        let backlog = Backlog { packets, bytes: u64::from(packets) * 1000 };
        Arrival { now: Time::ZERO, len: 1000, ecn, flow: FlowId(0), backlog, victim: None, u: [u, 0.0] }
    }

    fn red(change: impl Fn(&mut Params)) -> Red {
        let mut params = Params { weight: 1.0, ..Params::default() };
        change(&mut params);
        Red::new(&params, &site()).unwrap()
    }

    #[test]
    fn thresholds_follow_the_buffer_where_they_are_not_given() {
        let red = red(|_| ());
        assert_eq!((red.curve.min, red.curve.max), (50.0, 150.0));
    }

    #[test]
    fn the_curve_meets_its_corners() {
        let curve = Curve { min: 50.0, max: 150.0, max_p: 0.1, gentle: true };
        assert_eq!(curve.probability(50.0), 0.0);
        assert!((curve.probability(100.0) - 0.05).abs() < 1e-15);
        assert!((curve.probability(150.0) - 0.1).abs() < 1e-15);
        assert!((curve.probability(300.0) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn drops_are_spread_as_the_paper_says() {
        // p_b is 0.02. The count includes the packet being judged, so (4) makes the gap between drops
        // uniform on 1..49: mean 25. Equation (5) makes it uniform on 50..99: mean 74.5.
        for (wait, mean) in [(false, 25.0), (true, 74.5)] {
            let mut red = red(|params| params.wait = wait);
            let mut draws = sojourn_units::Stream::named(1, "red");
            let mut drops = 0;
            for _ in 0..200_000 {
                let verdict = red.on_arrival(&arrival(70, Ecn::NotEct, draws.uniform()));
                drops += u32::from(verdict == Verdict::Drop);
            }
            let gap = 200_000.0 / f64::from(drops);
            assert!((gap / mean - 1.0).abs() < 0.02, "wait {wait}: gap {gap}, expected {mean}");
        }
    }

    #[test]
    fn ecn_packets_are_marked_below_the_policy_and_dropped_above() {
        for (below, expected) in [(0.1, Verdict::Drop), (1.0, Verdict::Mark)] {
            let mut red = red(|params| params.mark_below_p = Prob::clamped(below));
            red.on_arrival(&arrival(200, Ecn::Ect0, 0.5));
            assert!(red.p < 1.0);
            red.count = 100.0;
            assert_eq!(red.on_arrival(&arrival(200, Ecn::Ect0, 0.5)), expected);
        }
        let mut red = red(|params| params.gentle = false);
        assert_eq!(red.on_arrival(&arrival(150, Ecn::Ect0, 0.5)), Verdict::Drop);
    }

    #[test]
    fn idle_time_ages_the_average() {
        let mut red = red(|params| params.weight = 0.1);
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

    #[test]
    fn thresholds_that_contradict_are_refused() {
        let params = Params {
            min: Some(Amount::Packets(200.0)),
            max: Some(Amount::Packets(150.0)),
            ..Params::default()
        };
        assert_eq!(Red::new(&params, &site()).unwrap_err().key, "min");
        let params = Params { max: Some(Amount::Packets(400.0)), ..Params::default() };
        assert_eq!(Red::new(&params, &site()).unwrap_err().key, "max");
        // Who gave min only hears of min: 125 packets, of which max is three times as many.
        let min = Some(Amount::Delay(Span::from_millis(125)));
        let fault = Red::new(&Params { min, ..Params::default() }, &site()).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "min: max = 3 min = 375 packets is above the buffer of 300 packets; legal: at most a third of the \
             buffer, or give max"
        );
    }
}
