//! Nodes and elements of Gmsh files of version 2: one element a row, with its tags.

use super::draft::{FilePlace, TetDraft};
use super::gmsh::{in_numbers, kind, unknown_type};
use super::scan::{Numbers, Scan};
use crate::GeometryError;
use glam::DVec3;

pub(super) fn nodes(scan: &mut Scan, numbers: Numbers, draft: &mut TetDraft) -> Result<(), GeometryError> {
    let count = count(scan, numbers)?;
    in_numbers(scan, numbers, |scan| {
        for i in 0..count {
            scan.reading("node", i, count);
            let before = scan.place();
            let tag = tag(scan)?;
            let place = at(before, scan);
            draft.point(tag, DVec3::new(scan.real()?, scan.real()?, scan.real()?), place);
        }
        Ok(())
    })
}

pub(super) fn elements(scan: &mut Scan, numbers: Numbers, draft: &mut TetDraft) -> Result<(), GeometryError> {
    let count = count(scan, numbers)?;
    in_numbers(scan, numbers, |scan| {
        let mut done = 0;
        while done < count {
            scan.reading("element", done, count);
            if numbers == Numbers::Text {
                let number = tag(scan)?;
                let element_type = scan.int()?;
                let tags = scan.int()?;
                element(scan, draft, number, element_type, tags, scan.place())?;
                done += 1;
                continue;
            }
            // Elements of one type come in groups.
            let (element_type, members, tags) = (scan.int()?, scan.int()?, scan.int()?);
            let members = members.max(0) as u64;
            for _ in 0..members {
                scan.reading("element", done, count);
                let place = scan.place();
                let number = tag(scan)?;
                element(scan, draft, number, element_type, tags, place)?;
                done += 1;
            }
        }
        Ok(())
    })
}

/// Tags are physical group, volume, and what partitioning adds.
fn element(
    scan: &mut Scan,
    draft: &mut TetDraft,
    number: u64,
    element_type: i64,
    tags: i64,
    place: FilePlace,
) -> Result<(), GeometryError> {
    let mut region = 0;
    for i in 0..tags {
        let value = scan.int()?;
        if i < 2 && region == 0 {
            region = value.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        }
    }
    let Some((nodes, name)) = kind(element_type) else {
        return Err(unknown_type(scan, element_type));
    };
    if !matches!(element_type, 4 | 11) {
        draft.other(name, 1);
        return scan.skip(nodes, 4);
    }
    let corners = [tag(scan)?, tag(scan)?, tag(scan)?, tag(scan)?];
    draft.tet(number, corners, region, place);
    if element_type == 11 {
        draft.with_mid_edges();
        scan.skip(6, 4)?;
    }
    Ok(())
}

/// Counts are text on a line of their own even in binary files.
fn count(scan: &mut Scan, numbers: Numbers) -> Result<u64, GeometryError> {
    scan.reading("count", 0, 1);
    let count = scan.size()?;
    if numbers != Numbers::Text {
        scan.rest_of_line();
    }
    Ok(count)
}

/// A node or element number. Negative ones keep their bits: no node has them, so that they are found missing.
fn tag(scan: &mut Scan) -> Result<u64, GeometryError> {
    Ok(scan.int()? as u64)
}

/// Lines are known after the word on them, bytes before it.
fn at(before: FilePlace, scan: &Scan) -> FilePlace {
    if let FilePlace::Byte(_) = before { before } else { scan.place() }
}
