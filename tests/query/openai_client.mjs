// OpenAI's client for JavaScript asks a collection. Arguments: the folder with its package, the address of /v1.

import { createRequire } from "node:module";

const [folder, baseURL] = process.argv.slice(2);
const { default: OpenAI } = createRequire(`${folder}/`)("openai");
const client = new OpenAI({ baseURL, apiKey: "sk-none", maxRetries: 0 });
const messages = [{ role: "user", content: "What does the Leiden algorithm guarantee that Louvain does not?" }];

const refusal = (asked) => asked.then(() => null, (error) => ({ name: error.constructor.name, status: error.status, code: error.code, param: error.param, type: error.type, message: error.message }));
const models = [];
for await (const model of client.models.list()) models.push(model.id);
const whole = await client.chat.completions.create({ model: "samples", messages });
let streamed = "", ended = null;
for await (const chunk of await client.chat.completions.create({ model: "samples", messages, stream: true })) {
  streamed += chunk.choices[0]?.delta?.content ?? "";
  ended = chunk.choices[0]?.finish_reason ?? ended;
}
const embeddings = await client.embeddings.create({ model: "samples", input: ["reader leases", "score fusion"] });
const chat = (more) => refusal(client.chat.completions.create({ model: "samples", messages, ...more }));
console.log(JSON.stringify({
  models, whole: whole.choices[0].message.content, streamed, ended,
  dimensions: embeddings.data.map((one) => one.embedding.length),
  refused: {
    model: await chat({ model: "nowhere" }), n: await chat({ n: 2 }), response_format: await chat({ response_format: { type: "json_object" } }),
    tools: await chat({ tools: [{ type: "function", function: { name: "search", parameters: {} } }] }),
    responses: await refusal(client.responses.create({ model: "samples", input: "What is a lease?" })),
  },
}));
