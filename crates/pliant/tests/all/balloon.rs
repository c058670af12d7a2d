//! A balloon under its own weight keeps its volume if there is pressure inside, and not without.

use pliant::constraints::{Filling, Pressure};
use pliant::{Body, Builder, Clustering, DVec3, Points, Simulation, shapes::Shape};

/// An octahedron refined to a sphere, with its edges.
fn sphere() -> (Vec<DVec3>, Vec<[u32; 3]>, Vec<[u32; 2]>) {
    let mut points = vec![DVec3::X, DVec3::Y, DVec3::Z, -DVec3::X, -DVec3::Y, -DVec3::Z];
    let mut triangles =
        vec![[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]];
    for _ in 0..2 {
        let mut middles = std::collections::BTreeMap::new();
        let mut middle = |a: u32, b: u32| {
            *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                points.push((points[a as usize] + points[b as usize]).normalize());
                points.len() as u32 - 1
            })
        };
        let split = |&[a, b, c]: &[u32; 3]| {
            let [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
            [[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]
        };
        triangles = triangles.iter().flat_map(split).collect();
    }
    let mut edges: Vec<[u32; 2]> =
        triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).filter(|[a, b]| a < b).collect();
    edges.sort_unstable();
    (points, triangles, edges)
}

fn volume(simulation: &Simulation, triangles: &[[u32; 3]]) -> f64 {
    let x: Vec<DVec3> = simulation.positions(0).collect();
    triangles.iter().map(|t| x[t[0] as usize].dot(x[t[1] as usize].cross(x[t[2] as usize])) / 6.0).sum()
}

fn ratio_after(frames: usize, filling: Option<Filling>) -> f64 {
    let (points, triangles, edges) = sphere();
    let count = points.len();
    let shape = Shape { points, edges, measure: vec![12.0 / count as f64; count], ..Default::default() };
    let mut body = Body::new("balloon", shape).projective().at(0.0, 1.01, 0.0);
    body.clusters = Clustering::None;
    body.mass = 0.005;
    body.controls.edge_stiffness = 0.02;
    body.controls.damping = 3.0;
    let mut builder = Builder::new().ground().body(body);
    if let Some(filling) = filling {
        let surface = triangles.clone();
        builder = builder.constraint(move |rest: &Points| {
            Pressure::new(&surface, rest, filling).expect("a sphere is closed")
        });
    }
    let mut simulation = builder.build().expect("the balloon is sound");
    let before = volume(&simulation, &triangles);
    for _ in 0..frames {
        simulation.step().expect("every step is finite");
    }
    volume(&simulation, &triangles) / before
}

#[test]
fn pressure_carries_a_balloon() {
    let (empty, full) = (ratio_after(90, None), ratio_after(90, Some(Filling::Volume([1.0, 1.0]))));
    let gas = ratio_after(90, Some(Filling::Gas { outside: 1.0, give: 1.0 }));
    println!("empty {empty}, full {full}, gas {gas}");
    assert!(empty < 0.8, "without pressure it sags to {empty}");
    assert!(full > 0.9 && full < 1.02, "{full}");
    assert!(gas > empty && gas < 1.02, "{gas}");
}
