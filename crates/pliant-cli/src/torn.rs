//! What the log is told of a body that was torn: its mesh with everything on it, and which vertex became which.
//!
//! The surface a scene shows may be another than the engine knows, so it is torn here by what the engine says of it: the
//! triangles of the whole body keep their order and corners, so texture coordinates and materials stay theirs; triangles
//! that a tear has laid open come after them.

use pliant::DVec3;
use pliant_cache::{LogBody, Origin, Simulated};
use pliant_geometry::{Coat, Polygons, Skin, TriMesh};
use pliant_scene::BuiltBody;
use std::sync::Arc;

/// What the engine tells of a body it has torn.
#[derive(Clone, Debug, Default)]
pub struct Torn {
    /// For each particle the one it was before the last step.
    pub particles: Vec<u32>,
    /// The particles of the elements of the shape (triangles or tetrahedra), element after element.
    pub elements: Vec<u32>,
    /// Triangles of the surface that is shown: those of the whole body in their order, then those that were laid open.
    pub triangles: Vec<[u32; 3]>,
    /// How its vertices follow the particles; `None` if they are the particles.
    pub skin: Option<Skin>,
}

impl Torn {
    /// The next version of a body: `whole` is what the scene shows of it untorn, `old` its last version, `rest` where its
    /// particles are at rest; the rest of it is that of `next`.
    pub fn version_of(self, whole: &BuiltBody, old: &LogBody, rest: &[DVec3], next: LogBody) -> LogBody {
        let skin = self.skin.unwrap_or_else(|| Skin::identity(rest.len()));
        let [x, y, z] = [0, 1, 2].map(|k| rest.iter().map(|p| p[k]).collect::<Vec<f64>>());
        let mut positions = Vec::new();
        skin.apply([&x, &y, &z], &mut positions);
        let kept = whole.surface.triangles.len().min(self.triangles.len());
        let of_whole = origins(&whole.surface.triangles, &self.triangles[..kept], &positions, |v, p| {
            nearest(&whole.surface.positions, |_| true, p).unwrap_or(v)
        });
        // A vertex is at rest where it was in the whole body, to the bit.
        for (v, p) in positions.iter_mut().enumerate() {
            if let Some(at) =
                whole.surface.positions.get(of_whole[v] as usize).filter(|q| q.distance(*p) < 1e-6)
            {
                *p = *at;
            }
        }
        let (now, before) = (skin.strongest(), old.skin.strongest());
        let same = |v: u32, u: usize| {
            let was = now[v as usize].and_then(|i| self.particles.get(i as usize).copied());
            was.is_some() && before[u] == was
        };
        let old_triangles = &old.mesh.triangles[..kept.min(old.mesh.triangles.len())];
        let vertices = origins(old_triangles, &self.triangles[..kept], &positions, |v, p| {
            let there = &old.mesh.positions;
            nearest(there, |u| same(v, u), p).or_else(|| nearest(there, |_| true, p)).unwrap_or(0)
        });
        let elements = |width: usize| self.elements.chunks_exact(width);
        let simulated = Simulated {
            tetrahedra: match old.simulated.tetrahedra.is_empty() {
                true => Vec::new(),
                false => elements(4).map(|e| [e[0], e[1], e[2], e[3]]).collect(),
            },
            triangles: match old.simulated.triangles.is_empty() {
                true => Vec::new(),
                false => elements(3).map(|e| [e[0], e[1], e[2]]).collect(),
            },
            ..Simulated::clone(&next.simulated)
        };
        LogBody {
            coat: torn_coat(whole, &self.triangles, &of_whole).into(),
            cluster: match old.cluster.is_empty() {
                true => Arc::default(),
                false => Arc::new(self.particles.iter().map(|&i| old.cluster[i as usize]).collect()),
            },
            mesh: TriMesh { positions, triangles: self.triangles }.into(),
            skin: skin.into(),
            simulated: simulated.into(),
            origin: Some(Arc::new(Origin { particles: self.particles, vertices })),
            ..next
        }
    }
}

/// For each vertex the one it was: that of the same corner of the same triangle, or what `other` says of one in none of them.
fn origins(
    before: &[[u32; 3]],
    now: &[[u32; 3]],
    positions: &[DVec3],
    other: impl Fn(u32, DVec3) -> u32,
) -> Vec<u32> {
    let mut of: Vec<Option<u32>> = vec![None; positions.len()];
    for (old, new) in before.iter().flatten().zip(now.iter().flatten()) {
        of[*new as usize] = Some(*old);
    }
    of.iter().enumerate().map(|(v, of)| of.unwrap_or_else(|| other(v as u32, positions[v]))).collect()
}

/// The nearest of those points that are wanted; of equally near ones the first.
fn nearest(points: &[DVec3], wanted: impl Fn(usize) -> bool, to: DVec3) -> Option<u32> {
    let near = points.iter().enumerate().filter(|(k, _)| wanted(*k));
    let near = near.min_by(|a, b| a.1.distance_squared(to).total_cmp(&b.1.distance_squared(to)));
    near.map(|(k, _)| k as u32)
}

/// The coat of a torn mesh. Polygons stay polygons as long as no tear goes through one and none is laid open.
fn torn_coat(whole: &BuiltBody, triangles: &[[u32; 3]], of_whole: &[u32]) -> Coat {
    let coat = &whole.coat;
    if coat.is_empty() {
        return Coat::default();
    }
    let colors = match coat.colors.is_empty() {
        true => Vec::new(),
        false => of_whole.iter().map(|&v| coat.colors[v as usize]).collect(),
    };
    let (cut, faces) = coat.faces.corner_triangles_with_faces(&whole.surface.positions);
    if cut.len() > triangles.len() {
        return Coat { faces: Polygons::of_triangles(triangles), colors, ..Coat::default() };
    }
    // The vertex of each corner now, as far as all triangles of its face agree.
    let mut corners: Vec<Option<u32>> = vec![None; coat.faces.corners().len()];
    let mut apart = cut.len() < triangles.len();
    for (c, v) in cut.iter().flatten().zip(triangles.iter().flatten()) {
        apart |= *corners[*c as usize].get_or_insert(*v) != *v;
    }
    if !apart {
        // A corner in no triangle (of a face without size) keeps its vertex.
        let old = coat.faces.corners();
        let corners = corners.iter().zip(old).map(|(new, old)| new.unwrap_or(*old)).collect();
        let sizes: Vec<u32> = coat.faces.sizes().collect();
        let faces = Polygons::from_sizes(&sizes, corners);
        return Coat {
            faces: faces.unwrap_or_else(|| Polygons::of_triangles(triangles)),
            colors,
            ..coat.clone()
        };
    }
    // What was laid open has what is at some corner of the vertex it came from.
    let mut corner_of: Vec<u32> = vec![0; whole.surface.positions.len()];
    (0..).zip(coat.faces.corners()).for_each(|(c, &v)| corner_of[v as usize] = c);
    let opened = triangles[cut.len()..].iter().flatten().map(|&v| corner_of[of_whole[v as usize] as usize]);
    let from: Vec<u32> = cut.iter().flatten().copied().chain(opened).collect();
    let of = |layer: &[u32]| match layer.is_empty() {
        true => Vec::new(),
        false => from.iter().map(|&c| layer[c as usize]).collect(),
    };
    let mut torn = Coat { faces: Polygons::of_triangles(triangles), colors, ..coat.clone() };
    torn.uvs.corners = of(&coat.uvs.corners);
    torn.normals.corners = of(&coat.normals.corners);
    if !coat.face_materials.is_empty() {
        torn.face_materials = faces.iter().map(|&f| coat.face_materials[f as usize]).collect();
        torn.face_materials.resize(triangles.len(), coat.face_materials[0]);
    }
    torn
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use pliant_cache::render::Look as Render;
    use pliant_geometry::Layer;
    use pliant_scene::{BuiltElements, Look};

    /// Two squares side by side, each of two triangles: vertices 0 1 2 below, 3 4 5 above.
    fn squares() -> (BuiltBody, LogBody) {
        let positions: Vec<DVec3> = (0..6).map(|i| DVec3::new((i % 3) as f64, (i / 3) as f64, 0.0)).collect();
        let mut faces = Polygons::default();
        faces.push(&[0, 1, 4, 3]);
        faces.push(&[1, 2, 5, 4]);
        let coat = Coat {
            uvs: Layer { values: vec![[0.0, 0.0], [1.0, 0.0]], corners: vec![0, 1, 1, 0, 0, 1, 1, 0] },
            colors: (0..6).map(|v| [v as f32 / 6.0, 0.0, 0.0, 1.0]).collect(),
            face_materials: vec![1, 0],
            materials: vec![Default::default(); 2],
            faces,
            ..Coat::default()
        };
        let surface = TriMesh { triangles: coat.triangles(&positions), positions };
        let whole = BuiltBody {
            name: "squares".into(),
            color: [1.0; 3],
            surface: surface.clone(),
            coat: coat.clone(),
            skin: Skin::identity(6),
            elements: BuiltElements::default(),
            look: Look::Cloth,
        };
        let simulated = Simulated { triangles: surface.triangles.clone(), ..Simulated::default() };
        let body = LogBody {
            id: 0,
            name: "squares".into(),
            version: 0,
            origin: None,
            color: [1.0; 3],
            particles: 0..6,
            mesh: surface.into(),
            coat: coat.into(),
            skin: Skin::identity(6).into(),
            cluster: Arc::default(),
            simulated: simulated.into(),
            look: Render::Cloth,
        };
        (whole, body)
    }

    fn next(old: &LogBody, particles: u32) -> LogBody {
        LogBody { version: old.version + 1, particles: 0..particles, ..old.clone() }
    }

    #[test]
    fn polygons_stay_where_the_tear_goes_between_them() {
        let (whole, old) = squares();
        // The right square gets its own copies of 1 and 4.
        let apart = |v: &u32| match v {
            1 => 6,
            4 => 7,
            v => *v,
        };
        let mut triangles = whole.surface.triangles.clone();
        triangles[2..].iter_mut().flatten().for_each(|v| *v = apart(v));
        let elements = triangles.as_flattened().to_vec();
        let particles = vec![0, 1, 2, 3, 4, 5, 1, 4];
        let torn = Torn { particles: particles.clone(), elements, triangles: triangles.clone(), skin: None };
        let rest: Vec<DVec3> = particles.iter().map(|&i| whole.surface.positions[i as usize]).collect();
        let new = torn.version_of(&whole, &old, &rest, next(&old, 8));
        assert_eq!(new.origin.as_ref().unwrap().vertices, particles);
        assert_eq!(
            new.coat.faces.iter().map(<[u32]>::to_vec).collect::<Vec<_>>(),
            [[0, 1, 4, 3], [6, 2, 5, 7]]
        );
        assert_eq!((&new.coat.uvs, &new.coat.face_materials), (&old.coat.uvs, &old.coat.face_materials));
        assert_eq!(new.coat.colors[7], old.coat.colors[4]);
        assert_eq!(new.coat.check(8), Ok(()));
        assert_eq!(new.simulated.triangles, triangles);
        // Torn once more: vertices come from those of the last version, not of the whole body.
        let mut again = triangles.clone();
        let shared = *again[3].iter().find(|v| again[2].contains(v)).unwrap();
        again[3].iter_mut().filter(|v| **v == shared).for_each(|v| *v = 8);
        let particles = vec![0, 1, 2, 3, 4, 5, 6, 7, shared];
        let torn =
            Torn { particles, triangles: again.clone(), elements: again.as_flattened().to_vec(), skin: None };
        let rest: Vec<DVec3> = rest.iter().copied().chain([rest[shared as usize]]).collect();
        let third = torn.version_of(&whole, &new, &rest, next(&new, 9));
        assert_eq!(third.origin.as_ref().unwrap().vertices, [0, 1, 2, 3, 4, 5, 6, 7, shared]);
        // Through the right square: it is triangles now, each corner with its own coordinates still.
        assert_eq!(third.coat.faces.len(), 4);
        assert_eq!((third.coat.check(9), third.coat.face_materials.len()), (Ok(()), 4));
        let uv = |coat: &Coat, c: usize| coat.uvs.values[coat.uvs.corners[c] as usize];
        for (c, &v) in third.coat.faces.corners().iter().enumerate() {
            let x = third.mesh.positions[v as usize].x;
            let right = c >= 6;
            assert_eq!(uv(&third.coat, c)[0], (x - if right { 1.0 } else { 0.0 }) as f32, "corner {c}");
        }
    }

    #[test]
    fn what_is_laid_open_comes_from_the_nearest_that_followed_the_same() {
        let (whole, old) = squares();
        let mut triangles = whole.surface.triangles.clone();
        triangles[2..].iter_mut().flatten().for_each(|v| *v = if *v == 1 { 6 } else { *v });
        // A face of new vertices, one of which follows the copy of particle 1.
        triangles.push([7, 8, 9]);
        let particles = vec![0, 1, 2, 3, 4, 5, 1];
        let skin = Skin {
            offsets: (0..=10).collect(),
            particles: vec![0, 1, 2, 3, 4, 5, 6, 6, 4, 0],
            weights: vec![1.0; 10],
            ..Skin::default()
        };
        let rest: Vec<DVec3> = particles.iter().map(|&i| whole.surface.positions[i as usize]).collect();
        let torn = Torn { particles, elements: Vec::new(), triangles, skin: Some(skin) };
        let new = torn.version_of(&whole, &old, &rest, next(&old, 7));
        assert_eq!(new.origin.as_ref().unwrap().vertices, [0, 1, 2, 3, 4, 5, 1, 1, 4, 0]);
        assert_eq!((new.coat.check(10), new.coat.faces.len()), (Ok(()), 5));
        assert_eq!(new.skin.check(10, 7), Ok(()));
    }
}
