//! `POST /v1/hints` over a kept connection, with one deadline for all of it.

use super::{json, Address};
use crate::{Asker, Failure, Question, Verdict};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::fd::OwnedFd;
use rustix::io::{ioctl_fionbio, read, write, Errno};
use rustix::net::{connect, socket, sockopt, AddressFamily, SocketAddrUnix, SocketType};
use std::time::Instant;

/// Bytes of an answer: it has a hundred.
const ANSWER_MAX: usize = 1 << 16;
const HEADERS_MAX: usize = 64;

/// A client of one service, which connects when it is first asked, and again when it must.
pub struct Http {
    address: Address,
    connection: Option<OwnedFd>,
    answer: Vec<u8>,
}

/// The head of an answer.
struct Head {
    status: u16,
    /// Where the body begins and ends.
    body: usize,
    end: usize,
    stays: bool,
}

impl Http {
    /// A client of the service at `address`.
    pub fn new(address: Address) -> Self {
        Self { address, connection: None, answer: Vec::new() }
    }

    fn connect(&self, deadline: Instant) -> Result<OwnedFd, Failure> {
        let gone = |_| Failure::Gone;
        let family = match &self.address {
            Address::Unix(_) => AddressFamily::UNIX,
            Address::Tcp(address) if address.is_ipv4() => AddressFamily::INET,
            Address::Tcp(_) => AddressFamily::INET6,
        };
        let fd = socket(family, SocketType::STREAM, None).map_err(gone)?;
        rustix::io::fcntl_setfd(&fd, rustix::io::FdFlags::CLOEXEC).map_err(gone)?;
        ioctl_fionbio(&fd, true).map_err(gone)?;
        let begun = match &self.address {
            Address::Unix(path) => {
                let address = SocketAddrUnix::new(path).map_err(gone)?;
                connect(&fd, &address)
            }
            Address::Tcp(address) => {
                sockopt::set_tcp_nodelay(&fd, true).map_err(gone)?;
                connect(&fd, address)
            }
        };
        match begun {
            Ok(()) => return Ok(fd),
            Err(Errno::INPROGRESS) => wait(&fd, PollFlags::OUT, deadline)?,
            Err(error) => return Err(gone(error)),
        }
        sockopt::socket_error(&fd).map_err(gone)?.map_err(gone)?;
        Ok(fd)
    }

    /// Sends a request and takes its answer; keeps the connection if it can be used again.
    fn exchange(
        &mut self,
        fd: OwnedFd,
        request: &[u8],
        deadline: Instant,
    ) -> Result<Verdict, Failure> {
        send(&fd, request, deadline)?;
        self.answer.clear();
        let head = loop {
            self.receive(&fd, deadline)?;
            match head(&self.answer)? {
                Some(head) if self.answer.len() >= head.end => break head,
                _ => {}
            }
        };
        let verdict = json::read(&self.answer[head.body..head.end]);
        if head.stays && self.answer.len() == head.end {
            self.connection = Some(fd);
        }
        if head.status == 200 {
            verdict.ok_or(Failure::Bad)
        } else {
            Err(Failure::Bad)
        }
    }

    /// Appends what there is to the answer, after waiting for some.
    fn receive(&mut self, fd: &OwnedFd, deadline: Instant) -> Result<(), Failure> {
        let mut bytes = [0; 4096];
        loop {
            if Instant::now() >= deadline {
                return Err(Failure::Late);
            }
            match read(fd, &mut bytes) {
                Ok(0) => return Err(Failure::Gone),
                Ok(n) if self.answer.len() + n > ANSWER_MAX => return Err(Failure::Bad),
                Ok(n) => {
                    self.answer.extend_from_slice(&bytes[..n]);
                    return Ok(());
                }
                Err(Errno::AGAIN) => wait(fd, PollFlags::IN, deadline)?,
                Err(Errno::INTR) => {}
                Err(_) => return Err(Failure::Gone),
            }
        }
    }
}

impl Asker for Http {
    fn ask(&mut self, question: &Question, deadline: Instant) -> Result<Verdict, Failure> {
        let request = request(question);
        if let Some(kept) = self.connection.take() {
            match self.exchange(kept, &request, deadline) {
                // The service may have closed it since; to ask twice does no harm.
                Err(Failure::Gone) => {}
                result => return result,
            }
        }
        let fd = self.connect(deadline)?;
        self.exchange(fd, &request, deadline)
    }
}

fn request(question: &Question) -> Vec<u8> {
    let body = json::written(question);
    let mut request = format!(
        "POST /v1/hints HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    request.extend(body);
    request
}

fn send(fd: &OwnedFd, mut bytes: &[u8], deadline: Instant) -> Result<(), Failure> {
    while !bytes.is_empty() {
        match write(fd, bytes) {
            Ok(n) => bytes = &bytes[n..],
            Err(Errno::AGAIN) => wait(fd, PollFlags::OUT, deadline)?,
            Err(Errno::INTR) => {}
            Err(_) => return Err(Failure::Gone),
        }
    }
    Ok(())
}

/// Waits until something can be done, to the nanosecond, as the kernel's clock has it.
fn wait(fd: &OwnedFd, what: PollFlags, deadline: Instant) -> Result<(), Failure> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Failure::Late);
        }
        let left = Timespec::try_from(left).map_err(|_| Failure::Late)?;
        match poll(&mut [PollFd::new(fd, what)], Some(&left)) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(()),
            Err(_) => return Err(Failure::Gone),
        }
    }
}

/// The head of an answer, if all of it is there.
fn head(answer: &[u8]) -> Result<Option<Head>, Failure> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let body = match response.parse(answer) {
        Ok(httparse::Status::Complete(body)) => body,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(Failure::Bad),
    };
    let value = |name: &str| {
        let found = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
        found.and_then(|header| std::str::from_utf8(header.value).ok())
    };
    let length: Option<usize> = value("content-length").and_then(|text| text.trim().parse().ok());
    let length = length.filter(|&n| n <= ANSWER_MAX).ok_or(Failure::Bad)?;
    let closes = value("connection").is_some_and(|text| text.eq_ignore_ascii_case("close"));
    Ok(Some(Head {
        status: response.code.unwrap_or(0),
        body,
        end: body + length,
        stays: response.version == Some(1) && !closes,
    }))
}
