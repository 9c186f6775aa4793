//! What groups of flows send over UDP.

use super::routes::Hosts;
use super::{FASTEST_ACCESS, Reader, Section};
use crate::app::{App, AppName};
use crate::scenario::Access;
use crate::udp::{
    DATAGRAM, Datagrams, Lrd, OnOff, PERIOD, PING_EVERY, PING_PACKET, Source, VOICE_PACKET, mean_size,
};
use sojourn_units::{Bytes, Draw, Rate, SizeDraw, Span, TimeDraw};

impl Reader {
    /// The datagrams of the application called `name`.
    pub(super) fn datagrams(
        &mut self,
        group: &Section<'_>,
        name: &str,
        hosts: Option<&Hosts>,
    ) -> Option<Datagrams> {
        let rate = if App::has_key(name, "rate") && !group.given("rate") {
            let what = format!("app = \"{name}\" needs a rate; legal: rate = \"1 Mbit/s\", for example");
            self.refuse(group, "rate", &what);
            None
        } else if group.given("rate") {
            self.rate(group, "rate", packet_of(group)?, FASTEST_ACCESS)
        } else {
            None
        };
        let size = self.datagram_size(group, name)?;
        let source = match name {
            "cbr" => Source::Cbr(rate?),
            "poisson" => Source::Poisson(rate?),
            "on_off" => {
                let [on, off] = ["on", "off"].map(|key| period(group, key));
                Source::OnOff(OnOff { rate: rate?, on: on?, off: off? })
            }
            "lrd" => {
                let [on, off] = ["on", "off"].map(|key| self.mean_period(group, key));
                let (hurst, sources) = (group.get::<f64>("hurst")?, group.get::<u64>("sources")? as u32);
                Source::Lrd(Lrd { rate: rate?, hurst, sources, on: on?, off: off? })
            }
            "voip" => Source::Voip { spurts: group.get::<bool>("spurts").unwrap_or(false) },
            _ => Source::Ping(if group.given("every") { group.get("every")? } else { PING_EVERY }),
        };
        let datagrams = Datagrams { source, size };
        self.check_burst(group, &datagrams)?;
        let rate = datagrams.rate();
        if let Hosts(Some(Access { rate: access, .. })) = hosts?
            && rate.bits_per_second() > access.bits_per_second()
        {
            let key = if group.given("rate") { "rate" } else { "app" };
            let what = format!("{rate} is more than its access link carries; legal: at most {access}");
            self.refuse(group, key, &what);
            return None;
        }
        Some(datagrams)
    }

    fn datagram_size(&mut self, group: &Section<'_>, name: &str) -> Option<SizeDraw> {
        let all_of = |bytes: f64| Draw::constant(bytes).ok().map(SizeDraw::of_bytes);
        if !group.given("size") {
            return all_of(packet_of(group)?);
        }
        if group.given("segment") {
            self.refuse(group, "segment", "is given beside size; legal: one of the two");
        }
        let size = group.get::<SizeDraw>("size")?;
        let fits = DATAGRAM.contains(&size.bytes(1.0).mean());
        let what = match (size.is_in_packets(), fits) {
            (false, true) => return Some(size),
            (false, false) => {
                format!(
                    "{size} is out of range; legal: {} B to {} B on average",
                    DATAGRAM.start(),
                    DATAGRAM.end()
                )
            }
            (true, _) => {
                format!(
                    "{size} is no size of a datagram of app = \"{name}\"; legal: bytes, such as \"200 B\""
                )
            }
        };
        self.refuse(group, "size", &what);
        None
    }

    /// The mean of periods whose distribution is known.
    fn mean_period(&mut self, group: &Section<'_>, key: &'static str) -> Option<Span> {
        if !group.given(key) {
            return Some(PERIOD);
        }
        let period = group.get::<TimeDraw>(key)?;
        let mean = period.seconds().as_constant().filter(|mean| *mean > 0.0);
        if mean.is_none() {
            let what = format!(
                "{period} is no mean; legal: a time above 0, such as \"500 ms\": the periods of lrd are Pareto distributed"
            );
            self.refuse(group, key, &what);
        }
        mean.map(Span::from_seconds)
    }

    /// A datagram that took thousands of on-periods to fill would be no burst, and long to compute.
    fn check_burst(&mut self, group: &Section<'_>, of: &Datagrams) -> Option<()> {
        let (on, rate) = match &of.source {
            Source::OnOff(OnOff { rate, on, .. }) => (on.seconds().mean(), *rate),
            Source::Lrd(lrd) => {
                let share = lrd.on.seconds() / (lrd.on.seconds() + lrd.off.seconds());
                let each = lrd.rate.bits_per_second() / f64::from(lrd.sources) / share;
                (lrd.on.seconds(), Rate::from_bits_per_second(each))
            }
            _ => return Some(()),
        };
        let gap = 8.0 * of.mean_size() / rate.bits_per_second();
        if gap <= MOST_PERIODS * on {
            return Some(());
        }
        let what = format!(
            "a source fills a datagram in {}, in periods of {} on average; legal: in at most {MOST_PERIODS} of them",
            Span::from_seconds(gap),
            Span::from_seconds(on)
        );
        self.refuse(group, "rate", &what);
        None
    }
}

/// The mean packet of a group of flows on the wire, bytes.
pub(super) fn packet_of(group: &Section<'_>) -> Option<f64> {
    let AppName(name) = group.get("app")?;
    // The size of an application over TCP is of what it transfers.
    if group.given("size") && !App::is_tcp_named(name) && App::has_key(name, "size") {
        return group.get::<SizeDraw>("size").map(|size| mean_size(&size));
    }
    match name {
        "voip" => Some(VOICE_PACKET),
        "ping" => Some(PING_PACKET),
        _ => group.get::<Bytes>("segment").map(|size| size.get() as f64),
    }
}

/// An on-period or a pause.
fn period(group: &Section<'_>, key: &str) -> Option<TimeDraw> {
    if group.given(key) {
        return group.get::<TimeDraw>(key);
    }
    Draw::exponential(PERIOD.seconds()).ok().map(TimeDraw::of_seconds)
}

/// On-periods that a datagram may take.
const MOST_PERIODS: f64 = 1000.0;
