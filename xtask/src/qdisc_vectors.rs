//! `vectors/QDISC/`: golden traces of whole qdiscs, a folder for each of several queues in the catalogue.
//!
//! The plots are those of the laws: excess load, an idle link, a change of rate, a stall. In the last one the parameters
//! change, too.

use crate::vectors::{Action, PLOTS, Plot, Vector, at};
use serde_json::json;
use sojourn_aqm::catalogue::QDISCS;
use sojourn_trace::TracedQdisc;
use sojourn_units::{Bytes, Ecn, Rate, Time};

/// Every trace of every qdisc of several queues.
pub(crate) fn vectors() -> Vec<Vector> {
    let cases = QDISCS.iter().filter_map(|entry| CASES.iter().find(|case| case.stem == entry.page.stem));
    cases
        .flat_map(|case| {
            PLOTS.iter().zip(case.specs).enumerate().map(move |(place, (plot, spec))| {
                let change = (place == PLOTS.len() - 1).then_some(case.change);
                trace(plot, spec, change, case.stem)
            })
        })
        .collect()
}

/// A qdisc: a SPEC for each plot, and the change of parameters in the last one, as JSON.
struct Case {
    stem: &'static str,
    specs: [&'static str; 3],
    change: &'static str,
}

/// A class for each flow gives it a queue of its own, and no hash is compared.
const CASES: &[Case] = &[
    Case {
        stem: "drr",
        specs: [
            "drr:by=class",
            "drr:by=class,law=pie,quantum=300 B,weights.a=2",
            "drr:by=class,law=codel,law.target=20 ms,quantum=3000 B,batch=4,memory=20 kB,ce_threshold=80 ms",
        ],
        change: r#"{"quantum":"300 B","law.target":"60 ms","limit":16}"#,
    },
    Case {
        stem: "fq_codel",
        specs: [
            "fq_codel:by=class",
            "fq_codel:by=class,law.target=10 ms,law.interval=50 ms,quantum=300 B",
            "fq_codel:by=class,law.ecn=false,limit=24,batch=8",
        ],
        change: r#"{"law.interval":"40 ms","batch":1}"#,
    },
    Case {
        stem: "fq_pie",
        specs: [
            "fq_pie:by=class,law.max_burst=0 ms",
            "fq_pie:by=class,law.target=10 ms,law.max_burst=20 ms,law.mark_below_p=0.9,quantum=300 B",
            "fq_pie:by=class,law.target=5 ms,law.derandomize=false,law.max_burst=10 ms,law.mark_below_p=0.9",
        ],
        change: r#"{"law.target":"60 ms"}"#,
    },
    Case {
        stem: "sfq_codel",
        specs: [
            "sfq_codel:by=class",
            "sfq_codel:by=class,law.target=10 ms,law.interval=50 ms",
            "sfq_codel:by=class,quantum=3000 B",
        ],
        change: r#"{"new_first":true,"quantum":"300 B"}"#,
    },
    Case {
        stem: "sfq",
        specs: ["sfq:by=class,limit=20", "sfq:by=class", "sfq:by=class,limit=12"],
        change: r#"{"limit":6}"#,
    },
    Case {
        stem: "wfq",
        specs: [
            "wfq:by=class",
            "wfq:by=class,clock=start_time,weights.a=1,weights.b=4",
            "wfq:by=class,law=pie,law.max_burst=0 ms,weights.d=8,limit=24,reserved.classes=[c],reserved.rate=100 kbit/s",
        ],
        change: r#"{"weights.d":1,"weights.a":3,"reserved.classes":["c"],"reserved.rate":"300 kbit/s"}"#,
    },
    Case {
        stem: "prio",
        specs: [
            "prio:order=[d]",
            "prio:law=codel,order=[d, b]",
            "prio:law=codel,ce_threshold=50 ms,limit=12",
        ],
        change: r#"{"law.target":"30 ms","limit":20}"#,
    },
    Case {
        stem: "dual",
        specs: [
            "dual",
            "dual:defaults=linux,signals=recur",
            "dual:target=30 ms,scheduler=time_shift,min_th=4 ms,range=8 ms,signals=random",
        ],
        change: r#"{"target":"10 ms","coupling":1.5}"#,
    },
    Case {
        stem: "shaper",
        specs: [
            "shaper:rate=600 kbit/s,qdisc=drr,qdisc.by=class",
            "shaper:rate=900 kbit/s,qdisc=codel,burst=4 kB",
            "shaper:rate=700 kbit/s,framing=pppoe_llc,qdisc=fq_pie,qdisc.by=class,qdisc.law.max_burst=0 ms",
        ],
        change: r#"{"rate":"400 kbit/s"}"#,
    },
    Case {
        stem: "cake",
        specs: [
            "cake",
            "cake:bandwidth=800 kbit/s,diffserv=diffserv4,rtt=50 ms",
            "cake:bandwidth=700 kbit/s,framing=pppoe_ptm,isolation=hosts,rtt=40 ms,memlimit=16 kB",
        ],
        change: r#"{"bandwidth":"500 kbit/s","rtt":"80 ms"}"#,
    },
    Case {
        stem: "sqm",
        specs: [
            "sqm:queues=3,elephant=3 kB,period=100 ms",
            "sqm:queues=4,elephant=5 kB,period=100 ms,utility=equal,weights.a=2,scheduler=wfq,form=price,limit=24",
            "sqm:queues=3,elephant=3 kB,period=150 ms,target=20 ms,alpha=1,step=newton,reserved.rate=300 kbit/s",
        ],
        change: r#"{"target":"10 ms","alpha":2,"weights.b":3,"reserved.rate":"100 kbit/s"}"#,
    },
];

fn trace(plot: &Plot, spec: &str, change: Option<&str>, stem: &str) -> Vector {
    let path = format!("{stem}/{}.jsonl", plot.name);
    let rate = Rate::from_bits_per_second(1e6);
    let about = if change.is_some() {
        format!("{}; then a change of parameters", plot.about)
    } else {
        plot.about.into()
    };
    let mut script = Script::new(Header { about: &about, clause: None, spec, limit: 40 });
    let mut host = Host { script: &mut script, rate, free_at: None, now: Time::ZERO };
    host.play(plot, change, &path);
    Vector { path, text: script.text }
}

/// First line of a trace.
#[derive(Clone, Copy)]
pub(crate) struct Header<'a> {
    pub(crate) about: &'a str,
    pub(crate) clause: Option<&'a str>,
    pub(crate) spec: &'a str,
    /// Buffer, packets.
    pub(crate) limit: u32,
}

/// A qdisc and the lines of its trace so far.
pub(crate) struct Script {
    qdisc: TracedQdisc,
    pub(crate) text: String,
    packets: u64,
}

/// What a call has answered.
pub(crate) struct Answer {
    /// A packet was sent.
    pub(crate) sent: bool,
    /// Time before which none is sent, if one waits.
    pub(crate) not_before: Option<Time>,
}

impl Script {
    pub(crate) fn new(header: Header<'_>) -> Script {
        let Header { about, clause, spec, limit } = header;
        let clause = clause.map_or(String::new(), |clause| format!(",\"clause\":{}", json!(clause)));
        let flows: Vec<String> = FLOWS
            .iter()
            .map(|(class, dscp, host)| {
                format!("{{\"class\":\"{class}\",\"dscp\":{dscp},\"from_host\":9,\"to_host\":{host}}}")
            })
            .collect();
        let line = format!(
            "{{\"trace\":1,\"qdisc\":{},\"about\":{}{clause},\"link\":{{\"rate_bps\":1000000.0,\"packet_bytes\":1000.0,\
             \"limit_packets\":{limit},\"flows\":10.0,\"base_rtt_ns\":100000000}},\"flows\":[{}]}}",
            json!(spec),
            json!(about),
            flows.join(",")
        );
        let qdisc = TracedQdisc::parse(&line).unwrap_or_else(|error| panic!("{spec}: {error}"));
        Script { qdisc, text: line + "\n", packets: 0 }
    }

    /// Makes a call of this kind with these members more; returns its answer.
    fn call(&mut self, kind: &str, now: Time, more: &str) -> serde_json::Value {
        let call = format!("{{\"call\":\"{kind}\",\"now_ns\":{}{more}}}", now.nanos());
        let line = self.qdisc.traced(&call).unwrap_or_else(|error| panic!("{call}: {error}"));
        self.text += &line;
        self.text.push('\n');
        serde_json::from_str(&line).expect("JSON")
    }

    pub(crate) fn enqueue(&mut self, now: Time, (flow, len, ecn): (u32, u32, Ecn)) {
        let (id, ecn) = (self.packets, word(ecn));
        self.packets += 1;
        self.call("enqueue", now, &format!(",\"id\":{id},\"len\":{len},\"ecn\":\"{ecn}\",\"flow\":{flow}"));
    }

    pub(crate) fn dequeue(&mut self, now: Time) -> Answer {
        let answer = self.call("dequeue", now, "");
        let not_before = answer.get("not_before_ns").and_then(serde_json::Value::as_u64);
        Answer { sent: !answer["sent"].is_null(), not_before: not_before.map(Time::from_nanos) }
    }

    pub(crate) fn update(&mut self, now: Time) {
        self.call("update", now, "");
    }

    pub(crate) fn rate(&mut self, now: Time, rate: Rate) {
        self.call("rate", now, &format!(",\"rate_bps\":{}", json!(rate.bits_per_second())));
    }

    fn set_params(&mut self, now: Time, params: &str) {
        self.call("set_params", now, &format!(",\"params\":{params}"));
    }

    pub(crate) fn next_update(&self) -> Option<Time> {
        self.qdisc.next_update()
    }

    /// Size of a packet by its number, from its line.
    fn sent_len(&self) -> u32 {
        let last = self.text.lines().last().unwrap_or_default();
        let sent = serde_json::from_str::<serde_json::Value>(last).expect("JSON")["sent"].clone();
        let begin = format!(",\"id\":{sent},");
        let line = self.text.lines().find(|line| line.contains(&begin)).unwrap_or_default();
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        line["len"].as_u64().map_or(0, |len| len as u32)
    }
}

/// A link behind the qdisc.
struct Host<'a> {
    script: &'a mut Script,
    rate: Rate,
    /// Time of the next dequeue; None: the link is idle.
    free_at: Option<Time>,
    now: Time,
}

impl Host<'_> {
    fn play(&mut self, plot: &Plot, change: Option<&str>, path: &str) {
        let mut change = change;
        for (due, action) in plot.actions(path, self.rate) {
            if due >= at(CHANGE_S)
                && let Some(params) = change.take()
            {
                self.catch_up(plot, at(CHANGE_S));
                self.now = at(CHANGE_S);
                self.script.set_params(self.now, params);
            }
            self.catch_up(plot, due);
            self.now = plot.happens(due).max(self.now);
            match action {
                Action::Rate(rate) => {
                    self.rate = rate;
                    self.script.rate(self.now, rate);
                }
                Action::Arrive(parcel) => {
                    let flow = FLOW_OF[parcel.flow.0 as usize];
                    self.script.enqueue(self.now, (flow, parcel.len, parcel.ecn));
                    if self.free_at.is_none() {
                        self.send();
                    }
                }
            }
        }
        self.catch_up(plot, at(plot.end));
    }

    /// Runs the updates and departures due before `until`, in order of time; updates first.
    fn catch_up(&mut self, plot: &Plot, until: Time) {
        loop {
            let update = self.script.next_update().unwrap_or(Time::NEVER);
            let free = self.free_at.unwrap_or(Time::NEVER);
            let due = update.min(free);
            if due >= until {
                return;
            }
            self.now = plot.happens(due).max(self.now);
            if update <= free {
                self.script.update(self.now);
            } else {
                self.send();
            }
        }
    }

    fn send(&mut self) {
        let Answer { sent, not_before } = self.script.dequeue(self.now);
        self.free_at = not_before;
        if sent {
            let len = self.script.sent_len();
            self.free_at = Some(self.now + self.rate.time_for(Bytes::new(len.into())));
        }
    }
}

fn word(ecn: Ecn) -> &'static str {
    match ecn {
        Ecn::NotEct => "not_ect",
        Ecn::Ect0 => "ect0",
        Ecn::Ect1 => "ect1",
        Ecn::Ce => "ce",
    }
}

/// Class and DSCP of each flow, and the host that it goes to.
const FLOWS: [(&str, u8, u32); 4] = [("a", 0, 1), ("b", 8, 1), ("c", 0, 2), ("d", 46, 3)];
/// The flow of a packet, by the flow of the plot: one that sends half of all, and sparse ones.
const FLOW_OF: [u32; 10] = [0, 0, 0, 0, 0, 1, 1, 1, 2, 3];
/// Time of the change of parameters, s.
const CHANGE_S: f64 = 0.65;

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_trace::replay_qdisc;

    #[test]
    fn every_qdisc_has_its_traces_and_each_has_its_events() {
        let vectors = vectors();
        assert_eq!(vectors.len(), QDISCS.len() * PLOTS.len(), "a qdisc without a SPEC, or one too many");
        for vector in &vectors {
            assert_eq!(replay_qdisc(&vector.text), Ok(()), "{}", vector.path);
            let lines = vector.text.lines().count();
            assert!((250..700).contains(&lines), "{}: {lines} lines", vector.path);
        }
        let all = |stem: &str, what: &str| {
            let own = vectors.iter().filter(|vector| vector.path.starts_with(&format!("{stem}/")));
            own.filter(|vector| vector.text.lines().any(|line| line.contains(what))).count()
        };
        for stem in QDISCS.iter().map(|entry| entry.page.stem) {
            let drops = vectors.iter().filter(|vector| vector.path.starts_with(&format!("{stem}/")));
            let drops = drops
                .flat_map(|vector| vector.text.lines())
                .filter(|line| line.contains("\"dropped\":[") && !line.contains("\"dropped\":[]"));
            assert!(drops.count() > 10, "{stem}: drops");
            assert!(
                all(stem, "\"call\":\"rate\"") == 1 && all(stem, "\"call\":\"set_params\"") == 1,
                "{stem}"
            );
            let marks = vectors.iter().filter(|vector| vector.path.starts_with(&format!("{stem}/")));
            let marks = marks
                .flat_map(|vector| vector.text.lines())
                .filter(|line| line.contains("\"marked\":[") && !line.contains("\"marked\":[]"));
            let count = marks.count();
            assert!(stem == "sfq" || count > 3, "{stem}: {count} marks");
        }
        for stem in ["drr", "fq_pie", "dual"] {
            assert!(all(stem, "\"call\":\"update\"") > 0, "{stem}: updates");
        }
    }

    #[test]
    fn a_difference_names_its_line() {
        let vector = &vectors()[0];
        let place = vector.text.lines().position(|line| line.contains("\"sent\":3")).expect("sent");
        let changed = vector.text.replacen("\"sent\":3", "\"sent\":4", 1);
        let message = format!("line {}: answers sent 3, expected 4", place + 1);
        assert_eq!(replay_qdisc(&changed), Err(message));
    }
}
