"""The text of our plugins, in the language of the agents that load them."""

from __future__ import annotations

_TELL = """\
import { spawn } from "node:child_process";

// Tell Stenograph what happened. Nothing is waited for, and no trouble of ours is the agent's.
const tell = (call) => {
  try {
    const child = spawn(COMMAND[0], COMMAND.slice(1), { detached: true, stdio: ["pipe", "ignore", "ignore"] });
    child.on("error", () => {});
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(call));
    child.unref();
  } catch {}
};
"""

STORE_PLUGIN = (
    _TELL
    + """
const EVENTS = new Set(["session.created", "session.idle"]);

export const Stenograph = async () => ({
  "chat.message": async () => tell({ hook_event_name: "chat.message", pid: process.pid }),
  event: async ({ event }) => {
    if (EVENTS.has(event.type)) tell({ hook_event_name: event.type, pid: process.pid });
  },
});
"""
)
"""For OpenCode and its forks: all sessions are in one database, so the call names the process."""

EXTENSION = (
    _TELL
    + """
const EVENTS = {
  session_start: "SessionStart",
  input: "UserPromptSubmit",
  agent_end: "Stop",
  session_shutdown: "SessionEnd",
};

export default function (agent) {
  for (const [name, event] of Object.entries(EVENTS)) {
    agent.on(name, (_, context) => {
      const file = context.sessionManager?.getSessionFile?.();
      if (file) tell({ hook_event_name: event, transcript_path: file, pid: process.pid });
    });
  }
}
"""
)
"""For pi and its forks: each session is a file.

Calls run in parallel and may arrive out of order, so each also names the process.
"""
