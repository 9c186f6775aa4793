//! Series: values over time, one a step.

use crate::{CwndSeries, ExactTotals, Packets, Returned, finite_ratio};

/// Values over time, one a step; NaN where there is none.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// End of each step, s.
    pub time_s: Vec<f64>,
    /// Mean backlog in the step, packets.
    pub queue_packets: Vec<f64>,
    /// Mean sojourn time of the packets delivered in the step, s.
    pub sojourn_s: Vec<f64>,
    /// The law's probability at the end of the step.
    pub p: Vec<f64>,
    /// Packets offered in the step.
    pub offered_packets: Vec<f64>,
    /// Packets dropped in the step; some laws drop packets offered in an earlier one.
    pub dropped_packets: Vec<f64>,
    /// Packets marked in the step.
    pub marked_packets: Vec<f64>,
    /// Drops over offered packets in the step.
    pub drop_ratio: Vec<f64>,
    /// Marks over offered packets in the step.
    pub mark_ratio: Vec<f64>,
    /// Bits sent over the capacity in the step.
    pub utilization: Vec<f64>,
    /// Mean congestion window at the end of the step, segments.
    pub window_packets: Vec<f64>,
    /// Congestion windows of a few flows, by their numbers.
    pub flow_windows: Vec<(u32, Vec<f64>)>,
    /// Queues that have packets, at the end of the step; empty where the qdisc does not report it.
    pub active_queues: Vec<f64>,
    /// Other inner values at the end of the step, by name; none where the qdisc does not report them.
    pub gauges: Vec<(&'static str, Vec<f64>)>,
    /// The named queues of a qdisc of several.
    pub queues: Vec<QueueSeries>,
    /// Application data received by each class in the step, bit/s, by its name; where there are several classes.
    pub goodput_bps: Vec<(String, Vec<f64>)>,
    /// Mean round-trip time of the datagrams of a class that came back in the step, s, by its name; where there are
    /// several classes.
    pub rtt_s: Vec<(String, Vec<f64>)>,
}

/// Series of a named queue.
#[derive(Clone, Debug, Default)]
pub struct QueueSeries {
    /// Its name.
    pub name: String,
    /// Mean backlog in the step, packets.
    pub packets: Vec<f64>,
    /// Mean sojourn time of the packets delivered in the step, s.
    pub sojourn_s: Vec<f64>,
}

/// One step of the series of a link.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Its end, s.
    pub end_s: f64,
    /// Mean backlog, packets.
    pub queue: f64,
    /// Mean sojourn time, s.
    pub sojourn: Option<f64>,
    /// Packets in the step.
    pub packets: Packets,
    /// Bits sent over the capacity.
    pub utilization: f64,
    /// The law's probability at its end.
    pub p: Option<f64>,
}

impl Series {
    /// No steps; with columns for the windows of these flows.
    pub fn new(flows: impl Iterator<Item = u32>) -> Series {
        Series { flow_windows: flows.map(|flow| (flow, Vec::new())).collect(), ..Series::default() }
    }

    /// Appends a step.
    pub fn push(&mut self, step: &Step) {
        let Packets { offered, lost, marked, .. } = step.packets;
        let per_offered = |count| finite_ratio(count, offered).unwrap_or(f64::NAN);
        self.time_s.push(step.end_s);
        self.queue_packets.push(step.queue);
        self.sojourn_s.push(step.sojourn.unwrap_or(f64::NAN));
        self.p.push(step.p.unwrap_or(f64::NAN));
        self.offered_packets.push(offered);
        self.dropped_packets.push(lost);
        self.marked_packets.push(marked);
        self.drop_ratio.push(per_offered(lost));
        self.mark_ratio.push(per_offered(marked));
        self.utilization.push(step.utilization);
    }

    /// Appends the windows at the end of the step, of the flows of these classes.
    pub fn push_windows(&mut self, windows: &CwndSeries, classes: &[u32]) {
        self.window_packets.push(windows.mean(classes));
        for (flow, column) in &mut self.flow_windows {
            column.push(windows.sample(*flow));
        }
    }

    /// Appends inner values to the step that was pushed last.
    ///
    /// A law may begin and end to report one, as its parameters change: its column is NaN in the other steps.
    pub fn push_gauges(&mut self, gauges: impl Iterator<Item = (&'static str, Option<f64>)>) {
        for (name, value) in gauges {
            match (self.gauges.iter_mut().find(|(column, _)| *column == name), value) {
                (Some((_, values)), value) => values.push(value.unwrap_or(f64::NAN)),
                (None, Some(value)) => {
                    let mut values = vec![f64::NAN; self.time_s.len() - 1];
                    values.push(value);
                    self.gauges.push((name, values));
                }
                (None, None) => {}
            }
        }
    }

    /// With columns for queues of these names.
    pub fn with_queues(self, names: &[String]) -> Series {
        let named = |name: &String| QueueSeries { name: name.clone(), ..QueueSeries::default() };
        Series { queues: names.iter().map(named).collect(), ..self }
    }

    /// Appends the backlog and the sojourn time of each queue in a step of so many seconds.
    pub fn push_queues(&mut self, steps: impl Iterator<Item = ExactTotals>, seconds: f64) {
        for (queue, totals) in self.queues.iter_mut().zip(steps) {
            queue.packets.push(totals.moments(seconds).backlog / seconds);
            queue.sojourn_s.push(totals.mean_sojourn().unwrap_or(f64::NAN));
        }
    }

    /// Adds the goodput of the class called `name`, from the bytes that it received in each step.
    pub fn push_goodput(&mut self, name: &str, received: &[u64]) {
        let starts = std::iter::once(&0.0).chain(&self.time_s);
        let lengths = starts.zip(&self.time_s).map(|(start, end)| end - start);
        let rates = received.iter().zip(lengths).map(|(bytes, length)| *bytes as f64 * 8.0 / length);
        self.goodput_bps.push((name.into(), rates.collect()));
    }

    /// Adds the round trips of the class called `name` in each step, if it has any.
    pub fn push_returned(&mut self, name: &str, returned: &[Returned]) {
        if !returned.is_empty() {
            let means = returned.iter().map(|step| step.mean().unwrap_or(f64::NAN));
            self.rtt_s.push((name.into(), means.collect()));
        }
    }

    /// The columns that are not empty, by name; `time_s` first.
    pub fn columns(&self) -> impl Iterator<Item = (String, &[f64])> {
        let fixed: [(&str, &[f64]); 12] = [
            ("time_s", &self.time_s),
            ("queue_packets", &self.queue_packets),
            ("sojourn_s", &self.sojourn_s),
            ("p", &self.p),
            ("offered_packets", &self.offered_packets),
            ("dropped_packets", &self.dropped_packets),
            ("marked_packets", &self.marked_packets),
            ("drop_ratio", &self.drop_ratio),
            ("mark_ratio", &self.mark_ratio),
            ("utilization", &self.utilization),
            ("window_packets", &self.window_packets),
            ("active_queues", &self.active_queues),
        ];
        let queues = self.queues.iter().flat_map(|QueueSeries { name, packets, sojourn_s }| {
            [("queue_packets", packets), ("sojourn_s", sojourn_s)]
                .map(|(column, values)| (format!("{column}.{name}"), &values[..]))
        });
        let flows = self.flow_windows.iter();
        let flows = flows.map(|(flow, windows)| (format!("window_packets.flow_{flow}"), &windows[..]));
        let classes = self.goodput_bps.iter();
        let classes = classes.map(|(class, values)| (format!("goodput_bps.{class}"), &values[..]));
        let round_trips = self.rtt_s.iter();
        let round_trips = round_trips.map(|(class, values)| (format!("rtt_s.{class}"), &values[..]));
        let fixed = fixed.into_iter().filter(|(_, values)| !values.is_empty());
        let gauges = self.gauges.iter().map(|(name, values)| (*name, &values[..]));
        fixed
            .chain(gauges)
            .map(|(name, values)| (name.to_string(), values))
            .chain(flows)
            .chain(queues)
            .chain(classes)
            .chain(round_trips)
    }
}
