//! Scenario files: values, errors, and absence of panics.

mod changes;
mod common;
mod errors;
mod hostile;
mod media;
mod networks;
mod rewrite;
mod settings;
mod traffic;
mod values;
