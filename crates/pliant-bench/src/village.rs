//! The scene of the paper's first figure, about: a house, a tree, grass and clothes on a line, all in one system.

use pliant::shapes::{self, Shape, SolidShape, TetStyle};
use pliant::{Body, Builder, Clustering, ConstraintKind, DVec3, Material, Simulation};

/// About 49,000 degrees of freedom and 43,000 constraints.
pub(crate) fn village(threads: usize) -> Result<Simulation, String> {
    let mut builder = Builder::new().substeps(1).body(house()?);
    for part in tree()? {
        builder = builder.body(part);
    }
    builder = builder.body(laundry()?).body(grass());
    builder.threads = threads;
    builder.build().map_err(|e| e.to_string())
}

/// Holds the particles below a height.
fn rooted(body: Body, height: f64) -> Body {
    let points = body.shape.points.iter().enumerate();
    let low: Vec<u32> = points.filter(|(_, p)| p.y < height).map(|(i, _)| i as u32).collect();
    body.pin(low)
}

fn solid(name: &str, shape: Shape, young: f64) -> Body {
    let wood = Material { young, density: 500.0, ..Material::NAMED[0].1 };
    let mut body = Body::new(name, shape).elastic(wood);
    body.constraints = vec![ConstraintKind::Strain.into()];
    body
}

fn house() -> Result<Body, String> {
    let size = DVec3::new(3.0, 2.5, 2.5);
    let shape = shapes::tet_box([14, 12, 10], size, TetStyle::Five).map_err(|e| e.to_string())?;
    Ok(rooted(solid("house", shape, 1e6), -1.24).at(-4.0, 1.25, -3.0))
}

fn tree() -> Result<Vec<Body>, String> {
    let tets =
        |s: SolidShape, spacing| s.build_tets(spacing).map(|(shape, _)| shape).map_err(|e| e.to_string());
    let trunk = tets(SolidShape::Cylinder { radius: 0.25, height: 2.4 }, 0.1)?;
    let mut parts = vec![rooted(solid("trunk", trunk, 2e6), -1.15).at(3.0, 1.2, -2.0)];
    for (k, at) in [DVec3::new(2.5, 2.9, -2.0), DVec3::new(3.6, 3.0, -1.8)].into_iter().enumerate() {
        let crown = tets(SolidShape::Ball { radius: 0.75 }, 0.15)?;
        let mut crown = rooted(solid(&format!("crown {k}"), crown, 2e5), -0.45);
        crown.position = at;
        parts.push(crown);
    }
    Ok(parts)
}

/// Six sheets along a line, sharing its particles: one body.
fn laundry() -> Result<Body, String> {
    let (cells, size, gap) = (30, 0.9, 0.3);
    let mut shape = Shape::default();
    let mut last = None;
    for k in 0..6 {
        let sheet = shapes::sheet(size, size, cells, cells).map_err(|e| e.to_string())?;
        let first = shape.points.len() as u32;
        let left = f64::from(k) * (size + gap);
        // Hung by its row of greatest z, which becomes the top.
        shape.points.extend(sheet.points.iter().map(|p| DVec3::new(p.x + left, p.z, 0.02 * p.x)));
        shape.measure.extend(&sheet.measure);
        shape.edges.extend(sheet.edges.iter().map(|e| e.map(|i| i + first)));
        let row = |end: bool| {
            let best = |i: &u32| {
                let p = sheet.points[*i as usize];
                if end { p.z + p.x } else { p.z - p.x }
            };
            (0..sheet.points.len() as u32).max_by(|a, b| best(a).total_cmp(&best(b))).unwrap_or(0) + first
        };
        // The line to the neighbour, of a few particles.
        if let Some(from) = last {
            let (a, b): (DVec3, DVec3) = (shape.points[from as usize], shape.points[row(false) as usize]);
            let mut before = from;
            for t in 1..6 {
                let i = shape.points.len() as u32;
                shape.points.push(a.lerp(b, f64::from(t) / 6.0));
                shape.measure.push(1e-3);
                shape.edges.push([before, i]);
                before = i;
            }
            shape.edges.push([before, row(false)]);
        }
        last = Some(row(true));
    }
    let top = shape.points.iter().map(|p| p.y).fold(f64::NEG_INFINITY, f64::max);
    let hooks: Vec<u32> = (0..shape.points.len() as u32)
        .filter(|&i| shape.points[i as usize].y > top - 1e-9 && i % 31 == 0)
        .collect();
    let mut body = Body::new("laundry", shape).projective().at(-2.0, 2.0, 1.0).mass(3.0).pin(hooks);
    body.clusters = Clustering::None;
    body.controls.edge_stiffness = 500.0;
    Ok(body)
}

/// Blades of seven particles, stiffened by springs over two.
fn grass() -> Body {
    let mut shape = Shape::default();
    let mut roots = Vec::new();
    for blade in 0..900_u32 {
        let first = shape.points.len() as u32;
        let (x, z) = (f64::from(blade % 30) * 0.3 - 4.5, f64::from(blade / 30) * 0.2 - 3.0);
        let lean = 0.02 * f64::from(blade * 37 % 11) - 0.1;
        for k in 0..7_u32 {
            let t = f64::from(k) / 6.0;
            shape.points.push(DVec3::new(x + lean * t * t, 0.3 * t, z + 0.5 * lean * t));
            shape.measure.push(1e-4);
            if k >= 1 {
                shape.edges.push([first + k - 1, first + k]);
            }
            if k >= 2 {
                shape.edges.push([first + k - 2, first + k]);
            }
        }
        roots.extend([first, first + 1]);
    }
    let mut body = Body::new("grass", shape).projective().mass(5.0).pin(roots);
    body.clusters = Clustering::None;
    body.controls.edge_stiffness = 5e4;
    body
}
