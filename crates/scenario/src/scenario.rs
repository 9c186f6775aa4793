//! What a scenario is.

use crate::app::App;
use crate::disc::DiscSpec;
use crate::faults::Faults;
use crate::keys::{Key, keys_of};
use crate::tcp::{Given, Tcp, ecn_with};
use crate::times::{Spread, Start};
use crate::{read, tree};
use sojourn_aqm::{Limit, Site};
use sojourn_tcp::Profile;
use sojourn_tcp::cc::Choice;
use sojourn_units::{Bytes, Fault, Rate, Span};
use std::fmt;

/// A link, its disc, its flows, and what changes when; checked and complete.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// What it shows, in one line.
    pub title: String,
    /// Simulated time.
    pub duration: Span,
    /// The time at the start that is not measured; below the duration.
    pub warmup: Span,
    /// The step of the series, where one was asked for.
    pub sample: Option<Span>,
    /// The congested link.
    pub bottleneck: Bottleneck,
    /// The traffic; at least one group.
    pub flows: Vec<Flows>,
    /// Changes in the order of time; those of one instant in the order of the file.
    pub at: Vec<Change>,
}

/// The congested link of a dumbbell and the disc in front of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Bottleneck {
    /// Its rate, both ways.
    pub rate: Rate,
    /// Its propagation delay, one way.
    pub delay: Span,
    /// What the disc may hold; None: whatever comes.
    pub buffer: Option<Limit>,
    /// The disc and its law.
    pub disc: DiscSpec,
}

/// A group of like flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Flows {
    /// How many.
    pub count: u32,
    /// What they send.
    pub app: App,
    /// Their congestion control, where they use TCP.
    pub cc: Choice,
    /// Their implementation of TCP, with what the file sets otherwise.
    pub profile: Profile,
    /// Whether they negotiate ECN.
    pub ecn: bool,
    /// How fast the applications at their receivers read, payload; None: what comes, at once.
    pub reads: Option<Rate>,
    /// The IP packet on the wire, headers included; of datagrams the mean.
    pub segment: Bytes,
    /// Their access links.
    pub access: Access,
    /// When they start.
    pub start: Start,
    /// When they stop sending; None: never.
    pub stop: Option<Span>,
    /// What the file says of their TCP itself.
    pub(crate) given: Given,
}

/// The links between a flow's hosts and the bottleneck, one on each side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Access {
    /// Rate of each.
    pub rate: Rate,
    /// Propagation delay of each, one way.
    pub delay: Spread,
}

/// Something that changes during the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// When, from the start of the run.
    pub time: Span,
    /// What.
    pub set: Setting,
}

/// What can be changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setting {
    /// The bottleneck's rate, both ways.
    BottleneckRate(Rate),
    /// The bottleneck's propagation delay, one way.
    BottleneckDelay(Span),
}

impl Scenario {
    /// Reads and checks a scenario file; `name` is what faults call the file.
    ///
    /// `overrides` are dotted keys with TOML values, `("bottleneck.rate", "\"6 Mbit/s\"")`;
    /// a bare word that is no TOML value is a string.
    pub fn parse(text: &[u8], name: &str, overrides: &[(String, String)]) -> Result<Scenario, Faults> {
        let (tree, flaws) = tree::grow(text, name, overrides)?;
        read::scenario(&tree, flaws).map_err(|flaws| Faults::of(name, flaws))
    }

    /// The same scenario under another disc, written as `"red:min=50packets,max=150packets"`.
    ///
    /// The lines of its faults do not say who asked for it.
    pub fn with_disc(&self, spec: &str) -> Result<Scenario, Faults> {
        let disc = DiscSpec::parse(spec).map_err(|fault| Faults::of_spec(&[fault]))?;
        let faults = disc.faults(&self.site());
        if !faults.is_empty() {
            let named: Vec<_> = faults.into_iter().map(|fault| fault.inside(&disc.law)).collect();
            return Err(Faults::of_spec(&named));
        }
        let bottleneck = Bottleneck { disc, ..self.bottleneck.clone() };
        Ok(Scenario { bottleneck, ..self.clone() })
    }

    /// The same scenario with another congestion control in these groups of flows, as if the file had it.
    ///
    /// What the file leaves open follows the new one; what it sets and the new one contradicts is told, in lines that do
    /// not say who asked for it.
    pub fn with_cc(&self, groups: &[usize], cc: &Choice) -> Result<Scenario, Faults> {
        let mut scenario = self.clone();
        let mut faults = Vec::new();
        for place in groups {
            let Some(flows) = scenario.flows.get_mut(*place) else { continue };
            let told = flows.take(cc).into_iter().map(|fault| fault.inside(&format!("flows[{place}]")));
            faults.extend(told);
        }
        if faults.is_empty() { Ok(scenario) } else { Err(Faults::of_spec(&faults)) }
    }

    /// What the bottleneck's law may know: means over the flows that respond to it, those that use TCP.
    ///
    /// Where none does, there is no round-trip time and no number of flows.
    pub fn site(&self) -> Site {
        let packet = self.mean_segment();
        let flows: f64 = self.tcp_flows().map(|group| f64::from(group.count)).sum();
        let rtt = self.tcp_flows().map(|group| {
            let access = group.access.delay.mean_seconds(group.count);
            f64::from(group.count) * 2.0 * (self.bottleneck.delay.seconds() + 2.0 * access)
        });
        Site {
            rate: self.bottleneck.rate,
            packet,
            limit: self.bottleneck.buffer.unwrap_or(Limit::Unlimited).packets(packet),
            flows: (flows > 0.0).then_some(flows),
            base_rtt: (flows > 0.0).then(|| Span::from_seconds(rtt.sum::<f64>() / flows)),
        }
    }

    fn tcp_flows(&self) -> impl Iterator<Item = &Flows> {
        self.flows.iter().filter(|group| group.app.is_tcp())
    }

    /// The shortest and the longest round-trip time without queueing and without transmission times.
    pub fn base_rtts(&self) -> (Span, Span) {
        let base = |access: Span| (self.bottleneck.delay + access + access).saturating_mul(2);
        let shortest = self.flows.iter().map(|flows| flows.access.delay.earliest()).min();
        let longest = self.flows.iter().map(|flows| flows.access.delay.latest()).max();
        (base(shortest.unwrap_or_default()), base(longest.unwrap_or_default()))
    }

    /// Flows of all groups.
    pub fn flow_count(&self) -> f64 {
        self.flows.iter().map(|flows| f64::from(flows.count)).sum()
    }

    /// Mean size of the flows' segments, bytes.
    fn mean_segment(&self) -> f64 {
        let bytes = |group: &Flows| f64::from(group.count) * group.segment.get() as f64;
        self.flows.iter().map(bytes).sum::<f64>() / self.flow_count()
    }
}

impl Flows {
    /// Takes another congestion control; tells what else is set and cannot be with it.
    fn take(&mut self, cc: &Choice) -> Vec<Fault> {
        if !self.given.has("ecn") {
            self.ecn = ecn_with(cc);
        }
        self.given.0.extend(keys_of("flows").find(|key| key.name == "cc" && !self.given.has("cc")));
        self.cc = cc.clone();
        let Flows { cc, profile, ecn, segment, given, .. } = self.clone();
        let clashes = Tcp { cc, profile, ecn, segment, given }.contradictions();
        let path = |key: &Key| key.path().trim_start_matches("flows.").to_string();
        clashes.into_iter().map(|(key, what)| Fault::new(path(key), what)).collect()
    }
}

impl Setting {
    /// The key that it sets.
    pub fn target(&self) -> &'static str {
        match self {
            Setting::BottleneckRate(_) => "bottleneck.rate",
            Setting::BottleneckDelay(_) => "bottleneck.delay",
        }
    }

    /// The value that it sets, as it is written.
    pub fn value(&self) -> String {
        match self {
            Setting::BottleneckRate(rate) => rate.to_string(),
            Setting::BottleneckDelay(delay) => delay.to_string(),
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.target(), self.value())
    }
}
