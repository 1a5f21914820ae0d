"""The providers whose servers people use, each as a profile: how it speaks, what it refuses and in which words.

A new provider is one more `Provider` in `PROVIDERS`; tests/core/models/test_conformance.py runs every role against it.
"""

from __future__ import annotations

from typing import Any

from tests.core.models.fake_server import Provider

_SEED = 'Invalid JSON payload received. Unknown name "seed": Cannot find field.'
_PARAMETER = "<400> InternalError.Algo.InvalidParameter: "


def _string(status: int, message: str, code: str) -> Any:
    """LM Studio and Ollama: the error is a string."""
    return {"error": message}


def _vllm(status: int, message: str, code: str) -> Any:
    return {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": status}


def _llama(status: int, message: str, code: str) -> Any:
    return {"error": {"code": status, "message": message, "type": code or "invalid_request_error"}}


def _mistral(status: int, message: str, code: str) -> Any:
    """What is wrong with a field is an object in the place of the message; a wrong key has a form of its own."""
    if status == 401:
        return {"detail": message}
    said: Any = message
    if status == 422:
        said = {"detail": [{"type": "extra_forbidden", "loc": ["body", message], "msg": "Extra inputs not permitted"}]}
    return {"object": "error", "message": said, "type": "invalid_request_error", "param": None, "code": code or None}


def _gemini(status: int, message: str, code: str) -> Any:
    return [{"error": {"code": status, "message": message, "status": code or "INVALID_ARGUMENT"}}]


def _tei(status: int, message: str, code: str) -> Any:
    return {"error": message, "error_type": code or "Validation"}


def _openrouter(status: int, message: str, code: str) -> Any:
    return {"error": {"message": message, "code": status, "metadata": {"provider_name": "Other"}}, "user_id": "u"}


PROVIDERS = (
    Provider(
        refuses={
            "max_tokens": (400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                           "'max_completion_tokens' instead."),
            "temperature": (400, "Unsupported value: 'temperature' does not support 0.0 with this model. Only the "
                            "default (1) value is supported."),
        },
    ),
    Provider(
        name="Azure OpenAI",
        kind="azure",
        base="",
        first={"choices": [], "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {}}]},
        most_texts=16,
        too_many=(400, "Too many inputs. The max number of inputs is 16. We hope to increase it soon."),
        troubles={
            "wrong key": (401, "Access denied due to invalid subscription key or wrong API endpoint.", "401"),
            "no model": (404, "The API deployment for this resource does not exist.", "DeploymentNotFound"),
            "too fast": (429, "Requests have exceeded call rate limit. Please retry after 26 seconds.", "429"),
            "filtered": (400, "The response was filtered due to the prompt triggering Azure OpenAI's content "
                         "management policy.", "content_filter"),
        },
    ),
    Provider(
        name="Azure OpenAI, /openai/v1",
        kind="azure",
        base="/openai/v1",
        first={"choices": [], "prompt_filter_results": []},
        troubles={
            "wrong key": (401, "Access denied due to invalid subscription key or wrong API endpoint.", "401"),
            "no model": (404, "The API deployment for this resource does not exist.", "DeploymentNotFound"),
            "filtered": (400, "The response was filtered.", "content_filter"),
        },
    ),
    Provider(
        name="Ollama",
        kind="ollama",
        base="",
        reasons_in="thinking",
        empty="",
        error=_string,
        troubles={
            "no model": (404, 'model "fake-model-1" not found, try pulling it first', ""),
            "too long": (400, "the input length exceeds the context length", ""),
            "busy": (503, "server busy, please try again. maximum pending requests exceeded", ""),
            "bad text": (500, "failed to encode response: json: unsupported value: NaN", ""),
        },
    ),
    Provider(
        name="vLLM",
        serves=("chat", "embed", "rerank"),
        reasons_in="reasoning",
        error=_vllm,
        refuses={"system": (400, "System role not supported")},
        troubles={
            "no model": (404, "The model `fake-model-1` does not exist.", ""),
            "too long": (400, "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens "
                         "(4900 in the messages, 100 in the completion).", ""),
        },
    ),
    Provider(
        name="llama.cpp",
        serves=("chat", "embed", "rerank"),
        error=_llama,
        nested=True,
        base64=False,
        refuses={
            "system": (500, "Jinja Exception: System role not supported at row 1, column 70"),
            "response_format": (400, "Failed to parse grammar: unsupported keyword"),
        },
        troubles={
            "wrong key": (401, "Invalid API Key", "authentication_error"),
            "too long": (400, "request (1378 tokens) exceeds the available context size (768 tokens)",
                         "exceed_context_size_error"),
            "busy": (503, "Loading model", "unavailable_error"),
            "bad text": (500, "got non-finite values in embeddings", "server_error"),
        },
    ),
    Provider(
        name="LM Studio",
        reasons_in="<think>",
        empty="",
        error=_string,
        base64=False,
        refuses={"response_format": (400, "'response_format.type' must be 'text'")},
        troubles={
            "no model": (404, "No models loaded. Please load a model in the developer page.", ""),
            "too long": (400, "The number of tokens to keep from the initial prompt is greater than the context "
                         "length.", ""),
        },
    ),
    Provider(
        name="DeepSeek",
        serves=("chat",),
        comments=": keep-alive\n\n",
        refuses={"response_format": (400, "This response_format type is unavailable now")},
        troubles={
            "wrong key": (401, "Authentication Fails, Your api key: ****3a9 is invalid", "invalid_request_error"),
            "no model": (400, "Model Not Exist", "invalid_request_error"),
            "quota": (402, "Insufficient Balance", "invalid_request_error"),
            "filtered": (400, "Content Exists Risk", "invalid_request_error"),
            "busy": (503, "The service is temporarily unavailable. Please retry your request after a brief wait.", ""),
        },
    ),
    Provider(
        name="Mistral",
        reasons_in="parts",
        error=_mistral,
        index="none",
        most_texts=16,
        too_many=(400, "Too many tokens overall, split into more batches."),
        refuses={"seed": (422, "seed"), "stream_options": (422, "stream_options"), "base64": (422, "encoding_format")},
        troubles={
            "wrong key": (401, "Unauthorized", ""),
            "no model": (400, "Invalid model: fake-model-1", "1500"),
            "too long": (400, "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
                         "3051"),
        },
    ),
    Provider(
        name="Gemini",
        base="/v1beta/openai",
        empty="missing",
        error=_gemini,
        index="none first",
        base64=False,
        ends={"content_filter": "content_filter: SAFETY"},
        most_texts=20,
        too_many=(400, "* BatchEmbedContentsRequest.requests: at most 20 requests can be in one batch"),
        refuses={"seed": (400, _SEED)},
        troubles={
            "wrong key": (400, "API key not valid. Please pass a valid API key.", ""),
            "no model": (404, "models/fake-model-1 is not found for API version v1main.", "NOT_FOUND"),
            "quota": (429, "You exceeded your current quota, please check your plan and billing details.",
                      "RESOURCE_EXHAUSTED"),
            "too fast": (429, "You exceeded your current quota. Please retry in 0.01s.", "RESOURCE_EXHAUSTED"),
            "too long": (400, "The input token count (1200000) exceeds the maximum number of tokens allowed "
                         "(1048576).", ""),
            "filtered": (400, "The prompt was blocked.", "PROHIBITED_CONTENT"),
            "busy": (503, "The model is overloaded. Please try again later.", "UNAVAILABLE"),
        },
    ),
    Provider(
        name="DashScope",
        base="/compatible-mode/v1",
        most_texts=10,
        too_many=(400, f"{_PARAMETER}Value error, batch size is invalid, it should not be larger than 10.: input"),
        refuses={
            "whole": (400, "parameter.enable_thinking must be set to false for non-streaming calls"),
            "response_format": (400, f"{_PARAMETER}Json mode response is not supported when enable_thinking is true"),
        },
        troubles={
            "quota": (400, "Access denied, please make sure your account is in good standing.", "Arrearage"),
            "too long": (400, f"{_PARAMETER}Range of input length should be [1, 30720]", "invalid_parameter_error"),
            "filtered": (400, "Input data may contain inappropriate content.", "data_inspection_failed"),
        },
    ),
    Provider(
        name="Text Embeddings Inference",
        base="",
        serves=("embed", "rerank"),
        error=_tei,
        most_texts=8,
        too_many=(413, "batch size 40 > maximum allowed batch size 8"),
        refuses={"documents": (422, "Failed to deserialize the JSON body: missing field `texts` at line 1 column 90")},
        troubles={
            "too long": (413, "Input validation error: `inputs` must have less than 512 tokens. Given: 900", ""),
            "busy": (429, "Model is overloaded", "overloaded"),
            "bad text": (424, "Inference failed: non-finite values", "Backend"),
        },
    ),
    Provider(
        name="OpenRouter",
        base="/api/v1",
        reasons_in="reasoning",
        empty="",
        error=_openrouter,
        comments=": OPENROUTER PROCESSING\n\n",
        troubles={
            "wrong key": (401, "No auth credentials found", ""),
            "no model": (400, "fake-model-1 is not a valid model ID", ""),
            "quota": (402, "Insufficient credits. Add more on the credits page.", ""),
            "too long": (400, "This endpoint's maximum context length is 8192 tokens. However, you requested about "
                         "9000 tokens.", ""),
            "filtered": (403, 'It requires moderation. Your input was flagged for "violence".', ""),
            "busy": (502, "Provider returned error", ""),
        },
    ),
)  # fmt: skip
