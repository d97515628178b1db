//! A small cache with a fixed number of keys.

use crate::Result;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of cached keys: more than a program alternates between, and few enough for a fast linear search.
const MOST: usize = 32;

/// Values by key. When the cache is full, a new value replaces the oldest one.
pub(crate) struct Recent<K, V>(Mutex<Vec<(K, V)>>);

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Recent(Mutex::default())
    }
}

impl<K: PartialEq, V: Clone> Recent<K, V> {
    /// Returns the value of `key`, created by `make` if it is not cached. Other threads do not wait for `make`. If several
    /// threads create the value of one key, their values must be equivalent.
    pub(crate) fn get(&self, key: K, make: impl FnOnce() -> Result<V>) -> Result<V> {
        if let Some((_, value)) = self.lock().iter().find(|(other, _)| *other == key) {
            return Ok(value.clone());
        }
        let value = make()?;
        let mut kept = self.lock();
        if kept.iter().all(|(other, _)| *other != key) {
            if kept.len() == MOST {
                kept.remove(0);
            }
            kept.push((key, value.clone()));
        }
        Ok(value)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(K, V)>> {
        // The list is always consistent, so a panic of another thread has not damaged it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use std::sync::Barrier;
    use std::thread;

    const FULL: Error = Error::OutOfHostMemory { requested: 1 };

    #[test]
    fn the_last_keys_are_remembered() {
        let recent = Recent::default();
        for key in 0..3 * MOST {
            assert_eq!(recent.get(key, || Ok(key)), Ok(key));
            assert_eq!(recent.get(key, || Err(FULL)), Ok(key));
        }
        assert_eq!(recent.lock().len(), MOST);
        assert_eq!(recent.get(2 * MOST, || Err(FULL)), Ok(2 * MOST));
        assert_eq!(recent.get(2 * MOST - 1, || Err(FULL)), Err(FULL));
    }

    /// Two threads create a value at the same time.
    #[test]
    fn no_thread_waits_while_another_one_creates_a_value() {
        for keys in [[1, 1], [1, 2]] {
            let (recent, barrier) = (Recent::default(), Barrier::new(2));
            let make = |key| {
                let make = || {
                    barrier.wait();
                    Ok(10 * key)
                };
                assert_eq!(recent.get(key, make), Ok(10 * key));
            };
            let make = &make;
            thread::scope(|scope| keys.map(|key| scope.spawn(move || make(key))).map(|thread| thread.join().unwrap()));
        }
    }
}
