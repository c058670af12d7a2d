#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let middle = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len() / 2);
    let (node, ele) = bytes.split_at(middle);
    let paths = ["fuzz.node", "fuzz.ele"].map(std::path::Path::new);
    pliant_fuzz::tets(pliant_geometry::parse_tetgen(node, ele, paths));
});
