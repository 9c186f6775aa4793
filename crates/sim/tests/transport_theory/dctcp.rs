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
//! Where an ACK is for b segments they leave in bunches of b. In the one round trip only the last of each bunch finds the
//! queue above the step: a share of 1/b is marked, the receiver tells exactly that, since it acknowledges at once where
//! marking begins or ends (RFC 8257, section 3.2), and the sender is right to take off less:
//!
//! ```text
//! alpha        = sqrt(2 / (b W))
//! queue        = K + N - (b - 1) / 2 at the top, and N sqrt(W / (2 b)) below it at the bottom, in the mean over a bunch
//! ```
//!
//! Pacing spreads the bunches, and all is as with an ACK for each.

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

/// Some flows, a step, and how segments leave.
#[derive(Clone, Copy, Debug)]
struct Case {
    flows: u32,
    step: u32,
    /// Segments an ACK.
    per_ack: u32,
    pacing: bool,
}

/// What the theory says of a queue, and what came of it.
struct Sawtooth {
    height: [f64; 2],
    mean: [f64; 2],
    marks: [f64; 2],
    /// The share of marks in a round trip that has any.
    share: [f64; 2],
}

impl Case {
    /// What the theory says.
    fn theory(self) -> [f64; 4] {
        let (flows, k, bunch) = (f64::from(self.flows), f64::from(self.step), self.bunch());
        let room = PATH + k;
        let height = (flows * room / (2.0 * bunch)).sqrt();
        // A bunch adds its own steps to the variance: (b^2 - 1) / 12.
        let spread = (height * height + bunch * bunch - 1.0).sqrt();
        let mean = k + flows - (bunch - 1.0) / 2.0 - height / 2.0;
        [spread, mean, (2.0 * flows / (bunch * room)).sqrt(), 1.0 / bunch]
    }

    fn bunch(self) -> f64 {
        if self.pacing { 1.0 } else { f64::from(self.per_ack) }
    }

    fn run(self) -> Sawtooth {
        let (flows, per_ack) = (self.flows.to_string(), self.per_ack.to_string());
        let mut overrides = vec![("flows.0.count", &*flows)];
        match self.per_ack {
            1 => overrides.push(("flows.0.delayed_ack", "false")),
            _ => overrides.push(("flows.0.tcp.ack_every", &per_ack)),
        }
        if self.pacing {
            overrides.push(("flows.0.tcp.pacing", "true"));
        }
        let step = Step::above(self.step);
        let law = Box::new(step.clone());
        let outcome = finish(Run::with_laws(&scenario(MARKED_FLOWS, &overrides), 1, vec![law]).unwrap());
        let [mean, std, marks, losses, utilization] =
            ["queue_mean_packets", "queue_std_packets", "mark_ratio", "drop_ratio", "utilization"]
                .map(|name| number(&outcome, name));
        assert!(losses == 0.0 && utilization > 0.999, "{self:?}: {losses} {utilization}");
        // A sawtooth is as long at every height: its variance is a twelfth of the square.
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

/// The share of marks in rounds of marks: from a mark to the last one that comes less than half a path later.
fn share_of_marks(marked: &[bool]) -> f64 {
    // Slow start is another matter.
    let late = &marked[marked.len() / 3..];
    let at: Vec<usize> = (0..late.len()).filter(|arrival| late[*arrival]).collect();
    let gaps = at.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap < PATH as usize / 2);
    let (count, arrivals) = gaps.fold((0, 0), |(count, arrivals), gap| (count + 1, arrivals + gap));
    f64::from(count) / arrivals as f64
}

#[track_caller]
fn near(what: &str, case: Case, [seen, theory]: [f64; 2], tolerance: f64) {
    assert!((seen / theory - 1.0).abs() < tolerance, "{case:?}, {what}: {seen}, theory {theory}");
}

/// More flows do not keep step, and the theory, which says that they do, is for few.
#[test]
fn the_queue_stays_in_its_sawtooth() {
    for flows in [1, 2] {
        for step in [20, 40, 65] {
            let case = Case { flows, step, per_ack: 1, pacing: false };
            let Sawtooth { height, mean, marks, share } = case.run();
            near("sawtooth", case, height, 0.1);
            near("marks", case, marks, 0.1);
            assert!((mean[0] - mean[1]).abs() < 1.0, "{case:?}: mean {mean:?}");
            // Two flows in step leave room for another packet or two between them.
            near("share", case, share, 0.05);
        }
    }
}

#[test]
fn delayed_acks_mark_the_last_of_each_bunch() {
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

/// Some of the window then waits at the sender: the queue is a little longer in the mean than the theory has it.
#[test]
fn pacing_undoes_what_delayed_acks_do() {
    for step in [20, 65] {
        let case = Case { flows: 1, step, per_ack: 2, pacing: true };
        let Sawtooth { height, marks, share, .. } = case.run();
        near("sawtooth", case, height, 0.1);
        near("marks", case, marks, 0.1);
        near("share", case, share, 0.05);
    }
}
