//! New parameters of qdiscs of several queues during a run, of the laws and qdiscs within them among others: from then on they
//! behave as with these parameters from the start.

#[path = "../../fluid/tests/common/schedules.rs"]
mod schedules;

use sojourn_measure::LinkOutcome;
use sojourn_scenario::Scenario;
use sojourn_sim::Run;

const NETWORK: &str = r#"
title = "Two groups"
duration = "40 s"
sample = "500 ms"
[bottleneck]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "2000 packets"
qdisc = "QDISC"
[[flows]]
name = "one"
count = 2
cc = "cubic"
[[flows]]
name = "many"
count = 8
cc = "cubic"
"#;

/// A qdisc, a parameter that changes at 20 s, and what it changes.
struct Case {
    qdisc: &'static str,
    key: &'static str,
    values: [&'static str; 2],
    measure: fn(&LinkOutcome) -> f64,
}

fn case(
    qdisc: &'static str,
    key: &'static str,
    values: [&'static str; 2],
    measure: fn(&LinkOutcome) -> f64,
) -> Case {
    Case { qdisc, key, values, measure }
}

/// Mean of a column over the last 12 seconds.
fn at_end(link: &LinkOutcome, column: &[f64]) -> f64 {
    let inside =
        link.series.time_s.iter().zip(column).filter(|(time, value)| **time > 28.0 && value.is_finite());
    let values: Vec<f64> = inside.map(|(_, value)| *value).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// Sojourn time in the queues of `many`, s: those of its class, or the only ones.
fn wait(link: &LinkOutcome) -> f64 {
    let queues = &link.series.queues;
    let queue = queues
        .iter()
        .find(|queue| ["many", "others", "band_1", "C", "best_effort"].contains(&&queue.name[..]));
    at_end(link, queue.map_or(&link.series.sojourn_s, |queue| &queue.sojourn_s))
}

/// Sojourn time in the reserved queue, s.
fn reserved_wait(link: &LinkOutcome) -> f64 {
    at_end(link, &link.series.queues.iter().find(|queue| queue.name == "reserved").unwrap().sojourn_s)
}

/// Goodput of `one`, bit/s.
fn share(link: &LinkOutcome) -> f64 {
    at_end(link, &link.series.goodput_bps[0].1)
}

/// Use of the link.
fn used(link: &LinkOutcome) -> f64 {
    at_end(link, &link.series.utilization)
}

/// Backlog, packets.
fn backlog(link: &LinkOutcome) -> f64 {
    at_end(link, &link.series.queue_packets)
}

/// Longest backlog of the last 12 seconds, packets: what the memory holds, whatever the phases of the flows.
fn most(link: &LinkOutcome) -> f64 {
    let inside = link.series.time_s.iter().zip(&link.series.queue_packets).filter(|(time, _)| **time > 28.0);
    inside.map(|(_, packets)| *packets).fold(0.0, f64::max)
}

impl Case {
    /// The run that begins with one of the values; `change` sets the second one.
    fn run(&self, value: &str, change: bool) -> f64 {
        let Case { qdisc, key, values, measure } = self;
        let separator = if qdisc.contains(':') { "," } else { ":" };
        let own = format!("{qdisc}{separator}{key}={value}");
        let mut text = NETWORK.replace("QDISC", &own);
        if change {
            let set = format!("'bottleneck.qdisc.{key}' = {}", toml(values[1]));
            text += &format!("[[at]]\ntime = '20 s'\nset = {{ {set} }}\n");
        }
        let scenario =
            Scenario::parse(text.as_bytes(), "test", &[]).unwrap_or_else(|errors| panic!("{own}: {errors}"));
        let mut run = Run::new(&scenario, 1);
        while run.advance() {}
        measure(&run.finish().links[0])
    }

    fn check(&self) {
        let Case { qdisc, key, values, .. } = self;
        let [old, new] = values.map(|value| self.run(value, false));
        let difference = (old / new).max(new / old);
        assert!(difference > 1.25, "{qdisc}, {key} = {values:?}: no difference, {old} and {new}");
        self.check_change(new);
    }

    /// The run that changes ends as the one with the new value from the start, which has measured `new`.
    fn check_change(&self, new: f64) {
        let Case { qdisc, key, values: [from, to], .. } = self;
        let changed = self.run(from, true);
        let name = format!("{qdisc}, {key} from {from} to {to}");
        assert!((changed / new - 1.0).abs() < 0.12, "{name}: {changed}, {new} from the start");
    }
}

/// Changes of the same table at two times, and of two of its keys at once: each keeps what it does not set.
#[test]
fn changes_within_a_reserved_queue_add_up() {
    let text = |set: &str| {
        let qdisc = "drr:by=class,reserved.classes=[one],reserved.rate=2 Mbit/s,reserved.law=codel";
        NETWORK.replace("QDISC", qdisc) + set
    };
    let rate = "'bottleneck.qdisc.reserved.rate' = '6 Mbit/s'";
    let target = "'bottleneck.qdisc.reserved.law.target' = '40 ms'";
    let finish = |set: &str| {
        let scenario =
            Scenario::parse(text(set).as_bytes(), "test", &[]).unwrap_or_else(|errors| panic!("{errors}"));
        let mut run = Run::new(&scenario, 1);
        while run.advance() {}
        run.finish().links.remove(0)
    };
    let at_once = finish(&format!("[[at]]\ntime = '20 s'\nset = {{ {rate}, {target} }}\n"));
    let in_turn = finish(&format!(
        "[[at]]\ntime = '15 s'\nset = {{ {rate} }}\n[[at]]\ntime = '20 s'\nset = {{ {target} }}\n"
    ));
    for link in [at_once, in_turn] {
        assert!((share(&link) / 5.84e6 - 1.0).abs() < 0.03, "{}", share(&link));
        assert!(reserved_wait(&link) > 0.015, "{}", reserved_wait(&link));
    }
}

/// A number as it is, all else in quotes.
fn toml(value: &str) -> String {
    if value.parse::<f64>().is_ok() { value.into() } else { format!("'{value}'") }
}

fn check(cases: &[Case]) {
    std::thread::scope(|scope| cases.iter().for_each(|case| _ = scope.spawn(|| case.check())));
}

/// As [`check`] where both values, from the start, give the same.
fn same(cases: &[Case]) {
    let check = |case: &Case| case.check_change(case.run(case.values[1], false));
    std::thread::scope(|scope| cases.iter().for_each(|case| _ = scope.spawn(|| check(case))));
}

#[test]
fn fair_queueing_takes_new_parameters() {
    check(&[
        case("drr:law=codel", "law.target", ["5 ms", "40 ms"], wait),
        case("drr:law=pie", "law.target", ["10 ms", "60 ms"], wait),
        case("drr:law=tail_drop", "limit", ["400", "100"], backlog),
        case("drr:law=tail_drop", "memory", ["600 kB", "150 kB"], backlog),
        case("drr:by=class", "weights.one", ["1", "4"], share),
        // By class: flows with a queue each lock in phase, in one of two cycles 12 % apart, also by start times.
        case("wfq:by=class,law=codel", "law.target", ["5 ms", "40 ms"], wait),
        case("wfq:law=tail_drop", "limit", ["400", "100"], backlog),
        case("wfq:by=class", "weights.one", ["1", "4"], share),
        case("wfq:by=class,clock=start_time", "weights.one", ["1", "4"], share),
    ]);
}

/// Queues that never empty have the shares of new weights within a second.
#[test]
fn floods_take_new_weights() {
    let floods = NETWORK.replace("cc = \"cubic\"", "app = { cbr = { rate = \"12 Mbit/s\" } }");
    let check = |discipline: &str| {
        let qdisc = format!("{discipline}by=class,law=tail_drop,weights.one=1");
        let text = floods.replace("QDISC", &qdisc)
            + "[[at]]\ntime = '20 s'\nset = { 'bottleneck.qdisc.weights.one' = 4 }\n";
        let scenario = Scenario::parse(text.as_bytes(), "test", &[])
            .unwrap_or_else(|errors| panic!("{qdisc}: {errors}"));
        let mut run = Run::new(&scenario, 1);
        while run.advance() {}
        let series = run.finish().links.remove(0).series;
        let part = |from: f64, to: f64| {
            let goodput = |class: usize| -> f64 {
                let inside = series.time_s.iter().zip(&series.goodput_bps[class].1);
                inside.filter(|(time, _)| (from..to).contains(*time)).map(|(_, value)| *value).sum()
            };
            goodput(0) / (goodput(0) + goodput(1))
        };
        let parts = [part(10.0, 20.0), part(21.0, 24.0), part(24.0, 40.0)];
        let is_close = |(part, expected): (&f64, f64)| (part - expected).abs() < 0.01;
        assert!(parts.iter().zip([0.5, 0.8, 0.8]).all(is_close), "{qdisc}: {parts:?}");
    };
    for discipline in ["drr:", "drr:new_first=false,", "wfq:", "wfq:clock=start_time,"] {
        check(discipline);
    }
}

#[test]
fn a_reserved_queue_takes_new_parameters() {
    check(&[
        case(
            "drr:by=class,reserved.classes=[one],reserved.law=codel",
            "reserved.rate",
            ["2 Mbit/s", "6 Mbit/s"],
            share,
        ),
        case(
            "wfq:by=class,reserved.classes=[one],reserved.law=codel",
            "reserved.rate",
            ["2 Mbit/s", "6 Mbit/s"],
            share,
        ),
        case(
            "drr:reserved.classes=[one],reserved.rate=4 Mbit/s,reserved.law=codel",
            "reserved.law.target",
            ["5 ms", "40 ms"],
            reserved_wait,
        ),
    ]);
}

/// The gains of PI and its target in packets are those of the rate of its queue.
#[test]
fn laws_beside_a_reserved_queue_are_designed_for_its_new_rate() {
    let of = |qdisc, measure| case(qdisc, "reserved.rate", ["1 Mbit/s", "8 Mbit/s"], measure);
    same(&[
        of("drr:by=class,reserved.classes=[one],reserved.law=pi,reserved.law.target=40 ms", reserved_wait),
        of("wfq:by=class,reserved.classes=[one],reserved.law=pi,reserved.law.target=40 ms", reserved_wait),
        of("drr:by=class,reserved.classes=[one],law=pi,law.target=40 ms", wait),
        of("wfq:by=class,reserved.classes=[one],law=pi,law.target=40 ms", wait),
    ]);
}

#[test]
fn priorities_take_new_parameters() {
    check(&[
        case("prio:law=codel", "law.target", ["5 ms", "40 ms"], wait),
        case("prio:law=tail_drop", "limit", ["400", "100"], backlog),
    ]);
}

#[test]
fn the_dual_queue_takes_new_parameters() {
    check(&[
        case("dual", "target", ["15 ms", "60 ms"], wait),
        case("dual:target=200 ms", "limit", ["100", "50"], backlog),
    ]);
}

#[test]
fn a_shaper_and_its_qdisc_take_new_parameters() {
    check(&[
        case("shaper", "rate", ["8 Mbit/s", "4 Mbit/s"], used),
        case("shaper:rate=8 Mbit/s,qdisc=fq_codel", "qdisc.law.target", ["5 ms", "40 ms"], wait),
        case("shaper:rate=8 Mbit/s,qdisc=dual", "qdisc.target", ["15 ms", "60 ms"], wait),
        case("shaper:rate=8 Mbit/s,qdisc=pie", "qdisc.target", ["10 ms", "60 ms"], wait),
        case("shaper:rate=8 Mbit/s,qdisc=drr,qdisc.by=class", "qdisc.weights.one", ["1", "4"], share),
    ]);
}

#[test]
fn the_law_behind_a_shaper_is_designed_for_its_new_rate() {
    let of = |qdisc| case(qdisc, "rate", ["2 Mbit/s", "8 Mbit/s"], wait);
    same(&[
        of("shaper:qdisc=pi,qdisc.target=40 ms"),
        of("shaper:qdisc=drr,qdisc.by=class,qdisc.law=pi,qdisc.law.target=40 ms"),
    ]);
}

#[test]
fn a_shaper_above_its_link_leaves_the_rate_to_it() {
    let of = |qdisc, measure| case(qdisc, "rate", ["9 Mbit/s", "1000 Mbit/s"], measure);
    same(&[of("shaper:qdisc=wfq,qdisc.by=class,qdisc.weights.one=4", share), of("shaper:qdisc=rem", wait)]);
}

#[test]
fn cake_takes_new_parameters() {
    check(&[
        case("cake", "bandwidth", ["8 Mbit/s", "4 Mbit/s"], used),
        case("cake", "rtt", ["50 ms", "1 s"], wait),
        case("cake:rtt=100 s", "memlimit", ["600 kB", "150 kB"], most),
    ]);
}

/// A run carries out every change that the check of a schedule accepts.
#[test]
fn every_accepted_schedule_runs() {
    let accepted: Vec<Scenario> = (0..1000).filter_map(schedules::accepted).collect();
    assert!((300..700).contains(&accepted.len()), "{} of 1000 are accepted", accepted.len());
    for scenario in &accepted {
        let mut run = Run::new(scenario, 1);
        while run.advance() {}
    }
}
