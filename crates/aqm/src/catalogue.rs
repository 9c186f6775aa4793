//! Every algorithm, one line each.

use crate::law::Law;
use crate::laws::{arm_pfc, codel, pi, red, tail_drop};
use crate::site::Site;
use sojourn_units::param::Described;
use sojourn_units::{Fault, Page, Value};

/// A law of the catalogue.
#[derive(Clone, Copy)]
pub struct Entry {
    /// What is told of it.
    pub page: Page,
    /// Builds it from given parameters for a place.
    pub build: Build,
}

/// Builds a law from given parameters for a place.
pub type Build = fn(&[(String, Value)], &Site) -> Result<Box<dyn Law>, Fault>;

/// All laws.
pub const LAWS: &[Entry] = &[
    Entry {
        page: Page {
            stem: "tail_drop",
            summary: "drop what does not fit: the queue that nobody manages",
            idea: "Everything is let in until the buffer is full. Long flows fill it and keep it full, so every \
                   packet waits for the whole buffer: bufferbloat.",
            equation: "",
            source: "RFC 7567, section 2",
            fields: tail_drop::Params::fields,
        },
        build: |given, site| Ok(Box::new(tail_drop::TailDrop::new(read(given)?, site)?)),
    },
    Entry {
        page: Page {
            stem: "red",
            summary: "random early detection: mark with a probability that grows with the average backlog",
            idea: "An average of the backlog is laid between two thresholds. Below the lower one nothing happens; \
                   between them packets are marked or dropped with a probability that rises to max_p; above the \
                   upper one it rises to 1 (gentle) or every packet is dropped. A count since the last mark \
                   spreads marks out in time.",
            equation: "avg <- (1 - w_q) avg + w_q q;  p_b = max_p (avg - min_th) / (max_th - min_th)",
            source: "S. Floyd, V. Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993; gentle: S. Floyd 2000",
            fields: red::Params::fields,
        },
        build: |given, site| Ok(Box::new(red::Red::new(&read(given)?, site)?)),
    },
    Entry {
        page: Page {
            stem: "pi",
            summary: "proportional-integral control of the backlog about a target",
            idea: "Every period the probability moves by a times the present error of the backlog less b times the \
                   previous one. The integral part holds the target whatever the load; the gains decide how \
                   fast. Without gains they are designed for the scenario's flows, rate and round-trip time.",
            equation: "p <- p + a (q - q_ref) - b (q_old - q_ref),  clamped to [0, 1]",
            source: "C. Hollot, V. Misra, D. Towsley, W. Gong, IEEE Transactions on Automatic Control 47(6), 2002",
            fields: pi::Params::fields,
        },
        build: |given, site| Ok(Box::new(pi::Pi::law(&read(given)?, site)?)),
    },
    Entry {
        page: Page {
            stem: "codel",
            summary: "controlled delay: act when even the luckiest packet of an interval waited too long",
            idea: "Each departing packet tells how long it waited. When no packet of a whole interval waited less \
                   than the target, the queue is a standing one: a packet is dropped (marked, if it is \
                   ECN-capable), then others ever faster, until the delay is below the target. A backlog of one \
                   MTU is left alone. The link's rate and the load need not be known.",
            equation: "drop_next <- drop_next + interval / sqrt(count)",
            source: "RFC 8289, section 5",
            fields: codel::Params::fields,
        },
        build: |given, site| Ok(Box::new(codel::Codel::new(&read(given)?, site)?)),
    },
    Entry {
        page: Page {
            stem: "arm_pfc",
            summary: "predictive functional control of the backlog with a model of TCP and its delay",
            idea: "Every period a linear model of TCP and queue predicts the backlog two round-trip times ahead, \
                   where marks of today are felt in full. The probability is chosen such that the prediction \
                   meets an exponential that leads to the target. The model runs by itself, driven by what was \
                   applied, so the target is met although the model is never right; it follows the load by \
                   the average probability, so the number of flows need not be known.",
            equation: "u(k) = (y(k) (psi^h - 1) + y_m(k) - free response of y_m at k + h) / G,  p = p_0 + u, clamped",
            source: "N. Bigdeli, M. Haeri, Iranian Journal of Science & Technology B 31(B6), 2007",
            fields: arm_pfc::Params::fields,
        },
        build: |given, site| Ok(Box::new(arm_pfc::ArmPfc::law(&read(given)?, site)?)),
    },
];

/// All discs.
pub const DISCS: &[Page] = &[Page {
    stem: "fifo",
    summary: "first in, first out, under one law",
    idea: "A packet that the law lets in and that fits goes to the tail; the link takes from the head. It is the \
           disc that a law gets where no other is named.",
    equation: "",
    source: "RFC 7567, section 2",
    fields: Vec::new,
}];

/// The law called `stem`.
pub fn law(stem: &str) -> Option<&'static Entry> {
    LAWS.iter().find(|entry| entry.page.stem == stem)
}

fn read<P: Described>(given: &[(String, Value)]) -> Result<P, Fault> {
    P::from_values(given)
}
