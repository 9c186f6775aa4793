//! TUN devices: the kernel segments and checksums before it hands a packet over.

use crate::namespace::{Refused, refused};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;

/// Name of the device.
pub(crate) const INTERFACE: &str = "tun0";
/// The file that makes them.
const FILE: &str = "/dev/net/tun";
/// The step that makes one of it.
const ATTACHING: &str = "a TUN device";

/// A TUN device of this thread's namespace, through which the kernel's packets come and go.
#[derive(Debug)]
pub struct Tun(File);

impl Tun {
    /// Opens it.
    pub(crate) fn open() -> Result<Tun, Refused> {
        let mut options = OpenOptions::new();
        let opened = options.read(true).write(true).custom_flags(nix::libc::O_NONBLOCK).open(FILE);
        let file = opened.map_err(refused(FILE))?;
        attach(&file).map_err(refused(ATTACHING))?;
        Ok(Tun(file))
    }

    /// The machine has no TUN device for us.
    pub(crate) fn is_closed(refused: &Refused) -> bool {
        matches!(refused.what, FILE | ATTACHING)
    }

    /// Reads a packet; None: there is none now.
    pub fn read(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        match (&self.0).read(into) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes a packet.
    pub fn write(&self, packet: &[u8]) -> io::Result<()> {
        (&self.0).write_all(packet)
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

nix::ioctl_readwrite_bad!(
    /// TUNSETIFF of linux/if_tun.h: _IOW('T', 202, int), of which the argument is a pointer nevertheless.
    tun_set_interface,
    nix::request_code_write!(b'T', 202, size_of::<nix::libc::c_int>()),
    nix::libc::ifreq
);

/// Makes the file a TUN device of this thread's namespace, whose packets have no header in front.
#[allow(unsafe_code, reason = "an ioctl that no crate in use wraps")]
fn attach(file: &File) -> io::Result<()> {
    use nix::libc::{IFF_NO_PI, IFF_TUN, ifreq};
    use std::os::fd::AsRawFd;
    // SAFETY: a request of zeros is a valid one.
    let mut request: ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(INTERFACE.bytes()) {
        *to = from as nix::libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (IFF_TUN | IFF_NO_PI) as i16;
    // SAFETY: the file is open, and the request, which the kernel writes back, outlives the call.
    unsafe { tun_set_interface(file.as_raw_fd(), &raw mut request) }?;
    Ok(())
}
