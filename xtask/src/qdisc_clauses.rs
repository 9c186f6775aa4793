//! `vectors/QDISC/CLAUSE.jsonl`: traces in which one clause of a qdisc's source decides.
//!
//! A script has arrivals, dequeues, pauses and updates; which packet leaves, is marked or dropped shows whether the clause holds.
//! `tests/oracles/qdisc_mutants.py` holds implementations that violate it, and its trace rejects each.

use crate::qdisc_vectors::{Header, Script};
use crate::vectors::{Vector, at};
use sojourn_units::{Ecn, Span, Time};

/// Every trace of a clause.
pub(crate) fn vectors() -> Vec<Vector> {
    CLAUSES.iter().map(Clause::trace).collect()
}

/// A clause of a source, and a script that it decides.
struct Clause {
    /// Name of the trace in the qdisc's folder.
    name: &'static str,
    /// Source and section, and the rule.
    rule: &'static str,
    qdisc: &'static str,
    /// `FLOW N [LEN [ECN]]`: packets arrive; `send N [MS]`: dequeues, so far apart; `wait MS`; `update`: the time of the next one
    /// comes, and it is made.
    script: &'static str,
}

const CLAUSES: &[Clause] = &[
    Clause {
        name: "new_queue",
        rule: "RFC 8290, section 4.1: a queue that is not active is added to the end of the list of new queues",
        qdisc: "fq_codel:by=class,quantum=3000 B",
        script: "a 8; send 4; b 1; c 1; send 6",
    },
    Clause {
        name: "new_before_old",
        rule: "RFC 8290, section 4.2: the list of new queues is looked at first, then that of old queues",
        qdisc: "fq_codel:by=class,quantum=3000 B",
        script: "a 8; send 4; b 5; send 8",
    },
    Clause {
        name: "initial_credits",
        rule: "RFC 8290, section 4.1: the credits of a queue that is added are set to the quantum",
        qdisc: "fq_codel:by=class,quantum=2000 B",
        script: "a 8; send 3; b 3; send 8",
    },
    Clause {
        name: "empty_new_queue",
        rule: "RFC 8290, section 4.2: an empty new queue is moved to the end of the list of old queues",
        qdisc: "fq_codel:by=class,quantum=3000 B",
        script: "a 8; send 4; b 1; send 2; b 1; send 5",
    },
    Clause {
        name: "empty_old_queue",
        rule: "RFC 8290, section 4.2: an empty old queue is removed, and is new when a packet arrives",
        qdisc: "fq_codel:by=class,quantum=2000 B",
        script: "a 9; b 1; send 6; b 1; send 2; b 1; send 4",
    },
    Clause {
        name: "credits_in_bytes",
        rule: "RFC 8290, section 4.2: credits are reduced by the size of the packet",
        qdisc: "fq_codel:by=class",
        script: "a 8 300; b 8 1500; send 16",
    },
    Clause {
        name: "spent_credits",
        rule: "RFC 8290, section 4.2: a queue without credits is given a quantum and moved to the end of the list of old queues",
        qdisc: "fq_codel:by=class,quantum=1000 B",
        script: "a 4; b 4; send 8",
    },
    Clause {
        name: "most_bytes",
        rule: "RFC 8290, section 4.1: the queue with the most bytes loses packets",
        qdisc: "fq_codel:by=class,limit=8",
        script: "a 5 100; b 3 1500; c 1 100; send 8",
    },
    Clause {
        name: "half_a_queue",
        rule: "RFC 8290, section 4.1: half of the packets of that queue are dropped",
        qdisc: "fq_codel:by=class,limit=10",
        script: "a 8; b 3; send 9",
    },
    Clause {
        name: "batch",
        rule: "RFC 8290, section 4.1: up to 64 packets are dropped at once",
        qdisc: "fq_codel:by=class,limit=150",
        script: "a 152",
    },
    Clause {
        name: "from_the_head",
        rule: "RFC 8290, section 4.1: packets are dropped from the head of the queue",
        qdisc: "fq_codel:by=class,limit=10,batch=1",
        script: "a 8; b 5; send 10",
    },
    Clause {
        name: "memory",
        rule: "RFC 8290, section 5.2.3: the limit holds in bytes, too",
        qdisc: "fq_codel:by=class,memory=5000 B",
        script: "a 4; b 6 300; send 9",
    },
    Clause {
        name: "ecn",
        rule: "RFC 8290, section 5.2.6: packets that can be marked are marked in place of being dropped",
        qdisc: "fq_codel:by=class",
        script: "a 40 1000 ect0; send 30 20",
    },
    Clause {
        name: "ce_threshold",
        rule: "RFC 8290, section 5.2.7: packets whose delay is above ce_threshold are marked",
        qdisc: "fq_codel:by=class,ce_threshold=20 ms",
        script: "a 6 1000 ect0; wait 15; send 1; wait 10; send 5",
    },
    Clause {
        name: "ce_threshold_for_ect",
        rule: "RFC 8290, section 5.2.7: ce_threshold applies to packets that can be marked",
        qdisc: "fq_codel:by=class,ce_threshold=20 ms",
        script: "a 3; b 3 1000 ect1; wait 25; send 6",
    },
    Clause {
        name: "own_law",
        rule: "RFC 8290, section 4.1.3: every queue has a law with a state of its own",
        qdisc: "fq_pie:by=class,law.max_burst=0 ms,law.alpha=20,law.beta=20,law.cap_drop=false",
        script: "a 40; wait 50; send 1; update; send 1; update; send 1; update; send 1; update; b 9; a 9; send 12",
    },
    Clause {
        name: "bypass",
        rule: "RFC 8033, section 4.1: a packet is enqueued without a draw where at most 2 MEAN_PKTSIZE bytes are queued",
        qdisc: "fq_pie:by=class,law.max_burst=0 ms,law.alpha=20,law.beta=20,law.cap_drop=false,law.derandomize=false",
        script: "a 40; wait 50; send 1; update; send 1; update; send 1; update; send 1; update; send 36; a 6; send 6",
    },
    Clause {
        name: "burst",
        rule: "RFC 8033, section 4.3: packets of the first max_burst pass",
        qdisc: "fq_pie:by=class,law.max_burst=150 ms,law.alpha=20,law.beta=20,law.cap_drop=false",
        script: "a 40; wait 50; send 1; update; send 1; update; send 1; update; send 1; update; a 9; send 9",
    },
    Clause {
        name: "ecn_threshold",
        rule: "RFC 8033, section 5.1: packets are marked while the probability is below mark_ecnth, and dropped above",
        qdisc: "fq_pie:by=class,law.max_burst=0 ms,law.alpha=20,law.beta=20,law.cap_drop=false,law.derandomize=false",
        script: "a 40; wait 50; send 1; update; send 1; update; send 1; update; send 1; update; a 9 1000 ect0; send 9",
    },
    Clause {
        name: "updates_by_timer",
        rule: "RFC 8033, section 4.2: the probability is updated each T_UPDATE, whether packets come or not",
        qdisc: "fq_pie:by=class,law.max_burst=0 ms,law.alpha=20,law.beta=20,law.cap_drop=false",
        script: "a 40; wait 50; send 1; update; send 1; update; send 1; update; send 1; update; a 9; send 9",
    },
    Clause {
        name: "trend",
        rule: "RFC 8033, section 4.2: the probability grows by beta times the change of the delay",
        qdisc: "fq_pie:by=class,law.max_burst=0 ms,law.alpha=0.1,law.beta=20,law.cap_drop=false,law.derandomize=false",
        script: "a 60; wait 50; send 1; update; send 1; update; send 1; update; send 1; update; send 1; update; send 1; update; send 1; update; send 1; update; send 1; update; a 30; send 9",
    },
    Clause {
        name: "limit",
        rule: "RFC 9332, Figure 3, lines 2 and 3: a packet that finds the buffer full is dropped",
        qdisc: "dual:limit=5",
        script: "a 5; b 2 1000 ect1; send 6",
    },
    Clause {
        name: "classifier",
        rule: "RFC 9332, Figure 3, line 6: ECT(1) and CE go to the L queue",
        qdisc: "dual",
        script: "a 4 1000 ect0; b 2 1000 ce; c 2 1000 ect1; send 8",
    },
    Clause {
        name: "combined",
        rule: "RFC 9332, Figure 4, line 6: p_L = max(p'_L, p_CL)",
        qdisc: "dual",
        script: "a 10; wait 100; update; b 8 1000 ect1; wait 0.9; send 18",
    },
    Clause {
        name: "marks_l",
        rule: "RFC 9332, Figure 4, lines 7 and 8: a packet of L is marked with probability p_L",
        qdisc: "dual",
        script: "b 6 1000 ect1; wait 3; send 6",
    },
    Clause {
        name: "squared_signal",
        rule: "RFC 9332, Figure 4, line 11: a packet of C is signalled with probability p_C",
        qdisc: "dual",
        script: "a 30 1000 ect0; wait 100; update; send 30",
    },
    Clause {
        name: "drops_not_ect",
        rule: "RFC 9332, Figure 4, lines 12 to 14: a packet of C that cannot be marked is dropped, and the next one taken",
        qdisc: "dual",
        script: "a 30; wait 100; update; send 29",
    },
    Clause {
        name: "marks_c",
        rule: "RFC 9332, Figure 4, line 16: other packets of C are marked",
        qdisc: "dual",
        script: "a 5; b 25 1000 ect0; wait 100; update; send 30",
    },
    Clause {
        name: "recur",
        rule: "RFC 9332, Figure 4, line 26: a signal takes 1 from the count",
        qdisc: "dual:th_len=100",
        script: "a 20; wait 100; update; b 20 1000 ect1; send 38",
    },
    Clause {
        name: "recur_above_one",
        rule: "RFC 9332, Figure 4, line 25: a signal needs a count above 1",
        qdisc: "dual:min_th=2 ms,range=4 ms",
        script: "b 6 1000 ect1; wait 6; send 6",
    },
    Clause {
        name: "ramp_end",
        rule: "RFC 9332, Figure 5, lines 2 and 3: from the end of the ramp on the probability is 1",
        qdisc: "dual:min_th=2 ms,range=4 ms",
        script: "b 8 1000 ect1; wait 6; send 4; wait 20; send 4",
    },
    Clause {
        name: "ramp",
        rule: "RFC 9332, Figure 5, line 5: on the ramp the probability grows with the delay",
        qdisc: "dual:min_th=2 ms,range=4 ms",
        script: "b 12 1000 ect1; wait 3; send 12",
    },
    Clause {
        name: "below_the_ramp",
        rule: "RFC 9332, Figure 5, line 7: up to minTh the probability is 0",
        qdisc: "dual:min_th=2 ms,range=4 ms",
        script: "b 12 1000 ect1; wait 1.9; send 12",
    },
    Clause {
        name: "th_len",
        rule: "RFC 9332, Figure 7, lines 5a to 5d: a queue of Th_len packets is not marked for its delay",
        qdisc: "dual",
        script: "b 1 1000 ect1; wait 5; send 1; b 1 1000 ect1; wait 5; send 1; b 1 1000 ect1; wait 5; send 1",
    },
    Clause {
        name: "error",
        rule: "RFC 9332, Figure 6, line 3: p' grows by alpha times the error of the delay",
        qdisc: "dual:th_len=100",
        script: "a 2; wait 100; update; b 40 1000 ect1; send 42",
    },
    Clause {
        name: "trend",
        rule: "RFC 9332, Figure 6, line 3: p' grows by beta times the change of the delay",
        qdisc: "dual:th_len=100",
        script: "a 2; wait 100; update; b 10 1000 ect1; send 12",
    },
    Clause {
        name: "previous_delay",
        rule: "RFC 9332, Figure 6, line 6: the delay is kept for the next update",
        qdisc: "dual:th_len=100",
        script: "a 2; wait 50; update; update; update; b 20 1000 ect1; send 22",
    },
    Clause {
        name: "coupling",
        rule: "RFC 9332, Figure 6, line 4: p_CL = k p'",
        qdisc: "dual:th_len=100,coupling=3",
        script: "a 2; wait 50; update; b 20 1000 ect1; send 22",
    },
    Clause {
        name: "square",
        rule: "RFC 9332, Figure 6, line 5: p_C = p'^2",
        qdisc: "dual",
        script: "a 20 1000 ect0; wait 80; update; send 20",
    },
    Clause {
        name: "longer_delay",
        rule: "RFC 9332, Figure 8, line 2a: the delay is the greater one of the two queues",
        qdisc: "dual:th_len=100",
        script: "b 20 1000 ect1; wait 100; update; send 20",
    },
    Clause {
        name: "overload_of_c",
        rule: "RFC 9332, Figure 7, line 12b: from p_Cmax on all packets of C are dropped",
        qdisc: "dual",
        script: "a 20 1000 ect0; wait 200; update; send 14",
    },
    Clause {
        name: "overload_of_l",
        rule: "RFC 9332, Figure 7, lines 8c to 8f: from p_Lmax on packets of L are dropped with probability p_C",
        qdisc: "dual",
        script: "b 30 1000 ect1; wait 200; update; send 24",
    },
    Clause {
        name: "marks_in_overload",
        rule: "RFC 9332, Figure 7, lines 8h and 8i: under overload the other packets of L are marked with probability p_CL",
        qdisc: "dual",
        script: "b 30 1000 ect1; wait 200; update; send 24",
    },
    Clause {
        name: "weight",
        rule: "RFC 9332, section 4.2.2: the classic queue has its share beside a busy L queue",
        qdisc: "dual:min_th=1 s,classic_share=0.25",
        script: "a 6; b 14 1000 ect1; send 20",
    },
    Clause {
        name: "time_shift",
        rule: "RFC 9332, Appendix A.2: L is ahead of the classic queue by tshift",
        qdisc: "dual:scheduler=time_shift,min_th=1 s",
        script: "a 3; wait 40; b 2 1000 ect1; send 1; wait 20; send 4",
    },
    Clause {
        name: "bypass",
        rule: "RFC 9332, Appendix A.1: a queue of less than two MTU is not signalled",
        qdisc: "dual:bypass=3000 B,th_len=100",
        script: "a 2; wait 100; update; b 1 1000 ect1; send 2; b 1 1000 ect1; send 1; b 1 1000 ect1; send 2",
    },
];

impl Clause {
    fn trace(&self) -> Vector {
        let stem = self.qdisc.split(':').next().unwrap_or_default();
        let header = Header { about: self.script, clause: Some(self.rule), spec: self.qdisc, limit: BUFFER };
        let mut script = Script::new(header);
        let mut now = Time::ZERO;
        for step in self.script.split(';') {
            now = run(&mut script, now, &step.split_whitespace().collect::<Vec<_>>());
        }
        Vector { path: format!("{stem}/{}.jsonl", self.name), text: script.text }
    }
}

/// Runs one step; returns the time after it.
fn run(script: &mut Script, now: Time, step: &[&str]) -> Time {
    let millis = |text: &str| at(number(text) / 1000.0).since(Time::ZERO);
    match step {
        ["wait", time] => now + millis(time),
        ["update"] => {
            let due = script.next_update().expect("an update").max(now);
            script.update(due);
            due
        }
        ["send", count, apart @ ..] => {
            let apart = apart.first().map_or(Span::ZERO, |time| millis(time));
            let mut now = now;
            for _ in 0..number(count) as u32 {
                script.dequeue(now);
                now += apart;
            }
            now
        }
        [flow, count, packet @ ..] => {
            let flow = u32::from(flow.as_bytes()[0] - b'a');
            let len = packet.first().map_or(1000, |len| number(len) as u32);
            for _ in 0..number(count) as u32 {
                script.enqueue(now, (flow, len, ecn(packet.get(1).copied().unwrap_or("not_ect"))));
            }
            now
        }
        _ => panic!("{step:?}"),
    }
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("{text}: no number"))
}

fn ecn(word: &str) -> Ecn {
    match word {
        "not_ect" => Ecn::NotEct,
        "ect0" => Ecn::Ect0,
        "ect1" => Ecn::Ect1,
        "ce" => Ecn::Ce,
        _ => panic!("{word}: no codepoint"),
    }
}

/// Buffer, packets: more than any script holds.
const BUFFER: u32 = 1000;
