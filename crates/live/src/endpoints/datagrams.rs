//! Datagrams: their sockets and times. UDP has a socket at each end; echoes have one at the sender, and the receiver's
//! kernel answers.

use super::{Endpoints, FIRST_PORT, Report, Timer};
use crate::ip::{self, ECHO_HEADER, ECHO_REQUEST};
use crate::namespace::{ADDRESSES, Namespaces};
use nix::sys::socket::sockopt::Ipv4Tos;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockProtocol, SockType, SockaddrIn, bind, setsockopt, socket,
};
use sojourn_units::Time;
use sojourn_workload::Datagrams;
use std::io;
use std::net::{SocketAddr, SocketAddrV4, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};

/// Headers of IP and UDP, or of IP and ICMP, bytes.
const HEADERS: usize = 28;
/// The time of sending, at the head of the payload, bytes.
const STAMP: usize = 8;

/// The sockets of a flow.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) sender: UdpSocket,
    /// None: the kernel answers.
    pub(super) receiver: Option<UdpSocket>,
    to: SocketAddrV4,
    /// Sequence number of the next echo request.
    sequence: u16,
    dscp: u8,
    /// The traffic class that both have.
    class: Option<i32>,
}

impl Pair {
    /// Of UDP.
    pub(super) fn new(port: u16, dscp: u8, namespaces: &mut Namespaces) -> io::Result<Pair> {
        namespaces.enter(0)?;
        let sender = UdpSocket::bind(SocketAddrV4::new(ADDRESSES[0], 0))?;
        namespaces.enter(1)?;
        let to = SocketAddrV4::new(ADDRESSES[1], port);
        let receiver = UdpSocket::bind(to)?;
        for socket in [&sender, &receiver] {
            socket.set_nonblocking(true)?;
        }
        Ok(Pair { sender, receiver: Some(receiver), to, sequence: 0, dscp, class: None })
    }

    /// Of echoes with this identifier.
    pub(super) fn of_echoes(id: u16, dscp: u8, namespaces: &mut Namespaces) -> io::Result<Pair> {
        namespaces.enter(0)?;
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let made: OwnedFd = socket(AddressFamily::Inet, SockType::Datagram, flags, Some(SockProtocol::Icmp))?;
        // Such a socket's port is the identifier.
        bind(made.as_raw_fd(), &SockaddrIn::from(SocketAddrV4::new(ADDRESSES[0], id)))?;
        let to = SocketAddrV4::new(ADDRESSES[1], 0);
        Ok(Pair { sender: made.into(), receiver: None, to, sequence: 0, dscp, class: None })
    }

    /// Sends the payload, which begins after the header of an echo in `buffer`.
    fn send(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.receiver.is_some() {
            return self.sender.send_to(&buffer[ECHO_HEADER..], self.to);
        }
        // The kernel adds checksum and identifier.
        let [high, low] = self.sequence.to_be_bytes();
        self.sequence = self.sequence.wrapping_add(1);
        buffer[..ECHO_HEADER].copy_from_slice(&[ECHO_REQUEST, 0, 0, 0, 0, 0, high, low]);
        self.sender.send_to(buffer, self.to)
    }

    /// The payload of what the sender has received.
    fn payload<'a>(&self, received: &'a [u8]) -> &'a [u8] {
        let header = if self.receiver.is_some() { 0 } else { ECHO_HEADER };
        received.get(header..).unwrap_or_default()
    }

    /// Sets the ECN bits of both ways.
    fn set_class(&mut self, ecn: i32) -> io::Result<()> {
        let class = i32::from(self.dscp) << 2 | ecn;
        if self.class.replace(class) != Some(class) {
            for socket in [Some(&self.sender), self.receiver.as_ref()].into_iter().flatten() {
                setsockopt(socket, Ipv4Tos, &class)?;
            }
        }
        Ok(())
    }
}

impl Endpoints {
    pub(super) fn start_datagrams(
        &mut self,
        now: Time,
        number: u32,
        stream: Box<Datagrams>,
    ) -> io::Result<()> {
        self.flows[number as usize].stream = Some(stream);
        self.report(Report::Began(now, number));
        self.send_datagrams(now, number)
    }

    /// Sends the datagrams that are due.
    pub(super) fn send_datagrams(&mut self, now: Time, number: u32) -> io::Result<()> {
        debug_assert!(number as usize <= usize::from(u16::MAX - FIRST_PORT));
        let flow = &mut self.flows[number as usize];
        let (Some(stream), Some(pair)) = (&mut flow.stream, &mut flow.pair) else { return Ok(()) };
        let mut sent = Vec::new();
        while stream.next() <= now && stream.next() < flow.until {
            let datagram = stream.send();
            pair.set_class(ip::bits(datagram.ecn).into())?;
            let at = self.clock.now();
            let most = self.buffer.len() - ECHO_HEADER;
            let payload = usize::from(datagram.len).saturating_sub(HEADERS).clamp(STAMP, most);
            self.buffer[ECHO_HEADER..][..STAMP].copy_from_slice(&at.nanos().to_be_bytes());
            // What the kernel has no room for is lost, as any datagram may be.
            let _taken = pair.send(&mut self.buffer[..ECHO_HEADER + payload]).is_ok();
            sent.push(Report::Sent(at, number));
        }
        let next = stream.next();
        if next < flow.until {
            self.timers.set(next, Timer::Datagram(number));
        }
        for report in sent {
            self.report(report);
        }
        Ok(())
    }

    /// Reads datagrams at the receiver, and answers those that want it.
    pub(super) fn receive_datagrams(&mut self, now: Time, number: u32) -> io::Result<()> {
        let flow = &self.flows[number as usize];
        let Some(receiver) = flow.pair.as_ref().and_then(|pair| pair.receiver.as_ref()) else {
            return Ok(());
        };
        let is_echo = flow.datagrams.as_ref().is_some_and(|plan| plan.echo);
        while let Some((bytes, from)) = taken(receiver.recv_from(&mut self.buffer))? {
            let Some(sent) = stamp(&self.buffer[..bytes]) else { continue };
            self.report(Report::Datagram(now, number, now.since(sent), bytes as u64));
            if is_echo {
                let _taken = receiver.send_to(&self.buffer[..bytes], from).is_ok();
            }
        }
        Ok(())
    }

    /// Reads the answers at the sender.
    pub(super) fn read_answers(&mut self, now: Time, number: u32) -> io::Result<()> {
        let Some(pair) = &self.flows[number as usize].pair else { return Ok(()) };
        while let Some((bytes, _)) = taken(pair.sender.recv_from(&mut self.buffer))? {
            if let Some(sent) = stamp(pair.payload(&self.buffer[..bytes])) {
                self.report(Report::CameBack(now, number, now.since(sent)));
            }
        }
        Ok(())
    }
}

fn stamp(payload: &[u8]) -> Option<Time> {
    let first: [u8; STAMP] = payload.get(..STAMP)?.try_into().ok()?;
    Some(Time::from_nanos(u64::from_be_bytes(first)))
}

fn taken(found: io::Result<(usize, SocketAddr)>) -> io::Result<Option<(usize, SocketAddr)>> {
    match found {
        Ok(taken) => Ok(Some(taken)),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::ConnectionRefused) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
