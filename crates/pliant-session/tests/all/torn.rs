//! A body that tears: going back before a tear shows it whole again, with the bits and the log of a run that went straight on.

use pliant_session::{Control, InMemory, LogReader, MemoryLog, SceneSource, Session, SessionOptions};

fn open() -> Session {
    let demo = SceneSource::Demo("pulled_jelly".into());
    Session::open(&demo, &InMemory::default(), SessionOptions::default().threads(2)).unwrap()
}

/// The frame in which the bar is first torn, and some more.
fn run_until_torn(session: &mut Session) -> u64 {
    while session.bodies().iter().all(|b| b.version == 0) {
        session.step().unwrap();
        assert!(session.frame() < 400, "the bar never tears");
    }
    let torn = session.frame();
    for _ in 0..4 {
        session.step().unwrap();
    }
    torn
}

#[test]
fn before_a_tear_a_body_is_whole_again() {
    let (mut session, log) = (open(), MemoryLog::default());
    session.record("run", Box::new(log.clone())).unwrap();
    let torn = run_until_torn(&mut session);
    let end = session.frame();
    let after: Vec<_> =
        session.surfaces().iter().map(|s| (s.body().version, s.positions().to_vec())).collect();
    let straight = (session.checkpoint(), log.bytes());
    assert!(after.iter().any(|(version, _)| *version > 0));

    session.go_to(torn - 2).unwrap();
    assert!(session.surfaces().iter().all(|s| s.body().version == 0));
    session.go_to(end).unwrap();
    let again: Vec<_> =
        session.surfaces().iter().map(|s| (s.body().version, s.positions().to_vec())).collect();
    assert!(again == after && session.checkpoint() == straight.0 && log.bytes() == straight.1);

    // An edit before the tear that changes nothing for the bar: the log is cut and comes again, with the epoch of the tear.
    session.go_to(torn - 1).unwrap();
    let gravity = session.simulation().controls().gravity();
    session.set(Control::Gravity, gravity).unwrap();
    assert_eq!(LogReader::from_bytes("run", log.bytes()).unwrap().frame_count() as u64, torn);
    session.go_to(end).unwrap();
    assert!(session.checkpoint() == straight.0);
    let (now, then) = (LogReader::from_bytes("now", log.bytes()), LogReader::from_bytes("then", straight.1));
    let (now, then) = (now.unwrap(), then.unwrap());
    assert_eq!(now.frame_count(), then.frame_count());
    for k in 0..now.frame_count() {
        assert!(now.frame(k).unwrap() == then.frame(k).unwrap(), "frame {k}");
        assert!(now.bodies_at(k) == then.bodies_at(k), "bodies of frame {k}");
    }
}

#[test]
fn a_checkpoint_of_a_torn_body_is_taken_up_torn() {
    let mut session = open();
    run_until_torn(&mut session);
    let checkpoint = session.checkpoint();
    let shown: Vec<_> =
        session.surfaces().iter().map(|s| (s.triangles().to_vec(), s.positions().to_vec())).collect();
    let mut other = open();
    other.restore(&checkpoint).unwrap();
    let again: Vec<_> =
        other.surfaces().iter().map(|s| (s.triangles().to_vec(), s.positions().to_vec())).collect();
    assert!(again == shown);
    session.step().unwrap();
    other.step().unwrap();
    assert!(session.checkpoint() == other.checkpoint());
}
