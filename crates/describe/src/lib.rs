//! Descriptions of a scenario for readers and editors: words and tables, warnings, help on values with many forms, and
//! the JSON schema.

mod help;
mod qdiscs;
mod schema;
mod table;
mod text;
mod warnings;
mod words;

pub use help::{TOPICS, Topic, topic, topic_with};
pub use schema::schema;
pub use warnings::warnings;
pub use words::{describe, describe_under};
