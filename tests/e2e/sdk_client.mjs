// The official TypeScript SDK as a client of `unwrite mcp`: lists and calls every tool.
// sdk_client.mjs legacy|auto|2026-07-28 PROGRAM WORKSPACE; run where the packages are installed.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [era, program, workspace] = process.argv.slice(2);
const legacy = era === "legacy";
const { Client } = await import(
  legacy ? "@modelcontextprotocol/sdk/client/index.js" : "@modelcontextprotocol/client");
const { StdioClientTransport } = await import(
  legacy ? "@modelcontextprotocol/sdk/client/stdio.js" : "@modelcontextprotocol/client/stdio");

const mode = era === "auto" ? "auto" : { pin: era };
const client = new Client({ name: "story", version: "1" },
                          legacy ? {} : { versionNegotiation: { mode } });
await client.connect(new StdioClientTransport({
  command: program, args: ["-C", workspace, "mcp", "--revert-to-state"],
  env: process.env }));

const { tools } = await client.listTools();
const names = tools.map((tool) => tool.name);
const file = `sdk-${era}`;
writeFileSync(join(workspace, file), "one\r\ntwo\r\n");

// The SDK checks structuredContent against the tool's output schema.
const called = new Set();
async function call(name, args = {}) {
  called.add(name);
  const answer = await client.callTool({ name, arguments: args });
  assert.ok(!answer.isError, `${name}: ${JSON.stringify(answer)}`);
  return answer;
}
const read = await call("Read", { path: file });
assert.equal(read.structuredContent.newline_kind, "CRLF");
const node = (await call("checkpoint", { name: file })).structuredContent.node;
await call("Edit", { path: file, old_snippet: "two", new_snippet: "zwei" });
assert.equal(readFileSync(join(workspace, file), "utf8"), "one\r\nzwei\r\n");
await call("Undo");
assert.equal(readFileSync(join(workspace, file), "utf8"), "one\r\ntwo\r\n");
await call("status");
await call("diff");
await call("log");
await call("rollback", { to: node, include_others: true });
await call("revert_to_state", { category: "step-summary", step: node });
await call("status");
assert.deepEqual([...called].sort(), [...names].sort(), "every tool was called");

const { resources } = await client.listResources();
for (const { uri } of resources)
  assert.ok((await client.readResource({ uri })).contents[0].text, uri);
const { prompts } = await client.listPrompts();
for (const { name } of prompts)
  assert.ok((await client.getPrompt({ name })).messages.length > 0, name);
await assert.rejects(client.callTool({ name: "none", arguments: {} }).then((answer) => {
  if (answer.isError) throw new Error("refused");
}));
await client.close();
console.log(`${era}: ${names.length} tools, ${resources.length} resources, ${prompts.length} prompts`);
