//! Material libraries of OBJ files: optional, so whatever is wrong with one is a note.
//!
//! Read are `Kd` (as linear, which is how Blender writes it), `d`, `Tr`, `map_Kd`, and `Pr`, `Pm` of the
//! physically based extension.

use super::Fetch;
use super::notes::Notes;
use super::words::{lines, name, real, shown, words};
use crate::error::stays_in_folder;
use crate::poly::SurfaceMaterial;
use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

/// Libraries of one file that are looked at.
const MOST: usize = 64;

/// The materials in the libraries that the OBJ file at `path` names.
pub(super) fn libraries(
    path: &Path,
    named: &[String],
    fetch: Fetch<'_>,
    notes: &mut Notes,
) -> HashMap<String, SurfaceMaterial> {
    let mut materials = HashMap::new();
    // Each is read once, however often it is named.
    let mut seen: HashSet<&str> = HashSet::new();
    let too_many = format!("material libraries after the first {MOST} are passed over");
    for entry in named {
        if !seen.insert(entry) {
            continue;
        }
        if seen.len() > MOST {
            notes.say(too_many);
            return materials;
        }
        // Several libraries may be on a line, and names may have spaces in them.
        let one = inside(path, entry).and_then(|p| fetch(&p).ok());
        if let Some(bytes) = one {
            parse(&bytes, entry, &mut materials, notes);
            continue;
        }
        for part in entry.split_whitespace() {
            if part != entry && !seen.insert(part) {
                continue;
            }
            if seen.len() > MOST {
                notes.say(too_many);
                return materials;
            }
            let Some(file) = inside(path, part) else {
                notes.say(format!(
                    "the material library `{}` is not in the folder of the file and is not read",
                    shown(part.as_bytes())
                ));
                continue;
            };
            match fetch(&file) {
                Ok(bytes) => parse(&bytes, part, &mut materials, notes),
                Err(why) => notes.say(format!(
                    "the material library `{}` cannot be read ({why}): materials have their names only",
                    shown(part.as_bytes())
                )),
            }
        }
    }
    materials
}

/// A file beside or below the folder of `path`; `None` for names that leave it.
fn inside(path: &Path, name: &str) -> Option<PathBuf> {
    let name = name.replace('\\', "/");
    let relative = Path::new(&name);
    let stays = relative.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
    let stays = stays && !name.is_empty() && !name.contains([':', '\0']);
    let file = path.parent().unwrap_or(Path::new("")).join(relative);
    (stays && stays_in_folder(path, &file)).then_some(file)
}

fn parse(bytes: &[u8], library: &str, materials: &mut HashMap<String, SurfaceMaterial>, notes: &mut Notes) {
    let mut current: Option<SurfaceMaterial> = None;
    let mut keep = |done: Option<SurfaceMaterial>| {
        if let Some(material) = done {
            materials.entry(material.name.clone()).or_insert(material);
        }
    };
    for (number, line) in lines(bytes) {
        let (keyword, rest) =
            line.split_at(line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len()));
        if keyword.eq_ignore_ascii_case(b"newmtl") {
            keep(current.take());
            current = Some(SurfaceMaterial { name: name(rest), ..SurfaceMaterial::default() });
            continue;
        }
        let Some(material) = &mut current else { continue };
        let mut numbers = [None; 3];
        for (slot, word) in numbers.iter_mut().zip(words(rest)) {
            *slot = real(word).map(|x| x as f32).filter(|x| x.is_finite());
        }
        match keyword.to_ascii_lowercase().as_slice() {
            b"kd" => match numbers {
                [Some(r), Some(g), Some(b)] => {
                    material.color = [r.max(0.0), g.max(0.0), b.max(0.0), material.color[3]];
                    continue;
                }
                [Some(grey), None, None] => {
                    material.color = [grey.max(0.0), grey.max(0.0), grey.max(0.0), material.color[3]];
                    continue;
                }
                _ => {}
            },
            b"map_kd" => {
                material.texture = image(rest);
                continue;
            }
            b"d" | b"tr" | b"pr" | b"pm" => {
                if let Some(x) = numbers[0].map(|x| x.clamp(0.0, 1.0)) {
                    match keyword.to_ascii_lowercase().as_slice() {
                        b"d" => material.color[3] = x,
                        b"tr" => material.color[3] = 1.0 - x,
                        b"pr" => material.roughness = x,
                        _ => material.metallic = x,
                    }
                    continue;
                }
            }
            _ => continue,
        }
        let kind = format!(
            "values of the material library `{}` that cannot be read are left out",
            shown(library.as_bytes())
        );
        notes.count(&kind, || format!("line {number}"));
    }
    keep(current);
}

/// The file of a texture statement: what follows its options.
fn image(rest: &[u8]) -> Option<String> {
    let mut rest = rest.trim_ascii();
    while rest.first() == Some(&b'-') {
        let next = |rest: &mut &[u8]| {
            let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
            let word = &rest[..end];
            *rest = rest[end..].trim_ascii_start();
            word.to_vec()
        };
        let option = next(&mut rest);
        let (least, most) = match option.as_slice() {
            b"-o" | b"-s" | b"-t" => (1, 3),
            b"-mm" => (2, 2),
            _ => (1, 1),
        };
        for k in 0..most {
            let word = rest.split(u8::is_ascii_whitespace).next().unwrap_or_default();
            if k >= least && real(word).is_none() {
                break;
            }
            next(&mut rest);
        }
    }
    (!rest.is_empty()).then(|| name(rest))
}
