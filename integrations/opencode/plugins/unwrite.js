// A checkpoint before each prompt. Without a mount, or without unwrite, nothing happens and nothing is said.
import { spawn } from "node:child_process";

const LONGEST_MS = 10000;

// Settled in any case: the prompt waits for it.
const checkpoint = (directory) =>
  new Promise((done) => {
    let child;
    const limit = setTimeout(() => {
      child?.kill("SIGKILL");
      done();
    }, LONGEST_MS);
    const settle = () => {
      clearTimeout(limit);
      done();
    };
    try {
      child = spawn("unwrite", ["checkpoint", "-m", "before a prompt"], { cwd: directory, stdio: "ignore" });
      child.on("error", settle);
      child.on("exit", settle);
    } catch {
      settle(); // a mount whose daemon is dead cannot be entered
    }
  });

export const Unwrite = async ({ directory }) => ({
  "chat.message": () => checkpoint(directory),
});
