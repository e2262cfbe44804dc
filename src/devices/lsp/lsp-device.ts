import { z } from 'zod'
import type { Device, DeviceContext } from '../../kernel/index.ts'
import { VfsError } from '../../vfs/index.ts'
import { type Operation, type OperationCall, operation, operationsDevice } from '../operation/index.ts'
import { freshen } from './freshen.ts'
import type { LanguageServer } from './language-server.ts'
import { type LanguageServerSpec, languageOf, serverFor, usualServers } from './language-servers.ts'
import { type PlaceQuestion, placeQuestions } from './place-questions.ts'
import { ServerPool } from './server-pool.ts'
import { type Asked, documentSymbols, workspaceSymbols } from './symbols.ts'
import { type Checkout, realDirectory, WorkspaceFiles } from './workspace-files.ts'

const DEFAULT_TIMEOUT_MS = 60_000
const DEFAULT_IDLE_MS = 5 * 60_000

export interface LspDeviceOptions {
  /** Where it is registered; `/dev/lsp` when absent. */
  readonly path?: string
  /** The workspace in what a process sees; `/workspace` when absent. */
  readonly root?: string
  /** A directory of this machine with the files of a process's workspace, since servers read files themselves. */
  checkout(ctx: DeviceContext): Promise<Checkout>
  /** In place of the usual ones; the first is asked where no file says which is meant. */
  readonly servers?: readonly LanguageServerSpec[]
  /** The environment of servers, in which they are looked for; empty when absent. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** For one question, the start of its server included; 60 s when absent. */
  readonly timeoutMs?: number
  /** A server that nobody asks anything for so long is ended; 5 minutes when absent. */
  readonly idleMs?: number
}

/** A device that has servers at work. */
export interface LspDevice extends Device, AsyncDisposable {
  /** Ends the servers of a directory, before it is removed. */
  release(directory: string): Promise<void>
  /** Ends all servers. */
  close(): Promise<void>
}

/** Language servers. A missing one is EUNAVAILABLE with what to install; a file no server knows ENOTSUP. */
export function lspDevice(options: LspDeviceOptions): LspDevice {
  const { path = '/dev/lsp', env = {}, idleMs = DEFAULT_IDLE_MS } = options
  const pool = new ServerPool({ env, idleMs })
  const questions = new Questions(options, pool)
  const atPlaces = Object.entries(placeQuestions).map(([name, question]) => [
    name,
    questions.atPlace(question),
  ])
  const operations: Record<string, Operation> = {
    ...Object.fromEntries(atPlaces),
    documentSymbol: questions.inDocument(),
    workspaceSymbol: questions.inWorkspace(),
  }
  return {
    ...operationsDevice(path, operations),
    release: async (directory) => pool.release(await realDirectory(directory)),
    close: () => pool.close(),
    [Symbol.asyncDispose]: () => pool.close(),
  }
}

const file = z.string().min(1, 'must not be empty').describe('A file of the workspace, such as src/main.ts.')
const counted = z.int().min(1, 'is counted from 1')

/** The questions of a device, as its operations. */
class Questions {
  readonly #options: LspDeviceOptions
  readonly #pool: ServerPool

  constructor(options: LspDeviceOptions, pool: ServerPool) {
    this.#options = options
    this.#pool = pool
  }

  atPlace({ description, ask }: PlaceQuestion): Operation {
    return operation({
      description,
      schema: z.strictObject({
        file,
        line: counted.describe('Counted from 1.'),
        character: counted.describe('Counted from 1.'),
      }),
      run: ({ file: given, line, character }, call) =>
        this.#aboutFile(given, call, (uri, asked) => {
          const position = { line: line - 1, character: character - 1 }
          return ask({ textDocument: { uri }, position }, asked)
        }),
    })
  }

  inDocument(): Operation {
    return operation({
      description: 'List what is declared in a file: classes, functions, variables.',
      schema: z.strictObject({ file }),
      run: ({ file: given }, call) => this.#aboutFile(given, call, documentSymbols),
    })
  }

  inWorkspace(): Operation {
    const { servers = usualServers } = this.#options
    return operation({
      description: 'Find what is declared anywhere in the workspace under a name.',
      schema: z.strictObject({
        query: z.string().describe('A name, or a part of it.'),
        file: file.optional().describe('Any file of the language that is meant, such as src/main.ts.'),
      }),
      run: ({ query, file: given }, call) => {
        const ask = (asked: Asked) => workspaceSymbols(query, asked)
        if (given !== undefined) return this.#aboutFile(given, call, (_uri, asked) => ask(asked))
        return this.#asked(servers[0] ?? serverFor('', servers), call, async (server, files, signal) =>
          ask({ server, files, signal }),
        )
      },
    })
  }

  /** A question about a file, which its server knows as the process does. */
  #aboutFile(
    given: string,
    call: OperationCall,
    question: (uri: string, asked: Asked) => Promise<unknown>,
  ): Promise<unknown> {
    const spec = serverFor(given, this.#options.servers ?? usualServers)
    return this.#asked(spec, call, async (server, files, signal) => {
      const path = files.pathOf(given)
      const document = {
        uri: files.uriOf(path),
        languageId: languageOf(path, spec),
        text: await files.read(path),
      }
      await server.show(document, signal)
      return question(document.uri, { server, files, signal })
    })
  }

  async #asked(
    spec: LanguageServerSpec,
    { ctx, signal: outer }: OperationCall,
    ask: (server: LanguageServer, files: WorkspaceFiles, signal: AbortSignal) => Promise<unknown>,
  ): Promise<unknown> {
    const { checkout, root = '/workspace', timeoutMs = DEFAULT_TIMEOUT_MS } = this.#options
    const made = await checkout(ctx)
    const files = await WorkspaceFiles.at(made.directory, root, ctx)
    const late = AbortSignal.timeout(timeoutMs)
    const signal = AbortSignal.any([late, outer, ctx.signal])
    try {
      // Without links in its path, as servers tell of it.
      const real: Checkout = {
        directory: files.directory,
        enclosed: (words) => made.enclosed(words),
        ...(made.changes !== undefined && { changes: made.changes }),
      }
      return await this.#pool.use(spec, real, async (server) => {
        await freshen(server, spec, real, files, signal)
        return ask(server, files, signal)
      })
    } catch (error) {
      if (!late.aborted) throw error
      const detail = `the language server did not answer within ${timeoutMs} ms; it may still be reading the project: try again`
      throw new VfsError('ETIMEDOUT', spec.name, { op: 'lsp', detail })
    }
  }
}
