//! Fluid model of TCP and queues.
//!
//! V. Misra, W. Gong, D. Towsley, SIGCOMM 2000. A class is N flows with the mean window W; a link serves C packets a
//! second and holds q of them. For a class whose data cross the links l
//!
//! ```text
//! R = T_p + sum of q_l / C_l                                                                 (1)
//! mgt   W' = 1/R - W W_d s / (2 R_d)                                                         (2)
//! full  W' = W_d / R_d ((1 - s) / W - s W / 2)                                               (3)
//! q'    = sum of admitted rates - C,   0 <= q <= B                                           (4)
//! ```
//!
//! where d means a round trip ago, at t - R(t), and s is the share of packets with a signal then: of the links' laws, of full
//! buffers, and of lossy links, combined as independent. (2) is the published equation; (3) also models that a signal
//! replaces an acknowledgment that would open the window, and that W opens at the rate of acknowledgments. W is at least 1
//! packet. (4) admits N W / R; the law drops p of a class without ECN. At q = B arrivals in excess of C are lost; at q = 0
//! arrivals leave at once.
//!
//! Calibrated windows have an equation of their own ([`crate::response`]), and their packets are clocked by ACKs: a growth
//! is sent at once, (4) admits N (W / R + W'), and with one class q is N W - C T, while windows fall no faster than ACKs
//! let packets leave (K. Jacobsson, L. L. H. Andrew, A. Tang, K. H. Johansson, H. Hjalmarsson, S. H. Low, "ACK-clocking
//! dynamics", INFOCOM 2008; the joint link model). Their signals take effect by degrees: s is the mean over a span a =
//! 2 r R ([`Window::signal_span`] R), (S - S(t - a)) / a with a state S' = s_d, 0 at the start. While a link has rate 0
//! it stands still: signals of the pause do not count, and those before it are forgotten after a. The span is that of the
//! present R: while a(t) changes, signals count 1 + a' / 2 times, to first order.
//!
//! A class arrives at its next link as it leaves the one before: queues are first in, first out, so that classes leave
//! in their shares at arrival. All propagation delays count in T_p: each link has a clock that lags the sender's by
//! the propagation delay between them. Acknowledgments of what arrives take their share of links that data cross on their
//! way back, p of them dropped; losses of them have no effect. Unresponsive traffic flows at its mean rate.
//!
//! The beginnings and ends of `q = 0`, `q = B` and `W = 1`, and the times at which the effect of a change of p begins, are
//! events of the integration ([`crate::dde`]).

mod account;
mod flow;
mod link;
mod rates;
mod shared;
mod shares;
mod signals;
mod windows;

use crate::dde::{Cubic, History, Piece, Stage, Staged, System};
use crate::response::{Memory, Response};
pub use link::Link;
use link::Mode;
use rates::{ClassRates, HopRates};
pub use shared::{QueueShare, SharedLink};
use shares::Part;
use sojourn_measure::{Packets, Received, Sample};
use std::collections::BTreeMap;

/// Identical flows.
#[derive(Clone, Debug)]
pub struct Class {
    /// Sender model.
    pub sender: Sender,
    /// Number of flows.
    pub flows: Ramp,
    /// T_p, s.
    pub base_rtt: f64,
    /// Links on the path of the data, in order, by number.
    pub route: Vec<usize>,
    /// Links in whose queues the acknowledgments wait.
    pub back: Vec<usize>,
    /// Bytes of acknowledgments for each data packet, where they share a link with data.
    pub acks: f64,
    /// Bytes of a packet.
    pub packet: f64,
    /// True if packets are marked instead of dropped.
    pub ecn: bool,
    /// Share of packets that links lose.
    pub loss: f64,
}

/// Window model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Window {
    /// Equation (2).
    Mgt,
    /// Equation (3).
    Full,
    /// Equation (1) of [`crate::response`].
    Calibrated(&'static Response),
}

impl Window {
    /// Time over which the effect of a signal on the packets in flight is spread, from a round trip after it on, round trips.
    pub fn signal_span(self, window: f64) -> f64 {
        match self {
            Window::Mgt | Window::Full => 0.0,
            Window::Calibrated(response) => response.signal_span(window),
        }
    }

    /// A bound of it at any window.
    fn longest_signal_span(self) -> f64 {
        match self {
            Window::Mgt | Window::Full => 0.0,
            Window::Calibrated(response) => response.longest_signal_span(),
        }
    }

    /// State of a sender besides its window.
    pub(crate) fn memory(self) -> Option<Memory> {
        if let Window::Calibrated(response) = self { response.memory() } else { None }
    }
}

/// Sender model of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sender {
    /// TCP that always has data, with a highest rate, packets/s.
    Tcp(Window, f64),
    /// Constant rate, packets/s.
    Constant(f64),
}

/// A number that is constant or grows linearly.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ramp {
    /// Start of the growth, s.
    pub since: f64,
    /// The number at that time.
    pub count: f64,
    /// Growth per second.
    pub growth: f64,
}

/// Classes and links of a network, as a system of delay differential equations: windows, backlogs, and the cumulative
/// arrivals of each class at shared links.
#[derive(Clone, Debug)]
pub struct Plant {
    classes: Vec<ClassState>,
    links: Vec<Link>,
    /// Links that several of these queues share.
    shared: Vec<SharedLink>,
    width: usize,
    /// True if several classes share a link.
    mixes: bool,
    /// Hops as pairs of a class and its hop number.
    hops: Vec<(usize, usize)>,
    /// Stage of the present step that is evaluated.
    stage: Stage,
    received: Vec<Received>,
    /// Those that take samples, by number.
    watches: BTreeMap<usize, Watch>,
    steps: u64,
}

/// A class with its state.
#[derive(Clone, Debug)]
struct ClassState {
    sender: Sender,
    flows: Ramp,
    base_rtt: f64,
    /// Longest T_p, so far or to come, s.
    longest_base_rtt: f64,
    loss: f64,
    /// True if ACKs clock its packets: they follow its window at once.
    is_clocked: bool,
    /// Links whose queues add to its round trip.
    waits: Vec<Wait>,
    hops: Vec<Hop>,
    /// The same of its acknowledgments, at links that data cross: a packet is that of a data packet.
    ack_hops: Vec<Hop>,
    /// Rates at each stage of the present step.
    at: Staged<ClassRates>,
    /// Piece of the history in which the packets acknowledged now were sent, its number, and W over it.
    sent: Piece,
    hint: usize,
    window: Cubic,
    /// State of its senders besides the window.
    memory: Option<MemoryState>,
    /// Sum of its signals, where they take effect by degrees.
    signal_sum: Option<SignalSum>,
    /// True if one of its links has rate 0.
    is_stalled: bool,
    /// True if W is at its floor.
    is_floored: bool,
    /// True if, until the next event, the share of its packets without a signal is constant, and no link has had
    /// another rate.
    is_calm: bool,
    passed: f64,
    /// Time of the next signal at any of its links that makes an event.
    until: f64,
}

/// alpha or h, equations (2) and (3) of [`crate::response`].
#[derive(Clone, Debug)]
struct MemoryState {
    kind: Memory,
    /// Index among the values, and the slope at the present stage.
    place: usize,
    slope: f64,
}

/// Integral S of the share of signals a round trip ago: over a span of a S(t) - S(t - a) by a is their mean.
#[derive(Clone, Debug)]
struct SignalSum {
    /// Index among the values, and the slope at the present stage.
    place: usize,
    slope: f64,
    /// Piece of the history in which the span begins, its number, and S over it.
    begins: Piece,
    hint: usize,
    sum: Cubic,
}

/// A queue on the round trip of a class.
#[derive(Clone, Debug)]
struct Wait {
    link: usize,
    /// Index of its backlog among the values, and 1 / C; 0 before a link with rate 0, when windows do not change.
    place: usize,
    inverse: f64,
    /// That backlog when the packets acknowledged now were sent.
    then: Cubic,
    /// Of one of several queues: the index of its cumulative service, whose slope was its rate then.
    served: Option<usize>,
    rate_then: Option<Cubic>,
}

/// A class at one of its links.
#[derive(Clone, Debug, Default)]
struct Hop {
    link: usize,
    /// Size of a packet of the class, in packets of the link's mean size.
    size: f64,
    per_size: f64,
    ecn: bool,
    /// Index of the class at the link, if classes share it.
    part: Option<usize>,
    /// Number of the signal in effect, its p, and the time of the next one that makes an event.
    signal: usize,
    signal_p: f64,
    until: f64,
    passed: Packets,
    /// Rates at each stage of the present step.
    at: Staged<HopRates>,
}

/// Samples for quantiles, over a span of time.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    /// Backlogs by time, of each link.
    pub(crate) backlogs: Vec<Sample>,
    /// Backlogs and sojourn times of each shared link.
    pub(crate) shared: Vec<[Sample; 2]>,
    /// Sojourn times by admitted packets, of each link.
    pub(crate) sojourns: Vec<Sample>,
    /// Round-trip times by acknowledgments, of each class.
    pub(crate) rtts: Vec<Sample>,
}

impl Ramp {
    /// A constant number.
    pub fn constant(count: f64) -> Ramp {
        Ramp { since: 0.0, count, growth: 0.0 }
    }

    fn at(&self, t: f64) -> f64 {
        self.count + self.growth * (t - self.since)
    }
}

impl Class {
    /// Links of its acknowledgments that data cross.
    fn ack_route<'a>(&'a self, has_data: &'a [bool]) -> impl Iterator<Item = usize> + 'a {
        let is_sent = self.acks > 0.0 && matches!(self.sender, Sender::Tcp(..));
        self.back.iter().copied().filter(move |link| is_sent && has_data[*link])
    }
}

impl ClassState {
    /// R, s.
    #[inline]
    fn rtt(&self, backlog: impl Fn(&Wait) -> f64) -> f64 {
        let mut rtt = self.base_rtt;
        for wait in &self.waits {
            rtt += backlog(wait).max(0.0) * wait.inverse;
        }
        rtt
    }

    /// Time of the history that it needs, round trips: a signal's first effect is after one, and its sum goes as far back
    /// as signals are spread.
    fn longest_delay(&self) -> f64 {
        let span = match self.sender {
            Sender::Tcp(law, _) => law.longest_signal_span(),
            Sender::Constant(_) => 0.0,
        };
        span.max(1.0)
    }

    /// True if no event of its window or of its signals is possible by the end of a step.
    #[inline]
    fn is_quiet(&self, stage: Stage, window: f64, t: f64) -> bool {
        let ClassRates { rtt, growth, .. } = self.at[stage];
        let stays = if self.is_floored { growth <= 0.0 } else { window >= LEAST_WINDOW };
        stays && t - rtt <= self.until
    }
}

impl Plant {
    /// A network with empty queues and windows of one packet.
    pub fn new(classes: Vec<Class>, links: Vec<Link>) -> Plant {
        Plant::with_shared(classes, links, Vec::new())
    }

    /// A network in which queues share links: each of them is one of `links`, whose own rate has no meaning.
    pub fn with_shared(classes: Vec<Class>, mut links: Vec<Link>, shared: Vec<SharedLink>) -> Plant {
        let mut width = classes.len() + links.len();
        let (mut numbers, mut states) = (Vec::new(), Vec::new());
        let mut crossing = vec![0; links.len()];
        classes.iter().flat_map(|class| &class.route).for_each(|link| crossing[*link] += 1);
        let has_data: Vec<bool> = crossing.iter().map(|count| *count > 0).collect();
        classes.iter().flat_map(|class| class.ack_route(&has_data)).for_each(|link| crossing[link] += 1);
        for (number, link) in links.iter_mut().enumerate() {
            link.place = classes.len() + number;
        }
        for (number, queue) in
            (0..).zip(&shared).flat_map(|(at, of)| of.queues().map(move |queue| (at, queue)))
        {
            links[queue].shared = Some((number, width));
            links[queue].set_share(0.0);
            width += 1;
        }
        for (number, of) in classes.into_iter().enumerate() {
            let mut hop = |link: usize, bytes: f64| {
                let size = bytes / links[link].packet;
                let parts = &mut links[link].parts;
                let part = (crossing[link] > 1).then_some(parts.len());
                if part.is_some() {
                    parts.push(Part::new(number, size, width));
                    width += 1;
                }
                Hop { link, size, per_size: 1.0 / size, part, ..Hop::default() }
            };
            let data = |at: Hop| Hop { ecn: of.ecn, ..at };
            let hops: Vec<Hop> = of.route.iter().map(|link| data(hop(*link, of.packet))).collect();
            let ack_hops = of.ack_route(&has_data).map(|link| hop(link, (1.0 - of.loss) * of.acks)).collect();
            numbers.extend((0..hops.len()).map(|place| (number, place)));
            let Class { sender, flows, base_rtt, loss, route, back, .. } = of;
            let wait = |link: &usize| Wait {
                link: *link,
                place: links[*link].place,
                inverse: 0.0,
                then: Cubic::default(),
                served: links[*link].shared.map(|(_, served)| served),
                rate_then: None,
            };
            let waits = route.iter().chain(&back).map(wait).collect();
            let memory = match sender {
                Sender::Tcp(law, _) => law.memory(),
                Sender::Constant(_) => None,
            };
            let memory = memory.map(|kind| MemoryState { kind, place: width, slope: 0.0 });
            width += usize::from(memory.is_some());
            let signal_sum = sums_signals(sender).then(|| SignalSum::new(width));
            width += usize::from(signal_sum.is_some());
            let is_clocked = matches!(sender, Sender::Tcp(Window::Calibrated(_), _));
            states.push(ClassState {
                sender,
                flows,
                base_rtt,
                longest_base_rtt: base_rtt,
                loss,
                is_clocked,
                waits,
                hops,
                ack_hops,
                at: Staged::default(),
                sent: Piece::NONE,
                hint: 0,
                window: Cubic::default(),
                memory,
                signal_sum,
                is_stalled: false,
                is_floored: false,
                is_calm: false,
                passed: 1.0,
                until: f64::INFINITY,
            });
        }
        // Each class responds to each p at its own time. With very many there are no events: p changes in small steps.
        if numbers.len() > MOST_FELT {
            for link in &mut links {
                link.smooth = true;
            }
        }
        let mut plant = Plant {
            stage: Stage::Begin,
            received: vec![Received::default(); states.len()],
            classes: states,
            mixes: links.iter().any(|link| !link.parts.is_empty()),
            links,
            shared,
            width,
            hops: numbers,
            watches: BTreeMap::new(),
            steps: 0,
        };
        plant.take_rates();
        plant
    }

    /// Initial values.
    pub fn start(&self) -> Vec<f64> {
        let mut y = vec![0.0; self.width];
        y[..self.classes.len()].fill(LEAST_WINDOW);
        for memory in self.classes.iter().filter_map(|of| of.memory.as_ref()) {
            y[memory.place] = FIRST_MEMORY;
        }
        y
    }

    /// The links.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Links that several queues share.
    pub fn shared(&self) -> &[SharedLink] {
        &self.shared
    }

    /// The same, to change weights and the rate of the reserved queue.
    pub fn shared_mut(&mut self) -> &mut [SharedLink] {
        &mut self.shared
    }

    /// Sets the most packets of all queues of a shared link from now on; where they hold more, it is full with these.
    pub fn set_shared_buffer(&mut self, number: usize, now: f64, buffer: f64) {
        self.shared[number].buffer = buffer;
        self.shared[number].find_longest_anew(now, &mut self.links);
    }

    /// Sets C of a shared link from now on, packets/s.
    pub fn set_shared_capacity(&mut self, number: usize, capacity: f64) {
        self.shared[number].set_capacity(capacity);
        self.take_rates();
    }

    /// Number of flows at a time whose queues a link stands for: 1, but where each flow has a queue of its own.
    pub fn queues_at(&self, link: usize, t: f64) -> f64 {
        let own = self.links[link].shared.map(|(number, _)| &self.shared[number]);
        own.map_or(1.0, |shared| shared.count(link, |class| self.classes[class].flows.at(t)))
    }

    /// Packets of all queues of the link that a queue shares, and its capacity, packets/s; None: it is alone.
    pub fn around(&self, queue: usize, y: &[f64]) -> Option<[f64; 2]> {
        let (number, _) = self.links[queue].shared?;
        let shared = &self.shared[number];
        let held = shared.queues().map(|queue| y[self.links[queue].place].max(0.0)).sum();
        Some([held, shared.capacity()])
    }

    /// Makes a link's p change in every step without events; `at_departure`: signals are given at departure.
    pub fn set_smooth(&mut self, link: usize, at_departure: bool) {
        self.links[link].smooth = true;
        self.links[link].at_departure = at_departure;
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.classes.len()
    }

    /// Totals of a class at each of its links since the start, with the link.
    pub fn passed(&self, class: usize) -> impl Iterator<Item = (usize, Packets)> + '_ {
        self.classes[class].hops.iter().map(|hop| (hop.link, hop.passed))
    }

    /// Received totals of each class since the start.
    pub fn received(&self) -> &[Received] {
        &self.received
    }

    /// Index of a link's backlog among the values.
    pub fn backlog(&self, link: usize) -> usize {
        self.classes.len() + link
    }

    /// Takes samples from now on, under a number.
    pub(crate) fn begin_watch(&mut self, number: usize) {
        let samples = |count: usize| vec![Sample::default(); count];
        let watch = Watch {
            backlogs: samples(self.links.len()),
            sojourns: samples(self.links.len()),
            shared: vec![<[Sample; 2]>::default(); self.shared.len()],
            rtts: samples(self.classes.len()),
        };
        self.watches.insert(number, watch);
    }

    /// Ends the samples of a number; None: none were taken.
    pub(crate) fn end_watch(&mut self, number: usize) -> Option<Watch> {
        self.watches.remove(&number)
    }

    /// Number of flows of a class at a time.
    pub fn flows_at(&self, class: usize, t: f64) -> f64 {
        self.classes[class].flows.at(t)
    }

    /// Sets p of a link from now on.
    pub fn set_p(&mut self, link: usize, now: f64, p: f64) {
        self.links[link].p = p;
        self.links[link].signals.hold(now, p);
    }

    /// Sets whether the law of a link marks packets that can be marked, from now on.
    pub fn set_marks(&mut self, link: usize, marks: bool) {
        self.links[link].marks = marks;
    }

    /// Sets C of a link from now on, packets/s.
    pub fn set_capacity(&mut self, link: usize, now: f64, capacity: f64) {
        self.links[link].set_capacity(now, capacity);
        self.take_rates();
    }

    /// C of a link will be this one at some time: the plant keeps the history that its round trips need.
    pub fn expect_capacity(&mut self, link: usize, capacity: f64) {
        self.links[link].expect_capacity(capacity);
    }

    /// The same of a link that several queues share.
    pub fn expect_shared_capacity(&mut self, number: usize, capacity: f64) {
        self.shared[number].expect_capacity(capacity);
    }

    /// Sets T_p of a class from now on, s.
    pub fn set_base_rtt(&mut self, class: usize, base_rtt: f64) {
        self.classes[class].base_rtt = base_rtt;
        self.expect_base_rtt(class, base_rtt);
    }

    /// T_p of a class will be this one at some time, s.
    pub fn expect_base_rtt(&mut self, class: usize, base_rtt: f64) {
        let longest = &mut self.classes[class].longest_base_rtt;
        *longest = longest.max(base_rtt);
    }

    /// Sets the number of flows of a class from now on. New flows have windows of one packet, which lowers the mean
    /// window; flows that leave do not change it.
    pub fn set_flows(&mut self, class: usize, flows: Ramp, y: &mut [f64]) {
        let (before, after) = (self.classes[class].flows.at(flows.since), flows.count);
        if after > before {
            y[class] = (before * y[class] + (after - before) * LEAST_WINDOW) / after;
        }
        if let (Some(memory), true) = (&self.classes[class].memory, before == 0.0) {
            y[memory.place] = FIRST_MEMORY;
        }
        for link in &mut self.shared {
            link.flows_change(class, [before, after.max(flows.growth)]);
            link.find_longest_anew(flows.since, &mut self.links);
        }
        self.classes[class].flows = flows;
    }

    /// Copies the links' rates to the classes.
    fn take_rates(&mut self) {
        for class in &mut self.classes {
            for wait in &mut class.waits {
                wait.inverse = self.links[wait.link].inverse;
            }
            let capacity = |link: &Link| {
                link.shared.map_or(link.capacity(), |(number, _)| self.shared[number].capacity())
            };
            class.is_stalled = class.waits.iter().any(|wait| capacity(&self.links[wait.link]) <= 0.0);
        }
    }

    /// Evaluates the rates for a guard; at the end of a step they are already known.
    fn evaluate_for_guard(&mut self, t: f64, y: &[f64], past: &History) {
        if self.stage != Stage::End {
            self.evaluate(t, y, past);
        }
    }

    /// Evaluates the rates where no slope is needed; a rare case.
    fn evaluate(&mut self, t: f64, y: &[f64], past: &History) {
        let mut slopes = vec![0.0; self.width];
        self.slope(t, y, past, &mut slopes);
    }

    /// Sets the modes of queues by their state; true if any changed.
    fn set_modes(&mut self, t: f64, y: &[f64]) -> bool {
        let mut changes = false;
        for link in &mut self.links {
            let backlog = y[link.place];
            let grows = link.at[self.stage].admitted > link.capacity() + link.climb;
            let mode = match link.mode {
                // A queue of a shared buffer is full only by events, and ceases to be the fattest at once.
                Mode::Full if link.shared.is_some() && !grows => Mode::Busy,
                Mode::Full if link.shared.is_some() => Mode::Full,
                Mode::Busy if backlog <= 0.0 && !grows => Mode::Empty,
                Mode::Busy if backlog >= link.buffer && grows => Mode::Full,
                // The backlog was set externally.
                Mode::Empty if backlog > 0.0 => Mode::Busy,
                // A queue that reached a limit at this time does not leave it in the same step.
                Mode::Empty if grows && link.turned != t => Mode::Busy,
                Mode::Full if !grows && link.turned != t => Mode::Busy,
                mode => mode,
            };
            changes |= mode != link.mode;
            link.set_mode(t, mode);
        }
        for shared in &mut self.shared {
            changes |= shared.set_mode(t, &mut self.links, y, self.stage);
        }
        changes
    }
}

impl System for Plant {
    fn width(&self) -> usize {
        self.width
    }

    fn at_stage(&mut self, stage: Stage) {
        self.stage = stage;
    }

    fn slope(&mut self, t: f64, y: &[f64], past: &History, out: &mut [f64]) {
        self.flow(t, y, past, out);
    }

    fn jumped(&mut self, t: f64, y: &[f64], past: &History) {
        // A change of one queue may end the mode of the next one.
        for _ in 0..=self.links.len() + self.shared.len() {
            if self.shared.is_empty() && !self.links.iter().any(|link| link.may_turn(y[link.place])) {
                break;
            }
            self.evaluate(t, y, past);
            if !self.set_modes(t, y) {
                break;
            }
        }
        self.update_signals(t, y);
        let Some(_) = y[..self.classes.len()].iter().find(|window| **window <= LEAST_WINDOW) else {
            return self.classes.iter_mut().for_each(|of| of.is_floored = false);
        };
        self.evaluate(t, y, past);
        for (of, window) in self.classes.iter_mut().zip(y) {
            of.is_floored = *window <= LEAST_WINDOW && of.at[Stage::Begin].growth < 0.0;
        }
    }

    fn guards(&self) -> usize {
        2 * self.links.len() + self.classes.len() + self.hops.len() + self.shared.len()
    }

    fn guard(&mut self, event: usize, t: f64, y: &[f64], past: &History) -> f64 {
        let (classes, links) = (self.classes.len(), 2 * self.links.len());
        if event < links {
            let link = &self.links[event / 2];
            let backlog = y[classes + event / 2];
            return match (link.mode, event % 2) {
                (Mode::Busy, 0) => backlog,
                (Mode::Busy, _) if link.shared.is_some() => {
                    let joined = |(number, _): (usize, usize)| {
                        self.shared[number].until_joined(event / 2, &self.links, y)
                    };
                    link.shared.map_or(f64::INFINITY, joined)
                }
                (Mode::Busy, _) => link.buffer - backlog,
                (Mode::Empty, 0) | (Mode::Full, 1) => {
                    self.evaluate_for_guard(t, y, past);
                    let link = &self.links[event / 2];
                    let excess = (link.at[self.stage].admitted - link.climb) / link.capacity() - 1.0;
                    if link.mode == Mode::Empty { CLEARLY - excess } else { excess + CLEARLY }
                }
                _ => 1.0,
            };
        }
        if event < links + classes {
            let class = event - links;
            return if self.classes[class].is_floored {
                self.evaluate_for_guard(t, y, past);
                CLEARLY - self.classes[class].at[self.stage].growth
            } else {
                y[class] - LEAST_WINDOW + CLEARLY
            };
        }
        if event >= links + classes + self.hops.len() {
            self.evaluate_for_guard(t, y, past);
            let shared = &self.shared[event - links - classes - self.hops.len()];
            return shared.guard(y, &self.links, self.stage);
        }
        let (class, hop) = self.hops[event - links - classes];
        let of = &self.classes[class];
        let until = of.hops[hop].until;
        // Most of the time there is no signal to wait for.
        if until == f64::INFINITY {
            return until;
        }
        if !self.shared.is_empty() {
            // Delays before a shared link depend on its rates there.
            self.evaluate_for_guard(t, y, past);
        }
        let of = &self.classes[class];
        let rtt = if self.shared.is_empty() { of.rtt(|wait| y[wait.place]) } else { of.at[self.stage].rtt };
        let link = &self.links[of.hops[hop].link];
        until - link.given_at(t - rtt, y[link.place])
    }

    fn is_quiet(&self, t: f64, y: &[f64]) -> bool {
        let Plant { classes, links, shared, stage, .. } = self;
        shared.iter().all(|shared| shared.is_quiet(*stage, y, links))
            && links.iter().all(|link| link.is_quiet(*stage, y[link.place]))
            && classes.iter().zip(y).all(|(of, window)| of.is_quiet(*stage, *window, t))
    }

    fn handle_event(&mut self, event: usize, t: f64, y: &mut [f64], _past: &History) {
        let (classes, links) = (self.classes.len(), 2 * self.links.len());
        if event < links {
            let backlog = &mut y[classes + event / 2];
            let link = &mut self.links[event / 2];
            let mode = match (link.mode, event % 2) {
                (Mode::Busy, 0) => Mode::Empty,
                (Mode::Busy, _) => Mode::Full,
                _ => Mode::Busy,
            };
            if link.shared.is_some() && mode != Mode::Empty {
                return link.set_mode(t, mode);
            }
            (*backlog, link.turned) = match mode {
                Mode::Empty => (0.0, t),
                Mode::Full => (link.buffer, t),
                Mode::Busy => (*backlog, link.turned),
            };
            link.set_mode(t, mode);
        } else if event < links + classes {
            y[event - links] = y[event - links].max(LEAST_WINDOW);
        } else if event >= links + classes + self.hops.len() {
            self.shared[event - links - classes - self.hops.len()].turn(t, &mut self.links, y);
        } else {
            let (class, hop) = self.hops[event - links - classes];
            self.classes[class].hops[hop].signal += 1;
        }
    }

    fn reach(&self, t: f64, y: &[f64]) -> f64 {
        let longest = |wait: &Wait| {
            let (link, backlog) = (&self.links[wait.link], y[wait.place]);
            let of_a_share = |number: usize| self.shared[number].longest_wait(wait.link, backlog);
            link.shared.map_or_else(|| link.longest_wait(backlog), |(number, _)| of_a_share(number))
        };
        let back = self
            .classes
            .iter()
            .map(|of| of.longest_delay() * (of.longest_base_rtt + of.waits.iter().map(longest).sum::<f64>()));
        // The shares of a queue's content depend on its time of arrival.
        let apart = self.links.iter().filter(|link| link.has_shares());
        apart.map(|link| link.came).fold(t - back.fold(0.0, f64::max), f64::min)
    }

    fn stepped(&mut self, past: &History) {
        self.account(past);
    }
}

/// True if the signals of a sender take effect by degrees.
fn sums_signals(sender: Sender) -> bool {
    matches!(sender, Sender::Tcp(law, _) if law.longest_signal_span() > 0.0)
}

/// Pairs of a class and a link up to which each change of p is an event.
const MOST_FELT: usize = 16;
/// alpha at the start (RFC 8257, section 3.3), and h.
const FIRST_MEMORY: f64 = 1.0;
/// Least W, packets.
const LEAST_WINDOW: f64 = 1.0;
/// Least relative excess of a rate at which a queue begins to fill, or to fall from its limit.
const CLEARLY: f64 = 1e-9;
