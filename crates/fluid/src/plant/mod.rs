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
//! A class comes to its next link as it leaves the one before: fluid leaves a queue in the order in which it came, so
//! in the shares that the classes had when it came. Propagation delays all count in T_p: each link has a clock of its
//! own that is behind the sender's by what lies between them. What is sent and asks nobody flows at its mean rate.
//!
//! Beginnings and ends of `q = 0`, `q = B` and `W = 1`, and the times at which a change of p is felt a round trip
//! later, are events of the integration ([`crate::dde`]).

mod account;
mod flow;
mod link;
mod shares;
mod signals;
mod tally;
mod windows;

use crate::dde::{Cubic, History, Piece, Stage, Staged, System};
use flow::{AtHop, OfClass};
pub use link::Link;
use link::Mode;
use shares::Part;
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

/// The classes and links of a network, as a system of delay differential equations: windows, backlogs, and sums where
/// links tell classes apart.
#[derive(Clone, Debug)]
pub struct Plant {
    classes: Vec<Member>,
    links: Vec<Link>,
    width: usize,
    /// Whether any link tells classes apart.
    mixes: bool,
    /// The hops by class, and by number within that.
    hops: Vec<(usize, usize)>,
    /// The stage of the present step that is asked for.
    stage: Stage,
    received: Vec<Received>,
    watch: Watch,
    steps: u64,
}

/// A class in its place.
#[derive(Clone, Debug)]
struct Member {
    sender: Sender,
    flows: Ramp,
    base_rtt: f64,
    loss: f64,
    /// The links whose queues add to its round trip.
    waits: Vec<Wait>,
    hops: Vec<Hop>,
    /// What flows at each stage of the present step.
    at: Staged<OfClass>,
    /// The piece of the past in which what it feels now was sent, its number, and W over it.
    sent: Piece,
    hint: usize,
    window: Cubic,
    /// One of its links stands still.
    is_stalled: bool,
    /// W is at its floor.
    is_floored: bool,
    /// Until the next event the share of its packets that no signal hits stays as it is, and no link had another rate.
    is_calm: bool,
    passed: f64,
    /// When the next signal is given at any of its links that makes an event.
    until: f64,
}

/// A queue that a class waits in.
#[derive(Clone, Debug)]
struct Wait {
    link: usize,
    /// Where its backlog stands among the values, and 1 / C; 0 before a link that stands still: windows stand still
    /// then.
    place: usize,
    inverse: f64,
    /// That backlog when what the class feels now was sent.
    then: Cubic,
}

/// A class at one of its links.
#[derive(Clone, Debug, Default)]
struct Hop {
    link: usize,
    /// Packets of the link's mean size in one of the class.
    size: f64,
    per_size: f64,
    ecn: bool,
    /// Its number at the link, where that tells classes apart.
    part: Option<usize>,
    /// The number of the signal that is felt now, its p, and when the next one is given that makes an event.
    felt: usize,
    felt_p: f64,
    until: f64,
    passed: Passed,
    /// What flows at each stage of the present step.
    at: Staged<AtHop>,
}

/// What quantiles are taken of.
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

impl Member {
    /// R, s.
    #[inline]
    fn rtt(&self, backlog: impl Fn(&Wait) -> f64) -> f64 {
        let mut rtt = self.base_rtt;
        for wait in &self.waits {
            rtt += backlog(wait).max(0.0) * wait.inverse;
        }
        rtt
    }

    /// When the signal was given that it feels at `t` of one of its links.
    fn given_at(&self, hop: usize, links: &[Link], t: f64, y: &[f64]) -> f64 {
        let link = &links[self.hops[hop].link];
        link.given_at(t - self.rtt(|wait| y[wait.place]), y[link.place])
    }

    /// Whether no event of its window or of what it feels can have happened by a step's end.
    #[inline]
    fn is_quiet(&self, stage: Stage, window: f64, t: f64) -> bool {
        let OfClass { rtt, growth, .. } = self.at[stage];
        let stays = if self.is_floored { growth <= 0.0 } else { window >= LEAST_WINDOW };
        stays && t - rtt <= self.until
    }
}

impl Plant {
    /// Empty queues, windows of one packet.
    pub fn new(classes: Vec<Class>, mut links: Vec<Link>) -> Plant {
        let mut width = classes.len() + links.len();
        let (mut numbers, mut members) = (Vec::new(), Vec::new());
        let mut crossing = vec![0; links.len()];
        classes.iter().flat_map(|class| &class.route).for_each(|link| crossing[*link] += 1);
        for (number, link) in links.iter_mut().enumerate() {
            link.place = classes.len() + number;
        }
        for (number, of) in classes.into_iter().enumerate() {
            let mut hops = Vec::new();
            for link in &of.route {
                let size = of.packet / links[*link].packet;
                let parts = &mut links[*link].parts;
                let part = (crossing[*link] > 1).then_some(parts.len());
                if part.is_some() {
                    parts.push(Part::new(number, size, width));
                    width += 1;
                }
                numbers.push((number, hops.len()));
                let hop = Hop { link: *link, size, per_size: 1.0 / size, ..Hop::default() };
                hops.push(Hop { ecn: of.ecn, part, ..hop });
            }
            let Class { sender, flows, base_rtt, loss, route, back, .. } = of;
            let wait = |link: &usize| Wait {
                link: *link,
                place: links[*link].place,
                inverse: 0.0,
                then: Cubic::default(),
            };
            let waits = route.iter().chain(&back).map(wait).collect();
            members.push(Member {
                sender,
                flows,
                base_rtt,
                loss,
                waits,
                hops,
                at: Staged::default(),
                sent: Piece::NONE,
                hint: 0,
                window: Cubic::default(),
                is_stalled: false,
                is_floored: false,
                is_calm: false,
                passed: 1.0,
                until: f64::INFINITY,
            });
        }
        // Each class feels each p at a time of its own. Of very many no event is made: p moves in small steps.
        if numbers.len() > MOST_FELT {
            for link in &mut links {
                link.smooth = true;
            }
        }
        let samples = |count: usize| vec![Sample::new(); count];
        let watch = Watch {
            on: false,
            backlogs: samples(links.len()),
            sojourns: samples(links.len()),
            rtts: samples(members.len()),
        };
        let mut plant = Plant {
            stage: Stage::Begin,
            received: vec![Received::default(); members.len()],
            classes: members,
            mixes: links.iter().any(|link| !link.parts.is_empty()),
            links,
            width,
            hops: numbers,
            watch,
            steps: 0,
        };
        plant.take_rates();
        plant
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

    /// Says of a link whether its p moves in every step, and whether it signals as packets leave.
    pub fn set_twin(&mut self, link: usize, at_departure: bool) {
        self.links[link].smooth = true;
        self.links[link].at_departure = at_departure;
    }

    /// How many classes there are.
    pub fn classes(&self) -> usize {
        self.classes.len()
    }

    /// What became of a class at each of its links since the start: the link, and that.
    pub fn passed(&self, class: usize) -> impl Iterator<Item = (usize, Passed)> + '_ {
        self.classes[class].hops.iter().map(|hop| (hop.link, hop.passed))
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

    /// What comes to a link now, packets/s: offered, and let in by its law.
    pub fn coming(&self, link: usize) -> [f64; 2] {
        let hops = self.classes.iter().flat_map(|of| &of.hops).filter(|hop| hop.link == link);
        [
            hops.map(|hop| hop.size * hop.at[Stage::Begin].offered).sum(),
            self.links[link].at[Stage::Begin].admitted,
        ]
    }

    /// p of a link is this from now on.
    pub fn set_p(&mut self, link: usize, now: f64, p: f64) {
        self.links[link].p = p;
        self.links[link].signals.hold(now, p);
    }

    /// Whether the law of a link marks what can be marked, from now on.
    pub fn set_marks(&mut self, link: usize, marks: bool) {
        self.links[link].marks = marks;
    }

    /// C of a link is this from now on, packets/s.
    pub fn set_capacity(&mut self, link: usize, now: f64, capacity: f64) {
        self.links[link].set_capacity(now, capacity);
        self.take_rates();
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

    /// Lets the classes know what their links can send.
    fn take_rates(&mut self) {
        for class in &mut self.classes {
            for wait in &mut class.waits {
                wait.inverse = self.links[wait.link].inverse;
            }
            class.is_stalled = class.waits.iter().any(|wait| self.links[wait.link].capacity() <= 0.0);
        }
    }

    /// Computes what flows where guards look; at a step's end the integration has just done so.
    fn look(&mut self, t: f64, y: &[f64], past: &History) {
        if self.stage != Stage::End {
            self.see(t, y, past);
        }
    }

    /// Computes what flows where no slope is asked for, which is rare.
    fn see(&mut self, t: f64, y: &[f64], past: &History) {
        let mut slopes = vec![0.0; self.width];
        self.slope(t, y, past, &mut slopes);
    }

    /// Begins and ends what a queue does, where nothing but its state tells; whether any did.
    fn set_modes(&mut self, t: f64, y: &[f64]) -> bool {
        let mut changes = false;
        for link in &mut self.links {
            let backlog = y[link.place];
            let grows = link.at[self.stage].admitted > link.capacity();
            let mode = match link.mode {
                Mode::Busy if backlog <= 0.0 && !grows => Mode::Empty,
                Mode::Busy if backlog >= link.buffer && grows => Mode::Full,
                // What was put there.
                Mode::Empty if backlog > 0.0 => Mode::Busy,
                // A queue that has just come to a limit, and leaves it for less than a step, stays there.
                Mode::Empty if grows && link.turned != t => Mode::Busy,
                Mode::Full if !grows && link.turned != t => Mode::Busy,
                mode => mode,
            };
            changes |= mode != link.mode;
            link.set_mode(t, mode);
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
        // What one queue does may end what the next one does.
        for _ in 0..=self.links.len() {
            if !self.links.iter().any(|link| link.may_turn(y[link.place])) {
                break;
            }
            self.see(t, y, past);
            if !self.set_modes(t, y) {
                break;
            }
        }
        self.seat(t, y);
        let Some(_) = y[..self.classes.len()].iter().find(|window| **window <= LEAST_WINDOW) else {
            return self.classes.iter_mut().for_each(|of| of.is_floored = false);
        };
        self.see(t, y, past);
        for (of, window) in self.classes.iter_mut().zip(y) {
            of.is_floored = *window <= LEAST_WINDOW && of.at[Stage::Begin].growth < 0.0;
        }
    }

    fn guards(&self) -> usize {
        2 * self.links.len() + self.classes.len() + self.hops.len()
    }

    fn guard(&mut self, event: usize, t: f64, y: &[f64], past: &History) -> f64 {
        let (classes, links) = (self.classes.len(), 2 * self.links.len());
        if event < links {
            let link = &self.links[event / 2];
            let backlog = y[classes + event / 2];
            return match (link.mode, event % 2) {
                (Mode::Busy, 0) => backlog,
                (Mode::Busy, _) => link.buffer - backlog,
                (Mode::Empty, 0) | (Mode::Full, 1) => {
                    self.look(t, y, past);
                    let link = &self.links[event / 2];
                    let excess = link.at[self.stage].admitted / link.capacity() - 1.0;
                    if link.mode == Mode::Empty { CLEARLY - excess } else { excess + CLEARLY }
                }
                _ => 1.0,
            };
        }
        if event < links + classes {
            let class = event - links;
            return if self.classes[class].is_floored {
                self.look(t, y, past);
                CLEARLY - self.classes[class].at[self.stage].growth
            } else {
                y[class] - LEAST_WINDOW + CLEARLY
            };
        }
        let (class, hop) = self.hops[event - links - classes];
        let of = &self.classes[class];
        let until = of.hops[hop].until;
        // Most of the time there is none to wait for.
        if until == f64::INFINITY { until } else { until - of.given_at(hop, &self.links, t, y) }
    }

    fn is_quiet(&self, t: f64, y: &[f64]) -> bool {
        let Plant { classes, links, stage, .. } = self;
        links.iter().all(|link| link.is_quiet(*stage, y[link.place]))
            && classes.iter().zip(y).all(|(of, window)| of.is_quiet(*stage, *window, t))
    }

    fn strike(&mut self, event: usize, t: f64, y: &mut [f64], _past: &History) {
        let (classes, links) = (self.classes.len(), 2 * self.links.len());
        if event < links {
            let backlog = &mut y[classes + event / 2];
            let link = &mut self.links[event / 2];
            let mode = match (link.mode, event % 2) {
                (Mode::Busy, 0) => Mode::Empty,
                (Mode::Busy, _) => Mode::Full,
                _ => Mode::Busy,
            };
            (*backlog, link.turned) = match mode {
                Mode::Empty => (0.0, t),
                Mode::Full => (link.buffer, t),
                Mode::Busy => (*backlog, link.turned),
            };
            link.set_mode(t, mode);
        } else if event < links + classes {
            y[event - links] = y[event - links].max(LEAST_WINDOW);
        } else {
            let (class, hop) = self.hops[event - links - classes];
            self.classes[class].hops[hop].felt += 1;
        }
    }

    fn reach(&self, t: f64, y: &[f64]) -> f64 {
        let longest = |wait: &Wait| self.links[wait.link].longest_wait(y[wait.place]);
        let back = self.classes.iter().map(|of| of.base_rtt + of.waits.iter().map(longest).sum::<f64>());
        // What waits in a queue is told apart by when it came.
        let apart = self.links.iter().filter(|link| link.tells_apart());
        apart.map(|link| link.came).fold(t - back.fold(0.0, f64::max), f64::min)
    }

    fn stepped(&mut self, past: &History) {
        self.account(past);
    }
}

/// Ways of feeling p, a class at a link each, up to which each change of p that is felt is an event.
const MOST_FELT: usize = 16;
/// W is not below this, packets.
const LEAST_WINDOW: f64 = 1.0;
/// By so much a rate must differ before a queue begins to fill, or to fall from its limit.
const CLEARLY: f64 = 1e-9;
