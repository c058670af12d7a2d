//! Things about a built model that are no faults but that whoever described it may not expect.

use crate::model::{BodyModel, Goals, Model};

/// What there is to say about a model, body by body.
pub(crate) fn about(model: &Model) -> Vec<String> {
    let mut notes = Vec::new();
    for body in model.bodies() {
        let (name, body) = (&body.name, &body.parts);
        let Some(matching) = body.kind.matching() else { continue };
        let mut note = |text: String| notes.push(format!("body `{name}`: {text}"));
        fallbacks(body, matching.goals).into_iter().for_each(&mut note);
        match pieces(body) {
            1 => {}
            n if n == body.particle_count() => {
                note("one cluster per particle: nothing holds them together".into());
            }
            n => note(format!(
                "its clusters make {n} separate pieces that nothing holds together; a larger radius or overlap \
                 joins them"
            )),
        }
    }
    notes
}

/// Which clusters do not show what was asked for, and why.
fn fallbacks(body: &BodyModel, wanted: Goals) -> Vec<String> {
    let clusters = &body.topology().clusters;
    let size = |c: usize| clusters.range(c).len();
    let mut notes = Vec::new();
    for found in Goals::ALL.into_iter().take_while(|g| *g != wanted) {
        let fallen = || (0..clusters.len()).filter(|&c| body.rest().bases[c].goals == found);
        let few = fallen().filter(|&c| size(c) < wanted.points()).count();
        let flat = fallen().count() - few;
        let reasons = [
            (few, format!("fewer than the {} particles it needs", wanted.points())),
            (flat, "points that do not determine it".into()),
        ];
        for (count, why) in reasons.into_iter().filter(|(count, _)| *count > 0) {
            let (all, found, wanted) = (clusters.len(), found.name(), wanted.name());
            notes.push(format!("{count} of {all} clusters have {found} instead of {wanted} goals: {why}"));
        }
    }
    notes
}

/// Number of groups of particles that no cluster joins.
fn pieces(body: &BodyModel) -> usize {
    let clusters = &body.topology().clusters;
    let mut parent: Vec<usize> = (0..body.particle_count()).collect();
    fn root(parent: &mut [usize], mut i: usize) -> usize {
        while parent[i] != i {
            parent[i] = parent[parent[i]];
            i = parent[i];
        }
        i
    }
    let mut count = parent.len();
    for c in 0..clusters.len() {
        for pair in clusters.particles(c).windows(2) {
            let [a, b] = [pair[0], pair[1]].map(|i| root(&mut parent, i as usize));
            if a != b {
                parent[a] = b;
                count -= 1;
            }
        }
    }
    count
}
