//! Users: an application over one connection slot or several, present or absent.

use crate::apps::{self, App, AppPlan, Requests};
use crate::datagrams::DatagramsPlan;
use crate::late_binding::Waiting;
use crate::transaction::Transaction;
use sojourn_random::Stream;
use sojourn_units::Time;

/// A user of a class.
pub(crate) struct User {
    pub(crate) class: u32,
    /// Number in its class.
    pub(crate) number: u32,
    /// The newest transaction of each connection slot.
    pub(crate) transactions: Vec<Transaction>,
    pub(crate) app: Box<dyn App>,
    /// The request over its connection, of any user, under late binding.
    pub(crate) serves: Option<Waiting>,
    /// The application is at the receivers and sends requests.
    pub(crate) is_requester: bool,
    /// Datagrams that it sends instead of TCP segments.
    pub(crate) datagrams: Option<DatagramsPlan>,
    /// Number of datagram streams begun.
    pub(crate) streams: u64,
    /// Between its start and the acknowledgment of all its data.
    pub(crate) present: bool,
    /// Starts again as soon as it is absent.
    pub(crate) recalled: bool,
    /// Stop time of its class.
    pub(crate) stop: Time,
    /// End of its present stay.
    pub(crate) until: Time,
    /// Draws of its lifetimes.
    pub(crate) lifetimes: Stream,
}

impl User {
    /// An absent user with this number in the class called `class`.
    pub(crate) fn new(plan: &AppPlan, (class, name): (u32, &str), number: u32, seed: u64) -> User {
        let name = format!("{name}/{number}");
        User {
            class,
            number,
            transactions: vec![Transaction::NONE; plan.connections() as usize],
            app: apps::of_plan(plan, seed, &name),
            serves: None,
            is_requester: plan.requests() != Requests::None,
            datagrams: match plan {
                AppPlan::Datagrams(plan) => Some(plan.clone()),
                _ => None,
            },
            streams: 0,
            present: false,
            recalled: false,
            stop: Time::NEVER,
            until: Time::ZERO,
            lifetimes: Stream::named(seed, &format!("{name}/lifetime")),
        }
    }

    /// Its connection takes a request.
    pub(crate) fn carry(&mut self, waiting: Waiting) {
        self.serves = Some(waiting);
        self.app.serve(waiting.began, waiting.bytes);
    }

    /// Time of the application's timer or of the next retransmission of a request; NEVER: none.
    pub(crate) fn wakes_at(&self) -> Time {
        let unanswered = self.transactions.iter().filter(|one| one.first_byte_at == Time::NEVER);
        unanswered.map(|one| one.retry_at).fold(self.app.wakes_at(), Time::min)
    }
}
