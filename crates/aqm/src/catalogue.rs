//! All algorithms, one line each.

use crate::entry::Entry;
use crate::laws;
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
    kind: "qdisc",
    example: "\"red:min=50packets,max=150packets\"",
    tag: Some("law"),
    pages: || LAWS.iter().map(|entry| entry.page).collect(),
    problem: |name| {
        let is_qdisc = QDISCS.iter().any(|page| page.stem == name);
        let problem = "is a qdisc, not a law: every law runs in it; \"tail_drop\" leaves it unmanaged";
        is_qdisc.then(|| problem.into())
    },
};

/// All qdiscs.
pub const QDISCS: &[Page] = &[Page {
    stem: "fifo",
    summary: "first in, first out, under one law",
    idea: "A packet that the law accepts and that fits is appended at the tail; the link takes from the head. An \
           arrival that does not fit is dropped or, under head_drop, packets at the head are. It is the \
           default qdisc of every law.",
    equation: "",
    source: "RFC 7567, section 2",
    fields: Vec::new,
}];

/// The law called `stem`.
pub fn law(stem: &str) -> Option<&'static Entry> {
    LAWS.iter().find(|entry| entry.page.stem == stem)
}
