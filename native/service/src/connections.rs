//! The open connections, within a limit: one that is not needed makes room for another.

use super::conn::{Address, Conn, Order, Phase};
use super::Shared;
use slab::Slab;
use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Connections that are looked up at once to make room: each look reads all of them.
const AT_ONCE: usize = 64;

/// The interval at which timeouts are checked.
const LOOK: Duration = Duration::from_secs(1);

/// The open connections.
pub struct Connections {
    most: usize,
    most_handshakes: usize,
    open: Mutex<Slab<Arc<Conn>>>,
    count: AtomicUsize,
    /// Connections that were the first to close when last looked, the next one last.
    expendable: Mutex<Vec<(Phase, u64, Arc<Conn>)>>,
    /// Pending TLS handshakes by address, the oldest first.
    handshakes: Mutex<HashMap<Address, VecDeque<Arc<Conn>>>>,
}

/// A place among the open connections, until it is dropped.
pub struct Seat {
    shared: Arc<Shared>,
    number: usize,
}

impl Connections {
    /// None yet; at most `most`, and as many pending handshakes of an address.
    pub fn new(most: usize, most_handshakes: usize) -> Connections {
        Connections {
            most,
            most_handshakes,
            open: Mutex::default(),
            count: AtomicUsize::new(0),
            expendable: Mutex::default(),
            handshakes: Mutex::default(),
        }
    }

    /// The number of open connections.
    pub fn count(&self) -> usize {
        self.count.load(Relaxed)
    }

    /// Whether another connection needs room.
    pub fn is_full(&self) -> bool {
        self.count() >= self.most
    }

    /// Adds a connection; returns its number.
    pub fn add(&self, conn: &Arc<Conn>) -> usize {
        lock(&self.open).insert(Arc::clone(conn))
    }

    /// Gives an order to all connections.
    pub fn order_all(&self, order: Order) {
        lock(&self.open).iter().for_each(|(_, conn)| conn.order(order));
    }

    /// Orders a connection that is not needed to end; returns whether there was one.
    ///
    /// It is the oldest that has sent nothing, else the oldest idle one, else a pending handshake of
    /// the address with most, else the oldest with an incomplete request.
    pub fn make_room(&self) -> bool {
        let mut expendable = lock(&self.expendable);
        for _ in 0..2 {
            while let Some((phase, since, conn)) = expendable.pop() {
                if (conn.phase(), conn.since(), conn.ordered()) == (phase, since, Order::None) {
                    conn.order(match phase {
                        Phase::Receiving => Order::Displaced,
                        _ => Order::Abort,
                    });
                    return true;
                }
            }
            *expendable = self.look();
        }
        false
    }

    /// The first connections to close, the first of them last.
    fn look(&self) -> Vec<(Phase, u64, Arc<Conn>)> {
        let open = lock(&self.open);
        let mut shaking: HashMap<Address, usize> = HashMap::new();
        let mut all: Vec<_> = Vec::with_capacity(open.len());
        for (number, conn) in open.iter() {
            let phase = conn.phase();
            if phase == Phase::Answering || conn.ordered() != Order::None {
                continue;
            }
            if phase == Phase::Handshake {
                *shaking.entry(conn.address).or_default() += 1;
            }
            all.push((phase, conn.since(), number));
        }
        let rank = |&(phase, since, number): &(Phase, u64, usize)| {
            let most = (phase == Phase::Handshake).then(|| shaking.get(&open[number].address));
            (phase, Reverse(most.flatten().copied()), since)
        };
        if all.len() > AT_ONCE {
            all.select_nth_unstable_by_key(AT_ONCE, rank);
            all.truncate(AT_ONCE);
        }
        all.sort_by_key(|each| Reverse(rank(each)));
        let with =
            |(phase, since, number): (_, _, usize)| (phase, since, Arc::clone(&open[number]));
        all.into_iter().map(with).collect()
    }

    /// Adds a pending handshake; beyond the limit of its address the oldest is ended.
    pub fn begin_handshake(&self, conn: &Arc<Conn>) {
        conn.begin(Phase::Handshake);
        let mut handshakes = lock(&self.handshakes);
        let pending = handshakes.entry(conn.address).or_default();
        if pending.len() >= self.most_handshakes {
            if let Some(oldest) = pending.pop_front() {
                oldest.order(Order::Abort);
            }
        }
        pending.push_back(Arc::clone(conn));
    }

    /// Removes a handshake that is no longer pending.
    pub fn end_handshake(&self, conn: &Arc<Conn>) {
        let mut handshakes = lock(&self.handshakes);
        if let Some(pending) = handshakes.get_mut(&conn.address) {
            pending.retain(|other| !Arc::ptr_eq(other, conn));
            if pending.is_empty() {
                handshakes.remove(&conn.address);
            }
        }
    }

    /// Gives orders to the connections that have timed out.
    fn check(&self, timeout: u64, idle: u64) {
        for (_, conn) in lock(&self.open).iter() {
            let late = conn.age() > timeout;
            match conn.phase() {
                _ if conn.blocked_for() > timeout => conn.order(Order::Abort),
                Phase::Silent | Phase::Idle if conn.age() > idle => conn.order(Order::Finish),
                Phase::Handshake if late => conn.order(Order::Abort),
                Phase::Receiving if late => conn.order(Order::TooSlow),
                _ => {}
            }
        }
    }
}

/// Takes a place for a connection; makes room for it if need be. None: there is no room.
pub fn take_seat(shared: &Arc<Shared>, conn: &Arc<Conn>) -> Option<Seat> {
    let connections = &shared.connections;
    if connections.count.fetch_add(1, Relaxed) >= connections.most && !connections.make_room() {
        connections.count.fetch_sub(1, Relaxed);
        return None;
    }
    let number = connections.add(conn);
    Some(Seat { shared: Arc::clone(shared), number })
}

impl Drop for Seat {
    fn drop(&mut self) {
        lock(&self.shared.connections.open).try_remove(self.number);
        self.shared.connections.count.fetch_sub(1, Relaxed);
    }
}

/// Checks timeouts until the service ends.
pub async fn watch(shared: Arc<Shared>) {
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let (timeout, idle) = (millis(shared.limits.timeout), millis(shared.limits.idle));
    loop {
        tokio::time::sleep(LOOK).await;
        shared.connections.check(timeout, idle);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
