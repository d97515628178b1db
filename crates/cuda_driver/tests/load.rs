//! The public function `load`, on machines with and without a driver.

use std::collections::BTreeSet;
use std::thread;

use cuda_driver::{Failure, LoadError, load};

#[test]
fn an_error_lists_every_name() {
    let Err(error) = load() else {
        println!("skipped: this machine has a driver");
        return;
    };
    let LoadError::NotFound { attempts } = error else {
        assert_eq!(error, &LoadError::UnsupportedPlatform);
        return;
    };
    let names: Vec<_> = attempts.iter().map(|attempt| attempt.name.as_str()).collect();
    assert_eq!(names, ["libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1"]);
    for attempt in attempts {
        assert!(matches!(&attempt.failure, Failure::NotLoaded(text) if !text.is_empty()));
        assert!(error.to_string().contains(&attempt.to_string()));
    }
}

#[test]
fn a_driver_has_the_essential_functions() {
    let Ok(driver) = load() else {
        println!("skipped: this machine has no driver");
        return;
    };
    assert!(!driver.name().is_empty());
    assert!(!driver.missing().contains(&"cuInit"));
}

#[test]
fn every_thread_gets_the_same_result() {
    let addresses: BTreeSet<usize> = thread::scope(|scope| {
        let threads: Vec<_> = (0..32).map(|_| scope.spawn(address_of_result)).collect();
        threads.into_iter().map(|thread| thread.join().expect("load does not panic")).collect()
    });
    assert_eq!(addresses, BTreeSet::from([address_of_result()]));
}

fn address_of_result() -> usize {
    match load() {
        Ok(driver) => std::ptr::from_ref(driver).addr(),
        Err(error) => std::ptr::from_ref(error).addr(),
    }
}
