//! The outcome of a run, in either plant.

use crate::{Metrics, Series};

/// The outcome of one run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Links that have a qdisc; one at least.
    pub links: Vec<LinkOutcome>,
    /// Classes whose data cross none of them.
    pub elsewhere: Elsewhere,
    /// Work done: events and packets that came to shared links; of a fluid, steps of integration.
    pub events: u64,
}

/// The outcome of one run at one link.
#[derive(Clone, Debug)]
pub struct LinkOutcome {
    /// The link's name.
    pub link: String,
    /// The label of its qdisc; None: replaced by a custom law.
    pub qdisc: Option<String>,
    /// All packets of the link.
    pub all: Row,
    /// Each class whose data cross it, by name, where the run has several classes.
    pub classes: Vec<(String, Row)>,
    /// Each queue that the qdisc names and that had packets.
    pub queues: Vec<QueueOutcome>,
    /// Series over time.
    pub series: Series,
    /// The distribution of the sojourn time: seconds, and the share at or below.
    pub sojourn_distribution: Vec<(f64, f64)>,
}

/// The outcome of one run at one of several queues of a qdisc, or at a group of them that has a name.
#[derive(Clone, Debug)]
pub struct QueueOutcome {
    /// Its name.
    pub name: String,
    /// Its packets; metrics of flows are absent.
    pub row: Row,
    /// The distribution of its sojourn time, as that of the link.
    pub sojourn_distribution: Vec<(f64, f64)>,
}

/// The outcome of one run for classes whose data cross no link that has a qdisc.
#[derive(Clone, Debug, Default)]
pub struct Elsewhere {
    /// The classes by name; metrics of a queue are absent.
    pub classes: Vec<(String, Row)>,
    /// Their goodput over time, and no other column.
    pub series: Series,
}

/// The metrics of a link or a class.
#[derive(Clone, Debug)]
pub struct Row {
    /// All metrics, in the order of the catalogue.
    pub metrics: Metrics,
    /// None where no packets were counted: in a fluid, and where there is no queue.
    pub balance: Option<Balance>,
}

/// The metrics of a window of time: of a link, of a class, or of a queue.
#[derive(Clone, Debug)]
pub struct WindowRow {
    /// Place of the window's entry in the scenario's list.
    pub entry: usize,
    /// Its start, s.
    pub from_s: f64,
    /// Its end, s.
    pub until_s: f64,
    /// The link's name; None: of a class whose data cross none.
    pub link: Option<String>,
    /// The class; None: all of the link, or a queue.
    pub class: Option<String>,
    /// The queue; None: all of the link, or a class.
    pub queue: Option<String>,
    /// The metrics that apply.
    pub metrics: Metrics,
}

/// Packets of the whole run, warm-up included: offered = delivered + dropped + held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balance {
    /// Packets that arrived at the queue.
    pub offered: u64,
    /// Packets handed to the link.
    pub delivered: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets held at the end.
    pub held: u64,
}
