//! Questions allocate nothing once they were asked: queries, meshes, contacts and their events.

use crate::counting::allocations_here;
use pliant::{
    Body, BodyId, Builder, Clustering, ContactWatch, DVec3, Queries, RenderMesh, SurfaceMesh, Touches, shapes,
};

#[test]
fn questions_allocate_nothing_once_they_were_asked() {
    let mut cloth =
        Body::new("cloth", shapes::sheet(1.0, 1.0, 10, 10).unwrap()).projective().at(0.5, 1.0, 0.0);
    cloth.clusters = Clustering::None;
    cloth.controls.edge_stiffness = 100.0;
    // Standing off it, by normal offsets; and a bear that rides on clusters, by handles.
    let mut quilt = shapes::cuboid(DVec3::new(0.6, 0.1, 0.6), 0.1).unwrap().surface;
    quilt.positions.iter_mut().for_each(|p| p.y += 0.06);
    let bind = pliant_geometry::Skin::bind_to;
    cloth.shape.skin =
        bind(pliant_geometry::SkinBinding::Cloth, &cloth.shape, None, &quilt.positions).unwrap();
    cloth.shape.surface = quilt;
    let mut bear = Body::new("bear", shapes::gummy_bear(0.5, 0.05).unwrap()).at(0.0, 0.3, 0.0);
    let clusters = bear.covering().unwrap().build(&bear.shape.points).unwrap();
    let vertices = &bear.shape.surface.positions;
    bear.shape.skin =
        bind(pliant_geometry::SkinBinding::Clusters, &bear.shape, Some(&clusters), vertices).unwrap();
    let cloud = shapes::from_points((0..50).map(|k| DVec3::X * 0.05 * f64::from(k)).collect()).unwrap();
    let cloud = Body::new("cloud", cloud).at(0.0, 0.5, 0.5);
    let mut s = Builder::new().ground().body(cloth).body(bear).body(cloud).build().unwrap();
    let (mut queries, mut watch) = (Queries::new().least_radius(0.02), ContactWatch::new());
    let mut touches = Touches::default();
    let (mut mesh, mut render) = (SurfaceMesh::default(), RenderMesh::default());
    let (mut hits, mut weights, mut particles) = (Vec::new(), Vec::new(), Vec::new());
    let (mut bodies, mut inside) = (Vec::new(), Vec::new());
    // Room that the host gives for lists whose lengths vary.
    hits.reserve(200);
    weights.reserve(2000);
    particles.reserve(2000);
    bodies.reserve(9);
    inside.reserve(9999);
    let (mut found, mut before) = (0, 0);
    for step in 0..40 {
        s.step().unwrap();
        if step == 20 {
            before = allocations_here();
        }
        queries.refresh(&s);
        for k in 0..20 {
            let from = DVec3::new(0.05 * f64::from(k), 3.0, 0.02 * f64::from(k));
            queries.cast_all(from, DVec3::NEG_Y, 9.0, &mut hits);
            for hit in
                hits.iter().copied().chain(queries.nearest(from, 9.0)).chain(queries.cast(from, -from, 9.0))
            {
                found += usize::from(queries.grip(&hit, &mut weights, &mut particles));
            }
            queries.bodies_in_ball(from - 2.0 * DVec3::Y, 1.0, &mut bodies);
            queries.particles_in_ball(from - 2.0 * DVec3::Y, 1.0, &mut inside);
            found += bodies.len() + inside.len();
        }
        for k in 0..3 {
            let id = BodyId::from_number(k);
            found += s.surface(id, &mut mesh).unwrap().len();
            found += s.render_mesh(id, DVec3::ONE, &mut render).unwrap().len();
            found += touches.look(&s, id).len() + s.velocities(id).len();
            found += usize::from(queries.bounds(id).is_some() && queries.bounds_of_all().is_some());
        }
        found += watch.look(&s).len();
    }
    let after = allocations_here();
    assert!(found > 10_000 && watch.touching().len() > 0);
    assert_eq!(after - before, 0, "allocations in 20 steps of questions");
}
