//! Tables of traffic.

use super::names::{NAMES, ProfileName, STREAMS, is_name, is_stream};
use crate::apps::App;
use crate::arrivals::Arrivals;
use crate::dscp::Dscp;
use crate::ranges::{DELAYS, RATES};
use crate::times::{Spread, Start};
use sojourn_params::{Described, Errors, Given, Kind, Quantity, TimeDraw, Value, table_of};
use sojourn_tcp::Profile;
use sojourn_tcp::cc::Choice;
use sojourn_units::{Bytes, LinkRate, Span};

sojourn_params::params! {
    /// A group of like flows.
    pub struct Group {
        /// name of the class in results and in [[at]], and of its random streams
        name: Option<String> = None, where NAMES if |name| name.as_deref().is_none_or(is_name),
            "the app's name; with a number behind it where that is taken";
        /// name of the class's random streams: draws depend on it and the seed, not on other classes
        stream: Option<String> = None, where STREAMS if |name| name.as_deref().is_none_or(is_stream),
            "the name; without one the app, with the ends that are given, as in \"bulk a-b\", numbered where that is \
             another class's too";
        /// the node where the senders are
        from: Option<String> = None, where "a node", "left, r1, lan; in a network of [[links]] it must be given";
        /// the node where the receivers are
        to: Option<String> = None, where "a node",
            "right, the last router, isp; in a network of [[links]] it must be given";
        /// the nodes that data pass, both ends included
        route: Option<Vec<String>> = None, where "nodes, each with a link to the next",
            "the shortest, by delay, then by links";
        /// the nodes that acknowledgments pass, both ends included
        back: Option<Vec<String>> = None, where "nodes, each with a link to the next",
            "the shortest, by delay, then by links";
        /// number of flows, a million in all groups, where each connection of web and each source of lrd is one; of rrul
        /// the bulk flows each way; with arrivals the most at a time
        count: Option<u32> = None, in 1 to 1_000_000, "1; of rrul 4, as in Flent; with arrivals 10000";
        /// the application: "NAME" or { NAME = { KEY = VALUE } }; see `sojourn list apps`
        app: App = App::default(), "TCP that always has data to send";
        /// the congestion control, with the recovery that its RFC pairs with it: { name = NAME, KEY = VALUE } or
        /// "NAME:KEY=VALUE,KEY=VALUE"; see `sojourn list ccs`
        cc: Option<Choice> = None, "newreno, which the models of the laws' papers describe";
        /// the implementation of TCP: default (the RFCs, with the values of deployed systems), linux, ns2 or ns3 (as the
        /// kernel and those simulators have it); `sojourn explain default` shows its settings
        profile: Option<ProfileName> = None, "default: the RFCs";
        /// settings of TCP that differ from the profile: tcp = { prr = false }
        tcp: Option<TcpSettings> = None, "as the profile";
        /// ECN is negotiated (RFC 3168); UDP datagrams are ECN-capable
        ecn: Option<bool> = None, "false; true with a congestion control that needs marks, such as dctcp", "RFC 3168";
        /// ECN-capable packets carry ECT(1), the identifier of scalable senders, in place of ECT(0)
        ect1: bool = false, "ECT(0), which classic senders carry", "RFC 9331, section 4.1";
        /// the IP packet on the wire, headers (40 B) and options included; ACKs have 40 B and their options
        segment: Option<Bytes> = None, in "100 B" to "65535 B", "1500 B, the MTU of Ethernet", "IEEE 802.3";
        /// the host of the senders; groups that name the same host share it
        from_host: Option<String> = None, where NAMES if |name| name.as_deref().is_none_or(is_name),
            "each user has a host of its own";
        /// the host of the receivers; groups that name the same host share it
        to_host: Option<String> = None, where NAMES if |name| name.as_deref().is_none_or(is_name),
            "each user has a host of its own";
        /// differentiated services codepoint of the packets, both ways
        dscp: Dscp = Dscp::default(), "best effort", "RFC 2474";
        /// links that each flow has to itself between its hosts and the network, one on each side; their buffers are
        /// unlimited
        access: Option<Access> = None, "of a dumbbell the defaults of its keys; else none: the hosts are at the nodes";
        /// start times: all at TIME; { spread = [TIME, TIME] } evenly from the first flow to the last;
        /// { random = [TIME, TIME] } at times drawn uniformly by the run's seed
        start: Option<Start> = None, where "before the end of the run",
            "{ random = [\"0 s\", \"1 s\"] }, so that flows are not in step; it ends with the run where that is shorter";
        /// flows that arrive during the run in place of `start`, see `sojourn explain arrivals`; further ones than `count`
        /// at a time are rejected
        arrivals: Option<Arrivals> = None, "none: `count` flows from their starts";
        /// lifetime of each flow, after which it stops sending
        lifetime: Option<TimeDraw> = None,
            where "more than 0 on average" if |life| life.as_ref().is_none_or(|life| life.seconds().mean() > 0.0),
            "none";
        /// time at which they stop sending
        stop: Option<Span> = None, where "after every start", "never";
    }
}

sojourn_params::params! {
    /// Access links of a flow.
    pub struct Access {
        /// rate of each access link
        rate: Option<LinkRate> = None, within RATES, "ten times the rate of the fastest link on the way: no bottleneck";
        /// propagation delay of each access link, one way: TIME, or { spread = [TIME, TIME] } evenly from the first flow
        /// to the last; base RTT = 2 (bottleneck delay + 2 access delay)
        delay: Spread = Spread::constant(Span::ZERO), within DELAYS, "the bottleneck has the delay";
    }
}

/// Settings of TCP that differ from a profile.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpSettings(pub(crate) Given);

impl Quantity for TcpSettings {
    fn kind() -> Kind {
        Kind::Keys(Profile::fields)
    }
    fn read(value: &Value) -> Result<TcpSettings, Errors> {
        Given::read::<Profile>(table_of(value)?).map(TcpSettings)
    }
    fn write(&self) -> Value {
        Value::Table(self.0.values().map(|(key, value)| (key.into(), value)).collect())
    }
}

/// The congestion control of a group without one.
pub(crate) const DEFAULT_CONTROL: &str = "newreno";
