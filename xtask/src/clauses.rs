//! `vectors/LAW/CLAUSE.jsonl`: traces in which one clause of a law's source decides.
//!
//! The script shows why that clause decides; an implementation that violates it fails with the clause in the header.
//! `tests/oracles/mutants.py` holds such implementations.

use crate::vectors::{Ignored, Parcel, Recorder, Vector};
use sojourn_aqm::LawSpec;
use sojourn_aqm::qdiscs::Fifo;
use sojourn_aqm::{FlowId, Limit, LinkContext, Qdisc};
use sojourn_random::Stream;
use sojourn_trace::{Header, VerdictTrace};
use sojourn_units::{Ecn, Rate, Span, Time};
use std::sync::{Arc, Mutex};

/// Every trace of a clause.
pub(crate) fn vectors() -> Vec<Vector> {
    CLAUSES.iter().map(Clause::trace).collect()
}

/// A clause of a source, and a script whose verdicts it decides.
struct Clause {
    /// Name of the trace in the law's folder.
    name: &'static str,
    /// Source and section, and the rule.
    rule: &'static str,
    /// Events of the script.
    about: &'static str,
    qdisc: &'static str,
    /// Buffer, packets.
    limit: u32,
    script: fn(&mut Script),
}

const CLAUSES: &[Clause] = &[
    Clause {
        name: "control_law",
        rule: "RFC 8289, section 5.6: the next drop is due at t + interval/sqrt(count)",
        about: "a queue that stands; a packet leaves every 5 ms, so the pace of the drops shows",
        qdisc: "codel",
        limit: 200,
        script: |script| {
            script.arrive(120);
            script.send_every(5.0, 110);
        },
    },
    Clause {
        name: "condemned_packet",
        rule: "RFC 8289, section 5.5: the packet that is due is dropped and the one behind it delivered",
        about: "a queue that stands until two drops were due; every dequeue shows what becomes of which packet",
        qdisc: "codel",
        limit: 200,
        script: |script| {
            script.arrive(60);
            script.send_every(10.0, 22);
        },
    },
    Clause {
        name: "late_drops",
        rule: "RFC 8289, section 5.5: while the due time has passed another packet is dropped, and the next \
                 due time follows from the last one, not from the present",
        about: "a queue that stands; after the first drop the link takes nothing for 190 ms, so that two due \
                times have passed at its next dequeue",
        qdisc: "codel",
        limit: 200,
        script: |script| {
            script.arrive(60);
            script.send_every(10.0, 11);
            script.wait(190.0);
            script.send_every(10.0, 20);
        },
    },
    Clause {
        name: "re_entry",
        rule: "RFC 8289, section 5.5: back within 16 intervals the drop state begins at the last count less \
                 the one before, later at 1",
        about: "four drops, then 0.2 s of calm and the drop state again at the old pace; the same after 15.8 \
                intervals; after 16.02 it begins at 1",
        qdisc: "codel:interval=50ms,target=4ms",
        limit: 200,
        script: |script| {
            script.arrive(40);
            script.send_every(5.0, 34);
            script.drain();
            for calm in [200.0, 735.0, 760.0] {
                script.wait(calm);
                script.arrive(33);
                script.send_every(5.0, 26);
                script.drain();
            }
        },
    },
    Clause {
        name: "one_mtu",
        rule: "RFC 8289, section 5.6: a backlog of at most one maxpacket is left alone, however long it waits",
        about: "packets that wait 20 ms with one as large behind each: all pass; with two behind each a drop \
                comes after an interval",
        qdisc: "codel",
        limit: 200,
        script: |script| {
            script.arrive(2);
            for _ in 0..15 {
                script.wait(20.0);
                script.send();
                script.arrive(1);
            }
            script.arrive(1);
            for _ in 0..12 {
                script.wait(20.0);
                script.send();
                script.arrive(1);
            }
        },
    },
    Clause {
        name: "below_min",
        rule: "Floyd and Jacobson 1993, figure 2: below min_th the average lets every packet pass, whatever \
                 the queue itself is",
        about: "a burst above max into an empty queue, with draws of 0 that any probability would make a drop; \
                the average reaches min_th with the eighth packet",
        qdisc: "red:min=2packets,max=6packets,weight=0.1,wait=false",
        limit: 20,
        script: |script| {
            script.draw(0.0);
            script.arrive(10);
        },
    },
    Clause {
        name: "between",
        rule: "Floyd and Jacobson 1993, section 4: between the thresholds p_a = p_b/(1 - count p_b), with \
                 p_b = max_p (avg - min_th)/(max_th - min_th)",
        about: "an average of 10 packets and p_b = 0.1; draws on either side of p_a at counts of 6, 7, 1 and 2",
        qdisc: "red:min=5packets,max=15packets,max_p=0.2,weight=1,wait=false",
        limit: 40,
        script: |script| {
            script.draw(0.99);
            script.arrive(10);
            // 0.1/(1 - 0.6) = 0.25, then 0.1/(1 - 0.7) = 0.333: the drop sets the count to 0.
            script.arrive_under(0.251);
            script.arrive_under(0.332);
            // 0.1/(1 - 0.1) = 0.1111, 0.1/(1 - 0.2) = 0.125.
            script.arrive_under(0.112);
            script.arrive_under(0.124);
            script.ecn = Ecn::Ect0;
            script.arrive_under(0.112);
            script.arrive_under(0.124);
        },
    },
    Clause {
        name: "above",
        rule: "Floyd and Jacobson 1993, figure 2: from max_th on every packet is dropped (gentle = false)",
        about: "an average at max_th and then below it, with draws that no probability below 1 would make a drop",
        qdisc: "red:min=2packets,max=6packets,weight=1,max_p=0.02,gentle=false",
        limit: 20,
        script: |script| {
            script.draw(0.99);
            script.arrive(9);
            script.ecn = Ecn::Ect0;
            script.arrive(2);
            script.send();
            script.arrive(3);
        },
    },
    Clause {
        name: "gentle",
        rule: "Floyd 2000 (gentle): from max_th to 2 max_th the probability rises from max_p to 1, and only \
                 from there on every packet is dropped",
        about: "an average that climbs from max_th = 6 to twice that; p_b is 0.25 at 7 packets and 0.55, 0.7, 0.85 \
                at 9, 10, 11: with a draw of 0 a packet passes there while count p_b is below 1",
        qdisc: "red:min=2packets,max=6packets,weight=1",
        limit: 20,
        script: |script| {
            script.draw(0.0);
            script.arrive(7);
            // At a count of 6: 0.25/(2 - 1.5) = 0.5.
            script.draw(0.49);
            script.arrive(1);
            script.draw(0.0);
            script.arrive(2);
            for _ in [9, 10, 11] {
                script.draw(0.99);
                script.arrive(1);
                script.draw(0.0);
                script.arrive(1);
            }
            script.draw(0.99);
            script.arrive(2);
            script.ecn = Ecn::Ect0;
            script.arrive(1);
        },
    },
    Clause {
        name: "hard_limit",
        rule: "RFC 7567, section 2: the buffer's limit holds whatever the average; what does not fit is \
                 gone, and RED counts from there",
        about: "a buffer that is full while the average lies between the thresholds: two packets pass the law \
                and do not fit; then room is made, and the count and the average begin from what was let in",
        qdisc: "red:min=2packets,max=9packets,weight=0.2,max_p=0.1,wait=false",
        limit: 10,
        script: |script| {
            script.draw(0.99);
            script.arrive(12);
            script.send();
            // p_a is 0.086, 0.0995 and 0.117 at counts of 1 to 3, and 0.21 had the count gone on to 8.
            script.arrive_under(0.09);
            script.arrive_under(0.1);
            script.arrive_under(0.11);
            script.drain();
        },
    },
    Clause {
        name: "idle",
        rule: "Floyd and Jacobson 1993, figure 2: after an idle time the average is as if m = idle time / s \
                 packets had come to an empty queue",
        about: "an average above min_th, then silence for ten packet times of 8 ms; draws of 0 that make the \
                first packet above min_th a drop",
        qdisc: "red:min=2packets,max=12packets,weight=0.2,wait=false",
        limit: 20,
        script: |script| {
            script.draw(0.99);
            script.arrive(10);
            script.drain();
            script.wait(84.0);
            script.draw(0.0);
            script.arrive(8);
        },
    },
    Clause {
        name: "bypass_in_bytes",
        rule: "RFC 8033, section 4.1: a packet is enqueued without a draw where at most 2 MEAN_PKTSIZE bytes are queued",
        about: "a probability above 0 and draws of 0: five packets of 500 B find at most 2000 B and pass, a sixth \
                does not; two of 1500 B pass, a third finds 3000 B",
        qdisc: "pie:max_burst=0ms,derandomize=false",
        limit: 40,
        script: |script| {
            script.arrive(30);
            script.send_every(20.0, 28);
            script.drain();
            script.draw(0.0);
            for (len, packets) in [(500, 6), (1500, 3)] {
                script.len = len;
                script.arrive(packets);
                script.drain();
            }
        },
    },
    Clause {
        name: "calm",
        rule: "RFC 8033, section 4.1: a packet is enqueued without a draw where the last delay was below half the \
                 target and drop_prob below 0.2",
        about: "draws of 0: a fourth packet after a calm does not pass with a probability of 0.9; with 0.16 six do, \
                but not the next one, which finds a delay of 20 ms",
        qdisc: "pie:max_burst=0ms,derandomize=false,cap_drop=false,alpha=2,beta=0.1",
        limit: 60,
        script: |script| {
            script.draw(0.99);
            script.arrive(32);
            script.send_every(10.0, 30);
            script.drain();
            script.wait(20.0);
            script.draw(0.0);
            script.arrive(4);
            script.drain();
            script.wait(310.0);
            script.arrive(6);
            script.wait(20.0);
            script.send();
            script.wait(15.0);
            script.arrive(1);
            script.drain();
        },
    },
    Clause {
        name: "updates_by_timer",
        rule: "RFC 8033, section 4.2: the drop probability is updated each T_UPDATE, whether packets come or not",
        about: "nothing comes for 300 ms while the queue drains slowly, and the probability rises to 0.6; then nothing \
                comes for 300 ms to an empty queue, and it falls to 0",
        qdisc: "pie:max_burst=0ms,derandomize=false,alpha=20,beta=20",
        limit: 40,
        script: |script| {
            script.draw(0.99);
            script.arrive(20);
            script.send_every(20.0, 15);
            script.draw(0.5);
            script.arrive(2);
            script.drain();
            script.wait(300.0);
            script.draw(0.0);
            script.arrive(5);
        },
    },
    Clause {
        name: "ramp_back",
        rule: "Morton 2018: while the delay is in order the ramp of CoDel's half runs backwards at the pace at \
                 which it came",
        about: "signals up to a count of 5, then calm for two steps of the ramp, then a queue that stands again: its \
                first signals come at the pace of a count of 3",
        qdisc: "cobalt",
        limit: 200,
        script: |script| {
            script.arrive(80);
            script.send_every(5.0, 70);
            script.drain();
            // The link is idle at 350 ms; due at 373.1 and 423.1 ms the count goes from 5 to 3.
            script.wait(75.0);
            script.arrive(1);
            script.send();
            script.arrive(60);
            script.send_every(5.0, 30);
        },
    },
    Clause {
        name: "count_at_entry",
        rule: "sch_cake.c, cobalt_should_drop: the count is at least 1 once the delay is out of order, and 2 at the \
               first signal",
        about: "a queue that stands; a packet leaves every 5 ms, so the pace of the drops shows",
        qdisc: "cobalt",
        limit: 200,
        script: |script| {
            script.arrive(120);
            script.send_every(5.0, 110);
        },
    },
    Clause {
        name: "overflow_signals",
        rule: "sch_cake.c, cobalt_queue_full: an overflow puts CoDel's half into its drop state with a step due now",
        about: "five packets do not fit; the first that leaves after more than four packets' times is dropped",
        qdisc: "cobalt",
        limit: 20,
        script: |script| {
            script.arrive(25);
            script.wait(60.0);
            script.send();
            script.send_every(5.0, 12);
        },
    },
    Clause {
        name: "four_mtu_times",
        rule: "sch_cake.c, cobalt_should_drop: a delay of up to four transmission times of an MTU is in order",
        about: "an MTU takes 12 ms; four packets of 8 ms stand for 240 ms, then eight",
        qdisc: "cobalt",
        limit: 20,
        script: |script| {
            script.arrive(4);
            for _ in 0..30 {
                script.wait(8.0);
                script.send();
                script.arrive(1);
            }
            script.arrive(4);
            for _ in 0..25 {
                script.wait(8.0);
                script.send();
                script.arrive(1);
            }
        },
    },
    Clause {
        name: "above_target",
        rule: "sch_cake.c, cobalt_should_drop: a delay is out of order above the target, not at it",
        about: "for 125 ms every packet leaves after 5 ms, then after 6 ms",
        qdisc: "cobalt:mtu=100B",
        limit: 20,
        script: |script| {
            for millis in [5.0; 25].into_iter().chain([6.0; 25]) {
                script.arrive(2);
                script.wait(millis);
                script.send();
                script.send();
            }
        },
    },
    Clause {
        name: "last_packet",
        rule: "sch_cake.c, cake_dequeue: the last packet of a queue may be marked and is not dropped",
        about: "an overflow, so that each step is due; then two packets come and leave alone, the second one \
                ECN-capable",
        qdisc: "cobalt",
        limit: 2,
        script: |script| {
            script.arrive(3);
            script.wait(60.0);
            script.send();
            for ecn in [Ecn::NotEct, Ecn::Ect0] {
                script.ecn = ecn;
                script.arrive(1);
                script.wait(60.0);
                script.send();
            }
        },
    },
    Clause {
        name: "late_steps",
        rule: "sch_cake.c, cobalt_should_drop: steps whose time has passed are made up for by drops; where a packet \
               is not dropped the next step is due now",
        about: "the link stands still for 300 ms, once before packets that are dropped and once before such as are \
                marked",
        qdisc: "cobalt",
        limit: 200,
        script: |script| {
            script.arrive(40);
            script.ecn = Ecn::Ect0;
            script.arrive(50);
            script.send_every(5.0, 12);
            script.wait(300.0);
            script.send_every(5.0, 25);
            script.wait(300.0);
            script.send_every(5.0, 25);
        },
    },
    Clause {
        name: "step_due_at_entry",
        rule: "sch_cake.c, cobalt_should_drop: a step that is due as the delay comes out of order again is a signal, not \
               a step back",
        about: "two signals, calm until after the time of the third step, then a packet that waited for 60 ms",
        qdisc: "cobalt",
        limit: 200,
        script: |script| {
            script.arrive(60);
            script.send_every(5.0, 40);
            script.drain();
            script.arrive(30);
            script.wait(60.0);
            script.send();
            script.send_every(5.0, 10);
        },
    },
    Clause {
        name: "out_of_order_after_rest",
        rule: "sch_cake.c, cobalt_should_drop: where nothing has left for an interval, the first packet that is late \
               makes a step due now",
        about: "a packet in order, and the next ones 150 ms later",
        qdisc: "cobalt",
        limit: 200,
        script: |script| {
            script.wait(1.0);
            script.arrive(1);
            script.send();
            script.arrive(20);
            script.wait(150.0);
            script.send_every(5.0, 12);
        },
    },
    Clause {
        name: "blue_is_blind_to_ecn",
        rule: "Morton 2016: BLUE's half ignores ECN and simply drops packets",
        about: "an overflow every 10 ms takes p to 0.3; then packets that may be marked leave under a draw above it \
                and three below it; the last of the queue is spared",
        qdisc: "cobalt:increment=0.1,decrement=0.01",
        limit: 4,
        script: |script| {
            script.ecn = Ecn::Ect0;
            script.arrive(4);
            for _ in 0..3 {
                script.arrive(2);
                script.wait(10.0);
            }
            script.draw(0.31);
            script.send();
            script.draw(0.29);
            script.send();
        },
    },
];

/// The law in a qdisc, in front of a link of 1 Mbit/s that sends at scripted times.
struct Script {
    qdisc: Fifo<Parcel, Recorder>,
    now: Time,
    /// ECN bits and size of the next packets.
    ecn: Ecn,
    len: u32,
    /// Value of the uniform draws.
    uniform: Arc<Mutex<f64>>,
}

impl Script {
    /// Arrival of `packets` packets.
    fn arrive(&mut self, packets: usize) {
        for _ in 0..packets {
            let parcel = Parcel { len: self.len, ecn: self.ecn, flow: FlowId(0) };
            self.qdisc.enqueue(self.now, parcel, &mut Ignored);
        }
    }

    /// Sets the uniform draws from now on.
    fn draw(&mut self, uniform: f64) {
        *self.uniform.lock().expect("no panic under the lock") = uniform;
    }

    /// One arrival under this draw; if it is accepted, a packet departs.
    fn arrive_under(&mut self, uniform: f64) {
        let before = self.qdisc.backlog().packets;
        self.draw(uniform);
        self.arrive(1);
        if self.qdisc.backlog().packets > before {
            self.send();
        }
    }

    /// The link takes a packet; true if there was one.
    fn send(&mut self) -> bool {
        self.qdisc.dequeue(self.now, &mut Ignored).is_some()
    }

    /// Waits and sends, `times` times.
    fn send_every(&mut self, millis: f64, times: usize) {
        for _ in 0..times {
            self.wait(millis);
            self.send();
        }
    }

    /// The link empties the queue.
    fn drain(&mut self) {
        while self.send() {}
    }

    /// Lets time pass, with updates alone.
    fn wait(&mut self, millis: f64) {
        let until = self.now + Span::from_seconds(millis / 1000.0);
        while let Some(due) = self.qdisc.next_update().filter(|due| *due <= until) {
            self.qdisc.on_update(due, due);
        }
        self.now = until;
    }
}

impl Clause {
    fn trace(&self) -> Vector {
        let limit = Limit::Packets(self.limit);
        let rate = Rate::from_bits_per_second(1e6);
        let base_rtt = Some(Span::from_millis(100));
        let context =
            LinkContext { rate, packet: 1000.0, limit: limit.packets(1000.0), flows: Some(10.0), base_rtt };
        let qdisc = LawSpec::parse(self.qdisc).expect("a valid SPEC");
        let path = format!("{}/{}.jsonl", qdisc.law(), self.name);
        let header = Header { about: self.about.into(), clause: Some(self.rule.into()), qdisc, context };
        let law = header.law().expect("a law in this context");
        let (calls, uniform) = (Arc::default(), Arc::new(Mutex::new(0.5)));
        let recorder = Recorder { law, calls: Arc::clone(&calls), uniform: Some(Arc::clone(&uniform)) };
        let qdisc = Fifo::new(recorder, limit, context, Stream::named(1, "disc"));
        (self.script)(&mut Script { qdisc, now: Time::ZERO, ecn: Ecn::NotEct, len: 1000, uniform });
        let calls = std::mem::take(&mut *calls.lock().expect("no panic under the lock"));
        Vector { path, text: VerdictTrace { header, calls }.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_aqm::Verdict;

    #[test]
    fn every_clause_is_short_decides_and_replays() {
        for vector in vectors() {
            let trace = VerdictTrace::parse(&vector.text).unwrap();
            assert_eq!(trace.replay(), Ok(()), "{}", vector.path);
            assert!(trace.header.clause.is_some());
            assert!(trace.calls.len() < 300, "{}: {} calls", vector.path, trace.calls.len());
            let occurs = |verdict| trace.calls.iter().any(|(_, answer)| answer.verdict == Some(verdict));
            assert!(occurs(Verdict::Pass) && occurs(Verdict::Drop), "{} decides nothing", vector.path);
        }
    }
}
