//! A run as a thing of its own: build from a scene, step, look, edit, undo, record, go on, export.
//!
//! The command line, a window, Python and Blender all stand on a [`Session`]. It reads no file system, no clock and starts no
//! threads but those it is given: files come through a [`Resolver`], logs and exports go to anything that takes bytes, time comes
//! through a hook. So it runs in a browser too.
//!
//! ```
//! use pliant_session::{Control, Disk, MemoryLog, SceneSource, Session, SessionOptions};
//!
//! let scene = "[[plane]]\n[[body]]\nname = \"ball\"\nshape = \"ball\"\nparticles = 60\nposition = [0, 0.5, 0]\n";
//! let options = SessionOptions::default().threads(2);
//! let mut session = Session::open(&SceneSource::text(scene), &Disk, options).unwrap();
//!
//! // Every frame goes to the log from here on.
//! session.record("ball.plog", Box::new(MemoryLog::default()))?;
//! for _ in 0..10 {
//!     session.step()?;
//! }
//! // Edits act from the present frame on; what came after it is forgotten, also in the log.
//! let ball = session.simulation().model().body("ball").unwrap();
//! session.go_to(4)?;
//! session.set(Control::Frequency(ball), 8.0)?;
//! session.step()?;
//! assert_eq!(session.log()?.frame_count(), 6);
//! session.undo()?;
//! assert_eq!(session.frame(), 4);
//! # Ok::<(), pliant_session::SessionError>(())
//! ```

mod colliders;
mod convergence;
mod coupling_watch;
mod error;
mod history;
mod log;
mod recorder;
mod recording;
mod session;
mod source;
mod statistics;
mod surface;
mod torn_mesh;

pub use error::SessionError;
pub use log::ResumedLog;
pub use pliant::{BodyId, Control, Edit, Edited, Isa, Simulation, Value};
pub use pliant_cache::{LogMedium, LogReader, MemoryLog, WriteOnlyLog};
pub use pliant_scene::{DEMOS, Diagnostic, Disk, InMemory, QuickStart, Resolver, Scene, SceneSettings};
pub use session::{FrameReport, Session, SessionOptions, SharedClock, program};
pub use source::SceneSource;
pub use statistics::{FrameStatistics, KeyframedValue, SolverConvergence};
pub use surface::BodySurface;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
