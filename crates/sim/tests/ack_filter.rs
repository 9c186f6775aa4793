//! The ACK filter of CAKE on a line whose uplink the ACKs of a download alone fill: the gallery's `acks`.

use sojourn_measure::{Outcome, Reading, Row};
use sojourn_scenario::Scenario;
use sojourn_sim::Run;
use std::path::Path;

/// The scenario from the time on at which the upload has had its start, with a qdisc at the uplink.
fn run(qdisc: &str) -> Outcome {
    let gallery = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let text = std::fs::read_to_string(gallery.join("home").join("acks.toml")).unwrap();
    let text = text.replacen("qdisc = \"tail_drop\"", &format!("qdisc = \"{qdisc}\""), 1);
    let text = text.replace("warmup   = \"5 s\"", "warmup = \"35 s\"");
    let scenario = Scenario::parse(text.as_bytes(), "test", &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let mut run = Run::new(&scenario, 1);
    while run.advance() {}
    run.finish()
}

fn number(row: &Row, name: &str) -> f64 {
    match row.metrics.iter().find(|(key, _)| *key == name).map(|(_, metric)| metric) {
        Some(Reading::Number(value)) => *value,
        _ => 0.0,
    }
}

/// Where a filter acts a ratio of 0 is a figure, which means over seeds include; elsewhere there is none.
#[test]
fn a_filter_that_removed_nothing_has_a_ratio() {
    let of = |qdisc: &str| {
        let text = format!(
            "title = \"t\"\nduration = \"2 s\"\n[bottleneck]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\nqdisc = \"{qdisc}\"\n\
             [[flows]]\nname = \"one\"\ncc = \"cubic\"\n[[flows]]\nname = \"two\"\ncc = \"cubic\"\n"
        );
        let scenario =
            Scenario::parse(text.as_bytes(), "test", &[]).unwrap_or_else(|errors| panic!("{errors}"));
        let mut run = Run::new(&scenario, 1);
        while run.advance() {}
        let link = run.finish().links.remove(0);
        let classes = link.classes.iter().map(|(_, row)| row);
        let rows = [&link.all].into_iter().chain(classes).chain(link.queues.iter().map(|queue| &queue.row));
        let ratio = |row: &Row| {
            row.metrics.iter().find(|(key, _)| *key == "filtered_ratio").map(|(_, metric)| metric.clone())
        };
        rows.map(|row| ratio(row).unwrap()).collect::<Vec<_>>()
    };
    for qdisc in ["cake:ack_filter=conservative", "cake:bandwidth=9 Mbit/s,ack_filter=aggressive"] {
        assert!(of(qdisc).iter().all(|ratio| *ratio == Reading::Number(0.0)), "{qdisc}");
    }
    for qdisc in ["fq_codel", "cake"] {
        assert!(of(qdisc).iter().all(|ratio| *ratio == Reading::Absent), "{qdisc}");
    }
}

/// What filters of ACKs are worth beside an upload (Piece of CAKE, section III-D): the download has its line, 50 Mbit/s, and
/// the upload no less than before. Fair queueing alone gives the ACKs their half of the uplink, which is too little.
#[test]
fn a_filter_of_acks_frees_the_download_from_the_upload() {
    let of = |qdisc: &str| {
        let outcome = run(qdisc);
        let [up, down] = [0, 1].map(|place| &outcome.links[place]);
        assert_eq!((up.link.as_str(), down.link.as_str()), ("up", "down"));
        let balance = up.all.balance.unwrap();
        assert_eq!(balance.offered, balance.delivered + balance.dropped + balance.held, "{qdisc}");
        let goodput = [down, up].map(|link| number(&link.classes[0].1, "goodput_bps"));
        (goodput, number(&up.all, "filtered_ratio"))
    };
    let cake = "cake:bandwidth=700 kbit/s,ack_filter";
    let ([fifo, _], none) = of("tail_drop");
    let ([unfiltered, upload], off) = of(&format!("{cake}=off"));
    let ([conservative, beside], some) = of(&format!("{cake}=conservative"));
    let ([aggressive, most], more) = of(&format!("{cake}=aggressive"));
    assert!(fifo < 25e6 && (30e6..40e6).contains(&unfiltered), "{fifo} {unfiltered}");
    // Headers take 52 of 1500 B.
    assert!(conservative > 0.99 * 50e6 * 1448.0 / 1500.0, "{conservative}");
    assert!(aggressive > 0.99 * 50e6 * 1448.0 / 1500.0, "{aggressive}");
    assert!(beside > upload && most > 1.2 * beside, "{upload} {beside} {most}");
    assert!(none == 0.0 && off == 0.0 && (0.4..0.6).contains(&some) && more > some, "{some} {more}");
}
