//! Rigid bodies in a session: recorded as poses, shown where they are, and taken up again to the bit.

use pliant_session::{InMemory, LogReader, MemoryLog, SceneSource, Session, SessionOptions};

const SCENE: &str = "frames = 40\nsubsteps = 2\n[output]\ncheckpoint_every = 10\n[[plane]]\n\
    [[body]]\nname = \"die\"\nkind = \"rigid\"\nshape = { kind = \"box\", size = [0.1, 0.2, 0.3] }\nposition = [0, 0.5, 0]\n\
    rotation = [20, 30, 40]\nspin = [5, -7, 3]\nrestitution = 0.4\n\
    [[body]]\nname = \"jelly\"\nshape = { kind = \"ball\", radius = 0.1 }\nparticles = 60\nposition = [1, 0.3, 0]\n\
    [[body]]\nname = \"late\"\nkind = \"rigid\"\nshape = \"capsule\"\nposition = [2, 0.6, 0]\nspin = [1, 2, 3]\n\
    [[event]]\nat = 0.25\nbody = \"late\"\nadd = true\n\
    [[event]]\nat = 0.5\nbody = \"late\"\nremove = true\n";

fn open() -> Session {
    Session::open(&SceneSource::text(SCENE), &InMemory::default(), SessionOptions::default()).unwrap()
}

fn run(session: &mut Session, frames: u32) {
    for _ in 0..frames {
        session.step().unwrap();
    }
}

fn whole() -> MemoryLog {
    let (mut session, log) = (open(), MemoryLog::default());
    session.record("run", Box::new(log.clone())).unwrap();
    run(&mut session, 40);
    session.finish_log().unwrap();
    log
}

#[test]
fn a_log_has_the_poses_of_the_bodies_it_shows() {
    let mut session = open();
    let reader = LogReader::from_bytes("run", whole().bytes()).unwrap();
    assert!(reader.header().bodies[0].rigid.is_some() && reader.header().bodies[1].rigid.is_none());
    let mut touched = false;
    for k in 0..=40 {
        let (frame, bodies) = (reader.frame(k).unwrap(), reader.bodies_at(k));
        // Events act in the step that leaves their frame.
        let late = (16..31).contains(&k);
        assert_eq!((bodies.len(), frame.poses.len()), if late { (3, 2) } else { (2, 1) }, "frame {k}");
        let placement = session.simulation().placement(0).unwrap();
        let mut shown = Vec::new();
        bodies[0].vertices(&frame, &mut shown);
        for (rest, v) in bodies[0].mesh.positions.iter().zip(&shown) {
            assert!(placement.transform_point3(*rest).distance(*v) < 1e-14, "frame {k}");
            assert!(frame.poses[0].of_point(*rest).distance(*v) < 1e-14, "frame {k}");
        }
        for (v, seen) in shown.iter().zip(session.surfaces()[0].positions()) {
            assert!(v.distance(*seen) < 1e-13, "frame {k}");
        }
        // What touches by a corner touches as a whole.
        let contact = &frame.contact[..4];
        assert!(contact.iter().all(|c| *c == contact[0]));
        touched |= contact[0] == 1;
        if k < 40 {
            run(&mut session, 1);
        }
    }
    assert!(touched);
}

#[test]
fn a_run_that_was_broken_off_goes_on_with_the_same_bytes() {
    let whole = whole();
    for broken_at in [5, 12, 17, 33] {
        let (mut session, log) = (open(), MemoryLog::default());
        session.record("run", Box::new(log.clone())).unwrap();
        run(&mut session, broken_at);
        drop(session);
        let mut session = open();
        session.resume("run", Box::new(log.clone()), 40).unwrap();
        while session.frame() < 40 {
            run(&mut session, 1);
        }
        session.finish_log().unwrap();
        assert!(log.bytes() == whole.bytes(), "broken off after {broken_at} frames");
    }
}
