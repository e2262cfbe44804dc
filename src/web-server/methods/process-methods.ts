import { z } from 'zod'
import { listRecordedCalls, type StepRecord } from '../../kernel/index.ts'
import { VfsError } from '../../vfs/index.ts'
import {
  formatTreeRef,
  type Page,
  type PageParams,
  type TreeName,
  type WebProcess,
  type WebStep,
  type WebText,
} from '../../web-api/index.ts'
import { defineWebMethod, type MethodTable, pageShape, query } from '../define-method.ts'
import { mapPage, paginate } from '../paginate.ts'
import { shortenText, toSummary } from '../shorten-text.ts'
import { isLinkedFork } from '../trees/home-trees.ts'
import { toWebChange } from '../web-change.ts'
import type { WebContext } from '../web-context.ts'
import { toWebProcess } from './home-methods.ts'

const RAW_PART_LENGTH = 256 * 1024
const MAX_SHOWN_MESSAGES = 50
const DEFAULT_LIMIT = 100

type ProcessMethod =
  | 'getProcess'
  | 'listSteps'
  | 'readStep'
  | 'listStepFiles'
  | 'pauseProcess'
  | 'resumeProcess'
  | 'killProcess'
  | 'answerQuestion'
  | 'forkProcess'

export function createProcessMethods(web: WebContext): MethodTable<ProcessMethod> {
  return { ...createStepMethods(web), ...createControlMethods(web) }
}

const pidOfQuery = { pid: query.number } as const

function createStepMethods(
  web: WebContext,
): MethodTable<'getProcess' | 'listSteps' | 'readStep' | 'listStepFiles'> {
  return {
    getProcess: defineWebMethod('getProcess', z.strictObject(pidOfQuery), async ({ pid }) =>
      readProcess(web, pid),
    ),
    listSteps: defineWebMethod(
      'listSteps',
      z.strictObject({ ...pidOfQuery, ...pageShape }),
      async ({ pid, ...page }) => listSteps(web, await web.agents.steps(pid), page),
    ),
    readStep: defineWebMethod(
      'readStep',
      z.strictObject({ ...pidOfQuery, step: query.number, offset: query.number.exactOptional() }),
      async ({ pid, step, offset = 0 }) => {
        const { record } = findStep(await web.agents.steps(pid), pid, step)
        const text = JSON.stringify(web.redactor.redactValue(record), null, 2)
        const part = text.slice(offset, offset + RAW_PART_LENGTH)
        const end = offset + part.length
        return {
          text: part,
          length: text.length,
          isCut: part.length < text.length,
          next: end < text.length ? end : null,
        }
      },
    ),
    listStepFiles: defineWebMethod(
      'listStepFiles',
      z.strictObject({ ...pidOfQuery, step: query.number, ...pageShape }),
      async ({ pid, step, ...page }, signal) => {
        const pair = await findStepTrees(web, pid, step)
        if (pair === undefined) return { items: [], next: null, from: null, to: null }
        const { changes } = await web.comparisons.compare(pair.from, pair.to, { signal })
        return { ...(await mapPage(paginate(changes, page), toWebChange)), ...pair }
      },
    ),
  }
}

function createControlMethods(
  web: WebContext,
): MethodTable<'pauseProcess' | 'resumeProcess' | 'killProcess' | 'answerQuestion' | 'forkProcess'> {
  const { agents } = web
  const pid = z.int().positive()
  const reply = z.string().max(64 * 1024)
  return {
    pauseProcess: defineWebMethod('pauseProcess', z.strictObject({ pid }), async (params) => {
      agents.kill(params.pid, 'SIGPAUSE')
      return readProcess(web, params.pid)
    }),
    resumeProcess: defineWebMethod('resumeProcess', z.strictObject({ pid }), async (params) =>
      readProcess(web, (await agents.resume(params.pid)).pid),
    ),
    killProcess: defineWebMethod(
      'killProcess',
      z.strictObject({ pid, isForced: z.boolean().exactOptional() }),
      async (params) => {
        agents.kill(params.pid, params.isForced === true ? 'SIGKILL' : 'SIGTERM')
        return readProcess(web, params.pid)
      },
    ),
    answerQuestion: defineWebMethod(
      'answerQuestion',
      z.strictObject({
        id: z.string().max(100),
        answers: z.array(z.union([reply, z.array(reply)])).max(100),
      }),
      async ({ id, answers }) => {
        agents.tty.answer(id, answers)
        return null
      },
    ),
    forkProcess: defineWebMethod(
      'forkProcess',
      z.strictObject({
        pid,
        step: z.int().positive(),
        intent: z.string().trim().min(1).max(100_000).exactOptional(),
      }),
      async (params) => {
        const { intent } = findProcess(web, params.pid)
        const from = { pid: params.pid, step: params.step }
        return readProcess(web, (await agents.spawn({ intent: params.intent ?? intent, from })).pid)
      },
    ),
  }
}

function findProcess({ agents }: WebContext, pid: number): ReturnType<WebContext['agents']['ps']>[number] {
  const found = agents.ps(true).find((status) => status.pid === pid)
  if (found !== undefined) return found
  throw new VfsError('ENOENT', `/proc/${pid}`, { op: 'process', detail: `there is no process ${pid}` })
}

async function readProcess(web: WebContext, pid: number): Promise<WebProcess> {
  return toWebProcess(web, findProcess(web, pid))
}

/**
 * Returns a page of steps. The cursor is the number of its last step, so that a page can read on when there are more.
 */
function listSteps(web: WebContext, steps: readonly StepRecord[], page: PageParams): Page<WebStep> {
  const after = page.cursor === undefined ? 0 : Number(page.cursor)
  if (!Number.isSafeInteger(after))
    throw new VfsError('EINVAL', '/', { op: 'request', detail: 'the cursor is not the number of a step' })
  const rest = steps.filter(({ step_number: number }) => number > after)
  const items = rest.slice(0, page.limit ?? DEFAULT_LIMIT)
  const last = items.at(-1)?.step_number
  return {
    items: items.map((record) => toWebStep(web, record, steps[steps.indexOf(record) - 1])),
    next: rest.length > items.length && last !== undefined ? String(last) : null,
    total: steps.length,
  }
}

function toWebStep({ redactor }: WebContext, record: StepRecord, before: StepRecord | undefined): WebStep {
  const shorten = (text: string): WebText => shortenText(text, redactor)
  const oldCount = before?.messages.length ?? 0
  const added = record.messages.slice(oldCount).filter(({ role }) => role === 'user' || role === 'system')
  return {
    step: record.step_number,
    time: record.timestamp,
    provider: record.provider ?? '',
    model: record.model ?? '',
    tokens: record.tokens_used,
    action: record.action,
    summary: toSummary(record.summary, redactor),
    messages: added.slice(-MAX_SHOWN_MESSAGES).map(({ role, content }) => ({ role, text: shorten(content) })),
    response: shorten(record.raw_response),
    calls: listRecordedCalls(record)
      .filter(({ tool_path: tool }) => tool !== '')
      .map((call) => ({
        tool: call.tool_path,
        input: shorten(call.tool_input),
        result: shorten(call.tool_result),
        error: toSummary(call.tool_error, redactor, 2000),
      })),
    checkpoint: record.checkpoint ?? null,
    canFork: true,
  }
}

function findStep(
  steps: readonly StepRecord[],
  pid: number,
  step: number,
): { readonly record: StepRecord; readonly index: number } {
  const index = steps.findIndex(({ step_number: number }) => number === step)
  const record = steps[index]
  if (record !== undefined) return { record, index }
  const detail = `there is no step ${step}; process ${pid} has ${steps.length} steps`
  throw new VfsError('ENOENT', `/proc/${pid}/steps`, { op: 'steps', detail })
}

/** Returns the trees before and after a step; undefined if it changed no files, or they are gone. */
async function findStepTrees(
  web: WebContext,
  pid: number,
  step: number,
): Promise<{ readonly from: TreeName; readonly to: TreeName } | undefined> {
  const { fork: name } = findProcess(web, pid)
  const steps = await web.agents.steps(pid)
  const { record, index } = findStep(steps, pid, step)
  const before = steps[index - 1]?.checkpoint
  const isThere = name !== null && (await web.home.vaults()).includes(name)
  if (!isThere || record.checkpoint === undefined || record.checkpoint === before) return undefined
  const kind = isLinkedFork((await web.home.info(name)).from) ? 'fork' : 'vault'
  const from = formatTreeRef({ kind, name, at: before === undefined ? 'base' : { checkpoint: before } })
  return { from, to: formatTreeRef({ kind, name, at: { checkpoint: record.checkpoint } }) }
}
