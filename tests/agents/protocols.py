"""The four protocols of model.py. Each says whether a path is its own, what the conversation is, and how a step looks:
a call of the tool that this agent has for it, streamed where the agent asks for a stream."""
import json


def events(pairs):
    """Server-sent events: (name, data) each; the name may be None."""
    text = ""
    for name, data in pairs:
        text += (f"event: {name}\n" if name else "") + "data: " + (data if isinstance(data, str) else json.dumps(data)) + "\n\n"
    return text, "text/event-stream"


def text_of(content):
    """The text in a message's content, which is a string or a list of parts."""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text") or "" for part in content or [] if isinstance(part, dict))


class Protocol:
    tools = {}

    def count(self, path):
        """The answer to a question about the number of tokens, None for any other."""
        return None

    def call_of(self, step, request):
        """(name, input) of a step that is a tool call, None for one that is said."""
        if "say" in step:
            return None
        if "tool" in step:
            return step["tool"], step["input"]
        [(kind, value)] = step.items()
        return self.tools[kind](value)


class Anthropic(Protocol):
    """Claude Code."""

    tools = {
        "read": lambda path: ("Read", {"file_path": path}),
        "edit": lambda it: ("Edit", {"file_path": it[0], "old_string": it[1], "new_string": it[2]}),
        "shell": lambda command: ("Bash", {"command": command, "description": "as the script says"}),
    }

    def answers(self, path):
        return path.startswith("/v1/messages")

    def count(self, path):
        return {"input_tokens": 1000} if path.endswith("/count_tokens") else None

    def has_tools(self, request):
        return bool(request.get("tools"))

    def entries(self, request):
        for message in request["messages"]:
            content = message["content"]
            parts = [] if isinstance(content, str) else content
            if message["role"] == "assistant":
                if not any(part.get("type") == "tool_use" for part in parts):
                    yield "said", ""
                continue
            results = [part for part in parts if part.get("type") == "tool_result"]
            for part in results:
                yield "result", ""
            if not results:
                yield "user", text_of(content)

    def answer(self, path, request, step, number):
        call = self.call_of(step, request)
        usage = {"input_tokens": 1000, "output_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        if call:
            block = {"type": "tool_use", "id": f"toolu_{number}", "name": call[0], "input": call[1]}
            empty, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
        else:
            block = {"type": "text", "text": step["say"]}
            empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": step["say"]}
        why = "tool_use" if call else "end_turn"
        message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": request["model"],
                   "stop_sequence": None, "usage": usage}
        if not request.get("stream"):
            return [json.dumps({**message, "content": [block], "stop_reason": why})]
        return events([
            ("message_start", {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}),
            ("content_block_start", {"type": "content_block_start", "index": 0, "content_block": empty}),
            ("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}),
            ("content_block_stop", {"type": "content_block_stop", "index": 0}),
            ("message_delta", {"type": "message_delta", "delta": {"stop_reason": why, "stop_sequence": None}, "usage": usage}),
            ("message_stop", {"type": "message_stop"})])


class Responses(Protocol):
    """Codex."""

    def answers(self, path):
        return path.endswith("/responses")

    def has_tools(self, request):
        return bool(request.get("tools"))

    def entries(self, request):
        for item in request["input"]:
            if item.get("type") in ("function_call_output", "custom_tool_call_output"):
                yield "result", ""
            elif item.get("role") == "user":
                yield "user", text_of(item["content"])
            elif item.get("role") == "assistant":
                yield "said", ""

    def call_of(self, step, request):
        if "say" in step or "tool" in step:
            return super().call_of(step, request)
        [(kind, value)] = step.items()
        if kind == "read":
            kind, value = "shell", f"cat {value}"
        if kind == "edit":
            path, old, new = value
            hunk = "".join(f"-{line}\n" for line in old.split("\n")) + "".join(f"+{line}\n" for line in new.split("\n"))
            value = f"*** Begin Patch\n*** Update File: {path}\n@@\n{hunk}*** End Patch\n"
            if any(tool.get("name") == "apply_patch" for tool in request["tools"]):
                return "apply_patch", value
            value = f"apply_patch <<'EOP'\n{value}EOP\n"
        return "exec_command", {"cmd": value}

    def answer(self, path, request, step, number):
        call = self.call_of(step, request)
        if call is None:
            item = {"type": "message", "role": "assistant", "id": f"msg_{number}",
                    "content": [{"type": "output_text", "text": step["say"], "annotations": []}]}
        elif isinstance(call[1], str):
            item = {"type": "custom_tool_call", "id": f"ct_{number}", "call_id": f"call_{number}", "name": call[0], "input": call[1]}
        else:
            item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": call[0],
                    "arguments": json.dumps(call[1])}
        response = {"id": f"resp_{number}", "object": "response", "model": request.get("model"), "status": "completed",
                    "output": [item], "usage": {"input_tokens": 1000, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 20,
                                                "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 1020}}
        if not request.get("stream"):
            return [json.dumps(response)]
        return events([
            ("response.created", {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}}),
            ("response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": item}),
            ("response.completed", {"type": "response.completed", "response": response})])


class Gemini(Protocol):
    """Gemini CLI."""

    tools = {
        "read": lambda path: ("read_file", {"file_path": path}),
        "edit": lambda it: ("replace", {"file_path": it[0], "old_string": it[1], "new_string": it[2], "instruction": "as the script says"}),
        "shell": lambda command: ("run_shell_command", {"command": command, "description": "as the script says"}),
    }

    def answers(self, path):
        return path.startswith("/v1beta/")

    def count(self, path):
        return {"totalTokens": 1000} if path.endswith(":countTokens") else None

    def has_tools(self, request):
        return bool(request.get("tools"))

    def entries(self, request):
        for content in request["contents"]:
            if content.get("role") == "model":
                if not any("functionCall" in part for part in content["parts"]):
                    yield "said", ""
                continue
            results = [part for part in content["parts"] if "functionResponse" in part]
            for part in results:
                yield "result", ""
            if not results:
                yield "user", text_of(content["parts"])

    def answer(self, path, request, step, number):
        call = self.call_of(step, request)
        part = {"functionCall": {"name": call[0], "args": call[1], "id": f"call_{number}"}} if call else {"text": step["say"]}
        response = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
                    "usageMetadata": {"promptTokenCount": 1000, "candidatesTokenCount": 20, "totalTokenCount": 1020},
                    "modelVersion": "stand-in", "responseId": f"resp_{number}"}
        return events([(None, response)]) if "stream" in path else [json.dumps(response)]


class Chat(Protocol):
    """OpenCode, and whoever else speaks chat/completions."""

    tools = {
        "read": lambda path: ("read", {"filePath": path}),
        "edit": lambda it: ("edit", {"filePath": it[0], "oldString": it[1], "newString": it[2]}),
        "shell": lambda command: ("bash", {"command": command, "description": "as the script says"}),
    }

    def answers(self, path):
        return path.endswith("/chat/completions")

    def has_tools(self, request):
        return bool(request.get("tools"))

    def entries(self, request):
        for message in request["messages"]:
            if message["role"] == "tool":
                yield "result", ""
            elif message["role"] == "user":
                yield "user", text_of(message["content"])
            elif message["role"] == "assistant" and not message.get("tool_calls"):
                yield "said", ""

    def answer(self, path, request, step, number):
        call = self.call_of(step, request)
        said = {"role": "assistant", "content": None if call else step["say"]}
        if call:
            said["tool_calls"] = [{"index": 0, "id": f"call_{number}", "type": "function",
                                   "function": {"name": call[0], "arguments": json.dumps(call[1])}}]
        why = "tool_calls" if call else "stop"
        usage = {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020}
        head = {"id": f"chat_{number}", "created": 1, "model": request.get("model")}
        if not request.get("stream"):
            return [json.dumps({**head, "object": "chat.completion", "usage": usage,
                                "choices": [{"index": 0, "message": said, "finish_reason": why}]})]
        chunk = {**head, "object": "chat.completion.chunk"}
        return events([
            (None, {**chunk, "choices": [{"index": 0, "delta": said, "finish_reason": None}]}),
            (None, {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": why}], "usage": usage}),
            (None, "[DONE]")])


PROTOCOLS = (Anthropic(), Responses(), Gemini(), Chat())
