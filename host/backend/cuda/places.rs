//! Values by key that take long to create, each with its own lock.

use std::sync::{Arc, Mutex, PoisonError};

/// Places by key. A place is never removed, so the set of keys must be bounded.
#[derive(Debug)]
pub(super) struct Places<K, V>(Mutex<Vec<(K, Arc<Mutex<V>>)>>);

impl<K: PartialEq, V: Default> Places<K, V> {
    pub(super) const fn new() -> Self {
        Places(Mutex::new(Vec::new()))
    }

    /// Returns the result of `work` on the place of `key`. Other threads wait for this place only.
    ///
    /// A panic in `work` leaves the place as it is, and the next thread continues with it.
    pub(super) fn with<R>(&self, key: K, work: impl FnOnce(&mut V) -> R) -> R {
        let place = self.of(key);
        work(&mut place.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn of(&self, key: K) -> Arc<Mutex<V>> {
        // The list is valid at any time, so a panic elsewhere has not damaged it.
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
    fn threads_that_want_the_same_load_it_once() {
        const THREADS: usize = 16;
        let (places, loads, barrier) = (Kept::new(), AtomicUsize::new(0), Barrier::new(THREADS));
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    barrier.wait();
                    let load = || {
                        // Other threads get here at the same time unless a lock blocks them.
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
    fn threads_that_want_others_go_on() {
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
    fn what_fails_or_panics_is_loaded_by_the_next() {
        let places = Kept::new();
        assert_eq!(get(&places, "a", || Err(())), Err(()));
        let panics = || get(&places, "a", || panic!("as this test wants"));
        assert!(panic::catch_unwind(panic::AssertUnwindSafe(panics)).is_err());
        assert_eq!(get(&places, "a", || Ok(3)), Ok(3));
        assert_eq!(get(&places, "a", || Err(())), Ok(3));
        assert_eq!(places.0.into_inner().unwrap().len(), 1);
    }
}
