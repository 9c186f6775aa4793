//! Descriptions, warnings and the schema of scenario files.

#[path = "../../../scenario/tests/scenario/common.rs"]
mod common;
mod corpus;
mod ranges;
mod schema;
mod tables;
mod warnings;
mod words;
