//! The state machine of all classes and users.

use crate::apps::{Action, AppPlan, Request, RpmProbe};
use crate::churn::{Churn, Class};
use crate::datagrams::{Datagrams, DatagramsPlan};
use crate::late_binding::{Next, Waiting};
use crate::transaction::Transaction;
use crate::user::User;
use sojourn_units::{Span, Time};
use std::cmp::Reverse;
use std::collections::VecDeque;

/// All classes and users.
pub struct Workload {
    seed: u64,
    classes: Vec<Class>,
    users: Vec<User>,
    commands: VecDeque<Command>,
}

/// A report of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The planned start of a user.
    Start(u32),
    /// The end of a user's stay, as scheduled by [`Command::StopAt`].
    Stop(u32),
    /// The time of [`Command::WakeAt`].
    Wake(u32),
    /// The time of [`Command::ArriveAt`].
    Arrival {
        /// Number of the class.
        class: u32,
    },
    /// A change of the number of users of a class.
    Count {
        /// Number of the class.
        class: u32,
    },
    /// All data that a user sent over a connection are acknowledged.
    Acknowledged(u32),
    /// All data that a user requested over a connection slot have arrived.
    Answered {
        /// Number of the user.
        user: u32,
        /// Number of its connection slot.
        connection: u32,
    },
    /// None of a user's connections has data left to send or to be acknowledged.
    Closed(u32),
}

/// An instruction to the host.
pub enum Command {
    /// Report [`Event::Arrival`] of a class then.
    ArriveAt(u32, Time),
    /// Report [`Event::Stop`] of a user then.
    StopAt(u32, Time),
    /// Report [`Event::Wake`] of a user then.
    WakeAt(u32, Time),
    /// Create the flows of a new user.
    Join {
        /// Number of the user.
        user: u32,
        /// Number of its class.
        class: u32,
        /// Number of the user in its class.
        number: u32,
    },
    /// Accept requests of a user for new connections, until the end of its stay.
    Listen(u32),
    /// Send bytes over a new connection of a user.
    Send(u32, u64),
    /// Send datagrams for a user.
    SendDatagrams(u32, Box<Datagrams>),
    /// Send the request of a user's newest transaction.
    Request {
        /// Number of the user.
        user: u32,
        /// Number of its connection slot.
        connection: u32,
        /// It is the first of its connection.
        is_new: bool,
    },
    /// Record the completion of a user's transfer that began then.
    Complete(u32, Time),
    /// Record that a user's player has played and stalled for so long since the last record.
    Played(u32, Span, Span),
    /// Record the duration of a probe of a user's responsiveness test.
    Probed(u32, RpmProbe, Span),
    /// Record that an arrival of a class was rejected: the class is full.
    Reject(u32),
    /// Send nothing new over a user's connections.
    Stop(u32),
    /// Report [`Event::Closed`] if none of a user's connections is in use.
    Release(u32),
}

impl Workload {
    /// Null user, of flows that start and stop as planned: it has neither events nor commands.
    pub const NULL_USER: u32 = 0;

    /// Classes without users, each with the application of the users that join during the run, if any do.
    pub fn new(classes: Vec<(Churn, Option<AppPlan>)>, seed: u64) -> Workload {
        let classes = classes.into_iter().map(|(churn, app)| Class::new(churn, app, seed)).collect();
        let null = User::new(&AppPlan::Bulk, (0, ""), 0, seed);
        Workload { seed, classes, users: vec![null], commands: VecDeque::new() }
    }

    /// Schedules the first arrivals of a class.
    pub fn open_class(&mut self, class: u32) {
        self.schedule_arrival(Time::ZERO, class);
    }

    /// Arrivals and departures of a class.
    pub fn churn(&self, class: u32) -> &Churn {
        &self.classes[class as usize].churn
    }

    /// The user with this number in its class, if there is one.
    pub fn user(&self, class: u32, number: u32) -> Option<u32> {
        self.classes[class as usize].users.get(number as usize).copied()
    }

    /// Adds a user to a class; returns its number.
    pub fn add_user(&mut self, class: u32, app: &AppPlan, stop: Option<Time>) -> u32 {
        let Class { churn, users, .. } = &mut self.classes[class as usize];
        let user = User::new(app, (class, &churn.name), users.len() as u32, self.seed);
        users.push(self.users.len() as u32);
        self.users.push(User { stop: stop.unwrap_or(Time::NEVER), ..user });
        self.users.len() as u32 - 1
    }

    /// End of a user's present stay.
    #[inline]
    pub fn until(&self, user: u32) -> Time {
        self.users[user as usize].until
    }

    /// The newest transaction of a user's connection slot.
    #[inline]
    pub fn transaction(&mut self, user: u32, connection: u32) -> &mut Transaction {
        &mut self.users[user as usize].transactions[connection as usize]
    }

    /// Time of a retransmission of a request that is due by `end`; call it until there is none.
    pub fn retry(&mut self, user: u32, connection: u32, end: Time) -> Option<Time> {
        let user = &mut self.users[user as usize];
        user.transactions[connection as usize].retry(end, user.until)
    }

    /// The next command.
    pub fn poll(&mut self) -> Option<Command> {
        self.commands.pop_front()
    }

    /// Handles an event; [`Workload::poll`] returns the commands that follow.
    pub fn handle(&mut self, now: Time, event: Event) {
        match event {
            Event::Start(user) => self.start(now, user),
            Event::Stop(user) => self.stop(now, user),
            Event::Wake(number) => {
                let user = &mut self.users[number as usize];
                if user.app.wakes_at() <= now {
                    user.app.wake(now);
                }
                self.serve(now, number);
            }
            Event::Arrival { class } => self.arrive(now, class),
            Event::Count { class } => self.change_count(now, class),
            Event::Acknowledged(number) => {
                let user = &mut self.users[number as usize];
                if now < user.until {
                    user.app.acknowledged(now);
                    self.serve(now, number);
                } else {
                    self.commands.push_back(Command::Release(number));
                }
            }
            Event::Answered { user: number, connection } => {
                let user = &mut self.users[number as usize];
                if now < user.until {
                    user.app.answered(now, connection);
                    self.serve(now, number);
                }
            }
            Event::Closed(user) => self.close(now, user),
        }
    }

    fn schedule_arrival(&mut self, now: Time, number: u32) {
        let Class { churn, schedule, .. } = &mut self.classes[number as usize];
        let next = schedule.as_mut().and_then(|schedule| schedule.next(now));
        if let Some(time) = next.filter(|time| *time < churn.stop.unwrap_or(Time::NEVER)) {
            self.commands.push_back(Command::ArriveAt(number, time));
        }
    }

    /// Starts the users that arrive, as many as the class admits.
    fn arrive(&mut self, now: Time, number: u32) {
        let Some(schedule) = &mut self.classes[number as usize].schedule else { return };
        let (count, bytes) = schedule.arrive();
        for _ in 0..count {
            let class = &mut self.classes[number as usize];
            // Drawn for rejected users too, so that the draws of others do not depend on the network.
            let bytes = bytes.or_else(|| Some(class.sizes.as_mut()?.draw()));
            let stay = class.churn.lifetime.as_ref().map(|stay| stay.sample(&mut class.lifetimes));
            if class.present >= class.most {
                self.commands.push_back(Command::Reject(number));
                continue;
            }
            let free = class.free.pop().map(|Reverse(free)| class.users[free as usize]);
            let user = free.unwrap_or_else(|| self.join(number));
            self.begin(now, user, bytes, stay);
        }
        self.schedule_arrival(now, number);
    }

    /// Changes the number of users: the last ones leave, further ones start. Leaving users still count.
    fn change_count(&mut self, now: Time, number: u32) {
        let class = &mut self.classes[number as usize];
        let change = class.churn.counts.iter().rev().find(|(time, _)| *time == now);
        let (before, most) = (class.most, change.map_or(class.most, |(_, most)| *most));
        class.most = most;
        if class.schedule.is_some() {
            return;
        }
        for place in most..before {
            if let Some(user) = self.user(number, place) {
                self.users[user as usize].recalled = false;
            }
        }
        for place in before..most {
            match self.user(number, place) {
                Some(user) if self.users[user as usize].present => {
                    let user = &mut self.users[user as usize];
                    user.recalled = user.until <= now;
                }
                user => {
                    let user = user.unwrap_or_else(|| self.join(number));
                    self.begin(now, user, None, None);
                }
            }
        }
    }

    /// Adds a user during the run.
    fn join(&mut self, number: u32) -> u32 {
        let class = &self.classes[number as usize];
        let app = class.app.clone().expect("a class that grows has an application for the users that join");
        let user = self.add_user(number, &app, class.churn.stop);
        self.commands.push_back(Command::Join {
            user,
            class: number,
            number: self.users[user as usize].number,
        });
        user
    }

    /// The planned start of a user: ignored where it is present already, or one too many by now.
    fn start(&mut self, now: Time, number: u32) {
        let user = &self.users[number as usize];
        if !user.present && user.number < self.classes[user.class as usize].most {
            self.begin(now, number, None, None);
        }
    }

    /// Starts a user, with this transfer size and length of stay where the arrival has drawn them.
    fn begin(&mut self, now: Time, number: u32, bytes: Option<u64>, stay: Option<Span>) {
        let user = &mut self.users[number as usize];
        let class = &mut self.classes[user.class as usize];
        let own = class.churn.lifetime.as_ref().filter(|_| class.schedule.is_none());
        let own = own.map(|draw| draw.sample(&mut user.lifetimes));
        let stay = stay.or(own).map_or(Time::NEVER, |stay| now + stay);
        // With arrivals, the count only bounds admission.
        let fewer = if class.schedule.is_some() { Time::NEVER } else { class.fewer_from(now, user.number) };
        user.until = user.stop.min(stay).min(fewer);
        if user.until <= now {
            if class.schedule.is_some() {
                class.free.push(Reverse(user.number));
            }
            return;
        }
        user.present = true;
        class.present += 1;
        if user.is_requester {
            user.transactions.iter_mut().for_each(Transaction::abandon);
            self.commands.push_back(Command::Listen(number));
        }
        if user.until < Time::NEVER {
            self.commands.push_back(Command::StopAt(number, user.until));
        }
        user.app.start(now, bytes);
        self.serve(now, number);
    }

    /// Ends a user's stay, unless it has been prolonged.
    fn stop(&mut self, now: Time, number: u32) {
        let until = self.users[number as usize].until;
        if until <= now {
            let user = &mut self.users[number as usize];
            let served = user.serves.take();
            self.classes[user.class as usize].pool.left(number);
            self.commands.extend([Command::Stop(number), Command::Release(number)]);
            if let Some(waiting) = served.filter(|waiting| waiting.until > now) {
                self.wait_again(now, number, waiting);
            }
        } else if until < Time::NEVER {
            self.commands.push_back(Command::StopAt(number, until));
        }
    }

    /// A user is absent once its stay is over and its connections are closed.
    fn close(&mut self, now: Time, number: u32) {
        let user = &mut self.users[number as usize];
        if !std::mem::take(&mut user.present) {
            return;
        }
        let class = &mut self.classes[user.class as usize];
        class.present -= 1;
        if class.schedule.is_some() {
            class.free.push(Reverse(user.number));
        } else if std::mem::take(&mut user.recalled) {
            self.begin(now, number, None, None);
        }
    }

    /// Turns the actions of a user's application into commands.
    fn serve(&mut self, now: Time, number: u32) {
        loop {
            let user = &mut self.users[number as usize];
            if now >= user.until {
                return;
            }
            let command = match user.app.next(now) {
                Some(Action::Send(bytes)) => self.send(now, number, bytes),
                Some(Action::Request(request)) => self.request(now, number, request),
                Some(Action::Complete(_)) if user.serves.is_some_and(|waiting| waiting.until <= now) => {
                    continue;
                }
                Some(Action::Complete(began)) => Command::Complete(number, began),
                Some(Action::Played(played, stalled)) => Command::Played(number, played, stalled),
                Some(Action::Probed(probe, duration)) => Command::Probed(number, probe, duration),
                Some(Action::Wait(bytes)) => {
                    self.wait(now, number, bytes);
                    continue;
                }
                Some(Action::Free { is_answered }) => {
                    self.bind(now, number, is_answered);
                    continue;
                }
                Some(Action::Leave) => {
                    user.until = now;
                    Command::Release(number)
                }
                None if user.app.wakes_at() <= now => {
                    user.app.wake(now);
                    continue;
                }
                None => {
                    let wakes_at = user.wakes_at();
                    if wakes_at < user.until {
                        self.commands.push_back(Command::WakeAt(number, wakes_at));
                    }
                    return;
                }
            };
            self.commands.push_back(command);
        }
    }

    /// A request of a user waits for the first free connection of its class; an idle one takes it at once.
    fn wait(&mut self, now: Time, number: u32, bytes: u64) {
        let user = &mut self.users[number as usize];
        let waiting = Waiting { user: number, until: user.until, began: now, bytes };
        let Some(idle) = self.classes[user.class as usize].pool.request(waiting) else { return };
        user.app.close();
        self.users[idle as usize].carry(waiting);
        self.serve(now, idle);
    }

    /// A request of another user waits again: the user whose connection carried it leaves.
    fn wait_again(&mut self, now: Time, number: u32, waiting: Waiting) {
        let class = self.users[number as usize].class;
        if let Some(idle) = self.classes[class as usize].pool.repeat(waiting) {
            self.users[idle as usize].carry(waiting);
            self.serve(now, idle);
        }
    }

    /// The connection of a user is free: it takes a request of its class that waits.
    fn bind(&mut self, now: Time, number: u32, is_answered: bool) {
        let user = &mut self.users[number as usize];
        let pool = &mut self.classes[user.class as usize].pool;
        let mut closed = Vec::new();
        let next = if is_answered { pool.answered(now, &mut closed) } else { pool.connected(now, number) };
        user.serves = None;
        match next {
            Next::Serve(waiting) => user.carry(waiting),
            Next::Close => user.app.close(),
            Next::Idle => {}
        }
        for idle in closed {
            self.users[idle as usize].app.close();
            self.serve(now, idle);
        }
    }

    fn send(&mut self, now: Time, number: u32, bytes: u64) -> Command {
        let user = &mut self.users[number as usize];
        user.transactions[0].send(now, bytes);
        let Some(plan) = &user.datagrams else { return Command::Send(number, bytes) };
        // Each stream of datagrams has draws of its own.
        let class = &self.classes[user.class as usize].churn.name;
        let name = format!("{class}/{}/{}", user.number, user.streams);
        user.streams += 1;
        let plan = DatagramsPlan { name, ..plan.clone() };
        Command::SendDatagrams(number, Box::new(Datagrams::new(plan, self.seed, now)))
    }

    fn request(&mut self, now: Time, user: u32, request: Request) -> Command {
        let Request { connection, is_new, size, purpose } = request;
        self.transaction(user, connection).request(now, is_new, (size, purpose));
        Command::Request { user, connection, is_new }
    }
}
