//! Linux: hints each file that is created in a file system, before its data reach the disk.
//!
//! The kernel reports a create after it, so that creates never wait. Creates queue in the kernel,
//! with a limit (`fs.fanotify.max_queued_events`); it reports when it had to drop some.

mod births;
mod class;
mod cleaner;
mod counters;
mod events;
mod hinter;
mod image_file;
mod service;
mod settings;
mod system;
mod trial;
mod trial_state;

use std::cell::Cell;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use birthmark_hook::creates::watch_creates;
use hyper::header::HeaderValue;
use rustix::fd::OwnedFd;
use rustix::fs::{open, Mode, OFlags};

use self::births::Births;
pub use self::class::Rule;
use self::cleaner::Gauges;
use self::counters::{Counters, DeviceReport};
use self::hinter::{Hinter, Watch};
use self::image_file::ImageFile;
use self::service::Service;
pub use self::settings::WriteLifeSettings;
use self::trial::Trial;
use self::trial_state::TrialState;
use crate::counters::listed;
use crate::http::Client;
use crate::log::line;
use crate::report::report;
use crate::settings::Settings;

/// `EX_NOPERM` of `sysexits.h`.
const NOT_PERMITTED: u8 = 77;

/// State before the first create.
struct Ready<'a> {
    births: Births<'a>,
    asked: Asked<'a>,
    gauges: Option<Gauges>,
    state: TrialState,
    trial: Trial,
}

/// The source of answers.
enum Asked<'a> {
    Image(Box<ImageFile>),
    Service(Box<Service<'a>>),
}

/// Hints files in the file system of `mount` until `end` is over.
pub async fn run(
    settings: &Settings,
    mount: &Path,
    token: Option<HeaderValue>,
    end: impl std::future::Future<Output = ()>,
) -> io::Result<ExitCode> {
    let lacking = system::lacking();
    if !lacking.is_empty() {
        line(format_args!(
            "write-life hints need {}, which this process lacks",
            lacking.join(", ")
        ));
        return Ok(ExitCode::from(NOT_PERMITTED));
    }
    let at =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", mount.display()));
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = open(mount, flags, Mode::empty()).map_err(|error| at(error.into()))?;
    let watch = match watch_creates(&folder).map_err(system::explained) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            line(at(error));
            return Ok(ExitCode::from(NOT_PERMITTED));
        }
        watch => Watch::of(watch.map_err(at)?)?,
    };
    let gauges = gauges(&settings.write_life, &folder).map_err(at)?;
    let counters = Counters::default();
    let mut ready = ready(settings, folder, gauges, token.clone(), &counters)?;
    tokio::select! {
        done = work(settings, mount, &watch, &mut ready, token, &counters) => done?,
        () = end => {}
    }
    line(format_args!("ends; files keep their hints; {}", listed(&counters.all())));
    Ok(ExitCode::SUCCESS)
}

fn ready<'a>(
    settings: &'a Settings,
    folder: OwnedFd,
    gauges: Option<Gauges>,
    token: Option<HeaderValue>,
    counters: &'a Counters,
) -> io::Result<Ready<'a>> {
    let own = &settings.write_life;
    let system = own.directory_system.clone().map(|base64| base64.0);
    let system = system.or_else(|| system::uuid(&folder));
    let asked = match &own.image {
        Some(path) => Asked::Image(Box::new(ImageFile::open(
            path.clone(),
            own.history.as_deref(),
            system,
            &settings.rule,
        )?)),
        None => {
            let limit = settings.timeout_seconds.min(own.late_seconds);
            let client = Client::new(settings.service.clone(), limit, token);
            Asked::Service(Box::new(Service::new(client, system, &settings.rule)))
        }
    };
    let state = TrialState { path: own.state.clone() };
    let trial = state.read()?;
    let births = Births::new(folder, own.late_seconds, counters);
    Ok(Ready { births, asked, gauges, state, trial })
}

/// The gauges of harm; none if the settings waive them.
fn gauges(own: &WriteLifeSettings, folder: &OwnedFd) -> io::Result<Option<Gauges>> {
    if own.unmeasured {
        return Ok(None);
    }
    if let Some(written) = own.written.clone() {
        let gauges = Gauges { written, moved: own.moved.clone() };
        return gauges.read().map(|_| Some(gauges));
    }
    let found = Gauges::of_f2fs(Path::new("/sys"), system::device(folder)?);
    found.map(Some).ok_or_else(|| {
        io::Error::other(
            "does not say what its cleaner moves, so that harm by hints would not be seen: name \
             counters with --written and --moved, or say --unmeasured",
        )
    })
}

/// Runs everything forever.
async fn work(
    settings: &Settings,
    mount: &Path,
    watch: &Watch,
    ready: &mut Ready<'_>,
    token: Option<HeaderValue>,
    counters: &Counters,
) -> io::Result<()> {
    let Ready { births, asked, gauges, state, trial } = ready;
    let hints = Cell::new(!trial.harm);
    match (hints.get(), &*gauges) {
        (false, _) => {
            counters.harm.add();
            line(format_args!("hints were found to do harm and are off; {}", state.way_back()));
        }
        (true, None) => line("hints are not measured: no harm is seen"),
        (true, Some(_)) => {}
    }
    line(format_args!("hints what is created in {}", mount.display()));
    let tried = async {
        if let Some(gauges) = gauges.as_ref().filter(|_| !trial.harm) {
            let period = settings.write_life.trial_seconds;
            cleaner::watch(gauges, period, state, *trial, &hints, counters).await;
        }
    };
    let device_report = DeviceReport { mount, counters, hints: &hints };
    let client = Client::new(settings.service.clone(), settings.timeout_seconds, token);
    let reports = report(client, settings.report_seconds, &device_report);
    let hinter = Hinter { watch, births, hints: &hints, counters };
    let hinting = async {
        match asked {
            Asked::Image(image) => {
                let image: &ImageFile = image;
                tokio::select! {
                    done = hinter.by_image(image) => done,
                    () = image.follow(settings.poll_seconds, &settings.rule, counters) => Ok(()),
                }
            }
            Asked::Service(service) => hinter.by_service(service).await,
        }
    };
    tokio::select! {
        done = hinting => done,
        ((), ()) = async { tokio::join!(tried, reports) } => Ok(()),
    }
}
