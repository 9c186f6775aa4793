//! The table of a change.

use crate::ranges::{DELAYS, LINK_RATES};
use sojourn_params::{Bounds, Described, Errors, Field, Kind, Quantity, Value, table_of};
use sojourn_units::{LinkRate, Span};

sojourn_params::params! {
    /// A change during the run.
    pub struct At {
        /// its time, or first time
        time: Span, where "before duration";
        /// its period
        every: Option<Span> = None, at least "1 us", "it happens once";
        /// its last time at most
        until: Option<Span> = None, where "time or later, with every", "the end of the run";
        /// the change: { "KEY" = VALUE }; LINK is the name of a link, or NAME.back, and CLASS that of a class
        set: Changes, where "at least one key";
    }
}

/// Keys of links and classes with their new values, which are read beside the network.
#[derive(Clone, Debug, PartialEq)]
pub struct Changes(pub(crate) Vec<(String, Value)>);

impl Quantity for Changes {
    fn kind() -> Kind {
        Kind::Keys(fields)
    }
    fn read(value: &Value) -> Result<Changes, Errors> {
        Ok(Changes(table_of(value)?.to_vec()))
    }
    fn write(&self) -> Value {
        Value::Table(self.0.clone())
    }
}

sojourn_params::params! {
    /// Keys of a link that a change may set.
    pub struct LinkChange {
        /// the link's new rate, and that of its other direction where the two start equal; the packet being sent is
        /// finished at the old one; a buffer given as a time stays as it was
        rate: Option<LinkRate> = None, within LINK_RATES, "as it was";
        /// the link's new propagation delay, and that of its other direction where the two start equal; packets on the
        /// wire keep theirs
        delay: Option<Span> = None, within DELAYS, "as it was";
    }
}

sojourn_params::params! {
    /// Keys of a class that a change may set.
    pub struct ClassChange {
        /// number of flows of the class: the last ones leave, further ones start, and restarted ones connect anew; a flow
        /// that has ended or left by itself counts and does not restart
        count: Option<u32> = None, in 0 to 1_000_000, "as it was";
    }
}

/// Keys that a change sets, by their patterns.
fn fields() -> Vec<Field> {
    let [rate, delay] = LinkChange::fields().try_into().expect("a link has two keys of its own");
    let parameter = Field {
        kind: Kind::Any,
        bounds: Bounds::NONE,
        rule: "as in the qdisc",
        about: "a parameter of the link's law, NAME.back.qdisc.KEY of that of the other direction; the law keeps its \
                state; values derived from the parameters are computed with the link's rate at that time, and with the \
                flows and the round trip of the start",
        ..rate.clone()
    };
    let of_links = [("LINK.rate", rate), ("LINK.delay", delay), ("LINK.qdisc.KEY", parameter)];
    let of_classes = ClassChange::fields().into_iter().map(|count| ("CLASS.count", count));
    of_links.into_iter().chain(of_classes).map(|(key, field)| Field { key, ..field }).collect()
}
