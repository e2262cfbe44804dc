import { parentPort, workerData } from 'node:worker_threads'
import { explain } from '../policy/index.ts'
import type { JudgedRequest } from './judge-apart.ts'

// A long command may take its time to be looked through: it gets a thread that can be ended.
const { request, policy }: JudgedRequest = workerData
parentPort?.postMessage(explain(request, policy))
