//! Many runs without pictures: a table of how high a ball bounces, over stiffness and damping.
//!
//! ```text
//! cargo run --release -p pliant --example headless_batch > bounces.csv
//! ```
//!
//! Each run is a simulation of its own with one thread, and runs go side by side: that scales better than many threads for
//! one small body. Results do not depend on who takes which run: the same input has the same bits on any thread.

use pliant::{Body, Builder, shapes};
use std::error::Error;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const FREQUENCIES: [f64; 4] = [8.0, 15.0, 25.0, 40.0];
const DAMPINGS: [f64; 3] = [0.5, 5.0, 50.0];

/// What a run gives.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    frequency: f64,
    damping: f64,
    /// How far its centre rises again after it was lowest, m.
    bounce: f64,
    /// Largest relative deformation on the way.
    strain: f64,
}

/// One run. The shape is made once and cloned: filling it with particles is most of the work of building.
fn run(template: &Body, frequency: f64, damping: f64) -> Result<Row, Box<dyn Error + Send + Sync>> {
    let mut body = template.clone().frequency(frequency).at(0.0, 0.4, 0.0);
    body.controls.damping = damping;
    let mut simulation = Builder::new().ground().body(body).build()?;
    let (mut lowest, mut bounce, mut strain) = (f64::MAX, 0.0_f64, 0.0_f64);
    for _ in 0..60 {
        // A step that fails leaves the state as it was and says which body and what is likely wrong.
        simulation.step()?;
        let count = simulation.positions(0).len() as f64;
        let height = simulation.positions(0).map(|p| p.y).sum::<f64>() / count;
        (lowest, bounce) =
            if height < lowest { (height, 0.0) } else { (lowest, bounce.max(height - lowest)) };
        strain = strain.max(simulation.statistics().max_strain);
    }
    Ok(Row { frequency, damping, bounce, strain })
}

/// All runs, on so many threads, in the order of the table.
fn table(threads: usize) -> Result<Vec<Row>, Box<dyn Error + Send + Sync>> {
    let template = Body::new("ball", shapes::ball(0.15, 0.05)?);
    let jobs: Vec<_> = FREQUENCIES.iter().flat_map(|f| DAMPINGS.iter().map(move |d| (*f, *d))).collect();
    let (next, rows) = (AtomicUsize::new(0), Mutex::new(vec![None; jobs.len()]));
    let work = || -> Result<(), Box<dyn Error + Send + Sync>> {
        while let Some((k, (f, d))) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|k| Some((k, *jobs.get(k)?)))
        {
            let row = run(&template, f, d)?;
            rows.lock().map_err(|_| "another run failed")?[k] = Some(row);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|w| w.join().map_err(|_| "a run panicked")?)
    })?;
    Ok(rows.into_inner()?.into_iter().flatten().collect())
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    println!("frequency_hz,damping_per_s,bounce_m,max_strain");
    for Row { frequency, damping, bounce, strain } in table(std::thread::available_parallelism()?.get())? {
        println!("{frequency},{damping},{bounce:.4},{strain:.4}");
    }
    Ok(())
}

#[test]
fn the_table_is_whole_and_the_same_on_any_number_of_threads() {
    let rows = table(3).expect("all runs end");
    assert_eq!(rows.len(), FREQUENCIES.len() * DAMPINGS.len());
    assert_eq!(rows, table(1).expect("all runs end"));
    for row in rows.chunks(DAMPINGS.len()) {
        assert!(row[0].bounce > row[2].bounce, "damping takes height: {row:?}");
    }
    assert!(rows[0].strain > rows[9].strain, "soft bodies deform more: {rows:?}");
}
