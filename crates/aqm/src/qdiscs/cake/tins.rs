//! The order of service: tins by priority, and in a tin hosts and flows in rounds.
//!
//! A tin has priority while its own clock, at its part of the rate, allows a packet; where none is allowed, the tin that is
//! next comes first, so that no rate is lost. Without a shaper the tins have turns in proportion to their parts.

use super::diffserv::Part;
use super::sets::{HOSTS, Isolation, QUEUES};
use crate::framing::Framing;
use crate::qdiscs::scheduled::Scheduler;
use sojourn_random::Stream;
use sojourn_units::{Rate, Span, Time};
use std::collections::VecDeque;

/// The tins.
#[derive(Clone, Debug)]
pub(super) struct Tins {
    by_number: Vec<Tin>,
    /// Numbers by priority, the first first.
    order: Vec<usize>,
    /// By the number of the queue.
    flows: Vec<Flow>,
    /// True where flows of one sending host, and of one receiving host, share turns.
    shares: [bool; 2],
    /// A packet that is dropped moves the clock of its tin as one that is sent.
    counts_drops: bool,
    /// For rounding of turns.
    draws: Stream,
    /// The tin of the last [`Scheduler::select`].
    serving: usize,
    /// Time of the last arrival or selection, and so of the drops that it causes.
    now: Time,
}

/// A tin.
#[derive(Clone, Debug)]
pub(super) struct Tin {
    /// Its part of the rate of the shaper, which moves its clock; 0 without a shaper.
    pub(super) rate: Rate,
    priority: u8,
    framing: Framing,
    /// Time from which it has priority again.
    next: Time,
    /// Bytes of a flow's turn.
    quantum: f64,
    /// Turns of the tin, without a shaper, bytes.
    turn: i64,
    credits: i64,
    packets: u32,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    /// Flows that have used up a turn, of each host that sends, and of each that receives.
    loads: [Vec<u16>; 2],
}

/// A queue.
#[derive(Clone, Copy, Debug)]
struct Flow {
    tin: u8,
    is_active: bool,
    /// It counts as load of its hosts.
    is_counted: bool,
    hosts: [u16; 2],
    credits: i64,
}

/// Bytes of a turn at most.
const MOST: f64 = 1514.0;

impl Tin {
    /// A tin with its part of the rate.
    pub(super) fn new(rate: Rate, part: &Part, framing: Framing) -> Tin {
        // sch_cake.c, cake_set_rate: a quarter of a millisecond, between 300 and 1514 bytes; the most without a shaper.
        let of_rate = (rate.bits_per_second() / 8.0 / 4096.0).clamp(300.0, MOST);
        let quantum = if rate > Rate::ZERO { of_rate } else { MOST };
        Tin {
            rate,
            priority: part.priority,
            framing,
            next: Time::ZERO,
            quantum,
            turn: ((1024.0 * part.share) as i64).max(1),
            credits: 0,
            packets: 0,
            new: VecDeque::new(),
            old: VecDeque::new(),
            loads: [vec![0; HOSTS as usize], vec![0; HOSTS as usize]],
        }
    }

    fn is_shaped(&self) -> bool {
        self.rate > Rate::ZERO
    }

    /// Moves its clock by a packet of this size with its framing: without a loss of rate where it is behind, else to the
    /// packet's time from now at most, so that what it sends above its part is no debt of more than a packet (sch_cake.c,
    /// cake_advance_shaper).
    fn sent(&mut self, now: Time, size: u32) {
        self.credits -= i64::from(size);
        if !self.is_shaped() {
            return;
        }
        let seconds = f64::from(size) * 8.0 / self.rate.bits_per_second();
        let own = Span::from_seconds(seconds);
        self.next = if self.next < now { self.next + own } else { self.next.max(now + own) };
    }

    /// Counts a flow as load of its hosts, or no longer.
    fn count(&mut self, flow: &mut Flow, is_counted: bool) {
        if flow.is_counted == is_counted {
            return;
        }
        flow.is_counted = is_counted;
        for (loads, host) in self.loads.iter_mut().zip(flow.hosts) {
            let load = &mut loads[usize::from(host)];
            *load = if is_counted { load.saturating_add(1) } else { load.saturating_sub(1) };
        }
    }
}

impl Tins {
    /// Empty tins.
    pub(super) fn new(tins: Vec<Tin>, isolation: Isolation, draws: Stream) -> Tins {
        let mut order: Vec<usize> = (0..tins.len()).collect();
        order.sort_by_key(|number| std::cmp::Reverse(tins[*number].priority));
        Tins {
            by_number: tins,
            order,
            flows: Vec::new(),
            shares: isolation.shares(),
            counts_drops: false,
            draws,
            serving: 0,
            now: Time::ZERO,
        }
    }

    /// The same; drops count where `counts_drops`.
    pub(super) fn with_drops_counted(self, counts_drops: bool) -> Tins {
        Tins { counts_drops, ..self }
    }

    /// Bytes of a flow's turn: the quantum over the flows of its busier host, rounded at random so that the mean is right.
    fn turn(&mut self, queue: u32) -> i64 {
        let (flow, tin) = (&self.flows[queue as usize], &self.by_number[self.serving]);
        let load = |side: usize| {
            if self.shares[side] { tin.loads[side][usize::from(flow.hosts[side])] } else { 0 }
        };
        let load = load(0).max(load(1)).max(1);
        let turn = tin.quantum / f64::from(load);
        (turn + self.draws.uniform()) as i64
    }

    /// Tins with other rates, for the same classes.
    pub(super) fn set_rates(&mut self, tins: Vec<Tin>) {
        for (tin, new) in self.by_number.iter_mut().zip(tins) {
            (tin.rate, tin.quantum, tin.framing) = (new.rate, new.quantum, new.framing);
        }
    }

    /// The tin to serve.
    fn tin(&mut self, now: Time) -> Option<usize> {
        let has_packets = |number: &&usize| self.by_number[**number].packets > 0;
        let waiting = self.order.iter().filter(has_packets).copied();
        let first = waiting.clone().next()?;
        if self.by_number[first].is_shaped() {
            let on_time = waiting.clone().find(|number| self.by_number[*number].next <= now);
            return on_time.or_else(|| waiting.clone().min_by_key(|number| self.by_number[*number].next));
        }
        loop {
            let number = self.serving;
            let tin = &mut self.by_number[number];
            if tin.packets > 0 && tin.credits > 0 {
                return Some(number);
            }
            // An empty tin, too, pays what it has overdrawn.
            if tin.credits <= 0 {
                tin.credits += tin.turn;
            }
            self.serving = (number + 1) % self.by_number.len();
        }
    }
}

impl Scheduler for Tins {
    fn add(&mut self, class: u32) {
        let tin = (class / QUEUES) as u8;
        self.flows.push(Flow { tin, is_active: false, is_counted: false, hosts: [0; 2], credits: 0 });
    }

    fn arrival(&mut self, now: Time, queue: u32, _len: u32, group: u32) {
        self.now = now;
        let number = usize::from(self.flows[queue as usize].tin);
        let tin = &mut self.by_number[number];
        if tin.packets == 0 {
            tin.next = tin.next.max(now);
        }
        tin.packets += 1;
        let flow = &mut self.flows[queue as usize];
        let hosts = [(group >> 16) as u16, group as u16];
        if flow.hosts != hosts {
            // The queue has passed to another flow.
            let was_counted = flow.is_counted;
            tin.count(flow, false);
            flow.hosts = hosts;
            tin.count(flow, was_counted);
        }
        if std::mem::replace(&mut flow.is_active, true) {
            return;
        }
        let serving = std::mem::replace(&mut self.serving, number);
        let turn = self.turn(queue);
        self.flows[queue as usize].credits = turn;
        self.by_number[number].new.push_back(queue);
        self.serving = serving;
    }

    fn select(&mut self, now: Time) -> Option<u32> {
        self.now = now;
        self.serving = self.tin(now)?;
        loop {
            let tin = &mut self.by_number[self.serving];
            let list = if tin.new.is_empty() { &mut tin.old } else { &mut tin.new };
            let queue = *list.front()?;
            if self.flows[queue as usize].credits > 0 {
                return Some(queue);
            }
            list.pop_front();
            tin.count(&mut self.flows[queue as usize], true);
            tin.old.push_back(queue);
            let turn = self.turn(queue);
            self.flows[queue as usize].credits += turn;
        }
    }

    fn sent(&mut self, now: Time, queue: u32, len: u32) {
        let flow = &mut self.flows[queue as usize];
        let tin = &mut self.by_number[usize::from(flow.tin)];
        let size = tin.framing.on_wire(len);
        flow.credits -= i64::from(size);
        tin.packets -= 1;
        tin.sent(now, size);
    }

    fn dropped(&mut self, queue: u32, len: u32) {
        let tin = &mut self.by_number[usize::from(self.flows[queue as usize].tin)];
        tin.packets -= 1;
        if self.counts_drops {
            tin.sent(self.now, tin.framing.on_wire(len));
        }
    }

    fn found_empty(&mut self, queue: u32) {
        let flow = &mut self.flows[queue as usize];
        let tin = &mut self.by_number[usize::from(flow.tin)];
        if tin.new.front() == Some(&queue) {
            tin.new.pop_front();
            tin.old.push_back(queue);
        } else {
            tin.old.pop_front();
            flow.is_active = false;
            tin.count(flow, false);
        }
    }

    fn active(&self) -> usize {
        self.by_number.iter().map(|tin| tin.new.len() + tin.old.len()).sum()
    }
}
