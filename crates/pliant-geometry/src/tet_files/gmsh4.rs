//! Entities, nodes and elements of Gmsh files of version 4.1: blocks of one entity and type.

use super::draft::TetDraft;
use super::gmsh::{kind, unknown_type};
use super::scan::{Numbers, Scan};
use crate::GeometryError;
use glam::DVec3;
use std::collections::BTreeMap;

/// The first physical group of each volume that is in one.
#[derive(Default)]
pub(super) struct Physical(BTreeMap<i64, i64>);

pub(super) fn entities(scan: &mut Scan, physical: &mut Physical) -> Result<(), GeometryError> {
    scan.reading("entity count", 0, 4);
    let counts = [scan.size()?, scan.size()?, scan.size()?, scan.size()?];
    for (dimension, count) in counts.into_iter().enumerate() {
        for i in 0..count {
            scan.reading("entity", i, count);
            let tag = scan.int()?;
            // A point has its place, everything else a box around it.
            scan.skip(if dimension == 0 { 3 } else { 6 }, 8)?;
            let groups = scan.size()?;
            for g in 0..groups {
                let group = scan.int()?;
                if g == 0 && dimension == 3 {
                    physical.0.insert(tag, group);
                }
            }
            if dimension > 0 {
                let bounding = scan.size()?;
                scan.skip(bounding, 4)?;
            }
        }
    }
    Ok(())
}

pub(super) fn nodes(scan: &mut Scan, draft: &mut TetDraft) -> Result<(), GeometryError> {
    scan.reading("node header number", 0, 4);
    let (blocks, count) = (scan.size()?, scan.size()?);
    scan.skip(2, 8)?;
    let mut tags = Vec::new();
    let mut done = 0;
    for b in 0..blocks {
        scan.reading("node block", b, blocks);
        let (dimension, _entity, parametric) = (scan.int()?, scan.int()?, scan.int()?);
        let members = scan.size()?;
        tags.clear();
        for i in 0..members {
            scan.reading("node tag", i, members);
            tags.push(scan.size()?);
        }
        let parameters = if parametric == 1 { dimension.clamp(0, 3) as u64 } else { 0 };
        for &tag in &tags {
            scan.reading("node", done, count);
            let before = scan.place();
            let x = scan.real()?;
            let place = if scan.numbers == Numbers::Text { scan.place() } else { before };
            draft.point(tag, DVec3::new(x, scan.real()?, scan.real()?), place);
            scan.skip(parameters, 8)?;
            done += 1;
        }
    }
    agree(scan, "nodes", count, done)
}

pub(super) fn elements(
    scan: &mut Scan,
    draft: &mut TetDraft,
    physical: &Physical,
) -> Result<(), GeometryError> {
    scan.reading("element header number", 0, 4);
    let (blocks, count) = (scan.size()?, scan.size()?);
    scan.skip(2, 8)?;
    let mut done = 0;
    for b in 0..blocks {
        scan.reading("element block", b, blocks);
        let (_dimension, entity, element_type) = (scan.int()?, scan.int()?, scan.int()?);
        let members = scan.size()?;
        let Some((nodes, name)) = kind(element_type) else {
            return Err(unknown_type(scan, element_type));
        };
        scan.reading("element", done, count);
        if !matches!(element_type, 4 | 11) {
            scan.skip(members.saturating_mul(nodes + 1), 8)?;
            draft.other(name, members);
            done += members;
            continue;
        }
        let region = physical.0.get(&entity).copied().unwrap_or(entity);
        let region = region.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        for _ in 0..members {
            scan.reading("element", done, count);
            let before = scan.place();
            let tag = scan.size()?;
            let place = if scan.numbers == Numbers::Text { scan.place() } else { before };
            let corners = [scan.size()?, scan.size()?, scan.size()?, scan.size()?];
            draft.tet(tag, corners, region, place);
            if element_type == 11 {
                draft.with_mid_edges();
                scan.skip(6, 8)?;
            }
            done += 1;
        }
    }
    agree(scan, "elements", count, done)
}

fn agree(scan: &Scan, what: &str, count: u64, done: u64) -> Result<(), GeometryError> {
    if count == done {
        return Ok(());
    }
    let message = format!("the section says {count} {what} and its blocks hold {done}");
    Err(scan.fault(message, "export it again: the file was changed by hand or by a faulty program"))
}
