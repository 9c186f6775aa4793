//! TCP and queues as a fluid.
//!
//! V. Misra, W. Gong, D. Towsley, SIGCOMM 2000. A class is N flows with the mean window W; a link serves C packets
//! a second and holds q of them. Of a class whose data cross the links l
//!
//! ```text
//! R = T_p + sum of q_l / C_l                                                                 (1)
//! mgt   W' = 1/R - W W_d s / (2 R_d)                                                         (2)
//! full  W' = W_d / R_d ((1 - s) / W - s W / 2)                                               (3)
//! q'    = sum of what is let in - C,   0 <= q <= B                                           (4)
//! ```
//!
//! where d means a round trip ago, at t - R(t), and s is the share that carried a signal then: of the links' laws, of
//! full buffers, and of lossy wires, put together as independent. (2) is the published one; (3) also counts that a
//! signal takes the place of an acknowledgment that would open the window, and that W opens at the rate at which
//! acknowledgments come. W is 1 packet at least. (4) lets in N W / R; of a class without ECN the law takes its p away.
//! At q = B what comes in excess of C is lost; at q = 0 what comes leaves at once.
//!
//! A class comes to its next link as it leaves the one before: fluid leaves a queue in the order in which it came, so in
//! the shares that the classes had when it came. Propagation delays all count in T_p: each link has a clock of its
//! own that is behind the sender's by what lies between them. What is sent and asks nobody flows at its mean rate.
//!
//! Beginnings and ends of `q = 0`, `q = B` and `W = 1`, and the times at which a change of p is felt a round trip later,
//! are events of the integration ([`crate::dde`]).

mod account;
mod signals;
mod tally;

use crate::dde::{History, System};
use signals::Signals;
pub use sojourn_scenario::Window;
pub(crate) use tally::Sample;
pub use tally::{Passed, Received, Tally};

/// Flows that are alike.
#[derive(Clone, Debug)]
pub struct Class {
    /// What they send.
    pub sender: Sender,
    /// How many there are.
    pub flows: Ramp,
    /// T_p, s.
    pub base_rtt: f64,
    /// The links that their data cross, in order, by number.
    pub route: Vec<usize>,
    /// The links whose queues their acknowledgments wait in.
    pub back: Vec<usize>,
    /// Bytes of a packet.
    pub packet: f64,
    /// Whether they are marked instead of dropped.
    pub ecn: bool,
    /// The share of packets that wires lose.
    pub loss: f64,
}

/// What a flow sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sender {
    /// TCP that always has data, at most so many packets/s.
    Tcp(Window, f64),
    /// So many packets/s whatever happens.
    Constant(f64),
}

/// A number that is constant or grows steadily.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ramp {
    /// Since when, s.
    pub since: f64,
    /// How many then.
    pub count: f64,
    /// How many more a second.
    pub growth: f64,
}

/// A link with its queue.
#[derive(Clone, Debug)]
pub struct Link {
    /// Bytes of a mean packet: what the queue is counted in.
    pub packet: f64,
    /// B, packets; infinite where there is no limit.
    pub buffer: f64,
    /// C from each of these times on, packets/s.
    rates: Vec<(f64, f64)>,
    /// p in force.
    p: f64,
    /// Whether p moves in every step, so that no event is made of that.
    pub smooth: bool,
    /// Whether packets are signalled as they leave, not as they come.
    pub at_departure: bool,
    mode: Mode,
    signals: Signals,
    tally: Tally,
    /// Whether who leaves is told apart.
    mixes: bool,
    flow: LinkFlow,
    /// The shares that a full buffer lost at the beginning of the last step, in its middle and at its end.
    losses: [f64; 3],
    /// The step in which the fluid came that leaves now.
    leaving: usize,
}

/// What the queue is doing.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Empty,
    Busy,
    Full,
}

/// What comes to a link, packets/s of its mean size.
#[derive(Clone, Copy, Debug, Default)]
struct LinkFlow {
    offered: f64,
    /// Not dropped by the law.
    admitted: f64,
    /// Marked by it.
    marked: f64,
}

/// A class at one of its links.
#[derive(Clone, Debug, Default)]
struct Hop {
    class: usize,
    link: usize,
    /// Packets of the link's mean size in one of the class.
    size: f64,
    /// Where the sum of what it brought stands, where the link tells classes apart.
    sum: Option<usize>,
    /// The signal that is felt now.
    felt: usize,
    /// Packets/s of the class: offered.
    offered: f64,
    /// Those that the law lets in.
    admitted: f64,
    /// Those that leave.
    leaving: f64,
    passed: Passed,
}

/// The classes and links of a network, as a system of delay differential equations: windows, backlogs, and sums where
/// links tell classes apart.
#[derive(Clone, Debug)]
pub struct Plant {
    classes: Vec<Class>,
    links: Vec<Link>,
    hops: Vec<Hop>,
    /// The hops of each class.
    hops_of: Vec<std::ops::Range<usize>>,
    width: usize,
    /// R at present, s.
    rtts: Vec<f64>,
    /// Flows at present.
    counts: Vec<f64>,
    /// W is at its floor.
    floored: Vec<bool>,
    hints: Vec<usize>,
    received: Vec<Received>,
    watch: Watch,
    scratch: Vec<f64>,
}

/// What is seen of quantiles.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    /// Whether it is looked at.
    pub(crate) on: bool,
    /// Backlogs by time, of each link.
    pub(crate) backlogs: Vec<Sample>,
    /// Sojourn times by packets let in, of each link.
    pub(crate) sojourns: Vec<Sample>,
    /// Round-trip times by acknowledgments, of each class.
    pub(crate) rtts: Vec<Sample>,
}

impl Ramp {
    /// So many, always.
    pub fn constant(count: f64) -> Ramp {
        Ramp { since: 0.0, count, growth: 0.0 }
    }

    fn at(&self, t: f64) -> f64 {
        self.count + self.growth * (t - self.since)
    }
}

impl Link {
    /// An empty queue in front of a link of `capacity` packets/s.
    pub fn new(capacity: f64, buffer: f64, packet: f64) -> Link {
        Link {
            packet,
            buffer,
            rates: vec![(f64::NEG_INFINITY, capacity)],
            p: 0.0,
            smooth: false,
            at_departure: false,
            mode: Mode::Empty,
            signals: Signals::default(),
            tally: Tally::default(),
            mixes: false,
            flow: LinkFlow::default(),
            losses: [0.0; 3],
            leaving: 0,
        }
    }

    /// C at the start, packets/s.
    pub fn nominal(&self) -> f64 {
        self.rates[0].1
    }

    /// C, packets/s.
    pub fn capacity(&self) -> f64 {
        self.rates[self.rates.len() - 1].1
    }

    /// p in force.
    pub fn p(&self) -> f64 {
        self.p
    }

    /// What has gone through since the start.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    fn capacity_at(&self, t: f64) -> f64 {
        let rate = self.rates.iter().rev().find(|(since, _)| *since <= t);
        rate.unwrap_or(&self.rates[0]).1
    }
}

impl Plant {
    /// Empty queues, windows of one packet.
    pub fn new(classes: Vec<Class>, mut links: Vec<Link>) -> Plant {
        let mut width = classes.len() + links.len();
        let (mut hops, mut hops_of) = (Vec::new(), Vec::new());
        let crossing =
            |link: usize| classes.iter().flat_map(|class| &class.route).filter(|at| **at == link).count();
        for (number, link) in links.iter_mut().enumerate() {
            link.mixes = crossing(number) > 1;
        }
        for (number, class) in classes.iter().enumerate() {
            let first = hops.len();
            for link in &class.route {
                let sum = links[*link].mixes.then_some(width);
                width += usize::from(sum.is_some());
                let size = class.packet / links[*link].packet;
                hops.push(Hop { class: number, link: *link, size, sum, ..Hop::default() });
            }
            hops_of.push(first..hops.len());
        }
        let samples = |count: usize| vec![Sample::new(); count];
        let watch = Watch {
            on: false,
            backlogs: samples(links.len()),
            sojourns: samples(links.len()),
            rtts: samples(classes.len()),
        };
        Plant {
            rtts: classes.iter().map(|class| class.base_rtt).collect(),
            counts: vec![0.0; classes.len()],
            floored: vec![false; classes.len()],
            hints: vec![0; classes.len()],
            received: vec![Received::default(); classes.len()],
            classes,
            links,
            hops,
            hops_of,
            width,
            watch,
            scratch: vec![0.0; width],
        }
    }

    /// The values at the start.
    pub fn start(&self) -> Vec<f64> {
        let mut y = vec![0.0; self.width];
        y[..self.classes.len()].fill(LEAST_WINDOW);
        y
    }

    /// The links.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The classes.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// What became of a class at each of its links since the start: the link, and that.
    pub fn passed(&self, class: usize) -> impl Iterator<Item = (usize, Passed)> + '_ {
        self.hops[self.hops_of[class].clone()].iter().map(|hop| (hop.link, hop.passed))
    }

    /// What each class got since the start.
    pub fn received(&self) -> &[Received] {
        &self.received
    }

    /// Where the backlog of a link stands among the values.
    pub fn backlog(&self, link: usize) -> usize {
        self.classes.len() + link
    }

    pub(crate) fn watched(&self) -> &Watch {
        &self.watch
    }

    pub(crate) fn watch(&mut self) -> &mut Watch {
        &mut self.watch
    }

    /// How many flows a class has at a time.
    pub fn flows_at(&self, class: usize, t: f64) -> f64 {
        self.classes[class].flows.at(t)
    }

    /// R of a class as it is now, s.
    pub fn rtt(&self, class: usize) -> f64 {
        self.rtts[class]
    }

    /// p of a link is this from now on.
    pub fn set_p(&mut self, link: usize, now: f64, p: f64) {
        self.links[link].p = p;
        self.links[link].signals.hold(now, p);
    }

    /// C of a link is this from now on, packets/s.
    pub fn set_capacity(&mut self, link: usize, now: f64, capacity: f64) {
        self.links[link].rates.push((now, capacity));
    }

    /// T_p of a class is this from now on, s.
    pub fn set_base_rtt(&mut self, class: usize, base_rtt: f64) {
        self.classes[class].base_rtt = base_rtt;
    }

    /// The number of flows of a class moves so from now on. New ones come with windows of one packet, which
    /// the mean window falls by; those that go take theirs along.
    pub fn set_flows(&mut self, class: usize, flows: Ramp, y: &mut [f64]) {
        let (before, after) = (self.classes[class].flows.at(flows.since), flows.count);
        if after > before {
            y[class] = (before * y[class] + (after - before) * LEAST_WINDOW) / after;
        }
        self.classes[class].flows = flows;
    }

    /// What comes to each link and leaves it.
    fn flow(&mut self, t: f64, y: &[f64], past: &History) {
        for link in &mut self.links {
            link.flow = LinkFlow::default();
        }
        for class in 0..self.classes.len() {
            let of = &self.classes[class];
            let count = of.flows.at(t);
            let wait = |link: &usize| wait(&self.links[*link], y[self.classes.len() + *link]);
            let waits: f64 = of.route.iter().chain(&of.back).map(wait).sum();
            let rtt = of.base_rtt + waits;
            let stalled = of.route.iter().any(|link| self.links[*link].capacity() <= 0.0);
            let each = match of.sender {
                _ if stalled => 0.0,
                Sender::Tcp(_, most) => (y[class].max(LEAST_WINDOW) / rtt).min(most),
                Sender::Constant(rate) => rate,
            };
            (self.rtts[class], self.counts[class]) = (rtt, count);
            let mut rate = count * each;
            for number in self.hops_of[class].clone() {
                rate = self.through(number, rate, (y, past));
            }
        }
    }

    /// A class comes to a link at `rate`, packets/s of its own; gives what leaves.
    fn through(&mut self, number: usize, rate: f64, state: (&[f64], &History)) -> f64 {
        let hop = &self.hops[number];
        let (link, size, ecn) = (&mut self.links[hop.link], hop.size, self.classes[hop.class].ecn);
        let admitted = if ecn { rate } else { (1.0 - link.p) * rate };
        link.flow.offered += size * rate;
        link.flow.admitted += size * admitted;
        link.flow.marked += if ecn { size * link.p * rate } else { 0.0 };
        let leaving = match (link.mode, hop.sum) {
            (Mode::Empty, _) => admitted,
            (_, None) => link.capacity() / size,
            (_, Some(_)) => self.share_leaving(number, state),
        };
        let hop = &mut self.hops[number];
        (hop.offered, hop.admitted, hop.leaving) = (rate, admitted, leaving);
        leaving
    }

    /// The packets/s of a class that leave a queue: in the share in which it came with those that now leave.
    fn share_leaving(&mut self, number: usize, (y, past): (&[f64], &History)) -> f64 {
        let at = self.hops[number].link;
        let together = |values: &dyn Fn(usize) -> f64| -> f64 {
            let hops = self.hops.iter().filter(|hop| hop.link == at);
            hops.filter_map(|hop| hop.sum.map(|sum| hop.size * values(sum))).sum()
        };
        let left = together(&|place| y[place]) - y[self.classes.len() + at];
        let came =
            past.find_where(self.links[at].leaving, |step| together(&|place| step.ends(place)[0]) > left);
        let Some(came) = came else { return self.present_share(number) };
        let step = past.step(came);
        let grown = |place: usize| {
            let [begin, end] = step.ends(place);
            end - begin
        };
        let (total, hop) = (together(&grown), &self.hops[number]);
        let own = hop.size * hop.sum.map_or(0.0, grown);
        let share = if total > 0.0 { own / total } else { 0.0 };
        let leaving = share * self.links[at].capacity() / hop.size;
        self.links[at].leaving = came;
        leaving
    }

    /// The same where nothing is known of earlier times.
    fn present_share(&self, number: usize) -> f64 {
        let hop = &self.hops[number];
        let link = &self.links[hop.link];
        if link.flow.admitted > 0.0 {
            hop.admitted * (link.capacity() / link.flow.admitted).min(1.0)
        } else {
            0.0
        }
    }

    /// W' of a class.
    fn growth(&mut self, class: usize, t: f64, y: &[f64], past: &History) -> f64 {
        let of = &self.classes[class];
        let Sender::Tcp(law, most) = of.sender else { return 0.0 };
        if of.route.iter().any(|link| self.links[*link].capacity() <= 0.0) {
            return 0.0;
        }
        let (w, rtt) = (y[class].max(LEAST_WINDOW), self.rtts[class]);
        let then = t - rtt;
        let moment = past.at(then, &mut self.hints[class]);
        let w_then = moment.value(class).max(LEAST_WINDOW);
        let waits = of.route.iter().chain(&of.back).map(|link| {
            let backlog = moment.value(self.classes.len() + *link);
            waiting(backlog, self.links[*link].capacity_at(then))
        });
        let rtt_then = of.base_rtt + waits.sum::<f64>();
        let acks = (w_then / rtt_then).min(most);
        let signalled = 1.0 - (1.0 - self.signalled(class, then, y)) * (1.0 - of.loss);
        let ramp = &of.flows;
        // Who comes now comes with the least window.
        let dilution = if ramp.growth > 0.0 && self.counts[class] > 0.0 {
            ramp.growth / self.counts[class] * (w - LEAST_WINDOW)
        } else {
            0.0
        };
        let grown = match law {
            Window::Mgt => 1.0 / rtt - w * signalled * acks / 2.0,
            Window::Full => acks * ((1.0 - signalled) / w - signalled * w / 2.0),
        };
        grown - dilution
    }

    /// The share of packets of a class that links signalled a round trip ago.
    fn signalled(&self, class: usize, then: f64, y: &[f64]) -> f64 {
        let mut passed = 1.0;
        for hop in &self.hops[self.hops_of[class].clone()] {
            let link = &self.links[hop.link];
            let felt = felt_at(link, then, y[self.classes.len() + hop.link]);
            let entry = if link.smooth { link.signals.seat(felt, hop.felt) } else { hop.felt };
            passed *= (1.0 - link.signals.p(entry, felt)) * (1.0 - link.signals.lost(then));
        }
        1.0 - passed
    }

    /// When the signal was given that a class feels at `t`.
    fn felt(&self, hop: &Hop, t: f64, y: &[f64]) -> f64 {
        let of = &self.classes[hop.class];
        let wait = |link: &usize| wait(&self.links[*link], y[self.classes.len() + *link]);
        let rtt = of.base_rtt + of.route.iter().chain(&of.back).map(wait).sum::<f64>();
        felt_at(&self.links[hop.link], t - rtt, y[self.classes.len() + hop.link])
    }
}

/// When a signal was given of a packet that was sent at `then`.
fn felt_at(link: &Link, then: f64, backlog: f64) -> f64 {
    if link.at_departure { then + wait(link, backlog) } else { then }
}

fn wait(link: &Link, backlog: f64) -> f64 {
    waiting(backlog, link.capacity())
}

/// How long a backlog waits; before a link that stands still as if it did not stand: windows stand still then.
fn waiting(backlog: f64, capacity: f64) -> f64 {
    if capacity > 0.0 { backlog.max(0.0) / capacity } else { 0.0 }
}

impl System for Plant {
    fn width(&self) -> usize {
        self.width
    }

    fn slope(&mut self, t: f64, y: &[f64], past: &History, out: &mut [f64]) {
        self.flow(t, y, past);
        let classes = self.classes.len();
        for (class, out) in out[..classes].iter_mut().enumerate() {
            *out = if self.floored[class] { 0.0 } else { self.growth(class, t, y, past) };
        }
        for (number, link) in self.links.iter().enumerate() {
            out[self.classes.len() + number] = match link.mode {
                Mode::Busy => link.flow.admitted - link.capacity(),
                Mode::Empty | Mode::Full => 0.0,
            };
        }
        for hop in &self.hops {
            let Some(sum) = hop.sum else { continue };
            let link = &self.links[hop.link];
            let enters = if link.mode == Mode::Full { link.capacity() / link.flow.admitted } else { 1.0 };
            out[sum] = enters * hop.admitted;
        }
    }

    fn begin(&mut self, t: f64, y: &[f64], past: &History) {
        self.flow(t, y, past);
        for number in 0..self.links.len() {
            let backlog = y[self.classes.len() + number];
            let link = &mut self.links[number];
            let more = link.flow.admitted > link.capacity();
            link.mode = match link.mode {
                Mode::Busy if backlog <= 0.0 && !more => Mode::Empty,
                Mode::Busy if backlog >= link.buffer && more => Mode::Full,
                Mode::Empty if more => Mode::Busy,
                Mode::Full if !more => Mode::Busy,
                mode => mode,
            };
        }
        for class in 0..self.classes.len() {
            let at_floor = y[class] <= LEAST_WINDOW;
            self.floored[class] = at_floor && self.growth(class, t, y, past) < 0.0;
        }
        for number in 0..self.hops.len() {
            let hop = &self.hops[number];
            let felt = self.felt(hop, t, y);
            self.hops[number].felt = self.links[hop.link].signals.seat(felt, hop.felt);
        }
    }

    fn guards(&self) -> usize {
        2 * self.links.len() + self.classes.len() + self.hops.len()
    }

    fn guard(&mut self, event: usize, t: f64, y: &[f64], past: &History) -> f64 {
        let links = 2 * self.links.len();
        if event < links {
            let link = &self.links[event / 2];
            let backlog = y[self.classes.len() + event / 2];
            return match (link.mode, event % 2) {
                (Mode::Busy, 0) => backlog,
                (Mode::Busy, _) => link.buffer - backlog,
                (Mode::Empty, 0) | (Mode::Full, 1) => {
                    self.flow(t, y, past);
                    let link = &self.links[event / 2];
                    let excess = link.flow.admitted / link.capacity() - 1.0;
                    if link.mode == Mode::Empty { CLEARLY - excess } else { excess + CLEARLY }
                }
                _ => 1.0,
            };
        }
        if let Some(class) = (event - links < self.classes.len()).then_some(event - links) {
            return if self.floored[class] {
                CLEARLY - self.growth(class, t, y, past)
            } else {
                y[class] - LEAST_WINDOW + CLEARLY
            };
        }
        let hop = &self.hops[event - links - self.classes.len()];
        let link = &self.links[hop.link];
        if link.smooth { 1.0 } else { link.signals.next(hop.felt) - self.felt(hop, t, y) }
    }

    fn strike(&mut self, event: usize, _t: f64, y: &mut [f64], _past: &History) {
        let links = 2 * self.links.len();
        if event < links {
            let backlog = &mut y[self.classes.len() + event / 2];
            let link = &mut self.links[event / 2];
            (link.mode, *backlog) = match (link.mode, event % 2) {
                (Mode::Busy, 0) => (Mode::Empty, 0.0),
                (Mode::Busy, _) => (Mode::Full, link.buffer),
                _ => (Mode::Busy, *backlog),
            };
        } else if event - links < self.classes.len() {
            y[event - links] = y[event - links].max(LEAST_WINDOW);
        } else {
            self.hops[event - links - self.classes.len()].felt += 1;
        }
    }

    fn reach(&self, t: f64, y: &[f64]) -> f64 {
        let slowest = |link: &Link| {
            link.rates.iter().map(|(_, rate)| *rate).filter(|rate| *rate > 0.0).fold(f64::INFINITY, f64::min)
        };
        let longest = |link: &usize| {
            let of = &self.links[*link];
            // Without a limit the queue may stand at twice what it is before anybody asks.
            let most = if of.buffer.is_finite() { of.buffer } else { 2.0 * y[self.classes.len() + *link] };
            waiting(most, slowest(of))
        };
        let back = self
            .classes
            .iter()
            .map(|class| class.base_rtt + class.route.iter().chain(&class.back).map(longest).sum::<f64>());
        t - back.fold(0.0, f64::max)
    }

    fn stepped(&mut self, past: &History) {
        self.account(past);
    }
}

/// W is not below this, packets.
const LEAST_WINDOW: f64 = 1.0;
/// By so much a rate must differ before a queue begins to fill, or to fall from its limit.
const CLEARLY: f64 = 1e-9;
