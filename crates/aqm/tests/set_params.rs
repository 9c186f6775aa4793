//! Changes of parameters during a run: their effect, and the state that is kept.

use sojourn_aqm::laws::{fb_ocq, pi, pid};
use sojourn_aqm::{
    Arrival, Backlog, Controller, Departure, FlowId, Gauges, Law, LawSpec, LinkContext, Observation, Verdict,
    catalogue,
};
use sojourn_params::{Given, Value};
use sojourn_units::{Ecn, Rate, Span, Time};

/// 100 flows on 1250 packets/s with a base RTT of 0.2 s.
fn context() -> LinkContext {
    let rate = Rate::from_bits_per_second(1250.0 * 8000.0);
    let base_rtt = Some(Span::from_millis(200));
    LinkContext { rate, packet: 1000.0, limit: 300.0, flows: Some(100.0), base_rtt }
}

fn given(stem: &str, params: &[(&str, &str)]) -> Given {
    let value = |text: &str| match (text.parse(), text.parse()) {
        (Ok(whole), _) => Value::Whole(whole),
        (_, Ok(number)) => Value::Number(number),
        _ if ["true", "false"].contains(&text) => Value::Flag(text == "true"),
        _ => Value::Text(text.into()),
    };
    let params: Vec<_> = params.iter().map(|(key, text)| ((*key).into(), value(text))).collect();
    LawSpec::new(stem, &params).unwrap().given().clone()
}

fn built(stem: &str, params: &[(&str, &str)]) -> Box<dyn Law> {
    let given = given(stem, params);
    (catalogue::law(stem).unwrap().design)(given.params.as_ref(), &context()).unwrap().law()
}

fn gauge(law: &dyn Law, name: &'static str) -> f64 {
    struct One(&'static str, Option<f64>);
    impl Gauges for One {
        fn gauge(&mut self, name: &'static str, _unit: &'static str, value: f64) {
            if name == self.0 {
                self.1 = Some(value);
            }
        }
    }
    let mut one = One(name, None);
    law.gauges(&mut one);
    one.1.unwrap_or_else(|| panic!("no gauge {name}"))
}

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

fn arrival(now: Time, packets: u32, flow: u32, u: f64) -> Arrival {
    let backlog = Backlog { packets, bytes: u64::from(packets) * 1000 };
    Arrival { now, len: 1000, ecn: Ecn::NotEct, flow: FlowId(flow), backlog, victim: None, u: [u, u] }
}

fn seen(backlog_packets: f64, elapsed: f64) -> Observation {
    Observation { backlog_packets, elapsed, ..Observation::default() }
}

// ---- A new target ---------------------------------------------------------------------------------------

/// Equation (1) of PI relative to the new target, also for the old backlog: a step of the integral part alone.
#[test]
fn a_new_target_is_no_step_of_the_backlog() {
    let params = |target| given("pi", &[("target", target), ("a", "0.002"), ("b", "0.0015")]);
    let mut law = pi::Pi::new(params("100 packets").params.of().unwrap(), &context()).unwrap();
    for _ in 0..3 {
        law.update(&seen(120.0, 0.006_25));
    }
    let before = law.update(&seen(120.0, 0.006_25)).get();
    law.set_params(&params("80 packets"), &context()).unwrap();
    let after = law.update(&seen(120.0, 0.006_25)).get();
    assert!((after - before - 0.0005 * 40.0).abs() < 1e-15, "{before} {after}");
    // Both forms of PID are equal here, too.
    let form = |form: &'static str| {
        let params = |target| {
            let gains = [("kp", "2e-4"), ("ki", "4e-4"), ("kd", "1e-5")];
            given("pid", &[&gains[..], &[("form", form), ("rate", "20 Hz"), ("target", target)]].concat())
        };
        let mut law = pid::Pid::new(params("100 packets").params.of().unwrap(), &context()).unwrap();
        let mut all: Vec<f64> =
            (0..30).map(|k| law.update(&seen(f64::from(120 + k % 7), 0.05)).get()).collect();
        law.set_params(&params("70 packets"), &context()).unwrap();
        all.extend((0..30).map(|k| law.update(&seen(f64::from(120 - k), 0.05)).get()));
        all
    };
    for (position, velocity) in form("position").into_iter().zip(form("velocity")) {
        assert!((position - velocity).abs() < 1e-12, "{position} {velocity}");
    }
}

// ---- Kept state -----------------------------------------------------------------------------------------

#[test]
fn red_keeps_its_average_under_other_thresholds() {
    let first = [("min", "50 packets"), ("max", "150 packets"), ("weight", "0.1")];
    let mut law = built("red", &first);
    (1..200).for_each(|k| _ = law.on_arrival(&arrival(at(k), 100, 0, 0.999)));
    let average = gauge(law.as_ref(), "average");
    assert!((average - 100.0).abs() < 1e-6);
    let set = [("min", "120 packets"), ("max", "200 packets"), ("weight", "0.1")];
    law.set_params(at(200), &given("red", &set), &context()).unwrap();
    assert_eq!(gauge(law.as_ref(), "average"), average);
    assert_eq!(law.on_arrival(&arrival(at(200), 100, 0, 0.0)), Verdict::Pass, "below min");
    let refused =
        law.set_params(at(201), &given("red", &[("min", "400 packets"), ("max", "90 packets")]), &context());
    assert_eq!(refused.unwrap_err().key, "min");
    assert_eq!(law.on_arrival(&arrival(at(201), 100, 0, 0.0)), Verdict::Pass, "as it was");
    // (3) at the old average: 0.9 at 198 of 20 to 220 packets.
    let set = [("min", "10 packets"), ("max", "110 packets"), ("weight", "0.1"), ("max_p", "0.9")];
    law.set_params(at(202), &given("red", &set), &context()).unwrap();
    law.on_arrival(&arrival(at(202), 100, 0, 0.0));
    let average = gauge(law.as_ref(), "average");
    assert!((gauge(law.as_ref(), "p") - 0.9 * (average - 10.0) / 100.0).abs() < 1e-12);
}

#[test]
fn adaptive_red_keeps_its_adapted_max_p() {
    let mut law = built("ared", &[("target", "40 packets"), ("weight", "0.1")]);
    for k in 1..3000 {
        if let Some(due) = law.next_update().filter(|due| *due <= at(k)) {
            law.on_update(due, &Observation { now: due, ..Observation::default() });
        }
        law.on_arrival(&arrival(at(k), 60, 0, 0.999));
    }
    let adapted = gauge(law.as_ref(), "max_p");
    assert!(adapted > 0.13, "{adapted}");
    law.set_params(
        at(3000),
        &given("ared", &[("target", "80 packets"), ("interval", "100 ms"), ("weight", "0.1")]),
        &context(),
    )
    .unwrap();
    assert_eq!((gauge(law.as_ref(), "max_p"), law.analysis().target_packets()), (adapted, Some(80.0)));
    // The last step was at 2.5 s: 100 ms later is in the past.
    assert_eq!(law.next_update(), Some(at(3000)));
}

#[test]
fn codel_stays_in_its_drop_state() {
    let depart = |law: &mut dyn Law, millis| {
        let backlog = Backlog { packets: 50, bytes: 50_000 };
        let (len, ecn, flow, sojourn) = (1000, Ecn::NotEct, FlowId(0), Span::from_millis(30));
        law.on_departure(&Departure { now: at(millis), len, ecn, flow, sojourn, backlog, u: [0.5; 2] })
    };
    let mut law = built("codel", &[]);
    (0..400).for_each(|k| _ = depart(law.as_mut(), 10 * k));
    let count = gauge(law.as_ref(), "count");
    assert!(count > 10.0 && gauge(law.as_ref(), "dropping") == 1.0);
    law.set_params(at(4000), &given("codel", &[("target", "20 ms")]), &context()).unwrap();
    assert_eq!((gauge(law.as_ref(), "count"), gauge(law.as_ref(), "dropping")), (count, 1.0));
    // Above the delay of all packets: the next one ends the state.
    law.set_params(at(4000), &given("codel", &[("target", "31 ms")]), &context()).unwrap();
    depart(law.as_mut(), 4000);
    assert_eq!(gauge(law.as_ref(), "dropping"), 0.0);
}

#[test]
fn the_list_of_sred_is_truncated_or_filled() {
    let mut law = built("sred", &[("zombies", "100"), ("weight", "0.05")]);
    let arrive = |law: &mut dyn Law, packets: u32| {
        for k in 0..packets {
            law.on_arrival(&arrival(at(1), 0, k % 4, 0.507));
        }
    };
    arrive(law.as_mut(), 1000);
    let flows = gauge(law.as_ref(), "flows");
    law.set_params(at(2), &given("sred", &[("zombies", "50"), ("weight", "0.05")]), &context()).unwrap();
    assert_eq!(gauge(law.as_ref(), "flows"), flows);
    law.set_params(at(2), &given("sred", &[("zombies", "200"), ("weight", "0.05")]), &context()).unwrap();
    // No comparisons while the list fills up.
    arrive(law.as_mut(), 150);
    assert_eq!(gauge(law.as_ref(), "flows"), flows);
    arrive(law.as_mut(), 1);
    assert_ne!(gauge(law.as_ref(), "flows"), flows);
}

#[test]
fn fb_ocq_and_avq_keep_their_measurements() {
    let load = Some(fb_ocq::LoadMeasure::Virtual);
    let params = fb_ocq::Params { load, ..fb_ocq::Params::default() };
    let mut law = fb_ocq::FbOcq::law(&params, &context()).unwrap();
    for _ in 0..300 {
        let due = law.next_update().unwrap();
        let counts = Observation {
            arrived_packets: 15.0,
            departed_packets: 12.5,
            departed_bytes: 12_500.0,
            ..seen(60.0, 0.01)
        };
        law.on_update(due, &Observation { now: due, ..counts });
    }
    let offered = gauge(&law, "offered");
    assert!(offered > 1300.0, "{offered}");
    law.set_params(
        at(3000),
        &given("fb_ocq", &[("target", "80 packets"), ("t_c", "300 ms"), ("load", "virtual")]),
        &context(),
    )
    .unwrap();
    assert_eq!((gauge(&law, "offered"), law.analysis().target_packets()), (offered, Some(80.0)));

    let mut law = built("avq", &[]);
    (1..2000).for_each(|k| _ = law.on_arrival(&arrival(at(k), 0, 0, 0.5)));
    let (rate, queue) = (gauge(law.as_ref(), "virtual_rate"), gauge(law.as_ref(), "virtual_queue"));
    law.set_params(at(2000), &given("avq", &[("gamma", "0.9"), ("alpha", "0.3")]), &context()).unwrap();
    assert_eq!((gauge(law.as_ref(), "virtual_rate"), gauge(law.as_ref(), "virtual_queue")), (rate, queue));
}

/// 40 flows fill the link, 20 % of their packets are dropped: p goes on from there under any measure of the load.
#[test]
fn fb_ocq_keeps_its_load_under_another_measure_of_it() {
    let counts = Observation {
        arrived_packets: 15.625,
        departed_packets: 12.5,
        departed_bytes: 12_500.0,
        dropped_packets: 3.125,
        busy: 0.01,
        ..seen(40.0, 0.01)
    };
    let measures = ["integral", "virtual", "offered"];
    for (from, to) in measures.iter().flat_map(|from| measures.map(|to| (*from, to))) {
        let of = |load: &str| given("fb_ocq", &[("load", load), ("target", "40 packets")]);
        let mut law = fb_ocq::FbOcq::new(of(from).params.of().unwrap(), &context()).unwrap();
        // The integral's p_w rises above the target, and is then held there.
        let rises = Observation { backlog_packets: 60.0, ..counts };
        (0..3000)
            .take_while(|_| law.update(if from == "integral" { &rises } else { &counts }).get() < 0.2)
            .count();
        let before = law.update(&counts).get();
        assert!((0.15..0.25).contains(&before), "{from}: {before}");
        law.set_params(&of(to), &context()).unwrap();
        let after = law.update(&counts).get();
        assert!((after - before).abs() < 0.03, "{from} to {to}: {before}, then {after}");
    }
}

/// Its plan and the periods ahead included: the same p from then on, and another number of cells is a fresh plan.
#[test]
fn the_receding_form_keeps_its_plan() {
    let of = |keys: &[(&str, &str)]| given("fb_ocq", &[&[("form", "receding")], keys].concat());
    let update = |law: &mut dyn Law, k: u32| {
        let due = law.next_update().unwrap();
        let counts = Observation {
            arrived_packets: 13.0,
            departed_packets: 12.5,
            departed_bytes: 12_500.0,
            dropped_packets: f64::from(k % 3),
            busy: 0.01,
            ..seen(f64::from(30 + k * 7 % 23), 0.01)
        };
        law.on_update(due, &Observation { now: due, ..counts });
        law.probability().unwrap().get()
    };
    let [mut law, mut other] = [(); 2].map(|()| built("fb_ocq", &[("form", "receding")]));
    for law in [&mut law, &mut other] {
        (0..100).for_each(|k| _ = update(law.as_mut(), k));
    }
    law.set_params(at(1000), &of(&[]), &context()).unwrap();
    (100..150).for_each(|k| assert_eq!(update(law.as_mut(), k), update(other.as_mut(), k)));
    law.set_params(at(1500), &of(&[("horizon", "100 ms"), ("iterations", "0")]), &context()).unwrap();
    let before = gauge(law.as_ref(), "fallbacks");
    update(law.as_mut(), 150);
    assert_eq!(gauge(law.as_ref(), "fallbacks"), before + 1.0);
}

// ---- Timing ---------------------------------------------------------------------------------------------

#[test]
fn another_period_is_counted_from_the_last_update() {
    for (stem, key) in [("pie", "period"), ("pi2", "period"), ("pi_pd", "period"), ("rem", "period")] {
        let mut law = built(stem, &[(key, "30 ms")]);
        law.on_update(at(30), &Observation { now: at(30), ..seen(10.0, 0.03) });
        let mut set = |now, period: &str| {
            law.set_params(at(now), &given(stem, &[(key, period)]), &context()).unwrap();
            law.next_update()
        };
        assert_eq!(set(35, "30 ms"), Some(at(60)), "{stem}");
        assert_eq!(set(35, "10 ms"), Some(at(40)), "{stem}");
        assert_eq!(set(39, "100 ms"), Some(at(130)), "{stem}");
        assert_eq!(set(50, "10 ms"), Some(at(50)), "{stem}: at once, as the due time has passed");
    }
}

#[test]
fn timed_steps_begin_when_they_are_enabled() {
    let mut law = built("ared", &[("steps", "arrivals")]);
    assert_eq!(law.next_update(), None);
    law.set_params(at(7000), &given("ared", &[]), &context()).unwrap();
    assert_eq!(law.next_update(), Some(at(7000)));
    law.set_params(at(7000), &given("ared", &[("steps", "arrivals")]), &context()).unwrap();
    assert_eq!(law.next_update(), None);
}

/// Times are converted at the link rate of the change.
#[test]
fn a_target_in_seconds_is_converted_at_the_present_rate() {
    let half = LinkContext { rate: Rate::from_bits_per_second(625.0 * 8000.0), ..context() };
    for stem in ["pi", "codel", "pie"] {
        let mut law = built(stem, &[("target", "40 ms")]);
        assert_eq!(law.analysis().target_packets(), Some(50.0), "{stem}");
        law.on_link_change(at(10), half.rate);
        assert_eq!(law.analysis().target_packets(), Some(50.0), "{stem}");
        law.set_params(at(20), &given(stem, &[("target", "40 ms")]), &half).unwrap();
        assert_eq!(law.analysis().target_packets(), Some(25.0), "{stem}");
    }
}
