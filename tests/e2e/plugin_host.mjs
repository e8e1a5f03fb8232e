// What the client OpenCode does with a plugin when prompts are sent. plugin_host.mjs PLUGIN DIRECTORY [TOASTS]
// TOASTS: two prompts instead of one, in which so many messages must be shown to the user.
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";

const [plugin, directory, wanted] = process.argv.slice(2);
let told = 0;
const toasts = [];
const client = {
  tui: {
    showToast: async ({ body }) => {
      toasts.push(body.message);
      throw new Error("there is no terminal");
    },
  },
};
// The client calls whatever a plugin's file exports.
for (const start of Object.values(await import(pathToFileURL(plugin)))) {
  const hooks = await start({ directory, worktree: directory, project: {}, client });
  for (const id of wanted === undefined ? ["msg_1"] : ["msg_1", "msg_2"]) {
    const message = { id, sessionID: "ses_1", role: "user" };
    const parts = [{ type: "text", text: "do it" }];
    const before = JSON.stringify({ message, parts });
    assert.equal(await hooks["chat.message"]({ sessionID: "ses_1", messageID: id }, { message, parts }), undefined);
    assert.equal(JSON.stringify({ message, parts }), before);
  }
  told += 1;
}
assert.equal(told, 1);
if (wanted !== undefined) assert.equal(toasts.length, Number(wanted));
assert.ok(toasts.every((message) => message.startsWith("unwrite: ")));
