//! Trust in a live run: whether the machine kept time, and lost nothing.

use crate::device::Kind;
use crate::lateness::Lateness;
use crate::scheduling::Class;
use sojourn_units::Span;

/// Facts that the trust in a run follows from.
#[derive(Clone, Debug)]
pub struct Trust {
    /// The longest time by which the network was behind the clock.
    pub behind: Span,
    /// Lateness of the packets written.
    pub lateness: Lateness,
    /// Time of a packet at the fastest link with a qdisc.
    pub packet_time: Span,
    /// Packets that the devices dropped.
    pub device_drops: u64,
    /// Kind of the devices.
    pub device: Kind,
    /// Scheduling class of the plant's thread.
    pub class: Class,
    /// Load average of the machine before and after the run.
    pub load: [Option<f64>; 2],
}

/// Far behind the clock, as under a law in Python that takes longer than its period.
const FAR: Span = Span::from_secs(2);

/// Judgment of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Packets were on time, and none was lost outside of the network.
    Good,
    /// One packet in a hundred was later than a packet takes on the link.
    Degraded,
    /// A device dropped packets, or the network was far behind the clock: the result is not valid.
    Void,
}

impl Trust {
    /// The judgment.
    pub fn verdict(&self) -> Verdict {
        if self.device_drops > 0 || self.behind > FAR {
            return Verdict::Void;
        }
        let late = self.lateness.quantile(0.99).is_some_and(|late| late > self.packet_time);
        if late { Verdict::Degraded } else { Verdict::Good }
    }
}

impl Verdict {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Good => "good",
            Verdict::Degraded => "degraded",
            Verdict::Void => "void",
        }
    }
}
