//! Which bodies there are from a frame on: a log is a row of epochs, and within one nothing but positions changes.
//!
//! The first epoch stands in the header. Where a body comes, goes or changes its topology, a record of its own goes before
//! the next frame: the ids of all bodies, and of those that are new or changed what they are. A body that merely stays
//! is not stored again, and a mesh that any body of the log has had is stored once.

use super::channel::{need, parse, put};
use super::header::LogBody;
use super::simulated::SimulatedElements;
use pliant_geometry::{MeshAttributes, Skin, TriMesh};
use std::sync::Arc;

/// A stretch of frames with the same bodies.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Epoch {
    /// Number of the frame it begins with.
    pub first: u32,
    /// The bodies, by their ids; they share the particles of its frames among them, in this order.
    pub bodies: Vec<LogBody>,
}

/// What a body of an epoch is to the bodies of the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyChange {
    /// The body of this place, as it was.
    Kept(usize),
    /// The next version of the body of this place.
    Changed(usize),
    /// It was not there.
    New,
}

impl BodyChange {
    pub(super) fn of(body: &LogBody, before: &[LogBody]) -> BodyChange {
        match before.binary_search_by_key(&body.id, |b| b.id) {
            Ok(place) if before[place].version == body.version => BodyChange::Kept(place),
            Ok(place) => BodyChange::Changed(place),
            Err(_) => BodyChange::New,
        }
    }
}

/// The meshes a log holds, in the order they are stored, with skin, attributes and elements; bodies name one by its number.
/// Later versions of a body are not among them: hardly another is torn in the same way, and there may be hundreds.
#[derive(Clone, Debug, Default)]
pub(super) struct Meshes(Vec<StoredMesh>);

#[derive(Clone, Debug)]
struct StoredMesh {
    mesh: Arc<TriMesh>,
    attributes: Arc<MeshAttributes>,
    skin: Arc<Skin>,
    simulated: Arc<SimulatedElements>,
}

fn same<T: PartialEq>(a: &Arc<T>, b: &Arc<T>) -> bool {
    Arc::ptr_eq(a, b) || a == b
}

impl StoredMesh {
    /// Whether a body has all of it, be it once or twice in memory.
    fn is_of(&self, body: &LogBody) -> bool {
        same(&self.mesh, &body.mesh)
            && same(&self.attributes, &body.attributes)
            && same(&self.skin, &body.skin)
            && same(&self.simulated, &body.simulated)
    }
}

impl Meshes {
    /// A body as bytes, with its mesh if the log does not hold it yet.
    pub(super) fn encode(&mut self, body: &LogBody) -> Vec<u8> {
        // A scene has few kinds of bodies, and unlike ones are told apart at once.
        let known = self.0.iter().position(|stored| stored.is_of(body)).filter(|_| body.version == 0);
        if known.is_none() {
            self.add(body);
        }
        body.encode(known.map(|number| number as u32))
    }

    /// Takes up the mesh of a body that is stored with it.
    pub(super) fn add(&mut self, body: &LogBody) {
        if body.version == 0 {
            let LogBody { mesh, attributes, skin, simulated, .. } = body.clone();
            self.0.push(StoredMesh { mesh, attributes, skin, simulated });
        }
    }

    /// Gives a body the mesh of a number.
    pub(super) fn give(&self, number: u32, body: &mut LogBody) -> Result<(), String> {
        let Some(stored) = self.0.get(number as usize) else {
            return Err(format!("it has mesh {number} of {} that are stored before it", self.0.len()));
        };
        let StoredMesh { mesh, attributes, skin, simulated } = stored.clone();
        (body.mesh, body.attributes, body.skin, body.simulated) = (mesh, attributes, skin, simulated);
        Ok(())
    }

    /// Those of bodies that were read, which share what they have in common.
    pub(super) fn of<'a>(epochs: impl IntoIterator<Item = &'a [LogBody]>) -> Meshes {
        let mut meshes = Meshes::default();
        for body in epochs.into_iter().flatten() {
            let known = |stored: &StoredMesh| Arc::ptr_eq(&stored.mesh, &body.mesh) && stored.is_of(body);
            if !meshes.0.iter().any(known) {
                meshes.add(body);
            }
        }
        meshes
    }
}

/// Checks the bodies of the first epoch: each by itself, and that they share the particles without gaps.
pub(super) fn check_first(bodies: &[LogBody]) -> Result<(), String> {
    let mut end = 0;
    for (k, body) in bodies.iter().enumerate() {
        let of_body = |why| format!("body \"{}\": {why}", body.name);
        body.check().map_err(of_body)?;
        if body.particles.start != end {
            return Err(of_body(format!("its particles begin at {}, not at {end}", body.particles.start)));
        }
        end = body.particles.end;
        if k > 0 && bodies[k - 1].id >= body.id {
            return Err(of_body(format!("id {} follows {}", body.id, bodies[k - 1].id)));
        }
        if body.version > 0 || body.origin.is_some() {
            return Err(of_body("it is a later version, but nothing was before".into()));
        }
    }
    Ok(())
}

/// The bodies of an epoch with their particles one after the other, if they can follow those before; `next_id` is
/// above the id of every body so far.
pub(super) fn following(
    before: &[LogBody],
    next_id: u64,
    mut bodies: Vec<LogBody>,
) -> Result<Vec<LogBody>, String> {
    let (mut end, mut last) = (0u32, None);
    for body in &mut bodies {
        let name = body.name.clone();
        let of_body = |why: String| format!("body \"{name}\": {why}");
        if last.is_some_and(|last| last >= body.id) {
            return Err(of_body(format!("id {} is not above that of the body before it", body.id)));
        }
        last = Some(body.id);
        let Some(count) = body.particles.end.checked_sub(body.particles.start) else {
            return Err(of_body("its particles end before they start".into()));
        };
        let too_many = || of_body("there are more particles than can be counted".into());
        body.particles = end..end.checked_add(count).ok_or_else(too_many)?;
        end = body.particles.end;
        follows(body, before, next_id).map_err(of_body)?;
    }
    Ok(bodies)
}

/// Whether a body can be what it says beside those before.
fn follows(body: &LogBody, before: &[LogBody], next_id: u64) -> Result<(), String> {
    match BodyChange::of(body, before) {
        BodyChange::Kept(place) => {
            let old = &before[place];
            let at_old_place = LogBody { particles: old.particles.clone(), ..body.clone() };
            let alike = old.particles.len() == body.particles.len() && is_same(old, &at_old_place);
            if alike {
                Ok(())
            } else {
                Err(format!("it is not what it was; make it version {}", old.version + 1))
            }
        }
        BodyChange::Changed(place) => {
            let old = &before[place];
            if old.version.checked_add(1) != Some(body.version) {
                return Err(format!("version {} follows version {}", body.version, old.version));
            }
            body.check()?;
            let Some(origin) = &body.origin else { return Ok(()) };
            let within = |of: &[u32], count: usize| of.iter().all(|&i| (i as usize) < count);
            let fits = within(&origin.particles, old.particles.len())
                && within(&origin.vertices, old.mesh.positions.len());
            if fits { Ok(()) } else { Err("it comes from particles or vertices that it did not have".into()) }
        }
        BodyChange::New if body.id < next_id => Err(format!("another body had id {} before", body.id)),
        BodyChange::New if body.version > 0 || body.origin.is_some() => {
            Err("it is a later version, but was not there before".into())
        }
        BodyChange::New => body.check(),
    }
}

fn is_same(a: &LogBody, b: &LogBody) -> bool {
    let shared = Arc::ptr_eq(&a.mesh, &b.mesh)
        && Arc::ptr_eq(&a.attributes, &b.attributes)
        && Arc::ptr_eq(&a.skin, &b.skin)
        && Arc::ptr_eq(&a.simulated, &b.simulated)
        && Arc::ptr_eq(&a.cluster, &b.cluster);
    shared && (&a.name, a.color, a.look, &a.rigid) == (&b.name, b.color, b.look, &b.rigid) || a == b
}

/// One above the largest id.
pub(super) fn next_id(before: u64, bodies: &[LogBody]) -> u64 {
    bodies.last().map_or(before, |b| before.max(b.id.saturating_add(1)))
}

impl Epoch {
    /// Bytes of the frame number at the start of the payload.
    const START: usize = 4;

    /// As bytes: ids of all, and those whole that are not as before.
    pub(super) fn encode(&self, before: &[LogBody], meshes: &mut Meshes) -> Vec<u8> {
        let mut out = self.first.to_le_bytes().to_vec();
        put(&mut out, "bodies", &[&self.bodies.iter().map(|b| b.id).collect::<Vec<u64>>()[..]]);
        for body in &self.bodies {
            if !matches!(BodyChange::of(body, before), BodyChange::Kept(_)) {
                put(&mut out, "body", &[&meshes.encode(body)[..]]);
            }
        }
        out
    }

    /// From bytes, after an epoch with the bodies `before`.
    pub(super) fn decode(
        payload: &[u8],
        before: &[LogBody],
        next_id: u64,
        meshes: &mut Meshes,
    ) -> Result<Epoch, String> {
        let (first, rest) = payload.split_first_chunk::<{ Self::START }>().ok_or("it is too short")?;
        let channels = parse(rest)?;
        let mut own = channels.iter().filter(|c| c.name == "body").peekable();
        let mut next = match own.next() {
            Some(c) => Some(LogBody::decode(&c.values::<u8>()?, meshes)?),
            None => None,
        };
        let mut bodies = Vec::new();
        for id in need(&channels, "bodies")?.values::<u64>()? {
            if next.as_ref().is_some_and(|body| body.id == id) {
                bodies.extend(next.take());
                if let Some(c) = own.next() {
                    next = Some(LogBody::decode(&c.values::<u8>()?, meshes)?);
                }
                continue;
            }
            match before.binary_search_by_key(&id, |b| b.id) {
                Ok(place) => bodies.push(before[place].clone()),
                Err(_) => return Err(format!("nothing is known of body {id}")),
            }
        }
        if let Some(body) = next {
            return Err(format!("body {} is not among those it lists", body.id));
        }
        let bodies = following(before, next_id, bodies)?;
        Ok(Epoch { first: u32::from_le_bytes(*first), bodies })
    }
}
