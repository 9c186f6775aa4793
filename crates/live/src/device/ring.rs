//! The ring of a socket of AF_PACKET, into which the kernel writes packets: `TPACKET_V2` of packet(7).
//!
//! A ring has as many places as we want, where the buffer of a socket ends at `net.core.rmem_max`: some 180 packets, which a
//! burst fills while this process waits for a processor.

use nix::libc;
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use nix::sys::socket::setsockopt;
use nix::{setsockopt_impl, sockopt_impl};
use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// Packets that a ring holds, if they are of a usual size.
const PLACES: usize = 5000;
/// The largest ring, bytes.
const LARGEST: usize = 16 << 20;
/// Memory that is contiguous in the kernel, bytes.
const BLOCK: usize = 64 << 10;
/// Bytes of a place that a packet does not use, at the most: the kernel's header, an address, and the header of Ethernet.
const AHEAD: usize = 128;

sockopt_impl!(
    /// Version of the ring.
    Version,
    SetOnly,
    libc::SOL_PACKET,
    libc::PACKET_VERSION,
    libc::c_int
);
sockopt_impl!(
    /// Size of the ring.
    Places,
    SetOnly,
    libc::SOL_PACKET,
    libc::PACKET_RX_RING,
    libc::tpacket_req
);

/// A ring.
#[derive(Debug)]
pub(super) struct Ring {
    memory: NonNull<u8>,
    length: NonZeroUsize,
    /// Bytes of a place.
    place: usize,
    places: usize,
    /// The place of the next packet.
    next: usize,
    /// Packets larger than a place.
    cut: u64,
}

// SAFETY: the memory belongs to the ring alone, whichever thread has it.
#[allow(unsafe_code, reason = "a pointer to memory that the kernel shares")]
unsafe impl Send for Ring {}

impl Ring {
    /// The ring of a socket that is not bound yet, for packets of so many bytes at the most.
    #[allow(unsafe_code, reason = "memory that the kernel shares")]
    pub(super) fn new(socket: &File, mtu: u32) -> io::Result<Ring> {
        let place = (mtu as usize + AHEAD).next_power_of_two().max(2048);
        let block = place.max(BLOCK);
        let blocks = PLACES.min(LARGEST / place).max(1).div_ceil(block / place);
        let places = blocks * (block / place);
        setsockopt(socket, Version, &(libc::tpacket_versions::TPACKET_V2 as libc::c_int))?;
        let request = libc::tpacket_req {
            tp_block_size: block as u32,
            tp_block_nr: blocks as u32,
            tp_frame_size: place as u32,
            tp_frame_nr: places as u32,
        };
        setsockopt(socket, Places, &request)?;
        let length = NonZeroUsize::new(blocks * block).ok_or(io::ErrorKind::InvalidInput)?;
        let protection = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: a new mapping, which replaces no other.
        let memory = unsafe { mmap(None, length, protection, MapFlags::MAP_SHARED, socket, 0) }?;
        Ok(Ring { memory: memory.cast(), length, place, places, next: 0, cut: 0 })
    }

    /// Reads a packet from its IP header on; None: there is none now.
    #[allow(unsafe_code, reason = "memory that the kernel shares")]
    pub(super) fn read(&mut self, into: &mut [u8]) -> Option<usize> {
        loop {
            // SAFETY: the place is within the mapping, which is aligned to a page, and a place to its own size.
            let at = unsafe { self.memory.add(self.next * self.place) };
            let header = at.cast::<libc::tpacket2_hdr>().as_ptr();
            // SAFETY: as above; the kernel and we write the status, each by one store.
            let status = unsafe { AtomicU32::from_ptr(&raw mut (*header).tp_status) };
            if status.load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
                return None;
            }
            // SAFETY: the place is ours until the status says otherwise.
            let libc::tpacket2_hdr { tp_len, tp_snaplen, tp_mac, tp_net, .. } = unsafe { header.read() };
            let (from, to) = (usize::from(tp_net), usize::from(tp_mac) + tp_snaplen as usize);
            let length = to.saturating_sub(from);
            let is_within = from <= to && to <= self.place;
            let is_whole = tp_len == tp_snaplen && is_within && length <= into.len();
            if is_whole {
                // SAFETY: both ends are within the place, which is ours, and the buffer has room.
                unsafe { at.add(from).copy_to_nonoverlapping(NonNull::from(&mut *into).cast(), length) };
            }
            status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
            self.next = (self.next + 1) % self.places;
            if is_whole {
                return Some(length);
            }
            self.cut += 1;
        }
    }

    /// Packets that did not fit into a place, so far.
    pub(super) fn cut(&self) -> u64 {
        self.cut
    }
}

impl Drop for Ring {
    #[allow(unsafe_code, reason = "memory that the kernel shares")]
    fn drop(&mut self) {
        // SAFETY: the mapping is of this length, and nothing refers to it any more.
        let _unmapped = unsafe { munmap(self.memory.cast(), self.length.get()) };
    }
}
