use super::access::{media_type, Access};
use super::budget::{Budget, Full};
use super::conn::{Conn, Order, Phase};
use super::connections::Connections;
use super::hosts;
use super::metrics::Metrics;
use super::{PathAccess, Token};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Version};
use ring::digest::{digest, SHA256};
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn fields(all: &[(&'static str, &str)]) -> HeaderMap {
    let field = |(name, value): &(&'static str, &str)| {
        (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
    };
    all.iter().map(field).collect()
}

fn conn(address: u64) -> Arc<Conn> {
    Arc::new(Conn::new(address, Instant::now()))
}

#[test]
fn a_full_budget_revokes_the_oldest_reservation() {
    let budget = Budget::new(100);
    let connections = [conn(1), conn(1), conn(1)];
    let revoked = |conn: &Arc<Conn>| Some((Arc::clone(conn), Order::Outrun));
    let [first, second, third] =
        connections.each_ref().map(|conn| budget.reservation(revoked(conn)));
    second.grow(50).unwrap();
    first.grow(50).unwrap();
    third.grow(30).unwrap();
    let ordered = || connections.each_ref().map(|conn| conn.ordered());
    assert_eq!(ordered(), [Order::Outrun, Order::None, Order::None]);
    assert_eq!(first.grow(1), Err(Full));
    third.grow(70).unwrap();
    assert_eq!(ordered(), [Order::Outrun, Order::Outrun, Order::None]);
    assert_eq!(third.grow(1), Err(Full));
}

#[test]
fn bytes_that_no_client_can_delay_are_never_revoked() {
    let budget = Budget::new(100);
    let kept = budget.reservation(None);
    kept.grow(80).unwrap();
    let slow = conn(1);
    let reservation = budget.reservation(Some((slow, Order::Abort)));
    reservation.grow(20).unwrap();
    assert_eq!(reservation.grow(1), Err(Full));
    drop(kept);
    budget.reservation(None).grow(100).unwrap();
}

#[test]
fn the_least_needed_connection_makes_room() {
    let connections = Connections::new(4, 2);
    let all = [Phase::Answering, Phase::Receiving, Phase::Idle, Phase::Silent].map(|phase| {
        let conn = conn(1);
        conn.begin(phase);
        connections.add(&conn);
        conn
    });
    let [answering, receiving, idle, silent] = &all;
    let ordered = |conn: &Arc<Conn>| conn.ordered();
    assert!(connections.make_room());
    assert_eq!((ordered(silent), ordered(idle)), (Order::Abort, Order::None));
    assert!(connections.make_room());
    assert_eq!((ordered(idle), ordered(receiving)), (Order::Abort, Order::None));
    assert!(connections.make_room());
    assert_eq!(ordered(receiving), Order::Displaced);
    assert!(!connections.make_room(), "no answer is cut off for another connection");
    assert_eq!(ordered(answering), Order::None);
}

#[test]
fn an_address_closes_its_own_oldest_handshake_and_none_of_another() {
    let connections = Connections::new(100, 2);
    let other = conn(1);
    connections.begin_handshake(&other);
    let many: Vec<_> = (0..5).map(|_| conn(2)).collect();
    many.iter().for_each(|conn| connections.begin_handshake(conn));
    let ended: Vec<_> = many.iter().map(|conn| conn.ordered() == Order::Abort).collect();
    assert_eq!(ended, [true, true, true, false, false]);
    assert_eq!(other.ordered(), Order::None);
}

#[test]
fn a_host_is_one_valid_name_or_address() {
    for host in ["a.example", "127.0.0.1:80", "[::1]:80", "", "a_b:"] {
        assert!(hosts::check(Version::HTTP_11, &fields(&[("host", host)])).is_ok(), "{host}");
    }
    for host in ["a/b", "a@b", "a b", "[a", "[]", "a:b", "[::1]x"] {
        assert!(hosts::check(Version::HTTP_11, &fields(&[("host", host)])).is_err(), "{host}");
    }
    assert!(hosts::check(Version::HTTP_11, &fields(&[])).is_err());
    assert!(hosts::check(Version::HTTP_10, &fields(&[])).is_ok());
    assert!(hosts::check(Version::HTTP_11, &fields(&[("host", "a"), ("host", "a")])).is_err());
}

fn access(with_tokens: bool) -> Access {
    let change = PathAccess { changed_by: Some("PUT".into()), ..PathAccess::default() };
    let open = PathAccess { is_open: true, ..PathAccess::default() };
    let paths = HashMap::from([("/change".to_owned(), change), ("/open".to_owned(), open)]);
    Access::new(paths, ["NAS1.example.".to_owned()], with_tokens)
}

#[test]
fn only_a_known_host_or_the_connections_own_address_may_change_something() {
    let access = access(false);
    let check = |host, local: Option<&str>| {
        let headers =
            fields(&[("host", host), ("content-type", "Application/JSON; charset=utf-8")]);
        let local: Option<IpAddr> = local.map(|local| local.parse().unwrap());
        access.check(&Method::PUT, "/change", &headers, local).map_err(|error| error.kind)
    };
    let here = Some("192.0.2.7");
    for host in ["localhost:1", "nas1.example", "127.9.9.9", "[::1]:80", "192.0.2.7:8325"] {
        assert_eq!(check(host, here), Ok(None), "{host}");
    }
    for host in ["192.0.2.8", "evil.example", "nas1", ""] {
        assert_eq!(check(host, here), Err("unknown_host"), "{host}");
    }
    assert_eq!(check("any", None), Ok(None), "no web page reaches a Unix socket");
}

#[test]
fn a_token_opens_what_its_scopes_do() {
    let access = access(true);
    let token = Token { name: "nas1".into(), scopes: vec!["read".into()] };
    let hash = digest(&SHA256, b"secret").as_ref().to_vec();
    access.set_tokens(Some(HashMap::from([(hash, token)])));
    let check = |method, path, shown: &[(&'static str, &str)]| {
        access.check(&method, path, &fields(shown), None).map_err(|error| error.kind)
    };
    let bearer = [("authorization", "BEARER  secret ")];
    assert_eq!(check(Method::GET, "/other", &bearer), Ok(Some("nas1".into())));
    // ":secret" in base64
    assert!(check(Method::GET, "/other", &[("authorization", "Basic OnNlY3JldA==")]).is_ok());
    assert_eq!(check(Method::PUT, "/other", &bearer), Err("forbidden"));
    for wrong in ["", "Bearer", "Bearer x", "Basic %%", "secret", "Bearer "] {
        let found = check(Method::GET, "/other", &[("authorization", wrong)]);
        assert_eq!(found, Err("unauthorized"), "{wrong}");
    }
    assert_eq!(check(Method::GET, "/open", &[]), Ok(None));
    access.set_tokens(None);
    assert_eq!(check(Method::GET, "/other", &bearer), Err("no_tokens"));
}

#[test]
fn the_last_content_type_counts() {
    let sent = fields(&[("content-type", "text/plain"), ("content-type", "A/B ; c=d")]);
    assert_eq!(media_type(&sent), "a/b");
}

#[test]
fn requests_are_counted_by_route_and_time() {
    let metrics = Metrics::new(HashSet::from(["/a".to_owned()]), vec![0.001, 1.0], false);
    metrics.count(metrics.route("/a"), 200, Duration::from_millis(1));
    metrics.count(metrics.route("/a"), 200, Duration::from_millis(2));
    metrics.count(metrics.route("/b"), 404, Duration::from_secs(2));
    let mut found = metrics.requests();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    let counts: Vec<_> =
        found.into_iter().map(|(route, status, counts, _)| (route, status, counts)).collect();
    let expected =
        [("/a".to_owned(), 200, vec![1, 1, 0]), ("other".to_owned(), 404, vec![0, 0, 1])];
    assert_eq!(counts, expected);
}
