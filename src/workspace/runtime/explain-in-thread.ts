import { startThread } from '../../machine/index.ts'
import {
  type ExecutionRequest,
  type Explanation,
  explain,
  type PolicyRules,
  type PrivatePaths,
} from '../policy/index.ts'

/** A command up to this length is analysed in this thread: its length bounds the work. */
const MAX_INLINE_CHARACTERS = 4096
/** Time and memory limit for a longer command; beyond them it does not run. */
const TIMEOUT_MS = 10_000
const MAX_MEGABYTES = 512

/** Input of the analysing thread. */
export interface ExplainWorkerData {
  readonly request: ExecutionRequest
  readonly policy: PolicyRules | undefined
  readonly privatePaths: PrivatePaths | undefined
}

/** Decides about a request. Analyses a long command in its own thread, so that nothing else waits. */
export function explainInThread(
  request: ExecutionRequest,
  policy: PolicyRules | undefined,
  privatePaths?: PrivatePaths,
): Promise<Explanation> {
  if (measureRequest(request) <= MAX_INLINE_CHARACTERS)
    return Promise.resolve(explain(request, policy, privatePaths))
  const workerInput: ExplainWorkerData = { request, policy, privatePaths }
  return new Promise((resolve) => {
    const worker = startThread(import.meta.url, 'judge-worker', {
      workerData: workerInput,
      resourceLimits: { maxOldGenerationSizeMb: MAX_MEGABYTES },
    })
    const end = (explanation: Explanation) => {
      clearTimeout(timer)
      resolve(explanation)
      void worker.terminate()
    }
    const timer = setTimeout(() => end(createDenial('takes too long to analyse')), TIMEOUT_MS)
    worker.once('message', end)
    worker.once('error', ({ message }) => end(createDenial(`cannot be analysed (${message})`)))
    worker.once('exit', () => end(createDenial('cannot be analysed')))
  })
}

function measureRequest({ command, env, stdin }: ExecutionRequest): number {
  const words = 'shell' in command ? [command.shell] : command.argv
  const settings = Object.entries(env).flat()
  return [...words, ...settings].reduce((sum, { length }) => sum + length, stdin?.length ?? 0)
}

/** Denies the request, as for any command that cannot be analysed. */
function createDenial(why: string): Explanation {
  const reason = `the command ${why}; split it up`
  return {
    decision: { action: 'deny', categories: ['mutating', 'host_escape_risk'], reason },
    parts: [],
    networkPrograms: [],
  }
}
