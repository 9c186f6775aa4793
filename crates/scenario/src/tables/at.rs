//! The table of a change.

use crate::ranges::{DELAYS, LINK_RATES};
use sojourn_params::{Bounds, Edge, Errors, Field, Kind, Quantity, Value, table_of};
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

/// Keys that a change sets, by their patterns.
pub const SETTINGS_OF_A_CHANGE: [&str; 4] = ["LINK.rate", "LINK.delay", "LINK.qdisc.KEY", "CLASS.count"];

fn fields() -> Vec<Field> {
    let [rate, delay, parameter, count] = SETTINGS_OF_A_CHANGE;
    let field = |key, kind, bounds, rule, about| Field {
        key,
        symbol: "",
        kind,
        is_required: false,
        default: Value::Absent,
        bounds,
        rule,
        why: "as it was",
        about,
        source: "",
    };
    vec![
        field(
            rate,
            LinkRate::kind(),
            LINK_RATES,
            "",
            "the link's new rate, and that of its other direction where the two start equal; the packet being sent is \
             finished at the old one; a buffer given as a time stays as it was",
        ),
        field(
            delay,
            Span::kind(),
            DELAYS,
            "",
            "the link's new propagation delay, and that of its other direction where the two start equal; packets on \
             the wire keep theirs",
        ),
        field(
            parameter,
            Kind::Any,
            Bounds::NONE,
            "as in the qdisc",
            "a parameter of the link's law, NAME.back.qdisc.KEY of that of the other direction; the law keeps its \
             state; values derived from the parameters are computed with the link's rate at that time, and with the \
             flows and the round trip of the start",
        ),
        field(
            count,
            Kind::Whole,
            Bounds::at_least(Edge::Whole(0)).to(Edge::Whole(1_000_000)),
            "",
            "number of flows of the class: the last ones leave, further ones start, and restarted ones connect anew; a \
             flow that has ended or left by itself counts and does not restart",
        ),
    ]
}
