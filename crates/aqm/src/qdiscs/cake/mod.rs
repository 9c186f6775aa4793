//! CAKE: a shaper, tins by priority, fair queueing among hosts and flows, and COBALT in each queue.
//!
//! T. Høiland-Jørgensen, D. Täht, J. Morton, Piece of CAKE: A Comprehensive Queue Management Solution for Home Gateways, IEEE
//! LANMAN 2018 (arXiv 1804.07617); tc-cake(8). Where the two are silent, the authors' code is followed: sch_cake.c, which
//! is theirs to license and has the terms of BSD.

mod diffserv;
mod sets;
mod tins;

use super::ack_filter::AckFilter;
use super::common::is_fixed;
use super::groups::Groups;
use super::limits::{Limits, holds_a_packet};
use super::scheduled::{Bounds, Change, QueueKind, Scheduled};
use super::shaper::{Clock, Inner, Shaped};
use super::shares::Share;
use super::{Built, Queues};
use crate::entry::Designed;
use crate::framing::Framing;
use crate::laws::cobalt;
use crate::link_context::LinkContext;
use crate::qdisc::{Limit, Packet};
use crate::qdisc_spec::{Place, QdiscEntry};
use diffserv::Diffserv;
use sets::{Isolation, Sets};
use sojourn_params::{Described, Given, InputError, Page, Params, Path, params};
use sojourn_random::Stream;
use sojourn_units::{Bytes, Packets, Rate, Span};
use std::sync::Arc;
use tins::{Tin, Tins};

params! {
    /// Parameters of CAKE, with the names of tc-cake(8).
    pub struct Cake {
        /// rate of the shaper, of bytes as the framing counts them
        bandwidth: Option<Rate> = None, above "0 bit/s", "none: the link sends as it can (unlimited)", "shaper parameters";
        /// round-trip time for which COBALT is set
        rtt: Span = Span::from_millis(100), in "10 us" to "1 h", "that of most Internet traffic", "round trip time parameters";
        /// tins, and the DSCPs of each
        diffserv: Diffserv = Diffserv::Diffserv3, "the default of tc-cake(8)", "priority queue parameters";
        /// flows and hosts among which the link is divided
        isolation: Isolation = Isolation::TripleIsolate, "the default of tc-cake(8)", "flow isolation parameters";
        /// size of a packet as it counts: a name, or { overhead = SIZE, least = SIZE, cells = true }
        framing: Framing = Framing::IP, "the IP packet alone (raw)", "overhead compensation parameters";
        /// ACKs that are removed when a later one comes to their queue
        ack_filter: AckFilter = AckFilter::Off, "the default of tc-cake(8) (no-ack-filter)",
            "Piece of CAKE, section III-D";
        /// packets that are dropped count for the shaper, as behind the bottleneck, which they have passed
        ingress: bool = false, where "with bandwidth", "the default of tc-cake(8) (egress)", "other parameters";
        /// bytes of all queues together
        memlimit: Option<Bytes> = None, in "1 B" to "1000 GB",
            "four times bandwidth and rtt, at least 4 MiB; 32 MiB without bandwidth; the link's buffer, where that is less",
            "other parameters";
    }
}

/// Description and constructor.
pub(crate) const ENTRY: QdiscEntry = QdiscEntry {
    page: Page {
        stem: "cake",
        summary: "shaper, priorities, and fair queueing among hosts and flows, with cobalt in each queue",
        idea: "A shaper makes this the bottleneck. The DSCP selects a tin; a tin of higher priority comes first while it keeps \
               below its part of the rate. In a tin each flow has a queue, and a flow's turn is the shorter the more \
               flows its host has, so that hosts have equal shares, too. Every queue is under COBALT.",
        equation: "next <- max(next, now) + size / bandwidth;  quantum of a flow <- quantum / flows of its busier host",
        source: "T. Høiland-Jørgensen, D. Täht, J. Morton, IEEE LANMAN 2018; tc-cake(8)",
        fields: <Cake as Described>::fields,
    },
    read: Given::read::<Cake>,
    design,
};

fn design(params: &dyn Params, place: &Place<'_>) -> Result<Queues, InputError> {
    let cake: &Cake = params.of()?;
    if cake.ingress && cake.bandwidth.is_none() {
        let problem = "counts drops for a shaper, and there is none";
        return Err(InputError::conflict(true, problem, "a bandwidth beside it").at("ingress"));
    }
    cake.fits(&place.context)?;
    let tins = cake.tins();
    let laws = tins.iter().map(|tin| cake.law(tin.rate, &place.context)).collect::<Result<_, _>>()?;
    Ok(Queues::Cake(Box::new(Design { cake: cake.clone(), laws })))
}

/// CAKE in front of a link.
#[derive(Clone)]
pub(crate) struct Design {
    cake: Cake,
    /// COBALT of each tin, at its rate.
    laws: Vec<(Designed, LinkContext, Share)>,
}

impl Design {
    /// The qdisc at its start, behind a buffer.
    pub(super) fn build<P: Packet + Send + 'static>(
        &self,
        buffer: Limit,
        given: Given,
        mut draws: Stream,
    ) -> Built<P> {
        let kind = |(law, context, share): &(Designed, LinkContext, Share)| QueueKind {
            law: law.law(),
            context: *context,
            share: *share,
        };
        let sets = Sets::new(self.cake.diffserv, self.cake.isolation, self.laws.len(), &mut draws);
        let dither = Stream::named(draws.bits(), "dither");
        let tins = Tins::new(self.cake.tins(), self.cake.isolation, dither);
        let tins = tins.with_drops_counted(self.cake.ingress);
        let kinds = self.laws.iter().map(kind).collect::<Vec<_>>();
        let queues = Scheduled::new(self.cake.bounds(buffer), (sets, tins), kinds, draws);
        let diffserv = self.cake.diffserv;
        let groups = Groups::new(diffserv.names(), move |tag, _| diffserv.tin(tag.dscp) as usize);
        let queues = queues.with_ack_filter(self.cake.ack_filter).with_groups(groups);
        let link = self.laws[0].1;
        let set = move |given: [&Given; 2], (bounds, _): (&Bounds, Rate), tins: &mut Tins| {
            given[1].params.of::<Cake>()?.fits(&link)?;
            set_tins(given, bounds, tins)
        };
        let queues = queues.with_params(given.clone(), Arc::new(set));
        let queues = Box::new(queues);
        let Some(rate) = self.cake.bandwidth else { return queues };
        let clock = Clock::new(rate, Bytes::ZERO, self.cake.framing);
        Box::new(Shaped { inner: queues, clock, counts_drops: self.cake.ingress, given, set_params })
    }
}

/// New parameters during a run: those of the tins and their queues.
fn set_tins([before, after]: [&Given; 2], bounds: &Bounds, tins: &mut Tins) -> Result<Change, InputError> {
    let (cake, earlier): (&Cake, &Cake) = (after.params.of()?, before.params.of()?);
    is_fixed("diffserv", cake.diffserv == earlier.diffserv)?;
    is_fixed("isolation", cake.isolation == earlier.isolation)?;
    is_fixed("ack_filter", cake.ack_filter == earlier.ack_filter)?;
    is_fixed("ingress", cake.ingress == earlier.ingress)?;
    is_fixed("bandwidth", cake.bandwidth.is_some() == earlier.bandwidth.is_some())?;
    let new = cake.tins();
    let laws = new.iter().map(|tin| {
        let params = cake.cobalt(tin.rate);
        let keys = params.all_keys();
        (Path::from("rtt"), Given { params: Box::new(params), keys })
    });
    let laws = laws.collect();
    let shares = new.iter().map(|tin| Share::Own(tin.rate)).collect();
    tins.set_rates(new);
    Ok(Change { bounds: cake.bounds(bounds.buffer), laws, shares })
}

/// The shaper's part of new parameters; the queues take the same.
fn set_params([_, after]: [&Given; 2], clock: &mut Clock) -> Result<Option<Inner>, InputError> {
    let cake: &Cake = after.params.of()?;
    (clock.rate, clock.framing) = (cake.bandwidth.unwrap_or(clock.rate), cake.framing);
    Ok(Some(("", after.clone())))
}

impl Cake {
    /// The tins in the order of their numbers; without a shaper they have no rate, 0.
    fn tins(&self) -> Vec<Tin> {
        let rate = self.bandwidth.unwrap_or(Rate::ZERO);
        let tin = |parts: &diffserv::Part| {
            let own = Rate::from_bits_per_second(rate.bits_per_second() * parts.share);
            Tin::new(own, parts, self.framing)
        };
        self.diffserv.parts().iter().map(tin).collect()
    }

    /// COBALT of a tin with this rate; at 0 the target is that of the rtt alone, and no delay is excused as that of packets.
    fn law(&self, rate: Rate, link: &LinkContext) -> Result<(Designed, LinkContext, Share), InputError> {
        let context = LinkContext { rate, flows: link.flows.map(|_| 1.0), ..*link };
        let law = (cobalt::ENTRY.design)(&self.cobalt(rate), &context).map_err(|error| error.at("rtt"))?;
        Ok((law, context, Share::Own(rate)))
    }

    /// Its parameters: sch_cake.c, cake_set_rate.
    fn cobalt(&self, rate: Rate) -> cobalt::Params {
        let mtu = if rate > Rate::ZERO { f64::from(MTU) * 8.0 / rate.bits_per_second() } else { 0.0 };
        let rtt = self.rtt.seconds();
        let target = (1.5 * mtu).max(rtt / 20.0);
        let interval = (rtt + target - rtt / 20.0).max(2.0 * target);
        cobalt::Params {
            target: Span::from_seconds(target),
            interval: Span::from_seconds(interval),
            mtu: Bytes::new(MTU.into()),
            ..cobalt::Params::default()
        }
    }

    /// Refuses a memory that holds no packet of the link.
    fn fits(&self, link: &LinkContext) -> Result<(), InputError> {
        self.memlimit
            .map_or(Ok(()), |memory| holds_a_packet(memory, link).map_err(|error| error.at("memlimit")))
    }

    /// Its limit behind a buffer: sch_cake.c, cake_reconfigure.
    fn bounds(&self, buffer: Limit) -> Bounds {
        let of_rate = |rate: Rate| {
            let bytes = 4.0 * rate.bits_per_second() / 8.0 * self.rtt.seconds();
            (bytes as u64).max(LEAST_MEMORY)
        };
        let own = self.memlimit.map_or_else(|| self.bandwidth.map_or(MEMORY, of_rate), Bytes::get);
        let (limit, batch) = (Packets::new(u32::MAX), Packets::new(1));
        let limits = Limits { limit, memory: Bytes::new(own), batch, ce_threshold: None };
        limits.bounds(buffer)
    }
}

const MTU: u32 = 1514;
const MEMORY: u64 = 32 << 20;
const LEAST_MEMORY: u64 = 4 << 20;
