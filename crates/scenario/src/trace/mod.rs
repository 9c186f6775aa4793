//! A trace: what a law was told, and what it answered, as JSON lines.
//!
//! The first line says which law at which place; every other line is one call
//! of it, in order of time. Nothing else reaches a law, so whoever answers the
//! same calls in the same way, in whatever language, has the same law. Times are
//! in nanoseconds, sizes in bytes; what a line means is told in
//! `vectors/README.md`.

mod lines;

use crate::disc::DiscSpec;
use lines::{Object, verdict_word};
use sojourn_aqm::{Arrival, Departure, Gauges, Law, Observation, Site, Verdict};
use sojourn_units::{Fault, Rate, Time, Value};
use std::fmt;

/// A law at its place, and what it was told and answered.
#[derive(Clone, Debug, PartialEq)]
pub struct VerdictTrace {
    /// Which law, where.
    pub header: Header,
    /// Every call with its answer.
    pub calls: Vec<(Call, Answer)>,
}

/// The first line of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// What the trace shows, in a sentence.
    pub about: String,
    /// The clause of the law's source that decides in it, where it was made for one.
    pub clause: Option<String>,
    /// The law and its given parameters.
    pub disc: DiscSpec,
    /// Its place.
    pub site: Site,
}

/// One call of a law.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// A packet asks to be let in.
    Arrival(Arrival),
    /// A packet is about to leave.
    Departure(Departure),
    /// The packet just judged did not fit.
    Overflow(Time),
    /// The link asked for a packet and there was none.
    Idle(Time),
    /// The link has a new rate.
    Rate(Time, Rate),
    /// It stands under other parameters, and its place as it is now.
    Retune(Time, Vec<(String, Value)>, Site),
    /// An update and when it was due.
    Update(Time, Observation),
}

/// What a law answers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Answer {
    /// To an arrival or a departure.
    pub verdict: Option<Verdict>,
    /// After an update or other parameters: the probability in force, where the law shows one.
    pub p: Option<f64>,
    /// After an update or other parameters: when the law wants the next update.
    pub next: Option<Time>,
}

impl VerdictTrace {
    /// Reads a trace; a refusal names its line.
    pub fn parse(text: &str) -> Result<VerdictTrace, String> {
        let mut lines = text.lines().enumerate().map(|(place, line)| (place + 1, line));
        let numbered = |(number, line): (usize, &str)| {
            let object = Object::read(line).map_err(|what| format!("line {number}: {what}"))?;
            Ok::<_, String>((number, object))
        };
        let (_, first) = numbered(lines.next().ok_or("line 1: is missing; legal: the header of a trace")?)?;
        let header = first.header().map_err(|what| format!("line 1: {what}"))?;
        let calls = lines.map(|line| {
            let (number, object) = numbered(line)?;
            let read = object.call().and_then(|call| object.answer(&call).map(|answer| (call, answer)));
            read.map_err(|what| format!("line {number}: {what}"))
        });
        Ok(VerdictTrace { header, calls: calls.collect::<Result<_, _>>()? })
    }

    /// Plays the calls to a new law of its kind; the first answer that differs is told by its line.
    pub fn replay(&self) -> Result<(), String> {
        let mut law = self.header.law().map_err(|fault| format!("line 1: {fault}"))?;
        for (place, (call, expected)) in self.calls.iter().enumerate() {
            let answer = call.put_to(law.as_mut());
            if answer != *expected {
                let clause =
                    self.header.clause.as_ref().map_or(String::new(), |clause| format!(" ({clause})"));
                return Err(format!("line {}: answers {answer}, expected {expected}{clause}", place + 2));
            }
        }
        Ok(())
    }
}

impl Header {
    /// Reads the first line of a trace.
    pub fn parse(line: &str) -> Result<Header, String> {
        Object::read(line)?.header()
    }

    /// The law, new.
    pub fn law(&self) -> Result<Box<dyn Law>, Fault> {
        self.disc.law_at(&self.site)
    }
}

impl Call {
    /// Reads a line of a trace; an answer that stands in it is passed over.
    pub fn parse(line: &str) -> Result<Call, String> {
        Object::read(line)?.call()
    }

    /// Asks the law.
    pub fn put_to(&self, law: &mut dyn Law) -> Answer {
        let mut answer = Answer::default();
        match self {
            Call::Arrival(arrival) => answer.verdict = Some(law.on_arrival(arrival)),
            Call::Departure(departure) => answer.verdict = Some(law.on_departure(departure)),
            Call::Overflow(now) => law.on_overflow(*now),
            Call::Idle(now) => law.on_idle(*now),
            Call::Rate(now, rate) => law.on_link_change(*now, *rate),
            Call::Retune(now, given, site) => {
                // A law that refuses has nothing to say.
                if law.retune(*now, given, site).is_ok() {
                    answer.follow(law);
                }
            }
            Call::Update(due, seen) => {
                law.on_update(*due, seen);
                answer.follow(law);
            }
        }
        answer
    }
}

impl Answer {
    /// What the law shows after a call that it does not answer itself.
    fn follow(&mut self, law: &dyn Law) {
        self.next = law.next_update();
        let mut p = Probability(None);
        law.gauges(&mut p);
        self.p = p.0;
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.verdict, self.p, self.next) {
            (Some(verdict), ..) => f.write_str(verdict_word(verdict)),
            (None, None, None) => f.write_str("nothing"),
            (None, p, next) => {
                let p = p.map_or("none".into(), |p| p.to_string());
                let next = next.map_or("never".into(), |next| next.to_string());
                write!(f, "p {p}, next update {next}")
            }
        }
    }
}

/// The gauge called p.
struct Probability(Option<f64>);

impl Gauges for Probability {
    fn gauge(&mut self, name: &'static str, _unit: &'static str, value: f64) {
        if name == "p" {
            self.0 = Some(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_aqm::{Backlog, FlowId};
    use sojourn_units::{Ecn, Prob, Span};

    fn trace() -> VerdictTrace {
        let rate = Rate::from_bits_per_second(8e6);
        let base_rtt = Some(Span::from_millis(100));
        let site = Site { rate, packet: 1000.0, limit: f64::INFINITY, flows: Some(10.0), base_rtt };
        let disc = DiscSpec::parse("pi:target=20packets,a=0.002,b=0.001,rate=100Hz").unwrap();
        let header = Header { about: "made up".into(), clause: None, disc, site };
        let mut law = header.law().unwrap();
        let now = Time::from_nanos(10_000_000);
        let seen = Observation {
            now,
            elapsed: 0.01,
            backlog_packets: 170.0,
            capacity: Some(site.rate),
            mean_packet: 1000.0,
            limit: f64::INFINITY,
            applied: Prob::clamped(0.1),
            ..Observation::default()
        };
        let backlog = Backlog { packets: 170, bytes: 170_000 };
        let arrival = |u, ecn| Arrival {
            now,
            len: 1000,
            ecn,
            flow: FlowId(3),
            backlog,
            victim: (u > 0.2).then_some(FlowId(9)),
            u: [u, 0.1],
        };
        let sojourn = Span::from_millis(170);
        let (ecn, flow, u) = (Ecn::Ce, FlowId(3), [0.1 + 0.2, 1e-17]);
        let calls = [
            Call::Update(now, seen),
            Call::Arrival(arrival(0.3, Ecn::Ect0)),
            Call::Arrival(arrival(0.3, Ecn::NotEct)),
            Call::Overflow(now),
            Call::Arrival(arrival(0.4, Ecn::Ect1)),
            Call::Departure(Departure { now, len: 1000, ecn, flow, sojourn, backlog, u }),
            Call::Rate(now, Rate::from_bits_per_second(1.0 / 3.0)),
            Call::Idle(now),
            Call::Retune(now, vec![("rate".into(), Value::Text("200 Hz".into()))], site),
        ];
        let calls = calls.map(|call| {
            let answer = call.put_to(law.as_mut());
            (call, answer)
        });
        VerdictTrace { header, calls: calls.into() }
    }

    #[test]
    fn a_trace_is_read_back_to_the_last_bit_and_replays() {
        let trace = trace();
        assert_eq!(VerdictTrace::parse(&trace.to_string()), Ok(trace.clone()));
        assert_eq!(trace.replay(), Ok(()));
        let verdicts: Vec<_> = trace.calls.iter().filter_map(|(_, answer)| answer.verdict).collect();
        assert_eq!(verdicts, [Verdict::Mark, Verdict::Drop, Verdict::Pass, Verdict::Pass]);
        // After the update at 10 ms the next one was due at 20 ms; twice as often it is due at 15 ms.
        let (_, last) = trace.calls.last().unwrap();
        assert_eq!((last.p, last.next), (Some(0.32), Some(Time::from_nanos(15_000_000))));
    }

    #[test]
    fn an_answer_that_differs_is_told_by_its_line() {
        let mut trace = trace();
        trace.calls[1].1.verdict = Some(Verdict::Pass);
        assert_eq!(trace.replay(), Err("line 3: answers mark, expected pass".into()));
        trace.calls[0].1.p = Some(0.5);
        let told = trace.replay().unwrap_err();
        assert_eq!(told, "line 2: answers p 0.32, next update 20 ms, expected p 0.5, next update 20 ms");
    }

    #[test]
    fn the_clause_that_decides_is_read_back_and_told() {
        let mut trace = trace();
        trace.header.clause = Some("RFC 0, section 0: marks".into());
        assert_eq!(VerdictTrace::parse(&trace.to_string()), Ok(trace.clone()));
        trace.calls[1].1.verdict = Some(Verdict::Pass);
        let told = trace.replay().unwrap_err();
        assert_eq!(told, "line 3: answers mark, expected pass (RFC 0, section 0: marks)");
    }

    #[test]
    fn what_is_no_trace_is_refused_by_its_line() {
        let text = trace().to_string();
        for (from, to, told) in [
            ("\"trace\":1", "\"trace\":2", "line 1: trace: is not 1"),
            ("\"law\":\"pi\"", "\"law\":\"pj\"", "line 1: law: \"pj\" is not a law; did you mean \"pi\"?"),
            ("\"call\":\"idle\"", "\"call\":\"ilde\"", "line 9: call: \"ilde\" is no call; legal: arrival"),
            ("\"ecn\":\"ce\"", "\"ecn\":\"cf\"", "line 7: ecn: \"cf\" is none; legal: not_ect"),
            ("\"u\":[0.3,0.1]", "\"u\":[0.3]", "line 3: u: is not two numbers"),
            ("\"verdict\":\"drop\"", "\"verdict\":1", "line 4: verdict: is not text"),
            ("\"flow\":3", "\"flow\":4294967296", "line 3: flow: 4294967296 is more than"),
        ] {
            let refused = VerdictTrace::parse(&text.replacen(from, to, 1)).unwrap_err();
            assert!(refused.starts_with(told), "{refused}");
        }
        assert!(VerdictTrace::parse("").unwrap_err().starts_with("line 1: is missing"));
        assert!(VerdictTrace::parse("[]").unwrap_err().starts_with("line 1: is not a JSON object"));
    }
}
