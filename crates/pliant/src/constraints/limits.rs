//! Two bounds on a ratio to the shape at rest.

use super::Properties;
use crate::bytes::{Reader, Truncated, Writer};

/// Smallest and largest ratio allowed; 1 is the rest shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The smallest, at least 0.
    pub min: f64,
    /// The largest, at least `min`.
    pub max: f64,
}

/// What stands for no upper bound: finite, so that nothing computed from it is not.
const UNBOUNDED: f64 = 1e100;

impl Limits {
    /// Bounds; an infinite upper one is none.
    pub fn new([min, max]: [f64; 2]) -> Limits {
        Limits { min, max: max.min(UNBOUNDED) }
    }

    /// The properties of a set of gradients within these limits.
    pub(super) fn properties(&self) -> Properties {
        Properties {
            rigid_invariant: true,
            exact_nearest: true,
            rest_is_free: self.min <= 1.0 && self.max >= 1.0,
            sees_reflection: false,
        }
    }

    pub(super) fn encode(&self, w: &mut Writer) {
        w.number(self.min);
        w.number(self.max);
    }

    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Limits, Truncated> {
        Ok(Limits { min: r.number()?, max: r.number()? })
    }
}

/// A set of gradients of tetrahedra and triangles that is given by two bounds: `$set` of these names, with
/// nearest points by `$three` (over packs) and `$two`, second derivatives by `$slopes` of the stretches, and `$strain`
/// of them for statistics.
macro_rules! limited_set {
    ($set:ident, [$of_tetrahedra:literal, $of_triangles:literal], $three:path, $two:path, $slopes:ident,
     $strain:expr) => {
        impl GradientSet<3> for $set {
            fn kind(&self) -> &'static str {
                $of_tetrahedra
            }

            fn properties(&self) -> Properties {
                Properties { sees_reflection: true, ..self.0.properties() }
            }

            #[inline(always)]
            fn project<L: Lanes, const N: usize>(
                &self,
                l: L,
                _: usize,
                f: &[[V3<L>; 3]; N],
            ) -> [[V3<L>; 3]; N] {
                $three(l, f, &[l.splat(self.0.min); N], &[l.splat(self.0.max); N])
            }

            fn has_hessian(&self) -> bool {
                true
            }

            fn curvature(
                &self,
                _element: usize,
                f: [DVec3; 3],
                t: [DVec3; 3],
                clamped: bool,
            ) -> [[DMat3; 3]; 3] {
                curvature3(f, t, ($slopes, self.0.min == self.0.max), clamped)
            }

            fn encode(&self, w: &mut Writer) {
                self.0.encode(w);
            }

            fn decode(r: &mut Reader<'_>, _elements: usize) -> Result<Self, Truncated> {
                Limits::decode(r).map($set)
            }

            fn strain(&self, f: [DVec3; 3]) -> f64 {
                let strain: fn(&[f64]) -> f64 = $strain;
                strain(&stretches(f))
            }
        }

        impl GradientSet<2> for $set {
            fn kind(&self) -> &'static str {
                $of_triangles
            }

            fn properties(&self) -> Properties {
                self.0.properties()
            }

            #[inline(always)]
            fn project<L: Lanes, const N: usize>(
                &self,
                l: L,
                _: usize,
                f: &[[V3<L>; 2]; N],
            ) -> [[V3<L>; 2]; N] {
                let (min, max) = (l.splat(self.0.min), l.splat(self.0.max));
                let mut t = *f;
                for k in 0..N {
                    t[k] = $two(l, &f[k], min, max);
                }
                t
            }

            fn has_hessian(&self) -> bool {
                true
            }

            fn curvature(
                &self,
                _element: usize,
                f: [DVec3; 2],
                t: [DVec3; 2],
                clamped: bool,
            ) -> [[DMat3; 2]; 2] {
                curvature2(f, t, ($slopes, self.0.min == self.0.max), clamped)
            }

            fn encode(&self, w: &mut Writer) {
                self.0.encode(w);
            }

            fn decode(r: &mut Reader<'_>, _elements: usize) -> Result<Self, Truncated> {
                Limits::decode(r).map($set)
            }

            fn strain(&self, f: [DVec3; 2]) -> f64 {
                let strain: fn(&[f64]) -> f64 = $strain;
                strain(&stretches(f))
            }
        }
    };
}
pub(super) use limited_set;

#[cfg(test)]
pub(super) mod tests {
    use super::Limits;
    use crate::constraints::conformance;
    use crate::constraints::simplex::tests::{tetrahedra, triangles};
    use crate::constraints::simplex::{GradientSet, Simplices};

    /// Holds a set to what it declares, within limits of every kind.
    pub fn conform<S: GradientSet<3> + GradientSet<2>>(set: impl Fn(Limits) -> S) {
        for limits in [[1.0, 1.0], [0.9, 1.1], [0.0, 1.5], [1.0, f64::INFINITY], [1.2, 1.4]] {
            let (rest, elements) = tetrahedra();
            let set = set(Limits::new(limits));
            let batch = Simplices::<3, _>::new(set.clone(), &elements, &rest, &[0.5, 0.3], None).unwrap();
            conformance::check(&batch, &rest).unwrap_or_else(|e| panic!("tetrahedra, {limits:?}: {e:?}"));
            let (rest, elements) = triangles();
            let batch = Simplices::<2, _>::new(set, &elements, &rest, &[0.5, 0.3], None).unwrap();
            conformance::check(&batch, &rest).unwrap_or_else(|e| panic!("triangles, {limits:?}: {e:?}"));
        }
    }
}
