//! Descriptions, warnings and the schema of scenario files.

#[path = "../../../scenario/tests/scenario/common.rs"]
mod common;
mod corpus;
mod schema;
mod tables;
mod warnings;
mod words;
