//! Connections: opened, accepted, written, read, and closed.

use super::{Connection, Endpoints, Report, Role, flow, info, token};
use nix::sys::epoll::EpollEvent;
use sojourn_units::Time;
use sojourn_workload::{Event, Purpose, Requests};
use std::io;

impl Endpoints {
    /// Opens a connection from the sender, with so many bytes to send, or from the receiver.
    pub(super) fn open(&mut self, now: Time, number: u32, from: Role, bytes: u64) -> io::Result<()> {
        let flow = &mut self.flows[number as usize];
        flow.close(&self.epoll);
        let connection = flow.connect(number, from, &mut self.namespaces)?;
        self.epoll.add(&connection.stream, EpollEvent::new(connection.interest(), token(from, number)))?;
        match from {
            Role::Sender => {
                flow.sender = Some(Connection { limit: bytes, ..connection });
                self.report(Report::Began(now, number));
            }
            _ => flow.receiver = Some(connection),
        }
        Ok(())
    }

    /// A user sends a request from its receiver.
    pub(super) fn request(&mut self, now: Time, user: u32, connection: u32, is_new: bool) -> io::Result<()> {
        let number = self.users[user as usize].first + connection;
        let (purpose, serial, size) = {
            let transaction = self.workload.transaction(user, connection);
            (transaction.purpose, transaction.serial, transaction.request_size)
        };
        if is_new {
            self.open(now, number, Role::Receiver, 0)?;
        }
        let flow = &mut self.flows[number as usize];
        match purpose {
            Purpose::Close => {
                if let Some(receiver) = flow.receiver.take() {
                    let _known = self.epoll.delete(&receiver.stream).is_ok();
                }
            }
            Purpose::Open => {}
            Purpose::Data(_) | Purpose::Endless | Purpose::Interleaved(_) => {
                let bytes = u64::from(size).saturating_sub(flow::HEADERS).max(1);
                flow.requested.push_back((bytes, serial));
                if let Some(receiver) = &mut flow.receiver {
                    receiver.limit += bytes;
                }
                self.write(now, Role::Receiver, number)?;
            }
        }
        Ok(())
    }

    /// A connection comes in: at the sender where the receiver requests, else at the receiver.
    pub(super) fn accept(&mut self, now: Time, number: u32) -> io::Result<()> {
        let flow = &mut self.flows[number as usize];
        let Some(connection) = flow.accept()? else { return Ok(()) };
        let is_requested = flow.requests != Requests::None;
        let (role, place) = if is_requested {
            (Role::Sender, &mut flow.sender)
        } else {
            (Role::Receiver, &mut flow.receiver)
        };
        if let Some(before) = place.take() {
            let _known = self.epoll.delete(&before.stream).is_ok();
        }
        self.epoll.add(&connection.stream, EpollEvent::new(connection.interest(), token(role, number)))?;
        *place = Some(connection);
        if is_requested {
            self.report(Report::Began(now, number));
        }
        Ok(())
    }

    /// The connection of a receiver that requests is established.
    pub(super) fn connected(&mut self, now: Time, role: Role, number: u32) {
        let flow = &mut self.flows[number as usize];
        let Some(receiver) = flow.receiver.as_mut().filter(|_| role == Role::Receiver) else { return };
        let is_new = !std::mem::replace(&mut receiver.is_established, true);
        if is_new && flow.requests == Requests::Several && self.transaction(number, |of| of.connected(now)) {
            self.answered(now, number);
        }
    }

    /// Writes what is to be sent, as much as the kernel takes.
    pub(super) fn write(&mut self, now: Time, role: Role, number: u32) -> io::Result<()> {
        let flow = &mut self.flows[number as usize];
        let connection = if role == Role::Sender { &mut flow.sender } else { &mut flow.receiver };
        let Some(open) = connection else { return Ok(()) };
        if open.write(&self.buffer)? {
            let interest = open.interest();
            self.epoll.modify(&open.stream, &mut EpollEvent::new(interest, token(role, number)))?;
        } else {
            self.ended(now, role, number);
        }
        Ok(())
    }

    /// Reads what has come.
    pub(super) fn read(&mut self, now: Time, role: Role, number: u32) -> io::Result<()> {
        let flow = &mut self.flows[number as usize];
        let connection = if role == Role::Sender { &mut flow.sender } else { &mut flow.receiver };
        let Some(open) = connection else { return Ok(()) };
        let (bytes, is_open) = open.read(&mut self.buffer)?;
        let received = open.received;
        if bytes > 0 && role == Role::Receiver {
            self.report(Report::Received(now, number, bytes));
            self.delivered(now, number, received);
        } else if bytes > 0 {
            self.take_requests(now, number, received)?;
        }
        if !is_open {
            self.ended(now, role, number);
        }
        Ok(())
    }

    /// A receiver has so many bytes of its connection.
    pub(super) fn delivered(&mut self, now: Time, number: u32, end: u64) {
        let flow = &self.flows[number as usize];
        if flow.user.is_none() {
            return;
        }
        let is_requester = flow.requests != Requests::None;
        let mut began = Time::ZERO;
        let completes = self.transaction(number, |transaction| {
            began = transaction.began;
            transaction.is_pending && transaction.delivered(now, end)
        });
        if completes && is_requester {
            self.answered(now, number);
        } else if completes {
            self.report(Report::Completed(now, number, began));
        }
    }

    /// A sender has so many bytes of requests.
    pub(super) fn take_requests(&mut self, now: Time, number: u32, received: u64) -> io::Result<()> {
        let flow = &mut self.flows[number as usize];
        while let Some((bytes, serial)) = flow.requested.front().copied() {
            let Some(sender) = &mut flow.sender else { break };
            if received - sender.taken < bytes {
                break;
            }
            sender.taken += bytes;
            flow.requested.pop_front();
            let (sent, user, first) =
                (sender.sent, flow.user, flow.user.map(|user| self.users[user as usize].first));
            let Some((user, first)) = user.zip(first) else { break };
            let transaction = self.workload.transaction(user, number - first);
            transaction.interleave(serial, sent);
            let end = match transaction.purpose {
                Purpose::Endless | Purpose::Interleaved(_) => u64::MAX,
                _ => transaction.end,
            };
            sender.limit = sender.limit.max(end);
            sender.is_last = flow.requests == Requests::One;
        }
        self.write(now, Role::Sender, number)
    }

    /// The newest transaction of a flow.
    pub(super) fn transaction(
        &mut self,
        number: u32,
        act: impl FnOnce(&mut sojourn_workload::Transaction) -> bool,
    ) -> bool {
        let Some(user) = self.flows[number as usize].user else { return false };
        let connection = number - self.users[user as usize].first;
        act(self.workload.transaction(user, connection))
    }

    pub(super) fn answered(&mut self, now: Time, number: u32) {
        let Some(user) = self.flows[number as usize].user else { return };
        let connection = number - self.users[user as usize].first;
        self.handle(now, Event::Answered { user, connection });
    }

    /// The other end of a connection has closed it.
    pub(super) fn ended(&mut self, now: Time, role: Role, number: u32) {
        let flow = &mut self.flows[number as usize];
        let connection = if role == Role::Sender { &mut flow.sender } else { &mut flow.receiver };
        let Some(over) = connection.take() else { return };
        let _known = self.epoll.delete(&over.stream).is_ok();
        if role == Role::Sender {
            let user = flow.user;
            self.report(Report::Stopped(now, number));
            if let Some(user) = user {
                self.handle(now, Event::Acknowledged(user));
            }
        }
    }

    /// Reports the kernel's congestion windows and round trips.
    pub(super) fn sample(&self, now: Time) {
        for (number, flow) in self.flows.iter().enumerate() {
            let Some(sampled) = flow.sender.as_ref().and_then(|sender| info::of(&sender.stream)) else {
                continue;
            };
            let number = number as u32;
            self.report(Report::Window(now, number, sampled.window));
            if let Some(smoothed) = sampled.smoothed {
                self.report(Report::Smoothed(number, smoothed));
            }
        }
    }
}
