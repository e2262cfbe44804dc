import type { Namespace } from '../namespace/index.ts'
import { isVfsError, readText, VfsError } from '../vfs/index.ts'

/** Files with instructions of a project, in the order in which they are looked for. */
const INSTRUCTION_FILES = ['AGENTS.md', 'CLAUDE.md']
/** Limit of project instructions in a system prompt. */
const MAX_INSTRUCTION_CHARACTERS = 4000
const MAX_INSTRUCTION_BYTES = 1024 * 1024

/** Facts about a process that its system prompt states. */
export interface ProcessFacts {
  readonly pid: number
  readonly parent: number
  /** Vault or directory that was forked; null without a workspace. */
  readonly vault: string | null
  readonly namespace: Pick<Namespace, 'context' | 'fs'>
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
    '- A long output is stored, and you get its beginning and a vfs:/// URI for file_read and file_grep.',
    `- You have ${maxSteps} steps${contextBudget === 0 ? '' : ` and ${contextBudget} tokens`}. Call several tools in one step where you can.`,
    '- Give independent parts of a task to child processes with spawn. End with plain text or complete.',
  ]
  const instructions = vault === null ? undefined : await readInstructions(namespace)
  return [...lines, ...(instructions === undefined ? [] : ['', instructions])].join('\n')
}

function formatWorkspace(vault: string): string {
  const isDirectory = vault.startsWith('/')
  const what = isDirectory ? `a fork of the directory ${vault}` : `a copy of '${vault}'`
  const until = isDirectory ? 'applied' : 'merged'
  return `- Your workspace is /workspace, ${what} that is yours alone: nobody sees your changes until they are ${until}. Relative paths mean the workspace.`
}

async function readInstructions({ fs }: ProcessFacts['namespace']): Promise<string | undefined> {
  for (const name of INSTRUCTION_FILES) {
    const text = await readBounded(fs, `/workspace/${name}`)
    if (text !== undefined) return `# Instructions of the project (${name})\n${truncate(text.trim(), name)}`
  }
  return undefined
}

/** Returns the text of a file; undefined if there is none, or it cannot be read as text. */
async function readBounded(fs: Namespace['fs'], path: string): Promise<string | undefined> {
  try {
    const { type, size } = await fs.stat(path)
    if (type !== 'file') return undefined
    if (size > MAX_INSTRUCTION_BYTES) throw new VfsError('EFBIG', path, { op: 'read' })
    return await readText(fs, path)
  } catch (error) {
    if (isVfsError(error)) return undefined
    throw error
  }
}

function truncate(text: string, name: string): string {
  if (text.length <= MAX_INSTRUCTION_CHARACTERS) return text
  const head = text.slice(0, MAX_INSTRUCTION_CHARACTERS).toWellFormed()
  const end = head.lastIndexOf('\n')
  return `${end > 0 ? head.slice(0, end) : head}\n… (cut; read the rest with file_read ${name})`
}
