//! A session's log: frames as they come, checkpoints now and then.

use crate::colliders;
use crate::statistics::FrameStatistics;
use pliant::{DVec3, Simulation, StepReport};
use pliant_cache::render::Plane;
use pliant_cache::{BodyPose, CacheError, LogBody, LogFrame, LogWriter};

/// The log a session writes, and what it needs to write it.
pub(crate) struct Recording {
    pub writer: LogWriter,
    /// Frames between two checkpoints.
    pub every: u32,
    /// The frame the run is to end with, which has a checkpoint too.
    pub until: Option<u32>,
    /// The frame of the last checkpoint in the log.
    pub checkpointed: Option<u32>,
    /// Whether edits were made since the last frame: a checkpoint then tells them.
    pub edited: bool,
}

impl Recording {
    pub fn new(writer: LogWriter, every: u32) -> Recording {
        Recording { writer, every, until: None, checkpointed: None, edited: false }
    }

    /// Appends a frame, unless the log has it: a run that goes over frames again has the same.
    pub fn append(&mut self, frame: &LogFrame, bodies: Option<&[LogBody]>) -> Result<(), CacheError> {
        if self.writer.last_frame().is_some_and(|last| last >= frame.index) {
            return Ok(());
        }
        if let Some(bodies) = bodies {
            self.writer.begin_epoch(bodies.to_vec())?;
        }
        self.writer.append_frame(frame)
    }

    /// Appends a checkpoint if one is due after this frame, or if bodies came with it by an edit: how these look is told with
    /// the frame, not by the checkpoint before.
    pub fn checkpoint_if_due(
        &mut self,
        frame: u32,
        bodies_came: bool,
        simulation: &Simulation,
    ) -> Result<(), CacheError> {
        let last = self.until.unwrap_or(u32::MAX);
        if (bodies_came || due(frame, last, self.every)) && self.writer.last_frame() == Some(frame) {
            self.checkpoint(frame, simulation)?;
        }
        Ok(())
    }

    pub fn checkpoint(&mut self, frame: u32, simulation: &Simulation) -> Result<(), CacheError> {
        self.writer.append_checkpoint(frame, &simulation.checkpoint())?;
        (self.checkpointed, self.edited) = (Some(frame), false);
        Ok(())
    }
}

/// Whether a run of `frames` frames writes a checkpoint after this one.
pub(crate) fn due(frame: u32, frames: u32, every: u32) -> bool {
    frame > 0 && (frame == frames || frame.is_multiple_of(every.max(1)))
}

/// Fills a frame of the log from the present state. Nothing in it may depend on clock or threads.
pub(crate) fn fill(frame: &mut LogFrame, simulation: &Simulation, report: &StepReport) {
    let state = simulation.state();
    frame.positions.iter_mut().for_each(Vec::clear);
    frame.velocity.iter_mut().for_each(Vec::clear);
    frame.contact.clear();
    frame.poses.clear();
    // Colliders are all there is to touch.
    let around = simulation.present_colliders();
    for (body, state) in simulation.model().bodies().iter().zip(state.bodies()) {
        for (to, from) in frame.positions.iter_mut().zip(state.positions().columns()) {
            to.extend_from_slice(from);
        }
        if let Some(placement) = state.placement(&body.parts) {
            frame.poses.push(BodyPose::of(&placement));
        }
        // A body that never deforms touches by points that are no particles: all of it does, then.
        let touches = |(_, x, radius): (usize, DVec3, f64)| around.touch(x, radius);
        let all = body.parts.rigid().map(|_| body.parts.contact_points(state).any(touches));
        let radius = &body.parts.rest().radius;
        for (i, x) in state.positions().iter().enumerate() {
            let v = simulation.velocity(body.id, i).unwrap_or_default().to_array();
            frame.velocity.iter_mut().zip(v).for_each(|(to, v)| to.push(v as f32));
            frame.contact.push(all.unwrap_or_else(|| around.touch(x, radius[i])).into());
        }
    }
    frame.planes = Some(shown_planes(simulation));
    frame.colliders = colliders::places(simulation);
    let mut strain = Vec::new();
    let statistics = FrameStatistics::measure(simulation, report, &mut strain);
    (frame.index, frame.time) = (statistics.frame, statistics.time);
    frame.strain.clear();
    frame.strain.extend(strain.iter().map(|s| *s as f32));
    // A few hundred bytes per body beside tens of thousands: always, so that any frame can be read alone.
    frame.controls = simulation.controls().encode();
    frame.stats_json = statistics.json();
}

/// What pictures show of colliders: no friction, no restitution.
pub(crate) fn shown_planes(simulation: &Simulation) -> Vec<Plane> {
    let there = simulation.state().half_spaces(simulation.model());
    there.map(|p| Plane { normal: p.normal, offset: p.offset }).collect()
}

#[cfg(test)]
mod tests {
    use super::due;

    #[test]
    fn checkpoints_come_on_schedule_and_at_the_end() {
        let at = |frames, every| (0..=frames).filter(|&f| due(f, frames, every)).collect::<Vec<_>>();
        assert_eq!(at(10, 4), [4, 8, 10]);
        assert_eq!(at(8, 4), [4, 8]);
        assert_eq!(at(3, 0), [1, 2, 3]);
        assert_eq!(at(0, 4), [0u32; 0]);
    }
}
