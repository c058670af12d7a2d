// Runs a scene in a WebAssembly module without threads, clock or file system, and compares its frame log and USD file with
// those of a native run with the same set of bits:
//
//   node tools/wasm_session.mjs MODULE.wasm SCENE.toml FRAMES NATIVE.plog NATIVE.usda
//
// Without the native files it only runs. Exits with 1 and says what differs if anything does.
import { readFileSync } from "node:fs";

const [module, scene, frames, ...native] = process.argv.slice(2);
// No imports at all: whatever asked for a clock, a file or a thread would not even load.
const { instance } = await WebAssembly.instantiate(readFileSync(module), {});
const { memory, input, run, output, output_length } = instance.exports;

const text = readFileSync(scene);
const place = input(text.length);
new Uint8Array(memory.buffer, place, text.length).set(text);
const begin = process.hrtime.bigint();
const failed = run(Number(frames));
const seconds = Number(process.hrtime.bigint() - begin) / 1e9;
const bytes = (which) => Buffer.from(new Uint8Array(memory.buffer, output(which), output_length(which)));
if (failed) {
  console.error(`${scene}: ${bytes(3)}`);
  process.exit(1);
}
let different = 0;
for (const [k, name] of ["frame log", "USD file"].entries()) {
  const made = bytes(k + 1);
  if (native[k]) {
    const wanted = readFileSync(native[k]);
    if (!made.equals(wanted)) {
      const at = made.findIndex((b, i) => b !== wanted[i]);
      console.error(`${scene}: the ${name} (${made.length} bytes) differs from ${native[k]} (${wanted.length}) at byte ${at}`);
      different += 1;
    }
  }
  console.log(`${scene}: ${name}, ${made.length} bytes${native[k] && !different ? ", the same as native" : ""}`);
}
console.log(`${scene}: ${frames} frames and an export in ${seconds.toFixed(2)} s`);
process.exit(different ? 1 : 0);
