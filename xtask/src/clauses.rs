//! `vectors/LAW/CLAUSE.jsonl`: traces in which one clause of a law's source decides.
//!
//! The plots of `vectors.rs` let a law live; these ask it one question each. A
//! reader should see from the script why that clause decides, and an
//! implementation that gets it wrong fails where the header names it.
//! `tests/oracles/mutants.py` holds such implementations.

use crate::vectors::{Nobody, Parcel, Recorder, Vector};
use sojourn_aqm::discs::Fifo;
use sojourn_aqm::{Disc, FlowId, Limit, Site};
use sojourn_scenario::DiscSpec;
use sojourn_scenario::trace::{Header, VerdictTrace};
use sojourn_units::{Ecn, Rate, Span, Stream, Time};
use std::sync::{Arc, Mutex};

/// Every trace of a clause.
pub(crate) fn vectors() -> Vec<Vector> {
    CLAUSES.iter().map(Clause::trace).collect()
}

/// One clause of a source, and a conversation that it decides.
struct Clause {
    /// The trace's name in the law's folder.
    name: &'static str,
    /// Where it stands, and what it says.
    says: &'static str,
    /// What happens in the conversation.
    about: &'static str,
    disc: &'static str,
    /// The buffer, packets.
    limit: u32,
    script: fn(&mut Talk),
}

const CLAUSES: &[Clause] = &[
    Clause {
        name: "control_law",
        says: "RFC 8289, section 5.6: the next drop is due at t + interval/sqrt(count)",
        about: "a queue that stands; a packet leaves every 5 ms, so the pace of the drops shows",
        disc: "codel",
        limit: 200,
        script: |talk| {
            talk.arrive(120);
            talk.send_every(5.0, 110);
        },
    },
    Clause {
        name: "condemned_packet",
        says: "RFC 8289, section 5.5: the packet that is due is dropped and the one behind it delivered",
        about: "a queue that stands until two drops were due; every dequeue shows what becomes of which packet",
        disc: "codel",
        limit: 200,
        script: |talk| {
            talk.arrive(60);
            talk.send_every(10.0, 22);
        },
    },
    Clause {
        name: "late_drops",
        says: "RFC 8289, section 5.5: while the due time has passed another packet is dropped, and the next \
                 due time follows from the last one, not from the present",
        about: "a queue that stands; after the first drop the link takes nothing for 190 ms, so that two due \
                times have passed when it asks again",
        disc: "codel",
        limit: 200,
        script: |talk| {
            talk.arrive(60);
            talk.send_every(10.0, 11);
            talk.wait(190.0);
            talk.send_every(10.0, 20);
        },
    },
    Clause {
        name: "re_entry",
        says: "RFC 8289, section 5.5: back within 16 intervals the drop state begins at the last count less \
                 the one before, later at 1",
        about: "four drops, then 0.2 s of calm and the drop state again at the old pace; the same after 15.8 \
                intervals; after 16.02 it begins at 1",
        disc: "codel:interval=50ms,target=4ms",
        limit: 200,
        script: |talk| {
            talk.arrive(40);
            talk.send_every(5.0, 34);
            talk.drain();
            for calm in [200.0, 735.0, 760.0] {
                talk.wait(calm);
                talk.arrive(33);
                talk.send_every(5.0, 26);
                talk.drain();
            }
        },
    },
    Clause {
        name: "one_mtu",
        says: "RFC 8289, section 5.6: a backlog of at most one maxpacket is left alone, however long it waits",
        about: "packets that wait 20 ms with one as large behind each: all pass; with two behind each a drop \
                comes after an interval",
        disc: "codel",
        limit: 200,
        script: |talk| {
            talk.arrive(2);
            for _ in 0..15 {
                talk.wait(20.0);
                talk.send();
                talk.arrive(1);
            }
            talk.arrive(1);
            for _ in 0..12 {
                talk.wait(20.0);
                talk.send();
                talk.arrive(1);
            }
        },
    },
    Clause {
        name: "below_min",
        says: "Floyd and Jacobson 1993, figure 2: below min_th the average lets every packet pass, whatever \
                 the queue itself is",
        about: "a burst above max into an empty queue, with draws of 0 that any probability would make a drop; \
                the average reaches min_th with the eighth packet",
        disc: "red:min=2packets,max=6packets,weight=0.1,wait=false",
        limit: 20,
        script: |talk| {
            talk.draw(0.0);
            talk.arrive(10);
        },
    },
    Clause {
        name: "between",
        says: "Floyd and Jacobson 1993, section 4: between the thresholds p_a = p_b/(1 - count p_b), with \
                 p_b = max_p (avg - min_th)/(max_th - min_th)",
        about: "an average of 10 packets and p_b = 0.1; draws on either side of p_a at counts of 6, 7, 1 and 2",
        disc: "red:min=5packets,max=15packets,max_p=0.2,weight=1,wait=false",
        limit: 40,
        script: |talk| {
            talk.draw(0.99);
            talk.arrive(10);
            // 0.1/(1 - 0.6) = 0.25, then 0.1/(1 - 0.7) = 0.333: the drop sets the count to 0.
            talk.judge(0.251);
            talk.judge(0.332);
            // 0.1/(1 - 0.1) = 0.1111, 0.1/(1 - 0.2) = 0.125.
            talk.judge(0.112);
            talk.judge(0.124);
            talk.ecn = Ecn::Ect0;
            talk.judge(0.112);
            talk.judge(0.124);
        },
    },
    Clause {
        name: "above",
        says: "Floyd and Jacobson 1993, figure 2: from max_th on every packet is dropped (gentle = false)",
        about: "an average at max_th and then below it, with draws that no probability below 1 would make a drop",
        disc: "red:min=2packets,max=6packets,weight=1,max_p=0.02,gentle=false",
        limit: 20,
        script: |talk| {
            talk.draw(0.99);
            talk.arrive(9);
            talk.ecn = Ecn::Ect0;
            talk.arrive(2);
            talk.send();
            talk.arrive(3);
        },
    },
    Clause {
        name: "gentle",
        says: "Floyd 2000 (gentle): from max_th to 2 max_th the probability rises from max_p to 1, and only \
                 from there on every packet is dropped",
        about: "an average that climbs from max_th = 6 to twice that; p_b is 0.25 at 7 packets and 0.55, 0.7, 0.85 \
                at 9, 10, 11: with a draw of 0 a packet passes there while count p_b is below 1",
        disc: "red:min=2packets,max=6packets,weight=1",
        limit: 20,
        script: |talk| {
            talk.draw(0.0);
            talk.arrive(7);
            // At a count of 6: 0.25/(2 - 1.5) = 0.5.
            talk.draw(0.49);
            talk.arrive(1);
            talk.draw(0.0);
            talk.arrive(2);
            for _ in [9, 10, 11] {
                talk.draw(0.99);
                talk.arrive(1);
                talk.draw(0.0);
                talk.arrive(1);
            }
            talk.draw(0.99);
            talk.arrive(2);
            talk.ecn = Ecn::Ect0;
            talk.arrive(1);
        },
    },
    Clause {
        name: "hard_limit",
        says: "RFC 7567, section 2: the buffer's limit holds whatever the average says; what does not fit is \
                 gone, and RED counts from there",
        about: "a buffer that is full while the average lies between the thresholds: two packets pass the law \
                and do not fit; then room is made, and the count and the average begin from what was let in",
        disc: "red:min=2packets,max=9packets,weight=0.2,max_p=0.1,wait=false",
        limit: 10,
        script: |talk| {
            talk.draw(0.99);
            talk.arrive(12);
            talk.send();
            // p_a is 0.086, 0.0995 and 0.117 at counts of 1 to 3, and 0.21 had the count gone on to 8.
            talk.judge(0.09);
            talk.judge(0.1);
            talk.judge(0.11);
            talk.drain();
        },
    },
    Clause {
        name: "idle",
        says: "Floyd and Jacobson 1993, figure 2: after an idle time the average is as if m = idle time / s \
                 packets had come to an empty queue",
        about: "an average above min_th, then silence for ten packet times of 8 ms; draws of 0 that make the \
                first packet above min_th a drop",
        disc: "red:min=2packets,max=12packets,weight=0.2,wait=false",
        limit: 20,
        script: |talk| {
            talk.draw(0.99);
            talk.arrive(10);
            talk.drain();
            talk.wait(84.0);
            talk.draw(0.0);
            talk.arrive(8);
        },
    },
    Clause {
        name: "bypass_in_bytes",
        says: "RFC 8033, section 4.1: a packet is enqueued without a draw where at most 2 MEAN_PKTSIZE bytes are queued",
        about: "a probability above 0 and draws of 0: five packets of 500 B find at most 2000 B and pass, a sixth \
                does not; two of 1500 B pass, a third finds 3000 B",
        disc: "pie:max_burst=0ms,derandomize=false",
        limit: 40,
        script: |talk| {
            talk.arrive(30);
            talk.send_every(20.0, 28);
            talk.drain();
            talk.draw(0.0);
            for (len, packets) in [(500, 6), (1500, 3)] {
                talk.len = len;
                talk.arrive(packets);
                talk.drain();
            }
        },
    },
    Clause {
        name: "calm",
        says: "RFC 8033, section 4.1: a packet is enqueued without a draw where the last delay was below half the \
                 target and drop_prob below 0.2",
        about: "draws of 0: a fourth packet after a calm does not pass with a probability of 0.9; with 0.16 six do, \
                but not the next one, which finds a delay of 20 ms",
        disc: "pie:max_burst=0ms,derandomize=false,cap_drop=false,alpha=2,beta=0.1",
        limit: 60,
        script: |talk| {
            talk.draw(0.99);
            talk.arrive(32);
            talk.send_every(10.0, 30);
            talk.drain();
            talk.wait(20.0);
            talk.draw(0.0);
            talk.arrive(4);
            talk.drain();
            talk.wait(310.0);
            talk.arrive(6);
            talk.wait(20.0);
            talk.send();
            talk.wait(15.0);
            talk.arrive(1);
            talk.drain();
        },
    },
    Clause {
        name: "updates_by_timer",
        says: "RFC 8033, section 4.2: the drop probability is updated each T_UPDATE, whether packets come or not",
        about: "nothing comes for 300 ms while the queue drains slowly, and the probability rises to 0.6; then nothing \
                comes for 300 ms to an empty queue, and it falls to 0",
        disc: "pie:max_burst=0ms,derandomize=false,alpha=20,beta=20",
        limit: 40,
        script: |talk| {
            talk.draw(0.99);
            talk.arrive(20);
            talk.send_every(20.0, 15);
            talk.draw(0.5);
            talk.arrive(2);
            talk.drain();
            talk.wait(300.0);
            talk.draw(0.0);
            talk.arrive(5);
        },
    },
    Clause {
        name: "ramp_back",
        says: "Morton 2018: while the delay is in order the ramp of CoDel's half runs backwards at the pace at \
                 which it came",
        about: "signals up to a count of 5, then calm for two steps of the ramp, then a queue that stands again: its \
                first signals come at the pace of a count of 3",
        disc: "cobalt",
        limit: 200,
        script: |talk| {
            talk.arrive(80);
            talk.send_every(5.0, 70);
            talk.drain();
            // The link is idle at 350 ms; due at 373.1 and 423.1 ms the count goes from 5 to 3.
            talk.wait(75.0);
            talk.arrive(1);
            talk.send();
            talk.arrive(60);
            talk.send_every(5.0, 30);
        },
    },
    Clause {
        name: "count_at_entry",
        says: "sch_cake.c, cobalt_should_drop: the count is at least 1 once the delay is out of order, and 2 at the \
               first signal",
        about: "a queue that stands; a packet leaves every 5 ms, so the pace of the drops shows",
        disc: "cobalt",
        limit: 200,
        script: |talk| {
            talk.arrive(120);
            talk.send_every(5.0, 110);
        },
    },
    Clause {
        name: "overflow_signals",
        says: "sch_cake.c, cobalt_queue_full: an overflow puts CoDel's half into its drop state with a step due now",
        about: "five packets do not fit; the first that leaves after more than four packets' times is dropped",
        disc: "cobalt",
        limit: 20,
        script: |talk| {
            talk.arrive(25);
            talk.wait(60.0);
            talk.send();
            talk.send_every(5.0, 12);
        },
    },
    Clause {
        name: "four_mtu_times",
        says: "sch_cake.c, cobalt_should_drop: a delay of up to four transmission times of an MTU is in order",
        about: "an MTU takes 12 ms; four packets of 8 ms stand for 240 ms, then eight",
        disc: "cobalt",
        limit: 20,
        script: |talk| {
            talk.arrive(4);
            for _ in 0..30 {
                talk.wait(8.0);
                talk.send();
                talk.arrive(1);
            }
            talk.arrive(4);
            for _ in 0..25 {
                talk.wait(8.0);
                talk.send();
                talk.arrive(1);
            }
        },
    },
    Clause {
        name: "above_target",
        says: "sch_cake.c, cobalt_should_drop: a delay is out of order above the target, not at it",
        about: "for 125 ms every packet leaves after 5 ms, then after 6 ms",
        disc: "cobalt:mtu=100B",
        limit: 20,
        script: |talk| {
            for millis in [5.0; 25].into_iter().chain([6.0; 25]) {
                talk.arrive(2);
                talk.wait(millis);
                talk.send();
                talk.send();
            }
        },
    },
    Clause {
        name: "last_packet",
        says: "sch_cake.c, cake_dequeue: the last packet of a queue may be marked and is not dropped",
        about: "an overflow, so that each step is due; then two packets come and leave alone, the second one \
                ECN-capable",
        disc: "cobalt",
        limit: 2,
        script: |talk| {
            talk.arrive(3);
            talk.wait(60.0);
            talk.send();
            for ecn in [Ecn::NotEct, Ecn::Ect0] {
                talk.ecn = ecn;
                talk.arrive(1);
                talk.wait(60.0);
                talk.send();
            }
        },
    },
    Clause {
        name: "late_steps",
        says: "sch_cake.c, cobalt_should_drop: steps whose time has passed are made up for by drops; where a packet \
               is not dropped the next step is due now",
        about: "the link stands still for 300 ms, once before packets that are dropped and once before such as are \
                marked",
        disc: "cobalt",
        limit: 200,
        script: |talk| {
            talk.arrive(40);
            talk.ecn = Ecn::Ect0;
            talk.arrive(50);
            talk.send_every(5.0, 12);
            talk.wait(300.0);
            talk.send_every(5.0, 25);
            talk.wait(300.0);
            talk.send_every(5.0, 25);
        },
    },
    Clause {
        name: "step_due_at_entry",
        says: "sch_cake.c, cobalt_should_drop: a step that is due as the delay comes out of order again is a signal, not \
               a step back",
        about: "two signals, calm until after the time of the third step, then a packet that waited for 60 ms",
        disc: "cobalt",
        limit: 200,
        script: |talk| {
            talk.arrive(60);
            talk.send_every(5.0, 40);
            talk.drain();
            talk.arrive(30);
            talk.wait(60.0);
            talk.send();
            talk.send_every(5.0, 10);
        },
    },
    Clause {
        name: "out_of_order_after_rest",
        says: "sch_cake.c, cobalt_should_drop: where nothing has left for an interval, the first packet that is late \
               makes a step due now",
        about: "a packet in order, and the next ones 150 ms later",
        disc: "cobalt",
        limit: 200,
        script: |talk| {
            talk.wait(1.0);
            talk.arrive(1);
            talk.send();
            talk.arrive(20);
            talk.wait(150.0);
            talk.send_every(5.0, 12);
        },
    },
    Clause {
        name: "blue_is_blind_to_ecn",
        says: "Morton 2016: BLUE's half ignores ECN and simply drops packets",
        about: "an overflow every 10 ms takes p to 0.3; then packets that may be marked leave under a draw above it \
                and three below it; the last of the queue is spared",
        disc: "cobalt:increment=0.1,decrement=0.01",
        limit: 4,
        script: |talk| {
            talk.ecn = Ecn::Ect0;
            talk.arrive(4);
            for _ in 0..3 {
                talk.arrive(2);
                talk.wait(10.0);
            }
            talk.draw(0.31);
            talk.send();
            talk.draw(0.29);
            talk.send();
        },
    },
];

/// A conversation with the law in a disc, in front of a link of 1 Mbit/s that takes a packet when told.
struct Talk {
    disc: Fifo<Parcel, Recorder>,
    now: Time,
    /// What the next packets are.
    ecn: Ecn,
    len: u32,
    /// What the law is given for a uniform draw.
    uniform: Arc<Mutex<f64>>,
}

impl Talk {
    /// As many packets ask to be let in.
    fn arrive(&mut self, packets: usize) {
        for _ in 0..packets {
            let parcel = Parcel { len: self.len, ecn: self.ecn, flow: FlowId(0) };
            self.disc.enqueue(self.now, parcel, &mut Nobody);
        }
    }

    /// Every uniform draw from now on.
    fn draw(&mut self, uniform: f64) {
        *self.uniform.lock().expect("nobody panicked") = uniform;
    }

    /// One packet under this draw; if it is let in another one leaves.
    fn judge(&mut self, uniform: f64) {
        let before = self.disc.backlog().packets;
        self.draw(uniform);
        self.arrive(1);
        if self.disc.backlog().packets > before {
            self.send();
        }
    }

    /// The link takes a packet; gives whether there was one.
    fn send(&mut self) -> bool {
        self.disc.dequeue(self.now, &mut Nobody).is_some()
    }

    /// Waits and sends, as many times.
    fn send_every(&mut self, millis: f64, times: usize) {
        for _ in 0..times {
            self.wait(millis);
            self.send();
        }
    }

    /// The link takes all there is.
    fn drain(&mut self) {
        while self.send() {}
    }

    /// Nothing happens but updates.
    fn wait(&mut self, millis: f64) {
        let until = self.now + Span::from_seconds(millis / 1000.0);
        while let Some(due) = self.disc.next_update().filter(|due| *due <= until) {
            self.disc.on_update(due, due);
        }
        self.now = until;
    }
}

impl Clause {
    fn trace(&self) -> Vector {
        let limit = Limit::Packets(self.limit);
        let rate = Rate::from_bits_per_second(1e6);
        let base_rtt = Some(Span::from_millis(100));
        let site = Site { rate, packet: 1000.0, limit: limit.packets(1000.0), flows: Some(10.0), base_rtt };
        let disc = DiscSpec::parse(self.disc).expect("a SPEC of ours");
        let path = format!("{}/{}.jsonl", disc.law, self.name);
        let header = Header { about: self.about.into(), clause: Some(self.says.into()), disc, site };
        let law = header.law().expect("a law at a place of ours");
        let (calls, uniform) = (Arc::default(), Arc::new(Mutex::new(0.5)));
        let recorder = Recorder { law, calls: Arc::clone(&calls), uniform: Some(Arc::clone(&uniform)) };
        let disc = Fifo::new(recorder, limit, site, Stream::named(1, "disc"));
        (self.script)(&mut Talk { disc, now: Time::ZERO, ecn: Ecn::NotEct, len: 1000, uniform });
        let calls = std::mem::take(&mut *calls.lock().expect("nobody panicked"));
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
            let said = |verdict| trace.calls.iter().any(|(_, answer)| answer.verdict == Some(verdict));
            assert!(said(Verdict::Pass) && said(Verdict::Drop), "{} decides nothing", vector.path);
        }
    }
}
