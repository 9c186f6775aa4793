//! All algorithms, one line each.

use crate::entry::Entry;
use crate::laws;
use crate::qdisc_spec::QdiscEntry;
use crate::qdiscs::{aliases, cake, drr, dual, prio, shaper, sqm, wfq};
use sojourn_params::{Catalogue, Page};

/// All laws; each entry is defined in the law's file.
#[rustfmt::skip]
pub const LAWS: &[Entry] = &[
    laws::tail_drop::ENTRY,
    laws::head_drop::ENTRY,
    laws::red::ENTRY,
    laws::ared::ENTRY,
    laws::choke::ENTRY,
    laws::sred::ENTRY,
    laws::blue::ENTRY,
    laws::avq::ENTRY,
    laws::rem::ENTRY,
    laws::pi::ENTRY,
    laws::pid::ENTRY,
    laws::pi_pd::ENTRY,
    laws::cpc::ENTRY,
    laws::arm_pfc::ENTRY,
    laws::fb_ocq::ENTRY,
    laws::pie::ENTRY,
    laws::docsis_pie::ENTRY,
    laws::pi2::ENTRY,
    laws::codel::ENTRY,
    laws::cobalt::ENTRY,
];

/// The laws by their names: `"red:min=50packets"`, `{ red = { min = "50 packets" } }`, or `{ law = "red", min = "50 packets" }`.
pub static LAW_CATALOGUE: Catalogue = Catalogue {
    a_kind: "a law",
    kind: "law",
    example: "\"red:min=50packets,max=150packets\"",
    tag: Some("law"),
    pages: || LAWS.iter().map(|entry| entry.page).collect(),
    problem: |name| {
        let is_qdisc = qdiscs().iter().any(|page| page.stem == name);
        let problem = "is a qdisc, not a law";
        is_qdisc.then(|| problem.into())
    },
    elsewhere: &[("pfifo", "tail_drop"), ("bfifo", "tail_drop")],
};

/// Qdiscs of several queues; each entry is defined in the qdisc's file.
pub const QDISCS: &[QdiscEntry] = &[
    drr::ENTRY,
    aliases::FQ_CODEL,
    aliases::FQ_PIE,
    aliases::SFQ_CODEL,
    aliases::SFQ,
    wfq::ENTRY,
    prio::ENTRY,
    dual::ENTRY,
    shaper::ENTRY,
    cake::ENTRY,
    sqm::ENTRY,
];

/// The qdiscs by their names, after the laws, each of which means one queue under it.
pub static QDISC_CATALOGUE: Catalogue = Catalogue {
    a_kind: "a qdisc",
    kind: "qdisc",
    example: "\"red:min=50packets,max=150packets\"",
    tag: Some("law"),
    pages: || {
        let laws = LAWS.iter().map(|entry| entry.page);
        laws.chain(QDISCS.iter().map(|entry| entry.page)).collect()
    },
    problem: |name| {
        let problem = "is one queue under a law; name the law, as in \"codel\"";
        (name == "fifo").then(|| problem.into())
    },
    elsewhere: &[
        ("pfifo", "tail_drop"),
        ("bfifo", "tail_drop"),
        ("pfifo_fast", "prio"),
        ("dualpi2", "dual"),
        ("dualq", "dual"),
        ("tbf", "shaper"),
    ],
};

/// All qdiscs: the queue of a law alone, and those of several queues.
pub fn qdiscs() -> Vec<Page> {
    std::iter::once(FIFO).chain(QDISCS.iter().map(|entry| entry.page)).collect()
}

const FIFO: Page = Page {
    stem: "fifo",
    summary: "first in, first out, under one law",
    idea: "A packet that the law accepts and that fits is appended at the tail; the link takes from the head. An \
           arrival that does not fit is dropped or, under head_drop, packets at the head are. It is the \
           default qdisc of every law.",
    equation: "",
    source: "RFC 7567, section 2",
    fields: Vec::new,
};

/// The law called `stem`.
pub fn law(stem: &str) -> Option<&'static Entry> {
    LAWS.iter().find(|entry| entry.page.stem == stem)
}
