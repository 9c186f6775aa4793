//! What can happen.

/// Something that is going to happen to a component: a kind and the component's
/// number in one word.
///
/// The order is what comes first at one instant. It follows from what happens
/// and to whom, never from when it was scheduled, so a run does not depend on
/// how the engine goes about its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Event(u32);

/// What happens, in the order at one instant: changes, updates, what comes to endpoints, what they and their
/// applications do by themselves, then the links. A packet takes time on every link, so all that comes to a link at an instant
/// is known when its turn is, and comes in the order of legs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An entry of the schedule is due.
    Change,
    /// The number of flows of this class changes.
    Count,
    /// The law in front of this link wants its update.
    Update,
    /// What came to this station must be looked at: one behind a wire that changes the order, or, stepwise, one of an
    /// endpoint.
    Arrive,
    /// A packet that had to wait for its time comes to this flow's receiver.
    Late,
    /// This flow's delayed acknowledgment.
    Receiver,
    /// This flow's retransmission timer, or its next datagram.
    Sender,
    /// This flow's receiver has all that it asked for.
    Told,
    /// Flows of this class come.
    Arrival,
    /// This flow starts.
    Start,
    /// This member's application is to be asked, or asks again.
    Act,
    /// This flow's sender has everything acknowledged.
    Ended,
    /// This flow stops.
    Stop,
    /// What came to this link must be looked at.
    Drain,
}

impl Event {
    /// This, to the component with this number among those of its kind.
    pub(crate) const fn new(kind: Kind, number: u32) -> Event {
        debug_assert!(number >> NUMBER_BITS == 0);
        Event((kind as u32) << NUMBER_BITS | number)
    }

    /// What happens, and to which component.
    pub(crate) const fn parts(self) -> (Kind, u32) {
        (KINDS[(self.0 >> NUMBER_BITS) as usize], self.0 & ((1 << NUMBER_BITS) - 1))
    }
}

const KINDS: [Kind; 14] = [
    Kind::Change,
    Kind::Count,
    Kind::Update,
    Kind::Arrive,
    Kind::Late,
    Kind::Receiver,
    Kind::Sender,
    Kind::Told,
    Kind::Arrival,
    Kind::Start,
    Kind::Act,
    Kind::Ended,
    Kind::Stop,
    Kind::Drain,
];

/// 2^28 components of a kind, above them the kind.
const NUMBER_BITS: u32 = 28;
/// How many components of a kind there can be.
pub(crate) const MOST_COMPONENTS: usize = 1 << NUMBER_BITS;
