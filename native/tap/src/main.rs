//! `birthmark-tap`: writes what passes an interface to standard output, as pcapng, for
//! `birthmark follow -`. It opens the interface, gives up all privileges, and only then reads.

mod pcapng;
mod privileges;

use clap::Parser;
use pcap::{Active, Capture};
use pcapng::{Counts, Header, Writer};
use privileges::User;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// How long the kernel gathers packets, and how often statistics are written.
const GATHERED: Duration = Duration::from_millis(100);
const STATISTICS: Duration = Duration::from_secs(1);

/// How long is slept where nothing has come: libpcap's own timeout ends no wait where there is no
/// traffic at all (pcap(3)), and what was written would stay behind.
const NAP: Duration = Duration::from_millis(20);

/// Bytes written at a time.
const BUFFER: usize = 1 << 18;

/// Write what passes an interface to standard output, as pcapng with counts of lost packets.
#[derive(Parser)]
#[command(name = "birthmark-tap", about)]
struct Options {
    /// interface to listen at
    interface: String,
    /// packets to take, as pcap-filter(7) says
    #[arg(long, default_value = "port 2049 or (ip[6:2] & 0x1fff != 0)")]
    filter: String,
    /// most bytes of a packet; enough for NFS's headers and names, not for what files hold: 512
    #[arg(long, default_value_t = 65_535)]
    snaplen: u32,
    /// room in the kernel for packets that wait, MB
    #[arg(long, default_value_t = 64)]
    buffer: u16,
    /// user to become, as soon as the interface is open; needs root
    #[arg(long)]
    user: Option<String>,
}

/// Why nothing can be written any more.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("{0}")]
    Pcap(#[from] pcap::Error),
    #[error("standard output: {0}")]
    Write(#[from] io::Error),
    #[error("cannot give up privileges: {0}")]
    Privileges(#[from] rustix::io::Errno),
    #[error("{0}: expected a user in /etc/passwd")]
    User(String),
}

fn main() -> ExitCode {
    let options = Options::parse();
    match run(&options) {
        Err(Error::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("birthmark-tap: {}: {error}", options.interface);
            ExitCode::FAILURE
        }
        Ok(()) => ExitCode::SUCCESS,
    }
}

fn run(options: &Options) -> Result<(), Error> {
    let user = options.user.as_deref().map(user).transpose()?;
    let mut capture = Capture::from_device(options.interface.as_str())?
        .promisc(true)
        .snaplen(i32::try_from(options.snaplen).unwrap_or(i32::MAX))
        .buffer_size(i32::from(options.buffer) << 20)
        .timeout(GATHERED.as_millis() as i32)
        .open()?
        .setnonblock()?;
    capture.filter(&options.filter, true)?;
    privileges::give_up(user)?;
    let link = capture.get_datalink().0 as u16;
    let out = BufWriter::with_capacity(BUFFER, io::stdout().lock());
    let mut writer = Writer::begin(out, link, options.snaplen)?;
    writer.flush()?;
    copy(&mut capture, &mut writer)
}

fn user(name: &str) -> Result<User, Error> {
    let passwd = std::fs::read_to_string("/etc/passwd")?;
    User::named(name, &passwd).ok_or_else(|| Error::User(name.to_owned()))
}

/// Writes packets, at least every tenth of a second, and counts, every second.
fn copy(capture: &mut Capture<Active>, writer: &mut Writer<impl Write>) -> Result<(), Error> {
    let (mut written, mut reported) = (Instant::now(), Instant::now());
    loop {
        let quiet = match capture.next_packet() {
            Ok(packet) => {
                let seconds = u64::try_from(packet.header.ts.tv_sec).unwrap_or(0);
                let micros = u64::try_from(packet.header.ts.tv_usec).unwrap_or(0);
                let time = seconds * 1_000_000 + micros;
                writer.packet(Header { time, length: packet.header.len }, packet.data)?;
                false
            }
            Err(pcap::Error::TimeoutExpired) => true,
            Err(error) => return Err(error.into()),
        };
        if reported.elapsed() >= STATISTICS {
            reported = Instant::now();
            let counts = capture.stats()?;
            let [received, dropped, lost] =
                [counts.received, counts.dropped, counts.if_dropped].map(u64::from);
            writer.statistics(now(), Counts { received, dropped, lost })?;
        }
        if quiet || written.elapsed() >= GATHERED {
            written = Instant::now();
            writer.flush()?;
        }
        if quiet {
            thread::sleep(NAP);
        }
    }
}

/// Microseconds since the epoch.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}
