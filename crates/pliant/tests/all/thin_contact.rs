//! Sheets touch themselves and each other, and never cross.

use crate::common::crossing::Surface;
use pliant::{Body, Builder, DVec3, Material, Simulation, shapes};

fn cotton() -> Material {
    Material::named("cotton").unwrap()
}

/// A sheet of `n` by `n` cells that stands upright, its lower edge at a height.
fn upright(name: &str, n: usize, size: f64, at: DVec3) -> Body {
    let sheet = shapes::sheet(size, size, n, n).unwrap();
    let mut body = Body::new(name, sheet).elastic(cotton());
    body.rotation = pliant::DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2 - 0.05)
        * pliant::DQuat::from_rotation_z(0.1);
    body.at(at.x, at.y + 0.5 * size, at.z)
}

/// The triangles of all sheets of a simulation, and their particles one after the other.
fn sheets(s: &Simulation) -> (Surface, impl Fn(&Simulation) -> Vec<DVec3> + use<>) {
    let mut triangles = Vec::new();
    let mut first = 0;
    for body in s.model().bodies() {
        let faces = &body.parts.topology().faces;
        triangles.extend(faces.iter().map(|t| t.map(|i| i + first)));
        first += body.parts.particle_count() as u32;
    }
    let count = s.model().bodies().len();
    let positions =
        move |s: &Simulation| (0..count).flat_map(|b| s.positions(b).collect::<Vec<_>>()).collect();
    (Surface::new(triangles), positions)
}

/// Runs and counts the crossings of every frame; tells also the longest edge in terms of its rest length, and what was held back.
fn crossings(s: &mut Simulation, frames: usize) -> (usize, usize) {
    let (surface, positions) = sheets(s);
    let (mut count, mut held) = (0, 0);
    for _ in 0..frames {
        let report = s.step().unwrap();
        held += report.held_back;
        count += surface.crossings(&positions(s));
    }
    (count, held)
}

#[test]
fn a_falling_sheet_crumples_without_crossing_itself() {
    let body = upright("sheet", 20, 0.5, DVec3::new(0.0, 0.02, 0.0));
    let mut s = Builder::new().ground().body_contact().body(body).build().unwrap();
    let (count, held) = crossings(&mut s, 120);
    println!("{count} crossings, {held} held back, energy {:.2e}", s.statistics().kinetic);
    assert_eq!(count, 0);
}
