"""What plugins of ours say, in the language of the agents that load them."""

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
"""For OpenCode's plugins, and those of agents made from it: all sessions are in one store, so the process is named."""

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
"""For extensions of pi, and of agents made from it: each session is a file.

Calls run one beside the other, and the last to come need not be the last that happened: so the process is named, too.
"""
