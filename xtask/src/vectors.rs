//! `vectors/`: golden decision traces, a folder for each law of the catalogue.
//!
//! A small host drives the law through low load, excess load, an idle link, a change of rate and a stall; the calls of
//! the law and its answers are the trace. Only `bless` writes the files, with a reason: a changed verdict changes
//! results.

use sojourn_aqm::LawSpec;
use sojourn_aqm::catalogue::LAWS;
use sojourn_aqm::qdiscs::Fifo;
use sojourn_aqm::{
    Arrival, Cause, Departure, FlowId, Law, Limit, LinkContext, Observation, Packet, Qdisc, Sink, Verdict,
    forward_law,
};
use sojourn_params::{Given, InputError};
use sojourn_random::Stream;
use sojourn_trace::{Answer, Call, Header, VerdictTrace};
use sojourn_units::{Bytes, Ecn, Rate, Span, Time};
use std::sync::{Arc, Mutex};

/// Path of a trace under `vectors/`, and its text.
pub(crate) struct Vector {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Every trace of every law of the catalogue.
pub(crate) fn vectors() -> Vec<Vector> {
    let cases = LAWS.iter().flat_map(|entry| {
        let stem = entry.page.stem;
        SPECS.iter().filter(move |spec| spec[0].split(':').next() == Some(stem)).copied()
    });
    cases.flat_map(|specs| PLOTS.iter().zip(specs).map(|(plot, spec)| plot.trace(spec))).collect()
}

/// Schedule of a trace.
pub(crate) struct Plot {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Sizes of packets, bytes: from, to.
    sizes: [f64; 2],
    /// From each time on, s: offered load as a share of the first rate.
    load: &'static [(f64, f64)],
    /// From each time on, s: the rate as a share of the first.
    rates: &'static [(f64, f64)],
    /// Stall of the host: from, to, s.
    stall: Option<(f64, f64)>,
    /// End, s.
    pub(crate) end: f64,
}

pub(crate) const PLOTS: [Plot; 3] = [
    Plot {
        name: "overload_idle",
        about: "packets of one size: an excess that overflows the buffer, then silence until the link is \
                idle, then an excess again",
        sizes: [1000.0, 1000.0],
        load: &[(0.0, 1.7), (0.55, 0.0), (1.0, 1.4)],
        rates: &[],
        stall: None,
        end: 1.45,
    },
    Plot {
        name: "rate_stall",
        about: "the link slows down to half and doubles again; in between the host stalls for 0.3 s, so that \
                an update comes late and the link has catching up to do",
        sizes: [1000.0, 1000.0],
        load: &[(0.0, 1.3), (0.5, 0.7)],
        rates: &[(0.4, 0.5), (1.1, 2.0)],
        stall: Some((0.7, 1.0)),
        end: 1.5,
    },
    Plot {
        name: "mixed_sizes",
        about: "packets of 64 to 1500 bytes with all four ECN codepoints, other parameters than the defaults",
        sizes: [64.0, 1500.0],
        load: &[(0.0, 1.5), (0.4, 0.5), (0.6, 1.6)],
        rates: &[],
        stall: None,
        end: 0.9,
    },
];

/// The laws, one SPEC for each plot.
const SPECS: &[[&str; 3]] = &[
    ["tail_drop", "tail_drop", "tail_drop"],
    ["head_drop", "head_drop", "head_drop"],
    [
        "red:min=4packets,max=12packets,weight=0.1",
        "red:thresholds=auto,target=80ms,weight=0.2,gentle=false,wait=false,mark_below_p=1.1",
        "red:min=6packets,max=18packets,weight=0.05,max_p=0.3,mark_below_p=0.2,byte_mode=true,mean_packet=500B",
    ],
    [
        "pi:target=8packets,a=0.01,b=0.009,rate=25Hz",
        "pi:target=8packets,a=0.01,b=0.0085,rate=25Hz",
        "pi:target=50ms,rate=40Hz",
    ],
    ["codel", "codel", "codel:target=20ms,interval=60ms,ecn=false,mtu=1500B"],
    [
        "arm_pfc:target=5packets",
        "arm_pfc:target=8packets,delay=3,coincidence=[8,14],base=ramp,psi=0.95",
        "arm_pfc:target=60ms,form=paper,delay=4,coincidence=[9,12],flows=6,psi=0.9",
    ],
    [
        "blue:increase=0.1,freeze=20ms",
        "blue:increase=0.2,decrease=0.05,freeze=30ms,again=false",
        "blue:increase=0.1,decrease=0.02,freeze=15ms,threshold=8packets",
    ],
    ["avq", "avq:alpha=1.0,gamma=0.9,buffer=6packets", "avq:alpha=0.5,buffer=5kB,start=0.8"],
    [
        "sred:zombies=20,weight=0.001,max_p=0.9",
        "sred:zombies=40,overwrite=0.5,weight=0.0003,full=false,max_p=1.0",
        "sred:zombies=30,weight=0.0005,buffer=12packets,max_p=0.5",
    ],
    [
        "ared:min=3packets,weight=0.1,interval=100ms",
        "ared:target=100ms,weight=0.1,max_p=0.3,alpha=0.05,beta=0.8,interval=50ms",
        "ared:min=3packets,max=9packets,weight=0.1,max_p=0.3,interval=40ms,steps=arrivals,low=0.05,high=0.4,mark_below_p=0.3",
    ],
    [
        "choke:weight=0.1",
        "choke:min=4packets,max=12packets,weight=0.2,gentle=true,mark_below_p=0",
        "choke:min=3packets,max=9packets,weight=0.05,max_p=0.3,byte_mode=true,wait=false",
    ],
    [
        "rem:target=8packets,gamma=0.5,phi=1.02,period=40ms",
        "rem:target=8packets,gamma=0.5,phi=1.02,period=40ms,mismatch=backlog",
        "rem:target=50ms,gamma=0.3,alpha=0.2,phi=1.03,period=25ms,signal_at=dequeue",
    ],
    [
        "cobalt:increment=0.05,decrement=0.004",
        "cobalt:freeze=20ms,increment=0.02",
        "cobalt:target=20ms,interval=60ms,ecn=false,mtu=1000B,increment=0.03",
    ],
    [
        "pie:max_burst=45ms",
        "pie:activity=true,delay=departure_rate,dq_threshold=4096B,inactive=zero,decay=half,max_burst=30ms,alpha=0.5,beta=5",
        "pie:target=5ms,alpha=4,beta=20,cap_drop=false,derandomize=false,byte_mode=true,mark_below_p=0.6,packet=3kB,\
         max_burst=30ms",
    ],
    ["docsis_pie:msr=250kbit/s", "docsis_pie:buffer=6kB", "docsis_pie:target=20ms,msr=200kbit/s,buffer=12kB"],
    [
        "pi2",
        "pi2:target=40ms,rtt_max=200ms",
        "pi2:period=16ms,alpha=0.5,beta=6,coupling=1.5,bypass=1500B,signal_at=dequeue",
    ],
    [
        "pid:target=8packets",
        "pid:target=8packets,adapt=load,flows=12,rate=40Hz,form=velocity",
        "pid:target=50ms,kp=0.01,ki=0.05,kd=0.0005,rate=40Hz",
    ],
    [
        "pi_pd:target=8packets,alpha=0.02,period=20ms",
        "pi_pd:target=8packets,period=25ms",
        "pi_pd:target=60ms,form=sum,alpha=0.03,period=16ms",
    ],
    [
        "fb_ocq:target=8packets,period=40ms,tau_w=100ms",
        "fb_ocq:target=8packets,period=40ms,service=measured,a=0.2,form=receding",
        "fb_ocq:target=60ms,period=50ms,form=deadbeat,load=offered,tau_w=200ms,bias=false,p_max=0.6",
    ],
    [
        "cpc:target=8packets",
        "cpc:target=8packets,measure=rate,smoothing=20ms",
        "cpc:target=60ms,form=paper,flows=40,period=10ms,max_p=0.5",
    ],
];

impl Plot {
    fn trace(&self, spec: &str) -> Vector {
        let limit = Limit::Packets(20);
        let rate = Rate::from_bits_per_second(1e6);
        let base_rtt = Some(Span::from_millis(100));
        let context =
            LinkContext { rate, packet: 1000.0, limit: limit.packets(1000.0), flows: Some(10.0), base_rtt };
        let qdisc = LawSpec::parse(spec).expect("a valid SPEC");
        let header = Header { about: self.about.into(), clause: None, qdisc, context };
        let law = header.law().expect("a law in this context");
        let calls = Arc::default();
        let recorder = Recorder { law, calls: Arc::clone(&calls), uniform: None };
        let path = format!("{}/{}.jsonl", header.qdisc.law(), self.name);
        let qdisc = Fifo::new(recorder, limit, context, Stream::named(1, "disc"));
        Host { qdisc, rate, free_at: None, now: Time::ZERO }.play(self, &path);
        let calls = std::mem::take(&mut *calls.lock().expect("no panic under the lock"));
        Vector { path, text: VerdictTrace { header, calls }.to_string() }
    }

    /// Time at which an event due at `time` takes place.
    pub(crate) fn happens(&self, time: Time) -> Time {
        match self.stall {
            Some((from, to)) if (at(from)..at(to)).contains(&time) => at(to),
            _ => time,
        }
    }

    /// Changes of the rate and arrivals, in order; changes first.
    pub(crate) fn actions(&self, path: &str, context: Rate) -> Vec<(Time, Action)> {
        let mut draws = Stream::named(1, path);
        let change = |(time, share): &(f64, f64)| {
            (at(*time), Action::Rate(Rate::from_bits_per_second(share * context.bits_per_second())))
        };
        let mut actions: Vec<(Time, Action)> = self.rates.iter().map(change).collect();
        let mean_size = f64::midpoint(self.sizes[0], self.sizes[1]);
        let mut time = 0.0;
        while time < self.end {
            let load = self.load.iter().rfind(|(from, _)| *from <= time).map_or(0.0, |(_, load)| *load);
            if load == 0.0 {
                time = self.load.iter().map(|(from, _)| *from).find(|from| *from > time).unwrap_or(self.end);
                continue;
            }
            time += draws.exponential(1.0 / (load * context.packets_per_second(mean_size)));
            let len = (self.sizes[0] + draws.uniform() * (self.sizes[1] - self.sizes[0])).round() as u32;
            // Every second packet may be marked.
            let ecn = [Ecn::NotEct, Ecn::NotEct, Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce];
            let ecn = ecn[(draws.uniform() * 6.0) as usize];
            let flow = FlowId((draws.uniform() * 10.0) as u32);
            actions.push((at(time), Action::Arrive(Parcel { len, ecn, flow })));
        }
        actions.sort_by_key(|(time, action)| (*time, matches!(action, Action::Arrive(_))));
        actions
    }
}

pub(crate) enum Action {
    Rate(Rate),
    Arrive(Parcel),
}

/// A link behind the qdisc.
struct Host {
    qdisc: Fifo<Parcel, Recorder>,
    rate: Rate,
    /// End of the present transmission; None: the link is idle.
    free_at: Option<Time>,
    now: Time,
}

impl Host {
    fn play(mut self, plot: &Plot, path: &str) {
        for (due, action) in plot.actions(path, self.rate) {
            self.catch_up(plot, due);
            self.now = plot.happens(due);
            match action {
                Action::Rate(rate) => {
                    self.rate = rate;
                    self.qdisc.link_changed(self.now, rate);
                }
                Action::Arrive(parcel) => {
                    self.qdisc.enqueue(self.now, parcel, &mut Ignored);
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
            let update = self.qdisc.next_update().unwrap_or(Time::NEVER);
            let free = self.free_at.unwrap_or(Time::NEVER);
            let due = update.min(free);
            if due >= until {
                return;
            }
            self.now = plot.happens(due).max(self.now);
            if update <= free {
                self.qdisc.on_update(update, self.now);
            } else {
                self.send();
            }
        }
    }

    fn send(&mut self) {
        let taken = self.qdisc.dequeue(self.now, &mut Ignored);
        self.free_at = taken.map(|(parcel, _)| self.now + self.rate.time_for(Bytes::new(parcel.len.into())));
    }
}

/// Records the calls of a law and its answers.
pub(crate) struct Recorder {
    pub(crate) law: Box<dyn Law>,
    pub(crate) calls: Arc<Mutex<Vec<(Call, Answer)>>>,
    /// Scripted value of the uniform draws; None: those of the host.
    pub(crate) uniform: Option<Arc<Mutex<f64>>>,
}

impl Recorder {
    fn put(&mut self, call: Call) -> Answer {
        let answer = call.put_to(self.law.as_mut());
        self.calls.lock().expect("no panic under the lock").push((call, answer));
        answer
    }

    fn draws(&self, host: [f64; 2]) -> [f64; 2] {
        self.uniform.as_ref().map_or(host, |uniform| [*uniform.lock().expect("no panic under the lock"); 2])
    }
}

impl Clone for Recorder {
    fn clone(&self) -> Recorder {
        Recorder { law: self.law.clone(), calls: Arc::clone(&self.calls), uniform: self.uniform.clone() }
    }
}

impl Law for Recorder {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        self.put(Call::Arrival(Arrival { u: self.draws(arrival.u), ..*arrival }))
            .verdict
            .unwrap_or(Verdict::Pass)
    }
    fn on_departure(&mut self, departure: &Departure) -> Verdict {
        self.put(Call::Departure(Departure { u: self.draws(departure.u), ..*departure }))
            .verdict
            .unwrap_or(Verdict::Pass)
    }
    fn on_idle(&mut self, now: Time) {
        self.put(Call::Idle(now));
    }
    fn on_overflow(&mut self, now: Time) {
        self.put(Call::Overflow(now));
    }
    fn on_link_change(&mut self, now: Time, rate: Rate) {
        self.put(Call::Rate(now, rate));
    }
    fn set_params(&mut self, now: Time, given: &Given, context: &LinkContext) -> Result<(), InputError> {
        self.law.clone().set_params(now, given, context)?;
        self.put(Call::SetParams(now, given.clone(), *context));
        Ok(())
    }
    fn on_update(&mut self, due: Time, observed: &Observation) {
        self.put(Call::Update(due, *observed));
    }
    forward_law!(self => self.law; next_update, properties, gauges);
}

pub(crate) struct Parcel {
    pub(crate) len: u32,
    pub(crate) ecn: Ecn,
    pub(crate) flow: FlowId,
}

impl Packet for Parcel {
    fn len(&self) -> u32 {
        self.len
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ce(&mut self) {
        self.ecn = Ecn::Ce;
    }
    fn flow(&self) -> FlowId {
        self.flow
    }
}

/// A sink that ignores drops and marks.
pub(crate) struct Ignored;

impl Sink<Parcel> for Ignored {
    fn dropped(&mut self, _now: Time, _packet: Parcel, _cause: Cause) {}
    fn marked(&mut self, _now: Time, _packet: &Parcel) {}
}

pub(crate) fn at(seconds: f64) -> Time {
    Time::ZERO + Span::from_seconds(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Laws that drop at a full buffer only.
    const NEVER_DROP: [&str; 2] = ["tail_drop", "head_drop"];

    #[test]
    fn every_law_has_its_traces_and_each_has_drops() {
        let vectors = vectors();
        assert_eq!(vectors.len(), LAWS.len() * PLOTS.len(), "a law without a SPEC, or one too many");
        for vector in &vectors {
            let trace = VerdictTrace::parse(&vector.text).unwrap();
            assert_eq!(trace.replay(), Ok(()), "{}", vector.path);
            let calls = trace.calls.len();
            assert!((150..500).contains(&calls), "{}: {calls} calls", vector.path);
            let count =
                |verdict| trace.calls.iter().filter(|(_, answer)| answer.verdict == Some(verdict)).count();
            if !NEVER_DROP.contains(&trace.header.qdisc.law()) {
                assert!(count(Verdict::Drop) >= 5, "{}: {} drops", vector.path, count(Verdict::Drop));
            }
        }
        let count = |kind: &str| vectors.iter().filter(|vector| vector.text.contains(kind)).count();
        assert_eq!(count("\"call\":\"rate\""), LAWS.len());
        assert!(count("\"call\":\"overflow\"") >= 4 && count("\"call\":\"idle\"") >= LAWS.len());
        assert!(count("\"verdict\":\"mark\"") >= 8);
    }
}
