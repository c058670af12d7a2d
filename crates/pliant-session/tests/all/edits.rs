//! Edits of a session: frames after one are forgotten, exactly those; undo and redo give the bits of runs that never had it.

use pliant_session::{
    Control, Disk, Edit, InMemory, LogReader, MemoryLog, SceneSource, Session, SessionError, SessionOptions,
    WriteOnlyLog,
};

/// A ball that falls, a flag that tears, and a ball that comes by an event.
const SCENE: &str = r#"
frames = 40
[output]
checkpoint_every = 10
[[plane]]
[[body]]
name = "ball"
shape = { kind = "ball", radius = 0.2 }
particles = 120
clusters = 5
position = [0, 0.6, 0]
[[body]]
name = "late"
shape = { kind = "ball", radius = 0.1 }
particles = 60
position = [1, 0.6, 0]
[[event]]
at = 0.2
add = true
body = "late"
"#;

fn open(memory: usize) -> Session {
    let options = SessionOptions::default().memory(memory);
    Session::open(&SceneSource::text(SCENE), &InMemory::default(), options).expect("a sound scene")
}

fn run(session: &mut Session, to: u64) {
    while session.frame() < to {
        session.step().expect("a step");
    }
}

fn ball(session: &Session) -> pliant_session::BodyId {
    session.simulation().model().body("ball").expect("the ball")
}

/// The log of a run with the edits given, straight through.
fn straight(edits: &[(u64, f64)], to: u64) -> (Vec<u8>, Vec<u8>) {
    let (mut session, log) = (open(1 << 28), MemoryLog::default());
    session.record("run", Box::new(log.clone())).expect("a log");
    for &(frame, value) in edits {
        run(&mut session, frame);
        let ball = ball(&session);
        session.set(Control::Frequency(ball), value).expect("a value in range");
    }
    run(&mut session, to);
    let state = session.checkpoint();
    session.finish_log().expect("an end mark");
    (log.bytes(), state)
}

#[test]
fn an_edit_forgets_exactly_the_frames_after_it() {
    for memory in [0, 200_000, 1 << 28] {
        let (mut session, log) = (open(memory), MemoryLog::default());
        session.record("run", Box::new(log.clone())).unwrap();
        run(&mut session, 30);
        session.go_to(17).unwrap();
        assert_eq!(session.log().unwrap().frame_count(), 31, "going back forgets nothing");
        let frequency = Control::Frequency(ball(&session));
        session.set(frequency, 5.0).unwrap();
        assert_eq!(session.log().unwrap().frame_count(), 18);
        run(&mut session, 30);
        let (wanted, state) = straight(&[(17, 5.0)], 30);
        assert!(session.checkpoint() == state, "memory {memory}");
        session.finish_log().unwrap();
        assert!(log.bytes() == wanted, "memory {memory}: the log is that of a run edited in passing");
    }
}

#[test]
fn undo_and_redo_give_the_bits_of_runs_without_and_with_the_edit() {
    let mut session = open(1 << 28);
    let log = MemoryLog::default();
    session.record("run", Box::new(log.clone())).unwrap();
    run(&mut session, 8);
    let frequency = Control::Frequency(ball(&session));
    session.set(frequency, 5.0).unwrap();
    run(&mut session, 15);
    // One slider dragged is one edit.
    session.set(frequency, 9.0).unwrap();
    session.set(frequency, 12.0).unwrap();
    assert_eq!(session.edits().len(), 2);
    run(&mut session, 25);
    assert_eq!(session.undo().unwrap(), Some(15));
    assert_eq!(session.undo().unwrap(), Some(8));
    assert_eq!(session.undo().unwrap(), None);
    run(&mut session, 25);
    assert!(session.checkpoint() == straight(&[], 25).1);
    assert_eq!(session.redo().unwrap(), Some(8));
    assert_eq!(session.frame(), 8);
    run(&mut session, 25);
    assert!(session.checkpoint() == straight(&[(8, 5.0)], 25).1);
    assert_eq!(session.redo().unwrap(), Some(15));
    assert_eq!(session.redo().unwrap(), None);
    run(&mut session, 25);
    assert!(session.checkpoint() == straight(&[(8, 5.0), (15, 12.0)], 25).1);
    let frames = LogReader::from_bytes("run", log.bytes()).unwrap();
    assert_eq!(frames.frame_count(), 26);
}

#[test]
fn edits_of_later_frames_stay_and_are_made_again() {
    let mut session = open(1 << 28);
    let frequency = Control::Frequency(ball(&session));
    run(&mut session, 15);
    session.set(frequency, 12.0).unwrap();
    session.go_to(8).unwrap();
    session.set(frequency, 5.0).unwrap();
    run(&mut session, 25);
    assert!(session.checkpoint() == straight(&[(8, 5.0), (15, 12.0)], 25).1);
}

#[test]
fn what_later_events_need_cannot_be_taken_away() {
    let mut session = open(1 << 28);
    run(&mut session, 3);
    let before = session.checkpoint();
    // The event at frame 12 adds a body, whose number is known from the start.
    let body = pliant::Body::new("mine", pliant::shapes::ball(0.1, 0.05).unwrap());
    let refused = session.edit(Edit::Add(Box::new(body.clone()))).unwrap_err();
    assert!(refused.to_string().contains("add it after frame 12"), "{refused}");
    assert!(session.checkpoint() == before);
    run(&mut session, 13);
    session.edit(Edit::Add(Box::new(body))).unwrap();
    assert_eq!(session.surfaces().len(), 3);
    assert!(
        session
            .surfaces()
            .iter()
            .all(|s| !s.triangles().is_empty() && s.normals().len() == s.positions().len())
    );
    // An edit of the new body keeps it from being undone before that edit: they go in their order.
    let mine = session.simulation().model().body("mine").unwrap();
    run(&mut session, 16);
    session.edit(Edit::Remove(mine)).unwrap();
    assert_eq!(session.surfaces().len(), 2);
    session.undo().unwrap();
    assert_eq!(session.surfaces().len(), 3);
    session.go_to(14).unwrap();
    // Frame 16 no longer has its edit; taking the body away here is fine.
    session.edit(Edit::Remove(mine)).unwrap();
    run(&mut session, 20);
}

#[test]
fn a_later_edit_keeps_what_it_acts_on() {
    let mut session = open(1 << 28);
    run(&mut session, 13);
    let late = session.simulation().model().body("late").unwrap();
    run(&mut session, 20);
    session.set(Control::Frequency(late), 9.0).unwrap();
    session.go_to(15).unwrap();
    let before = session.checkpoint();
    let refused = session.edit(Edit::Remove(late)).unwrap_err();
    assert!(matches!(refused, SessionError::Later(_)), "{refused}");
    assert!(session.checkpoint() == before);
    run(&mut session, 22);
}

#[test]
fn a_run_edited_by_hand_is_gone_on_with_from_its_log() {
    let edits = |session: &mut Session| {
        run(session, 6);
        let frequency = Control::Frequency(ball(session));
        session.set(frequency, 5.0).unwrap();
        run(session, 14);
        let body = pliant::Body::new("mine", pliant::shapes::ball(0.1, 0.05).unwrap());
        session.edit(Edit::Add(Box::new(body))).unwrap();
    };
    let (mut whole, all) = (open(0), MemoryLog::default());
    whole.record("whole", Box::new(all.clone())).unwrap();
    edits(&mut whole);
    run(&mut whole, 30);
    whole.finish_log().unwrap();

    let (mut broken, log) = (open(0), MemoryLog::default());
    broken.record("broken", Box::new(log.clone())).unwrap();
    edits(&mut broken);
    run(&mut broken, 17);
    drop(broken);
    let mut session = open(0);
    let continued = session.resume("broken", Box::new(log.clone()), 40).unwrap();
    assert_eq!(continued.last_frame, Some(15), "the checkpoint after what came by the last edit");
    run(&mut session, 30);
    assert!(session.checkpoint() == whole.checkpoint());
    session.finish_log().unwrap();
    let (a, b) = (LogReader::from_bytes("a", all.bytes()), LogReader::from_bytes("b", log.bytes()));
    let (a, b) = (a.unwrap(), b.unwrap());
    assert_eq!(a.frame_count(), b.frame_count());
    for k in 0..a.frame_count() {
        assert!(a.frame(k).unwrap() == b.frame(k).unwrap(), "frame {k}");
        assert!(a.bodies_at(k) == b.bodies_at(k), "bodies of frame {k}");
    }
}

#[test]
fn a_stream_takes_a_log_but_no_edit_of_the_past() {
    let mut session = open(1 << 28);
    session.record("pipe", Box::new(WriteOnlyLog(Vec::new()))).unwrap();
    run(&mut session, 5);
    let frequency = Control::Frequency(ball(&session));
    session.set(frequency, 5.0).unwrap();
    run(&mut session, 9);
    session.go_to(7).unwrap();
    let before = session.checkpoint();
    let refused = session.set(frequency, 6.0).unwrap_err();
    assert!(refused.to_string().contains("cannot be cut back"), "{refused}");
    assert!(session.undo().is_err());
    assert_eq!(session.edits().len(), 1);
    assert!(session.checkpoint() == before);
    run(&mut session, 12);
}

#[test]
fn files_may_come_from_memory_alone() {
    let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    let scene = "[[body]]\nshape = { kind = \"mesh\", file = \"parts/tet.obj\" }\nparticles = 80\n";
    let source = SceneSource::Text { text: scene.into(), file: "my/scene.toml".into() };
    let files = InMemory::from([("my/parts/tet.obj", obj.as_bytes().to_vec())]);
    let session = Session::open(&source, &files, SessionOptions::default()).unwrap();
    let missing = Session::open(&source, &InMemory::default(), SessionOptions::default()).unwrap_err();
    assert!(missing[0].is_io && missing[0].message.contains("tet.obj"), "{}", missing[0]);
    // The same from a disk has the same digest: a log goes on wherever its files are.
    let folder = pliant_testing::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("my/parts")).unwrap();
    std::fs::write(folder.path().join("my/parts/tet.obj"), obj).unwrap();
    std::fs::write(folder.path().join("my/scene.toml"), scene).unwrap();
    let source = SceneSource::File(folder.path().join("my/scene.toml"));
    let disk = Session::open(&source, &Disk, SessionOptions::default()).unwrap();
    assert_eq!(disk.settings().hash, session.settings().hash);
}

/// A log on a disk that has gone bad: it can be read and written, but not cut.
struct Uncut(MemoryLog);

impl std::io::Write for Uncut {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl pliant_session::LogMedium for Uncut {
    fn cut(&mut self, _: u64) -> std::io::Result<()> {
        Err(std::io::Error::other("bad disk"))
    }

    fn sync(&mut self) -> std::io::Result<()> {
        Ok(())
    }

    fn source(&self) -> std::io::Result<Box<dyn pliant_cache::LogSource>> {
        self.0.source()
    }
}

#[test]
fn an_edit_that_the_log_cannot_take_is_no_edit() {
    let (mut session, log) = (open(1 << 28), MemoryLog::default());
    session.record("run", Box::new(Uncut(log.clone()))).unwrap();
    run(&mut session, 9);
    session.go_to(4).unwrap();
    let (before, bytes) = (session.checkpoint(), log.bytes());
    let frequency = Control::Frequency(ball(&session));
    let refused = session.set(frequency, 5.0).unwrap_err();
    assert!(refused.to_string().contains("bad disk"), "{refused}");
    assert!(session.checkpoint() == before && session.edits().is_empty() && log.bytes() == bytes);
    run(&mut session, 9);
    assert!(session.checkpoint() == straight(&[], 9).1);
}
