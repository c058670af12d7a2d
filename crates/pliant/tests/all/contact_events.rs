//! Contacts as data: what touches, and what begins and ends.

use crate::common::*;
use pliant::{
    Body, BodyId, Builder, Clustering, ColliderId, ContactChange, ContactWatch, DAffine3, DVec3, HalfSpace,
    Material, Simulation, SolverKind, shapes,
};

/// A corner of ground and wall, and a body of each solver that is thrown into it.
fn world() -> Simulation {
    let wall = HalfSpace { normal: DVec3::X, offset: -0.5, ..HalfSpace::ground() };
    let mut builder = Builder::new().ground().collider(wall);
    for (k, solver) in SolverKind::SOFT.into_iter().enumerate() {
        let mut body = match solver.uses_constraints() {
            false => Body::new("", shapes::ball(0.2, 0.05).unwrap()),
            true => {
                let size = DVec3::new(0.4, 0.2, 0.2);
                let bar = shapes::tet_box([4, 2, 2], size, shapes::TetStyle::Five).unwrap();
                Body::new("", bar).elastic(Material::named("jelly").unwrap()).solved_by(solver)
            }
        };
        body.name = solver.name().into();
        body.clusters = if solver.uses_constraints() { Clustering::None } else { Clustering::Count(6) };
        body.velocity = DVec3::new(-1.5, 0.0, 0.0);
        builder = builder.body(body.at(0.0, 0.4, k as f64));
    }
    builder.build().unwrap()
}

/// Body, collider and number of particles, by every particle and collider.
fn expected(s: &Simulation) -> Vec<(BodyId, ColliderId, usize)> {
    let mut all = Vec::new();
    for body in s.model().bodies() {
        for (k, plane) in s.state().half_spaces(s.model()).enumerate() {
            let radius = &body.parts.rest().radius;
            let near = |i: usize, x: DVec3| radius[i] + 1e-9 * (1.0 + x.abs().max_element());
            let touches =
                s.positions(body.id).enumerate().filter(|(i, x)| plane.gap(*x) <= near(*i, *x)).count();
            if touches > 0 {
                all.push((body.id, k.into(), touches));
            }
        }
    }
    all
}

#[test]
fn touches_are_of_particles_on_planes() {
    let mut s = world();
    let mut found = [0; 2];
    for _ in 0..60 {
        run(&mut s, 1);
        for (id, k, count) in expected(&s) {
            let x: Vec<DVec3> = s.positions(id).collect();
            let of: Vec<_> = s.touches(id).filter(|t| t.collider == k).collect();
            assert_eq!(of.len(), count);
            for touch in of {
                let plane = s.state().half_spaces(s.model()).nth(k.number() as usize).unwrap();
                let at = x[touch.particle as usize];
                let radius = s.model().get(id).unwrap().parts.rest().radius[touch.particle as usize];
                assert_eq!(touch.normal, plane.normal);
                assert!(plane.gap(touch.point).abs() < 1e-12 && touch.gap < 1e-8);
                assert!((at - touch.point - (radius + touch.gap) * plane.normal).length() < 1e-12);
                found[k.number() as usize] += 1;
            }
        }
        let ids: Vec<BodyId> = s.model().ids().collect();
        for id in ids {
            let order: Vec<_> = s.touches(id).map(|t| (t.particle, t.collider)).collect();
            assert!(order.windows(2).all(|w| w[0] < w[1]));
        }
    }
    assert!(found.iter().all(|n| *n > 100), "{found:?}");
    assert_eq!((s.touches(99).count(), s.velocities(99).len()), (0, 0));
}

#[test]
fn events_lead_from_one_look_to_the_next() {
    let (mut s, mut watch) = (world(), ContactWatch::new());
    let (mut known, mut began) = (Vec::new(), [0; 2]);
    for step in 0..150 {
        run(&mut s, 1);
        if step == 80 {
            s.remove(1).unwrap();
        }
        if step == 100 {
            s.teleport(2, DAffine3::from_translation(DVec3::Y)).unwrap();
        }
        let events = watch.look(&s).to_vec();
        assert!(
            events.windows(2).all(|w| (w[0].body, w[0].collider) < (w[1].body, w[1].collider)),
            "by body and collider"
        );
        for e in &events {
            let place = known
                .binary_search_by_key(&(e.body, e.collider), |k: &(BodyId, ColliderId, usize)| (k.0, k.1));
            match e.change {
                ContactChange::Began => {
                    known.insert(place.unwrap_err(), (e.body, e.collider, e.particles));
                    began[e.collider.number() as usize] += 1;
                }
                ContactChange::Ended => assert_eq!(known.remove(place.unwrap()).2, e.particles),
            }
        }
        let now = expected(&s);
        let pairs =
            |list: &[(BodyId, ColliderId, usize)]| list.iter().map(|e| (e.0, e.1)).collect::<Vec<_>>();
        assert_eq!(pairs(&known), pairs(&now), "what began and has not ended touches");
        assert_eq!(watch.touching().collect::<Vec<_>>(), now);
        known = now;
        let ended =
            |id: usize| events.iter().any(|e| e.body == id.into() && e.change == ContactChange::Ended);
        assert!(step != 80 || ended(1), "it is gone");
        assert!(step != 100 || ended(2), "it is elsewhere");
        assert!(watch.look(&s).is_empty(), "nothing happened since");
    }
    assert!(began.iter().all(|n| *n >= 4), "{began:?}");
}

#[test]
fn what_lies_still_makes_no_events() {
    let (mut s, mut watch) = (world(), ContactWatch::new());
    run(&mut s, 400);
    watch.look(&s);
    let mut flicker = Vec::new();
    for _ in 0..100 {
        run(&mut s, 1);
        flicker.extend(watch.look(&s).iter().filter(|e| e.collider == 0.into()).map(|e| (e.body, e.change)));
    }
    assert!(flicker.is_empty(), "{flicker:?}");
    assert_eq!(watch.touching().filter(|t| t.1 == 0.into()).count(), SolverKind::SOFT.len());
}

#[test]
fn velocities_are_those_of_each_particle() {
    let mut s = world();
    run(&mut s, 20);
    let ids: Vec<BodyId> = s.model().ids().collect();
    for id in ids {
        let each: Vec<DVec3> = (0..s.positions(id).len()).map(|i| s.velocity(id, i).unwrap()).collect();
        assert_eq!(s.velocities(id).collect::<Vec<_>>(), each);
        assert!(each.iter().any(|v| *v != DVec3::ZERO));
    }
}
