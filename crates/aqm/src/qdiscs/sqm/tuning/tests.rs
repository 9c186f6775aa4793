use super::super::settings::Alpha;
use super::super::{Sqm, StepRule, Utility};
use super::*;
use crate::link_context::LinkContext;
use sojourn_params::{Quantity, Value};
use sojourn_units::Span;

/// 900 packets/s of 1000 B for elephants.
const CAPACITY: f64 = 900.0;

fn rules(sqm: &Sqm) -> Rules {
    Rules::of(sqm, &[], (&LinkContext::example(), CAPACITY)).unwrap()
}

fn tuning(sqm: &Sqm) -> Tuning {
    Tuning::new(rules(sqm)).unwrap()
}

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// Each flow sends so many packets in second `number`, at the end of which the period ends.
fn period(tuning: &mut Tuning, number: u64, packets: &[u32]) {
    for (slot, packets) in (0..).zip(packets) {
        for _ in 0..*packets {
            tuning.packet(at(1000 * number), slot, 1000, CAPACITY);
        }
    }
    tuning.end_period(at(1000 * (number + 1)), CAPACITY);
}

fn assert_near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-9, "{found} is not {expected}");
}

#[test]
fn a_limited_flow_leaves_its_share_to_the_others() {
    let mut tuning = tuning(&Sqm { utility: Utility::Equal, ..Sqm::default() });
    (0..3).for_each(|slot| tuning.enter(slot, (Some(0.1), 0)));
    period(&mut tuning, 0, &[400, 400, 10]);
    let rates = |tuning: &Tuning| [0, 1, 2].map(|slot| tuning.rate(slot, CAPACITY));
    for (found, expected) in rates(&tuning).into_iter().zip([445.0, 445.0, 300.0]) {
        assert_near(found, expected);
    }
    // It sends more: all have a third. One that leaves makes room, and so does each that is silent.
    period(&mut tuning, 1, &[300, 300, 200]);
    for rate in rates(&tuning) {
        assert_near(rate, 300.0);
    }
    period(&mut tuning, 2, &[440, 440, 10]);
    tuning.leave(2);
    assert_near(tuning.rate(0, CAPACITY), 450.0);
    period(&mut tuning, 3, &[500, 0]);
    assert_near(tuning.rate(0, CAPACITY), CAPACITY);
}

/// Its rate is that since it came.
#[test]
fn a_flow_that_comes_late_in_a_period_is_not_limited() {
    let mut tuning = tuning(&Sqm { utility: Utility::Equal, ..Sqm::default() });
    (0..2).for_each(|slot| tuning.enter(slot, (Some(0.1), 0)));
    (0..900).for_each(|_| {
        tuning.packet(at(0), 0, 1000, CAPACITY);
    });
    (0..90).for_each(|_| {
        tuning.packet(at(800), 1, 1000, CAPACITY);
    });
    tuning.end_period(at(1000), CAPACITY);
    assert_near(tuning.rate(0, CAPACITY), 450.0);
}

/// 2 / D^2 of 50, 100 and 200 ms: rates as 20 : 10 : 5, of the third at once.
#[test]
fn a_new_flow_has_the_rate_of_the_price() {
    let mut tuning = tuning(&Sqm::default());
    for (slot, delay) in [(0, 0.05), (1, 0.1), (2, 0.2)] {
        tuning.enter(slot, (Some(delay), 0));
    }
    period(&mut tuning, 0, &[600, 300]);
    assert_near(tuning.rate(1, CAPACITY), 300.0);
    assert_near(tuning.price, 200.0 / (300.0 * 300.0));
    assert!(tuning.packet(at(1000), 2, 1000, CAPACITY), "its weight is new");
    assert!(!tuning.packet(at(1000), 2, 1000, CAPACITY));
    assert_near(tuning.rate(2, CAPACITY), CAPACITY * 5.0 / 35.0);
    // Flows without a queue demand as much as one with it.
    assert_near(tuning.part(tuning.demand(Some(0.2), 0)), 5.0 / 40.0);
}

#[test]
fn young_flows_are_limited_and_no_part_of_the_mean_round_trip() {
    let mut tuning = tuning(&Sqm { utility: Utility::Equal, ..Sqm::default() });
    for (slot, delay) in [(0, 0.02), (1, 0.31), (2, 0.001)] {
        tuning.enter(slot, (Some(delay), 0));
    }
    let send = |tuning: &mut Tuning, slot: u32, packets: u32| {
        (0..packets).for_each(|_| {
            tuning.packet(at(0), slot, 1000, CAPACITY);
        });
    };
    (0..3).for_each(|slot| send(&mut tuning, slot, 5));
    assert_near(tuning.mean_delay(), 3.0 / (1.0 / 0.02 + 1.0 / 0.31 + 1.0 / 0.001));
    // A window of the first is 18 packets, less than a mouse has; that of the second, of half of the link, 139.
    send(&mut tuning, 0, 30);
    send(&mut tuning, 1, 130);
    assert!(tuning.is_young(1) && !tuning.is_young(0));
    send(&mut tuning, 1, 10);
    assert!(!tuning.is_young(1));
    let two = 2.0 / (1.0 / 0.02 + 1.0 / 0.31);
    assert_near(tuning.mean_delay(), two);
    assert_near(tuning.rate(0, CAPACITY), CAPACITY / 2.0);
    // The third is young, and no part of it.
    assert_near(tuning.share(0, CAPACITY), CAPACITY / 3.0);
    assert_near(tuning.share_of_grown(0, CAPACITY), CAPACITY / 2.0);
    tuning.restart(at(0), 0, CAPACITY);
    assert_near(tuning.rate(1, CAPACITY), CAPACITY);
    send(&mut tuning, 0, 30);
    assert_near(tuning.mean_delay(), two);
}

/// Whatever comes, and in whatever order.
#[test]
fn sums_are_those_computed_afresh() {
    let mut tuning = tuning(&Sqm { utility: Utility::CompletionTime, ..Sqm::default() });
    let mut draws = sojourn_random::Stream::named(1, "sums");
    (0..20).for_each(|slot| tuning.enter(slot, (Some(0.01 * f64::from(slot + 1)), 0)));
    for step in 0..20_000_u64 {
        let slot = (draws.uniform() * 20.0) as u32;
        match draws.uniform() {
            u if u < 0.001 => tuning.leave(slot),
            u if u < 0.002 => tuning.enter(slot, (Some(0.1), 0)),
            u if u < 0.006 => {
                tuning.restart(at(step), slot, CAPACITY);
            }
            u if u < 0.01 => tuning.end_period(at(step), CAPACITY),
            _ => {
                tuning.packet(at(step), slot, 1500, CAPACITY);
            }
        }
        let kept = |of: &Tuning| {
            let (all, limited) = (of.all, of.limited);
            [all.quanta, all.frequencies, limited.quanta, limited.frequencies, limited.rates, of.young]
        };
        let mut fresh = tuning.clone();
        fresh.sum_up();
        let counts = |of: &Tuning| (of.all.count, of.limited.count);
        assert_eq!(counts(&tuning), counts(&fresh));
        for (found, expected) in kept(&tuning).into_iter().zip(kept(&fresh)) {
            assert!((found - expected).abs() <= 1e-6 * CAPACITY, "{step}: {found} for {expected}");
        }
    }
}

#[test]
fn connections_are_flows_of_n() {
    let mut tuning = tuning(&Sqm { utility: Utility::Equal, ..Sqm::default() });
    tuning.enter(0, (Some(0.1), 0));
    for connection in 0..2 {
        tuning.restart(at(400 * connection), 0, CAPACITY);
        (0..50).for_each(|_| {
            tuning.packet(at(400 * connection), 0, 1000, CAPACITY);
            tuning.kept(0, 1000);
        });
    }
    tuning.end_period(at(1000), CAPACITY);
    assert_near(tuning.flows(), 2.0);
}

#[test]
fn what_is_lost_as_it_comes_is_no_part_of_n() {
    let mut tuning = tuning(&Sqm { utility: Utility::Equal, ..Sqm::default() });
    for slot in 0..4 {
        tuning.enter(slot, (Some(0.1), 0));
        let packets = if slot == 3 { 900 } else { 10 };
        for packet in 0..packets {
            tuning.packet(at(0), slot, 1000, CAPACITY);
            if packet < 10 {
                tuning.kept(slot, 1000);
            }
        }
    }
    assert_near(tuning.flows(), 4.0);
}

/// w is 1 / bytes sent: the next connection in a slot has the share of a new flow at once.
#[test]
fn a_connection_begins_with_the_utility_of_its_own_bytes() {
    let sqm = Sqm { utility: Utility::CompletionTime, ..Sqm::default() };
    let mut tuning = tuning(&sqm);
    (0..7).for_each(|slot| tuning.enter(slot, (Some(0.1), 0)));
    period(&mut tuning, 0, &[800, 10, 10, 10, 10, 10, 10]);
    let before = tuning.rules.elephant;
    let [long, short] = [800.0, 10.0].map(|packets: f64| 1000.0 * packets + before);
    assert_near(tuning.share(1, CAPACITY) / tuning.share(0, CAPACITY), (long / short).sqrt());
    tuning.restart(at(1000), 0, CAPACITY);
    assert_near(tuning.share(0, CAPACITY) / tuning.share(1, CAPACITY), (short / before).sqrt());
}

/// With a coordinator Q are rates at the present capacity of the link.
#[test]
fn a_flow_that_comes_after_the_link_became_faster_has_its_share() {
    for coordinator in [Coordinator::Centralised, Coordinator::Decentralised] {
        let mut tuning = tuning(&Sqm { utility: Utility::Equal, coordinator, ..Sqm::default() });
        tuning.enter(0, (Some(0.1), 0));
        for round in 0..20 {
            tuning.packet(at(1000 * round), 0, 1000, 10.0 * CAPACITY);
            tuning.end_period(at(1000 * (round + 1)), 10.0 * CAPACITY);
            if coordinator == Coordinator::Centralised {
                tuning.set_rates(&[(FlowId(0), 10.0 * CAPACITY)], |_| Some(FlowId(0)));
                tuning.price = 1.0 / (10.0 * CAPACITY * 10.0 * CAPACITY);
            }
        }
        tuning.packet(at(20_000), 0, 1000, 10.0 * CAPACITY);
        tuning.enter(1, (Some(0.1), 0));
        tuning.packet(at(20_000), 1, 1000, 10.0 * CAPACITY);
        assert_near(tuning.share(1, CAPACITY), CAPACITY / 2.0);
    }
}

#[test]
fn other_rules_go_on_from_the_present_rates() {
    let mut tuning = tuning(&Sqm::default());
    (0..2).for_each(|slot| tuning.enter(slot, (Some([0.05, 0.15][slot as usize]), 0)));
    period(&mut tuning, 0, &[600, 300]);
    assert_near(tuning.share(0, CAPACITY), 0.75 * CAPACITY);
    let demanded = tuning.rate_of_demands(3.0);
    tuning.set_rules(rules(&Sqm { step: StepRule::PrimalDual, ..Sqm::default() })).unwrap();
    period(&mut tuning, 1, &[600, 300]);
    assert!((tuning.share(0, CAPACITY) / CAPACITY - 0.75).abs() < 0.02, "{}", tuning.share(0, CAPACITY));
    // What flows in the reserved queue demand is the same rate under another utility.
    tuning.set_rules(rules(&Sqm { utility: Utility::Equal, ..Sqm::default() })).unwrap();
    assert_near(tuning.rate_of_demands(tuning.demands_of_rate(demanded)), demanded);
}

/// Dual steps begin at the price of the new utility.
#[test]
fn dual_steps_of_another_utility_keep_the_rates() {
    let sqm = |step, utility| Sqm { utility, step, ..Sqm::default() };
    let changes = [
        (StepRule::Optimum, Utility::Equal, StepRule::PrimalDual, Utility::CompletionTime),
        (StepRule::PrimalDual, Utility::Reno, StepRule::PrimalDual, Utility::Equal),
    ];
    for (step, utility, next_step, next) in changes {
        let mut tuning = tuning(&sqm(step, utility));
        (0..2).for_each(|slot| tuning.enter(slot, (Some(0.1), 0)));
        period(&mut tuning, 0, &[450, 450]);
        tuning.set_rules(rules(&sqm(next_step, next))).unwrap();
        period(&mut tuning, 1, &[450, 450]);
        // Absent flows have eps.
        let absent = (tuning.rules.queues - 2) as f64 * tuning.rules.floor;
        for slot in 0..2 {
            let part = tuning.slots[slot].quantum / (0.5 * (CAPACITY - absent));
            assert!((part - 1.0).abs() < 0.05, "{next:?}: {part}");
        }
    }
}

/// Steps on a gradient begin at the shares of the optimum, 9 : 1 by 30 and 270 ms, and in the units of their utility.
#[test]
fn other_steps_begin_at_the_present_rates() {
    for step in [StepRule::Adaptive, StepRule::Newton] {
        let mut tuning = tuning(&Sqm { step: StepRule::Optimum, ..Sqm::default() });
        (0..2).for_each(|slot| tuning.enter(slot, (Some([0.03, 0.27][slot as usize]), 0)));
        period(&mut tuning, 0, &[810, 90]);
        tuning.set_rules(rules(&Sqm { step, ..Sqm::default() })).unwrap();
        let Learner::Online(online) = &tuning.learner else { panic!("{:?}", tuning.learner) };
        assert_near(online.rates()[0] / online.rates()[1], 9.0);
        period(&mut tuning, 1, &[810, 90]);
        assert!(tuning.share(0, CAPACITY) > 0.8 * CAPACITY, "{step:?}: {}", tuning.share(0, CAPACITY));
    }
}

/// Its sum of squared gradients is in units of utility: too large a one leaves rates where they are.
#[test]
fn adaptive_steps_of_another_utility_find_its_shares() {
    let sqm = |utility| Sqm { utility, step: StepRule::Adaptive, ..Sqm::default() };
    let mut tuning = tuning(&sqm(Utility::Reno));
    (0..2).for_each(|slot| tuning.enter(slot, (Some([0.05, 0.2][slot as usize]), 0)));
    (0..20).for_each(|round| period(&mut tuning, round, &[450, 450]));
    tuning.set_rules(rules(&sqm(Utility::Equal))).unwrap();
    (20..220).for_each(|round| period(&mut tuning, round, &[450, 450]));
    let part = tuning.share(0, CAPACITY) / CAPACITY;
    assert!((part - 0.5).abs() < 0.02, "{part}");
}

/// Between two periods the link becomes four times as fast: flows that had their shares have no more to send.
#[test]
fn a_faster_link_leaves_flows_their_shares() {
    let mut tuning = tuning(&Sqm { utility: Utility::Equal, ..Sqm::default() });
    (0..10).for_each(|slot| tuning.enter(slot, (Some(if slot == 0 { 0.02 } else { 0.3 }), 0)));
    (0..3).for_each(|round| period(&mut tuning, round, &[90; 10]));
    for slot in 0..10 {
        for _ in 0..90 {
            tuning.packet(at(3000), slot, 1000, CAPACITY);
        }
    }
    tuning.scale_sent(4.0);
    tuning.end_period(at(4000), 4.0 * CAPACITY);
    assert_near(tuning.rate(0, 4.0 * CAPACITY), 4.0 * CAPACITY / 10.0);
}

/// Young is what has not sent a window of its share, 1800 packets here.
#[test]
fn flows_of_many_bytes_before_their_queue_are_young() {
    let elephant = sojourn_units::Bytes::new(60_000);
    let mut tuning = tuning(&Sqm { elephant, utility: Utility::Equal, ..Sqm::default() });
    tuning.enter(0, (Some(2.0), 0));
    tuning.packet(at(0), 0, 1000, CAPACITY);
    assert!(tuning.is_young(0));
}

/// The one flow of a link opens another connection: others still see its price.
#[test]
fn a_connection_of_the_only_flow_leaves_the_price() {
    let (utility, coordinator) = (Utility::CompletionTime, Coordinator::Decentralised);
    let mut tuning = tuning(&Sqm { utility, coordinator, ..Sqm::default() });
    tuning.enter(0, (Some(0.1), 0));
    (0..2).for_each(|round| period(&mut tuning, round, &[900]));
    let price = tuning.price;
    assert!(price > 0.0 && tuning.restart(at(2000), 0, CAPACITY), "its weight is another");
    assert_eq!(tuning.price, price);
}

#[test]
fn a_connection_after_a_silence_begins_with_the_share_that_it_is_to_have() {
    let mut tuning = tuning(&Sqm { utility: Utility::Equal, ..Sqm::default() });
    (0..3).for_each(|slot| tuning.enter(slot, (Some(0.1), 0)));
    period(&mut tuning, 0, &[300, 300, 300]);
    period(&mut tuning, 1, &[450, 450]);
    assert_near(tuning.initial_rate(0, CAPACITY), CAPACITY / 2.0);
    assert_near(tuning.initial_rate(2, CAPACITY), CAPACITY / 3.0);
    // The first is limited.
    period(&mut tuning, 2, &[50, 850]);
    let rate = tuning.initial_rate(2, CAPACITY);
    assert_near(rate, 850.0 / 2.0);
    tuning.packet(at(3000), 2, 1000, CAPACITY);
    assert_near(tuning.rate(2, CAPACITY), rate);
}

/// A price is in units of utility.
#[test]
fn links_that_exchange_prices_begin_anew_with_another_utility() {
    let sqm = |alpha| Sqm {
        alpha: Alpha(Fairness::Alpha(alpha)),
        utility: Utility::Equal,
        coordinator: Coordinator::Decentralised,
        ..Sqm::default()
    };
    let mut tuning = tuning(&sqm(2.0));
    (0..2).for_each(|slot| tuning.enter(slot, (Some(0.1), 0)));
    (0..3).for_each(|round| period(&mut tuning, round, &[450, 450]));
    tuning.announced = PathPrice { links: 1, price: tuning.price };
    tuning.packet(at(3000), 0, 1000, CAPACITY);
    tuning.set_rules(rules(&sqm(1.0))).unwrap();
    period(&mut tuning, 3, &[450, 450]);
    assert_near(tuning.price, 2.0 / CAPACITY);
    (0..2).for_each(|slot| assert_near(tuning.slots[slot].quantum, CAPACITY / 2.0));
}

/// Weights are no units.
#[test]
fn links_that_exchange_prices_keep_them_with_other_weights() {
    let weights = |weight: f64| {
        let table = vec![("b".to_string(), Value::Number(weight))];
        crate::qdiscs::common::Weights::read(&Value::Table(table)).unwrap()
    };
    let sqm = |weight| Sqm {
        weights: weights(weight),
        utility: Utility::Equal,
        coordinator: Coordinator::Decentralised,
        ..Sqm::default()
    };
    let classes = ["a", "b"].map(String::from);
    let rules = |weight| Rules::of(&sqm(weight), &classes, (&LinkContext::example(), CAPACITY)).unwrap();
    let mut tuning = Tuning::new(rules(1.0)).unwrap();
    (0..2).for_each(|slot| tuning.enter(slot, (Some(0.1), 0)));
    (0..3).for_each(|round| period(&mut tuning, round, &[450, 450]));
    let price = tuning.price;
    tuning.set_rules(rules(4.0)).unwrap();
    assert_eq!((tuning.price, tuning.has_exchanged), (price, true));
}

/// Two equal links with a flow each and one over both: C = x + x / sqrt 2, x = pi^(-1/2).
#[test]
fn links_that_exchange_prices_find_the_optimum_of_both() {
    let sqm = Sqm { utility: Utility::Equal, coordinator: Coordinator::Decentralised, ..Sqm::default() };
    let mut links = [tuning(&sqm), tuning(&sqm)];
    for link in &mut links {
        (0..2).for_each(|slot| link.enter(slot, (Some(0.1), 0)));
    }
    let mut first = 0.0;
    for round in 0..10_u64 {
        let [one, other] = [0, 1].map(|link: usize| links[link].price);
        for link in &mut links {
            let own = link.price;
            for (slot, path) in
                [(0, PathPrice { links: 1, price: own }), (1, PathPrice { links: 2, price: one + other })]
            {
                link.announced = path;
                link.packet(at(1000 * round), slot, 1000, CAPACITY);
            }
            link.end_period(at(1000 * (round + 1)), CAPACITY);
        }
        first = if round == 0 { links[0].price } else { first };
    }
    // Alone, a link has two flows.
    assert_near(first, 4.0 / (CAPACITY * CAPACITY));
    let own = CAPACITY / (1.0 + std::f64::consts::FRAC_1_SQRT_2);
    for link in &links {
        assert_near(link.price, 1.0 / (own * own));
        assert_near(link.share(0, CAPACITY), own);
        assert_near(link.share(1, CAPACITY), CAPACITY - own);
    }
}

/// sigma of figure 3 at 120 packets/s and 0.1 s, of 45 degrees: 5.3237e5 with w = 1, by w = 200 here.
#[test]
fn sigma_is_that_of_the_margin() {
    let mut tuning = tuning(&Sqm::default());
    tuning.enter(0, (Some(0.1), 0));
    let scale = tuning.scale(0, 120.0);
    assert!((scale / (5.3237e5 / 200.0) - 1.0).abs() < 1e-4, "{scale}");
    assert_eq!(tuning.scale(0, 125.0).to_bits(), scale.to_bits(), "within a part of the rate it stays");
    assert!(tuning.scale(0, 240.0) > 1.5 * scale);
}

#[test]
fn links_that_exchange_prices_take_no_steps() {
    let sqm = Sqm { step: StepRule::Newton, coordinator: Coordinator::Decentralised, ..Sqm::default() };
    let error = Rules::of(&sqm, &[], (&LinkContext::example(), CAPACITY)).unwrap_err();
    assert!(error.to_string().starts_with("step: \"newton\" has no part in the rates"), "{error}");
}

/// Ten flows of 30 and 90 ms: the optimum is 3 : 1.
#[test]
fn adaptive_steps_want_few_more_queues_than_flows() {
    for (queues, expected) in [(12, 2.99..3.01), (1024, 6.0..8.0)] {
        let mut tuning = tuning(&Sqm { step: StepRule::Adaptive, queues, ..Sqm::default() });
        (0..10).for_each(|slot| tuning.enter(slot, (Some(if slot < 5 { 0.09 } else { 0.03 }), 0)));
        (0..200).for_each(|round| period(&mut tuning, round, &[90; 10]));
        let ratio = tuning.share(9, CAPACITY) / tuning.share(0, CAPACITY);
        assert!(expected.contains(&ratio), "{queues}: {ratio}");
    }
}
