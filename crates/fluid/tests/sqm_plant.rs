//! The qdisc `sqm` in the fluid plant: shares by utility, prices of queues, coordinators.

use sojourn_fluid::Run;
use sojourn_fluid::prove::{Certificate, Request, Verdict, certificate};
use sojourn_measure::Outcome;
use sojourn_optim::num::{Fairness, Network, Problem};
use sojourn_optim::sqm::{Flow, Link};
use sojourn_scenario::Scenario;

fn run(scenario: &Scenario) -> Outcome {
    let mut run = Run::new(scenario).unwrap();
    while run.advance() {}
    run.finish()
}

fn parse(text: &str) -> Scenario {
    Scenario::parse(text.as_bytes(), "test", &[]).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"))
}

/// The scenario of figure 3, after some replacements in its text.
fn figure_3(changes: &[(&str, &str)]) -> Scenario {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/sqm/figure3.toml");
    let mut text = std::fs::read_to_string(path).unwrap();
    for (old, new) in changes {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    parse(&text)
}

/// Packets/s of each class in the last step; its payload is this part of its packets.
fn last_rates(found: &Outcome, link: usize, payload: f64) -> Vec<f64> {
    let classes = found.links[link].series.goodput_bps.iter();
    classes.map(|(_, values)| values.last().unwrap() / (8.0 * payload)).collect()
}

/// Packets in each queue, mean of the last step.
fn last_queues(found: &Outcome) -> Vec<f64> {
    found.links[0].series.queues.iter().map(|queue| *queue.packets.last().unwrap()).collect()
}

fn near(ours: f64, other: f64, tolerance: f64) {
    assert!((ours - other).abs() <= tolerance * other.abs(), "{ours}, not {other}");
}

fn delay(flow: usize) -> f64 {
    0.1 + 0.05 * flow as f64 / 9.0
}

fn share(flow: usize) -> f64 {
    if flow < 5 { 120.0 } else { 80.0 }
}

/// Where (4) meets TCP's window: q = 5 + sigma 2 / W^2 with W = C_i D + q.
fn standing_queue(rate: f64, delay: f64) -> f64 {
    let own = Flow { weight: 2.0 / (delay * delay), ..Flow::reno(delay, 1.0) };
    let sigma = Link { capacity: rate, alpha: 2.0, flows: vec![own] }.scales_of_margin(45.0)[0];
    let next = |queue: f64| {
        let window = rate * delay + queue;
        0.5 * (queue + 5.0 + sigma * 2.0 / (window * window))
    };
    (0..200).fold(5.0, |queue, _| next(queue))
}

/// Figure 3's rates at t = 50 s.
#[test]
fn figure_3_has_its_shares_at_50_s() {
    let found = run(&figure_3(&[]));
    let (rates, queues) = (last_rates(&found, 0, 960.0), last_queues(&found));
    assert_eq!((rates.len(), queues.len()), (10, 10));
    for flow in 0..10 {
        near(rates[flow], share(flow), 1e-3);
        near(queues[flow], standing_queue(share(flow), delay(flow)), 1e-3);
    }
}

/// The integral holds C_i T in each queue, and the shares are the same.
#[test]
fn the_integral_holds_the_target_in_each_queue() {
    let found = run(&figure_3(&[("\"price\"", "\"pi\"\ntarget = \"20 ms\""), ("\"50 s\"", "\"300 s\"")]));
    let (rates, queues) = (last_rates(&found, 0, 960.0), last_queues(&found));
    for flow in 0..10 {
        near(rates[flow], share(flow), 1e-3);
        near(queues[flow], 0.02 * share(flow), 1e-3);
    }
}

/// Reno's utility shares by the round trip: w = 2 / D^2 is x in proportion to 1 / D.
#[test]
fn the_default_utility_is_that_of_reno() {
    let found = run(&figure_3(&[("utility = \"equal\"\n", ""), ("weights =", "# weights =")]));
    let rates = last_rates(&found, 0, 960.0);
    let sum: f64 = (0..10).map(|flow| 1.0 / delay(flow)).sum();
    for (flow, rate) in rates.iter().enumerate() {
        near(*rate, 1000.0 / delay(flow) / sum, 1e-3);
    }
}

/// A flow that its access link limits to a tenth of its share leaves the rest; the others' prices are those of what they have.
#[test]
fn limited_flows_leave_their_share() {
    let slow = ("rate = \"1 Gbit/s\", delay = \"25 ms\"", "rate = \"96 kbit/s\", delay = \"25 ms\"");
    let found = run(&figure_3(&[slow]));
    let (rates, queues) = (last_rates(&found, 0, 960.0), last_queues(&found));
    near(rates[0], 12.0, 1e-3);
    for flow in 1..10 {
        let rate = (1000.0 - 12.0) * share(flow) / (1000.0 - 120.0);
        near(rates[flow], rate, 1e-3);
        near(queues[flow], standing_queue(rate, delay(flow)), 1e-3);
    }
}

/// Two links in a row, a class over each and one over both.
fn in_a_row(keys: &str, others: &str) -> Scenario {
    let class = |name: &str, [from, to]: [&str; 2], count: u32| {
        format!(
            "[[flows]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\ncount = {count}\ncc = \"newreno\"\necn = true\n\
             segment = \"1000 B\"\nstart = \"0 s\"\naccess = {{ rate = \"1 Gbit/s\", delay = \"20 ms\" }}\n"
        )
    };
    let [first, second, both] = [("a", ["r5", "r6"], 4), ("b", ["r6", "r4"], 2), ("c", ["r1", "r4"], 3)]
        .map(|(name, ends, count)| class(name, ends, count));
    parse(&format!(
        "title = \"t\"\nduration = \"60 s\"\nwarmup = \"10 s\"\n[two_bottlenecks]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n\
         buffer = \"3000 packets\"\nqdisc = {{ sqm = {{ form = \"price\", beta = \"5 packets\", period = \"1 s\", {keys} }} }}\n\
         {first}{second}{both}{others}"
    ))
}

/// Rates of the flows of the three classes, at the optimum of w = 1 over both links.
fn optimum(alpha: f64, counts: [usize; 3]) -> [f64; 3] {
    let paths: Vec<&[usize]> = [&[0][..], &[1], &[0, 1]]
        .into_iter()
        .zip(counts)
        .flat_map(|(path, count)| std::iter::repeat_n(path, count))
        .collect();
    let network = Network::new(vec![1250.0, 1250.0], &paths).unwrap();
    let weights = vec![1.0; paths.len()];
    let problem = Problem { network, fairness: Fairness::Alpha(alpha), weights, floor: 1e-3 };
    let rates = problem.optimum().rates;
    [rates[0], rates[counts[0]], rates[counts[0] + counts[1]]]
}

/// Rate of a flow of each class in the last step.
fn rates_of_a_flow(found: &Outcome, counts: [usize; 3]) -> [f64; 3] {
    // A class's goodput is that at its receivers, whatever link reports it.
    let rate = |name: &str| {
        let series = found.links.iter().flat_map(|link| &link.series.goodput_bps);
        let (_, values) = series.into_iter().find(|(own, _)| own == name).unwrap();
        values.last().unwrap() / (8.0 * 960.0)
    };
    std::array::from_fn(|class| rate(["a", "b", "c"][class]) / counts[class] as f64)
}

/// The rates are those of the network's optimum, which those of links by themselves are not.
#[test]
fn coordinators_lead_to_the_optimum_of_the_network() {
    for alpha in [1.0, 2.0] {
        let expected = optimum(alpha, [4, 2, 3]);
        for coordinator in ["centralised", "decentralised"] {
            let keys = format!("coordinator = \"{coordinator}\", utility = \"equal\", alpha = {alpha:?}");
            let found = rates_of_a_flow(&run(&in_a_row(&keys, "")), [4, 2, 3]);
            (0..3).for_each(|class| near(found[class], expected[class], 0.01));
        }
        let keys = format!("utility = \"equal\", alpha = {alpha:?}");
        let alone = rates_of_a_flow(&run(&in_a_row(&keys, "")), [4, 2, 3]);
        near(alone[2], 1250.0 / 7.0, 0.01);
        assert!(alone[2] > 1.05 * expected[2], "{alone:?} {expected:?}");
    }
}

/// Flows that come at 10 s: a round of prices a period leads to the new optimum.
#[test]
fn prices_follow_the_flows() {
    let keys = "coordinator = \"decentralised\", utility = \"equal\", alpha = 1.0";
    let more = "[[at]]\ntime = \"10 s\"\nset = { \"b.count\" = 8 }\n";
    let found = rates_of_a_flow(&run(&in_a_row(keys, more)), [4, 8, 3]);
    let expected = optimum(1.0, [4, 8, 3]);
    (0..3).for_each(|class| near(found[class], expected[class], 0.01));
}

/// What the fluid does not have is refused by its key.
#[test]
fn what_has_no_fluid_model_is_refused() {
    let error = |key: &str| {
        let keys = format!("form    = \"price\"\n{key}");
        Run::new(&figure_3(&[("form    = \"price\"", &keys)])).err().unwrap().to_string()
    };
    assert_eq!(
        error("step = \"newton\""),
        "bottleneck.qdisc.step: \"newton\" has no fluid model; expected \"optimum\", or --plant packet"
    );
    let predictive = figure_3(&[("form    = \"price\"", "form = \"predictive\"")]);
    assert_eq!(
        Run::new(&predictive).err().unwrap().to_string(),
        "bottleneck.qdisc.form: \"predictive\", which signals single packets, has no fluid model; expected pi, price or delay, or --plant packet"
    );
    assert_eq!(
        error("queues = 9"),
        "bottleneck.qdisc.queues: a flow without a queue of its own has no fluid model; expected 10 or more, or --plant packet"
    );
}

/// Flows that share the reserved queue are none of the certificate's queues; both models refuse them before a run.
#[test]
fn fewer_queues_than_flows_are_refused() {
    let few = figure_3(&[("form    = \"price\"", "form    = \"price\"\nqueues = 9")]);
    let [error] = &sojourn_fluid::errors(&few, false)[..] else { panic!("one error") };
    assert!(error.to_string().starts_with("bottleneck.qdisc.queues: a flow without a queue of its own"));
    let refused = certificate(&Request { scenario: &few, link: None, own: None }).err().unwrap();
    assert_eq!(
        refused.to_string(),
        "bottleneck.qdisc.queues: a flow without a queue of its own has no linear model; expected 10 or more"
    );
}

fn proven(scenario: &Scenario) -> Certificate {
    certificate(&Request { scenario, link: None, own: None }).unwrap()
}

/// sigma, Theorem 3 and the limit of each queue of figure 3 are those of the theory, by the w of Reno.
#[test]
fn certificates_of_prices_have_the_sigmas_of_the_theory() {
    let found = proven(&figure_3(&[]));
    assert_eq!((found.verdict, found.queues.len()), (Verdict::Stable, 10));
    let of = |sigma: fn(&sojourn_aqm::qdiscs::sqm::fluid::Sigmas) -> f64| -> Vec<f64> {
        let sigmas = found.queues.iter().map(|queue| sigma(&queue.sigmas.unwrap()));
        sigmas.enumerate().map(|(flow, sigma)| sigma * 2.0 / (delay(flow) * delay(flow))).collect()
    };
    // Those of the references (crates/fluid/tests/sqm.rs); a scenario's delays are whole nanoseconds.
    let flow = |flow: usize| Flow::reno(delay(flow), share(flow));
    let link = Link { capacity: 1000.0, alpha: 2.0, flows: (0..10).map(flow).collect() };
    for (ours, theirs) in [
        (of(|sigmas| sigmas.used), link.scales_of_margin(45.0)),
        (of(|sigmas| sigmas.limit), link.scales_of_margin(0.0)),
        (of(|sigmas| sigmas.theorem), link.scales_of_the_sum(1.01)),
        (of(|sigmas| sigmas.per_flow), link.scales_by_flow(1.01)),
    ] {
        ours.iter().zip(theirs).for_each(|(ours, theirs)| near(*ours, theirs, 1e-7));
    }
    for queue in &found.queues {
        let own = queue.sigmas.unwrap();
        assert!((own.queue_loop.phase_margin() - 45.0).abs() < 1e-6);
        assert!((own.queue_loop.gain_margin() - own.used / own.limit).abs() < 1e-9);
    }
    // The rules give the same, each its own.
    for (rule, sigma) in [("theorem", 2.0237e5), ("per_flow", 1.08371e4)] {
        let own = proven(&figure_3(&[("\"margin\"", &format!("\"{rule}\""))]));
        near(own.queues[0].sigmas.unwrap().used, sigma, 1e-4);
    }
}

/// Ten flows of 100 ms, each with a window of so many packets, under the integral.
fn integral(window: u32, target: &str) -> Scenario {
    parse(&format!(
        "title = \"t\"\nduration = \"120 s\"\nwarmup = \"100 s\"\nfluid_window = \"mgt\"\n[bottleneck]\nrate = \"{} packets/s\"\ndelay = \"0 ms\"\n\
         buffer = \"10000 packets\"\nqdisc = {{ sqm = {{ form = \"pi\", target = \"{target}\" }} }}\n[[flows]]\ncount = 10\n\
         cc = \"newreno\"\necn = true\nsegment = \"1000 B\"\nstart = \"0 s\"\naccess = {{ rate = \"1 Gbit/s\", delay = \"25 ms\" }}\n",
        100 * window
    ))
}

/// The second line of the table of docs/theory/sqm.md, whose first is equation (9).
#[test]
fn certificates_of_the_integral_have_the_margins_of_the_page() {
    for (window, degrees) in [(4, 47.0), (8, 45.7), (16, 44.8), (25, 44.5), (75, 44.2)] {
        let found = proven(&integral(window, "1 ms"));
        assert_eq!(found.verdict, Verdict::Stable);
        let margins = found.judged().unwrap().margins.as_ref().unwrap();
        let lag = margins.lag().unwrap().lag().to_degrees();
        assert!((lag - degrees).abs() < 0.06, "{window}: {lag}");
    }
}

/// The fluid plant does what its certificate says.
#[test]
fn the_integral_settles_where_its_certificate_says_so() {
    let swing = |scenario: &Scenario| {
        let found = run(scenario);
        let series = &found.links[0].series;
        let late = series.time_s.iter().zip(&series.queue_packets).filter(|(time, _)| **time > 100.0);
        let late: Vec<f64> = late.map(|(_, queue)| *queue).collect();
        let most = late.iter().copied().fold(0.0, f64::max);
        (most - late.iter().copied().fold(f64::MAX, f64::min)) / most
    };
    for window in [8, 30] {
        let scenario = integral(window, "20 ms");
        assert_eq!(proven(&scenario).verdict, Verdict::Stable);
        let settled = swing(&scenario);
        assert!(settled < 0.01, "{window}: {settled}");
    }
}

#[test]
fn nothing_is_proven_of_a_price_that_is_not_signalled() {
    let found = proven(&figure_3(&[("\"price\"", "\"delay\"")]));
    assert!(matches!(&found.verdict, Verdict::NotProven(reason) if reason.contains("signals nothing")));
}
