//! Runs a scenario under one seed, for profilers: `packet_cost FILE [SECONDS]`.

use sojourn_scenario::Scenario;
use sojourn_sim::Run;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().expect("packet_cost FILE [SECONDS]");
    let seconds = arguments.next().unwrap_or_else(|| "20".into());
    let text = std::fs::read(&file).expect("the file can be read");
    let overrides = [("duration".to_string(), format!("{seconds} s"))];
    let scenario = Scenario::parse(&text, &file, &overrides).unwrap_or_else(|errors| panic!("{errors}"));
    let mut run = Run::new(&scenario, 1);
    while run.advance() {}
    let outcome = run.finish();
    let delivered: u64 = outcome.links.iter().map(|link| link.all.balance.unwrap().delivered).sum();
    println!("{delivered} packets, {} events", outcome.events);
}
