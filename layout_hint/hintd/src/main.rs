//! `birthmark-hintd`: keeps the layout hint's device supplied by the service or, on Linux, hints a
//! file system's files.
//!
//! All timers use the monotonic clock. Only write-life hints read the wall clock: for a file's age
//! and the hour of the day.

mod address;
mod answer;
mod counters;
mod device;
mod fetch;
mod fsid;
mod http;
mod image;
mod keep;
mod log;
mod report;
mod settings;
#[cfg(target_os = "linux")]
mod write_life;

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use hyper::header::HeaderValue;
use tokio::runtime::Builder;
use tokio::signal::unix::{signal, Signal, SignalKind};
use tokio::sync::watch;

use crate::answer::Answerer;
use crate::counters::{listed, Counters};
use crate::device::report::DeviceReport;
use crate::fetch::Fetcher;
use crate::http::Client;
use crate::keep::{Held, Keeper};
use crate::log::line;
use crate::settings::Settings;
use birthmark_hook::wire::Config;

/// Time to wait for an answer for the device before asking again.
const HINT: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    let settings = Settings::parse();
    let done = Builder::new_current_thread().enable_all().build().and_then(|runtime| {
        let done = runtime.block_on(run(&settings));
        // A thread may be blocked in a read of questions; do not wait for it.
        runtime.shutdown_background();
        done
    });
    match done {
        Ok(code) => code,
        Err(error) => {
            line(error);
            ExitCode::FAILURE
        }
    }
}

async fn run(settings: &Settings) -> io::Result<ExitCode> {
    let config = keep::config(&settings.device_settings)?;
    let token = settings.token()?;
    if settings.once {
        return Ok(once(settings, token, config).await);
    }
    let mut ends = [signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?];
    #[cfg(target_os = "linux")]
    if let Some(mount) = &settings.write_life.write_life {
        return write_life::run(settings, mount, token, any(&mut ends)).await;
    }
    let counters = Counters::default();
    line(format_args!("informs {} by {}", settings.device.display(), settings.service));
    tokio::select! {
        () = work(settings, token, config, &counters) => {}
        () = any(&mut ends) => {}
    }
    line(format_args!("ends; the device keeps its image; {}", listed(&counters.all())));
    Ok(ExitCode::SUCCESS)
}

async fn any([one, other]: &mut [Signal; 2]) {
    tokio::select! {
        _ = one.recv() => {}
        _ = other.recv() => {}
    }
}

/// Runs everything forever.
async fn work(
    settings: &Settings,
    token: Option<HeaderValue>,
    config: Option<Config>,
    counters: &Counters,
) {
    let (place, limit) = (settings.place(), settings.timeout_seconds);
    let client = |limit| Client::new(settings.service.clone(), limit, token.clone());
    let (sender, receiver) = watch::channel(None);
    let mut fetcher = Fetcher::new(client(limit), counters);
    let mut keeper = Keeper::new(&place, config, counters);
    let mut answerer = Answerer::new(&place, client(limit.min(HINT)), counters);
    let device_report = DeviceReport { place: &place, counters };
    tokio::join!(
        fetcher.follow(settings.poll_seconds, &sender),
        keeper.keep(settings.device_seconds, receiver),
        answerer.answer(settings.poll_seconds),
        report::report(client(limit), settings.report_seconds, &device_report),
    );
}

/// Fetches and loads once.
async fn once(settings: &Settings, token: Option<HeaderValue>, config: Option<Config>) -> ExitCode {
    let counters = Counters::default();
    let client = Client::new(settings.service.clone(), settings.timeout_seconds, token);
    let image = match Fetcher::new(client, &counters).fetch(Duration::ZERO).await {
        Ok(image) => image,
        Err(error) => {
            line(format_args!("{}: {error}", settings.service));
            return ExitCode::FAILURE;
        }
    };
    let place = settings.place();
    let mut keeper = Keeper::new(&place, config, &counters);
    match keeper.look_after(image.as_ref()).await {
        Ok(Held::There) => ExitCode::SUCCESS,
        Ok(Held::Refused(_)) => ExitCode::FAILURE,
        Err(error) => {
            line(format_args!("{}: {error}", settings.device.display()));
            ExitCode::FAILURE
        }
    }
}
