import { parentPort, workerData } from 'node:worker_threads'
import { listHunks, splitLines } from '../diff/index.ts'
import type { DiffWorkerData } from './list-hunks-in-thread.ts'

const { old, current }: DiffWorkerData = workerData
parentPort?.postMessage(listHunks(splitLines(old), splitLines(current)))
