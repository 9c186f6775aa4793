//! Datagrams of groups of flows.

use super::packets::packet_of;
use super::reader::{FASTEST_ACCESS, Reader, Section};
use super::routes::Hosts;
use crate::app::App;
use crate::scenario::Access;
use crate::udp::{DATAGRAM, Datagrams, Lrd, OnOff, PERIOD, PING_EVERY, Source};
use sojourn_params::{SizeDraw, TimeDraw};
use sojourn_random::Draw;
use sojourn_units::{Rate, Span};

impl Reader {
    /// The datagrams of the application called `name`.
    pub(super) fn datagrams(
        &mut self,
        group: &Section<'_>,
        name: &str,
        hosts: Option<&Hosts>,
    ) -> Option<Datagrams> {
        let rate = if App::has_key(name, "rate") && !group.given("rate") {
            let message = format!("app = \"{name}\" needs a rate; expected rate = \"1 Mbit/s\", for example");
            self.refuse(group, "rate", &message);
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
            let message = format!("{rate} is more than its access link carries; expected at most {access}");
            self.refuse(group, key, &message);
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
            self.refuse(group, "segment", "is given beside size; expected one of the two");
        }
        let size = group.get::<SizeDraw>("size")?;
        let fits = DATAGRAM.contains(&size.bytes(1.0).mean());
        let message = match (size.is_in_packets(), fits) {
            (false, true) => return Some(size),
            (false, false) => {
                format!(
                    "{size} is out of range; expected {} B to {} B on average",
                    DATAGRAM.start(),
                    DATAGRAM.end()
                )
            }
            (true, _) => {
                format!(
                    "{size} is no size of a datagram of app = \"{name}\"; expected bytes, such as \"200 B\""
                )
            }
        };
        self.refuse(group, "size", &message);
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
            let message = format!(
                "{period} is no mean; expected a time above 0, such as \"500 ms\": the periods of lrd are Pareto distributed"
            );
            self.refuse(group, key, &message);
        }
        mean.map(Span::from_seconds)
    }

    /// Rejects datagrams that take thousands of on-periods to fill: they are no bursts, and slow to compute.
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
        let message = format!(
            "a source fills a datagram in {}, in periods of {} on average; expected at most {MOST_PERIODS} of them",
            Span::from_seconds(gap),
            Span::from_seconds(on)
        );
        self.refuse(group, "rate", &message);
        None
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
