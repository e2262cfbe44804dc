import type { Namespace } from '../namespace/index.ts'
import { type CallContext, type Caller, isLinkable, isVfsError, readText } from '../vfs/index.ts'

/** Files with instructions of a project, in the order in which they are looked for. The first with any text counts. */
const INSTRUCTION_FILES = ['AGENTS.md', 'CLAUDE.md']
/** Limit of project instructions in a system prompt. */
const MAX_INSTRUCTION_CHARACTERS = 4000
/** Characters before the limit among which a line has to end for the text to be cut there, and not inside a line. */
const CUT_CHARACTERS = 400
const MAX_INSTRUCTION_BYTES = 1024 * 1024

/** Facts about a process that its system prompt states. */
export interface ProcessFacts {
  readonly pid: number
  /** Process that spawned it; 0 if none did. */
  readonly parent: number
  /** Vault or directory that was forked; null without a workspace. */
  readonly vault: string | null
  readonly namespace: Pick<Namespace, 'context' | 'fs'>
  /** The process as a caller: its instructions are files that it may read. */
  readonly caller: Caller
  readonly devices: readonly string[]
  readonly maxSteps: number
  /** Limit in tokens; 0 for no limit. */
  readonly contextBudget: number
}

/** Describes the surroundings of a process for its model: files, devices, limits, and the project's instructions. */
export async function describeSurroundings(facts: ProcessFacts): Promise<string> {
  const { pid, parent, vault, namespace, devices, maxSteps, contextBudget } = facts
  const lines = [
    '# Surroundings',
    `You are process ${pid}${parent === 0 ? '' : `, a child of process ${parent}`}, working as '${namespace.context}'.`,
    vault === null ? '- You have no workspace.' : formatWorkspace(vault),
    `- You can also write to vfs:///shared/, which all agents share, and vfs:///home/${namespace.context}/, which you keep. Everything else is read-only.`,
    `- Devices are files that answer requests: ${devices.join(', ')}. Tools call them for you.`,
    '- A long output is stored, and you get its beginning, its end and a vfs:/// URI for file_read and file_grep.',
    `- You have ${maxSteps} steps${contextBudget === 0 ? '' : ` and ${contextBudget} tokens`}. Call several tools in one step where you can.`,
    '- Give independent parts of a task to child processes with spawn. End with plain text or complete.',
  ]
  const instructions = vault === null ? undefined : await readInstructions(facts)
  return [...lines, ...(instructions === undefined ? [] : ['', instructions])].join('\n')
}

function formatWorkspace(vault: string): string {
  const isDirectory = vault.startsWith('/')
  const what = isDirectory ? `a fork of the directory ${vault}` : `a copy of '${vault}'`
  const until = isDirectory ? 'applied' : 'merged'
  return `- Your workspace is /workspace, ${what} that is yours alone: nobody sees your changes until they are ${until}. Relative paths mean the workspace.`
}

async function readInstructions({ namespace, caller }: ProcessFacts): Promise<string | undefined> {
  for (const name of INSTRUCTION_FILES) {
    const text = (await readBounded(namespace.fs, `/workspace/${name}`, { caller }))?.trim()
    if (text) return `# Instructions of the project (${name})\n${truncate(text, name)}`
  }
  return undefined
}

/** Returns the text of a file, also through links; undefined if there is none, or it is too large or no text. */
async function readBounded(fs: Namespace['fs'], path: string, ctx: CallContext): Promise<string | undefined> {
  try {
    const file = isLinkable(fs) ? await fs.realpath(path, { followLast: true }, ctx) : path
    const { type, size } = await fs.stat(file, ctx)
    if (type !== 'file' || size > MAX_INSTRUCTION_BYTES) return undefined
    return await readText(fs, file, {}, ctx)
  } catch (error) {
    if (isVfsError(error)) return undefined
    throw error
  }
}

function truncate(text: string, name: string): string {
  if (text.length <= MAX_INSTRUCTION_CHARACTERS) return text
  const head = text.slice(0, MAX_INSTRUCTION_CHARACTERS).toWellFormed()
  const end = head.lastIndexOf('\n')
  const isNearLimit = end > MAX_INSTRUCTION_CHARACTERS - CUT_CHARACTERS
  return `${isNearLimit ? head.slice(0, end) : head}\n… (cut; read the rest with file_read ${name})`
}
