//! Decision traces: the calls of a law and its answers, as JSON lines; and the formats of packet captures and events.
//!
//! The first line names the law and its context; every other line is one call of it, in order of time. A law has no
//! other inputs, so an implementation in any language with the same answers to the same calls is the same law. Times
//! are in nanoseconds, sizes in bytes; `vectors/README.md` specifies the lines.

pub mod pcapng;
pub mod qlog;

mod lines;
mod passage;
mod qdisc;
mod qdisc_log;

use lines::{Object, verdict_word};
use sojourn_aqm::{Arrival, Departure, Gauges, Law, LawSpec, LinkContext, Observation, Verdict};
use sojourn_params::{Given, InputError};
use sojourn_units::{Rate, Time};
use std::fmt;

pub use passage::{Passage, passage};
pub use qdisc::{Numbered, TracePlace, TracedQdisc, replay_qdisc};
pub use qdisc_log::{QdiscHeader, QdiscLog};

/// A law in its context, with its calls and answers.
#[derive(Clone, Debug, PartialEq)]
pub struct VerdictTrace {
    /// The law and its context.
    pub header: Header,
    /// Every call with its answer.
    pub calls: Vec<(Call, Answer)>,
}

/// The first line of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// Subject of the trace, a sentence.
    pub about: String,
    /// Clause of the law's source that the trace tests; None: no single one.
    pub clause: Option<String>,
    /// The law and its parameters.
    pub qdisc: LawSpec,
    /// Its context.
    pub context: LinkContext,
}

/// The link of the first line of a trace, of a law or of a qdisc.
pub fn context_of(line: &str) -> Result<LinkContext, String> {
    let header = Object::read(line)?;
    if header.value("qdisc").is_some() { header.context() } else { Ok(header.header()?.context) }
}

/// One call of a law.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// A packet arrives.
    Arrival(Arrival),
    /// A packet is about to depart.
    Departure(Departure),
    /// The last arrival did not fit.
    Overflow(Time),
    /// The link found the queue empty.
    Idle(Time),
    /// The link has a new rate.
    Rate(Time, Rate),
    /// New parameters, with the context at that time.
    SetParams(Time, Given, LinkContext),
    /// An update, with its due time.
    Update(Time, Observation),
}

/// Answer of a law.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Answer {
    /// Verdict on an arrival or a departure.
    pub verdict: Option<Verdict>,
    /// Probability in force after an update or a change of parameters; None: the law has no gauge p.
    pub p: Option<f64>,
    /// Time of the next update, after an update or a change of parameters.
    pub next: Option<Time>,
}

impl VerdictTrace {
    /// Reads a trace; an error names its line.
    pub fn parse(text: &str) -> Result<VerdictTrace, String> {
        let mut lines = text.lines().enumerate().map(|(place, line)| (place + 1, line));
        let numbered = |(number, line): (usize, &str)| {
            let object = Object::read(line).map_err(|message| format!("line {number}: {message}"))?;
            Ok::<_, String>((number, object))
        };
        let (_, first) = numbered(lines.next().ok_or("line 1: is missing; expected the header of a trace")?)?;
        let header = first.header().map_err(|message| format!("line 1: {message}"))?;
        let call = |line| {
            let (number, object) = numbered(line)?;
            let call = object.call(&header.qdisc);
            let read = call.and_then(|call| object.answer(&call).map(|answer| (call, answer)));
            read.map_err(|message| format!("line {number}: {message}"))
        };
        let calls = lines.map(call).collect::<Result<_, _>>()?;
        Ok(VerdictTrace { header, calls })
    }

    /// Replays the calls on a new law; an error names the line of the first answer that differs.
    pub fn replay(&self) -> Result<(), String> {
        let mut law = self.header.law().map_err(|error| format!("line 1: {error}"))?;
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

    /// The law in its initial state.
    pub fn law(&self) -> Result<Box<dyn Law>, InputError> {
        Ok(self.qdisc.design(&self.context)?.law())
    }
}

impl Call {
    /// Reads a line of a trace of this qdisc; an answer in it is ignored.
    pub fn parse(line: &str, qdisc: &LawSpec) -> Result<Call, String> {
        Object::read(line)?.call(qdisc)
    }

    /// Makes this call of `law`; returns the answer.
    pub fn put_to(&self, law: &mut dyn Law) -> Answer {
        let mut answer = Answer::default();
        match self {
            Call::Arrival(arrival) => answer.verdict = Some(law.on_arrival(arrival)),
            Call::Departure(departure) => answer.verdict = Some(law.on_departure(departure)),
            Call::Overflow(now) => law.on_overflow(*now),
            Call::Idle(now) => law.on_idle(*now),
            Call::Rate(now, rate) => law.on_link_change(*now, *rate),
            Call::SetParams(now, given, context) => {
                // After an error the law is unchanged: there is no answer.
                if law.set_params(*now, given, context).is_ok() {
                    answer.follow(law);
                }
            }
            Call::Update(due, observed) => {
                law.on_update(*due, observed);
                answer.follow(law);
            }
        }
        answer
    }
}

impl Answer {
    /// Records p and the time of the next update.
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
        let context = LinkContext { rate, packet: 1000.0, limit: f64::INFINITY, flows: Some(10.0), base_rtt };
        let qdisc = LawSpec::parse("pi:target=20packets,a=0.002,b=0.001,rate=100Hz").unwrap();
        let header = Header { about: "made up".into(), clause: None, qdisc, context };
        let mut law = header.law().unwrap();
        let now = Time::from_nanos(10_000_000);
        let observed = Observation {
            now,
            elapsed: 0.01,
            backlog_packets: 170.0,
            capacity: Some(context.rate),
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
            Call::Update(now, observed),
            Call::Arrival(arrival(0.3, Ecn::Ect0)),
            Call::Arrival(arrival(0.3, Ecn::NotEct)),
            Call::Overflow(now),
            Call::Arrival(arrival(0.4, Ecn::Ect1)),
            Call::Departure(Departure { now, len: 1000, ecn, flow, sojourn, backlog, u }),
            Call::Rate(now, Rate::from_bits_per_second(1.0 / 3.0)),
            Call::Idle(now),
            Call::SetParams(now, LawSpec::parse("pi:rate=200Hz").unwrap().given().clone(), context),
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
        // After the update at 10 ms the next one was due at 20 ms; at twice the rate it is due at 15 ms.
        let (_, last) = trace.calls.last().unwrap();
        assert_eq!((last.p, last.next), (Some(0.32), Some(Time::from_nanos(15_000_000))));
    }

    #[test]
    fn an_error_names_the_line_of_an_answer_that_differs() {
        let mut trace = trace();
        trace.calls[1].1.verdict = Some(Verdict::Pass);
        assert_eq!(trace.replay(), Err("line 3: answers mark, expected pass".into()));
        trace.calls[0].1.p = Some(0.5);
        let text = trace.replay().unwrap_err();
        assert_eq!(text, "line 2: answers p 0.32, next update 20 ms, expected p 0.5, next update 20 ms");
    }

    #[test]
    fn an_error_names_the_clause_of_the_trace() {
        let mut trace = trace();
        trace.header.clause = Some("RFC 0, section 0: marks".into());
        assert_eq!(VerdictTrace::parse(&trace.to_string()), Ok(trace.clone()));
        trace.calls[1].1.verdict = Some(Verdict::Pass);
        let text = trace.replay().unwrap_err();
        assert_eq!(text, "line 3: answers mark, expected pass (RFC 0, section 0: marks)");
    }

    #[test]
    fn an_error_names_the_invalid_line() {
        let text = trace().to_string();
        for (from, to, expected) in [
            ("\"trace\":1", "\"trace\":2", "line 1: trace: is not 1"),
            ("\"law\":\"pi\"", "\"law\":\"pj\"", "line 1: law: \"pj\" is not a law; did you mean \"pi\"?"),
            (
                "\"call\":\"idle\"",
                "\"call\":\"ilde\"",
                "line 9: call: \"ilde\" is not a call; expected arrival",
            ),
            ("\"ecn\":\"ce\"", "\"ecn\":\"cf\"", "line 7: ecn: \"cf\" is not a codepoint; expected not_ect"),
            ("\"u\":[0.3,0.1]", "\"u\":[0.3]", "line 3: u: is not two numbers"),
            ("\"verdict\":\"drop\"", "\"verdict\":1", "line 4: verdict: is not text"),
            ("\"flow\":3", "\"flow\":4294967296", "line 3: flow: 4294967296 is more than"),
            ("\"200 Hz\"", "\"200\"", "line 10: params: rate: \"200\" needs a unit"),
        ] {
            let error = VerdictTrace::parse(&text.replacen(from, to, 1)).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
        assert!(VerdictTrace::parse("").unwrap_err().starts_with("line 1: is missing"));
        assert!(VerdictTrace::parse("[]").unwrap_err().starts_with("line 1: is not a JSON object"));
    }
}
