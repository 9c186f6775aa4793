//! Classes of users: arrivals, departures and counts.

use crate::apps::{AppPlan, Sizes};
use crate::arrivals::Schedule;
use crate::late_binding::Pool;
use sojourn_params::TimeDraw;
use sojourn_random::Stream;
use sojourn_scenario::Arrivals;
use sojourn_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Arrivals and departures of the users of a class.
#[derive(Clone, Default)]
pub struct Churn {
    /// Name of the class, with which its random streams begin.
    pub name: String,
    /// Most users at a time.
    pub most: u32,
    /// Later values of that number, in the order of time.
    pub counts: Vec<(Time, u32)>,
    /// Arrivals, unless each user has a start time of its own.
    pub arrivals: Option<Arrivals>,
    /// Lifetimes of users.
    pub lifetime: Option<TimeDraw>,
    /// Stop time of the users that join during the run.
    pub stop: Option<Time>,
}

/// State of a class.
pub(crate) struct Class {
    pub(crate) churn: Churn,
    /// Applications of the users that join during the run.
    pub(crate) app: Option<AppPlan>,
    /// Its users, by their numbers in the class, as numbers in the workload.
    pub(crate) users: Vec<u32>,
    /// Most users at present.
    pub(crate) most: u32,
    /// Users at present.
    pub(crate) present: u32,
    /// Numbers of absent users that arrivals may take.
    pub(crate) free: BinaryHeap<Reverse<u32>>,
    pub(crate) schedule: Option<Schedule>,
    /// Transfer sizes of arrivals, where each is one transfer.
    pub(crate) sizes: Option<Sizes>,
    /// Draws of the lifetimes of arrivals.
    pub(crate) lifetimes: Stream,
    /// Requests that wait for the first free connection, where they do.
    pub(crate) pool: Pool,
}

impl Churn {
    /// Users do more than to start and stop at given times.
    pub fn is_dynamic(&self) -> bool {
        self.arrivals.is_some() || self.lifetime.is_some() || !self.counts.is_empty()
    }
}

impl Class {
    /// A class without users, in the run with this seed.
    pub(crate) fn new(churn: Churn, app: Option<AppPlan>, seed: u64) -> Class {
        let stream = |purpose: &str| Stream::named(seed, &format!("{}/{purpose}", churn.name));
        let schedule = churn.arrivals.clone().map(|arrivals| Schedule::new(arrivals, stream("arrivals")));
        let sizes = app.as_ref().and_then(AppPlan::size_of_arrivals);
        let sizes = sizes.map(|(size, mss)| Sizes::new(size, mss, stream("size")));
        Class {
            app,
            users: Vec::new(),
            most: churn.most,
            present: 0,
            free: BinaryHeap::new(),
            schedule,
            sizes,
            lifetimes: stream("lifetime"),
            pool: Pool::default(),
            churn,
        }
    }

    /// Time after `now` at which the count falls to this user's number or below; NEVER: it does not.
    pub(crate) fn fewer_from(&self, now: Time, number: u32) -> Time {
        let mut later = self.churn.counts.iter().filter(|(time, _)| *time > now);
        later.find(|(_, count)| *count <= number).map_or(Time::NEVER, |(time, _)| *time)
    }
}
