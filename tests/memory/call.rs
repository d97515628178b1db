//! Calls with a limit, and the checks of what they return and write.

use crate::common::ensure;
use crate::limits::{allocated, with};
use libtest_mimic::Failed;
use slm::distributed::DistributedError;
use slm::stream::StreamCause;
use slm::{Buffer, Element, Error, Result};

/// A call with a name.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Makes the data, and runs the call without a limit.
    pub(crate) attempt: fn() -> Result<Attempt>,
}

/// Runs a call with a limit in bytes. Returns whether it had enough memory.
pub(crate) type Attempt = Box<dyn FnMut(usize) -> std::result::Result<bool, Failed>>;

/// What a call leaves where it should have written its results, if it had too little memory.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Left {
    Anything,
    WhatWasThere,
}

/// Bytes that threads may keep for later, such as longer queues of work.
const KEPT: usize = 16 << 10;

/// Returns the attempt of a call that returns its result.
pub(crate) fn returned<O: PartialEq + 'static>(mut call: impl FnMut() -> Result<O> + 'static) -> Result<Attempt> {
    let expected = call()?;
    Ok(Box::new(move |limit| {
        let before = allocated();
        let is_refused = match with(limit, &mut call) {
            Ok(result) => ensure(result == expected, || "another result".to_owned()).map(|()| false)?,
            Err(error) => ensure(is_lack_of_memory(&error), || error.to_string()).map(|()| true)?,
        };
        check_kept(before)?;
        ensure(!is_refused || call()? == expected, || "another result of the next call".to_owned())?;
        Ok(!is_refused)
    }))
}

/// Returns the attempt of a call that writes its results into a buffer of ones.
pub(crate) fn written<T: Element + PartialEq + From<u8>>(
    outputs: Buffer<T>,
    call: impl FnMut(&mut Buffer<T>) -> Result<()> + 'static,
) -> Result<Attempt> {
    let ones = vec![T::from(1); outputs.len()];
    replaced(outputs, Left::Anything, move |outputs| outputs.upload(&ones), Buffer::download, call)
}

/// Returns the attempt of a call that replaces what `data` has. `set` makes it what it was before the call, and `get` copies it.
pub(crate) fn replaced<D: 'static, O: PartialEq + 'static>(
    mut data: D,
    left: Left,
    mut set: impl FnMut(&mut D) -> Result<()> + 'static,
    get: impl Fn(&D) -> Result<O> + 'static,
    mut call: impl FnMut(&mut D) -> Result<()> + 'static,
) -> Result<Attempt> {
    set(&mut data)?;
    let original = get(&data)?;
    call(&mut data)?;
    let expected = get(&data)?;
    Ok(Box::new(move |limit| {
        set(&mut data)?;
        let before = allocated();
        let result = with(limit, || call(&mut data));
        check_kept(before)?;
        let Err(error) = result else {
            return ensure(get(&data)? == expected, || "another result".to_owned()).map(|()| true);
        };
        ensure(is_lack_of_memory(&error), || error.to_string())?;
        let is_kept = left == Left::Anything || get(&data)? == original;
        ensure(is_kept, || format!("the data was changed, although the call returned: {error}"))?;
        set(&mut data)?;
        call(&mut data)?;
        ensure(get(&data)? == expected, || "another result of the next call".to_owned())?;
        Ok(false)
    }))
}

fn is_lack_of_memory(error: &Error) -> bool {
    match error {
        Error::OutOfHostMemory { .. } => true,
        Error::Stream(error) => matches!(&error.cause, StreamCause::Failed(error) if is_lack_of_memory(error)),
        Error::Distributed(DistributedError::Incomplete { cause, .. }) => is_lack_of_memory(cause),
        _ => false,
    }
}

/// Returns an error if more is allocated than before a call.
fn check_kept(before: usize) -> std::result::Result<(), Failed> {
    let kept = allocated().saturating_sub(before);
    ensure(kept <= KEPT, || format!("{kept} bytes are still allocated after the call"))
}
