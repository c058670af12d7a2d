//! What is shown of a body: its mesh in one call, shared by copies, and nothing to those who move it.

use crate::common::*;
use pliant::{Body, Builder, ContactRadius, DVec3, Material, RenderMesh, SurfaceMesh, shapes};
use pliant_geometry::{Skin, SkinBinding, TriMesh};
use std::sync::Arc;

fn bear(name: &str) -> Body {
    Body::new(name, shapes::gummy_bear(0.6, 0.1).unwrap()).at(0.0, 0.5, 0.0)
}

#[test]
fn the_mesh_is_the_skin_of_the_particles() {
    let thread = shapes::thread(&[DVec3::ZERO, DVec3::X], 10).unwrap();
    let bodies = [
        bear("bear"),
        Body::new("cloth", shapes::sheet(0.5, 0.5, 6, 6).unwrap())
            .elastic(Material::named("cotton").unwrap())
            .at(1.0, 0.3, 0.0),
        Body::new("thread", thread).elastic(Material::named("cotton").unwrap()).at(2.0, 0.3, 0.0),
    ];
    let mut builder = Builder::new().ground();
    builder.bodies = bodies.to_vec();
    let mut s = builder.build().unwrap();
    run(&mut s, 30);
    let (mut mesh, mut render) = (SurfaceMesh::default(), RenderMesh::default());
    let (mut vertices, mut normals) = (Vec::new(), Vec::new());
    let origin = DVec3::new(1.0, 2.0, 3.0);
    for (k, body) in bodies.iter().enumerate() {
        let triangles = s.surface(k, &mut mesh).unwrap();
        assert_eq!(triangles, body.shape.surface.triangles);
        body.shape.skin.apply(s.state().bodies()[k].positions().columns(), &mut vertices);
        TriMesh::vertex_normals(&vertices, triangles, &mut normals);
        assert_eq!((mesh.positions(), mesh.normals()), (&vertices[..], &normals[..]));
        assert!(mesh.normals().iter().all(|n| (n.length() - 1.0).abs() < 1e-12));
        assert_eq!(s.render_mesh(k, origin, &mut render), Some(triangles));
        for (single, double) in render.positions().iter().zip(mesh.positions()) {
            assert_eq!(*single, (*double - origin).as_vec3().to_array());
        }
        assert_eq!(render.positions().len(), vertices.len());
        let single: Vec<[f32; 3]> = normals.iter().map(|n| n.as_vec3().to_array()).collect();
        assert_eq!(render.normals(), single);
    }
    // The thread shows its particles.
    assert!(s.positions(2).eq(mesh.positions().iter().copied()));
    assert_eq!((s.surface(9, &mut mesh), s.render_mesh(9, origin, &mut render)), (None, None));
    assert!(mesh.positions().is_empty() && mesh.normals().is_empty());
    assert!(render.positions().is_empty() && render.normals().is_empty());
}

#[test]
fn copies_share_what_is_shown_and_looks_change_no_prototype_and_no_bits() {
    let plain = |name: &str| {
        let mut body = bear(name);
        body.contact_radius = ContactRadius::Fixed(0.02);
        body
    };
    let mut fine = plain("fine");
    fine.shape.surface = shapes::gummy_bear(0.6, 0.05).unwrap().surface;
    let bind =
        |body: &Body| Skin::bind_to(SkinBinding::Particles, &body.shape, None, &body.shape.surface.positions);
    fine.shape.skin = bind(&fine).unwrap();
    let mut s = Builder::new().ground().body(plain("a")).body(fine).body(plain("b")).build().unwrap();
    let late = s.add(plain("c")).unwrap();
    let of = |id: usize| s.model().get(id).unwrap().parts.clone();
    for id in [1, 2, 3] {
        assert!(Arc::ptr_eq(of(0).prototype(), of(id).prototype()));
        assert_eq!(Arc::ptr_eq(of(0).shown(), of(id).shown()), id != 1);
    }
    assert_eq!(late.number(), 3);
    assert!(of(1).shown().skin() != of(0).shown().skin());
    // A body that only looks different is the same model, and moves to the same bits.
    let mut bare = plain("a");
    bare.shape.surface = TriMesh::default();
    bare.shape.skin = Skin::default();
    let [mut a, mut b] = [plain("a"), bare].map(|body| Builder::new().ground().body(body).build().unwrap());
    assert_eq!(a.model().id(), b.model().id());
    run(&mut a, 20);
    run(&mut b, 20);
    assert!(bits(&a) == bits(&b));
    b.restore(&a.checkpoint()).unwrap();
}

#[test]
fn surfaces_that_refer_to_what_is_not_there_are_refused() {
    let refused = |what: &str, change: fn(&mut Body)| {
        let mut body = bear("bear");
        change(&mut body);
        let error = Builder::new().body(body).build().unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    };
    refused("refers to vertex", |b| b.shape.surface.triangles[3][1] = u32::MAX);
    refused("the skin's particles", |b| b.shape.skin.particles[0] = 100_000);
    refused("not finite", |b| b.shape.skin.weights[0] = f64::NAN);
    refused("the skin has 0 vertices", |b| b.shape.skin = Skin::default());
}
