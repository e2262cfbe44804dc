import { parentPort, workerData } from 'node:worker_threads'
import { Interpreter } from './interpreter.ts'
import type { InterpreterSetup, PythonMessage, PythonRequest } from './python-messages.ts'

// The thread of one interpreter: it does one request after another and tells what came of each.
const setup: InterpreterSetup = workerData
const tell = (message: PythonMessage) => parentPort?.postMessage(message)
const starting = Interpreter.start(setup, tell)
let last: Promise<void> = starting.then(
  () => tell({ kind: 'done' }),
  (error: unknown) => tell(Interpreter.toFailureMessage(error)),
)

parentPort?.on('message', (request: PythonRequest) => {
  last = last.then(async () => {
    const interpreter = await starting
    tell(await interpreter.answer(request))
  })
})
