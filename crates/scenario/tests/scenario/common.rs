//! Shared by the tests of scenarios.
#![allow(dead_code)] // each file of tests uses a part of it

use sojourn_aqm::QdiscSpec;
use sojourn_aqm::catalogue::{LAW_CATALOGUE, QDISC_CATALOGUE};
use sojourn_params::{ErrorKind, Expected, InputError, Page};
use sojourn_scenario::{Access, Datagrams, Diagnostics, Flows, Link, Scenario, Traffic};

/// A scenario with every part, on numbered lines.
pub(crate) const WHOLE: &str = r#"title = "Everything at once"
duration = "60 s"
warmup = "10 s"
sample = "50 ms"
[bottleneck]
rate = "10 Mbit/s"
delay = "20 ms"
buffer = "300 packets"
qdisc = { law = "pi", target = "100 packets", a = 1.822e-5, b = 1.816e-5 }
[[flows]]
count = 50
app = "bulk"
cc = "newreno"
profile = "ns2"
ecn = true
segment = "1000 B"
access = { rate = "10 Mbit/s", delay = { spread = ["38 ms", "42 ms"] } }
start = { spread = ["0 s", "5 s"] }
stop = "50 s"
tcp.initial_window = 4
tcp.delayed_ack = true
tcp.min_rto = "1 s"
[[flows]]
cc = "reno"
[[at]]
time = "40 s"
set = { "bottleneck.rate" = "6 Mbit/s" }
"#;

/// The least that a scenario is made of.
pub(crate) const LEAST: &str = r#"title = "The least"
duration = "60 s"
[bottleneck]
rate = "10 Mbit/s"
delay = "20 ms"
[[flows]]
"#;

/// The line with the names of all laws in the place of `LAWS`, and of all qdiscs in that of `QDISCS`.
pub(crate) fn with_laws(line: &str) -> String {
    let listed = |pages: Vec<Page>| pages.iter().map(|page| page.stem).collect::<Vec<_>>().join(", ");
    let qdiscs = line.replace("QDISCS", &listed((QDISC_CATALOGUE.pages)()));
    qdiscs.replace("LAWS", &listed((LAW_CATALOGUE.pages)()))
}

/// The inverse.
pub(crate) fn without_laws(text: &str) -> String {
    text.replace(&with_laws("QDISCS"), "QDISCS").replace(&with_laws("LAWS"), "LAWS")
}

/// Reads a file called `f.toml`.
pub(crate) fn parse(text: &str) -> Result<Scenario, Diagnostics> {
    Scenario::parse(text.as_bytes(), "f.toml", &[])
}

/// Reads [`WHOLE`] with one override.
pub(crate) fn parse_with(key: &str, value: &str) -> Result<Scenario, Diagnostics> {
    Scenario::parse(WHOLE.as_bytes(), "f.toml", &[(key.into(), value.into())])
}

/// The file called `f.toml` with moved keys in their places.
pub(crate) fn rewritten(text: &str) -> Result<Option<String>, Diagnostics> {
    sojourn_scenario::rewritten(text.as_bytes(), "f.toml")
}

/// The first link: the bottleneck of a dumbbell.
pub(crate) fn bottleneck(scenario: &Scenario) -> &Link {
    &scenario.topology.links[0]
}

/// The qdisc in front of it.
pub(crate) fn qdisc(scenario: &Scenario) -> &QdiscSpec {
    bottleneck(scenario).qdisc.as_ref().expect("a bottleneck has a qdisc")
}

/// The access links of a class in a dumbbell.
pub(crate) fn access(flows: &Flows) -> Access {
    flows.access.expect("a dumbbell has access links")
}

/// Datagrams of the first class.
pub(crate) fn datagrams(scenario: &Scenario) -> Datagrams {
    match scenario.flows[0].traffic() {
        Traffic::Datagrams(datagrams) => datagrams,
        other => panic!("{other:?}"),
    }
}

/// Error of a file that is not beside the scenario.
pub(crate) fn missing(name: &str) -> InputError {
    InputError::new(ErrorKind::File, format!("{name} is not there"), Expected::Unstated)
}
