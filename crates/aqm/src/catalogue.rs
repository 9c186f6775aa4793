//! Every algorithm, one line each.

use crate::law::Law;
use crate::laws;
use crate::site::Site;
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

/// All laws, each told of in its own file.
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
    laws::arm_pfc::ENTRY,
    laws::fb_ocq::ENTRY,
    laws::pie::ENTRY,
    laws::docsis_pie::ENTRY,
    laws::pi2::ENTRY,
    laws::codel::ENTRY,
    laws::cobalt::ENTRY,
];

/// All discs.
pub const DISCS: &[Page] = &[Page {
    stem: "fifo",
    summary: "first in, first out, under one law",
    idea: "A packet that the law lets in and that fits goes to the tail; the link takes from the head. Where one \
           does not fit it is dropped, or, under head_drop, the packet at the head makes room for it. It is \
           the disc that a law gets where no other is named.",
    equation: "",
    source: "RFC 7567, section 2",
    fields: Vec::new,
}];

/// The law called `stem`.
pub fn law(stem: &str) -> Option<&'static Entry> {
    LAWS.iter().find(|entry| entry.page.stem == stem)
}
