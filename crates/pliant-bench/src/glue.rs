//! Points bound to ten parents each: where they are, what forces on them are to their parents, and the derivative.

use crate::timing::best_of;
use crate::{Measurement, Run};
use pliant::{DMat3, DVec3, Isa};
use pliant_geometry::shapes::{self, TetStyle};
use pliant_geometry::{ParentFinder, ParentOptions, SplitMix64};
use pliant_math::procrustes::{Bindings, Cloud, Poses};
use std::hint::black_box;
use std::time::Duration;

const BINDINGS: usize = 1024;
const PARENTS: usize = 10;

/// Points bound on and about a cloth and a block, which have been bent and shaken.
struct Scene {
    bindings: Bindings,
    /// Cloud, numbers of the parents and place at rest of each.
    alone: Vec<(Cloud, Vec<u32>, DVec3)>,
    positions: [Vec<f64>; 3],
}

fn scene() -> Result<Scene, String> {
    let say = |e: pliant_geometry::GeometryError| e.to_string();
    let cloth = shapes::sheet(1.0, 1.0, 40, 40).map_err(say)?.points;
    let block = shapes::tet_box([12, 12, 12], DVec3::ONE, TetStyle::Five).map_err(say)?.points;
    let mut scene = Scene { bindings: Bindings::default(), alone: Vec::new(), positions: Default::default() };
    let mut rng = SplitMix64::new(1);
    for (points, about) in [(cloth, DVec3::new(1.0, 0.1, 1.0)), (block, DVec3::ONE)] {
        let first = scene.positions[0].len() as u32;
        let finder = ParentFinder::new(&points, None).map_err(say)?;
        for _ in 0..BINDINGS / 2 {
            let bound = (DVec3::new(rng.unit(), rng.unit(), rng.unit()) - 0.5) * about;
            let options = ParentOptions { count: Some(PARENTS), ..ParentOptions::default() };
            let found = finder.find(bound, &options).map_err(say)?;
            let rest: Vec<DVec3> = found.indices.iter().map(|&i| points[i as usize]).collect();
            let cloud = Cloud::new(&rest, &found.weights).map_err(|e| e.to_string())?;
            let parents: Vec<u32> = found.indices.iter().map(|i| first + i).collect();
            scene.bindings.push(&cloud, &parents, bound);
            scene.alone.push((cloud, parents, bound));
        }
        for p in points {
            let bent = DMat3::from_rotation_z(p.x) * p + DVec3::Y * (4.0 * p.z).sin() * 0.1;
            for axis in 0..3 {
                scene.positions[axis].push(bent[axis] + 0.004 * (rng.unit() - 0.5));
            }
        }
    }
    Ok(scene)
}

pub(crate) fn bindings(run: &mut Run<'_>) -> Result<(), String> {
    let scene = scene()?;
    let [x, y, z] = &scene.positions;
    let columns: [&[f64]; 3] = [x, y, z];
    let best = run.options.isa.unwrap_or(Isa::best());
    let mut isas = vec![best];
    if run.options.isa.is_none() {
        isas.extend(Isa::available().filter(|isa| *isa < best));
        isas[1..].reverse();
    }
    let bindings = &scene.bindings;
    let forces = vec![[[0.1; 8], [-9.81; 8], [0.2; 8]]; bindings.packs()];
    let mut shares = vec![[[0.0; 8]; 3]; bindings.slots()];
    let mut blocks = vec![[[[0.0; 8]; 3]; 3]; bindings.slots()];
    let alone = one_at_a_time(&scene);
    for isa in isas {
        let mut poses = Poses::new(bindings);
        for (name, formed) in [("glue/binding", false), ("glue/jacobian", true)] {
            if !run.wants(name) {
                continue;
            }
            let seconds = best_of(Duration::from_millis(500), || {
                bindings.fit(isa, columns, &mut poses);
                bindings.transfer(isa, &poses, &forces, &mut shares);
                if formed {
                    bindings.blocks(isa, &poses, &mut blocks);
                }
                black_box((&mut poses, &mut shares, &mut blocks));
            });
            run.report(Measurement::new(name, (1e6 * seconds / BINDINGS as f64, "µs"), isa.name()).noted(
                format!("{BINDINGS} bindings of {PARENTS} parents; one at a time {:.2} µs", 1e6 * alone),
            ));
        }
    }
    Ok(())
}

/// Seconds for one binding without lanes, without blocks.
fn one_at_a_time(scene: &Scene) -> f64 {
    let [x, y, z] = &scene.positions;
    let mut shares = [DVec3::ZERO; PARENTS];
    let seconds = best_of(Duration::from_millis(200), || {
        for (cloud, parents, bound) in &scene.alone {
            let at = |i: usize| {
                let k = parents[i] as usize;
                DVec3::new(x[k], y[k], z[k])
            };
            let fit = cloud.fit(at, DMat3::IDENTITY);
            let load = fit.load(*bound, DVec3::new(0.1, -9.81, 0.2));
            fit.shares(cloud, &load, &mut shares);
            black_box((fit.place(*bound), &mut shares));
        }
    });
    seconds / BINDINGS as f64
}
