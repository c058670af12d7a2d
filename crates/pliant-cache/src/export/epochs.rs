//! What is the same in all frames of an epoch, made once by whichever thread comes first.

use crate::CacheError;
use std::sync::{Arc, Mutex, PoisonError};

/// Of the last few epochs: threads work on frames that are near each other.
pub(super) struct PerEpoch<T> {
    known: Mutex<Vec<(usize, Arc<T>)>>,
}

/// More than threads that make frames ready.
const KEPT: usize = 8;

impl<T> Default for PerEpoch<T> {
    fn default() -> Self {
        PerEpoch { known: Mutex::new(Vec::new()) }
    }
}

impl<T> PerEpoch<T> {
    /// That of an epoch; others wait while it is made.
    pub fn get(
        &self,
        epoch: usize,
        make: impl FnOnce() -> Result<T, CacheError>,
    ) -> Result<Arc<T>, CacheError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = known.iter().find(|(of, _)| *of == epoch) {
            return Ok(found.clone());
        }
        let made = Arc::new(make()?);
        if known.len() >= KEPT {
            known.remove(0);
        }
        known.push((epoch, made.clone()));
        Ok(made)
    }
}
