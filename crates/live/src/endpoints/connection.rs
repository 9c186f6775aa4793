//! A connection at one of its ends.

use nix::sys::epoll::EpollFlags;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};

/// The most that is written or read at once, bytes.
pub(super) const CHUNK: usize = 65_536;
/// Chunks moved before other sockets are looked at.
const TURNS: usize = 8;

/// A connection at one of its ends.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) stream: TcpStream,
    /// Bytes to send, from its start.
    pub(super) limit: u64,
    /// Bytes sent.
    pub(super) sent: u64,
    /// Bytes received.
    pub(super) received: u64,
    /// Bytes of requests that have been read.
    pub(super) taken: u64,
    /// It is established.
    pub(super) is_established: bool,
    /// It ends with the bytes of `limit`.
    pub(super) is_last: bool,
    pub(super) is_shut: bool,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> Connection {
        Connection {
            stream,
            limit: 0,
            sent: 0,
            received: 0,
            taken: 0,
            is_established: false,
            is_last: false,
            is_shut: false,
        }
    }

    /// Events to wait for.
    pub(super) fn interest(&self) -> EpollFlags {
        let writes = self.sent < self.limit || !self.is_established;
        if writes { EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT } else { EpollFlags::EPOLLIN }
    }

    /// Writes what is left, as much as the kernel takes; false: the connection is gone.
    pub(super) fn write(&mut self, data: &[u8]) -> io::Result<bool> {
        for _ in 0..TURNS {
            let left = (self.limit - self.sent).min(data.len() as u64) as usize;
            if left == 0 {
                break;
            }
            match moved(self.stream.write(&data[..left]))? {
                Moved::Bytes(bytes) => (self.sent, self.is_established) = (self.sent + bytes, true),
                Moved::Later => return Ok(true),
                Moved::Gone => return Ok(false),
            }
        }
        if self.is_last && self.sent == self.limit && self.is_established && !self.is_shut {
            self.is_shut = true;
            // The other end may have gone already.
            let _closed = self.stream.shutdown(Shutdown::Write).is_ok();
        }
        Ok(true)
    }

    /// Reads what is there; the number of bytes, and whether the connection is still open.
    pub(super) fn read(&mut self, into: &mut [u8]) -> io::Result<(u64, bool)> {
        let mut bytes = 0;
        for _ in 0..TURNS {
            match moved(self.stream.read(into))? {
                Moved::Bytes(0) | Moved::Gone => return Ok((bytes, false)),
                Moved::Bytes(more) => (bytes, self.received) = (bytes + more, self.received + more),
                Moved::Later => break,
            }
        }
        Ok((bytes, true))
    }
}

/// Outcome of a read or a write.
enum Moved {
    Bytes(u64),
    Later,
    Gone,
}

fn moved(found: io::Result<usize>) -> io::Result<Moved> {
    use io::ErrorKind::{
        BrokenPipe, ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted, NotConnected,
        TimedOut, WouldBlock,
    };
    match found {
        Ok(bytes) => Ok(Moved::Bytes(bytes as u64)),
        Err(error) => match error.kind() {
            WouldBlock | Interrupted | NotConnected => Ok(Moved::Later),
            BrokenPipe | ConnectionAborted | ConnectionRefused | ConnectionReset | TimedOut => {
                Ok(Moved::Gone)
            }
            _ => Err(error),
        },
    }
}
