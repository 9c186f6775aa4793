//! Scenario files: what is read, what is refused, and that nothing panics.

mod common;
mod drawings;
mod faults;
mod hostile;
mod knobs;
mod networks;
mod values;
