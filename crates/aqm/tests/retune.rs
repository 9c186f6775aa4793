//! Other parameters for a law at work: what is new, and what it keeps.

use sojourn_aqm::laws::{fb_ocq, pi, pid};
use sojourn_aqm::{
    Arrival, Backlog, Controller, Departure, FlowId, Gauges, Law, Observation, Site, Verdict, catalogue,
};
use sojourn_units::param::Described;
use sojourn_units::{Ecn, Rate, Span, Time, Value};

/// 100 flows on 1250 packets/s with 0.2 s without queueing.
fn site() -> Site {
    let rate = Rate::from_bits_per_second(1250.0 * 8000.0);
    let base_rtt = Some(Span::from_millis(200));
    Site { rate, packet: 1000.0, limit: 300.0, flows: Some(100.0), base_rtt }
}

fn given(params: &[(&str, &str)]) -> Vec<(String, Value)> {
    let value = |text: &str| match (text.parse(), text.parse()) {
        (Ok(whole), _) => Value::Whole(whole),
        (_, Ok(number)) => Value::Number(number),
        _ if ["true", "false"].contains(&text) => Value::Flag(text == "true"),
        _ => Value::Text(text.into()),
    };
    params.iter().map(|(key, text)| ((*key).into(), value(text))).collect()
}

fn built(stem: &str, params: &[(&str, &str)]) -> Box<dyn Law> {
    (catalogue::law(stem).unwrap().build)(&given(params), &site()).unwrap()
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

/// Equation (1) of PI about the new target, for the old backlog too: a step of the integral part and no more.
#[test]
fn a_new_target_is_no_jump_of_the_queue() {
    let mut law = pi::Pi::new(
        &Described::from_values(&given(&[("target", "100 packets"), ("a", "0.002"), ("b", "0.0015")]))
            .unwrap(),
        &site(),
    )
    .unwrap();
    for _ in 0..3 {
        law.update(&seen(120.0, 0.006_25));
    }
    let before = law.update(&seen(120.0, 0.006_25)).get();
    law.retune(&given(&[("target", "80 packets"), ("a", "0.002"), ("b", "0.0015")]), &site()).unwrap();
    let after = law.update(&seen(120.0, 0.006_25)).get();
    assert!((after - before - 0.0005 * 40.0).abs() < 1e-15, "{before} {after}");
    // The two forms of PID are the same, here too.
    let form = |form: &'static str| {
        let params = |target| {
            [
                ("form", form),
                ("kp", "2e-4"),
                ("ki", "4e-4"),
                ("kd", "1e-5"),
                ("rate", "20 Hz"),
                ("target", target),
            ]
        };
        let mut law =
            pid::Pid::new(&Described::from_values(&given(&params("100 packets"))).unwrap(), &site()).unwrap();
        let mut all: Vec<f64> =
            (0..30).map(|k| law.update(&seen(f64::from(120 + k % 7), 0.05)).get()).collect();
        law.retune(&given(&params("70 packets")), &site()).unwrap();
        all.extend((0..30).map(|k| law.update(&seen(f64::from(120 - k), 0.05)).get()));
        all
    };
    for (position, velocity) in form("position").into_iter().zip(form("velocity")) {
        assert!((position - velocity).abs() < 1e-12, "{position} {velocity}");
    }
}

// ---- What is kept ---------------------------------------------------------------------------------------

#[test]
fn red_keeps_its_average_under_other_thresholds() {
    let first = [("min", "50 packets"), ("max", "150 packets"), ("weight", "0.1")];
    let mut law = built("red", &first);
    (1..200).for_each(|k| _ = law.on_arrival(&arrival(at(k), 100, 0, 0.999)));
    let average = gauge(law.as_ref(), "average");
    assert!((average - 100.0).abs() < 1e-6);
    let set = [("min", "120 packets"), ("max", "200 packets"), ("weight", "0.1")];
    law.retune(at(200), &given(&set), &site()).unwrap();
    assert_eq!(gauge(law.as_ref(), "average"), average);
    assert_eq!(law.on_arrival(&arrival(at(200), 100, 0, 0.0)), Verdict::Pass, "below min");
    let refused = law.retune(at(201), &given(&[("min", "400 packets"), ("max", "90 packets")]), &site());
    assert_eq!(refused.unwrap_err().key, "min");
    assert_eq!(law.on_arrival(&arrival(at(201), 100, 0, 0.0)), Verdict::Pass, "as it was");
    // (3) about the old average, with nothing learnt anew: 0.9 at 198 of 20 to 220 packets.
    let set = [("min", "10 packets"), ("max", "110 packets"), ("weight", "0.1"), ("max_p", "0.9")];
    law.retune(at(202), &given(&set), &site()).unwrap();
    law.on_arrival(&arrival(at(202), 100, 0, 0.0));
    let average = gauge(law.as_ref(), "average");
    assert!((gauge(law.as_ref(), "p") - 0.9 * (average - 10.0) / 100.0).abs() < 1e-12);
}

#[test]
fn adaptive_red_keeps_the_max_p_that_it_has_learnt() {
    let mut law = built("ared", &[("target", "40 packets"), ("weight", "0.1")]);
    for k in 1..3000 {
        if let Some(due) = law.next_update().filter(|due| *due <= at(k)) {
            law.on_update(due, &Observation { now: due, ..Observation::default() });
        }
        law.on_arrival(&arrival(at(k), 60, 0, 0.999));
    }
    let learnt = gauge(law.as_ref(), "max_p");
    assert!(learnt > 0.13, "{learnt}");
    law.retune(
        at(3000),
        &given(&[("target", "80 packets"), ("interval", "100 ms"), ("weight", "0.1")]),
        &site(),
    )
    .unwrap();
    assert_eq!((gauge(law.as_ref(), "max_p"), law.target_packets()), (learnt, Some(80.0)));
    // The last step was at 2.5 s: another 100 ms later is past.
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
    law.retune(at(4000), &given(&[("target", "20 ms")]), &site()).unwrap();
    assert_eq!((gauge(law.as_ref(), "count"), gauge(law.as_ref(), "dropping")), (count, 1.0));
    // Above the delay of all packets: it leaves the state with the next one.
    law.retune(at(4000), &given(&[("target", "31 ms")]), &site()).unwrap();
    depart(law.as_mut(), 4000);
    assert_eq!(gauge(law.as_ref(), "dropping"), 0.0);
}

#[test]
fn sreds_list_is_cut_or_filled_up() {
    let mut law = built("sred", &[("zombies", "100"), ("weight", "0.05")]);
    let tell = |law: &mut dyn Law, packets: u32| {
        for k in 0..packets {
            law.on_arrival(&arrival(at(1), 0, k % 4, 0.507));
        }
    };
    tell(law.as_mut(), 1000);
    let flows = gauge(law.as_ref(), "flows");
    law.retune(at(2), &given(&[("zombies", "50"), ("weight", "0.05")]), &site()).unwrap();
    assert_eq!(gauge(law.as_ref(), "flows"), flows);
    law.retune(at(2), &given(&[("zombies", "200"), ("weight", "0.05")]), &site()).unwrap();
    // While the list fills up, nothing is compared.
    tell(law.as_mut(), 150);
    assert_eq!(gauge(law.as_ref(), "flows"), flows);
    tell(law.as_mut(), 1);
    assert_ne!(gauge(law.as_ref(), "flows"), flows);
}

#[test]
fn what_fb_ocq_and_avq_have_measured_stays() {
    let mut law = fb_ocq::FbOcq::law(&Described::from_values(&[]).unwrap(), &site()).unwrap();
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
    law.retune(at(3000), &given(&[("target", "80 packets"), ("t_c", "300 ms")]), &site()).unwrap();
    assert_eq!((gauge(&law, "offered"), law.target_packets()), (offered, Some(80.0)));

    let mut law = built("avq", &[]);
    (1..2000).for_each(|k| _ = law.on_arrival(&arrival(at(k), 0, 0, 0.5)));
    let (rate, queue) = (gauge(law.as_ref(), "virtual_rate"), gauge(law.as_ref(), "virtual_queue"));
    law.retune(at(2000), &given(&[("gamma", "0.9"), ("alpha", "0.3")]), &site()).unwrap();
    assert_eq!((gauge(law.as_ref(), "virtual_rate"), gauge(law.as_ref(), "virtual_queue")), (rate, queue));
}

// ---- When it acts ---------------------------------------------------------------------------------------

#[test]
fn another_period_is_counted_from_the_last_update() {
    for (stem, key) in [("pie", "period"), ("pi2", "period"), ("pi_pd", "period"), ("rem", "period")] {
        let mut law = built(stem, &[(key, "30 ms")]);
        law.on_update(at(30), &Observation { now: at(30), ..seen(10.0, 0.03) });
        let mut set = |now, period: &str| {
            law.retune(at(now), &given(&[(key, period)]), &site()).unwrap();
            law.next_update()
        };
        assert_eq!(set(35, "30 ms"), Some(at(60)), "{stem}");
        assert_eq!(set(35, "10 ms"), Some(at(40)), "{stem}");
        assert_eq!(set(39, "100 ms"), Some(at(130)), "{stem}");
        assert_eq!(set(50, "10 ms"), Some(at(50)), "{stem}: at once where it would have been before");
    }
}

#[test]
fn timed_steps_begin_when_they_are_asked_for() {
    let mut law = built("ared", &[("steps", "arrivals")]);
    assert_eq!(law.next_update(), None);
    law.retune(at(7000), &given(&[]), &site()).unwrap();
    assert_eq!(law.next_update(), Some(at(7000)));
    law.retune(at(7000), &given(&[("steps", "arrivals")]), &site()).unwrap();
    assert_eq!(law.next_update(), None);
}

/// Times are reckoned with the rate that the link has when they are set.
#[test]
fn a_target_in_time_is_of_the_present_rate() {
    let half = Site { rate: Rate::from_bits_per_second(625.0 * 8000.0), ..site() };
    for stem in ["pi", "codel", "pie"] {
        let mut law = built(stem, &[("target", "40 ms")]);
        assert_eq!(law.target_packets(), Some(50.0), "{stem}");
        law.on_link_change(at(10), half.rate);
        assert_eq!(law.target_packets(), Some(50.0), "{stem}");
        law.retune(at(20), &given(&[("target", "40 ms")]), &half).unwrap();
        assert_eq!(law.target_packets(), Some(25.0), "{stem}");
    }
}
