//! The catalogue of congestion controls.

use crate::cc::{self, Entry, KERNEL};
use sojourn_params::Catalogue;

/// All congestion controls that have a curve here; those of [`KERNEL`] have none.
pub const CCS: &[Entry] = cc::ENTRIES;

/// The congestion controls by their names: `"cubic:hystart=false"`, `{ cubic = { hystart = false } }`, or
/// `{ name = "cubic", hystart = false }`.
pub static CC_CATALOGUE: Catalogue = Catalogue {
    a_kind: "a congestion control",
    kind: "congestion control",
    example: "\"cubic:hystart=false\"",
    tag: Some("name"),
    pages: || CCS.iter().map(|entry| entry.page).chain(KERNEL.iter().copied()).collect(),
    problem: |_| None,
    elsewhere: &[],
};

/// The congestion control called `stem`.
pub fn cc(stem: &str) -> Option<&'static Entry> {
    CCS.iter().find(|entry| entry.page.stem == stem)
}
