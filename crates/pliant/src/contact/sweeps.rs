//! Contact forces of one solid alone: each point's found by itself, one after the other and again, until none changes.
//!
//! A solid responds to forces in six ways only, so its movement is kept as a shift and a turn to which every change of a force adds
//! (projected Gauss-Seidel on what the points share). For a few points this is far quicker than steps of all forces at
//! once, and it knows how the arms of a solid that turns fast differ at both ends of the substep, which makes the response no
//! longer symmetric.

use super::PointContact;
use super::dual::{Link, Row};
use glam::{DMat3, DVec3};

/// How often all forces are found anew in a round.
const SWEEPS: usize = 60;
/// The movement, relative to the size of the solid, below which forces are settled.
const SETTLED: f64 = 1e-13;

/// How a solid responds: to a force f at the arm a, by f `per_mass` and a turn by `per_inertia` (a × f), which moves what is at the
/// arm b by its cross product.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SolidResponse<'a> {
    pub per_mass: f64,
    pub per_inertia: DMat3,
    /// For each node the arm that forces have, and the arm by which it moves.
    pub arms: &'a [[DVec3; 2]],
}

impl SolidResponse<'_> {
    /// That of nothing.
    pub const NONE: SolidResponse<'static> =
        SolidResponse { per_mass: 0.0, per_inertia: DMat3::ZERO, arms: &[] };

    /// How a point with these arms moves by forces on it.
    fn block(&self, [a, b]: [DVec3; 2]) -> DMat3 {
        let by = |axis: DVec3| axis * self.per_mass + (self.per_inertia * a.cross(axis)).cross(b);
        let [x, y, z] = DVec3::AXES.map(by);
        DMat3::from_cols(x, y, z)
    }
}

/// A contact as the sweeps see it.
#[derive(Clone, Copy, Debug)]
struct SweptRow {
    contact: PointContact,
    arms: [DVec3; 2],
    /// How far it is from where it is to be, with the forces there were.
    off: DVec3,
    /// The force it had.
    before: DVec3,
    /// Whether a push moves it out.
    yields: bool,
}

/// Room for the contacts of a solid.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweeps {
    list: Vec<SweptRow>,
}

impl Sweeps {
    pub fn reserve(&mut self, contacts: usize) {
        self.list.clear();
        self.list.reserve(contacts);
    }

    /// Finds the forces of rows from those they have; `share` is what of a force the solid gets.
    pub fn solve(&mut self, rows: &mut [Row], solid: SolidResponse<'_>, links: &[Link], share: f64) {
        self.list.clear();
        let mut first = 0;
        for row in rows.iter() {
            let (n, own) = (row.normal, &links[first..row.links as usize]);
            first = row.links as usize;
            let arms = own.iter().fold([DVec3::ZERO; 2], |sum, l| {
                let [a, b] = solid.arms[l.node as usize];
                [sum[0] + a * l.weight, sum[1] + b * l.weight]
            });
            let moved = row.free - row.start;
            let off = moved + n * (n.dot(row.start) - row.offset);
            self.list.push(SweptRow::new(row, solid, arms, off, share));
        }
        if self.sweep(rows, solid, share) {
            return;
        }
        // What turns by a large part of a circle within the substep is no longer told by its arms at the ends.
        for (row, swept) in rows.iter_mut().zip(&mut self.list) {
            let middle = (swept.arms[0] + swept.arms[1]) * 0.5;
            row.force = swept.before;
            *swept = SweptRow::new(row, solid, [middle; 2], swept.off, share);
        }
        self.sweep(rows, solid, share);
    }

    /// Goes over all rows until no force changes; tells whether they came nearer to that.
    fn sweep(&mut self, rows: &mut [Row], solid: SolidResponse<'_>, share: f64) -> bool {
        let SolidResponse { per_mass, per_inertia, .. } = solid;
        if self.list.iter().any(|swept| !swept.yields) {
            return false;
        }
        // By what the forces have changed.
        let (mut shift, mut turn) = (DVec3::ZERO, DVec3::ZERO);
        let mut first = 0.0_f64;
        for sweep in 0..SWEEPS {
            let mut changed = 0.0_f64;
            for (row, swept) in rows.iter_mut().zip(&self.list) {
                let off = swept.off + shift + turn.cross(swept.arms[1]);
                let next = swept.contact.next(row.force, off);
                let change = (next - row.force) * share;
                row.force = next;
                shift += change * per_mass;
                turn += per_inertia * swept.arms[0].cross(change);
                changed = changed.max(change.length() * per_mass / row.size);
            }
            if changed <= SETTLED {
                return true;
            }
            if sweep == 0 {
                first = changed;
            } else if changed.is_nan() || changed > 10.0 * first {
                return false;
            }
        }
        true
    }
}

impl SweptRow {
    fn new(row: &Row, solid: SolidResponse<'_>, arms: [DVec3; 2], off: DVec3, share: f64) -> SweptRow {
        let response = solid.block(arms) * share;
        let yields = row.normal.dot(response * row.normal) > 0.5 * share * solid.per_mass;
        let contact = PointContact::new(row.normal, row.friction, response);
        SweptRow { contact, arms, off, before: row.force, yields }
    }
}
