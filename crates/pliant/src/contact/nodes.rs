//! The particles of a body that contacts hold, the forces on them, and how they move by these.

use glam::DVec3;

/// Nodes per tile of movements: lanes of the kernels that respond.
pub(crate) const WIDTH: usize = 8;

/// The particles of one body that contacts hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nodes {
    particles: Vec<u32>,
    /// Of each particle: its node, counted from 1; 0 if it is none.
    node_of: Vec<u32>,
    /// Forces on the nodes: x, y and z.
    forces: [Vec<f64>; 3],
    /// Those that a force is on, with it.
    loaded: Vec<(u32, [f64; 3])>,
    /// How much each node counts in the bound of the others' responses.
    pub weights: Vec<f64>,
    /// Movements that follow from the forces, or in x what follows from the weights; eight nodes at a time.
    pub moved: [Vec<[f64; WIDTH]>; 3],
}

/// How the nodes of a body respond where that is one number for each pair of them.
#[derive(Clone)]
pub(crate) struct PairResponse<'a> {
    /// Tiles of eight nodes: for each node the response of those eight to a force on it.
    pub block: &'a [[f64; WIDTH]],
    pub nodes: usize,
    /// What all are to be multiplied by.
    pub scale: f64,
    /// Another one where the numbers are others; for the same nodes they are the same as long as it is.
    pub key: &'a ResponseKey,
}

/// What tells matrices apart, without a look at their numbers.
pub(crate) type ResponseKey = std::sync::Arc<dyn std::any::Any + Send + Sync>;

impl PairResponse<'_> {
    /// How far node `a` moves by a unit force on node `b`.
    pub fn get(&self, a: u32, b: u32) -> f64 {
        let (a, b) = (a as usize, b as usize);
        self.block[a / WIDTH * self.nodes + b][a % WIDTH] * self.scale
    }
}

/// Nodes with the forces on them, and the movements of all nodes.
pub(crate) type LoadedAndMovements<'a> = (&'a [(u32, [f64; 3])], [&'a mut [[f64; WIDTH]]; 3]);

impl Nodes {
    /// Forgets the nodes and makes room for those of a body of so many particles.
    pub fn begin(&mut self, particles: usize) {
        for i in self.particles.drain(..) {
            self.node_of[i as usize] = 0;
        }
        if self.node_of.len() < particles {
            self.node_of.resize(particles, 0);
        }
    }

    /// Makes room for so many nodes, so that adding them allocates nothing.
    pub fn reserve(&mut self, particles: usize) {
        self.begin(particles);
        self.particles.reserve(particles);
        self.weights.reserve(particles);
        self.loaded.clear();
        self.loaded.reserve(particles);
        self.forces.iter_mut().for_each(|column| column.reserve(particles));
        self.moved.iter_mut().for_each(|column| column.reserve(particles.div_ceil(WIDTH)));
    }

    /// The node of a particle, which becomes one if it was none.
    pub fn of(&mut self, particle: u32) -> u32 {
        if self.node_of.len() <= particle as usize {
            self.node_of.resize(particle as usize + 1, 0);
        }
        let node = &mut self.node_of[particle as usize];
        if *node == 0 {
            self.particles.push(particle);
            *node = self.particles.len() as u32;
        }
        *node - 1
    }

    pub fn particles(&self) -> &[u32] {
        &self.particles
    }

    pub fn len(&self) -> usize {
        self.particles.len()
    }

    pub fn is_empty(&self) -> bool {
        self.particles.is_empty()
    }

    /// The nodes that forces are on, with these, and where movements go.
    pub fn loaded_and_movements(&mut self) -> LoadedAndMovements<'_> {
        let Nodes { forces: [fx, fy, fz], loaded, moved: [x, y, z], .. } = self;
        loaded.clear();
        let all = fx
            .iter()
            .zip(fy.iter())
            .zip(fz.iter())
            .enumerate()
            .map(|(k, ((x, y), z))| (k as u32, [*x, *y, *z]));
        loaded.extend(all.filter(|(_, f)| *f != [0.0; 3]));
        (loaded, [x, y, z])
    }

    /// The force on a node.
    pub fn force(&self, node: usize) -> DVec3 {
        let [x, y, z] = &self.forces;
        DVec3::new(x[node], y[node], z[node])
    }

    /// Every node's particle with the force on it.
    pub fn loads(&self) -> impl Iterator<Item = (u32, DVec3)> + Clone + '_ {
        self.particles.iter().enumerate().map(|(k, i)| (*i, self.force(k)))
    }

    /// Takes all forces away, and sizes everything for the nodes there are.
    pub fn unload(&mut self) {
        let (nodes, tiles) = (self.len(), self.len().div_ceil(WIDTH));
        for column in &mut self.forces {
            column.clear();
            column.resize(nodes, 0.0);
        }
        for column in &mut self.moved {
            column.resize(tiles, [0.0; WIDTH]);
        }
        self.weights.clear();
        self.weights.resize(nodes, 0.0);
    }

    /// Puts a force on a node.
    pub fn set_force(&mut self, node: usize, to: DVec3) {
        for (column, value) in self.forces.iter_mut().zip(to.to_array()) {
            column[node] = value;
        }
    }

    /// Makes the forces the weights, along an axis.
    pub fn load_weights(&mut self, axis: DVec3) {
        for k in 0..self.len() {
            self.set_force(k, axis * self.weights[k]);
        }
    }

    /// Adds to the force on a node.
    pub fn load(&mut self, node: usize, force: DVec3) {
        let [x, y, z] = &mut self.forces;
        (x[node], y[node], z[node]) = (x[node] + force.x, y[node] + force.y, z[node] + force.z);
    }

    /// How a node moves.
    pub fn movement(&self, node: usize) -> DVec3 {
        let (tile, lane) = (node / WIDTH, node % WIDTH);
        let [x, y, z] = &self.moved;
        DVec3::new(x[tile][lane], y[tile][lane], z[tile][lane])
    }

    pub fn set_movement(&mut self, node: usize, to: DVec3) {
        for (column, value) in self.moved.iter_mut().zip(to.to_array()) {
            column[node / WIDTH][node % WIDTH] = value;
        }
    }
}
