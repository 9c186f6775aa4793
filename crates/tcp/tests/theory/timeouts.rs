//! Send rates with timeouts: Padhye, Firoiu, Towsley and Kurose, Modeling TCP throughput, SIGCOMM 1998.
//!
//! A segment is lost with probability p, and with it all that follow in its
//! round. Three duplicate ACKs repair the round, whatever it lost, in one round trip;
//! fewer wait for a timeout. That is written for Reno, but Reno repairs only one
//! loss a window and NewReno one a round trip: it is SACK that does what is assumed.
//!
//! The paper's equation for the rate puts means where its model has random
//! variables. The model played out, round by round, sends less than the equation
//! says: 14 % less at p = 0.1 where two segments share an ACK, 22 % where each
//! has its own. A sender is between the two, and above both where windows are
//! small: limited transmit (RFC 3042) saves timeouts of which the model has not heard, and the
//! odd segment of a flight is acknowledged by itself.
//!
//! The model starts every series of timeouts at T0. So does a sender with
//! timestamps. One without them keeps the timeout to which it has backed off until a
//! segment that was sent once is acknowledged (RFC 6298, end of section 5), which
//! halves the rate at p = 0.2.

use crate::path::{Connection, Loss, profile, random, tails_of_rounds};
use sojourn_tcp::{LossDetection, Profile};
use sojourn_units::math::pow;
use sojourn_units::{Span, Stream};

const RTT: Span = Span::from_millis(200);

/// What the model is told of a flow.
#[derive(Clone, Copy)]
struct Model {
    p: f64,
    /// Segments an ACK.
    b: f64,
    /// The first timeout, round trips.
    t0: f64,
}

impl Model {
    /// Equation (32), without a limit of the receiver: the send rate, segments a round trip.
    fn equation(self) -> f64 {
        let Model { p, b, t0 } = self;
        let window = self.mean_window();
        let timeouts = timeout_share(p, window);
        let back_off = 1.0 + p * (1.0 + p * (2.0 + p * (4.0 + p * (8.0 + p * (16.0 + p * 32.0)))));
        let segments = (1.0 - p) / p + window + timeouts / (1.0 - p);
        segments / (b / 2.0 * window + 1.0 + timeouts * t0 * back_off / (1.0 - p))
    }

    /// Equation (13): the mean window at a loss.
    fn mean_window(self) -> f64 {
        let third = (2.0 + self.b) / (3.0 * self.b);
        third + (8.0 * (1.0 - self.p) / (3.0 * self.b * self.p) + third * third).sqrt()
    }

    /// The same, played out over so many losses.
    fn played(self, losses: u64) -> f64 {
        let mut draws = Stream::named(2, "model");
        let mut lost = || draws.uniform() < self.p;
        let (mut window, mut sent, mut rounds) = (self.mean_window(), 0.0, 0.0);
        for _ in 0..losses {
            let before = loop {
                let whole = window.floor().max(1.0);
                sent += whole;
                rounds += 1.0;
                let arrived = (0..whole as u64).take_while(|_| !lost()).count();
                if arrived as f64 == whole {
                    window += 1.0 / self.b;
                } else {
                    break arrived;
                }
            };
            // What arrived lets out as much again, and each of those that arrives is a duplicate ACK.
            sent += before as f64;
            rounds += 1.0;
            let duplicates = (0..before).take_while(|_| !lost()).count();
            if duplicates < 3 {
                let mut timeout = self.t0;
                loop {
                    sent += 1.0;
                    rounds += timeout;
                    timeout = (2.0 * timeout).min(64.0 * self.t0);
                    if !lost() {
                        break;
                    }
                }
            }
            window = (window / 2.0).max(1.0);
        }
        sent / rounds
    }

    /// What a sender does.
    fn sent(self, sender: &Profile, loss: Loss, losses: f64) -> f64 {
        self.sent_by("reno", sender, loss, losses)
    }

    fn sent_by(self, cc: &str, sender: &Profile, loss: Loss, losses: f64) -> f64 {
        let profile = Profile {
            delayed_ack: self.b > 1.0,
            min_rto: Span::from_seconds(self.t0 * RTT.seconds()),
            ..sender.clone()
        };
        let mut connection = Connection::new(cc, profile, RTT, loss);
        let end = connection.deliver((losses / self.p) as u64);
        connection.sent as f64 / (end.seconds() / RTT.seconds())
    }
}

/// Equation (24): the share of losses that end in a timeout.
fn timeout_share(p: f64, window: f64) -> f64 {
    let arrives = 1.0 - p;
    let three = arrives * arrives * arrives;
    let share =
        (1.0 - three) * (1.0 + three * (1.0 - pow(arrives, window - 3.0))) / (1.0 - pow(arrives, window));
    share.min(1.0)
}

/// Recovery by SACK of 2003: neither RACK nor probes, nothing undone.
fn sack() -> Profile {
    Profile {
        sack: Some(true),
        timestamps: true,
        byte_counting: 0,
        initial_window: 2,
        loss_detection: LossDetection::Dupacks,
        prr: false,
        tail_loss_probe: false,
        frto: false,
        undo: false,
        ..profile()
    }
}

const LOSSES: u64 = 3000;

/// One row of the table: the rate over the equation, and the model over it.
fn compare(model: Model, sender: &Profile) -> (f64, f64) {
    let Model { p, b, t0 } = model;
    let equation = model.equation();
    let losses = (LOSSES as f64 * (p / 1e-2).sqrt()).clamp(600.0, LOSSES as f64);
    let sent = model.sent(sender, tails_of_rounds(p, RTT), losses) / equation;
    let played = model.played(10 * LOSSES) / equation;
    println!(
        "b = {b}, T0 = {t0} RTT, p = {p:<6.0e} equation {equation:7.3} segments a round trip, sent {sent:.3} of \
         it, the model played out {played:.3}"
    );
    (sent, played)
}

#[test]
fn recovery_by_sack_sends_what_the_equation_says() {
    for (b, t0) in [(1.0, 2.0), (1.0, 5.0), (2.0, 2.0), (2.0, 5.0)] {
        for p in [1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.2] {
            let (sent, played) = compare(Model { p, b, t0 }, &sack());
            assert!((sent - 1.0).abs() < 0.2, "b = {b}, T0 = {t0}, p = {p}: {sent}");
            // Beyond, limited transmit (RFC 3042), which the model does not know, saves timeouts.
            assert!(
                p > 1e-2 || (sent / played - 1.0).abs() < 0.1,
                "b = {b}, T0 = {t0}, p = {p}: {sent} {played}"
            );
        }
    }
}

/// The other recoveries, and losses that do not come together; figures only.
#[test]
#[ignore = "figures only: run it with --nocapture"]
fn what_other_recoveries_make_of_it() {
    let rack = Profile {
        loss_detection: LossDetection::Rack,
        prr: true,
        tail_loss_probe: true,
        frto: true,
        undo: true,
        ..sack()
    };
    let recoveries = [
        ("reno", "reno", Profile { sack: None, ..sack() }),
        ("newreno", "newreno", Profile { sack: None, ..sack() }),
        ("SACK", "reno", sack()),
        ("SACK without timestamps", "reno", Profile { timestamps: false, ..sack() }),
        ("SACK, PRR", "reno", Profile { prr: true, ..sack() }),
        ("SACK, RACK", "reno", Profile { loss_detection: LossDetection::Rack, ..sack() }),
        ("SACK, RACK-TLP, PRR, F-RTO, undo", "reno", rack),
    ];
    for (name, cc, sender) in recoveries {
        for (b, t0) in [(1.0, 5.0), (2.0, 5.0)] {
            for p in [1e-3, 1e-2, 3e-2, 0.1, 0.2] {
                let model = Model { p, b, t0 };
                let rate = |loss| model.sent_by(cc, &sender, loss, LOSSES as f64) / model.equation();
                let (tails, alone) = (rate(tails_of_rounds(p, RTT)), rate(random(p)));
                println!(
                    "{name:<34} b = {b}, T0 = {t0} RTT, p = {p:<6.0e} tails {tails:.3}, at random {alone:.3} of the equation"
                );
            }
        }
    }
}
