//! Tables of networks and their links.

use super::names::{NAMES, is_name};
use crate::links::{Framing, Impairments, Trace};
use crate::ranges::{DELAYS, LINK_RATES, RATES};
use sojourn_aqm::QdiscSpec;
use sojourn_params::Both;
use sojourn_units::{Amount, LinkRate, Rate, Span};

sojourn_params::params! {
    /// One direction of a link.
    pub struct Direction {
        /// rate of the link, bits on its wire; in packets/s of the flows' segment (their mean where they differ)
        rate: Option<LinkRate> = None, within LINK_RATES,
            "none: it must be given, or trace in its place; in `back` as the other direction";
        /// times at which the link may send, in place of rate: a recording as Mahimahi's, or a model that draws one; laws
        /// get its mean rate, and framing is tun by default
        trace: Option<Trace> = None, "a constant rate", "mm-link(1)";
        /// propagation delay, one way
        delay: Option<Span> = None, within DELAYS, "none: it must be given; in `back` as the other direction";
        /// limit of the qdisc; the packet on the wire is not in it
        buffer: Option<Amount> = None,
            where "whole packets, at least one; or bytes or a time at the link's rate, one packet or more",
            "no limit";
        /// the qdisc: { law = NAME, KEY = VALUE } or "NAME:KEY=VALUE,KEY=VALUE"; see `sojourn list laws`
        qdisc: Option<QdiscSpec> = None,
            "tail_drop at a bottleneck; none in [[links]] and `back`, where a buffer alone makes it tail_drop, which \
             --qdisc leaves alone";
        /// size of packets on the wire, see `sojourn explain framing`; buffers and laws count IP packets
        framing: Option<Framing> = None,
            "ip, the packet alone; tun with a trace, as in Mahimahi; in `back` as the other direction";
        /// effects of the wire on packets that have been sent, see `sojourn explain impairments`
        impairments: Option<Impairments> = None, "none: the wire is perfect";
    }
}

sojourn_params::params! {
    /// The other direction of a dumbbell.
    pub struct BottleneckMore {
        /// the other direction, which carries the ACKs
        back: Option<Back> = None, "the same rate and delay, no qdisc";
    }
}

sojourn_params::params! {
    /// Further keys of a chain of routers.
    pub struct ParkingLotMore {
        /// number of routers
        routers: u64 = 5, in 3 to 1000, "four links in a row, as many as the figures of the field have";
        /// the other direction of each of them
        back: Option<Back> = None, "the same rate and delay, no qdisc";
    }
}

sojourn_params::params! {
    /// Further keys of the SQM paper's network.
    pub struct TwoBottlenecksMore {
        /// rate of the links r1-r2, r5-r2 and r3-r6, which are no bottlenecks
        fast: Option<LinkRate> = None, within RATES, "ten times the rate";
        /// the other direction of the two bottlenecks
        back: Option<Back> = None, "the same rate and delay, no qdisc";
    }
}

sojourn_params::params! {
    /// A home network.
    pub struct Home {
        /// rate of the link between the hosts and the modem, both ways; its delay is nothing
        lan: LinkRate = LinkRate::Bits(Rate::from_bits_per_second(1e9)), within RATES,
            "the Ethernet of homes", "IEEE 802.3, clause 40";
        /// the way from the modem to the ISP
        up: Direction;
        /// the way from the ISP to the modem
        down: Direction;
    }
}

sojourn_params::params! {
    /// Ends of a link.
    pub struct Ends {
        /// the node where it begins
        from: String, where NAMES if |name| is_name(name);
        /// the node where it ends
        to: String, where NAMES if |name| is_name(name);
    }
}

sojourn_params::params! {
    /// Further keys of a link of a graph.
    pub struct EdgeMore {
        /// its name in results and in [[at]]; its other direction is NAME.back
        name: Option<String> = None, where NAMES if |name| name.as_deref().is_none_or(is_name),
            "FROM-TO";
        /// it has no other direction
        one_way: bool = false, "ACKs need a way back";
        /// the other direction
        back: Option<Back> = None, "the same rate and delay, no qdisc";
    }
}

/// `[bottleneck]`.
pub(crate) type Bottleneck = Both<Direction, BottleneckMore>;
/// `[parking_lot]`.
pub(crate) type ParkingLot = Both<Direction, ParkingLotMore>;
/// `[two_bottlenecks]`.
pub(crate) type TwoBottlenecks = Both<Direction, TwoBottlenecksMore>;
/// A table of `[[links]]`.
pub(crate) type Edge = Both<Ends, Both<Direction, EdgeMore>>;
/// The other direction of a link; its defaults are those of the first.
pub(crate) type Back = Direction;
