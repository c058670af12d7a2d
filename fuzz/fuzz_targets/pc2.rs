#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(cache) = pliant_geometry::parse_pc2(bytes) {
        assert!(cache.samples.iter().flatten().all(|p| p.is_finite()));
    }
});
