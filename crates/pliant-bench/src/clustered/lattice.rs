//! From a thousand particles to a million: cubes of a lattice, all by one recipe.
//!
//! Clusters in file order with a radius of 4 spacings are as large as the paper's bunny has them (239
//! members on average in the cube of a million, the bunny's have 262) and overlap as much: 3.57 memberships
//! a particle, 3,570,517 in 14,915 clusters. Smaller cubes have more rim: 3.00 memberships at 10³
//! particles, 3.33 at 22³, 3.49 at 46³. Times are given per membership.

use super::{body, build, frame, lattice_shape, memberships, note, pass};
use crate::timing::Window;
use crate::{FrameTime, Measurement, Options, Run};
use pliant::model::{BodyModel, ClusterBasis, ClusterRest, Membership, Model};
use pliant::{Builder, Clustering, DMat3, DVec3, Simulation, Team};

const RADIUS: f64 = 4.0;
/// Particles along an edge, by name; the million comes last.
pub(crate) const SIZES: [(&str, u32); 4] = [
    ("clustered/scaling/1k", 10),
    ("clustered/scaling/10k", 22),
    ("clustered/scaling/100k", 46),
    ("clustered/scaling/1m", MILLION),
];
const MILLION: u32 = 100;
const MILLION_NAMES: [&str; 3] =
    ["clustered/million/pass", "clustered/million/frame", "clustered/million/memory"];

fn cube(edge: u32, threads: usize, options: &Options) -> Result<Simulation, String> {
    let body = body(lattice_shape([edge; 3], 1.0), Clustering::Radius(RADIUS));
    build(Builder::new().body(body), threads, options)
}

pub(crate) fn lattice(run: &mut Run<'_>) -> Result<(), String> {
    let (options, limits) = (run.options, run.limits);
    // A thread is never too many, but a second one on a single processor measures the scheduler.
    let most = std::thread::available_parallelism().map_or(1, |n| n.get());
    let first = options.threads.max(1);
    let mut largest = None;
    // The largest comes first: smaller ones would leave memory behind that it would then grow into unseen.
    if run.wants("clustered/scaling/1m") || MILLION_NAMES.iter().any(|n| run.wants(n)) {
        let before = resident_bytes();
        let mut simulation = cube(MILLION, first, options)?;
        // Before the timing, which keeps a copy of the state; after steps, which touch all there is.
        for _ in 0..2 {
            simulation.step().map_err(|e| e.to_string())?;
        }
        let resident = resident_bytes().zip(before).map(|(after, before)| after.saturating_sub(before));
        let seconds = Window::LONG.median_frame(&mut simulation)?;
        run.report(pass(MILLION_NAMES[0], &simulation, seconds, first, limits));
        let mut frames = vec![frame(MILLION_NAMES[1], &simulation, seconds, first, limits)];
        largest = Some((pass("clustered/scaling/1m", &simulation, seconds, first, limits), {
            let particles = simulation.model().particle_count();
            FrameTime { particles, memberships: memberships(&simulation) as usize, seconds }
        }));
        let memory = resident.map(|bytes| memory(&simulation, bytes, first));
        if options.threads == 0 && most > 1 && MILLION_NAMES[..2].iter().any(|n| run.wants(n)) {
            let mut two = with_threads(simulation, 2, options)?;
            let seconds = Window::LONG.median_frame(&mut two)?;
            run.report(pass(MILLION_NAMES[0], &two, seconds, 2, limits));
            frames.push(frame(MILLION_NAMES[1], &two, seconds, 2, limits));
        }
        frames.into_iter().chain(memory).for_each(|m| run.report(m));
    }
    for (name, edge) in SIZES.into_iter().filter(|s| s.1 != MILLION) {
        if !run.wants(name) {
            continue;
        }
        let mut simulation = cube(edge, first, options)?;
        let seconds = Window::LONG.median_frame(&mut simulation)?;
        run.report(pass(name, &simulation, seconds, first, limits));
        let particles = simulation.model().particle_count();
        let memberships = memberships(&simulation) as usize;
        run.frames.push(FrameTime { particles, memberships, seconds });
    }
    if let Some((measurement, time)) = largest.filter(|l| run.wants(l.0.name)) {
        run.report(measurement);
        run.frames.push(time);
    }
    Ok(())
}

/// The same simulation with other helpers; what it was made of is not made again.
fn with_threads(old: Simulation, threads: usize, options: &Options) -> Result<Simulation, String> {
    let (model, state, controls) = (old.model().clone(), old.state().clone(), old.controls().clone());
    drop(old);
    let team = Team::new(threads).map_err(|e| e.to_string())?;
    let mut simulation = Simulation::new(model, state, controls, team).map_err(|e| e.to_string())?;
    if let Some(isa) = options.isa {
        simulation.set_isa(isa);
    }
    Ok(simulation)
}

fn memory(simulation: &Simulation, bytes: usize, threads: usize) -> Measurement {
    let arrays = array_bytes(simulation.model());
    let mega = |bytes: usize| bytes as f64 / 1e6;
    Measurement::new(MILLION_NAMES[2], (bytes as f64 / arrays as f64, "ratio"), simulation.isa().name())
        .on(threads)
        .noted(format!("{:.0} MB for {:.0} MB of arrays; {}", mega(bytes), mega(arrays), note(simulation)))
}

/// Bytes of the arrays that the scene consists of: positions and velocities, now and at the step's
/// beginning (a failed step goes back there), rest positions, masses, volumes; memberships in both
/// directions with their shares; clusters at rest, their bases, rotations and permanent stretch, now and
/// before. What solvers make of these for speed does not count: it is what the ratio is about.
fn array_bytes(model: &Model) -> usize {
    model.bodies().iter().map(|b| body_bytes(&b.parts)).sum()
}

fn body_bytes(model: &BodyModel) -> usize {
    let (topology, rest) = (model.topology(), model.rest());
    let particle = 5 * size_of::<DVec3>() + 2 * size_of::<f64>() + size_of::<u32>();
    let membership = size_of::<u32>() + size_of::<Membership>() + size_of::<f64>();
    let cluster = size_of::<u32>() + size_of::<ClusterRest>() + 4 * size_of::<DMat3>();
    model.particle_count() * particle
        + topology.clusters.members.len() * membership
        + topology.clusters.len() * cluster
        + rest.bases.len() * size_of::<ClusterBasis>()
}

/// Memory of this process that no file backs, where the system tells. Freed blocks that the allocator keeps
/// count too, so what is computed from it errs on the large side.
fn resident_bytes() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("RssAnon:"))?;
    let kilobytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(1024 * kilobytes)
}
