//! The first part of an edit: the next revision of model and controls, checked as when building.

use super::{Edit, EditError, Effect, Hold};
use crate::body::Body;
use crate::builder::{self, Assembler};
use crate::controls::{BodyEntry, Control, Controls, no_such_body};
use crate::keyframes::Keyframes;
use crate::model::{BodyId, Model, Motion, Params, PinGroup};
use crate::solvers::{Feature, Support, support};
use crate::state::BodyState;
use crate::tearing;
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// Model and controls, to be edited without a state.
pub(crate) struct Editing<'a> {
    pub model: &'a mut Model,
    pub controls: &'a mut Controls,
    pub assembler: &'a mut Assembler,
    /// When the edit acts.
    pub time: f64,
}

impl Editing<'_> {
    /// Edits model and controls; tells what is to be done to the state.
    pub fn make(&mut self, edit: &Edit) -> Result<Effect, EditError> {
        match edit {
            Edit::Set(control, value) => {
                // Relaxation and iterations are checked against each other as they are then.
                self.apply_keyframes();
                self.controls.set(self.model, *control, *value)?;
            }
            Edit::Pins(body, group, placement) => {
                self.controls.place_pins(self.model, *body, *group, *placement)?;
            }
            Edit::Substeps(substeps) => {
                self.set_params(Params { substeps: *substeps, ..(*self.model.params).clone() })?;
            }
            Edit::AddCollider(collider) => return self.add_collider(collider),
            Edit::RemoveCollider(collider) => return self.remove_collider(*collider),
            Edit::ChangeCollider(collider, to) => return self.change_collider(*collider, to),
            Edit::PlaceCollider(collider, placement) => {
                self.collider_place(*collider)?;
                self.controls.place_collider(self.model, *collider, *placement)?;
            }
            Edit::DeformCollider(collider, vertices) => {
                self.collider_place(*collider)?;
                self.controls.deform_collider(self.model, *collider, vertices.as_deref())?;
            }
            Edit::Couple(coupling) => return self.add_coupling(coupling),
            Edit::Uncouple(coupling) => return self.remove_coupling(*coupling),
            Edit::Keyframes(keyframes) => {
                let keyframes = keyframes.clone();
                self.set_params(Params { keyframes, ..(*self.model.params).clone() })?;
            }
            Edit::Model(model) => {
                // What is torn is told by the state.
                let model = model.whole();
                if !model.same_sizes(&self.model.whole()) {
                    return Err(EditError::OtherBodies);
                }
                builder::check_world(&model, &model.params, self.controls)?;
                *self.model = model.in_place_of(self.model);
            }
            Edit::Add(body) => return self.add(body),
            Edit::Remove(body) => return self.remove(*body),
            Edit::Change(body, to) => return self.change(*body, to),
            Edit::Forces(body, forces) => self.load(*body, forces)?,
            Edit::Hold(body, hold) => return self.hold(*body, hold),
            Edit::Release(body, group) => return self.release(*body, *group),
            Edit::Push(body, at, impulse) => return self.push(*body, at, *impulse),
            Edit::Teleport(body, to) => return self.teleport(*body, to),
            Edit::Tear(body, facets) => return self.tear(*body, facets),
        }
        Ok(Effect::None)
    }

    pub(super) fn apply_keyframes(&mut self) {
        self.model.params.keyframes.apply(self.time, self.controls);
    }

    fn set_params(&mut self, params: Params) -> Result<(), EditError> {
        // What was keyframed keeps the value it has now.
        self.apply_keyframes();
        builder::check_world(self.model, &params, self.controls)?;
        *self.model = self.model.with_params(params);
        Ok(())
    }

    fn add(&mut self, body: &Body) -> Result<Effect, EditError> {
        let made = builder::assemble_one(body, self.model, None, self.assembler)?;
        let entry = |id| BodyEntry::new(id, body.live_values(), &made.parts);
        let id = BodyId::from_number(self.model.next_id());
        self.controls.bodies.push(entry(id));
        let state = BodyState::new(id, &made.parts, made.x, made.v);
        self.model.add(body.name.as_str().into(), made.parts);
        Ok(Effect::Added(Box::new(state)))
    }

    fn remove(&mut self, body: BodyId) -> Result<Effect, EditError> {
        let place = self.place_of(body)?;
        let tied = self.model.couplings().iter().filter(|c| c.coupling.bodies().any(|b| b == body));
        let tied: Vec<String> = tied.map(|c| c.id.to_string()).collect();
        if !tied.is_empty() {
            let text = format!("it is tied to something (couplings {})", tied.join(", "));
            return Err(self.refuse(place, text, "take these couplings away first".into()));
        }
        let gone = self.model.remove(place);
        self.controls.bodies.remove(place);
        let tracks = self.drop_tracks(|control| control.body() == Some(gone.id));
        Ok(Effect::Removed { place, name: gone.name.to_string(), tracks })
    }

    /// Takes away the keys of controls that are gone, and tells how many tracks these were.
    pub(super) fn drop_tracks(&mut self, gone: impl Fn(Control) -> bool) -> usize {
        let all = &self.model.params.keyframes.tracks;
        let kept: Vec<_> = all.iter().filter(|t| !gone(t.control)).cloned().collect();
        let tracks = all.len() - kept.len();
        if tracks > 0 {
            let keyframes = Keyframes { tracks: kept };
            let params = Params { keyframes, ..(*self.model.params).clone() };
            *self.model = self.model.with_params(params);
        }
        tracks
    }

    fn load(&mut self, body: BodyId, forces: &[DVec3]) -> Result<(), EditError> {
        let place = self.place_of(body)?;
        let n = self.model.bodies()[place].parts.whole().particle_count();
        if !forces.is_empty() && forces.len() != n {
            let text = format!("{} forces were given, and it was built with {n} particles", forces.len());
            return Err(self.refuse(place, text, "give one for each particle, or none at all".into()));
        }
        let allowed = |f: &DVec3| f.is_finite() && f.abs().max_element() <= 1e12;
        if let Some(i) = forces.iter().position(|f| !allowed(f)) {
            let help = "its components must be numbers from -1e12 to 1e12".into();
            return Err(self.refuse(place, format!("the force on particle {i} is {}", forces[i]), help));
        }
        let kept = &mut self.controls.bodies[place].forces;
        kept.clear();
        kept.extend_from_slice(forces);
        Ok(())
    }

    fn hold(&mut self, body: BodyId, hold: &Hold) -> Result<Effect, EditError> {
        let place = self.place_of(body)?;
        let Hold { name, mut particles, stiffness, motion } = hold.clone();
        particles.sort_unstable();
        particles.dedup();
        self.check_hold(place, &particles, stiffness, &motion)?;
        let parts = &self.model.bodies()[place].parts;
        let group = parts.next_pin;
        let mut pins = parts.whole().pins.to_vec();
        pins.push(PinGroup { id: group, name, particles: particles.clone(), motion, stiffness });
        let parts = parts.pinned(pins, group + 1);
        self.model.replace(place, parts);
        self.controls.bodies[place].pins.push(None);
        Ok(Effect::Held { place, group, particles, motion })
    }

    fn release(&mut self, body: BodyId, group: usize) -> Result<Effect, EditError> {
        let place = self.place_of(body)?;
        let parts = &self.model.bodies()[place].parts;
        let Some(k) = parts.pins.iter().position(|g| g.id == group) else {
            let known: Vec<String> = parts.pins.iter().map(|g| g.id.to_string()).collect();
            let help = match known.is_empty() {
                true => "nothing of the body is held".into(),
                false => format!("there are groups {}", known.join(", ")),
            };
            return Err(self.refuse(place, format!("there is no pin group {group}"), help));
        };
        let before: usize = parts.pins[..k].iter().map(|g| g.particles.len()).sum();
        let anchors = before..before + parts.pins[k].particles.len();
        let mut pins = parts.whole().pins.to_vec();
        pins.remove(k);
        let parts = parts.pinned(pins, parts.next_pin);
        self.model.replace(place, parts);
        self.controls.bodies[place].pins.remove(k);
        Ok(Effect::Released { place, group: k, anchors })
    }

    fn push(&mut self, body: BodyId, at: &[(u32, f64)], impulse: DVec3) -> Result<Effect, EditError> {
        let place = self.place_of(body)?;
        let parts = &self.model.bodies()[place].parts;
        let n = parts.particle_count();
        if let Some((i, _)) = at.iter().find(|(i, _)| *i as usize >= n) {
            let text = format!("particle {i} is not there (there are {n}, numbered from 0)");
            return Err(self.refuse(place, text, "push particles that exist".into()));
        }
        let sum: f64 = at.iter().map(|(_, w)| w).sum();
        if !((sum - 1.0).abs() < 1e-9 && at.iter().all(|(_, w)| w.is_finite())) {
            let help = "give weights that are numbers and sum to 1".into();
            return Err(self.refuse(place, format!("the weights of the point sum to {sum}"), help));
        }
        if !(impulse.is_finite() && impulse.abs().max_element() <= 1e12) {
            let help = "its components must be numbers from -1e12 to 1e12".into();
            return Err(self.refuse(place, format!("the impulse is {impulse}"), help));
        }
        let mass_ratio = parts.mass_ratio(&self.controls.bodies[place].values);
        let (at, whole) = (at.to_vec(), parts.whole().clone());
        Ok(Effect::Pushed { place, at, impulse, mass_ratio, whole })
    }

    fn tear(&mut self, body: BodyId, facets: &[u32]) -> Result<Effect, EditError> {
        let place = self.place_of(body)?;
        let whole = self.model.bodies()[place].parts.whole().clone();
        let solver = whole.solver();
        if let Support::No(instead) = support(solver, Feature::Tearing) {
            let text = format!("the {} solver does not support {}", solver.name(), Feature::Tearing.name());
            return Err(self.refuse(place, text, instead.into()));
        }
        if let Some(help) = tearing::obstacle(whole.prototype()) {
            return Err(self.refuse(place, "the body cannot tear".into(), help.into()));
        }
        let n = whole.facets().map_or(0, |f| f.len());
        if let Some(f) = facets.iter().find(|f| **f as usize >= n) {
            let text = format!("facet {f} is not there (there are {n}, numbered from 0)");
            let help = "take numbers from `BodyModel::facets`, as by `Facets::find`".into();
            return Err(self.refuse(place, text, help));
        }
        Ok(Effect::Torn { place, facets: facets.to_vec(), whole })
    }

    fn teleport(&mut self, body: BodyId, to: &DAffine3) -> Result<Effect, EditError> {
        let place = self.place_of(body)?;
        let turn = to.matrix3;
        let off = (turn * turn.transpose() - DMat3::IDENTITY).to_cols_array();
        let rigid = off.iter().all(|e| e.abs() < 1e-9) && turn.determinant() > 0.0;
        if !(to.is_finite() && rigid) {
            let help = "give a finite translation and a rotation without scale or mirror".into();
            return Err(self.refuse(place, "the placement is no rigid motion".into(), help));
        }
        if !self.model.bodies()[place].parts.pins.is_empty() {
            let help = "release its pins, move it, and hold it again".into();
            return Err(self.refuse(place, "it is held by pins".into(), help));
        }
        // To the nearest rotation: what is applied many times must not grow.
        let turn = DMat3::from_quat(DQuat::from_mat3(&turn).normalize());
        Ok(Effect::Moved { place, turn, by: to.translation })
    }

    /// Where a body stands in the model.
    pub(super) fn place_of(&self, body: BodyId) -> Result<usize, EditError> {
        let found = self.model.index(body);
        found.ok_or_else(|| EditError::NoBody { body, help: no_such_body(self.model, body) })
    }

    pub(super) fn refuse(&self, place: usize, message: String, help: String) -> EditError {
        EditError::Refused { body: self.model.bodies()[place].name.to_string(), message, help }
    }

    fn check_hold(
        &self,
        k: usize,
        particles: &[u32],
        stiffness: Option<f64>,
        motion: &Motion,
    ) -> Result<(), EditError> {
        let parts = &self.model.bodies()[k].parts;
        let n = parts.particle_count();
        if particles.is_empty() {
            return Err(self.refuse(k, "no particles to hold were given".into(), "give at least one".into()));
        }
        if let Some(i) = particles.iter().find(|i| **i as usize >= n) {
            let text = format!("particle {i} is not there (there are {n}, numbered from 0)");
            return Err(self.refuse(k, text, "hold particles that exist".into()));
        }
        if parts.rigid().is_some() && particles.len() != n {
            let help =
                "hold all four of its particles, or tie a point of it by a joint to a body that is held";
            return Err(self.refuse(k, "a part of a rigid body cannot be held".into(), help.into()));
        }
        let held = |i: &&u32| parts.pins.iter().find(|g| g.particles.binary_search(i).is_ok());
        if let Some((i, group)) = particles.iter().find_map(|i| Some((i, held(&i)?))) {
            let text = format!("particle {i} is held by group {} already", group.id);
            return Err(self.refuse(k, text, "release that group first, or hold others".into()));
        }
        if stiffness.is_some_and(|k| !(k > 0.0 && k.is_finite())) {
            let help = "give a number above 0, or `None` to hold exactly".into();
            return Err(self.refuse(k, format!("pin stiffness {stiffness:?}"), help));
        }
        let solver = parts.solver();
        if let (true, Support::No(instead)) = (stiffness.is_some(), support(solver, Feature::SoftPins)) {
            let text = format!("the {} solver does not support {}", solver.name(), Feature::SoftPins.name());
            return Err(self.refuse(k, text, instead.into()));
        }
        if !motion.is_finite() {
            let text = "the motion has numbers that are not finite".into();
            return Err(self.refuse(k, text, "give finite numbers".into()));
        }
        Ok(())
    }
}
