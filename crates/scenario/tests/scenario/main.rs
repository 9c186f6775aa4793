//! Scenario files: what is read, what is refused, and that nothing panics.

mod changes;
mod common;
mod drawings;
mod faults;
mod hostile;
mod knobs;
mod media;
mod networks;
mod notes;
mod traffic;
mod values;
