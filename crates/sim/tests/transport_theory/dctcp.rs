//! DCTCP's steady state: Alizadeh, Javanmard and Prabhakar, Analysis of DCTCP, SIGMETRICS 2011 (section 3.3 of the paper of
//! 2010).
//!
//! N windows go up and down together between W + 1 and (W + 1) (1 - alpha / 2), with W = (C RTT + K) / N. A window is
//! marked in one round trip of its cycle of W alpha / 2, and so
//!
//! ```text
//! alpha        = sqrt(2 / W)                  also the share of marks
//! queue        = K + N at the top, and N sqrt(W / 2) below it at the bottom
//! ```
//!
//! With an ACK per b segments they leave in bursts of b. In the marked round trip only the last of each burst finds the
//! queue above the step: a share of 1/b is marked. The receiver reports it exactly, since it acknowledges at once where
//! marking begins or ends (RFC 8257, section 3.2), and the sender reduces by less:
//!
//! ```text
//! alpha        = sqrt(2 / (b W))
//! queue        = K + N - (b - 1) / 2 at the top, and N sqrt(W / (2 b)) below it at the bottom, mean over a burst
//! ```
//!
//! Pacing spreads the bursts, and the result is that of an ACK per segment.

use crate::{Step, finish, number, scenario};
use sojourn_sim::Run;

/// 10 000 packets a second, a round trip of 10 ms with the transmission times: the path holds 100 packets.
const MARKED_FLOWS: &str = r#"
title = "Flows of DCTCP and a step"
duration = "15 s"
warmup = "5 s"
[bottleneck]
rate = "80 Mbit/s"
delay = "4.94 ms"
[[flows]]
cc = "dctcp"
ecn = true
segment = "1000 B"
access = { rate = "10 Gbit/s" }
"#;
const PATH: f64 = 100.0;

/// Number of flows, step, and sending pattern.
#[derive(Clone, Copy, Debug)]
struct Case {
    flows: u32,
    step: u32,
    /// Segments an ACK.
    per_ack: u32,
    pacing: bool,
}

/// Theory of a queue, and its outcome.
struct Sawtooth {
    height: [f64; 2],
    mean: [f64; 2],
    marks: [f64; 2],
    /// The share of marks in a round trip that has any.
    share: [f64; 2],
}

impl Case {
    /// Theory.
    fn theory(self) -> [f64; 4] {
        let (flows, k, burst) = (f64::from(self.flows), f64::from(self.step), self.burst());
        let room = PATH + k;
        let height = (flows * room / (2.0 * burst)).sqrt();
        // A burst adds its own steps to the variance: (b^2 - 1) / 12.
        let spread = (height * height + burst * burst - 1.0).sqrt();
        let mean = k + flows - (burst - 1.0) / 2.0 - height / 2.0;
        [spread, mean, (2.0 * flows / (burst * room)).sqrt(), 1.0 / burst]
    }

    fn burst(self) -> f64 {
        if self.pacing { 1.0 } else { f64::from(self.per_ack) }
    }

    fn run(self) -> Sawtooth {
        let (flows, per_ack) = (self.flows.to_string(), self.per_ack.to_string());
        let mut overrides = vec![("flows.0.count", &*flows)];
        match self.per_ack {
            1 => overrides.push(("flows.0.tcp.delayed_ack", "false")),
            _ => overrides.push(("flows.0.tcp.ack_every", &per_ack)),
        }
        if self.pacing {
            overrides.push(("flows.0.tcp.pacing", "true"));
        }
        let step = Step::above(self.step);
        let law = Box::new(step.clone());
        let outcome = finish(Run::with_laws(&scenario(MARKED_FLOWS, &overrides), 1, vec![law]));
        let [mean, std, marks, losses, utilization] =
            ["queue_mean_packets", "queue_std_packets", "mark_ratio", "drop_ratio", "utilization"]
                .map(|name| number(&outcome, name));
        assert!(losses == 0.0 && utilization > 0.999, "{self:?}: {losses} {utilization}");
        // A sawtooth is uniform in height: its variance is a twelfth of the square.
        let seen = [std * 12.0_f64.sqrt(), mean, marks, share_of_marks(&step.marked.lock().unwrap())];
        let [height, mean, marks, share] = std::array::from_fn(|at| [seen[at], self.theory()[at]]);
        let pair = |[seen, theory]: [f64; 2]| format!("{seen:.3} (theory {theory:.3})");
        println!(
            "{self:?}: sawtooth {}, mean queue {}, marks {}, in their round trip {}",
            pair(height),
            pair(mean),
            pair(marks),
            pair(share)
        );
        Sawtooth { height, mean, marks, share }
    }
}

/// The share of marks in marked rounds: from a mark to the last one less than half a path later.
fn share_of_marks(marked: &[bool]) -> f64 {
    // Slow start is left out.
    let late = &marked[marked.len() / 3..];
    let at: Vec<usize> = (0..late.len()).filter(|arrival| late[*arrival]).collect();
    let gaps = at.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap < PATH as usize / 2);
    let (count, arrivals) = gaps.fold((0, 0), |(count, arrivals), gap| (count + 1, arrivals + gap));
    f64::from(count) / arrivals as f64
}

#[track_caller]
fn near(quantity: &str, case: Case, [seen, theory]: [f64; 2], tolerance: f64) {
    assert!((seen / theory - 1.0).abs() < tolerance, "{case:?}, {quantity}: {seen}, theory {theory}");
}

/// The theory assumes synchronised flows, so it is for few: more of them lose step.
#[test]
fn the_queue_stays_in_its_sawtooth() {
    for flows in [1, 2] {
        for step in [20, 40, 65] {
            let case = Case { flows, step, per_ack: 1, pacing: false };
            let Sawtooth { height, mean, marks, share } = case.run();
            near("sawtooth", case, height, 0.1);
            near("marks", case, marks, 0.1);
            assert!((mean[0] - mean[1]).abs() < 1.0, "{case:?}: mean {mean:?}");
            // Two synchronised flows deviate by another packet or two.
            near("share", case, share, 0.05);
        }
    }
}

#[test]
fn delayed_acks_mark_the_last_of_each_burst() {
    for per_ack in [2, 3, 4] {
        for step in [20, 65] {
            let case = Case { flows: 1, step, per_ack, pacing: false };
            let Sawtooth { height, mean, marks, share } = case.run();
            near("sawtooth", case, height, 0.1);
            near("marks", case, marks, 0.1);
            near("share", case, share, 0.05);
            assert!((mean[0] - mean[1]).abs() < 1.0, "{case:?}: mean {mean:?}");
        }
    }
}

/// Part of the window then waits at the sender: the mean queue is slightly longer than in theory.
#[test]
fn pacing_cancels_the_effect_of_delayed_acks() {
    for step in [20, 65] {
        let case = Case { flows: 1, step, per_ack: 2, pacing: true };
        let Sawtooth { height, marks, share, .. } = case.run();
        near("sawtooth", case, height, 0.1);
        near("marks", case, marks, 0.1);
        near("share", case, share, 0.05);
    }
}
