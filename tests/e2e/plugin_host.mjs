// What the client OpenCode does with a plugin when a prompt is sent. plugin_host.mjs PLUGIN DIRECTORY
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";

const [plugin, directory] = process.argv.slice(2);
let told = 0;
// The client calls whatever a plugin's file exports.
for (const start of Object.values(await import(pathToFileURL(plugin)))) {
  const hooks = await start({ directory, worktree: directory, project: {}, client: {} });
  const message = { id: "msg_1", sessionID: "ses_1", role: "user" };
  const parts = [{ type: "text", text: "do it" }];
  const before = JSON.stringify({ message, parts });
  assert.equal(await hooks["chat.message"]({ sessionID: "ses_1", messageID: "msg_1" }, { message, parts }), undefined);
  assert.equal(JSON.stringify({ message, parts }), before);
  told += 1;
}
assert.equal(told, 1);
