// Tells unwrite when a session begins, when a prompt is sent and when it was answered, and tells the model what the
// user took back since its last turn. Without unwrite nothing happens and nothing is said.
import { spawn } from "node:child_process";

const LONGEST_MS = { "session-start": 15000, prompt: 10000, stop: 10000 };

// What unwrite answers, or nothing. Settled in any case: the prompt waits for it.
const hook = (event, directory, told) =>
  new Promise((done) => {
    let child;
    let said = "";
    const settle = () => {
      clearTimeout(limit);
      try {
        done(JSON.parse(said));
      } catch {
        done({});
      }
    };
    const limit = setTimeout(() => {
      child?.kill("SIGKILL");
      said = "";
      settle();
    }, LONGEST_MS[event]);
    try {
      child = spawn("unwrite", ["hook", "opencode", event], { cwd: directory, stdio: ["pipe", "pipe", "ignore"] });
      child.on("error", settle);
      child.on("close", settle);
      child.stdout.on("data", (data) => (said += data));
      child.stdin.on("error", () => {}); // it may have ended
      child.stdin.end(JSON.stringify(told));
    } catch {
      settle(); // a mount whose daemon is dead cannot be entered
    }
  });

export const Unwrite = async ({ client, directory }) => {
  // Only in a terminal; nothing waits for it.
  const show = (message) =>
    client?.tui?.showToast?.({ body: { message, variant: "info", duration: 10000 } })?.catch?.(() => {});
  let started;
  let shown = false;
  return {
    "chat.message": async ({ sessionID }, { parts }) => {
      const texts = parts.filter((part) => part.type === "text" && typeof part.text === "string");
      started ??= hook("session-start", directory, { session_id: sessionID });
      const { systemMessage } = (await started) ?? {};
      if (systemMessage && !shown) show(systemMessage);
      shown = true;
      const prompt = texts.map((part) => part.text).join(" ");
      const answer = await hook("prompt", directory, { session_id: sessionID, prompt });
      const words = answer?.hookSpecificOutput?.additionalContext;
      if (words && texts.length > 0) texts[texts.length - 1].text += `\n\n${words}`;
    },
    event: async ({ event }) => {
      if (event?.type === "session.idle")
        await hook("stop", directory, { session_id: event.properties?.sessionID });
    },
  };
};
