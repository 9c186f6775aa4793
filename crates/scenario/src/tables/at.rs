//! The table of a change.

use sojourn_params::{Errors, Field, Kind, Quantity, Required, Value, table_of};
use sojourn_units::{LinkRate, Span};

sojourn_params::params! {
    /// A change during the run.
    pub struct At {
        /// its time, or first time
        time: Required<Span> = Required::ABSENT, "before duration" if |_| true, "none: a change has a time";
        /// its period
        every: Option<Span> = None, "1 us or more" if |span| span.is_none_or(|span| span >= Span::from_micros(1)),
            "it happens once";
        /// its last time at most
        until: Option<Span> = None, "time or later, with every" if |_| true, "the end of the run";
        /// the change: { "KEY" = VALUE }; LINK is the name of a link, or NAME.back, and CLASS that of a class
        set: Required<Changes> = Required::ABSENT, "at least one key" if |_| true, "none: a change changes something";
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
    let field = |key, kind, rule, about| Field {
        key,
        symbol: "",
        kind,
        is_required: false,
        default: Value::Absent,
        bounds: None,
        rule,
        why: "as it was",
        about,
        source: "",
    };
    vec![
        field(
            rate,
            LinkRate::kind(),
            "1 bit/s to 1 Tbit/s",
            "the link's new rate, and that of its other direction where the two start equal; the packet being sent is \
             finished at the old one; a buffer given as a time stays as it was",
        ),
        field(
            delay,
            Span::kind(),
            "at most 1000 s",
            "the link's new propagation delay, and that of its other direction where the two start equal; packets on \
             the wire keep theirs",
        ),
        field(
            parameter,
            Kind::Any,
            "as in the qdisc",
            "a parameter of the link's law, NAME.back.qdisc.KEY of that of the other direction; the law keeps its \
             state; values derived from the parameters are computed with the link's rate at that time, and with the \
             flows and the round trip of the start",
        ),
        Field {
            bounds: Some((0, 1_000_000)),
            ..field(
                count,
                Kind::Whole,
                "",
                "number of flows of the class: the last ones leave, further ones start, and restarted ones connect \
                 anew; a flow that has ended or left by itself counts and does not restart",
            )
        },
    ]
}
