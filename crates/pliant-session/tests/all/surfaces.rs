//! What a window draws: surfaces of bodies, in single precision seen from where the camera is.

use pliant_session::{InMemory, SceneSource, Session, SessionOptions};

#[test]
fn single_precision_loses_nothing_far_from_the_origin() {
    // A ball two thousand kilometres away: an f32 there is 0.25 m.
    let far = 2e6;
    let scene = format!(
        "gravity = [0, 0, 0]\n[[body]]\nname = \"ball\"\nshape = \"ball\"\nparticles = 60\nposition = [{far}, 0, 0]\n"
    );
    let source = SceneSource::text(&scene);
    let mut session = Session::open(&source, &InMemory::default(), SessionOptions::default()).unwrap();
    session.step().unwrap();
    let surface = &session.surfaces()[0];
    let (mut positions, mut normals) = (vec![[7.0; 3]; 5], Vec::new());
    surface.positions_f32([far, 0.0, 0.0], &mut positions);
    surface.normals_f32(&mut normals);
    assert_eq!((positions.len(), normals.len()), (surface.positions().len(), surface.normals().len()));
    for (exact, single) in surface.positions().iter().zip(&positions) {
        let off = [exact.x - far, exact.y, exact.z];
        assert!(off.iter().zip(single).all(|(a, b)| (a - f64::from(*b)).abs() < 1e-6), "{off:?} {single:?}");
    }
    let size = |n: &[f32; 3]| n.iter().map(|x| x * x).sum::<f32>();
    assert!(normals.iter().all(|n| (size(n) - 1.0).abs() < 1e-5));
    // From the world's origin the digits are gone, which is what the argument is for.
    surface.positions_f32([0.0; 3], &mut positions);
    assert!(positions.iter().all(|p| p[0] % 0.125 == 0.0));
}
