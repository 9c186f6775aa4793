//! Record of a link: its packets, those of each class, and those of each queue that its qdisc names.

use crate::losses::Losses;
use crate::parts::LinkPart;
use crate::queue_stats::QueueStats;
use crate::{
    Balance, ExactTotals, Histogram, LinkStats, Quantiles, QueueOutcome, Row, Series, Stretch, StretchStart,
    class_metrics,
};
use sojourn_units::{Span, Time};

/// A link to watch.
#[derive(Clone, Debug)]
pub struct Watched {
    /// Its number.
    pub link: u32,
    /// The classes whose data cross it, in order.
    pub classes: Vec<u32>,
    /// Names of the queues of its qdisc, by their numbers; empty: one queue.
    pub queues: Vec<String>,
    /// Packets may be lost on its wire.
    pub loses: bool,
    /// Its qdisc may remove ACKs.
    pub filters_acks: bool,
}

/// Record of a link's qdisc.
#[derive(Clone, Debug)]
pub struct LinkRecord {
    watched: Watched,
    all: QueueStats,
    /// Up to the last step of the series.
    last_step: ExactTotals,
    /// Nanoseconds at each length, exact below 1024 packets.
    queue_lengths: Histogram<10>,
    /// Packets lost on the wire.
    pub(crate) lost: u64,
    /// Shares of the classes whose data cross it, in order, where classes are recorded one by one.
    shares: Vec<Share>,
    /// The named queues, by their numbers.
    queues: Vec<QueueRecord>,
    /// There are shares or named queues, or losses are followed flow by flow.
    is_divided: bool,
    /// Of a run with windows of time.
    windowed: Option<Box<Windowed>>,
}

/// Counts of a link for windows of time, beside its record.
#[derive(Clone, Debug)]
struct Windowed {
    /// Nanoseconds at each length before the end of the warm-up.
    early_lengths: Histogram<10>,
    losses: Losses,
    /// All that was counted up to the end of the last part.
    last: LinkPart,
}

/// Record of a named queue.
#[derive(Clone, Debug, Default)]
struct QueueRecord {
    stats: QueueStats,
    /// Up to the last step of the series.
    last_step: ExactTotals,
}

/// Packets of a class at a link.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    pub(crate) class: u32,
    pub(crate) stats: QueueStats,
    pub(crate) lost: u64,
}

impl LinkRecord {
    pub(crate) fn new(watched: Watched, by_class: bool) -> LinkRecord {
        let classes = if by_class { &watched.classes[..] } else { &[] };
        let share = |class: &u32| Share { class: *class, stats: QueueStats::default(), lost: 0 };
        LinkRecord {
            is_divided: !classes.is_empty() || !watched.queues.is_empty(),
            shares: classes.iter().map(share).collect(),
            queues: watched.queues.iter().map(|_| QueueRecord::default()).collect(),
            watched,
            all: QueueStats::default(),
            last_step: ExactTotals::default(),
            queue_lengths: Histogram::default(),
            lost: 0,
            windowed: None,
        }
    }

    /// Records the parts of windows, too; loss events last for `loss_event`.
    pub(crate) fn with_parts(mut self, loss_event: Span) -> LinkRecord {
        self.all.keep_early();
        self.shares.iter_mut().for_each(|share| share.stats.keep_early());
        self.queues.iter_mut().for_each(|queue| queue.stats.keep_early());
        self.is_divided = true;
        self.windowed = Some(Box::new(Windowed {
            early_lengths: Histogram::default(),
            losses: Losses::new(loss_event),
            last: LinkPart::default(),
        }));
        self
    }

    /// The link.
    pub(crate) fn watched(&self) -> &Watched {
        &self.watched
    }

    /// Losses flow by flow, where windows need them.
    pub(crate) fn losses(&mut self) -> Option<&mut Losses> {
        self.windowed.as_deref_mut().map(|windowed| &mut windowed.losses)
    }

    /// Ends a part at `now`; returns what was counted in it, without losses on the wire.
    pub(crate) fn end_part(&mut self, now: Time, from: Time) -> LinkPart {
        self.hold_until(now, from);
        self.shares.iter_mut().for_each(|share| _ = share.stats.hold(now));
        self.queues.iter_mut().for_each(|queue| _ = queue.stats.hold(now));
        let Some(windowed) = self.windowed.as_deref_mut() else { return LinkPart::default() };
        let mut lengths = self.queue_lengths.clone();
        lengths.merge(&windowed.early_lengths);
        let so_far = LinkPart {
            all: self.all.so_far(),
            lengths,
            shares: self.shares.iter().map(|share| share.stats.so_far()).collect(),
            queues: self.queues.iter().map(|queue| queue.stats.so_far()).collect(),
            losses: windowed.losses.take(now),
        };
        let part = so_far.since(&windowed.last);
        windowed.last = so_far;
        part
    }

    /// The classes whose data cross the link.
    pub fn classes(&self) -> &[u32] {
        &self.watched.classes
    }

    /// All of its packets, over the whole run.
    pub fn balance(&self) -> Balance {
        self.all.balance()
    }

    /// The sojourn times after the warm-up: seconds, and the share at or below.
    pub fn sojourn_distribution(&self) -> Vec<(f64, f64)> {
        self.all.sojourn_distribution()
    }

    /// Statistics of all of its packets in `span` after the warm-up; `stretches` as of [`LinkRecord::stretches`].
    pub fn stats<'a>(
        &self,
        span: Span,
        utilization: Option<f64>,
        stretches: &'a [Stretch],
        series: &'a Series,
    ) -> LinkStats<'a> {
        LinkStats {
            moments: self.all.measured().moments(span.seconds()),
            backlog: Quantiles::of(|q| self.queue_lengths.quantile(q)),
            empty_ratio: self.queue_lengths.share_of_zero(),
            utilization,
            packets: self.all.packet_stats(self.wire_lost(self.lost), self.watched.filters_acks),
            stretches,
            series,
            central: true,
        }
    }

    /// Statistics and balance of each class, with its mean backlog, in `span` after the warm-up.
    pub fn class_stats(
        &self,
        span: Span,
    ) -> impl Iterator<Item = (u32, crate::PacketStats, f64, Balance)> + '_ {
        self.shares.iter().map(move |share| {
            let mean = share.stats.measured().moments(span.seconds()).backlog / span.seconds();
            let packets = share.stats.packet_stats(self.wire_lost(share.lost), self.watched.filters_acks);
            (share.class, packets, mean, share.stats.balance())
        })
    }

    /// The named queues that had packets: statistics and balance of each, with its mean backlog, in `span` after the warm-up,
    /// and its sojourn times.
    pub fn queue_outcomes(&self, span: Span) -> impl Iterator<Item = QueueOutcome> + '_ {
        let queues = self.watched.queues.iter().zip(&self.queues);
        queues.filter(|(_, queue)| queue.stats.balance().offered > 0).map(move |(name, queue)| {
            let mean = queue.stats.measured().moments(span.seconds()).backlog / span.seconds();
            let packets = queue.stats.packet_stats(None, self.watched.filters_acks);
            let metrics = class_metrics(&[], Some(&packets), Some(mean));
            QueueOutcome {
                name: name.clone(),
                row: Row { metrics, balance: Some(queue.stats.balance()) },
                sojourn_distribution: queue.stats.sojourn_distribution(),
            }
        })
    }

    /// The stretches that begin at `starts`, whose sums are measured; the warm-up ended at `from_s`, `span` before the
    /// end.
    pub fn stretches(&self, starts: &[StretchStart<ExactTotals>], from_s: f64, span: Span) -> Vec<Stretch> {
        let end = (from_s + span.seconds(), self.all.measured());
        Stretch::all(starts, end, |start, (end_s, sums)| {
            sums.since(&start.sums).moments((end_s - start.start_s.max(from_s)).max(0.0))
        })
    }

    fn wire_lost(&self, lost: u64) -> Option<u64> {
        self.watched.loses.then_some(lost)
    }

    /// Counts an event of a packet; returns whether the share of its class, or its queue, must count it as well.
    #[inline]
    pub(crate) fn count(&mut self, now: Time, from: Time, add: impl Fn(&mut QueueStats)) -> bool {
        self.hold_until(now, from);
        add(&mut self.all);
        self.is_divided
    }

    /// The sums from the end of the warm-up to `now`.
    pub(crate) fn measured_until(&mut self, now: Time, from: Time) -> ExactTotals {
        self.hold_until(now, from);
        self.all.measured()
    }

    /// Keeps the sums of the warm-up, where `now` is the first time that is measured; returns whether it is over.
    #[cold]
    #[inline(never)]
    fn end_warm_up(&mut self, now: Time, from: Time) -> bool {
        let is_over = now >= from;
        if is_over {
            let (backlog, span) = (self.all.backlog(), self.all.end_warm_up(from));
            self.add_early(backlog, span);
            self.shares.iter_mut().for_each(|share| _ = share.stats.end_warm_up(from));
            self.queues.iter_mut().for_each(|queue| _ = queue.stats.end_warm_up(from));
        }
        is_over
    }

    /// Accounts for the backlog up to `now`.
    fn hold_until(&mut self, now: Time, from: Time) {
        let is_warm = self.all.is_warm() || self.end_warm_up(now, from);
        let span = self.all.hold(now);
        if is_warm {
            self.queue_lengths.add(u64::from(self.all.backlog()), span);
        } else {
            self.add_early(self.all.backlog(), span);
        }
    }

    /// Keeps `span` ns of a backlog before the end of the warm-up, where windows need it.
    #[cold]
    fn add_early(&mut self, backlog: u32, span: u64) {
        if let Some(windowed) = &mut self.windowed {
            windowed.early_lengths.add(u64::from(backlog), span);
        }
    }

    pub(crate) fn end_step(&mut self, now: Time, from: Time) -> ExactTotals {
        self.hold_until(now, from);
        for share in &mut self.shares {
            share.stats.hold(now);
        }
        let before = std::mem::replace(&mut self.last_step, self.all.total());
        self.all.total().since(&before)
    }

    /// Ends a step of each named queue; returns the sums of the step.
    pub(crate) fn end_queue_steps(&mut self, now: Time) -> impl Iterator<Item = ExactTotals> {
        self.queues.iter_mut().map(move |queue| {
            queue.stats.hold(now);
            let before = std::mem::replace(&mut queue.last_step, queue.stats.total());
            queue.stats.total().since(&before)
        })
    }

    /// Statistics of a named queue.
    pub(crate) fn queue(&mut self, number: u8) -> Option<&mut QueueStats> {
        self.queues.get_mut(usize::from(number)).map(|queue| &mut queue.stats)
    }

    pub(crate) fn share(&mut self, class: u32) -> Option<&mut Share> {
        let place = self.shares.binary_search_by_key(&class, |share| share.class).ok()?;
        self.shares.get_mut(place)
    }
}
