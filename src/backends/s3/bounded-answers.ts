import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { S3Client } from '@aws-sdk/client-s3'

/** A page of a thousand of the longest keys has less than a third of this, however they are encoded. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024
const FIRST_ERROR_STATUS = 300

/** An answer that no honest server gives, and that would not fit into memory. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge'
  override readonly message: string =
    `an answer of more than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB where a few are due`
}

/** A client whose answers are bounded, but for the bytes of objects, which are not held. The client itself is left as it is. */
export function boundAnswers(client: S3Client): S3Client {
  return new Proxy(client, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        if (name === 'send') boundAnswer(args[0])
        return Reflect.apply(value, target, args)
      }
    },
  })
}

/** What is used of a command of the SDK. */
interface BoundableCommand {
  readonly middlewareStack: {
    add(middleware: (next: Next, context: { readonly commandName?: string }) => Next, where: object): void
  }
}

type Next = (args: unknown) => Promise<{ readonly response: unknown }>

function boundAnswer(command: unknown): void {
  if (!isBoundable(command)) return
  const bounding = (next: Next, { commandName }: { readonly commandName?: string }): Next => {
    return async (args) => {
      const result = await next(args)
      const { response } = result
      if (isAnswer(response) && (commandName !== 'GetObjectCommand' || isFailure(response))) {
        response.body = bounded(response.body)
      }
      return result
    }
  }
  command.middlewareStack.add(bounding, { step: 'deserialize', priority: 'low', name: 'boundAnswers' })
}

/** The same bytes; it fails when there are too many, and lets go of where they come from. */
function bounded(body: Readable): Readable {
  let bytes = 0
  const limit = new Transform({
    transform: (chunk: Uint8Array, _encoding, done) => {
      bytes += chunk.length
      if (bytes > MAX_ANSWER_BYTES) done(new AnswerTooLarge())
      else done(null, chunk)
    },
  })
  // Whoever reads it sees the failure.
  pipeline(body, limit).catch(() => {})
  return limit
}

function isBoundable(command: unknown): command is BoundableCommand {
  return typeof command === 'object' && command !== null && 'middlewareStack' in command
}

function isAnswer(response: unknown): response is { body: Readable; statusCode: number } {
  return (
    typeof response === 'object' && response !== null && Reflect.get(response, 'body') instanceof Readable
  )
}

function isFailure({ statusCode }: { readonly statusCode: number }): boolean {
  return statusCode >= FIRST_ERROR_STATUS
}
