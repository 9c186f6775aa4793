//! Users: executes the commands of the workload and reports its events, each at its own time.

use super::{Simulation, assert_numbered, just_after};
use crate::event::{Event, Kind};
use crate::flow::{Source, State, Timer};
use crate::network::FlowPlan;
use crate::packet::Packet;
use crate::tap::Tap;
use sojourn_measure::{Probe, ProbeTime};
use sojourn_tcp::Config;
use sojourn_units::{Bytes, Time};
use sojourn_workload::{self as workload, Churn, Command, Requests, RpmProbe, Workload};
use std::collections::VecDeque;
use std::sync::Arc;

/// The flows and timers of a user.
pub(super) struct Flows {
    pub(super) class: u32,
    /// The first flow; those of further connection slots follow it.
    pub(super) first: u32,
    /// Configuration of its TCP connections.
    pub(super) config: Option<Arc<Config>>,
    stop_timer: Timer,
    /// Entry of the application's timer and of retransmissions of requests.
    wake_timer: Timer,
    /// Packets that wait at the receivers for their arrival times, by connection slot.
    pub(super) held: Vec<VecDeque<(Time, Packet)>>,
    /// Slow-start thresholds of the next connections, by connection slot; empty where none are cached.
    pub(super) first_ssthresh: Vec<Option<Bytes>>,
}

impl Flows {
    /// A user over `count` flows from `first` on.
    pub(super) fn new(class: u32, first: u32, config: Option<Arc<Config>>, count: u32) -> Flows {
        let held = (0..count).map(|_| VecDeque::new()).collect();
        let (stop_timer, wake_timer) = (Timer::OFF, Timer::OFF);
        Flows { class, first, config, stop_timer, wake_timer, held, first_ssthresh: Vec::new() }
    }

    /// Connections begin with the slow-start thresholds of earlier ones.
    pub(super) fn shares_ssthresh(&self) -> bool {
        self.config.as_ref().is_some_and(|config| config.profile.cached_ssthresh)
    }

    fn numbers(&self) -> std::ops::Range<u32> {
        self.first..self.first + self.held.len() as u32
    }
}

impl<P: Probe, T: Tap> Simulation<P, T> {
    /// Reports an event to the workload and executes the commands that follow.
    pub(super) fn report(&mut self, event: workload::Event) {
        self.workload.handle(self.now, event);
        self.execute_all();
    }

    pub(super) fn execute_all(&mut self) {
        while let Some(command) = self.workload.poll() {
            self.execute(command);
        }
    }

    fn execute(&mut self, command: Command) {
        let now = self.now;
        match command {
            Command::ArriveAt(class, time) => self.events.push(time, Event::new(Kind::Arrival, class)),
            Command::StopAt(user, time) => {
                if let Some(time) = self.users[user as usize].stop_timer.needs(Some(time)) {
                    self.events.push(time, Event::new(Kind::Leave, user));
                }
            }
            Command::WakeAt(user, time) => {
                if let Some(time) = self.users[user as usize].wake_timer.needs(Some(time)) {
                    self.events.push(time, Event::new(Kind::Wake, user));
                }
            }
            Command::Join { user, class, number } => self.join(user, class, number),
            Command::Listen(user) => {
                let until = self.workload.until(user);
                for flow in self.users[user as usize].numbers() {
                    let flow = &mut self.flows[flow as usize];
                    (flow.state, flow.stop) = (State::Waiting, until);
                }
            }
            Command::Send(user, bytes) => {
                let flow = self.begin_transaction(user, 0, true);
                let transaction = self.workload.transaction(user, 0);
                let connection_id = transaction.connection_id as u16;
                self.flows[flow as usize].stop = self.workload.until(user);
                self.open(now, flow, connection_id, bytes);
            }
            Command::SendDatagrams(user, stream) => {
                let number = self.begin_transaction(user, 0, true);
                let flow = &mut self.flows[number as usize];
                (flow.stop, flow.state) = (self.workload.until(user), State::Sending);
                flow.source = Source::Datagrams(stream);
                self.schedule_datagram(number);
            }
            Command::Request { user, connection, is_new } => {
                let flow = self.begin_transaction(user, connection, is_new);
                self.send_request(now, flow);
            }
            Command::Complete(user, began) => {
                self.probe.completed(now, self.users[user as usize].first, began);
            }
            Command::Played(user, played, stalled) => {
                self.probe.played(now, self.users[user as usize].first, played, stalled);
            }
            Command::Probed(user, probe, duration) => {
                self.probe.probed(now, self.users[user as usize].first, probe_time(probe), duration);
            }
            Command::Reject(class) => self.probe.rejected(now, class),
            Command::Stop(user) => {
                self.users[user as usize].numbers().for_each(|flow| self.stop(now, flow));
            }
            Command::Release(user) => {
                let unused =
                    |flow: u32| matches!(self.flows[flow as usize].state, State::Waiting | State::Idle);
                if self.users[user as usize].numbers().all(unused) {
                    self.workload.handle(now, workload::Event::Closed(user));
                }
            }
        }
    }

    /// Begins a transaction over a connection slot, `is_new` over a new connection; returns the flow.
    fn begin_transaction(&mut self, user: u32, connection: u32, is_new: bool) -> u32 {
        let Flows { class, first, .. } = self.users[user as usize];
        let flow = first + connection;
        self.flows[flow as usize].is_pending = true;
        if is_new {
            self.look_up_ssthresh(user, connection);
            self.announce_connection(flow);
            self.probe.began(self.now, flow, class);
        }
        flow
    }

    /// Creates the flows of a user that joins.
    fn join(&mut self, user: u32, class: u32, number: u32) {
        let Churn { most, stop, .. } = *self.workload.churn(class);
        let joining =
            self.joining[class as usize].clone().expect("a class that grows has a plan of what joins");
        self.swap_layout();
        let legs = self.layout.join(&joining, (number, most), joining.source.app().connections());
        self.swap_layout();
        assert_numbered(self.links.len().max(self.flows.len() + legs.len()));
        let (first, source) = (self.flows.len() as u32, joining.source);
        self.users.push(Flows::new(class, first, source.config().cloned(), legs.len() as u32));
        for legs in legs {
            let plan = FlowPlan {
                class,
                user: number,
                source: source.clone(),
                forward: Vec::new(),
                reverse: Vec::new(),
                start: self.now,
                stop,
            };
            self.add_flow(plan, legs, user);
        }
    }

    /// Lends the links and legs to the layout, and back.
    fn swap_layout(&mut self) {
        std::mem::swap(&mut self.links, &mut self.layout.links);
        std::mem::swap(&mut self.private, &mut self.layout.private);
        std::mem::swap(&mut self.speeds, &mut self.layout.speeds);
        std::mem::swap(&mut self.legs, &mut self.layout.legs);
    }

    /// The stay of a user may be over.
    pub(super) fn leave(&mut self, user: u32) {
        if self.users[user as usize].stop_timer.is_due(self.now) {
            self.report(workload::Event::Stop(user));
        }
    }

    /// An application's timer expires, or that of a request.
    pub(super) fn wake(&mut self, user: u32) {
        let now = self.now;
        let flows = &mut self.users[user as usize];
        if !flows.wake_timer.is_due(now) || now >= self.workload.until(user) {
            return;
        }
        for flow in flows.numbers() {
            self.retry_until(now, flow);
        }
        self.report(workload::Event::Wake(user));
    }

    /// A receiver has all data that its user requested.
    pub(super) fn answered(&mut self, flow: u32) {
        let (user, connection) = self.slot(flow);
        self.report(workload::Event::Answered { user, connection });
    }

    /// A sender has all data acknowledged.
    pub(super) fn acknowledged(&mut self, flow: u32) {
        self.cache_ssthresh(flow);
        let flow = &mut self.flows[flow as usize];
        flow.state = State::Idle;
        let user = flow.user;
        self.report(workload::Event::Acknowledged(user));
    }

    /// User and connection slot of a flow.
    pub(super) fn slot(&self, flow: u32) -> (u32, u32) {
        let user = self.flows[flow as usize].user;
        (user, flow - self.users[user as usize].first)
    }

    /// Sends the request of a flow's newest transaction.
    fn send_request(&mut self, at: Time, number: u32) {
        let (user, connection) = self.slot(number);
        let transaction = self.workload.transaction(user, connection);
        let packet = self.pool.request(at, transaction, [number, self.flows[number as usize].reverse]);
        self.depart_from_end(at, packet);
    }

    /// Retransmits a request as often as is due by `end`.
    pub(super) fn retry_until(&mut self, end: Time, number: u32) {
        let (user, connection) = self.slot(number);
        while let Some(at) = self.workload.retry(user, connection, end) {
            // Requests and acknowledgments share links in order; at one instant timers of receivers come first.
            self.acknowledge_before(just_after(at), number);
            self.send_request(at, number);
        }
    }

    /// A receiver with a pending transaction has new data in order up to byte `end`; `at` may lie ahead.
    #[cold]
    pub(super) fn delivered(&mut self, at: Time, number: u32, end: u64) {
        let (user, connection) = self.slot(number);
        let transaction = self.workload.transaction(user, connection);
        let flow = &mut self.flows[number as usize];
        let Source::Tcp(_, ids) = &flow.source else { return };
        if transaction.connection_id as u16 != ids.receiver {
            return;
        }
        let completes = transaction.delivered(at, end);
        flow.is_pending = transaction.is_pending;
        if completes && flow.requests != Requests::None {
            self.events.push(at, Event::new(Kind::Answered, number));
        } else if completes {
            self.probe.completed(at, number, transaction.began);
        }
    }
}

/// The duration that a probe of the responsiveness test measures.
pub fn probe_time(probe: RpmProbe) -> ProbeTime {
    match probe {
        RpmProbe::Tcp => ProbeTime::Tcp,
        RpmProbe::Tls => ProbeTime::Tls,
        RpmProbe::Http => ProbeTime::Http,
        RpmProbe::Loaded => ProbeTime::Loaded,
    }
}

impl<P, T> Simulation<P, T> {
    /// The user of a planned flow, added with its first flow; further flows and users join by [`Command::Join`].
    pub(super) fn user_of(&mut self, plan: &FlowPlan, flow: u32) -> u32 {
        let app = plan.source.app();
        let is_session = matches!(app, workload::AppPlan::Session(..));
        if !is_session && !self.workload.churn(plan.class).is_dynamic() {
            return Workload::NULL_USER;
        }
        self.workload.user(plan.class, plan.user).unwrap_or_else(|| {
            let flows = Flows::new(plan.class, flow, plan.source.config().cloned(), app.connections());
            self.users.push(flows);
            self.workload.add_user(plan.class, &app, plan.stop)
        })
    }
}
