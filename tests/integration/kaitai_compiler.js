// Compiles descriptions in Kaitai Struct to Python: node kaitai_compiler.js DESCRIPTIONS.json TOOLS
// DESCRIPTIONS is an object of descriptions by name; what is written is the files of each, or why there are none.
const fs = require("fs");
const { createRequire } = require("module");

const [, , descriptions, tools] = process.argv;
const compiler = createRequire(tools + "/")("kaitai-struct-compiler");

async function all() {
  const made = {};
  for (const [name, description] of Object.entries(JSON.parse(fs.readFileSync(descriptions)))) {
    try {
      made[name] = { files: await compiler.compile("python", description, null, false) };
    } catch (error) {
      made[name] = { error: String(error.message || error) };
    }
  }
  console.log(JSON.stringify(made));
}
all();
