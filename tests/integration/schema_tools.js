// Judges documents by ajv in strict mode, and reads them by the code that quicktype made: node schema_tools.js CASES.json
const fs = require("fs");
const { createRequire } = require("module");

const [, , cases, tools] = process.argv;
const load = createRequire(tools + "/");
const Ajv = load("ajv/dist/2020");
const withFormats = load("ajv-formats");

const verdicts = {};
for (const [name, { schema, documents, reader }] of Object.entries(JSON.parse(fs.readFileSync(cases)))) {
  const taken = withFormats(new Ajv({ strict: true, allErrors: true })).compile(schema);
  const { toMessage } = require(reader);
  verdicts[name] = documents.map((text) => {
    try {
      toMessage(text);
      return [taken(JSON.parse(text)), true];
    } catch (error) {
      return [taken(JSON.parse(text)), false];
    }
  });
}
console.log(JSON.stringify(verdicts));
