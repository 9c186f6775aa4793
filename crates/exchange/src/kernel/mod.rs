//! This machine's TCP as a host: a socket in a network of its own, whose other end the script is.
//!
//! Here time is real. What the kernel does by its timers it does a few
//! milliseconds early or late, and what is put in on a busy machine may come late: a
//! [`Kernel`] keeps account of that ([`Kernel::lag`]), so that a disturbed exchange can be told from a wrong one.
#![allow(clippy::disallowed_types)] // the one place where a clock runs: what is watched is no function of anything

mod namespace;
mod sys;
mod tun;
pub mod wire;

use crate::setup::{Role, Setup};
use namespace::{HERE, Route, THERE};
use sojourn_tcp::UnusedWindow;
use sojourn_units::{Span, Time};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};
use tun::Tun;
use wire::{Options, Packet, Port};

pub use namespace::enter;

/// A kernel's TCP in a network of its own, which ends with the thread that made it.
pub struct Kernel {
    tun: Tun,
    socket: Socket,
    started: Instant,
    /// The ports of the kernel and of the script.
    here: u16,
    there: u16,
    /// The kernel's initial sequence number, once it is known.
    first: Option<u32>,
    /// What the kernel has sent and nobody has asked for yet.
    sent: VecDeque<(Time, Packet)>,
    lag: Span,
}

enum Socket {
    Listening(TcpListener),
    Connected(TcpStream),
}

impl Kernel {
    /// A socket as `setup` has it, in a network that this thread moves into.
    pub fn new(setup: &Setup) -> io::Result<Kernel> {
        let profile = &setup.profile;
        namespace::isolate()?;
        let stamps = if profile.timestamps { sojourn_tcp::TIMESTAMPS } else { 0 };
        let tun = Tun::open(setup.mss + stamps + sojourn_tcp::HEADER)?;
        sysctls(setup)?;
        namespace::lead(tun::NAME, Route { initial_window: profile.initial_window as u32, ssthresh: 0 })?;
        let (socket, here) = match setup.role {
            Role::Sender => {
                let socket = TcpStream::from(sys::socket(libc::AF_INET, libc::SOCK_STREAM, 0)?);
                (Socket::Connected(socket), 0)
            }
            Role::Receiver => {
                let socket = TcpListener::bind((HERE, SERVICE))?;
                socket.set_nonblocking(true)?;
                (Socket::Listening(socket), SERVICE)
            }
        };
        let kernel = Kernel {
            tun,
            socket,
            started: Instant::now(),
            here,
            there: if setup.role == Role::Sender { SERVICE } else { CLIENT },
            first: None,
            sent: VecDeque::new(),
            lag: Span::ZERO,
        };
        kernel.prepare(setup)?;
        Ok(kernel)
    }

    /// The clock starts.
    pub fn start(&mut self) {
        self.started = Instant::now();
    }

    /// How late, at most, something was done to the kernel.
    pub fn lag(&self) -> Span {
        self.lag
    }

    /// Lets the kernel open the connection: its SYN is what it sends next.
    pub fn open(&mut self) -> io::Result<()> {
        match &self.socket {
            Socket::Connected(socket) => sys::connect(socket.as_fd(), THERE, SERVICE),
            Socket::Listening(_) => Ok(()),
        }
    }

    /// Gives the kernel data to send.
    pub fn write(&mut self, mut len: u64) -> io::Result<()> {
        let zeros = [0; 1 << 16];
        while len > 0 {
            let part = len.min(zeros.len() as u64) as usize;
            len -= self.stream()?.write(&zeros[..part])? as u64;
        }
        Ok(())
    }

    /// Takes so much of what has come in order; says how much there was.
    pub fn read(&mut self, len: u64) -> io::Result<u64> {
        let mut bytes = vec![0; len as usize];
        let mut done = 0;
        while done < bytes.len() {
            match self.stream()?.read(&mut bytes[done..]) {
                Ok(0) => break,
                Ok(more) => done += more,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(done as u64)
    }

    /// No more data comes from the kernel's side.
    pub fn close(&mut self) -> io::Result<()> {
        self.stream()?.shutdown(Shutdown::Write)
    }

    /// The congestion window and such, as the kernel has them.
    pub fn info(&mut self) -> io::Result<libc::tcp_info> {
        let stream = self.stream()?;
        sys::tcp_info(stream.as_fd())
    }

    /// Puts in a segment at a time; sequence numbers count from the SYN of each side.
    pub fn put(&mut self, at: Time, packet: Packet) -> io::Result<()> {
        self.sleep_until(at)?;
        let options = packet.options.sack.iter();
        let sack = options.map(|(from, to)| (self.theirs(*from), self.theirs(*to))).collect();
        let packet = Packet {
            from: Port(THERE, self.there),
            to: Port(HERE, self.here),
            seq: packet.seq.wrapping_add(FIRST),
            ack: if packet.bits & wire::ACK == 0 { 0 } else { self.theirs(packet.ack) },
            options: Options { sack, ..packet.options },
            ..packet
        };
        self.tun.put(&packet)
    }

    /// The next segment that the kernel sends, and when, if it sends one before `until`.
    pub fn take(&mut self, until: Time) -> io::Result<Option<(Time, Packet)>> {
        self.watch(until, true)?;
        Ok(self.sent.pop_front())
    }

    /// Lets time pass, up to `until`.
    pub fn sleep_until(&mut self, until: Time) -> io::Result<()> {
        self.watch(until, false)?;
        self.lag = self.lag.max(self.now().since(until));
        Ok(())
    }

    /// Reads what the kernel sends, up to `until` or the first segment.
    fn watch(&mut self, until: Time, first: bool) -> io::Result<()> {
        while !(first && !self.sent.is_empty()) {
            let left = Duration::from_nanos(until.nanos().saturating_sub(self.now().nanos()));
            match self.tun.take(left)? {
                Some(packet) if packet.to == Port(THERE, self.there) => self.note(packet),
                Some(_) => (),
                None if left.is_zero() => break,
                None => (),
            }
        }
        Ok(())
    }

    /// A segment of the kernel, with numbers that count from the SYNs.
    fn note(&mut self, packet: Packet) {
        let now = self.now();
        if packet.bits & wire::SYN != 0 {
            self.first = Some(packet.seq);
            self.here = packet.from.1;
        }
        let first = self.first.unwrap_or(packet.seq);
        let options = packet.options;
        let sack = options.sack.iter().map(|(from, to)| (from.wrapping_sub(FIRST), to.wrapping_sub(FIRST)));
        let packet = Packet {
            seq: packet.seq.wrapping_sub(first),
            ack: if packet.bits & wire::ACK == 0 { 0 } else { packet.ack.wrapping_sub(FIRST) },
            options: Options { sack: sack.collect(), ..options },
            ..packet
        };
        self.sent.push_back((now, packet));
    }

    fn now(&self) -> Time {
        Time::from_nanos(self.started.elapsed().as_nanos() as u64)
    }

    /// A number of the kernel's stream as it stands in segments.
    fn theirs(&self, number: u32) -> u32 {
        number.wrapping_add(self.first.unwrap_or(0))
    }

    /// The connection; it is taken from the listener when it has come.
    fn stream(&mut self) -> io::Result<&mut TcpStream> {
        if let Socket::Listening(listener) = &self.socket {
            let (stream, _) = listener.accept()?;
            stream.set_nonblocking(true)?;
            self.socket = Socket::Connected(stream);
        }
        match &mut self.socket {
            Socket::Connected(stream) => Ok(stream),
            Socket::Listening(_) => Err(ErrorKind::NotConnected.into()),
        }
    }

    /// Options of the socket: what the script asks for, and no waiting for more data.
    fn prepare(&self, setup: &Setup) -> io::Result<()> {
        let socket = match &self.socket {
            Socket::Listening(listener) => listener.as_fd(),
            Socket::Connected(stream) => stream.as_fd(),
        };
        sys::set_option(socket, libc::IPPROTO_TCP, libc::TCP_NODELAY, 1)?;
        let name = if setup.cc == "newreno" { "reno" } else { &setup.cc };
        sys::set_option_bytes(socket, libc::IPPROTO_TCP, libc::TCP_CONGESTION, name.as_bytes())
    }
}

/// The settings of the network that a script asks for.
fn sysctls(setup: &Setup) -> io::Result<()> {
    let profile = &setup.profile;
    let sack = sojourn_tcp::cc::recovery(&setup.cc, profile.sack) == Some(sojourn_tcp::cc::Recovery::Sack);
    let restarts = profile.unused_window == UnusedWindow::Restart;
    let switches = [
        ("tcp_sack", sack),
        ("tcp_dsack", profile.dsack),
        ("tcp_window_scaling", profile.window_scaling),
        ("tcp_ecn", setup.ecn),
        ("tcp_slow_start_after_idle", restarts),
        ("tcp_no_metrics_save", true),
        ("tcp_autocorking", false),
        ("tcp_syncookies", false),
    ];
    for (name, on) in switches {
        namespace::set(name, u8::from(on))?;
    }
    // 2: stamps without a random offset; 3: probes and early retransmit; 2: RFC 5682.
    namespace::set("tcp_timestamps", if profile.timestamps { 2 } else { 0 })?;
    namespace::set("tcp_early_retrans", if profile.tail_loss_probe { 3 } else { 0 })?;
    namespace::set("tcp_frto", if profile.frto { 2 } else { 0 })?;
    namespace::set("tcp_rto_min_us", profile.min_rto.nanos() / 1000)?;
    namespace::set("tcp_rto_max_ms", profile.max_rto.nanos() / 1_000_000)?;
    // Room for all that a script writes, from the start.
    namespace::set("tcp_wmem", "4096 4194304 4194304")?;
    Ok(())
}

/// The script's initial sequence number: near the end, so that what it sends wraps.
const FIRST: u32 = u32::MAX - 2_999;
/// The port that is listened to, and the one that is connected from where the script connects.
const SERVICE: u16 = 8080;
const CLIENT: u16 = 40_000;
