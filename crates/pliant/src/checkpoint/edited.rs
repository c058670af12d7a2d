//! What edits have made of a scene, as a section of a checkpoint: no list of edits, but the model there is now.
//!
//! Whoever has the scene has its bodies. Those that are as they were built are told by their ids alone, those that are
//! only held otherwise by their pins, and others by what they were made of. Equal descriptions are stored once, so copies
//! of a body cost next to nothing. Nothing here goes by identity of objects, only by what they are: a simulation that was
//! restored writes the same bytes as one that never stopped.

use super::world;
use crate::builder::{self, Assembler};
use crate::bytes::{Digest, Reader, Writer};
use crate::description::{self, counter};
use crate::model::{
    BodyId, BodyKind, BodyModel, Input, Lists, Model, ModelBody, ModelCollider, ModelCoupling, Params, Shown,
    Source,
};
use crate::solvers::{Feature, Support, support};
use crate::state::StateError;
use std::collections::HashSet;
use std::sync::Arc;

/// The first format that tells of couplings.
const COUPLINGS: u64 = 7;

const AS_BUILT: u64 = 0;
const EDITED: u64 = 1;

/// What a body is besides its pins.
const BUILT: u64 = 0;
const DESCRIBED: u64 = 1;
const UNDESCRIBED: u64 = 2;

/// Appends the section, after its length.
pub(super) fn write(w: &mut Writer, model: &Model) {
    let mut own = Writer::default();
    own.word(model.next_id());
    own.word(model.next_collider().number());
    own.word(model.next_coupling().number());
    own.word(model.id().revision);
    if is_as_built(model) {
        own.word(AS_BUILT);
    } else {
        own.word(EDITED);
        write_edited(&mut own, model);
    }
    w.word(own.0.len() as u64);
    w.0.extend_from_slice(&own.0);
}

fn is_as_built(model: &Model) -> bool {
    let built = model.built();
    let mut pairs = model.bodies().iter().zip(&built.bodies);
    same_params(&model.params, &built.params)
        && model.colliders == built.colliders
        && model.couplings == built.couplings
        && model.bodies().len() == built.bodies.len()
        && pairs.all(|(a, b)| a.id == b.id && same_base(a, b) && same_pins(a, b))
}

fn same_params(a: &Arc<Params>, b: &Arc<Params>) -> bool {
    Arc::ptr_eq(a, b) || a == b
}

/// Whether two bodies are the same but for their pins.
fn same_base(a: &ModelBody, b: &ModelBody) -> bool {
    let (x, y) = (a.parts.whole(), b.parts.whole());
    (Arc::ptr_eq(&x.prototype, &y.prototype) || x.prototype.digest() == y.prototype.digest())
        && a.name == b.name
        && x.kind == y.kind
        && x.filter == y.filter
        && (Arc::ptr_eq(&x.shown, &y.shown) || x.shown.same(&y.shown))
        && match (&x.input, &y.input) {
            (Some(x), Some(y)) => Arc::ptr_eq(x, y) || x == y,
            (x, y) => x.is_none() && y.is_none(),
        }
}

fn same_pins(a: &ModelBody, b: &ModelBody) -> bool {
    let (x, y) = (a.parts.whole(), b.parts.whole());
    (Arc::ptr_eq(&x.pins, &y.pins) || x.pins == y.pins) && x.next_pin == y.next_pin
}

/// What bodies share, each stored once.
#[derive(Default)]
struct Shared<'a> {
    made: Vec<Made<'a>>,
    shown: Vec<&'a Arc<Shown>>,
    inputs: Vec<&'a Arc<Input>>,
}

/// A description, with surfaces that were compared with its own.
struct Made<'a> {
    digest: u64,
    source: &'a Source,
    kind: BodyKind,
    compared: Vec<(&'a Arc<Shown>, bool)>,
}

/// The index of something in a list, to which it is added if it is not there.
fn index_of<T>(list: &mut Vec<T>, same: impl FnMut(&T) -> bool, new: impl FnOnce() -> T) -> usize {
    list.iter().position(same).unwrap_or_else(|| {
        list.push(new());
        list.len() - 1
    })
}

impl<'a> Shared<'a> {
    /// The number of a body's description; `None` if it has none.
    fn description(&mut self, parts: &'a BodyModel) -> Option<usize> {
        let source = parts.prototype.source.as_deref()?;
        let (digest, kind) = (parts.prototype.digest(), parts.kind);
        let same = |m: &Made<'_>| m.digest == digest && m.kind == kind;
        Some(index_of(&mut self.made, same, || Made { digest, source, kind, compared: Vec::new() }))
    }

    /// The number of what a body shows, from 1; 0 if that is what its description shows.
    fn shown(&mut self, made: usize, shown: &'a Arc<Shown>) -> u64 {
        let Made { source, compared, .. } = &mut self.made[made];
        let known = |c: &(&Arc<Shown>, bool)| Arc::ptr_eq(c.0, shown);
        let k = index_of(compared, known, || (shown, shown.is_of(&source.body.shape)));
        if compared[k].1 {
            return 0;
        }
        let same = |s: &&Arc<Shown>| Arc::ptr_eq(s, shown) || s.same(shown);
        index_of(&mut self.shown, same, || shown) as u64 + 1
    }

    /// The number of what a body follows, from 1; 0 if it follows nothing.
    fn input(&mut self, input: Option<&'a Arc<Input>>) -> u64 {
        let Some(input) = input else { return 0 };
        let same = |i: &&Arc<Input>| Arc::ptr_eq(i, input) || **i == *input;
        index_of(&mut self.inputs, same, || input) as u64 + 1
    }
}

fn write_edited(w: &mut Writer, model: &Model) {
    let built = model.built();
    let known_world = same_params(&model.params, &built.params);
    w.word(known_world.into());
    if !known_world {
        world::write(w, &model.params);
    }
    let known_colliders = model.colliders == built.colliders;
    w.word(known_colliders.into());
    if !known_colliders {
        world::write_colliders(w, model.colliders());
    }
    let known_couplings = model.couplings == built.couplings;
    w.word(known_couplings.into());
    if !known_couplings {
        world::write_couplings(w, model.couplings());
    }
    let (mut shared, mut list) = (Shared::default(), Writer::default());
    list.word(model.bodies().len() as u64);
    for body in model.bodies() {
        let parts = body.parts.whole();
        list.word(body.id.number());
        let as_built = built.bodies.binary_search_by_key(&body.id, |b| b.id).ok();
        let as_built = as_built.map(|k| &built.bodies[k]).filter(|b| same_base(body, b));
        let made = if as_built.is_none() { shared.description(parts) } else { None };
        match (as_built, made) {
            (Some(_), _) => list.word(BUILT),
            (None, Some(made)) => {
                list.word(DESCRIBED);
                list.word(made as u64);
                list.text(&body.name);
                list.word(shared.shown(made, &parts.shown));
                list.word(shared.input(parts.input.as_ref()));
            }
            (None, None) => {
                list.word(UNDESCRIBED);
                list.text(&body.name);
                list.word(base_digest(parts));
            }
        }
        let known_pins = as_built.is_some_and(|b| same_pins(body, b));
        list.word(known_pins.into());
        if !known_pins {
            description::write_pins(&mut list, &parts.pins, parts.next_pin);
        }
    }
    w.word(shared.made.len() as u64);
    shared.made.iter().for_each(|m| description::write(w, m.source, m.kind));
    w.word(shared.shown.len() as u64);
    shared.shown.iter().for_each(|s| description::write_shown(w, s));
    w.word(shared.inputs.len() as u64);
    shared.inputs.iter().for_each(|i| description::write_input(w, i));
    w.0.extend_from_slice(&list.0);
}

/// Tells bodies apart that have no description, whatever holds them.
fn base_digest(parts: &BodyModel) -> u64 {
    let mut hash = Digest::default();
    parts.pinned(Vec::new(), 0).digest(&mut hash);
    hash.finish()
}

/// Reads the model that a checkpoint is of, with the help of one that was built from the same scene. Whether it is the
/// model that was written its fingerprint says, which the state has too.
pub(super) fn read(
    mut r: Reader<'_>,
    present: &Model,
    assembler: &mut Assembler,
    format: u64,
) -> Result<Model, StateError> {
    // Formats before could tell of no couplings.
    let couples = format >= COUPLINGS;
    let (next, next_collider) = (counter(&mut r)?, counter(&mut r)?);
    let next_coupling = if couples { counter(&mut r)? } else { present.built().couplings.len() as u64 };
    let revision = counter(&mut r)?;
    let next = [next, next_collider, next_coupling];
    let built = present.built();
    let model = match r.word()? {
        AS_BUILT if is_as_built(present) => present.whole().counted(next, revision),
        AS_BUILT => {
            let lists = Lists {
                bodies: (built.bodies.clone(), next[0]),
                colliders: (built.colliders.clone(), next[1]),
                couplings: (built.couplings.clone(), next[2]),
            };
            Model::with_history(lists, built.params.clone(), revision, built.clone())
        }
        EDITED => {
            let (params, lists) = Reading { r: &mut r, format, present, assembler, couples }.edited(next)?;
            Model::with_history(lists, params, revision, built.clone())
        }
        _ => return Err(StateError::Damaged("it tells of its bodies in an unknown way")),
    };
    let late = model.bodies().last().is_some_and(|b| b.id.number() >= next[0])
        || model.colliders().last().is_some_and(|c| c.id.number() >= next[1])
        || model.couplings().last().is_some_and(|c| c.id.number() >= next[2]);
    if late || !r.0.is_empty() {
        return Err(StateError::Damaged("what it tells of its bodies does not add up"));
    }
    Ok(model)
}

struct Reading<'a, 'b> {
    r: &'a mut Reader<'b>,
    format: u64,
    present: &'a Model,
    assembler: &'a mut Assembler,
    /// Whether it can tell of couplings.
    couples: bool,
}

type Colliders = Arc<Vec<ModelCollider>>;
type Couplings = Arc<Vec<ModelCoupling>>;

const UNSOUND: StateError = StateError::Damaged("it describes what cannot be built");

impl Reading<'_, '_> {
    fn edited(&mut self, next: [u64; 3]) -> Result<(Arc<Params>, Lists), StateError> {
        let params = self.world()?;
        let colliders = self.colliders()?;
        let couplings = self.couplings()?;
        let r = &mut *self.r;
        let mut made = Vec::new();
        for _ in 0..r.length()? {
            let (body, sprung) = description::read(r, self.format)?;
            let parts = builder::assemble_described(&body, sprung, &params, self.assembler);
            made.push(parts.ok_or(UNSOUND)?);
        }
        let mut shown = Vec::new();
        for _ in 0..r.length()? {
            shown.push(Arc::new(description::read_shown(r, self.format)?));
        }
        let mut inputs = Vec::new();
        for _ in 0..r.length()? {
            inputs.push(Arc::new(description::read_input(r)?));
        }
        let shared = SharedParts { made, shown, inputs };
        let (mut bodies, mut names) = (Vec::<ModelBody>::new(), HashSet::new());
        for _ in 0..r.length()? {
            let body = self.body(&shared, &params)?;
            if bodies.last().is_some_and(|b| b.id >= body.id) || !names.insert(body.name.clone()) {
                return Err(StateError::Damaged("its bodies are not told apart"));
            }
            bodies.push(body);
        }
        if builder::check_couplings(&couplings, &bodies).is_err() {
            return Err(UNSOUND);
        }
        let lists = Lists {
            bodies: (bodies, next[0]),
            colliders: (colliders, next[1]),
            couplings: (couplings, next[2]),
        };
        Ok((params, lists))
    }

    fn world(&mut self) -> Result<Arc<Params>, StateError> {
        let built = &self.present.built().params;
        let params = match self.r.flag()? {
            true => built.clone(),
            false => Arc::new(world::read(self.r, built.step, self.format)?),
        };
        if !builder::is_sound(&params) {
            return Err(UNSOUND);
        }
        // Caches know it by identity.
        Ok(if same_params(&params, &self.present.params) { self.present.params.clone() } else { params })
    }

    fn colliders(&mut self) -> Result<Colliders, StateError> {
        let colliders = match self.r.flag()? {
            true => self.present.built().colliders.clone(),
            false => Arc::new(world::read_colliders(self.r, self.format)?),
        };
        let sound = builder::check_colliders(colliders.iter().map(|c| &c.collider)).is_ok();
        if !(sound && colliders.windows(2).all(|w| w[0].id < w[1].id)) {
            return Err(UNSOUND);
        }
        Ok(colliders)
    }

    /// What ties bodies together; checked once these are known.
    fn couplings(&mut self) -> Result<Couplings, StateError> {
        let couplings = match !self.couples || self.r.flag()? {
            true => self.present.built().couplings.clone(),
            false => Arc::new(world::read_couplings(self.r, self.format)?),
        };
        let told_apart = couplings.windows(2).all(|w| w[0].id < w[1].id);
        if told_apart { Ok(couplings) } else { Err(UNSOUND) }
    }

    fn body(&mut self, shared: &SharedParts, params: &Arc<Params>) -> Result<ModelBody, StateError> {
        let id = BodyId::from_number(self.r.word()?);
        let (name, parts) = match self.r.word()? {
            BUILT => {
                let bodies = &self.present.built().bodies;
                let k = bodies.binary_search_by_key(&id, |b| b.id).map_err(|_| StateError::OtherModel)?;
                (bodies[k].name.clone(), bodies[k].parts.under(params))
            }
            DESCRIBED => self.described(id, shared)?,
            UNDESCRIBED => {
                let (name, digest) = (self.r.text()?, self.r.word()?);
                let known = self.present.get(id).map(|b| (b.name.clone(), b.parts.whole()));
                let known = known.filter(|(own, parts)| **own == *name && base_digest(parts) == digest);
                let (name, parts) = known.ok_or(StateError::Undescribed { body: name })?;
                (name, parts.under(params))
            }
            _ => return Err(StateError::Damaged("it tells of a body in an unknown way")),
        };
        if self.r.flag()? {
            return Ok(ModelBody { id, name, parts });
        }
        let (pins, next_pin) = description::read_pins(self.r)?;
        let soft = pins.iter().any(|g| g.stiffness.is_some());
        if soft && support(parts.solver(), Feature::SoftPins) != Support::Yes {
            return Err(UNSOUND);
        }
        Ok(ModelBody { id, name, parts: parts.pinned(pins, next_pin) })
    }

    fn described(&mut self, id: BodyId, shared: &SharedParts) -> Result<(Arc<str>, BodyModel), StateError> {
        let r = &mut *self.r;
        let (made, name, shown, input) = (r.word()?, r.text()?, r.word()?, r.word()?);
        let mut parts = get(&shared.made, made).ok_or(UNSOUND)?.clone();
        let present = self.present.get(id).map(|b| b.parts.whole());
        if let Some(k) = shown.checked_sub(1) {
            parts.shown = get(&shared.shown, k).filter(|s| fits(s, &parts)).ok_or(UNSOUND)?.clone();
        }
        if let Some(k) = input.checked_sub(1) {
            parts.input = Some(get(&shared.inputs, k).filter(|i| follows(&parts, i)).ok_or(UNSOUND)?.clone());
        }
        // Whoever looks at it or follows it need not begin anew.
        if let Some(same) = present.filter(|p| p.shown.same(&parts.shown)) {
            parts.shown = same.shown.clone();
        }
        if let Some(same) = present.filter(|p| p.input == parts.input) {
            parts.input.clone_from(&same.input);
        }
        Ok((name.into(), parts))
    }
}

/// What bodies share, read and put together.
struct SharedParts {
    made: Vec<BodyModel>,
    shown: Vec<Arc<Shown>>,
    inputs: Vec<Arc<Input>>,
}

fn get<T>(list: &[T], k: u64) -> Option<&T> {
    usize::try_from(k).ok().and_then(|k| list.get(k))
}

/// Whether a surface can be shown of a body.
fn fits(shown: &Shown, parts: &BodyModel) -> bool {
    let particles = parts.particle_count();
    let vertices = shown.skin().map_or(particles, |skin| skin.len());
    shown.skin().is_none_or(|skin| skin.check(vertices, particles).is_ok())
        && shown.triangles().iter().flatten().all(|&v| (v as usize) < vertices)
}

/// Whether a body can follow an input.
fn follows(parts: &BodyModel, input: &Input) -> bool {
    let particles = parts.particle_count();
    support(parts.solver(), Feature::AnimatedInput) == Support::Yes
        && input.sequence.points() == particles
        && (input.follow.is_empty() || input.follow.len() == particles)
        && input.follow.iter().all(|w| (0.0..=1.0).contains(w))
}
