//! The skin of a render mesh as channels of the log; parts that a skin lacks are absent.

use super::channel::{LogChannel, find, need, put};
use glam::{DMat3, DVec3};
use pliant_geometry::{Handles, NormalOffsets, RigidFrame, RigidOffsets, Skin, SparseRows};

/// Appends the channels of a skin.
pub(super) fn encode(out: &mut Vec<u8>, skin: &Skin) {
    put(out, "skin_offsets", &[&skin.offsets[..]]);
    put(out, "skin_particles", &[&skin.particles[..]]);
    put(out, "skin_weights", &[&skin.weights[..]]);
    if let Some(through) = &skin.handles {
        put_rows(out, "skin_handle", &through.handles);
        put_rows(out, "skin_by_handle", &through.vertices);
    }
    if let Some(normal_offsets) = &skin.normal_offsets {
        let corner = |k: usize| normal_offsets.triangles.iter().map(|t| t[k]).collect::<Vec<u32>>();
        let [a, b, c] = [corner(0), corner(1), corner(2)];
        put(out, "skin_cloth", &[&a[..], &b, &c]);
        put_rows(out, "skin_by_normal", &normal_offsets.vertices);
    }
    if let Some(rigid) = &skin.rigid_offsets {
        let first: Vec<u32> = rigid.frames.iter().map(|f| f.first).collect();
        let part = |k: usize| rigid.frames.iter().map(|f| f.spread.col(k)).collect::<Vec<DVec3>>();
        let [x, y, z] = [part(0), part(1), part(2)];
        // Symmetric: six of nine.
        let each = |of: &[DVec3], k: usize| of.iter().map(|v| v[k]).collect::<Vec<f64>>();
        let six = [each(&x, 0), each(&x, 1), each(&x, 2), each(&y, 1), each(&y, 2), each(&z, 2)];
        put(out, "skin_frames", &[&first[..]]);
        put(out, "skin_spreads", &six.each_ref().map(|p| &p[..]));
        put_rows(out, "skin_by_frame", &rigid.vertices);
    }
}

/// A skin from the channels of its body. Whether it fits the mesh is checked with the body.
pub(super) fn decode(channels: &[LogChannel<'_>]) -> Result<Skin, String> {
    let handles = find(channels, "skin_handle_offsets").map(|_| {
        Ok::<_, String>(Box::new(Handles {
            handles: rows(channels, "skin_handle")?,
            vertices: rows(channels, "skin_by_handle")?,
        }))
    });
    let normal_offsets = find(channels, "skin_cloth").map(|cloth| {
        let [a, b, c] = cloth.planes::<u32, 3>()?;
        Ok::<_, String>(Box::new(NormalOffsets {
            triangles: (0..a.len()).map(|i| [a[i], b[i], c[i]]).collect(),
            vertices: rows(channels, "skin_by_normal")?,
        }))
    });
    let rigid_offsets = find(channels, "skin_frames").map(|frames| {
        let (first, spreads) = (frames.values::<u32>()?, need(channels, "skin_spreads")?.planes::<f64, 6>()?);
        if first.len() != spreads[0].len() {
            return Err(format!("{} frames of a skin have {} spreads", first.len(), spreads[0].len()));
        }
        let spread = |f: usize| {
            let [xx, xy, xz, yy, yz, zz] = spreads.each_ref().map(|p| p[f]);
            DMat3::from_cols(DVec3::new(xx, xy, xz), DVec3::new(xy, yy, yz), DVec3::new(xz, yz, zz))
        };
        let frames =
            first.iter().enumerate().map(|(f, first)| RigidFrame { first: *first, spread: spread(f) });
        Ok::<_, String>(Box::new(RigidOffsets {
            frames: frames.collect(),
            vertices: rows(channels, "skin_by_frame")?,
        }))
    });
    Ok(Skin {
        offsets: need(channels, "skin_offsets")?.values()?,
        particles: need(channels, "skin_particles")?.values()?,
        weights: need(channels, "skin_weights")?.values()?,
        handles: handles.transpose()?,
        normal_offsets: normal_offsets.transpose()?,
        rigid_offsets: rigid_offsets.transpose()?,
    })
}

fn put_rows(out: &mut Vec<u8>, name: &str, rows: &SparseRows) {
    put(out, &format!("{name}_offsets"), &[&rows.offsets[..]]);
    put(out, &format!("{name}_columns"), &[&rows.columns[..]]);
    put(out, &format!("{name}_weights"), &[&rows.weights[..]]);
}

fn rows(channels: &[LogChannel<'_>], name: &str) -> Result<SparseRows, String> {
    Ok(SparseRows {
        offsets: need(channels, &format!("{name}_offsets"))?.values()?,
        columns: need(channels, &format!("{name}_columns"))?.values()?,
        weights: need(channels, &format!("{name}_weights"))?.values()?,
    })
}
