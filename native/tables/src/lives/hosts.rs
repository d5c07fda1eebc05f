//! Numbers of servers and clients in use; the others can be dropped.

use super::life::Inode;
use super::Lives;
use birthmark_trace::budget::Budget;
use birthmark_trace::loss::EVERYONE;
use birthmark_trace::message::{HostId, Interner};

/// Numbers in use.
#[derive(Clone, Debug, Default)]
pub struct Hosts {
    servers: Vec<bool>,
    clients: Vec<bool>,
}

fn mark(numbers: &mut Vec<bool>, number: HostId) {
    let place = number as usize;
    if place >= numbers.len() {
        numbers.resize(place + 1, false);
    }
    numbers[place] = true;
}

fn is_marked(numbers: &[bool], number: HostId) -> bool {
    numbers.get(number as usize) == Some(&true)
}

impl Hosts {
    /// Marks a server.
    pub fn server(&mut self, number: HostId) {
        mark(&mut self.servers, number);
    }

    /// Marks a client.
    pub fn client(&mut self, number: HostId) {
        mark(&mut self.clients, number);
    }

    /// Marks the hosts of a file.
    pub fn note(&mut self, inode: &Inode) {
        let (server, clients) = inode.hosts();
        self.server(server);
        clients.for_each(|client| self.client(client));
    }

    /// Adds marks.
    pub fn join(&mut self, others: &Hosts) {
        let numbers = |marked: &[bool]| -> Vec<HostId> {
            (0..).zip(marked).filter(|(_, marked)| **marked).map(|(number, _)| number).collect()
        };
        numbers(&others.servers).into_iter().for_each(|number| self.server(number));
        numbers(&others.clients).into_iter().for_each(|number| self.client(number));
    }
}

/// The number of a host; that of [`EVERYONE`] for a new host if there are already twice as many as
/// the budget allows.
pub fn number(hosts: &mut Interner, name: &str, budget: Budget) -> HostId {
    let full = hosts.len() >= 2 * Interner::most(budget);
    hosts.intern(if full && !hosts.has(name) { EVERYONE } else { name })
}

impl Lives {
    /// Drops hosts that nothing refers to, if there are more than the budget allows. All events
    /// must have been taken.
    pub fn forget_hosts(&mut self) {
        let most = Interner::most(self.budget);
        if self.servers.len() <= most && self.clients.len() <= most {
            return;
        }
        let mut in_use = Hosts::default();
        self.inodes.hosts(&mut in_use);
        self.files.hosts(&mut in_use);
        self.names.hosts(&mut in_use);
        for (server, client) in self.gaps.hosts() {
            in_use.server(*server);
            in_use.client(*client);
        }
        if let Some(events) = &self.events {
            events.hosts(&mut in_use);
        }
        self.servers.retain(|number| is_marked(&in_use.servers, number));
        self.clients.retain(|number| is_marked(&in_use.clients, number));
        for (end, number) in self.ends.iter_mut().zip(0..) {
            if !is_marked(&in_use.servers, number) {
                *end = i64::MIN;
            }
        }
    }
}
