//! The catalogue of congestion controls.

use crate::cc::{self, Entry};

/// All congestion controls.
pub const CCS: &[Entry] = cc::ENTRIES;

/// The congestion control called `stem`.
pub fn cc(stem: &str) -> Option<&'static Entry> {
    CCS.iter().find(|entry| entry.page.stem == stem)
}
