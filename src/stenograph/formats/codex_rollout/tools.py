"""The tools of Codex."""

from __future__ import annotations

from stenograph.fold import actions
from stenograph.formats.shared.tools import Tools, shells, tools

TOOLS: Tools = (
    shells(
        "shell shell_command exec_command local_shell local_shell_call container.exec unified_exec user_shell_command"
        " exec commandExecution command_execution",
        r"\A(?:Error: )?[Ee]xit code:? (-?\d+)|^(?:Process exited with code|Exit code:) (-?\d+)",
    )
    | tools(actions.READ, "view_image imageView read_file list_dir read_mcp_resource")
    | tools(actions.EDIT, "apply_patch fileChange file_change")
    | tools(
        actions.SEARCH,
        "web_search web_search_call webSearch tool_search grep_files list_mcp_resources list_mcp_resource_templates",
    )
    | tools(actions.TODO, "update_plan")
    | tools(actions.QUESTION, "request_user_input")
    | tools(
        actions.SUBAGENT,
        "spawn_agent wait_agent wait send_input close_agent list_agents followup_task send_message interrupt_agent"
        " resume_agent spawnAgent sendInput closeAgent resumeAgent",
    )
    | tools(actions.OTHER, "write_stdin image_generation no_such_tool lookup_ticket plain_tool request_permissions")
)

VOLATILE = (
    r"\bChunk ID: \w+",
    r"\bWall time: [\d.]+ seconds",
    r"\bOriginal token count: \d+",
    r'\\?"nickname\\?": ?\\?"[^"\\]*\\?"',
    r'"duration_seconds": ?[\d.]+',
)
"""What differs in the results of these tools each time they run."""
