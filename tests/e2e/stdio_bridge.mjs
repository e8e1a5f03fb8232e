// A server on stdin and stdout as one over HTTP on the loopback, for test suites that speak nothing else.
// stdio_bridge.mjs PORT_FILE PROGRAM ARGUMENT...; one process of the program for each session.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const [portFile, program, ...rest] = process.argv.slice(2);
const sessions = new Map();

class Session {
  waiting = new Map();

  constructor() {
    this.child = spawn(program, rest, { stdio: ["pipe", "pipe", "inherit"] });
    createInterface({ input: this.child.stdout }).on("line", (line) => {
      const message = JSON.parse(line);
      this.waiting.get(message.id)?.(line);
      this.waiting.delete(message.id);
    });
  }

  answerTo(message, line) {
    const answer = message.method && "id" in message
      ? new Promise((resolve) => this.waiting.set(message.id, resolve)) : undefined;
    this.child.stdin.write(line + "\n");
    return answer;
  }
}

const local = (value) => !value || ["localhost", "127.0.0.1"].includes(
  new URL(value.includes("://") ? value : `http://${value}`).hostname);

const server = createServer(async (request, response) => {
  const reply = (status, body = "", headers = {}) => response.writeHead(status, headers).end(body);
  if (!local(request.headers.host) || !local(request.headers.origin)) return reply(403);
  const id = request.headers["mcp-session-id"];
  if (request.method === "DELETE") {
    sessions.get(id)?.child.stdin.end();
    return reply(200);
  }
  if (request.method !== "POST") return reply(405);
  let body = "";
  for await (const chunk of request) body += chunk;
  const message = JSON.parse(body);
  const key = id ?? randomUUID();
  if (!sessions.has(key)) sessions.set(key, new Session());
  const answer = await sessions.get(key).answerTo(message, JSON.stringify(message));
  const headers = { "content-type": "application/json", "mcp-session-id": key };
  return answer === undefined ? reply(202, "", headers) : reply(200, answer, headers);
});
server.listen(0, "127.0.0.1", () => writeFileSync(portFile, String(server.address().port)));
process.on("SIGTERM", () => process.exit(0));
