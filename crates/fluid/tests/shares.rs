//! Schedulers in the fluid plant and in certificates: they reduce to one queue on each share.

#[path = "common/schedules.rs"]
mod schedules;

use sojourn_aqm::{FlowClass, LinkContext, Place, QdiscSpec};
use sojourn_fluid::Run;
use sojourn_fluid::law_driver::{Actuator, LawDriver, World};
use sojourn_fluid::plant::{Class, Link, Plant, QueueShare, Ramp, Sender, SharedLink, Window};
use sojourn_fluid::prove::{Certificate, Request, Verdict, certificate};
use sojourn_measure::{Metrics, Outcome, Reading};
use sojourn_params::InputError;
use sojourn_scenario::Scenario;
use sojourn_units::{Rate, Span, Time};

/// A scenario of these groups, each a count, a half of the base RTT, ms, and further keys.
fn scenario(rate: u32, buffer: u32, qdisc: &str, groups: &[(u32, u32, &str)]) -> Scenario {
    let mut text = format!(
        "title = \"t\"\nduration = \"40 s\"\nwarmup = \"5 s\"\nfluid_window = \"mgt\"\n[bottleneck]\nrate = \"{rate} kbit/s\"\ndelay = \"0 ms\"\n\
         buffer = \"{buffer} packets\"\nqdisc = {qdisc}\n"
    );
    for (place, (count, delay, keys)) in groups.iter().enumerate() {
        let usual = format!("access = {{ rate = \"1 Gbit/s\", delay = \"{delay} ms\" }}\n{keys}");
        let keys = if keys.starts_with("access") { (*keys).to_string() } else { usual };
        text += &format!(
            "[[flows]]\nname = \"g{place}\"\ncount = {count}\ncc = \"newreno\"\necn = true\nsegment = \"1000 B\"\n\
             start = \"0 s\"\n{keys}\n"
        );
    }
    Scenario::parse(text.as_bytes(), "test", &[]).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"))
}

fn run(scenario: &Scenario) -> Outcome {
    let mut run = Run::new(scenario).unwrap();
    while run.advance() {}
    run.finish()
}

fn value(metrics: &Metrics, name: &str) -> f64 {
    let found = metrics.iter().find(|(own, _)| *own == name);
    match found {
        Some((_, Reading::Number(value))) => *value,
        other => panic!("{name}: {other:?}"),
    }
}

fn near(ours: f64, other: f64, tolerance: f64) {
    assert!((ours - other).abs() <= tolerance * other.abs().max(1e-3), "{ours}, not {other}");
}

#[test]
fn equal_classes_are_so_many_links() {
    // CoDel's drop times are chaotic: one nanosecond more of delay changes the goodput of its one queue by 1.3e-3.
    for (law, tolerance) in
        [("{ pi = { target = \"20 packets\" } }", 1e-6), ("\"red\"", 1e-6), ("\"codel\"", 2e-3)]
    {
        let one = run(&scenario(2000, 600, law, &[(4, 20, "")]));
        for scheduler in ["drr", "wfq"] {
            let qdisc = format!("{{ {scheduler} = {{ by = \"class\", law = {law} }} }}");
            let all = run(&scenario(6000, 600, &qdisc, &[(4, 20, ""), (4, 20, ""), (4, 20, "")]));
            let [one, all] = [&one, &all].map(|outcome| &outcome.links[0]);
            for (name, row) in &all.classes {
                let [own, whole] = [&row.metrics, &one.all.metrics];
                for metric in ["goodput_bps", "sojourn_mean_s", "queue_mean_packets", "mark_ratio"] {
                    let [ours, theirs] = [own, whole].map(|metrics| value(metrics, metric));
                    assert!(
                        (ours - theirs).abs() <= tolerance * theirs.abs(),
                        "{law} {name} {metric}: {ours} {theirs}"
                    );
                }
            }
            near(
                value(&all.all.metrics, "queue_mean_packets"),
                3.0 * value(&one.all.metrics, "queue_mean_packets"),
                tolerance,
            );
        }
    }
}

#[test]
fn a_queue_for_each_flow_is_a_link_for_each_flow() {
    let law = "{ pi = { target = \"20 packets\" } }";
    let one = run(&scenario(1000, 300, law, &[(1, 40, "")]));
    let many = run(&scenario(6000, 300, &format!("{{ drr = {{ law = {law} }} }}"), &[(6, 40, "")]));
    let [one, many] = [&one, &many].map(|outcome| &outcome.links[0].all.metrics);
    near(value(many, "queue_mean_packets"), 6.0 * value(one, "queue_mean_packets"), 1e-6);
    near(value(many, "sojourn_mean_s"), value(one, "sojourn_mean_s"), 1e-6);
    near(value(many, "mark_ratio"), value(one, "mark_ratio"), 1e-6);
}

#[test]
fn a_shaper_makes_its_rate_that_of_the_link() {
    let law = "{ pi = { target = \"20 packets\" } }";
    let plain = run(&scenario(5000, 300, law, &[(10, 40, "")]));
    let shaped = format!("{{ shaper = {{ rate = \"5 Mbit/s\", qdisc = {law} }} }}");
    let shaped = run(&scenario(8000, 300, &shaped, &[(10, 40, "")]));
    let [plain, shaped] = [&plain, &shaped].map(|outcome| &outcome.links[0].all.metrics);
    near(value(shaped, "queue_mean_packets"), value(plain, "queue_mean_packets"), 1e-9);
    near(value(shaped, "goodput_bps"), value(plain, "goodput_bps"), 1e-9);
    near(value(shaped, "utilization"), 5.0 / 8.0, 1e-6);
}

#[test]
fn weights_laws_and_rates_change_during_a_run() {
    // An exact share at any time, of windows that always fill their queues: three quarters until 10 s, then a third, of a
    // rate that halves at 25 s.
    let qdisc =
        "{ wfq = { by = \"class\", weights = { g0 = 3 }, law = { pi = { target = \"20 packets\" } } } }";
    let mut text = String::new();
    for (time, key, value) in [
        (10, "bottleneck.qdisc.weights", "{ g0 = 0.5 }"),
        (10, "bottleneck.qdisc.law.target", "\"40 packets\""),
        (25, "bottleneck.rate", "\"4 Mbit/s\""),
    ] {
        text += &format!("[[at]]\ntime = \"{time} s\"\nset = {{ \"{key}\" = {value} }}\n");
    }
    let found = run(&scenario(8000, 600, qdisc, &[(6, 40, ""), (6, 40, &text)]));
    let series = &found.links[0].series;
    let mean = |class: usize, from: f64, until: f64| {
        let (_, values) = &series.goodput_bps[class];
        let own = series.time_s.iter().zip(values).filter(|(time, _)| (from..until).contains(*time));
        let own: Vec<f64> = own.map(|(_, value)| *value).collect();
        own.iter().sum::<f64>() / own.len() as f64
    };
    let payload = 0.96;
    near(mean(0, 6.0, 10.0), 6e6 * payload, 1e-3);
    near(mean(1, 6.0, 10.0), 2e6 * payload, 1e-3);
    near(mean(0, 20.0, 25.0), 8e6 / 3.0 * payload, 1e-3);
    near(mean(1, 35.0, 40.0), 8e6 / 3.0 * payload, 1e-3);
}

/// PI's gains and its target in packets are those of the rate that its queue has after the change, as from the start.
#[test]
fn laws_are_designed_for_the_new_rate_of_their_queue() {
    let law = "{ pi = { target = \"40 ms\" } }";
    let reserved = |rate: &str| {
        let own = format!("{{ classes = [\"g0\"], rate = \"{rate} Mbit/s\", law = {law} }}");
        format!("{{ drr = {{ by = \"class\", law = {law}, reserved = {own} }} }}")
    };
    let shaper = |rate: &str| format!("{{ shaper = {{ rate = \"{rate} Mbit/s\", qdisc = {law} }} }}");
    let (two, five) = (["2", "5"].map(reserved), ["2", "5"].map(shaper));
    for ([before, after], key) in [(two, "reserved.rate"), (five, "rate")] {
        let change =
            format!("[[at]]\ntime = \"10 s\"\nset = {{ \"bottleneck.qdisc.{key}\" = \"5 Mbit/s\" }}\n");
        let [changed, new] = [(before, &change[..]), (after, "")]
            .map(|(qdisc, change)| run(&scenario(8000, 600, &qdisc, &[(6, 40, ""), (6, 40, change)])));
        let delay = |outcome: &Outcome| {
            let series = &outcome.links[0].series;
            let of_queues = series.queues.iter().map(|queue| *queue.sojourn_s.last().unwrap());
            of_queues.chain([*series.sojourn_s.last().unwrap()]).collect::<Vec<_>>()
        };
        for (changed, new) in delay(&changed).into_iter().zip(delay(&new)) {
            near(changed, new, 0.02);
        }
    }
}

/// A rate above the first one of the link, whose rate has risen, and other changes after it has fallen again.
#[test]
fn a_reserved_queue_takes_a_rate_above_the_first_one_of_its_link() {
    let law = "{ pi = { target = \"20 packets\" } }";
    let reserved = format!("{{ classes = [\"g0\"], rate = \"2 Mbit/s\", law = {law} }}");
    let qdisc = format!("{{ drr = {{ by = \"class\", law = {law}, reserved = {reserved} }} }}");
    let changes = [
        (2, "rate", "\"16 Mbit/s\""),
        (4, "qdisc.reserved.rate", "\"10 Mbit/s\""),
        (20, "rate", "\"8 Mbit/s\""),
        (22, "qdisc.weights", "{ g1 = 0.5 }"),
    ];
    let changes = changes.map(|(time, key, value)| {
        format!("[[at]]\ntime = \"{time} s\"\nset = {{ \"bottleneck.{key}\" = {value} }}\n")
    });
    let groups = [(6, 40, ""), (6, 40, ""), (6, 40, &changes.concat()[..])];
    let series = &run(&scenario(8000, 600, &qdisc, &groups)).links[0].series;
    let goodput = |class: usize, at: f64| {
        let place = series.time_s.iter().position(|time| *time >= at).unwrap();
        series.goodput_bps[class].1[place]
    };
    near(goodput(0, 19.5), 10e6 * 0.96, 0.02);
    near(goodput(2, 39.0) / goodput(1, 39.0), 2.0, 0.02);
}

/// A shaper that falls below the reserved rate serves as much as it may, and no more.
#[test]
fn a_shaper_may_fall_below_the_reserved_rate() {
    let law = "{ pi = { target = \"20 packets\" } }";
    let reserved = format!("{{ classes = [\"g0\"], rate = \"4 Mbit/s\", law = {law} }}");
    let inner = format!("{{ drr = {{ by = \"class\", law = {law}, reserved = {reserved} }} }}");
    let qdisc = format!("{{ shaper = {{ rate = \"8 Mbit/s\", qdisc = {inner} }} }}");
    let change = "[[at]]\ntime = \"10 s\"\nset = { \"bottleneck.qdisc.rate\" = \"3 Mbit/s\" }\n";
    let series = &run(&scenario(20_000, 600, &qdisc, &[(6, 40, ""), (6, 40, change)])).links[0].series;
    let goodput: f64 = series.goodput_bps.iter().map(|(_, values)| values.last().unwrap()).sum();
    near(goodput, 3e6 * 0.96, 0.01);
}

/// A run carries out every change that the check of a schedule accepts.
#[test]
fn every_accepted_schedule_runs() {
    let accepted: Vec<Scenario> = (0..200).filter_map(schedules::accepted).collect();
    assert!((60..140).contains(&accepted.len()), "{} of 200 are accepted", accepted.len());
    for scenario in &accepted {
        run(scenario);
    }
}

/// A class may have the name of the reserved queue: the packet plant has its number added, and so has the fluid.
#[test]
fn queues_have_the_names_that_they_have_in_the_packet_plant() {
    let qdisc = "{ drr = { by = \"class\", law = \"pi\", reserved = { classes = [\"g0\"], rate = \"2 Mbit/s\", law = \"pi\" } } }";
    let text = |scenario: &Scenario| -> Vec<String> {
        run(scenario).links[0].queues.iter().map(|queue| queue.name.clone()).collect()
    };
    let mut scenario = scenario(6000, 300, qdisc, &[(2, 40, ""), (2, 40, "")]);
    scenario.flows[1].name = "reserved".into();
    assert_eq!(text(&scenario), ["reserved", "reserved_1"]);
}

#[test]
fn what_has_no_fluid_says_what_and_why() {
    let refused = |qdisc: &str| {
        let errors = sojourn_fluid::errors(&scenario(6000, 300, qdisc, &[(6, 40, "")]), false);
        assert!(errors.len() < 2, "{errors:?}");
        errors.first().map(InputError::to_string).unwrap_or_default()
    };
    for (qdisc, expected) in [
        ("\"dual\"", "dual has no fluid model"),
        ("\"cake\"", "cake has no fluid model"),
        ("\"prio\"", "prio has no fluid model"),
        ("{ drr = { by = \"dscp\" } }", "a queue for each dscp has no fluid model"),
        ("{ drr = { law = \"cobalt\" } }", "\"cobalt\", which judges packets, has no fluid model"),
        ("{ drr = { ce_threshold = \"5 ms\" } }", "a mark above a sojourn time has no fluid model"),
        ("{ shaper = { rate = \"5 Mbit/s\", qdisc = \"prio\" } }", "prio has no fluid model"),
    ] {
        let found = refused(qdisc);
        assert!(found.contains(expected), "{qdisc}: {found}");
    }
    assert_eq!(refused("\"fq_codel\""), "");
}

fn proven(scenario: &Scenario) -> Certificate {
    certificate(&Request { scenario, link: None, own: None }).unwrap()
}

/// Margins of the loop of the verdict: frequency and phase margin, gain, delay, distance from -1.
fn margins(of: &Certificate) -> [f64; 5] {
    let margins = of.judged().unwrap().margins.as_ref().unwrap();
    let phase = margins.phase().unwrap();
    [
        phase.frequency,
        phase.phase_margin,
        margins.gain_up().unwrap(),
        margins.delay().unwrap(),
        margins.modulus.distance,
    ]
}

#[test]
fn the_certificate_of_equal_classes_is_that_of_a_link_of_their_share() {
    let law = "{ pi = { target = \"20 packets\" } }";
    let one = proven(&scenario(2000, 600, law, &[(4, 40, "")]));
    let by_class = format!("{{ drr = {{ by = \"class\", law = {law} }} }}");
    let all = proven(&scenario(6000, 600, &by_class, &[(4, 40, ""), (4, 40, ""), (4, 40, "")]));
    assert_eq!((one.verdict.clone(), all.verdict.clone()), (Verdict::Stable, Verdict::Stable));
    assert_eq!(all.queues.len(), 3);
    for queue in &all.queues {
        assert_eq!(margins(&queue.certificate), margins(&one), "to the last bit");
    }
    assert_eq!(margins(&all), margins(&one));
    // A queue for each of twelve flows: a link of a twelfth and one flow.
    let one = proven(&scenario(500, 600, law, &[(1, 40, "")]));
    let by_flow = format!("{{ wfq = {{ law = {law} }} }}");
    let all = proven(&scenario(6000, 600, &by_flow, &[(12, 40, "")]));
    assert_eq!((all.queues[0].queues, all.queues[0].capacity), (12.0, 62.5));
    assert_eq!(margins(&all), margins(&one));
}

#[test]
fn each_class_is_judged_at_its_share_and_the_link_is_stable_if_all_are() {
    // PI of fixed gains: stable at the small share, and not at one of four times the rate and round trip.
    let qdisc = "{ drr = { by = \"class\", weights = { g0 = 4 }, law = { pi = { target = \"40 packets\", a = 4e-4, b = 3.97e-4 } } } }";
    let both = proven(&scenario(20_000, 2000, qdisc, &[(40, 80, ""), (4, 10, "")]));
    let of: Vec<_> =
        both.queues.iter().map(|queue| (queue.capacity, queue.certificate.verdict.clone())).collect();
    assert_eq!(of, [(2000.0, Verdict::Unstable), (500.0, Verdict::Stable)]);
    assert_eq!(both.verdict, Verdict::Unstable);
    // The fluid agrees: the backlog of the one oscillates, that of the other one does not.
    let found = run(&scenario(20_000, 2000, qdisc, &[(40, 80, ""), (4, 10, "")]));
    let sd = value(&found.links[0].all.metrics, "queue_std_packets");
    assert!(sd > 20.0, "{sd}");
    let calm = proven(&scenario(
        5000,
        2000,
        &qdisc.replace("weights = { g0 = 4 }, ", ""),
        &[(4, 10, ""), (4, 10, "")],
    ));
    assert_eq!(calm.verdict, Verdict::Stable);
}

/// Two classes under the qdisc of [`TWO`], at equilibrium after 200 s.
fn settled() -> World {
    let context = LinkContext {
        rate: Rate::from_bits_per_second(40e6),
        packet: 1000.0,
        limit: 2000.0,
        flows: Some(90.0),
        base_rtt: Some(Span::from_micros(173_333)),
    };
    let qdisc = QdiscSpec::parse(TWO).unwrap();
    let qdisc = qdisc.at(&Place { context, classes: &["g0", "g1"].map(FlowClass::of_one_flow) }).unwrap();
    let law = qdisc.shares().unwrap().laws.swap_remove(0);
    let class = |(queue, (flows, base_rtt)): (usize, &(f64, f64))| Class {
        sender: Sender::Tcp(Window::Mgt, f64::INFINITY),
        flows: Ramp::constant(*flows),
        base_rtt: *base_rtt,
        route: vec![queue],
        back: Vec::new(),
        acks: 0.0,
        packet: 1000.0,
        ecn: true,
        loss: 0.0,
    };
    let share = |(queue, weight)| QueueShare { queue, flows_of: None, weight, is_reserved: false };
    let shared = SharedLink::new(5000.0, 2000.0, vec![share((0, 3.0)), share((1, 1.0))]);
    let links = vec![Link::new(0.0, f64::INFINITY, 1000.0); 2];
    let classes = [(60.0, 0.2), (30.0, 0.12)].iter().enumerate().map(class).collect();
    let drivers = (0..2).map(|queue| LawDriver::of_a_queue(queue, &law).unwrap()).collect();
    let mut world = World::new(Plant::with_shared(classes, links, vec![shared]), drivers, 0.00625);
    world.run_until(Time::ZERO + Span::from_seconds(200.0));
    world
}

const TWO: &str = "drr:by=class,law=pi,law.target=100 packets,weights.g0=3";

/// Largest deviations of both queues over the second and the last of seven intervals of 4 s after a perturbation of one.
fn deviations(mut world: World, queue: usize, gain: f64) -> [[f64; 2]; 2] {
    let about = world.plant().links()[queue].p();
    world.drivers()[queue].actuator = Some(Actuator { gain, about });
    let start = [world.backlog(0), world.backlog(1)];
    let place = world.plant().backlog(queue);
    world.change(|_, y| y[place] += 1e-3);
    let mut peaks = Vec::new();
    for _ in 0..7 {
        let mut peak = [0.0_f64; 2];
        for _ in 0..640 {
            world.run_until(world.now() + Span::from_micros(6_250));
            for (queue, peak) in peak.iter_mut().enumerate() {
                *peak = peak.max((world.backlog(queue) - start[queue]).abs());
            }
        }
        peaks.push(peak);
    }
    [peaks[1], peaks[6]]
}

/// The plant itself against the linearised loop of each class: the response to a perturbation of one queue decays just
/// below its gain margin and grows just above, and the other queue has none.
#[test]
fn oscillations_of_a_queue_begin_at_its_own_gain_margin() {
    let groups = [(60, 50, ""), (30, 30, "")];
    let qdisc = format!("\"{TWO}\"");
    let found = proven(&scenario(40_000, 2000, &qdisc, &groups));
    let world = settled();
    for (queue, of) in found.queues.iter().enumerate() {
        near(of.capacity, [3750.0, 1250.0][queue], 1e-12);
        let [_, _, margin, ..] = margins(&of.certificate);
        for (gain, grows) in [(0.97, false), (1.03, true)] {
            let [first, last] = deviations(world.clone(), queue, gain * margin);
            assert_eq!(last[queue] > first[queue], grows, "{queue} at {gain} {margin}: {first:?} {last:?}");
            assert!(first[1 - queue] < 1e-7 && last[1 - queue] < 1e-7, "{queue}: {first:?} {last:?}");
        }
    }
}

#[test]
fn a_class_below_its_share_has_no_loop_and_leaves_its_rate() {
    let slow = "access = { rate = \"400 kbit/s\", delay = \"40 ms\" }";
    let mut text = String::new();
    text += "[[flows]]\nname = \"slow\"\ncount = 2\ncc = \"newreno\"\necn = true\nsegment = \"1000 B\"\n";
    text += slow;
    let law = "{ pi = { target = \"20 packets\" } }";
    let found = proven(&scenario(6000, 600, &format!("{{ drr = {{ law = {law} }} }}"), &[(4, 40, &text)]));
    assert_eq!(found.queues.len(), 1);
    // 750 less 2 times 50 packets/s, in four.
    near(found.queues[0].capacity, (750.0 - 100.0) / 4.0, 1e-12);
    assert!(
        found.assumptions.iter().any(|one| one.contains("slow (100 packets/s)")),
        "{:?}",
        found.assumptions
    );
}

#[test]
fn a_reserved_queue_is_judged_at_its_rate() {
    let law = "{ pi = { target = \"20 packets\" } }";
    let reserved = format!("{{ classes = [\"g0\"], rate = \"2 Mbit/s\", law = {law} }}");
    let qdisc = format!("{{ wfq = {{ law = {law}, reserved = {reserved} }} }}");
    let found = proven(&scenario(8000, 600, &qdisc, &[(4, 40, ""), (6, 40, "")]));
    let shares: Vec<_> = found.queues.iter().map(|queue| (queue.queues, queue.capacity)).collect();
    assert_eq!(shares, [(1.0, 250.0), (6.0, 125.0)]);
    let run = run(&scenario(8000, 600, &qdisc, &[(4, 40, ""), (6, 40, "")]));
    let goodput = |class: usize| value(&run.links[0].classes[class].1.metrics, "goodput_bps");
    near(goodput(0), 2e6 * 0.96, 1e-3);
    near(goodput(1), 6e6 * 0.96, 1e-3);
}

#[test]
fn the_queues_together_must_fit_into_the_buffer() {
    let refused = |buffer: u32, keys: &str| {
        let qdisc = format!("{{ drr = {{ {keys} law = {{ pi = {{ target = \"20 packets\" }} }} }} }}");
        let scenario = scenario(6000, buffer, &qdisc, &[(12, 40, "")]);
        certificate(&Request { scenario: &scenario, link: None, own: None })
            .err()
            .map(|error| error.to_string())
    };
    assert_eq!(refused(241, ""), None);
    for (buffer, keys) in [(240, ""), (1000, "limit = 240,"), (1000, "memory = \"240 kB\",")] {
        let error = refused(buffer, keys).unwrap();
        let expected = "together would be 240.0000 packets; expected less than the buffer of 240 packets";
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_law_without_a_linear_model_is_not_proven_as_for_one_queue() {
    let found = proven(&scenario(6000, 600, "\"fq_codel\"", &[(4, 40, "")]));
    let Verdict::NotProven(reason) = &found.verdict else { panic!("{:?}", found.verdict) };
    assert!(reason.starts_with("no model: codel"), "{reason}");
}
