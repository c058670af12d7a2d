//! Point caches over a mesh: PC2 and MDD files that move the vertices of a mesh read before.

use crate::error::{GeometryError, read_bytes};
use crate::mdd::parse_mdd;
use crate::pc2::parse_pc2;
use crate::poly::{PolyMesh, VertexAnimation};
use std::path::Path;

/// PC2 files count in frames and do not say how long one is: Blender's default is taken.
const FRAMES_PER_SECOND: f64 = 24.0;

/// Reads how a PC2 or MDD file moves `mesh`, which must have as many vertices as it.
///
/// The times of a PC2 file are its frame numbers at 24 frames a second.
pub fn read_animation(path: &Path, mesh: &PolyMesh) -> Result<VertexAnimation, Vec<GeometryError>> {
    let bytes = read_bytes(path)?;
    animation(&bytes, mesh).map_err(|errors| errors.into_iter().map(|e| e.in_file(path)).collect())
}

fn animation(bytes: &[u8], mesh: &PolyMesh) -> Result<VertexAnimation, Vec<GeometryError>> {
    let animation = if bytes.starts_with(b"POINTCACHE2\0") {
        let cache = parse_pc2(bytes)?;
        let time = |k: usize| (cache.start + k as f64 * cache.rate) / FRAMES_PER_SECOND;
        VertexAnimation { times: (0..cache.samples.len()).map(time).collect(), samples: cache.samples }
    } else {
        parse_mdd(bytes)?
    };
    let (points, vertices) = (animation.samples.first().map_or(0, Vec::len), mesh.positions.len());
    if points != vertices {
        return Err(vec![GeometryError::new(
            format!("the cache moves {points} points, but the mesh has {vertices} vertices"),
            "export both from the same object, with the vertices untouched (in Blender: no modifiers that add any)",
        )]);
    }
    Ok(animation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    #[test]
    fn caches_move_meshes_of_as_many_vertices() {
        let mesh = PolyMesh { positions: vec![DVec3::ZERO; 2], ..PolyMesh::default() };
        let mut mdd = [1_i32.to_be_bytes(), 2_i32.to_be_bytes(), 0.25_f32.to_be_bytes()].concat();
        mdd.extend([1.0_f32.to_be_bytes(); 6].concat());
        let read = animation(&mdd, &mesh).unwrap();
        assert_eq!((read.times, read.samples), (vec![0.25], vec![vec![DVec3::ONE; 2]]));
        let one = PolyMesh { positions: vec![DVec3::ZERO], ..PolyMesh::default() };
        assert!(animation(&mdd, &one).unwrap_err()[0].message.contains("2 points, but the mesh has 1"));
        let mut pc2 = b"POINTCACHE2\0".to_vec();
        pc2.extend([1_i32, 1].map(i32::to_le_bytes).concat());
        pc2.extend([12.0_f32, 6.0].map(f32::to_le_bytes).concat());
        pc2.extend(2_i32.to_le_bytes());
        pc2.extend([0.5_f32.to_le_bytes(); 6].concat());
        assert_eq!(animation(&pc2, &one).unwrap().times, [0.5, 0.75]);
    }
}
