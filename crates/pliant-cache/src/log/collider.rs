//! Colliders that are no planes, for pictures: their meshes in the header, and where they are in each frame.

use super::channel::{LogChannel, find, need, parse, put};
use glam::{DAffine3, DVec3};
use pliant_geometry::TriMesh;
use std::sync::Arc;

/// Something bodies collide with, as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct LogCollider {
    /// The engine's number of the collider.
    pub id: u64,
    /// Linear red, green, blue in 0..=1.
    pub color: [f32; 3],
    /// Its surface in its own coordinates.
    pub mesh: Arc<TriMesh>,
}

/// Where a collider is in a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct ColliderPlace {
    /// The engine's number of the collider.
    pub id: u64,
    /// Where its own coordinates are.
    pub at: DAffine3,
    /// Where its vertices are in these, if it has changed its shape; else empty.
    pub vertices: Vec<DVec3>,
}

impl LogCollider {
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        let mut own = Vec::new();
        put(&mut own, "id", &[&[self.id][..]]);
        put(&mut own, "color", &[&self.color[..]]);
        let column = |k: usize| self.mesh.positions.iter().map(|p| p[k]).collect::<Vec<f64>>();
        put(&mut own, "positions", &[&column(0)[..], &column(1), &column(2)]);
        let corner = |k: usize| self.mesh.triangles.iter().map(|t| t[k]).collect::<Vec<u32>>();
        put(&mut own, "triangles", &[&corner(0)[..], &corner(1), &corner(2)]);
        put(out, "solid", &[&own[..]]);
    }

    pub(super) fn get(channel: &LogChannel<'_>) -> Result<LogCollider, String> {
        let bytes = channel.values::<u8>()?;
        let channels = parse(&bytes)?;
        let [x, y, z] = need(&channels, "positions")?.planes::<f64, 3>()?;
        let [a, b, c] = need(&channels, "triangles")?.planes::<u32, 3>()?;
        let mesh = TriMesh {
            positions: (0..x.len()).map(|i| DVec3::new(x[i], y[i], z[i])).collect(),
            triangles: (0..a.len()).map(|i| [a[i], b[i], c[i]]).collect(),
        };
        let color = need(&channels, "color")?.values::<f32>()?;
        let color = color.try_into().map_err(|_| "the colour of a collider has not three parts")?;
        let collider = LogCollider { id: need(&channels, "id")?.value()?, color, mesh: Arc::new(mesh) };
        collider.check().map(|()| collider)
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let count = self.mesh.positions.len();
        let sound = self.mesh.positions.iter().all(|p| p.is_finite())
            && self.mesh.triangles.iter().flatten().all(|i| (*i as usize) < count)
            && self.color.iter().all(|c| c.is_finite());
        if sound { Ok(()) } else { Err(format!("the mesh of collider {} is not sound", self.id)) }
    }
}

impl ColliderPlace {
    /// All of a frame as channels.
    pub(super) fn put(places: &[ColliderPlace], out: &mut Vec<u8>) {
        let ids: Vec<u64> = places.iter().map(|p| p.id).collect();
        put(out, "solid_ids", &[&ids[..]]);
        let column = |k: usize| places.iter().map(|p| p.at.to_cols_array()[k]).collect::<Vec<f64>>();
        let columns: [Vec<f64>; 12] = std::array::from_fn(column);
        put(out, "solid_places", &columns.each_ref().map(Vec::as_slice));
        let counts: Vec<u32> = places.iter().map(|p| p.vertices.len() as u32).collect();
        put(out, "solid_counts", &[&counts[..]]);
        let vertices = || places.iter().flat_map(|p| &p.vertices);
        let column = |k: usize| vertices().map(|v| v[k] as f32).collect::<Vec<f32>>();
        put(out, "solid_vertices", &[&column(0)[..], &column(1), &column(2)]);
    }

    /// All of a frame; none if it tells of none.
    pub(super) fn get(channels: &[LogChannel<'_>]) -> Result<Vec<ColliderPlace>, String> {
        let Some(ids) = find(channels, "solid_ids") else { return Ok(Vec::new()) };
        let ids = ids.values::<u64>()?;
        let at = need(channels, "solid_places")?.planes::<f64, 12>()?;
        let counts = need(channels, "solid_counts")?.values::<u32>()?;
        let [x, y, z] = need(channels, "solid_vertices")?.planes::<f32, 3>()?;
        let total: u64 = counts.iter().map(|c| u64::from(*c)).sum();
        if at[0].len() != ids.len() || counts.len() != ids.len() || total != x.len() as u64 {
            return Err("the colliders do not add up".into());
        }
        let mut first = 0;
        let mut places = Vec::with_capacity(ids.len());
        for (k, &id) in ids.iter().enumerate() {
            let end = first + counts[k] as usize;
            let vertex = |i: usize| DVec3::new(x[i].into(), y[i].into(), z[i].into());
            let place = ColliderPlace {
                id,
                at: DAffine3::from_cols_array(&std::array::from_fn(|j| at[j][k])),
                vertices: (first..end).map(vertex).collect(),
            };
            if !(place.at.is_finite() && place.vertices.iter().all(|v| v.is_finite())) {
                return Err(format!("collider {id} is not finite"));
            }
            places.push(place);
            first = end;
        }
        Ok(places)
    }

    /// Where the vertices of its mesh are in the world.
    pub fn shown(&self, mesh: &TriMesh) -> Vec<DVec3> {
        let own = if self.vertices.len() == mesh.positions.len() { &self.vertices } else { &mesh.positions };
        own.iter().map(|p| self.at.transform_point3(*p)).collect()
    }

    /// Part of the way to where it is in another frame, if it is there and as many vertices have moved.
    pub(crate) fn toward(&mut self, other: &[ColliderPlace], part: f64) {
        let Some(next) = other.iter().find(|o| o.id == self.id) else { return };
        let mix = |a: f64, b: f64| a + part * (b - a);
        let (a, b) = (self.at.to_cols_array(), next.at.to_cols_array());
        self.at = DAffine3::from_cols_array(&std::array::from_fn(|k| mix(a[k], b[k])));
        if next.vertices.len() == self.vertices.len() {
            self.vertices.iter_mut().zip(&next.vertices).for_each(|(v, w)| *v = v.lerp(*w, part));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_what_does_not_add_up_is_refused() {
        let mesh = TriMesh { positions: vec![DVec3::ZERO, DVec3::X, DVec3::Y], triangles: vec![[0, 1, 2]] };
        let collider = LogCollider { id: 4, color: [0.1, 0.2, 0.3], mesh: Arc::new(mesh.clone()) };
        let mut out = Vec::new();
        collider.put(&mut out);
        let still = ColliderPlace { id: 4, at: DAffine3::from_translation(DVec3::Z), vertices: Vec::new() };
        let bent = ColliderPlace { id: 9, at: DAffine3::IDENTITY, vertices: vec![DVec3::ONE; 3] };
        ColliderPlace::put(&[still.clone(), bent.clone()], &mut out);
        let channels = parse(&out).expect("channels");
        assert_eq!(LogCollider::get(need(&channels, "solid").expect("it")).expect("sound"), collider);
        assert_eq!(ColliderPlace::get(&channels).expect("sound"), [still.clone(), bent.clone()]);
        assert_eq!(still.shown(&mesh)[1], DVec3::new(1.0, 0.0, 1.0));
        assert_eq!(bent.shown(&mesh)[0], DVec3::ONE);
        let mut bad = Vec::new();
        put(&mut bad, "solid_ids", &[&[1_u64][..]]);
        put(&mut bad, "solid_places", &[&[][..] as &[f64]; 12]);
        put(&mut bad, "solid_counts", &[&[u32::MAX][..]]);
        put(&mut bad, "solid_vertices", &[&[][..] as &[f32]; 3]);
        assert!(ColliderPlace::get(&parse(&bad).expect("channels")).is_err());
        let wrong =
            LogCollider { mesh: Arc::new(TriMesh { triangles: vec![[0, 1, 7]], ..mesh }), ..collider };
        let mut bad = Vec::new();
        wrong.put(&mut bad);
        assert!(LogCollider::get(need(&parse(&bad).expect("channels"), "solid").expect("it")).is_err());
    }
}
