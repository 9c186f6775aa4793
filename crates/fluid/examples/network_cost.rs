//! Cost of certificates of links that are congested together: twenty classes over one, four and six links in a row.
//!
//! ```sh
//! cargo run --release -p sojourn-fluid --example network_cost
//! ```
#![allow(clippy::disallowed_methods, clippy::disallowed_types)] // a bench reads the clock

use sojourn_fluid::prove::{Request, certificate};
use sojourn_scenario::Scenario;
use std::hint::black_box;
use std::time::Instant;

const CLASSES: usize = 20;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    for model in ["mgt", "calibrated"] {
        for links in [1, 4, 6] {
            if wanted.is_empty() || wanted == [model, &links.to_string()] {
                report(model, links);
            }
        }
    }
}

fn report(model: &str, links: usize) {
    let scenario = Scenario::parse(row(model, links).as_bytes(), "row", &[]).expect("a scenario");
    let begun = Instant::now();
    let found = certificate(&Request { scenario: &scenario, link: None, own: None }).expect("a certificate");
    let (verdict, seconds) = (&black_box(&found).verdict, begun.elapsed().as_secs_f64());
    let evaluations = found.loops.iter().map(|of| of.evaluations).max().unwrap_or(0);
    println!("{model}, {links} links: {verdict:?} in {seconds:.3} s, {evaluations} evaluations");
}

/// The scenario: class i crosses the links from i on, in turn one to three of them.
fn row(model: &str, links: usize) -> String {
    let mut text = format!("title = \"row\"\nduration = \"60 s\"\nfluid_window = \"{model}\"\n");
    for link in 0..links {
        text += &format!(
            "[[links]]\nname = \"l{link}\"\nfrom = \"r{link}\"\nto = \"r{}\"\nrate = \"20 Mbit/s\"\ndelay = \"5 ms\"\n\
             buffer = \"5000 packets\"\nqdisc = \"pi:target=60packets,a=1e-4,b=9.97e-5\"\n",
            link + 1
        );
    }
    for class in 0..CLASSES {
        let from = class % links;
        let to = (from + 1 + class / links % 3).min(links);
        text += &format!(
            "[[flows]]\nname = \"f{class}\"\nfrom = \"r{from}\"\nto = \"r{to}\"\ncount = {}\ncc = \"newreno\"\necn = true\n\
             segment = \"1000 B\"\naccess = {{ rate = \"1 Gbit/s\", delay = \"{} ms\" }}\n",
            4 + class % 5,
            2 + 2 * class
        );
    }
    text
}
