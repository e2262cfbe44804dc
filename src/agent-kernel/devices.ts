import type { AgentCatalog } from '../agents/index.ts'
import { type ChildProcesses, childrenDevice } from '../devices/children/index.ts'
import { type Crontab, cronDevice } from '../devices/cron/index.ts'
import { fsDevice } from '../devices/fs/index.ts'
import {
  anthropicDevice,
  claudeDevice,
  cursorDevice,
  googleDevice,
  openaiCompatibleDevice,
  scriptDevice,
} from '../devices/llm/index.ts'
import { type MemoryPassage, memoryDevices } from '../devices/memory/index.ts'
import { nullDevice, randomDevice } from '../devices/null/index.ts'
import { procDevice } from '../devices/proc/index.ts'
import type { OriginalText } from '../devices/scanner/index.ts'
import { shellDevice } from '../devices/shell/index.ts'
import { skillsDevice } from '../devices/skills/index.ts'
import { tasksDevice } from '../devices/tasks/index.ts'
import { type Tty, ttyDevice } from '../devices/tty/index.ts'
import { type WebSearch, webDevice } from '../devices/web/index.ts'
import type { Device, Kernel, Redactor, StepRecord } from '../kernel/index.ts'
import { fitsInQuestion } from '../text/index.ts'
import type { AskPerson, ToolNamespace, Workspace } from '../tools/index.ts'
import { type FileSystem, isVfsError } from '../vfs/index.ts'

/** Sources that devices need. */
export interface DeviceSources {
  /** Environment with the PATH of programs and the keys of APIs. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Working directory of programs that are models. */
  readonly directory: string
  /** File system for the persistent data of devices. */
  readonly store: FileSystem
  readonly scripts: FileSystem
  /** Agents and skills of the home itself. */
  readonly own: FileSystem
  readonly catalog: AgentCatalog
  readonly tty: Tty
  readonly crontab: Crontab
  readonly lsp: Device
  readonly kernel: Pick<Kernel, 'table' | 'contexts'>
  readonly search: WebSearch
  readonly redactor: Redactor
  /** Family of each process. */
  readonly family: ChildProcesses
  /** Returns the namespace of a process with its output cache; undefined for the person. */
  findNamespace(pid: number): ToolNamespace | undefined
  findWorkspace(pid: number): Workspace | undefined
  /** Returns the project of a process or a person; undefined if there is none. */
  findProject(pid: number): Promise<string | undefined>
  listMounts(pid: number): Iterable<string>
  readSteps(uuid: string): Promise<readonly StepRecord[]>
  /** Returns foreign texts that reached a process and its family. */
  listOrigins(pid: number): readonly OriginalText[]
  /** Yields passages of past processes. */
  history(): AsyncIterable<MemoryPassage>
  /** Summarizes passages with respect to a query. */
  summarize(query: string, passages: readonly MemoryPassage[], signal: AbortSignal): Promise<string>
}

const OPENAI_URL = 'https://api.openai.com/v1'
const OLLAMA_URL = 'http://localhost:11434/v1'

/** Creates every device, by path; the only such list. MCP servers are mounted below `/mnt/mcp`. */
export function createDevices(sources: DeviceSources): Readonly<Record<string, Device>> {
  const { store, own, catalog, tty, crontab, lsp, kernel, search, redactor } = sources
  const { findWorkspace, readSteps, listMounts, listOrigins } = sources
  return {
    ...createModelDevices(sources),
    ...createMemoryDevices(sources),
    '/dev/cron': cronDevice(crontab),
    '/dev/children': childrenDevice(sources.family),
    '/dev/fs': fsDevice({ findNamespace: ({ pid }) => sources.findNamespace(pid) }),
    '/dev/lsp': lsp,
    '/dev/null': nullDevice(),
    '/dev/random': randomDevice(),
    '/dev/shell': shellDevice({
      findWorkspace: ({ pid }) => findWorkspace(pid),
      askFor: ({ pid, signal }) => createApprovalPrompt(tty, pid, signal),
    }),
    '/dev/skills/manage': skillsDevice({ fs: own, catalog, listOrigins }),
    '/dev/tasks': tasksDevice({ fs: store, directory: '/sys/tasks' }),
    '/dev/tty': ttyDevice(tty),
    '/dev/web': webDevice({ search }),
    '/proc': procDevice(kernel, { steps: readSteps, mounts: listMounts, redactor }),
  }
}

function createMemoryDevices(sources: DeviceSources): Readonly<Record<string, Device>> {
  const { store, findProject, listOrigins, history, summarize } = sources
  const memoryFile = (name: string) => ({ fs: store, path: `/sys/memory/${name}.md` })
  return memoryDevices({
    async getScopes({ pid }) {
      const project = await findProject(pid)
      const memory = memoryFile(project === undefined ? 'project' : `projects/${project}`)
      return { memory, global_memory: memoryFile('global'), user: memoryFile('user') }
    },
    listOrigins,
    history,
    summarize,
  })
}

/** Models are asked once: the loop of a process repeats requests, and says so in its log. */
function createModelDevices({ env, directory, scripts }: DeviceSources): Readonly<Record<string, Device>> {
  const anthropicUrl = env['ANTHROPIC_BASE_URL']
  return {
    '/dev/llm/claude': claudeDevice({ env, directory }),
    '/dev/llm/cursor': cursorDevice({ env, directory }),
    '/dev/llm/anthropic': anthropicDevice({
      apiKey: env['ANTHROPIC_API_KEY'],
      maxRetries: 0,
      ...(anthropicUrl && { baseUrl: anthropicUrl }),
    }),
    '/dev/llm/google': googleDevice({ apiKey: env['GOOGLE_GENERATIVE_AI_API_KEY'], maxRetries: 0 }),
    '/dev/llm/openai': openaiCompatibleDevice({
      name: 'openai',
      baseUrl: env['OPENAI_BASE_URL'] || OPENAI_URL,
      apiKey: env['OPENAI_API_KEY'],
      maxRetries: 0,
    }),
    '/dev/llm/ollama': openaiCompatibleDevice({
      name: 'ollama',
      baseUrl: env['OLLAMA_BASE_URL'] || OLLAMA_URL,
      maxRetries: 0,
    }),
    '/dev/llm/script': scriptDevice({ fs: scripts }),
  }
}

const YES = 'yes, once'
const NO = 'no'

/** Creates the prompt that asks the person about a command. */
function createApprovalPrompt(tty: Tty, pid: number, signal: AbortSignal): AskPerson {
  return async (question, withdrawn = signal) => {
    if (!fitsInQuestion(question)) return 'too_long'
    try {
      const ended = AbortSignal.any([signal, withdrawn])
      const [reply] = await tty.ask(pid, [{ question, options: [YES, NO], multi_select: false }], ended)
      // Only a clear no is final: any other text decides nothing.
      return reply === YES ? 'yes' : reply === NO ? 'no' : 'dismissed'
    } catch (error) {
      if (isVfsError(error, 'ETIMEDOUT')) return 'unanswered'
      throw error
    }
  }
}
