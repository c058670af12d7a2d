//! Morph targets and animations.

use super::sample::{Sample, TRIANGLE};
use glam::{DQuat, DVec3};
use serde_json::json;

/// A triangle with two targets, one up and one along x.
fn morphing() -> Sample {
    let mut sample = Sample::new();
    let positions = sample.floats(&TRIANGLE);
    let up = sample.floats(&[[0., 0., 1.]; 3]);
    let along = sample.floats(&[[1., 0., 0.]; 3]);
    let primitive =
        json!({"attributes": {"POSITION": positions}, "targets": [{"POSITION": up}, {"POSITION": along}]});
    let mesh = sample.mesh(json!([primitive]));
    sample.node(json!({"mesh": mesh}));
    sample
}

#[test]
fn default_weights_apply_and_those_of_the_node_win() {
    let mut sample = morphing();
    sample.json["meshes"][0]["weights"] = json!([0.5, 2]);
    assert_eq!(sample.read().meshes[0].positions[0], DVec3::new(2.0, 0.0, 0.5));
    sample.json["nodes"][0]["weights"] = json!([0, 1]);
    assert_eq!(sample.read().meshes[0].positions[0], DVec3::new(1.0, 0.0, 0.0));
    assert_eq!(sample.read().meshes[0].animation, None);
}

#[test]
fn normals_follow_default_weights() {
    let mut sample = Sample::new();
    let positions = sample.floats(&TRIANGLE);
    let normals = sample.floats(&[[0., 0., 1.]; 3]);
    // The corner at y = 1 goes to z = 1: the face turns to −y.
    let tilt = sample.floats(&[[0.; 3], [0.; 3], [0., -1., 1.]]);
    let mesh = sample.mesh(
        json!([{"attributes": {"POSITION": positions, "NORMAL": normals}, "targets": [{"POSITION": tilt}]}]),
    );
    sample.node(json!({"mesh": mesh, "weights": [1]}));
    let found = &sample.read().meshes[0];
    let normal = DVec3::from_array(found.attributes.normals.values[0].map(f64::from));
    assert!(normal.distance(-DVec3::Y) < 1e-6, "{normal}");
}

#[test]
fn weights_over_time_and_the_chain_of_nodes() {
    let mut sample = morphing();
    // Weights are held, the node's parent moves on straight lines between other times.
    let (times, weights) = (sample.floats(&[[0.0], [1.0]]), sample.floats(&[[0.], [0.], [1.], [0.5]]));
    sample.animate(0, "weights", "STEP", times, weights);
    sample.json["nodes"].as_array_mut().unwrap().push(json!({"children": [0], "translation": [9, 9, 9]}));
    sample.json["scenes"][0]["nodes"] = json!([1]);
    let (times, places) = (sample.floats(&[[0.5], [1.5]]), sample.floats(&[[0., 0., 0.], [0., 4., 0.]]));
    sample.animate(1, "translation", "LINEAR", times, places);
    let found = sample.read();
    assert_eq!(found.meshes[0].positions[0], DVec3::splat(9.0));
    let animation = found.meshes[0].animation.as_ref().unwrap();
    assert_eq!(animation.times, [0.0, 0.5, 1.0, 1.5]);
    let first: Vec<[f64; 3]> = animation.samples.iter().map(|s| s[0].to_array()).collect();
    assert_eq!(first, [[0., 0., 0.], [0., 0., 0.], [0.5, 2., 1.], [0.5, 4., 1.]]);
    // A second clip over the same is passed over and noted.
    sample.animate(1, "translation", "LINEAR", times, places);
    assert!(sample.read().notes[0].contains("1 of 3 animations"), "{:?}", sample.read().notes);
}

#[test]
fn turns_stay_on_their_arcs() {
    let mut sample = morphing();
    let (times, turns) =
        (sample.floats(&[[0.0], [2.0]]), sample.floats(&[[0., 0., 0., 1.], [0., 0., 1., 0.]]));
    sample.animate(0, "rotation", "LINEAR", times, turns);
    let found = sample.read();
    let animation = found.meshes[0].animation.as_ref().unwrap();
    assert!(
        animation.times.len() > 30 && animation.times.is_sorted() && animation.times.last() == Some(&2.0)
    );
    for (t, sample) in animation.times.iter().zip(&animation.samples) {
        let want = DQuat::from_rotation_z(t / 2.0 * std::f64::consts::PI) * DVec3::X;
        assert!(sample[1].distance(want) < 1e-6, "{t}: {}", sample[1]);
    }
}

#[test]
fn cubic_weights_are_sampled_between_their_keyframes() {
    let mut sample = morphing();
    // In-tangent, value, out-tangent of both weights at 0 and at 1: the first is 3s² − 2s³.
    let zero = [0.0_f32; 2];
    let values = [zero, zero, zero, zero, [1.0, 0.0], zero];
    let output: Vec<[f32; 1]> = values.as_flattened().iter().map(|&x| [x]).collect();
    let (times, weights) = (sample.floats(&[[0.0], [1.0]]), sample.floats(&output));
    sample.animate(0, "weights", "CUBICSPLINE", times, weights);
    let found = sample.read();
    let animation = found.meshes[0].animation.as_ref().unwrap();
    assert_eq!(animation.times.len(), 9);
    for (s, sample) in animation.times.iter().zip(&animation.samples) {
        assert!((sample[0].z - (3.0 * s * s - 2.0 * s * s * s)).abs() < 1e-12);
    }
}

#[test]
fn instances_move_apart() {
    let mut sample = morphing();
    sample.node(json!({"mesh": 0, "name": "other"}));
    let (times, weights) = (sample.floats(&[[0.0], [1.0]]), sample.floats(&[[0.], [0.], [1.], [0.]]));
    sample.animate(1, "weights", "LINEAR", times, weights);
    let found = sample.read();
    assert!(found.meshes[0].animation.is_none());
    assert_eq!(found.meshes[1].animation.as_ref().unwrap().samples[1][0], DVec3::Z);
    assert_eq!(found.meshes[1].name, "other");
}
