//! A fluid plant, just large enough to hold a controller against published trajectories.
//!
//! V. Misra, W. Gong, D. Towsley, SIGCOMM 2000: windows and a queue as delay
//! differential equations, R = q / C + T_p,
//!
//! ```text
//! mgt   W' = 1/R - W W(t-R) p(t-R) / (2 R(t-R))
//! full  W' = W(t-R)/R(t-R) ((1 - p(t-R)) / W - p(t-R) W / 2)
//!       q' = N W / R - C,  0 <= q <= B;  with drops (1 - p) N W / R - C
//! ```
//!
//! Runge and Kutta's method of fourth order with a fixed step; the history of W
//! and R is read on straight lines, p is held from one update to the next.
//! While the buffer is full, what it loses is added to p.

use sojourn_aqm::{Controller, Observation};
use sojourn_units::{Rate, Time};

/// Which equation of the windows.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Tcp {
    Mgt,
    Full,
}

/// A link and its flows.
#[derive(Clone, Copy)]
pub(crate) struct Network {
    pub(crate) flows: f64,
    pub(crate) capacity: f64,
    /// T_p, s.
    pub(crate) base_rtt: f64,
    /// B, packets.
    pub(crate) buffer: f64,
    pub(crate) tcp: Tcp,
}

/// The state and the past, one entry a step.
pub(crate) struct Fluid {
    pub(crate) network: Network,
    step: f64,
    /// Steps in a sampling period.
    stride: usize,
    windows: Vec<f64>,
    rtts: Vec<f64>,
    /// The probability in force from each step on.
    marks: Vec<f64>,
    /// Backlog, packets.
    pub(crate) queue: Vec<f64>,
    p: f64,
    /// Whether p takes packets away instead of marking them.
    pub(crate) drops: bool,
    /// Counted since the last update.
    arrived: f64,
    departed: f64,
    busy: f64,
}

impl Fluid {
    /// Empty, with windows of one packet.
    pub(crate) fn new(network: Network, period: f64, stride: usize) -> Fluid {
        Fluid {
            network,
            step: period / stride as f64,
            stride,
            windows: vec![1.0],
            rtts: vec![network.base_rtt],
            marks: Vec::new(),
            queue: vec![0.0],
            p: 0.0,
            drops: false,
            arrived: 0.0,
            departed: 0.0,
            busy: 0.0,
        }
    }

    /// Seconds since the start.
    pub(crate) fn time(&self) -> f64 {
        (self.queue.len() - 1) as f64 * self.step
    }

    /// Goes on for `seconds` under a controller that samples at each period's beginning.
    pub(crate) fn run(&mut self, controller: &mut dyn Controller, seconds: f64) {
        let until = self.time() + seconds;
        while self.time() < until - self.step / 2.0 {
            let steps = self.queue.len() - 1;
            if steps.is_multiple_of(self.stride) {
                let elapsed = self.step * self.stride as f64;
                let marked = self.p * self.arrived;
                let seen = Observation {
                    now: Time::from_nanos((self.time() * 1e9) as u64),
                    elapsed,
                    backlog_packets: self.queue[steps],
                    arrived_packets: std::mem::take(&mut self.arrived),
                    departed_packets: std::mem::take(&mut self.departed),
                    marked_packets: if self.drops { 0.0 } else { marked },
                    busy: std::mem::take(&mut self.busy),
                    capacity: Some(Rate::from_bits_per_second(8000.0 * self.network.capacity)),
                    mean_packet: 1000.0,
                    limit: self.network.buffer,
                    ..Observation::default()
                };
                self.p = controller.update(&seen).get();
            }
            self.advance();
        }
    }

    /// The backlog at a time, packets.
    pub(crate) fn queue_at(&self, time: f64) -> f64 {
        self.queue[(time / self.step).round() as usize]
    }

    /// Mean and standard deviation of the backlog over the last `seconds`.
    pub(crate) fn rest(&self, seconds: f64) -> (f64, f64) {
        let last = &self.queue[self.queue.len() - (seconds / self.step) as usize..];
        let mean = last.iter().sum::<f64>() / last.len() as f64;
        let variance = last.iter().map(|queue| (queue - mean) * (queue - mean)).sum::<f64>();
        (mean, (variance / last.len() as f64).sqrt())
    }

    /// When the backlog was last further than `share` of `target` away from it.
    pub(crate) fn settling(&self, target: f64, share: f64) -> f64 {
        let outside = |queue: &f64| (queue - target).abs() > share * target;
        self.queue.iter().rposition(outside).map_or(0.0, |step| step as f64 * self.step)
    }

    /// The probability in force.
    pub(crate) fn p(&self) -> f64 {
        self.p
    }

    fn advance(&mut self) {
        let (w, q) = (self.windows[self.queue.len() - 1], self.queue[self.queue.len() - 1]);
        self.marks.push(self.in_force(w, q));
        let (t, h) = (self.time(), self.step);
        let (w1, q1) = self.slope(t, w, q);
        let (w2, q2) = self.slope(t + h / 2.0, w + h / 2.0 * w1, q + h / 2.0 * q1);
        let (w3, q3) = self.slope(t + h / 2.0, w + h / 2.0 * w2, q + h / 2.0 * q2);
        let (w4, q4) = self.slope(t + h, w + h * w3, q + h * q3);
        let window = (w + h / 6.0 * (w1 + 2.0 * w2 + 2.0 * w3 + w4)).max(1.0);
        let queue = (q + h / 6.0 * (q1 + 2.0 * q2 + 2.0 * q3 + q4)).clamp(0.0, self.network.buffer);
        self.count(f64::midpoint(w / self.rtt(q), window / self.rtt(queue)), queue);
        self.windows.push(window);
        self.queue.push(queue);
        self.rtts.push(self.rtt(queue));
    }

    /// Adds a step to what is counted: a flow's mean rate in it, and the queue at its end.
    fn count(&mut self, rate: f64, queue: f64) {
        let Network { flows, capacity, .. } = self.network;
        let arrived = flows * rate * self.step;
        let sent = capacity * self.step;
        self.arrived += arrived;
        if queue > 0.0 {
            (self.departed, self.busy) = (self.departed + sent, self.busy + self.step);
        } else {
            self.departed += sent.min(arrived);
        }
    }

    fn rtt(&self, queue: f64) -> f64 {
        self.network.base_rtt + queue / self.network.capacity
    }

    /// p, and what a full buffer loses beside it.
    fn in_force(&self, window: f64, queue: f64) -> f64 {
        let Network { flows, capacity, buffer, .. } = self.network;
        let enters = if self.drops { 1.0 - self.p } else { 1.0 };
        let arrivals = enters * flows * window / self.rtt(queue);
        let lost = if queue >= buffer && arrivals > capacity { 1.0 - capacity / arrivals } else { 0.0 };
        1.0 - (1.0 - self.p) * (1.0 - lost)
    }

    fn slope(&self, time: f64, window: f64, queue: f64) -> (f64, f64) {
        let Network { flows, capacity, buffer, tcp, .. } = self.network;
        let queue = queue.clamp(0.0, buffer);
        let window = window.max(1.0);
        let rtt = self.rtt(queue);
        let past = ((time - rtt) / self.step).max(0.0);
        let on_line = |values: &[f64]| {
            let (at, last) = (past as usize, values.len() - 1);
            let (left, right) = (values[at.min(last)], values[(at + 1).min(last)]);
            left + (right - left) * past.fract()
        };
        let (window_then, rtt_then) = (on_line(&self.windows), on_line(&self.rtts));
        let p = if time < rtt { 0.0 } else { self.marks[(past as usize).min(self.marks.len() - 1)] };
        let growth = match tcp {
            Tcp::Mgt => 1.0 / rtt - window * window_then * p / (2.0 * rtt_then),
            Tcp::Full => window_then / rtt_then * ((1.0 - p) / window - p * window / 2.0),
        };
        let enters = if self.drops { 1.0 - self.p } else { 1.0 };
        (growth, enters * flows * window / rtt - capacity)
    }
}
