import type { ServerResponse } from 'node:http'
import { z } from 'zod'
import { LoopbackServer } from './loopback-server.ts'

/** Answers a POST request. `record` adds the parsed request to the list, and returns its index. */
export type AnswerRequest<Request> = (
  post: { readonly path: string; readonly body: unknown; readonly record: (request: Request) => number },
  response: ServerResponse,
) => Promise<void>

/** A stand-in of the API of a model, with the requests that it received. */
export class ModelApi<Request> implements AsyncDisposable {
  readonly url: string
  readonly requests: readonly Request[]
  readonly #server: LoopbackServer

  private constructor(server: LoopbackServer, basePath: string, requests: readonly Request[]) {
    this.#server = server
    this.url = `${server.url}${basePath}`
    this.requests = requests
  }

  /** @param basePath the part of the URL that a program appends its paths to. */
  static async start<Request>(basePath: string, answer: AnswerRequest<Request>): Promise<ModelApi<Request>> {
    const requests: Request[] = []
    const record = (request: Request) => requests.push(request) - 1
    const server = await LoopbackServer.start((path, body, response) =>
      answer({ path, body, record }, response),
    )
    return new ModelApi(server, basePath, requests)
  }

  /** Failures of the stand-in; a story must leave none. */
  get problems(): readonly unknown[] {
    return this.#server.problems
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]()
  }
}

const textParts = z.array(z.object({ text: z.string() }))

/** Joins the texts of the result of a tool; undefined if it has another form. */
export function joinTexts(result: unknown): string | undefined {
  const parts = textParts.safeParse(result)
  return parts.success ? parts.data.map(({ text }) => text).join('\n') : undefined
}
