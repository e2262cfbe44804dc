import { startThread } from '../../machine/index.ts'
import { type ExecutionRequest, type Explanation, explain, type PolicyRules } from '../policy/index.ts'

/** A command up to this many characters is looked through at once: its length bounds the work. */
const MAX_INLINE_CHARACTERS = 4096
/** A longer one gets this much time and memory; beyond that it does not run. */
const TIMEOUT_MS = 10_000
const MAX_MEGABYTES = 512

/** Input of the deciding thread. */
export interface ExplainWorkerData {
  readonly request: ExecutionRequest
  readonly policy: PolicyRules | undefined
}

/** Decides about a request. A long one is looked through in a thread of its own, so that nothing else waits for it. */
export function explainInThread(
  request: ExecutionRequest,
  policy: PolicyRules | undefined,
): Promise<Explanation> {
  if (measureRequest(request) <= MAX_INLINE_CHARACTERS) return Promise.resolve(explain(request, policy))
  const asked: ExplainWorkerData = { request, policy }
  return new Promise((resolve) => {
    const worker = startThread(import.meta.url, 'judge-worker', {
      workerData: asked,
      resourceLimits: { maxOldGenerationSizeMb: MAX_MEGABYTES },
    })
    const end = (explanation: Explanation) => {
      clearTimeout(timer)
      resolve(explanation)
      void worker.terminate()
    }
    const timer = setTimeout(() => end(createDenial('takes too long to be looked into')), TIMEOUT_MS)
    worker.once('message', end)
    worker.once('error', ({ message }) => end(createDenial(`cannot be looked into (${message})`)))
    worker.once('exit', () => end(createDenial('cannot be looked into')))
  })
}

function measureRequest({ command, env, stdin }: ExecutionRequest): number {
  const words = 'shell' in command ? [command.shell] : command.argv
  const settings = Object.entries(env).flat()
  return [...words, ...settings].reduce((sum, { length }) => sum + length, stdin?.length ?? 0)
}

/** Fails closed, as everything does that cannot be looked into. */
function createDenial(why: string): Explanation {
  const reason = `the command ${why}; split it up`
  return {
    decision: { action: 'deny', categories: ['mutating', 'host_escape_risk'], reason },
    parts: [],
    networkPrograms: [],
  }
}
