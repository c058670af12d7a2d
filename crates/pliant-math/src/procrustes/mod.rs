//! The best-fit rigid transform of a weighted cloud of points (the Procrustes transform), and its derivative.
//!
//! A [`Cloud`] is a set of *parents* at rest. Wherever the parents are now, [`Cloud::fit`] finds the rotation R and
//! the translation t that bring the rest shape nearest to them, min Σ wᵢ|R vᵢ + t − xᵢ|² with vᵢ the rest offsets from
//! the weighted rest mean, and the [`Fit`] carries any number of bound points along: φ(x) = R v_b + t with t = Σ wᵢ xᵢ.
//! Bound points may be anywhere, also far outside the cloud; unlike with barycentric coordinates no weight is ever
//! negative ("The Point Cloud Glue", Twigg and Kačić-Alesić, 2010).
//!
//! # The derivative
//!
//! R maximises tr(RᵀA) for A = Σ wᵢ (xᵢ − t) vᵢᵀ (world × rest), so P = A Rᵀ = Σ wᵢ (xᵢ − t) rᵢᵀ is symmetric, with rᵢ =
//! R vᵢ, which is to say Σ wᵢ rᵢ × (xᵢ − t) = 0. Differentiating that with dR = \[ω\]ₓ R, and (ω × r) × p = r (p·ω) − ω (r·p):
//!
//! > K ω = Σ wᵢ rᵢ × dxᵢ  with  K = tr(P) I − P
//!
//! (dt drops out as Σ wᵢ rᵢ = 0). K has the sums of two singular values of A as its eigenvalues: those the paper
//! divides by in (16), found there by differentiating U and V one by one. From dφ = Σ wᵢ dxᵢ + ω × r_b follow
//!
//! > ∂φ/∂xᵢ = wᵢ (I − \[r_b\]ₓ K⁻¹ \[rᵢ\]ₓ)  and, transposed,  fᵢ = wᵢ (f + K⁻¹(r_b × f) × rᵢ)
//!
//! for a force f on the bound point. Hence Σ fᵢ = f, and Σ xᵢ × fᵢ = φ × f because Σ wᵢ pᵢ × (y × rᵢ) = K y for every y; and a
//! rigid velocity of the parents, however deformed they are, is a rigid velocity of the bound point. The paper's (21)
//! gives no more than the direction of this; its A is transposed.
//!
//! # Where it is not defined, and what is done there
//!
//! K is singular where two singular values, the last with the sign of det A, sum to zero: the parents have collapsed to
//! a line or a point, or are mirrored and two directions cannot be told apart. Among equally good rotations the one nearest
//! to a given previous one is then taken ([`nearest_rotation`](crate::nearest_rotation)); R jumps or is free to spin
//! about the line. The derivative keeps the directions that are determined and fades the others to nothing
//! ([`Fit::is_determined`] says so): bounded, continuous in K, and never NaN. Forces are still transferred in full; of torques
//! what lies along a faded direction is not, as no forces on points of a line have a torque about it.
//!
//! ```
//! use glam::{DMat3, DVec3};
//! use pliant_math::procrustes::Cloud;
//!
//! // A button bound beside three points of a cloth.
//! let rest = [DVec3::ZERO, DVec3::X, DVec3::Y];
//! let cloud = Cloud::new(&rest, &[1.0; 3])?;
//! let button = DVec3::new(0.2, 0.2, 0.5);
//!
//! // The cloth has moved; the button follows.
//! let turn = DMat3::from_rotation_x(0.3);
//! let now = rest.map(|x| turn * x + DVec3::Z);
//! let fit = cloud.fit(|i| now[i], DMat3::IDENTITY);
//! assert!((fit.place(button) - (turn * button + DVec3::Z)).length() < 1e-14);
//!
//! // A force on the button becomes forces on the cloth, of the same sum and the same torque.
//! let weight = DVec3::new(0.0, -9.81, 0.0);
//! let load = fit.load(button, weight);
//! let shares: Vec<DVec3> = (0..3).map(|i| fit.share(&cloud, i, &load)).collect();
//! let sum: DVec3 = shares.iter().sum();
//! let torque: DVec3 = now.iter().zip(&shares).map(|(x, f)| x.cross(*f)).sum();
//! assert!((sum - weight).length() < 1e-13);
//! assert!((torque - fit.place(button).cross(weight)).length() < 1e-13);
//! # Ok::<(), pliant_math::procrustes::CloudError>(())
//! ```

mod cloud;
mod error;
mod fit;
mod jacobian;
#[cfg(test)]
mod tests;

pub use cloud::Cloud;
pub use error::{CloudError, CloudFault};
pub use fit::Fit;
pub use jacobian::Load;
