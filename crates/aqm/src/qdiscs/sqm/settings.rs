//! The parameters, checked and converted for a link.

use super::price::PriceLaw;
use super::rules::Rules;
use super::{Form, Sqm};
use crate::entry::Designed;
use crate::law_spec::LawSpec;
use crate::link_context::LinkContext;
use crate::qdiscs::common::{is_below, of_one_queue};
use crate::qdiscs::limits::{Limits, holds_a_packet};
use crate::qdiscs::shares::LEAST_REST;
use sojourn_optim::num::Fairness;
use sojourn_params::{Errors, InputError, Kind, Quantity, Value};
use sojourn_units::{Packets, Rate, Span};

/// alpha of a utility: a number, or that of max-min fairness.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alpha(pub Fairness);

impl Quantity for Alpha {
    fn kind() -> Kind {
        Kind::NumberOr(&[MAX_MIN])
    }
    fn read(value: &Value) -> Result<Alpha, Errors> {
        match value {
            Value::Text(text) if text == MAX_MIN => Ok(Alpha(Fairness::MaxMin)),
            Value::Text(_) => {
                let expected = format!("a number such as 2, or \"{MAX_MIN}\"");
                Err(InputError::conflict(value, "is no alpha", expected).into())
            }
            value => Ok(Alpha(Fairness::alpha(f64::read(value)?)?)),
        }
    }
    fn write(&self) -> Value {
        match self.0 {
            Fairness::Alpha(alpha) => Value::Number(alpha),
            Fairness::MaxMin => Value::Text(MAX_MIN.into()),
        }
    }
}

const MAX_MIN: &str = "max_min";

/// The parameters for a link.
#[derive(Clone)]
pub(super) struct Settings {
    /// The link, at its last rate above 0.
    pub(super) link: LinkContext,
    /// Packets after which a flow can have a queue.
    pub(super) elephant: f64,
    /// Price law of the queues.
    pub(super) law: PriceLaw,
    /// Target, s.
    pub(super) target: f64,
    pub(super) period: Span,
    /// Rules of the weights.
    pub(super) rules: Rules,
    pub(super) limits: Limits,
    /// Rate of the reserved queue, and its part of the link's where none is given.
    pub(super) reserved: (Option<Rate>, f64),
    /// Law of the reserved queue, and its parameters.
    pub(super) mice: (Designed, LawSpec),
}

impl Settings {
    /// The parameters in front of this link, which flows of these classes cross.
    pub(super) fn of(sqm: &Sqm, classes: &[String], link: &LinkContext) -> Result<Settings, InputError> {
        let limits = limits(sqm);
        holds_a_packet(sqm.memory, link).map_err(|error| error.at("memory"))?;
        holds_all_queues(sqm.limit, sqm.queues)?;
        let reserved = (sqm.reserved.rate, sqm.reserved.part);
        let context =
            LinkContext { rate: rate_of(reserved, link.rate), flows: None, base_rtt: None, ..*link };
        let law = of_one_queue(&sqm.reserved.law, &context).map_err(|error| error.at("reserved"))?;
        let capacity = link.capacity() - context.capacity();
        // A reserved queue as fast as the link is refused later, or has come to be so: then nothing follows from the rest.
        let capacity = capacity.max(LEAST_REST * link.capacity());
        Ok(Settings {
            link: *link,
            elephant: sqm.elephant.get() as f64 / link.packet,
            law: PriceLaw::of(sqm),
            target: sqm.target.seconds(),
            period: sqm.period,
            rules: Rules::of(sqm, classes, (link, capacity))?,
            limits,
            reserved,
            mice: (law, sqm.reserved.law.clone()),
        })
    }

    /// Rate of the reserved queue of a link of this rate.
    pub(super) fn reserved_rate(&self, link: Rate) -> Rate {
        rate_of(self.reserved, link)
    }

    /// Refuses a rate of the reserved queue that is not below that of the link.
    pub(super) fn reserved_fits(&self, link: Rate) -> Result<(), InputError> {
        is_below(self.reserved_rate(link), link)
    }

    /// Link and traffic of the reserved queue.
    pub(super) fn mice_context(&self, link: Rate) -> LinkContext {
        let reserved = self.reserved_rate(link);
        let rate = if reserved < link { reserved } else { link };
        LinkContext { rate, flows: None, base_rtt: None, ..self.link }
    }
}

impl PriceLaw {
    /// That of the parameters.
    pub(super) fn of(sqm: &Sqm) -> PriceLaw {
        match sqm.form {
            Form::Predictive => PriceLaw::Predictive,
            Form::Pi => PriceLaw::Pi,
            Form::Price => PriceLaw::Price { beta: f64::from(sqm.beta.get()) },
            Form::Delay => PriceLaw::Delay,
        }
    }
}

fn rate_of((rate, part): (Option<Rate>, f64), link: Rate) -> Rate {
    rate.unwrap_or_else(|| Rate::from_bits_per_second(part * link.bits_per_second()))
}

fn limits(sqm: &Sqm) -> Limits {
    Limits { limit: sqm.limit, memory: sqm.memory, batch: Packets::new(1), ce_threshold: None }
}

/// Refuses a limit under which a packet of each queue does not fit.
fn holds_all_queues(limit: Packets, queues: u32) -> Result<(), InputError> {
    if limit.get() > queues {
        return Ok(());
    }
    let problem = format!("is below a packet for each of {queues} queues and the reserved one");
    let expected = format!("{} or more, or fewer queues", queues + 1);
    Err(InputError::conflict(format!("{} packets", limit.get()), problem, expected).at("limit"))
}
