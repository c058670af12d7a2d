//! A session behind plain functions, as a WebAssembly module without threads, clock or file system exports them:
//! scene text in, frame log and USD out. `tools/wasm_session.mjs` runs it in node and compares the bytes with native ones.
// Exporting a name is what edition 2024 calls unsafe; nothing else here is.
#![allow(unsafe_code)]

use pliant_cache::{ExportOptions, ExportOutput, MemoryOutput, export_all};
use pliant_session::{InMemory, MemoryLog, SceneSource, Session, SessionOptions};
use std::cell::RefCell;

thread_local! {
    /// The scene text, then frame log, USD and messages.
    static BUFFERS: RefCell<[Vec<u8>; 4]> = const { RefCell::new([const { Vec::new() }; 4]) };
}

/// Makes room for a scene text of so many bytes and tells where.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    BUFFERS.with_borrow_mut(|buffers| {
        buffers[0] = vec![0; length];
        buffers[0].as_mut_ptr()
    })
}

/// Runs the scene for so many frames: 0 if all went well, else there is a message.
#[unsafe(no_mangle)]
pub extern "C" fn run(frames: u32) -> u32 {
    let text = BUFFERS.with_borrow(|buffers| String::from_utf8_lossy(&buffers[0]).into_owned());
    let (log, usd, message) = match record(&text, frames) {
        Ok((log, usd)) => (log, usd, String::new()),
        Err(message) => (Vec::new(), Vec::new(), message),
    };
    let failed = !message.is_empty();
    BUFFERS.set([Vec::new(), log, usd, message.into_bytes()]);
    failed.into()
}

/// Where a result is: 1 the frame log, 2 the USD file, 3 the message.
#[unsafe(no_mangle)]
pub extern "C" fn output(which: usize) -> *const u8 {
    BUFFERS.with_borrow(|buffers| buffers[which.min(3)].as_ptr())
}

/// How many bytes it has.
#[unsafe(no_mangle)]
pub extern "C" fn output_length(which: usize) -> usize {
    BUFFERS.with_borrow(|buffers| buffers[which.min(3)].len())
}

fn record(text: &str, frames: u32) -> Result<(Vec<u8>, Vec<u8>), String> {
    let scene = SceneSource::text(text);
    let mut session = Session::open(&scene, &InMemory::default(), SessionOptions::default())
        .map_err(|all| all.iter().map(|problem| format!("{problem}\n")).collect::<String>())?;
    let log = MemoryLog::default();
    let failed = |e: &dyn std::error::Error| e.to_string();
    session.record("run.plog", Box::new(log.clone())).map_err(|e| failed(&e))?;
    session.run_until(frames);
    for _ in 0..frames {
        session.step().map_err(|e| failed(&e))?;
    }
    let reader = session.log().map_err(|e| failed(&e))?;
    session.finish_log().map_err(|e| failed(&e))?;
    let folder = MemoryOutput::default();
    let output = [ExportOutput { path: "run.usda".into(), conversion: Default::default() }];
    for done in export_all(&reader, &output, &ExportOptions::default(), &folder, &mut |_, _| {}) {
        done.map_err(|e| failed(&e))?;
    }
    let usd = folder.take().into_values().next().unwrap_or_default();
    Ok((log.bytes(), usd))
}
