//! Applications over TCP that have something to send now and then.

use crate::json::of_value;
use serde_json::Value as Json;
use sojourn_units::param::Quantity;
use sojourn_units::{Draw, Page, SizeDraw, TimeDraw};
use std::fmt;

/// What a flow has to send.
#[derive(Clone, Debug, PartialEq)]
pub enum Session {
    /// A fixed volume of payload, once.
    Transfer(SizeDraw),
    /// One transfer after the other, each over a connection of its own.
    Mice(Mice),
}

/// Short transfers and the pauses between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Mice {
    /// Payload of each.
    pub size: SizeDraw,
    /// From the end of one to the start of the next.
    pub idle: TimeDraw,
}

impl Session {
    /// Its name in files.
    pub fn name(&self) -> &'static str {
        match self {
            Session::Transfer(_) => "transfer",
            Session::Mice(_) => "mice",
        }
    }

    /// Whether it ends by itself.
    pub fn ends(&self) -> bool {
        matches!(self, Session::Transfer(_))
    }

    /// Its keys beside `app`, with their values as a file would have them.
    pub(crate) fn to_json(&self) -> Vec<(&'static str, Json)> {
        let size = |size: &SizeDraw| ("size", of_value(&size.write()));
        match self {
            Session::Transfer(volume) => vec![size(volume)],
            Session::Mice(mice) => vec![size(&mice.size), ("idle", of_value(&mice.idle.write()))],
        }
    }
}

impl fmt::Display for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Session::Transfer(size) => write!(f, "of {size}"),
            Session::Mice(Mice { size, idle }) => write!(f, "of {size}, idle {idle} between them"),
        }
    }
}

impl Mice {
    /// Those of a paper.
    pub(crate) fn of_paper(name: &str) -> Option<Mice> {
        let packets = |mean| Draw::exponential(mean).ok().map(SizeDraw::of_packets);
        let pause = |draw: Result<Draw, String>| draw.ok().map(TimeDraw::of_seconds);
        match name {
            "pi_pd" => Some(Mice { size: packets(12.0)?, idle: pause(Draw::constant(0.0))? }),
            "arm_pfc" => Some(Mice { size: packets(12.0)?, idle: pause(Draw::exponential(3.0))? }),
            _ => None,
        }
    }
}

/// The papers whose mice are known by name.
pub(crate) const PRESETS: &[&str] = &["pi_pd", "arm_pfc"];

pub(crate) const TRANSFER: Page = Page {
    stem: "transfer",
    summary: "a fixed volume over TCP, once; then the flow is over",
    idea: "`size` counts payload; in packets it counts full segments. The flow completion time is from the flow's \
           start, its SYN included, until the receiver's application has all of it. With `arrivals` flows come during \
           the run, each with a size of its own.",
    equation: "FCT = 8 size / goodput",
    source: "RFC 7928, section 2.1",
    fields: Vec::new,
};

pub(crate) const MICE: Page = Page {
    stem: "mice",
    summary: "short transfers over TCP, one after the other, each over a connection of its own",
    idea: "A flow is a slot: a transfer of `size`, then `idle`, then the next with a fresh connection and fresh state. \
           A size in packets is a whole number of them, at least one. The presets are \
           those of two papers. pi_pd: exponential sizes of 12 packets on average, which is about a second of life \
           there, and no pause, so that each slot is always busy. arm_pfc: pauses exponential with a mean of 3 s; that \
           paper does not tell the sizes, and 12 packets are taken here, too. `size` and `idle` beside a preset stand \
           in the place of its own.",
    equation: "",
    source: "S. Ryu et al., Simulation, 2005, section 4; N. Bigdeli, M. Haeri, IJST B 31(B6), 2007, experiment 7",
    fields: Vec::new,
};
