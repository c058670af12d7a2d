//! An allocator that counts, for every thread by itself and for all together.
#![allow(unsafe_code, dead_code)] // each program reads one of the counts

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static OF_ALL: AtomicUsize = AtomicUsize::new(0);
thread_local! {
    static OF_THREAD: Cell<usize> = const { Cell::new(0) };
}

/// Allocations of all threads so far. Whoever reads it is alone in its program.
pub fn allocations() -> usize {
    OF_ALL.load(Ordering::Relaxed)
}

/// Allocations of the calling thread so far.
pub fn allocations_here() -> usize {
    OF_THREAD.get()
}

fn count() {
    OF_ALL.fetch_add(1, Ordering::Relaxed);
    OF_THREAD.set(OF_THREAD.get() + 1);
}

// SAFETY: passes everything on to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(ptr, layout) }
    }
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as promised by the caller.
        unsafe { System.realloc(ptr, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
