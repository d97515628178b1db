//! A small cache with a fixed number of keys.

use crate::Result;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many keys are remembered: more than a program uses in turns, and few enough to be searched in the time of a launch.
const MOST: usize = 32;

/// Values by their keys, of which the oldest make room for new ones.
pub(crate) struct Recent<K, V>(Mutex<Vec<(K, V)>>);

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Recent(Mutex::default())
    }
}

impl<K: PartialEq, V: Clone> Recent<K, V> {
    /// Returns the value of `key`: what `make` gives if there is none. Other threads do not wait for that, and those that
    /// make the same value make an equal one.
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
        // The list is whole at any time, so a panic elsewhere did it no harm.
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

    /// Each makes a value while the other one does.
    #[test]
    fn no_thread_waits_while_another_one_makes_a_value() {
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
