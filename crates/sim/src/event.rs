//! Pending events of the engine.

/// An event of a component: a kind and the component's number in one word.
///
/// The order is that of events at one instant. It depends on kind and component, never on the time of scheduling, so
/// the outcome does not depend on the order in which the engine works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Event(u32);

/// Kinds of events, in their order at one instant: changes, updates, arrivals at endpoints, timers of endpoints and
/// users, then links. A packet takes time on every link, so all arrivals of an instant are known when the link is
/// processed, in the order of legs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An entry of the schedule is due.
    Change,
    /// The number of users of this class changes.
    Count,
    /// The law in front of this link has an update due.
    Update,
    /// The rates of all links with a common solver are due.
    Coordinate,
    /// Arrivals at this station are due: behind a wire that reorders or, stepwise, at an endpoint.
    Arrive,
    /// A held packet arrives at this flow's receiver.
    Held,
    /// Delayed acknowledgment of this flow.
    Receiver,
    /// Retransmission timer of this flow, or its next datagram.
    Sender,
    /// This flow's receiver has all data that it requested.
    Answered,
    /// Users of this class arrive.
    Arrival,
    /// This flow starts.
    Start,
    /// This user starts as planned.
    Enter,
    /// Timer of this user's application, or of its requests.
    Wake,
    /// This flow's sender has all data acknowledged.
    Acknowledged,
    /// This flow stops.
    Stop,
    /// The stay of this user may be over.
    Leave,
    /// Arrivals at this link are due.
    Drain,
}

impl Event {
    /// An event of the component with this number among those of its kind.
    pub(crate) const fn new(kind: Kind, number: u32) -> Event {
        debug_assert!(number >> NUMBER_BITS == 0);
        Event((kind as u32) << NUMBER_BITS | number)
    }

    /// Kind and component.
    pub(crate) const fn parts(self) -> (Kind, u32) {
        (KINDS[(self.0 >> NUMBER_BITS) as usize], self.0 & ((1 << NUMBER_BITS) - 1))
    }
}

const KINDS: [Kind; 17] = [
    Kind::Change,
    Kind::Count,
    Kind::Update,
    Kind::Coordinate,
    Kind::Arrive,
    Kind::Held,
    Kind::Receiver,
    Kind::Sender,
    Kind::Answered,
    Kind::Arrival,
    Kind::Start,
    Kind::Enter,
    Kind::Wake,
    Kind::Acknowledged,
    Kind::Stop,
    Kind::Leave,
    Kind::Drain,
];

/// 2^27 components of a kind, above them the kind.
const NUMBER_BITS: u32 = 27;
/// Most components of a kind.
pub(crate) const MOST_COMPONENTS: usize = 1 << NUMBER_BITS;
