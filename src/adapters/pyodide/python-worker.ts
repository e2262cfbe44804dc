import { parentPort, workerData } from 'node:worker_threads'
import { Interpreter } from './interpreter.ts'
import type { InterpreterSetup, PythonMessage, PythonRequest } from './python-messages.ts'

// Thread of one interpreter: runs requests in order and reports each outcome.
const setup: InterpreterSetup = workerData
const send = (message: PythonMessage) => parentPort?.postMessage(message)
const starting = Interpreter.start(setup, send)
let last: Promise<void> = starting.then(
  () => send({ kind: 'done' }),
  (error: unknown) => send(Interpreter.toFailureMessage(error)),
)

parentPort?.on('message', (request: PythonRequest) => {
  last = last.then(async () => {
    const interpreter = await starting
    send(await interpreter.answer(request))
  })
})
