//! What the description of one body must fulfil, whatever else is in the world.

use super::Faults;
use crate::body::{Body, Clustering, ContactRadius, Pins, Selection};
use crate::elements;
use crate::model::{Goals, Input, Integrator, Shown};
use crate::solvers::{Feature, SolverKind};
use glam::DVec3;

impl Faults {
    /// Everything about a body by itself, with substeps of `h` seconds.
    pub fn body(&mut self, b: usize, body: &Body, h: f64) {
        self.shape(b, body);
        self.contact_radius(b, body);
        self.mass_and_placement(b, body);
        self.clustering(b, body);
        self.controls(b, body.solver, &body.controls, h);
        if let Some(input) = &body.input {
            self.input(b, body, input);
        }
        self.wanted_features(b, body);
        self.painted_stiffness(b, body);
        self.painted_tear_strain(b, body);
        for (text, help) in elements::check(body) {
            self.add(Some(b), "constraints", text, &help);
        }
        if body.solver == SolverKind::Rigid {
            self.rigid(b, body);
        }
        for pins in &body.pins {
            self.pins(b, body, pins);
        }
    }

    fn shape(&mut self, b: usize, body: &Body) {
        let (at, n) = (Some(b), body.shape.points.len());
        if n == 0 {
            self.add(at, "shape", "it has no particles".into(), "use a finer spacing");
        }
        if let Some(i) = body.shape.points.iter().position(|p| !p.is_finite()) {
            self.add(at, "shape", format!("particle {i} is not finite"), "remove or repair it");
        }
        if body.shape.measure.len() != n || body.shape.measure.iter().any(|m| !(*m >= 0.0 && m.is_finite())) {
            let text = "each particle needs a measure that is a number, not negative".into();
            self.add(at, "shape", text, "give one volume or area per particle");
        }
        if body.shape.edges.iter().flatten().any(|&i| i as usize >= n) {
            let text = format!("an edge refers to a particle that is not there (there are {n})");
            self.add(at, "shape", text, "number particles from 0");
        }
        if let Err(text) = Shown::check(&body.shape) {
            self.add(at, "shape", text, "give a surface whose skin has a row for each vertex, or no surface");
        }
    }

    fn contact_radius(&mut self, b: usize, body: &Body) {
        let (at, n) = (Some(b), body.shape.points.len());
        let radii: &[f64] = match &body.contact_radius {
            ContactRadius::Shown => &[],
            ContactRadius::Fixed(radius) => std::slice::from_ref(radius),
            ContactRadius::Each(each) => each,
        };
        if let Some((i, r)) = radii.iter().enumerate().find(|(_, r)| !(**r >= 0.0 && r.is_finite())) {
            let text = format!("number {i} is {r:?}");
            self.add(at, "contact_radius", text, "give metres, 0 or more");
        }
        if matches!(&body.contact_radius, ContactRadius::Each(each) if each.len() != n) {
            let text = format!("there are {} for {n} particles", radii.len());
            self.add(at, "contact_radius", text, "give one per particle");
        }
    }

    fn mass_and_placement(&mut self, b: usize, body: &Body) {
        let at = Some(b);
        // Anything smaller is a number without precision, and so would be all that is made of it.
        if !(1e-300..=1e12).contains(&body.mass) {
            let text = format!("{:?} is not allowed", body.mass);
            self.add(at, "mass", text, "give the kilograms of the whole body, above 0 and up to 1e12");
        }
        for (field, v) in [("position", body.position), ("velocity", body.velocity), ("spin", body.spin)] {
            if !v.is_finite() {
                self.add(at, field, format!("{v} is not finite"), "give three finite numbers");
            }
        }
        if !body.stretch.is_finite() {
            self.add(at, "stretch", format!("{} is not finite", body.stretch), "1, 1, 1 is the rest shape");
        }
        if !body.rotation.is_finite() || !body.rotation.is_normalized() {
            let text = format!("{} is not a unit quaternion", body.rotation);
            self.add(at, "rotation", text, "normalise it");
        }
    }

    fn clustering(&mut self, b: usize, body: &Body) {
        let at = Some(b);
        match body.clusters {
            Clustering::Radius(r) if r.is_nan() || r <= 0.0 => {
                let text = format!("{r} is not a radius");
                self.add(at, "radius", text, "give the reach of a cluster in metres, above 0");
            }
            Clustering::Count(0) => {
                self.add(at, "clusters", "0 clusters".into(), "give at least 1, or a radius");
            }
            Clustering::None if body.solver == SolverKind::Clustered => {
                let text = "the clustered solver needs clusters".into();
                self.add(at, "clusters", text, "give `radius` or `clusters`, or use solver = \"projective\"");
            }
            _ => {}
        }
        let style = &body.cluster_style;
        if !(1..=16).contains(&style.levels) {
            self.add(at, "cluster_levels", format!("{} is not allowed", style.levels), "give 1 to 16");
        }
        for (field, value, allowed) in
            [("overlap", style.overlap, 0.0..=10.0), ("coarse_share", style.coarse_share, 0.01..=0.99)]
        {
            if !allowed.contains(&value) {
                let help = format!("give {} to {}", allowed.start(), allowed.end());
                self.add(at, field, format!("{value} is not allowed"), &help);
            }
        }
    }

    fn input(&mut self, b: usize, body: &Body, input: &Input) {
        let (at, n) = (Some(b), body.shape.points.len());
        self.supported(b, body.solver, Feature::AnimatedInput, "input");
        if input.sequence.points() != n {
            let found = input.sequence.points();
            let text = format!("its sequence has {found} points, the body has {n} particles");
            self.add(at, "input", text, "let the particles be the vertices of the animated mesh");
        }
        if let Some(frame) = body.placed_input().and_then(|i| i.sequence.first_non_finite()) {
            let text = format!("frame {frame} of its sequence is not finite where the body is placed");
            self.add(at, "input", text, "move the body or the sequence nearer to the origin");
        }
        if !input.follow.is_empty() && input.follow.len() != n {
            let text = format!("{} follow weights for {n} particles", input.follow.len());
            self.add(at, "follow", text, "give one per particle, or none");
        }
        if let Some(i) = input.follow.iter().position(|w| !(0.0..=1.0).contains(w)) {
            let text = format!("weight {:?} of particle {i}", input.follow[i]);
            self.add(at, "follow", text, "give numbers from 0 (free) to 1 (held)");
        }
    }

    /// What the body asks for must be something its solver has.
    fn wanted_features(&mut self, b: usize, body: &Body) {
        let c = &body.controls;
        let wanted = [
            (c.edge_stiffness > 0.0, Feature::Edges, "edge_stiffness"),
            (c.strain_limit.is_finite(), Feature::StrainLimit, "strain_limit"),
            (body.goals == Goals::Linear, Feature::LinearGoals, "goals"),
            (body.goals == Goals::Quadratic, Feature::QuadraticGoals, "goals"),
            (body.integrator == Integrator::Deformer, Feature::Deformer, "integrator"),
            (c.yield_strain.is_finite(), Feature::Plasticity, "yield_strain"),
            (
                c.tear_strain.is_finite() || !body.painted_tear_strain.is_empty(),
                Feature::Tearing,
                "tear_strain",
            ),
            (!body.painted_stiffness.is_empty(), Feature::PaintedStiffness, "painted_stiffness"),
            (!body.constraints.is_empty(), Feature::Elements, "constraints"),
        ];
        for (_, feature, field) in wanted.into_iter().filter(|(asked, ..)| *asked) {
            self.supported(b, body.solver, feature, field);
        }
    }

    fn painted_stiffness(&mut self, b: usize, body: &Body) {
        let (paint, n) = (&body.painted_stiffness, body.shape.points.len());
        let (at, field) = (Some(b), "painted_stiffness");
        if !paint.is_empty() && paint.len() != n {
            let text = format!("there are {} values for {n} particles", paint.len());
            self.add(at, field, text, "give one per particle, or none for 1 everywhere");
        }
        let mut bad = (0..paint.len()).filter(|&i| !(0.0..=1.0).contains(&paint[i]));
        if let Some(i) = bad.next() {
            let more = match bad.count() {
                0 => String::new(),
                more => format!(", and {more} more are out of range"),
            };
            let text = format!("particle {i} has {:?}{more}", paint[i]);
            let help = "give numbers from 0 (not pulled at all) to 1 (all of the stiffness)";
            self.add(at, field, text, help);
        }
    }

    fn painted_tear_strain(&mut self, b: usize, body: &Body) {
        let (paint, n) = (&body.painted_tear_strain, body.shape.points.len());
        let field = "painted_tear_strain";
        if !paint.is_empty() && paint.len() != n {
            let text = format!("there are {} values for {n} particles", paint.len());
            self.add(Some(b), field, text, "give one per particle, or none for 1 everywhere");
        }
        if let Some(i) = paint.iter().position(|v| !(1e-3..=f64::INFINITY).contains(v)) {
            let text = format!("particle {i} has {:?}", paint[i]);
            self.add(Some(b), field, text, "give factors of at least 0.001; inf never tears");
        }
    }

    /// What a body that never deforms cannot have.
    fn rigid(&mut self, b: usize, body: &Body) {
        let at = Some(b);
        let whole = |select: &Selection| matches!(select, Selection::Particles(list) if list.len() >= 4);
        if !(body.pins.is_empty() || body.pins.len() == 1 && whole(&body.pins[0].select)) {
            self.supported(b, body.solver, Feature::Pins, "pins");
        }
        if body.stretch != DVec3::ONE {
            let text = format!("{} is not allowed: a rigid body does not deform", body.stretch);
            self.add(at, "stretch", text, "leave it out, and make the shape of the size you want");
        }
        if body.contact_radius != ContactRadius::Shown {
            let text = "a rigid body touches with its own surface".into();
            self.add(at, "contact_radius", text, "leave it out");
        }
        if body.clusters != Clustering::None {
            self.supported(b, body.solver, Feature::Clusters, "clusters");
        }
    }

    fn pins(&mut self, b: usize, body: &Body, pins: &Pins) {
        let (at, n) = (Some(b), body.shape.points.len());
        if pins.stiffness.is_some() {
            self.supported(b, body.solver, Feature::SoftPins, "pins");
        }
        if pins.stiffness.is_some_and(|k| !(k > 0.0 && k.is_finite())) {
            let text = format!("pin stiffness {:?}", pins.stiffness);
            self.add(at, "pins", text, "give a number above 0, or leave it out to hold exactly");
        }
        if let Selection::Particles(list) = &pins.select
            && let Some(i) = list.iter().find(|&&i| i as usize >= n)
        {
            let text = format!("particle {i} is not there (there are {n}, numbered from 0)");
            self.add(at, "pins", text, "pin particles that exist");
        }
        if !pins.motion.is_finite() {
            let text = "the motion has numbers that are not finite".into();
            self.add(at, "pins", text, "give finite numbers");
        }
    }
}
