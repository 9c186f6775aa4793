//! The live plant: a relay that runs in steps, and the reports of the endpoints.

use crate::endpoints::{Report, Reports, flow_of};
use crate::ip;
use crate::network::Network;
use crate::relay::{Relay, Traffic};
use sojourn_aqm::Qdisc;
use sojourn_measure::Recorder;
use sojourn_sim::{Packet, Plant};
use sojourn_units::{Span, Time};
use std::io;

/// The longest turn: the caller acts in between.
const TURN: Span = Span::from_millis(20);

/// The plant while it runs.
pub struct Live {
    relay: Relay<Recorder>,
    /// The class of each flow.
    classes: Vec<u32>,
    now: Time,
    reports: Reports,
    /// Those that were taken.
    taken: Vec<Report>,
    failure: Option<io::Error>,
}

impl Live {
    /// A plant at the start of the relay's clock; `classes` has the class of each flow.
    pub fn new(relay: Relay<Recorder>, classes: Vec<u32>, reports: Reports) -> Live {
        Live { relay, classes, now: Time::ZERO, reports, taken: Vec::new(), failure: None }
    }

    /// The relay, to change.
    pub fn relay_mut(&mut self) -> &mut Relay<Recorder> {
        &mut self.relay
    }

    /// The relay.
    pub fn relay(&self) -> &Relay<Recorder> {
        &self.relay
    }

    /// Packets at the devices, so far.
    pub fn traffic(&self) -> Traffic {
        self.relay.traffic()
    }

    /// The network.
    pub fn network(&mut self) -> &mut Network<Recorder> {
        self.relay.network_mut()
    }

    /// The error that stopped it.
    pub fn failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// One round: reads, advances to the present, at most to `stop`, writes, and sleeps until there is more to do.
    fn turn(&mut self, stop: Time) -> io::Result<()> {
        let flows = self.classes.len();
        // An echo has the number of a port as its identifier.
        let ports = |packet: &[u8]| ip::ports(packet).or_else(|| ip::echo(packet).map(|echo| (0, echo.id)));
        self.relay.read(stop, |_, _, packet| flow_of(ports(packet)?, flows))?;
        self.listen();
        self.relay.pass(stop)?;
        self.relay.sleep(stop)
    }

    /// Passes the reports of the endpoints on.
    fn listen(&mut self) {
        self.reports.take(&mut self.taken);
        for report in self.taken.drain(..) {
            match report {
                Report::Smoothed(flow, rtt) => self.relay.network_mut().smoothed(flow, rtt),
                _ => report.pass(self.relay.network_mut().probe(), |flow| self.classes[flow as usize]),
            }
        }
    }
}

impl Plant for Live {
    fn now(&self) -> Time {
        self.now
    }

    /// Endpoints report what they send at once.
    fn recorded_until(&self) -> Time {
        self.relay.now()
    }

    fn advance_some(&mut self, stop: Time, _most: u64) -> bool {
        let pause = self.relay.now() + TURN;
        while self.relay.now() < stop {
            if self.failure.is_some() || self.relay.now() >= pause {
                return false;
            }
            if let Err(error) = self.turn(stop) {
                self.failure = Some(error);
                return false;
            }
        }
        self.listen();
        if let Err(error) = self.relay.advance(stop) {
            self.failure = Some(error);
        }
        self.now = stop;
        true
    }

    fn recorder(&mut self) -> &mut Recorder {
        self.relay.network_mut().probe()
    }

    fn qdisc(&self, link: u32) -> Option<&dyn Qdisc<Packet>> {
        self.relay.network().qdisc(link)
    }

    fn bits(&self, link: u32) -> Option<(f64, f64)> {
        self.relay.network().bits(link, self.now)
    }

    fn finish(&mut self, _end: Time) {
        self.relay.network().assert_conservation();
    }

    fn work(&self) -> u64 {
        self.relay.network().work()
    }
}
