//! The solvers of a simulation: bodies of the same parts that are equally stiff share them, and everything prepared.
//!
//! A solver is only a cache, so whichever of a pool moves a body gives the same bits. There are as many in a pool as
//! threads could use at once: a thousand copies of a body need one factor and working memory for two threads.

use crate::contact::{Contacts, PointCounts};
use crate::controls::{Controls, LiveControls};
use crate::island::{Island, Islands, Member};
use crate::model::{BodyModel, Model};
use crate::solvers::{Solver, SolverError, SolverKind, solver};
use pliant_math::lanes::Isa;
use std::sync::{Arc, Mutex, PoisonError};

/// Solvers that are ready for bodies of the same parts and stiffness.
#[derive(Debug)]
pub(crate) struct Pool {
    model: BodyModel,
    /// What its constraint batches are multiplied by.
    scales: Vec<f64>,
    isa: Isa,
    idle: Mutex<Vec<Box<dyn Solver>>>,
}

impl Pool {
    fn fits(&self, model: &BodyModel, controls: LiveControls<'_>) -> bool {
        let alike = || model.batch_scales(controls.body).eq(self.scales.iter().copied());
        self.model.same(model) && (model.batches().is_empty() || alike())
    }

    /// A solver that nobody uses.
    pub fn take(&self) -> Box<dyn Solver> {
        let taken = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        taken.unwrap_or_else(|| solver(self.model.solver(), self.isa))
    }

    /// The instruction set its kernels run with.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Gives one back.
    pub fn put(&self, solver: Box<dyn Solver>) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(solver);
    }

    /// Makes as many solvers as can be used at once.
    fn prepare(&self, controls: LiveControls<'_>, count: usize, touching: bool) -> Result<(), SolverError> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.is_empty() {
            idle.push(solver(self.model.solver(), self.isa));
        }
        idle[0].prepare(&self.model, controls)?;
        while idle.len() < count {
            let mut another = idle[0].duplicate();
            another.prepare(&self.model, controls)?;
            idle.push(another);
        }
        if touching {
            idle.iter_mut().for_each(|s| s.expect_contacts());
        }
        Ok(())
    }

    fn factor_len(&self) -> usize {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.first().map_or(0, |s| s.factor_len())
    }
}

/// The pools of all bodies.
#[derive(Debug)]
pub(crate) struct SolverPools {
    pools: Vec<Arc<Pool>>,
    /// The pool of each body, in the model's order.
    of_body: Vec<Arc<Pool>>,
    /// Room for the contacts of as many islands as there are threads.
    contacts: Mutex<Vec<Contacts>>,
    /// The colliders there is room for, and the islands whose couplings there is room for.
    colliders: usize,
    islands: u64,
    pub isa: Isa,
}

impl SolverPools {
    pub fn new(isa: Isa) -> SolverPools {
        SolverPools {
            pools: Vec::new(),
            of_body: Vec::new(),
            contacts: Mutex::default(),
            colliders: 0,
            islands: 0,
            isa,
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.pools.clear();
        self.of_body.clear();
    }

    /// The pool of the body of this place in the model.
    pub fn of(&self, index: usize) -> &Pool {
        &self.of_body[index]
    }

    /// Room for the contacts of an island.
    pub fn take_contacts(&self) -> Contacts {
        self.contacts.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Gives it back.
    pub fn put_contacts(&self, contacts: Contacts) {
        self.contacts.lock().unwrap_or_else(PoisonError::into_inner).push(contacts);
    }

    /// Sees to it that contacts and couplings of the largest island fit into what threads use, so that finding them
    /// allocates nothing.
    fn reserve_contacts(&mut self, model: &Model, islands: &Islands, threads: usize) {
        let contacts = self.contacts.get_mut().unwrap_or_else(PoisonError::into_inner);
        contacts.resize_with(threads.max(1), Contacts::default);
        let (islands, colliders) = (islands.list(), model.colliders().len());
        // Who meets colliders by itself and is tied to nothing has no contacts to find room for.
        let needed = |i: &Island, m: &Member| {
            let parts = &model.bodies()[m.place].parts;
            let touches = colliders > 0 && parts.solver() != SolverKind::Clustered;
            match touches || !i.ties().0.is_empty() {
                true => PointCounts { points: parts.point_count(), nodes: parts.node_count() },
                false => PointCounts { points: 0, nodes: 0 },
            }
        };
        // Of islands of one body the largest is enough for all.
        let alone =
            islands.iter().filter(|i| i.members.len() == 1).max_by_key(|i| needed(i, &i.members[0]).nodes);
        for island in islands.iter().filter(|i| i.members.len() > 1).chain(alone) {
            let sizes = island.members.iter().map(|m| needed(island, m));
            contacts.iter_mut().for_each(|c| c.reserve(sizes.clone(), colliders, island.ties()));
        }
    }

    /// Numbers in the matrix factors, body by body: what each solve of a body reads twice.
    pub fn factor_len(&self) -> usize {
        self.of_body.iter().map(|p| p.factor_len()).sum()
    }

    /// Sees to it that every body has a pool that fits; the islands are those of the model. Costs nothing while nothing changes.
    pub fn assign(
        &mut self,
        model: &Model,
        controls: &Controls,
        islands: &Islands,
        threads: usize,
    ) -> Result<(), SolverError> {
        let bodies = model.bodies();
        let fits = |pool: &Arc<Pool>, k: usize| pool.fits(&bodies[k].parts, controls.live(k));
        let (colliders, couplings) = (model.colliders().len(), model.couplings().len());
        let enough = colliders <= self.colliders && (couplings == 0 || self.islands == islands.revision);
        if enough
            && self.of_body.len() == bodies.len()
            && (0..bodies.len()).all(|k| fits(&self.of_body[k], k))
        {
            return Ok(());
        }
        self.reserve_contacts(model, islands, threads);
        (self.colliders, self.islands) = (colliders, islands.revision);
        let before = std::mem::take(&mut self.of_body);
        let mut last: Option<Arc<Pool>> = None;
        for (k, body) in bodies.iter().enumerate() {
            // Copies often follow one another.
            let found =
                last.as_ref().filter(|p| fits(p, k)).or_else(|| self.pools.iter().find(|p| fits(p, k)));
            let pool = match found {
                Some(pool) => pool.clone(),
                None => {
                    let live = controls.live(k);
                    // One of the same parts has the ordering already; its matrix is factored anew.
                    let alike = |p: &&Arc<Pool>| p.model.same(&body.parts);
                    let like = self.pools.iter().rev().find(alike).map(|p| {
                        let one = p.take();
                        let another = one.duplicate();
                        p.put(one);
                        another
                    });
                    let pool = Arc::new(Pool {
                        model: body.parts.clone(),
                        scales: body.parts.batch_scales(live.body).collect(),
                        isa: self.isa,
                        idle: Mutex::new(like.into_iter().collect()),
                    });
                    self.pools.push(pool.clone());
                    pool
                }
            };
            last = Some(pool.clone());
            self.of_body.push(pool);
        }
        drop(before);
        // Those that only the list of pools still knows.
        drop(last);
        self.pools.retain(|p| Arc::strong_count(p) > 1);
        let touching = colliders + couplings > 0 || model.params.body_contact;
        for (k, pool) in self.of_body.iter().enumerate() {
            let first = k == 0 || !Arc::ptr_eq(pool, &self.of_body[k - 1]);
            if first {
                let users = Arc::strong_count(pool) - 1;
                // Bodies that are tied to others move all at once.
                let together = if model.params.body_contact { bodies.len() } else { islands.together() };
                let count = users.min(threads + together);
                let prepared = pool.prepare(controls.live(k), count, touching);
                if prepared.is_err() {
                    self.clear();
                    return prepared;
                }
            }
        }
        Ok(())
    }
}
