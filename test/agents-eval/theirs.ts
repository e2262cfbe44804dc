import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { ScriptedModel } from './policy.ts'
import type { RepairTask } from './tasks.ts'
import type { ToolCall } from './toolbox.ts'

const SERVER = '@modelcontextprotocol/server-filesystem/dist/index.js'
const MAX_STEPS = 20

/** Runs a task in a directory with the tools of server-filesystem, and a loop and a system prompt as small as can be. */
export async function runTheirs({ intent, files }: RepairTask, directory: string): Promise<ScriptedModel> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, file)), { recursive: true })
    await writeFile(join(directory, file), text)
  }
  const client = new Client({ name: 'agents-eval', version: '1' })
  const args = [fileURLToPath(import.meta.resolve(SERVER)), directory]
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }))
  try {
    return await runLoop(client, intent, directory)
  } finally {
    await client.close()
  }
}

async function runLoop(client: Client, intent: string, directory: string): Promise<ScriptedModel> {
  const model = new ScriptedModel()
  const system = `You work on the project in the directory ${directory}. Relative paths mean this directory. End with plain text.`
  const listed = await client.listTools()
  const tools = listed.tools.map(({ name, description, inputSchema: input_schema }) => ({
    name,
    description,
    input_schema,
  }))
  const texts = [intent]
  for (let step = 1; step <= MAX_STEPS; step++) {
    const { calls } = model.answer({ system, tools, texts })
    if (calls.length === 0) break
    for (const call of calls) texts.push(await callTool(client, call))
  }
  return model
}

async function callTool(client: Client, { name, input }: ToolCall): Promise<string> {
  const { content, isError } = await client.callTool({ name, arguments: { ...input } })
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
  return isError ? `Error: ${text}` : text
}
