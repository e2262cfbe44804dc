import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { S3Client } from '@aws-sdk/client-s3'

/** A page of a thousand of the longest keys has less than a third of this, however they are encoded. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024
const FIRST_ERROR_STATUS = 300

/** An answer that no honest server gives, and that would not fit into memory. */
export class ResponseTooLargeError extends Error {
  override readonly name = 'AnswerTooLarge'
  override readonly message: string =
    `an answer of more than ${MAX_RESPONSE_BYTES / 1024 / 1024} MiB where a few are due`
}

/** A client whose answers are bounded, but for the bytes of objects, which are not held. The client itself is left as it is. */
export function limitResponses(client: S3Client): S3Client {
  return new Proxy(client, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        if (name === 'send') limitResponse(args[0])
        return Reflect.apply(value, target, args)
      }
    },
  })
}

/** What is used of a command of the SDK. */
interface LimitableCommand {
  readonly middlewareStack: {
    add(middleware: (next: Next, context: { readonly commandName?: string }) => Next, where: object): void
  }
}

type Next = (args: unknown) => Promise<{ readonly response: unknown }>

function limitResponse(command: unknown): void {
  if (!isLimitable(command)) return
  const bounding = (next: Next, { commandName }: { readonly commandName?: string }): Next => {
    return async (args) => {
      const result = await next(args)
      const { response } = result
      if (isResponse(response) && (commandName !== 'GetObjectCommand' || isFailure(response))) {
        response.body = limitBody(response.body)
      }
      return result
    }
  }
  command.middlewareStack.add(bounding, { step: 'deserialize', priority: 'low', name: 'boundAnswers' })
}

/** The same bytes; it fails when there are too many, and lets go of where they come from. */
function limitBody(body: Readable): Readable {
  let bytes = 0
  const limit = new Transform({
    transform: (chunk: Uint8Array, _encoding, done) => {
      bytes += chunk.length
      if (bytes > MAX_RESPONSE_BYTES) done(new ResponseTooLargeError())
      else done(null, chunk)
    },
  })
  // Whoever reads it sees the failure.
  pipeline(body, limit).catch(() => {})
  return limit
}

function isLimitable(command: unknown): command is LimitableCommand {
  return typeof command === 'object' && command !== null && 'middlewareStack' in command
}

function isResponse(response: unknown): response is { body: Readable; statusCode: number } {
  return (
    typeof response === 'object' && response !== null && Reflect.get(response, 'body') instanceof Readable
  )
}

function isFailure({ statusCode }: { readonly statusCode: number }): boolean {
  return statusCode >= FIRST_ERROR_STATUS
}
