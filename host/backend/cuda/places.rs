//! Values by key, each with its own lock, for values that take long to create.

use std::sync::{Arc, Mutex, PoisonError};

/// Places by key. A place is never removed, so the set of keys must be bounded.
#[derive(Debug)]
pub(super) struct Places<K, V>(Mutex<Vec<(K, Arc<Mutex<V>>)>>);

impl<K: PartialEq, V: Default> Places<K, V> {
    pub(super) const fn new() -> Self {
        Places(Mutex::new(Vec::new()))
    }

    /// Returns the result of `work` on the place of `key`. Other threads only wait if they need the same place.
    ///
    /// If `work` panics, the place keeps its current value, and later calls use it.
    pub(super) fn with<R>(&self, key: K, work: impl FnOnce(&mut V) -> R) -> R {
        let place = self.of(key);
        work(&mut place.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn of(&self, key: K) -> Arc<Mutex<V>> {
        // The list is always consistent, so a panic of another thread has not damaged it.
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, place)) = places.iter().find(|(other, _)| *other == key) {
            return place.clone();
        }
        let place = Arc::default();
        places.push((key, Arc::clone(&place)));
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::{panic, thread};

    type Kept = Places<&'static str, Option<usize>>;

    /// Returns the value of a key, created by `load` on first use.
    fn get(places: &Kept, key: &'static str, load: impl FnOnce() -> Result<usize, ()>) -> Result<usize, ()> {
        places.with(key, |place| match place {
            Some(kept) => Ok(*kept),
            None => Ok(*place.insert(load()?)),
        })
    }

    #[test]
    fn threads_with_the_same_key_load_its_value_once() {
        const THREADS: usize = 16;
        let (places, loads, barrier) = (Kept::new(), AtomicUsize::new(0), Barrier::new(THREADS));
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    barrier.wait();
                    let load = || {
                        // Without a lock, other threads could run here at the same time.
                        thread::yield_now();
                        Ok(loads.fetch_add(1, Ordering::SeqCst))
                    };
                    assert_eq!(get(&places, "a", load), Ok(0));
                });
            }
        });
        assert_eq!(loads.into_inner(), 1);
    }

    /// Both loads are in progress at the same time.
    #[test]
    fn threads_with_other_keys_do_not_wait() {
        let (places, barrier) = (Kept::new(), Barrier::new(2));
        let load = |key, value| {
            let load = || {
                barrier.wait();
                Ok(value)
            };
            assert_eq!(get(&places, key, load), Ok(value));
        };
        thread::scope(|scope| {
            scope.spawn(|| load("a", 1));
            scope.spawn(|| load("b", 2));
        });
    }

    #[test]
    fn the_next_call_loads_a_value_after_an_error_or_a_panic() {
        let places = Kept::new();
        assert_eq!(get(&places, "a", || Err(())), Err(()));
        let panics = || get(&places, "a", || panic!("intended by this test"));
        assert!(panic::catch_unwind(panic::AssertUnwindSafe(panics)).is_err());
        assert_eq!(get(&places, "a", || Ok(3)), Ok(3));
        assert_eq!(get(&places, "a", || Err(())), Ok(3));
        assert_eq!(places.0.into_inner().unwrap().len(), 1);
    }
}
