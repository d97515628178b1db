//! Other processes: one that takes all memory of the GPU while this one calculates, one that loses the GPU, and one that sees none. Each is
//! this program again, with its role in an environment variable.

use super::{Failed, Trial, ensure, equal, exclusive_trial, same, shared_trial};
use crate::common::Random;
use slm::{Device, Error, Filter1d};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;
use std::{env, io, thread};

/// The variable that names the role of a process.
const ROLE: &str = "SLM_TEST_ROLE";

type Role = fn() -> Result<(), Failed>;

const ROLES: [(&str, Role); 3] =
    [("take the memory", take_the_memory), ("lose the device", lose_the_device), ("see no device", see_no_device)];

/// What a process that takes the memory writes as soon as it has all.
const FULL: &str = "full";

/// Plays the role of this process, if it has one.
pub(super) fn play() -> Option<ExitCode> {
    let name = env::var(ROLE).ok()?;
    let result = match ROLES.iter().find(|(role, _)| *role == name) {
        Some((_, role)) => role(),
        None => Err(format!("no role '{name}'").into()),
    };
    Some(match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", error.message().unwrap_or("failed"));
            ExitCode::FAILURE
        }
    })
}

pub(super) fn trials() -> Vec<Trial> {
    vec![
        exclusive_trial("processes::another_takes_the_memory", another_takes_the_memory),
        shared_trial("processes::another_loses_the_device", another_loses_the_device),
        shared_trial("processes::another_sees_no_device", another_sees_no_device),
    ]
}

/// A process with a role, which is ended with the test.
struct Other(Child);

impl Other {
    fn start(role: &str, variables: &[(&str, &str)]) -> Result<Self, Failed> {
        let mut command = Command::new(env::current_exe()?);
        command.env(ROLE, role).env_remove("SLM_DEVICE").envs(variables.iter().copied());
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(Other(pipes.spawn()?))
    }

    /// Returns where its first line arrives, or nothing if it ends without.
    fn first_line(&mut self) -> Result<Receiver<String>, Failed> {
        let (sender, receiver) = channel();
        let mut lines = BufReader::new(self.0.stdout.take().ok_or("there is a pipe")?).lines();
        thread::spawn(move || lines.next().and_then(Result::ok).map(|line| sender.send(line)));
        Ok(receiver)
    }

    /// Closes its standard input, waits for its end, and checks that it has not failed.
    fn end(mut self) -> Result<(), Failed> {
        drop(self.0.stdin.take());
        let mut text = String::new();
        self.0.stderr.take().ok_or("there is a pipe")?.read_to_string(&mut text)?;
        let status = self.0.wait()?;
        ensure(status.success(), || format!("{status}: {text}"))
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// While the memory becomes less, calls succeed or are refused. What the device holds stays, and as soon as the other process has ended,
/// calls succeed again.
fn another_takes_the_memory(device: &Device) -> Result<(), Failed> {
    const MOST_CALLS: usize = 1_000;
    let x: Vec<i32> = Random::new(1).values(1 << 22);
    let kept = device.upload(&x)?;
    let filter = Filter1d::correlate(&[1, -2, 3]);
    let expected = filter.prepare(&Device::cpu())?.apply(&x)?;
    let filter = filter.prepare(device)?;
    // Whether a call succeeds, whose memory the other process may take afterwards.
    let call = || {
        let outputs = filter.apply(&x);
        device.release_unused_memory()?;
        match outputs {
            Ok(outputs) => same(&outputs, &expected).map(|()| true),
            Err(Error::OutOfDeviceMemory { .. }) => Ok(false),
            Err(error) => Err(Failed::from(error)),
        }
    };
    ensure(call()?, || "no memory before".to_owned())?;

    let mut other = Other::start("take the memory", &[])?;
    let line = other.first_line()?;
    let (mut is_full, mut refused, mut calls) = (false, 0, 0);
    while !is_full || refused == 0 {
        match line.try_recv() {
            Ok(line) => is_full = line == FULL,
            Err(TryRecvError::Disconnected) if !is_full => return Err(other.end().err().unwrap_or("it ends".into())),
            Err(TryRecvError::Disconnected | TryRecvError::Empty) => {}
        }
        refused += usize::from(!call()?);
        calls += usize::from(is_full);
        ensure(calls < MOST_CALLS, || format!("{calls} calls without memory"))?;
    }
    same(&kept.download()?, &x)?;

    other.end()?;
    // The driver may take a while to free the memory of a process.
    for _ in 0..1000 {
        if call()? {
            return same(&kept.download()?, &x);
        }
        thread::sleep(Duration::from_millis(10));
    }
    Err("no memory afterwards".into())
}

/// Takes what is free, again and again, until standard input is closed.
fn take_the_memory() -> Result<(), Failed> {
    const LEAST: usize = 1 << 20;
    let device = Device::cuda(0)?;
    let ended = thread::spawn(|| io::copy(&mut io::stdin(), &mut io::sink()));
    let (mut taken, mut is_first) = (Vec::new(), true);
    while !ended.is_finished() {
        let mut bytes = 1 << 30;
        while bytes >= LEAST {
            match device.zeroed::<u8>(bytes) {
                Ok(buffer) => taken.push(buffer),
                Err(Error::OutOfDeviceMemory { .. }) => bytes /= 2,
                Err(error) => return Err(error.into()),
            }
        }
        if is_first {
            println!("{FULL}");
            is_first = false;
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// A kernel that ends with an error ends its own process's use of the GPU, and no other's.
fn another_loses_the_device(device: &Device) -> Result<(), Failed> {
    let filter = Filter1d::correlate(&[1, 1]).prepare(device)?;
    let kept = device.upload(&[1, 2, 3])?;
    Other::start("lose the device", &[])?.end()?;
    equal(kept.download()?, vec![1, 2, 3])?;
    equal(filter.apply(&[1, 2, 3])?, filter_on_cpu(&[1, 2, 3])?)
}

fn filter_on_cpu(x: &[i32]) -> slm::Result<Vec<i32>> {
    Filter1d::correlate(&[1, 1]).prepare(&Device::cpu())?.apply(x)
}

#[cfg(cuda)]
fn lose_the_device() -> Result<(), Failed> {
    super::kernels::lose_the_device()
}

#[cfg(not(cuda))]
fn lose_the_device() -> Result<(), Failed> {
    Err("there are no modules of kernels".into())
}

fn another_sees_no_device(_device: &Device) -> Result<(), Failed> {
    Other::start("see no device", &[("CUDA_VISIBLE_DEVICES", "")])?.end()
}

/// Without a visible GPU, everything runs on the CPU, and a GPU is an error.
fn see_no_device() -> Result<(), Failed> {
    equal(Device::all().len(), 1)?;
    for error in [Device::cuda(0).err(), Device::named("cuda").err()] {
        ensure(matches!(error, Some(Error::NoDevice { .. })), || format!("{error:?}"))?;
    }
    let filter = Filter1d::correlate(&[1, 1]).prepare(&Device::open()?)?;
    equal(filter.apply(&[1, 2, 3])?, filter_on_cpu(&[1, 2, 3])?)
}
