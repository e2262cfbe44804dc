import { parentPort, workerData } from 'node:worker_threads'
import { explain } from '../policy/index.ts'
import type { ExplainWorkerData } from './explain-in-thread.ts'

// A long command may take its time to be looked through: it gets a thread that can be ended.
const { request, policy }: ExplainWorkerData = workerData
parentPort?.postMessage(explain(request, policy))
