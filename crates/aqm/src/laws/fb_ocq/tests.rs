//! FB-OCQ by hand: its equations, its defaults, stopped links.

use super::defaults::{load_time, scheduled};
use super::*;

/// 1250 packets/s; the numbers below are for t_c = 0.2 s.
fn context() -> LinkContext {
    let rate = Rate::from_bits_per_second(1250.0 * 8000.0);
    LinkContext { rate, packet: 1000.0, limit: 100.0, flows: None, base_rtt: None }
}

fn built(change: impl Fn(&mut Params)) -> FbOcq {
    let load = Some(LoadMeasure::Virtual);
    let mut params = Params { t_c: Some(Span::from_millis(200)), load, ..Params::default() };
    change(&mut params);
    FbOcq::new(&params, &context()).unwrap()
}

/// A period of 10 ms with `arrived` packets and a busy link.
fn seen(backlog: f64, arrived: f64) -> Observation {
    Observation {
        elapsed: 0.01,
        backlog_packets: backlog,
        arrived_packets: arrived,
        departed_packets: 12.5,
        departed_bytes: 12500.0,
        busy: 0.01,
        ..Observation::default()
    }
}

/// Probability at a backlog under an offered load of 2000 packets/s.
fn p(controller: &mut FbOcq, backlog: f64) -> f64 {
    controller.state.offered = 2000.0;
    controller.update(&seen(backlog, 20.0)).get()
}

#[test]
fn equation_7_by_hand() {
    // g, u_s and psi put into the first form of (5): u = u* + 1250 - u_s is 1465.0501 packets/s at 10
    // packets, 1250 at the target and 1099.9669 at 90.
    let mut controller = built(|_| ());
    for (backlog, expected) in [(10.0, 0.2674749595671806), (40.0, 0.375), (90.0, 0.4500165676636839)] {
        assert!((p(&mut controller, backlog) - expected).abs() < 1e-12, "{backlog}");
    }
    // Target in one period: 1150.7259 packets/s at 41.
    let mut controller = built(|params| params.form = Form::Deadbeat);
    assert!((p(&mut controller, 41.0) - 0.42463704994192786).abs() < 1e-12);
    assert_eq!([p(&mut controller, 90.0), p(&mut controller, 0.0)], [1.0, 0.0]);
}

#[test]
fn equation_9_by_hand() {
    let mut controller = built(|params| params.form = Form::Profile);
    let at = [10.0, 20.0, 40.0, 60.0, 100.0].map(|backlog| p(&mut controller, backlog));
    let expected = [0.0, 0.0, 0.1 * 0.5_f64.sqrt(), 0.1, 0.1 * 2.0_f64.sqrt()];
    assert_eq!(at, expected);
    assert_eq!(controller.target_packets(), None, "its equilibrium depends on the load");
}

#[test]
fn equation_8_counts_marks_as_drops() {
    // A share of 0.375 of 20 packets is marked: w = 20 + 7.5 / 0.625 = 32 packets a period.
    let marked = Observation { marked_packets: 7.5, ..seen(40.0, 20.0) };
    let weight = 1.0 - math::exp(-0.01);
    for (load, count) in [(LoadMeasure::Virtual, 3200.0), (LoadMeasure::Offered, 2000.0)] {
        let mut controller = built(|params| params.load = Some(load));
        p(&mut controller, 40.0);
        controller.update(&marked);
        let expected = 2000.0 + weight * (count - 2000.0);
        assert!((controller.state.offered - expected).abs() < 1e-9, "{load:?}");
    }
}

#[test]
fn p_is_0_without_load_and_falls_at_once_after_an_excess() {
    let mut controller = built(|_| ());
    for _ in 0..10_000 {
        controller.update(&seen(100.0, 1e4));
    }
    let excess = controller.state.p;
    assert!(controller.update(&seen(0.0, 12.0)).get() < excess);
    let idle = Observation { elapsed: 60.0, ..Observation::default() };
    assert_eq!(controller.update(&idle), Prob::ZERO);
    assert_eq!(controller.update(&Observation { elapsed: 0.0, ..idle }), Prob::ZERO);
}

#[test]
fn a_is_1_unless_the_price_would_be_below_two_time_constants() {
    let half = |controller: &FbOcq| controller.problem().queue().half;
    assert_eq!(half(&built(|_| ())), 1.0);
    // 5 packets: R = 36/1250 s with a = 1; with the a of R = 0.4 s: (a + 5)^2 = 500 a.
    let short = built(|params| params.target = Some(Amount::Packets(5.0)));
    assert!((half(&short) - (490.0 - 240_000.0_f64.sqrt()) / 2.0).abs() < 1e-9, "{}", half(&short));
    assert!((short.problem().price() - 0.4).abs() < 1e-12);
    // Below 4 x / (2 t_c) packets/s every R is large enough.
    let mut slow = built(|_| ());
    slow.on_link_change(Rate::from_bits_per_second(8000.0));
    assert_eq!((half(&slow), slow.problem().price()), (1.0, 1681.0));
}

/// 40 packets and a = 1: R = 1.3448 s.
#[test]
fn a_t_c_that_is_given_is_the_one_that_runs() {
    for t_c in [500, 672, 673, 1000, 1300] {
        for load in [LoadMeasure::Virtual, LoadMeasure::Integral] {
            let mut law = built(|params| {
                params.t_c = Some(Span::from_millis(t_c));
                (params.a, params.load) = (Some(1.0), Some(load));
            });
            assert_eq!(law.time_constant(), Span::from_millis(t_c).seconds(), "{load:?}");
            // On a link ten times as fast R is a tenth, and t_c stays below it.
            law.on_link_change(Rate::from_bits_per_second(12_500.0 * 8000.0));
            let price = law.problem().price();
            assert!((price - 0.13448).abs() < 1e-12 && law.time_constant() < price, "{t_c}");
            assert!(law.penalty() > 0.0);
        }
    }
    // The default t_c of half a second is at most half of R: that is 0.13448 s with 12 500 packets/s.
    let mut law = built(|params| (params.t_c, params.a) = (None, Some(1.0)));
    assert_eq!(law.time_constant(), 0.5);
    law.on_link_change(Rate::from_bits_per_second(12_500.0 * 8000.0));
    assert_eq!(law.time_constant(), law.problem().price() / 2.0);
}

#[test]
fn the_service_rate_is_that_of_the_link_or_of_departures() {
    let half = Observation { departed_packets: 6.25, departed_bytes: 6250.0, ..seen(40.0, 20.0) };
    let small = Observation { departed_packets: 25.0, ..seen(40.0, 20.0) };
    let idle = Observation { busy: 0.005, departed_packets: 1.0, ..half };
    for (service, observed, expected) in [
        (Service::Link, half, 1250.0),
        (Service::Link, small, 2500.0),
        (Service::Measured, half, 625.0),
        (Service::Measured, idle, 1250.0),
    ] {
        let mut controller = built(|params| params.service = service);
        (0..2000).for_each(|_| _ = controller.update(&observed));
        assert!((controller.state.service.packets - expected).abs() < 1e-3, "{service:?}");
    }
}

#[test]
fn a_stopped_link_resumes_with_its_state() {
    for service in [Service::Link, Service::Measured] {
        let mut controller = built(|params| params.service = service);
        controller.on_link_change(Rate::ZERO);
        let still = Observation { departed_packets: 0.0, departed_bytes: 0.0, ..seen(40.0, 0.0) };
        (0..1000).for_each(|_| _ = controller.update(&still));
        assert_eq!(controller.state.service.packets, 1250.0);
        controller.on_link_change(Rate::from_bits_per_second(20e6));
        assert_eq!(controller.state.service.packets, 2500.0);
        controller.reset();
        assert_eq!(controller.state, controller.start);
    }
}

#[test]
fn a_short_round_trip_shortens_the_defaults() {
    // 1 Gbit/s with packets of 1500 B: t_c = 5 ms, T_s = 1 ms, tau_w = 10 ms.
    let rate = Rate::from_bits_per_second(1e9);
    let base_rtt = Some(Span::from_millis(1));
    let near = LinkContext { rate, packet: 1500.0, limit: 50.0, flows: None, base_rtt };
    let load = Some(LoadMeasure::Virtual);
    let params = Params { target: Some(Amount::Packets(10.0)), load, ..Params::default() };
    let times = |params: &Params, context: &LinkContext| {
        let built = FbOcq::new(params, context).unwrap();
        (built.t_c.least(), built.period.seconds(), built.tau_w.least())
    };
    assert_eq!(times(&params, &near), (0.005, 0.001, 0.01));
    let price = FbOcq::new(&params, &near).unwrap().problem().price();
    assert!((price - 0.01).abs() < 1e-12, "R = 2 t_c: {price}");
    // The shortest defaults.
    let nearer = LinkContext { base_rtt: Some(Span::from_micros(10)), ..near };
    assert_eq!(times(&params, &nearer), (0.001, 0.0002, 0.002));
    // Constant from 100 ms on, and for an unknown RTT.
    for base_rtt in [None, Some(Span::from_millis(100)), Some(Span::from_millis(200))] {
        assert_eq!(times(&params, &LinkContext { base_rtt, ..near }), (0.5, 0.01, 1.0));
    }
    let given = Params { t_c: Some(Span::from_millis(20)), ..params };
    assert_eq!(times(&given, &near), (0.02, 0.004, 0.01));
    // Deadbeat: half of the time in which the target is served, 120 us here, 60 us on a link of twice the rate.
    let deadbeat = Params { form: Form::Deadbeat, ..params };
    assert_eq!(times(&deadbeat, &LinkContext { packet: 3000.0, ..near }), (0.005, 0.00012, 0.01));
    assert_eq!(times(&deadbeat, &near), (0.005, 0.0001, 0.01));
    let slow = LinkContext { rate: Rate::from_bits_per_second(1e6), ..near };
    assert_eq!(times(&deadbeat, &slow), (0.005, 0.001, 0.01));
}

/// Admitting x_s / T_s, as from an empty queue by (3) alone, is less than the link serves.
#[test]
fn deadbeat_does_not_starve_a_link_that_serves_the_target_within_a_period() {
    let mut controller = built(|params| {
        (params.form, params.period) = (Form::Deadbeat, Some(Span::from_millis(100)));
    });
    assert_eq!(p(&mut controller, 0.0), 0.375, "u = mu");
    for backlog in [0.1, 1.0, 10.0, 39.0, 40.0] {
        assert!(p(&mut controller, backlog) < 0.375 + 1e-12, "{backlog}");
    }
    assert!(p(&mut controller, 50.0) > 0.4);
}

#[test]
fn a_known_round_trip_sets_the_average() {
    let time = |given, rtt: Option<u64>| load_time(given, rtt.map(Span::from_millis)).seconds();
    assert_eq!(time(None, None), 1.0);
    assert_eq!(time(None, Some(20)), 0.2);
    assert_eq!(time(None, Some(100)), 1.0);
    assert_eq!(time(None, Some(600)), 3.0);
    assert_eq!(time(Some(Span::from_millis(200)), Some(600)), 0.2);
    let least = |rtt| scheduled(&Params::default(), Some(Span::from_micros(rtt))).map(TimeConstant::least);
    for (rtt, expected) in [(100_000, [0.2, 0.3]), (250_000, [0.5, 0.75]), (1, [0.0004, 0.0006])] {
        assert!(least(rtt).iter().zip(expected).all(|(ours, other)| (ours - other).abs() < 1e-12), "{rtt}");
    }
}

/// R0 of the integral's tests, s: an unknown base RTT, and 40 packets at 1250/s.
const R0: f64 = 0.132;

#[test]
fn equation_15_by_hand() {
    let mut controller = FbOcq::new(&Params::default(), &context()).unwrap();
    let mut at = |p: f64| {
        controller.state.held = p;
        let k = 1.0 / controller.time_constant() - 1.0 / controller.problem().price();
        (k, controller.load_time())
    };
    let near = |(k, time): (f64, f64), (of, other): (f64, f64)| {
        assert!(
            (k / of - 1.0).abs() < 1e-12 && (time / other - 1.0).abs() < 1e-12,
            "{k} {time}, not {of} {other}"
        );
    };
    near(at(0.01), (0.02 / (0.99 * R0), R0 / 0.02_f64.sqrt()));
    near(at(0.0), (0.004 / (0.998 * R0), R0 / 0.004_f64.sqrt()));
    // Heavy loads: t_c = tau_w = 0.5 s, and R = 41^2 / 1250 s.
    near(at(0.3), (2.0 - 1250.0 / 1681.0, 0.5));
    let fixed = built(|params| params.load = None);
    assert_eq!((fixed.time_constant(), fixed.t_c), (0.2, TimeConstant::Fixed(0.2)));
}

#[test]
fn the_integral_is_of_the_error_alone_and_bounded() {
    let mut controller = built(|params| (params.load, params.tau_w) = (None, Some(Span::from_secs(1))));
    controller.state.held = 0.1;
    // k = 1/0.2 s - 1/R: 10 packets too many for 10 ms; the counts have no effect.
    let k = 5.0 - 1250.0 / 1681.0;
    let expected = 0.1 + (1.0 - math::exp(-0.01)) * 0.9 * k * 10.0 / 1250.0;
    controller.update(&seen(50.0, 77.0));
    assert!((controller.state.held - expected).abs() < 1e-12);
    // Below the target for as long, where p is 0, it returns: saturation does not move the mean.
    for backlog in [100.0, 0.0, 0.0, 60.0, 40.0] {
        controller.update(&seen(backlog, 0.0));
    }
    assert!((controller.state.held - expected).abs() < 1e-3, "{}", controller.state.held);
    (0..100_000).for_each(|_| _ = controller.update(&seen(100.0, 0.0)));
    assert_eq!(controller.state.held, MOST_TAKEN);
    (0..100_000).for_each(|_| _ = controller.update(&seen(0.0, 0.0)));
    assert_eq!((controller.state.held, controller.state.p), (0.0, 0.0));
}

#[test]
fn equation_14_bounds_a_peak() {
    let after = |backlog| {
        let mut controller = built(|params| params.load = None);
        controller.update(&seen(backlog, 0.0));
        controller.state.held
    };
    assert!(after(159.0) < after(160.0) && after(160.0) > 0.0);
    assert_eq!(after(1600.0), after(160.0), "four targets");
}

#[test]
fn it_does_not_signal_to_flows_that_do_not_fill_the_link() {
    let mut controller = built(|params| params.load = None);
    controller.state.held = 0.1;
    // From an idle link on, R0 ln 4 of full periods make 3/4: the nineteenth ends after 0.183 s.
    let mut full = |periods| (0..periods).map(|_| controller.update(&seen(50.0, 20.0)).get()).sum::<f64>();
    assert_eq!(full(18), 0.0);
    assert!(full(1) > 0.1);
    let gaps = Observation { busy: 0.007, ..seen(50.0, 20.0) };
    (0..100).for_each(|_| _ = controller.update(&gaps));
    assert_eq!(controller.state.p, 0.0);
    // Counts of a load below mu are p = 0 by themselves.
    let mut counts = built(|_| ());
    assert!(p(&mut counts, 40.0) > 0.0);
}

#[test]
fn a_stopped_link_does_not_move_the_integral() {
    let mut controller = built(|params| params.load = None);
    controller.update(&seen(100.0, 0.0));
    let before = controller.state.held;
    assert!(before > 0.0);
    controller.on_link_change(Rate::ZERO);
    controller.update(&seen(100.0, 0.0));
    assert_eq!(controller.state.held, before);
    // p_w is the flows' p: another rate does not change it, and w follows.
    controller.on_link_change(Rate::from_bits_per_second(20e6));
    assert_eq!((controller.state.held, controller.offered()), (before, 2500.0 / (1.0 - before)));
}

#[test]
fn the_integral_starts_at_the_p_of_the_expected_flows() {
    // W = 1250 R0 / 20 = 8.25 packets.
    let known = LinkContext { flows: Some(20.0), ..context() };
    let start = |context: LinkContext| FbOcq::new(&Params::default(), &context).unwrap().state.held;
    assert!((start(known) - 2.0 / (8.25 * 8.25)).abs() < 1e-12);
    assert_eq!(start(context()), 0.0);
    assert_eq!(start(LinkContext { flows: Some(1e6), ..known }), MOST_TAKEN);
}

#[test]
fn the_integral_is_for_forms_with_their_equilibrium_at_the_target() {
    let load = Some(LoadMeasure::Integral);
    for params in [
        Params { form: Form::Deadbeat, ..Params::default() },
        Params { form: Form::Profile, ..Params::default() },
        Params { bias: false, ..Params::default() },
    ] {
        assert!(FbOcq::new(&Params { load, ..params.clone() }, &context()).is_err());
        assert_eq!(FbOcq::new(&params, &context()).unwrap().load, LoadMeasure::Virtual);
    }
}

/// The receding form on a base RTT of 100 ms, changed.
fn receding(change: impl Fn(&mut Params)) -> FbOcq {
    let mut params = Params { form: Form::Receding, ..Params::default() };
    change(&mut params);
    FbOcq::new(
        &params,
        &LinkContext { base_rtt: Some(Span::from_millis(100)), flows: Some(40.0), ..context() },
    )
    .unwrap()
}

fn fallbacks(law: &FbOcq) -> u64 {
    let Control::Receding(receding) = &law.control else { unreachable!("form = receding") };
    receding.fallbacks
}

/// Without forecast, delay and penalty.
fn bare(params: &mut Params) {
    (params.forecast, params.delay, params.t_u) = (false, Some(Span::ZERO), Some(Span::ZERO));
    params.load = Some(LoadMeasure::Virtual);
}

#[test]
fn without_forecast_delay_and_penalty_receding_is_deadbeat() {
    let mut plain = receding(bare);
    let mut deadbeat = receding(|params| (params.form, params.load) = (Form::Deadbeat, None));
    for backlog in [0.0, 30.0, 38.0, 40.0, 41.0, 44.0, 60.0, 100.0] {
        // The outflow is that of the end, the target, and not that of the backlog.
        let problem = plain.problem();
        let outflow = (problem.u_s() - problem.queue().outflow(backlog)) / 2000.0;
        let [ours, other] = [&mut plain, &mut deadbeat].map(|law| p(law, backlog));
        let expected = if other == 0.0 || other == 1.0 { other } else { other - outflow };
        assert!((ours - expected).abs() < 1e-5, "{backlog}: {ours}, not {expected}");
    }
    assert_eq!(fallbacks(&plain), 0);
}

#[test]
fn a_spent_budget_is_answered_by_the_closed_form_and_counted() {
    let mut none = receding(|params| params.iterations = 0);
    let mut root = receding(|params| params.form = Form::Sqrt);
    for k in 0..100 {
        let seen = seen(20.0 + f64::from(k % 60), 20.0);
        assert_eq!(none.update(&seen), root.update(&seen), "{k}");
    }
    // Nineteen updates find the link not yet filled.
    let spent = fallbacks(&none);
    assert!((70..100).contains(&spent), "{spent}");
    let mut default = receding(|_| ());
    (0..1000).for_each(|k| _ = default.update(&seen(f64::from(k * 7919 % 100), 13.0)));
    assert_eq!(fallbacks(&default), 0);
    none.reset();
    assert_eq!(fallbacks(&none), 0);
}

/// Updates at a backlog under a busy link until the forecast is complete.
fn steady(law: &mut FbOcq, backlog: f64, signals: f64) -> f64 {
    let seen = Observation { dropped_packets: signals, ..seen(backlog, 12.5 + signals) };
    (0..60).fold(0.0, |_, _| law.update(&seen).get())
}

#[test]
fn at_its_equilibrium_p_is_the_integrals() {
    // p_w of 40 flows, and the signals that make windows stay: 2 / W^2 of the arrivals.
    let mut law = receding(|_| ());
    let p_w = law.state.held;
    let p = steady(&mut law, 40.0, 12.5 * p_w);
    assert!((p / p_w - 1.0).abs() < 0.01 && (law.state.held / p_w - 1.0).abs() < 1e-9, "{p} {p_w}");
}

#[test]
fn signals_on_their_way_are_not_sent_again() {
    // W = 165 / 40: a signal takes 2.06 packets a round trip later.
    let [few, usual, many] = [0.0, 1.0, 2.0].map(|signals| {
        let mut law = receding(|_| ());
        let p_w = law.state.held;
        steady(&mut law, 40.0, signals * 12.5 * p_w)
    });
    assert!(few > 2.0 * usual && many == 0.0, "{few} {usual} {many}");
    // Without the forecast the decided inputs are all that is known.
    let [few, many] = [0.0, 2.0].map(|signals| {
        let mut law = receding(|params| params.forecast = false);
        steady(&mut law, 40.0, signals * 0.5)
    });
    assert_eq!(few, many);
}

#[test]
fn departures_return_as_load_a_base_round_trip_later() {
    let mut law = receding(|_| ());
    steady(&mut law, 40.0, 0.0);
    let idle = Observation { departed_packets: 0.0, departed_bytes: 0.0, busy: 0.0, ..seen(0.0, 0.0) };
    law.update(&idle);
    let measured = law.measured(&seen(40.0, 12.5));
    let Control::Receding(receding) = &mut law.control else { unreachable!("form = receding") };
    let at = |receding: &Receding, place| receding.ahead.clocked(&measured, place);
    // 100 ms later: in the tenth period from here, and nine updates later in the next one.
    assert_eq!([8, 9, 10].map(|place| at(receding, place)), [12.5, 0.0, 12.5]);
    (0..9).for_each(|_| receding.observe(&measured));
    assert_eq!([0, 1].map(|place| at(receding, place)), [0.0, 12.5]);
    // A stall of three periods shifts as many.
    receding.observe(&Measured { elapsed: 0.03, ..measured });
    assert_eq!(at(receding, 0), 12.5);
}

#[test]
fn the_penalty_damps_changes_of_p() {
    let roughness = |t_u| {
        let mut law = receding(|params| params.t_u = Some(Span::from_millis(t_u)));
        let mut last = steady(&mut law, 40.0, 1.25);
        let changes = (0..200).map(|k| {
            let noise = if k % 2 == 0 { 3.0 } else { -3.0 };
            let p = law.update(&Observation { dropped_packets: 1.25, ..seen(40.0 + noise, 13.75) }).get();
            let change = (p - last).abs();
            last = p;
            change
        });
        changes.skip(100).sum::<f64>() / 100.0
    };
    let [none, some, more] = [0, 30, 100].map(roughness);
    assert!(none > 3.0 * some && some > 2.0 * more, "{none} {some} {more}");
}

#[test]
fn sizes_of_the_plan_are_bounded() {
    let error = |change: fn(&mut Params)| {
        let mut params = Params { form: Form::Receding, ..Params::default() };
        change(&mut params);
        FbOcq::new(&params, &context()).unwrap_err().to_string()
    };
    let long = error(|params| params.horizon = Some(Span::from_secs(10)));
    assert!(long.contains("horizon") && long.contains("500 periods"), "{long}");
    let short = error(|params| {
        (params.period, params.delay) = (Some(Span::from_micros(100)), Some(Span::from_secs(10)));
    });
    assert!(short.contains("period") && short.contains("longer"), "{short}");
}
