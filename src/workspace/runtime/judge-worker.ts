import { parentPort, workerData } from 'node:worker_threads'
import { explain } from '../policy/index.ts'
import type { ExplainWorkerData } from './explain-in-thread.ts'

// Analysing a long command may take long, and a thread can be terminated.
const { request, policy, privatePaths }: ExplainWorkerData = workerData
parentPort?.postMessage(explain(request, policy, privatePaths))
