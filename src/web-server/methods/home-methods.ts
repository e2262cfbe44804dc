import { z } from 'zod'
import type { ProcessStatus } from '../../agent-kernel/index.ts'
import type { AskedQuestions } from '../../devices/tty/index.ts'
import type { WebPendingMerge, WebProcess, WebQuestion } from '../../web-api/index.ts'
import { formatTreeRef } from '../../web-api/index.ts'
import { type PendingMerge, PendingMerges } from '../../workspace/index.ts'
import { defineWebMethod, type MethodTable, pageShape, query } from '../define-method.ts'
import { mapPage, paginate } from '../paginate.ts'
import { toSummary } from '../shorten-text.ts'
import { ignoreMissing, isLinkedFork } from '../trees/home-trees.ts'
import { TreeList } from '../trees/list-trees.ts'
import type { WebContext } from '../web-context.ts'

type HomeMethod = 'getStatus' | 'listProcesses' | 'listTrees' | 'listWaiting'

/** Longest result of a process in a list. */
const MAX_RESULT_CHARACTERS = 2000

/** Creates the methods about the home as a whole. */
export function createHomeMethods(web: WebContext): MethodTable<HomeMethod> {
  const trees = new TreeList(web)
  return {
    getStatus: defineWebMethod('getStatus', z.strictObject({}), async () => ({
      home: web.path,
      version: web.version,
      startedAt: web.startedAt.toISOString(),
      running: web.agents.running,
      position: web.events.position,
    })),
    listProcesses: defineWebMethod(
      'listProcesses',
      z.strictObject({ ...pageShape, all: query.flag.exactOptional() }),
      async ({ all = false, ...page }) =>
        mapPage(paginate(web.agents.ps(all).toReversed(), page), (status) => toWebProcess(web, status)),
    ),
    listTrees: defineWebMethod('listTrees', z.strictObject(pageShape), (page) => trees.list(page)),
    listWaiting: defineWebMethod('listWaiting', z.strictObject({}), async () => {
      const boundary = await web.openBoundary()
      const undecided = (await boundary.approvals.list()).filter(
        ({ approved, denied }) => approved === null && denied === undefined,
      )
      const merges = await Promise.all(
        new PendingMerges(web.path).list().map((merge) => toWebMerge(web, merge)),
      )
      return {
        approvals: undecided.sort((one, other) => (one.asked < other.asked ? -1 : 1)).map(({ id }) => id),
        questions: web.agents.tty.pending().map(toWebQuestion),
        merges: merges.filter((merge) => merge !== undefined),
      }
    }),
  }
}

/** Converts the state of a process for the page. */
export async function toWebProcess(web: WebContext, status: ProcessStatus): Promise<WebProcess> {
  const { agents, redactor } = web
  const { pid } = status
  const spec = agents.kernel.table.find(pid)?.spec
  return {
    pid,
    parent: status.ppid,
    state: status.state,
    intent: status.intent,
    agent: status.agent,
    provider: status.provider,
    model: status.model,
    startedAt: status.started_at,
    endedAt: status.ended_at,
    elapsedMs: status.elapsed_ms,
    step: status.step,
    maxSteps: status.max_steps,
    tokens: status.tokens_used,
    // A budget of 0 is no limit.
    budget: spec === undefined || spec.contextBudget === 0 ? null : spec.contextBudget,
    exitCode: status.exit_code,
    reason: status.reason,
    result: toSummary(status.result, redactor, MAX_RESULT_CHARACTERS),
    lastAction: toSummary(await agents.readLastLog(pid), redactor),
    questions: agents.tty
      .pending()
      .filter((question) => question.pid === pid)
      .map(toWebQuestion),
    // It works in a fork of the source.
    tree: status.fork === null ? null : await nameTree(web, status.fork),
    source: status.vault === null ? null : await nameTree(web, status.vault),
  }
}

export function toWebQuestion({ id, pid, questions }: AskedQuestions): WebQuestion {
  return {
    id,
    pid,
    questions: questions.map(({ question, options, multi_select: isMulti }) => ({
      question,
      options,
      isMulti,
    })),
  }
}

/** Returns the page's name of a directory, a fork of one or a vault; null if the fork or vault is gone. */
export async function nameTree({ home }: WebContext, name: string): Promise<string | null> {
  if (name.startsWith('/')) return formatTreeRef({ kind: 'directory', path: name })
  const info = await home.info(name).catch(ignoreMissing)
  if (info === undefined) return null
  return formatTreeRef({ kind: isLinkedFork(info.from) ? 'fork' : 'vault', name })
}

/** Converts a pending merge for the page; undefined if one of its trees is gone. */
async function toWebMerge(
  web: WebContext,
  { sources, target, resolutions }: PendingMerge,
): Promise<WebPendingMerge | undefined> {
  const names = await Promise.all(sources.map((source) => nameTree(web, source)))
  const into = await nameTree(web, target)
  if (into === null || names.includes(null)) return undefined
  return { sources: names.filter((name) => name !== null), into, resolved: resolutions.size }
}
