//! The endpoints: one thread, which serves the workload with sockets of the kernel in both namespaces.
//!
//! It is the host of a [`Workload`], as the engine of the packet plant is: it executes its commands over connections and
//! reports its events. Senders are in the first namespace and receivers in the second, whatever the routes of their flows;
//! each flow has a port of its own, or an identifier of echoes, by which the plant knows its packets.

mod connection;
mod datagrams;
mod flow;
mod info;
mod plan;
mod report;
mod tcp;
mod timers;

pub use plan::{End, Plan, Transport};
pub use report::{Report, Reports};

use crate::clock::Clock;
use crate::namespace::Namespaces;
use connection::Connection;
use datagrams::Pair;
use flow::Flow;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::time::TimeSpec;
use sojourn_sim::network::{FlowPlan, SourcePlan};
use sojourn_units::{Span, Time};
use sojourn_workload::{Command, Event, Requests, Workload};
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;
use timers::{Timer, Timers};

pub use flow::{FIRST_PORT, MOST_FLOWS, flow_of};

/// Time between two samples of the kernel's state of the connections.
const SAMPLE: Span = Span::from_millis(20);
/// Events taken from the kernel at once.
const TOGETHER: usize = 128;

/// The endpoints while they run.
pub struct Endpoints {
    clock: Clock,
    end: End,
    namespaces: Namespaces,
    epoll: Epoll,
    flows: Vec<Flow>,
    /// The flows of each user of the workload: its first, and their number.
    users: Vec<User>,
    /// Flows of users that may join, by class.
    joining: Vec<Option<Joining>>,
    workload: Workload,
    timers: Timers,
    reports: Reports,
    seed: u64,
    buffer: Vec<u8>,
}

/// A user of the workload.
#[derive(Clone, Copy, Default)]
struct User {
    first: u32,
    flows: u32,
    /// The wake that is due; NEVER: none.
    wakes_at: Time,
}

/// Flows of the users of a class that may join.
#[derive(Clone, Copy)]
struct Joining {
    /// The first user's number in the class, and its first flow.
    user: u32,
    flow: u32,
    /// Flows of each.
    flows: u32,
}

/// The purpose of a socket, in the events of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Role {
    Listener,
    Sender,
    Receiver,
    DatagramSender,
    DatagramReceiver,
}

const ROLES: [Role; 5] =
    [Role::Listener, Role::Sender, Role::Receiver, Role::DatagramSender, Role::DatagramReceiver];

fn token(role: Role, flow: u32) -> u64 {
    (role as u64) << 32 | u64::from(flow)
}

impl Endpoints {
    /// The endpoints of a plan, with all sockets that listen.
    pub fn new(plan: Plan, namespaces: Namespaces, reports: Reports) -> io::Result<Endpoints> {
        let Plan { flows, transport, dscp, classes, present, seed, end } = plan;
        let counts: Vec<Vec<Time>> =
            classes.iter().map(|(churn, _)| churn.counts.iter().map(|(at, _)| *at).collect()).collect();
        let dynamic: Vec<bool> = classes.iter().map(|(churn, _)| churn.is_dynamic()).collect();
        let mut ends = Endpoints {
            clock: Clock::start(),
            end,
            namespaces,
            epoll: Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?,
            flows: Vec::with_capacity(flows.len()),
            users: vec![User::default()],
            joining: vec![None; classes.len()],
            workload: Workload::new(classes, seed),
            timers: Timers::default(),
            reports,
            seed,
            buffer: vec![0; connection::CHUNK],
        };
        for (number, plan) in flows.into_iter().enumerate() {
            let class = plan.class as usize;
            let has_user = dynamic[class] || matches!(plan.source, SourcePlan::App(..));
            ends.add_flow(number as u32, plan, (transport[class], dscp[class]), has_user, number < present)?;
        }
        for (class, times) in counts.into_iter().enumerate() {
            for at in times {
                ends.timers.set(at, Timer::Count(class as u32));
            }
            ends.workload.open_class(class as u32);
        }
        ends.timers.set(Time::ZERO + SAMPLE, Timer::Sample);
        Ok(ends)
    }

    /// Adds a flow, which starts as planned or waits for its user to join.
    fn add_flow(
        &mut self,
        number: u32,
        plan: FlowPlan,
        (transport, dscp): (Transport, u8),
        has_user: bool,
        is_present: bool,
    ) -> io::Result<()> {
        let FlowPlan { class, user: place, source, start, stop, .. } = plan;
        let app = source.app();
        let mut flow = Flow::new(&source, transport, dscp);
        flow.listen(number, &mut self.namespaces, &self.epoll)?;
        if !has_user {
            self.timers.set(start, Timer::Start(number));
            flow.until = stop.unwrap_or(Time::NEVER);
            if let Some(stop) = stop {
                self.timers.set(stop, Timer::Stop(number));
            }
        } else if is_present {
            let user = self.workload.user(class, place).unwrap_or_else(|| {
                let user = self.workload.add_user(class, &app, stop);
                self.users.push(User { first: number, flows: app.connections(), wakes_at: Time::NEVER });
                self.timers.set(start, Timer::Enter(user));
                user
            });
            flow.user = Some(user);
        } else {
            let first = Joining { user: place, flow: number, flows: app.connections() };
            self.joining[class as usize].get_or_insert(first);
        }
        self.flows.push(flow);
        Ok(())
    }

    /// Serves the workload until the end, from `clock`'s start on; the namespaces, for their counters.
    pub fn run(mut self, clock: Clock) -> io::Result<Namespaces> {
        self.clock = clock;
        let mut events = vec![EpollEvent::empty(); TOGETHER];
        self.execute_all()?;
        loop {
            let now = clock.now();
            if now >= self.end.get() {
                return Ok(self.namespaces);
            }
            while let Some(timer) = self.timers.due(now) {
                self.expire(now, timer)?;
                self.execute_all()?;
            }
            self.wait()?;
            let ready = match self.epoll.wait(&mut events, EpollTimeout::ZERO) {
                Err(nix::Error::EINTR) => 0,
                found => found?,
            };
            for event in &events[..ready] {
                let (role, number) = (ROLES[(event.data() >> 32) as usize], event.data() as u32);
                self.serve(role, number, event.events())?;
                self.execute_all()?;
            }
        }
    }

    /// Sleeps until a socket is ready, or a timer due.
    fn wait(&self) -> io::Result<()> {
        let end = self.end.get();
        let until = self.timers.next().unwrap_or(end).min(end);
        let left = Duration::from_nanos(until.since(self.clock.now()).nanos());
        let mut polled = [PollFd::new(self.epoll.0.as_fd(), PollFlags::POLLIN)];
        match ppoll(&mut polled, Some(TimeSpec::from(left)), None) {
            Ok(_) | Err(nix::Error::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn expire(&mut self, now: Time, timer: Timer) -> io::Result<()> {
        match timer {
            Timer::Start(number) => return self.start(now, number),
            Timer::Stop(number) => return self.stop(now, number),
            Timer::Enter(user) => self.handle(now, Event::Start(user)),
            Timer::Leave(user) => self.handle(now, Event::Stop(user)),
            Timer::Count(class) => self.handle(now, Event::Count { class }),
            Timer::Arrival(class) => self.handle(now, Event::Arrival { class }),
            Timer::Datagram(number) => return self.send_datagrams(now, number),
            Timer::Sample => {
                self.sample(now);
                self.timers.set(now + SAMPLE, Timer::Sample);
            }
            Timer::Wake(user) => {
                let known = &mut self.users[user as usize];
                if known.wakes_at <= now && now < self.workload.until(user) {
                    known.wakes_at = Time::NEVER;
                    // The kernel repeats what is lost.
                    for connection in 0..known.flows {
                        while self.workload.retry(user, connection, now).is_some() {}
                    }
                    self.handle(now, Event::Wake(user));
                }
            }
        }
        Ok(())
    }

    fn handle(&mut self, now: Time, event: Event) {
        self.workload.handle(now, event);
    }

    fn report(&self, report: Report) {
        self.reports.add(report);
    }

    fn execute_all(&mut self) -> io::Result<()> {
        while let Some(command) = self.workload.poll() {
            self.execute(self.clock.now(), command)?;
        }
        Ok(())
    }

    fn execute(&mut self, now: Time, command: Command) -> io::Result<()> {
        match command {
            Command::ArriveAt(class, at) => self.timers.set(at, Timer::Arrival(class)),
            Command::StopAt(user, at) => self.timers.set(at, Timer::Leave(user)),
            Command::WakeAt(user, at) => {
                let known = &mut self.users[user as usize];
                if known.wakes_at == Time::NEVER || at < known.wakes_at {
                    known.wakes_at = at;
                    self.timers.set(at, Timer::Wake(user));
                }
            }
            Command::Join { user, class, number } => self.join(user, class, number),
            // Its flows listen from the start on.
            Command::Listen(_) => {}
            Command::Send(user, bytes) => {
                let number = self.users[user as usize].first;
                return self.open(now, number, Role::Sender, bytes);
            }
            Command::SendDatagrams(user, stream) => {
                let number = self.users[user as usize].first;
                self.flows[number as usize].until = self.workload.until(user);
                return self.start_datagrams(now, number, stream);
            }
            Command::Request { user, connection, is_new } => {
                return self.request(now, user, connection, is_new);
            }
            Command::Complete(user, began) => {
                self.report(Report::Completed(now, self.users[user as usize].first, began));
            }
            Command::Played(user, played, stalled) => {
                self.report(Report::Played(now, self.users[user as usize].first, played, stalled));
            }
            Command::Probed(user, probe, duration) => {
                self.report(Report::Probed(now, self.users[user as usize].first, probe, duration));
            }
            Command::Reject(class) => self.report(Report::Rejected(now, class)),
            Command::Stop(user) => {
                for number in self.numbers(user) {
                    self.stop(now, number)?;
                }
            }
            Command::Release(user) => {
                if self.numbers(user).all(|number| self.flows[number as usize].is_idle()) {
                    self.handle(now, Event::Closed(user));
                }
            }
        }
        Ok(())
    }

    fn numbers(&self, user: u32) -> std::ops::Range<u32> {
        let User { first, flows, .. } = self.users[user as usize];
        first..first + flows
    }

    fn join(&mut self, user: u32, class: u32, number: u32) {
        let joining = self.joining[class as usize].expect("a class that grows has a plan of what joins");
        let first = joining.flow + (number - joining.user) * joining.flows;
        self.users.push(User { first, flows: joining.flows, wakes_at: Time::NEVER });
        for flow in self.numbers(user) {
            self.flows[flow as usize].user = Some(user);
        }
    }

    /// Starts a flow that has no user.
    fn start(&mut self, now: Time, number: u32) -> io::Result<()> {
        if let Some(plan) = self.flows[number as usize].datagrams.clone() {
            let stream = Box::new(sojourn_workload::Datagrams::new(plan, self.seed, now));
            return self.start_datagrams(now, number, stream);
        }
        self.open(now, number, Role::Sender, u64::MAX)
    }

    /// Sends nothing new over a flow.
    fn stop(&mut self, now: Time, number: u32) -> io::Result<()> {
        let flow = &mut self.flows[number as usize];
        flow.stream = None;
        let was_sending = flow.sender.is_some();
        if let Some(sender) = &mut flow.sender {
            sender.limit = sender.sent;
            sender.is_last = true;
        }
        if flow.requests != Requests::None
            && let Some(receiver) = flow.receiver.take()
        {
            let _known = self.epoll.delete(&receiver.stream).is_ok();
        }
        if was_sending {
            self.report(Report::Stopped(now, number));
            self.write(now, Role::Sender, number)?;
        }
        Ok(())
    }

    /// A socket is ready.
    fn serve(&mut self, role: Role, number: u32, flags: EpollFlags) -> io::Result<()> {
        let now = self.clock.now();
        match role {
            Role::Listener => self.accept(now, number),
            Role::DatagramSender => self.read_answers(now, number),
            Role::DatagramReceiver => self.receive_datagrams(now, number),
            Role::Sender | Role::Receiver => {
                if flags.intersects(EpollFlags::EPOLLOUT) {
                    self.connected(now, role, number);
                    self.write(now, role, number)?;
                }
                if flags.intersects(EpollFlags::EPOLLIN | EpollFlags::EPOLLHUP | EpollFlags::EPOLLERR) {
                    self.read(now, role, number)?;
                }
                Ok(())
            }
        }
    }
}
