//! A law on one link with one class of flows, and records of the queue.

use sojourn_aqm::{Law, LinkContext};
use sojourn_fluid::law_driver::{LawDriver, World};
use sojourn_fluid::plant::{Class, Link, Plant, Ramp, Sender, Window};
use sojourn_units::{Rate, Span, Time};

/// A link and its flows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Network {
    pub(crate) flows: f64,
    /// C, packets/s.
    pub(crate) capacity: f64,
    /// T_p, s.
    pub(crate) base_rtt: f64,
    /// B, packets.
    pub(crate) buffer: f64,
    pub(crate) window: Window,
    /// True if packets are marked instead of dropped.
    pub(crate) ecn: bool,
}

/// The network under a law.
pub(crate) struct Bench {
    pub(crate) world: World,
    /// Time between two samples of the queue.
    look: Span,
    /// Backlog, packets: one per sample, the first at the start.
    pub(crate) queue: Vec<f64>,
}

/// The example of Hollot et al.
pub(crate) const HOLLOT: Network =
    Network { flows: 60.0, capacity: 3750.0, base_rtt: 0.2, buffer: 800.0, window: Window::Mgt, ecn: true };

impl Network {
    pub(crate) fn class(self) -> Class {
        Class {
            sender: Sender::Tcp(self.window, f64::INFINITY),
            flows: Ramp::constant(self.flows),
            base_rtt: self.base_rtt,
            route: vec![0],
            back: Vec::new(),
            acks: 0.0,
            packet: PACKET,
            ecn: self.ecn,
            loss: 0.0,
        }
    }

    pub(crate) fn plant(self) -> Plant {
        Plant::new(vec![self.class()], vec![Link::new(self.capacity, self.buffer, PACKET)])
    }

    /// The full context of a law.
    pub(crate) fn context(self) -> LinkContext {
        LinkContext {
            rate: Rate::from_bits_per_second(8.0 * PACKET * self.capacity),
            packet: PACKET,
            limit: self.buffer,
            flows: Some(self.flows),
            base_rtt: Some(Span::from_seconds(self.base_rtt)),
        }
    }

    /// Empty, with windows of one packet, in steps of at most `millis`.
    pub(crate) fn under(self, law: impl Law + 'static, millis: u64) -> Bench {
        let look = Span::from_millis(millis);
        let driver = LawDriver::new(0, Box::new(law), self.context());
        Bench { world: World::new(self.plant(), vec![driver], look.seconds()), look, queue: vec![0.0] }
    }
}

impl Bench {
    /// Runs for some seconds.
    pub(crate) fn run(&mut self, seconds: f64) {
        let until = self.world.now() + Span::from_seconds(seconds);
        while self.world.now() < until {
            self.world.run_until(self.world.now() + self.look);
            self.queue.push(self.world.backlog(0));
        }
    }

    /// Sets the number of flows from now on.
    pub(crate) fn set_flows(&mut self, flows: f64) {
        let now = self.world.now().seconds();
        let flows = Ramp { since: now, count: flows, growth: 0.0 };
        self.world.change(|plant, y| plant.set_flows(0, flows, y));
    }

    /// The law.
    pub(crate) fn law(&mut self) -> &mut dyn Law {
        self.world.drivers()[0].law().expect("a law with a probability").as_mut()
    }

    /// The probability in force.
    pub(crate) fn p(&self) -> f64 {
        self.world.plant().links()[0].p()
    }

    /// The backlog at a time, packets.
    pub(crate) fn queue_at(&self, seconds: f64) -> f64 {
        self.queue[(seconds / self.look.seconds()).round() as usize]
    }

    /// Mean and standard deviation of the backlog over the last `seconds`.
    pub(crate) fn mean_and_sd(&self, seconds: f64) -> (f64, f64) {
        let last = &self.queue[self.queue.len() - (seconds / self.look.seconds()) as usize..];
        let mean = last.iter().sum::<f64>() / last.len() as f64;
        let variance = last.iter().map(|queue| (queue - mean) * (queue - mean)).sum::<f64>();
        (mean, (variance / last.len() as f64).sqrt())
    }

    /// Last time at which the backlog was further than `share` of `target` away from it, s.
    pub(crate) fn settling(&self, target: f64, share: f64) -> f64 {
        let outside = |queue: &f64| (queue - target).abs() > share * target;
        self.queue.iter().rposition(outside).map_or(0.0, |look| look as f64 * self.look.seconds())
    }
}

/// A time.
pub(crate) fn at(seconds: f64) -> Time {
    Time::ZERO + Span::from_seconds(seconds)
}

/// Bytes.
pub(crate) const PACKET: f64 = 1000.0;
