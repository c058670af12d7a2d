#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pliant_fuzz::tets(pliant_geometry::parse_medit(bytes)));
