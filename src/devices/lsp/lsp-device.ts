import { z } from 'zod'
import type { Device, DeviceContext } from '../../kernel/index.ts'
import { VfsError } from '../../vfs/index.ts'
import {
  type DeviceOperation,
  defineOperation,
  type OperationCall,
  operationsDevice,
} from '../operation/index.ts'
import type { LanguageServer } from './language-server.ts'
import { defaultServers, getLanguageId, getServerSpec, type LanguageServerSpec } from './language-servers.ts'
import { findMainServer } from './main-language.ts'
import { type PositionQuery, positionQueries } from './position-queries.ts'
import { ServerPool } from './server-pool.ts'
import { findWorkspaceSymbols, type LspQueryContext, listDocumentSymbols } from './symbols.ts'
import { syncChanges } from './sync-changes.ts'
import { resolveDirectory, type WorkspaceCheckout, WorkspaceFiles } from './workspace-files.ts'

const DEFAULT_TIMEOUT_MS = 60_000
const DEFAULT_IDLE_MS = 5 * 60_000

/** Options of `lspDevice`. */
export interface LspDeviceOptions {
  /** Path of the device; `/dev/lsp` when absent. */
  readonly path?: string
  /** Path of the workspace in the process's namespace; `/workspace` when absent. */
  readonly root?: string
  /** Returns a host directory with the files of a process's workspace: servers read files themselves. */
  checkout(ctx: DeviceContext): Promise<WorkspaceCheckout>
  /** Replaces the default servers. A request that names no file goes to the one that supports most of the files. */
  readonly servers?: readonly LanguageServerSpec[]
  /** Environment of the servers, including the PATH to find them; empty when absent. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Limit for one request, including the start of its server; 60 s when absent. */
  readonly timeoutMs?: number
  /** Idle time after which a server is ended; 5 minutes when absent. */
  readonly idleMs?: number
}

/** A device that owns running servers. */
export interface LspDevice extends Device, AsyncDisposable {
  /** Ends the servers of a checkout before it is removed, by its id or directory. */
  release(directory: string): Promise<void>
  /** Ends all servers. */
  close(): Promise<void>
}

/**
 * Creates the language server device. A query is EUNAVAILABLE if its server does not start, with how to install it, and
 * ENOTSUP for a language without a server.
 */
export function lspDevice(options: LspDeviceOptions): LspDevice {
  const { path = '/dev/lsp', env = {}, idleMs = DEFAULT_IDLE_MS } = options
  const pool = new ServerPool({ env, idleMs })
  const lspOperations = new LspOperations(options, pool)
  const positionOperations = Object.entries(positionQueries).map(([name, query]) => [
    name,
    lspOperations.createPositionOperation(query),
  ])
  const operations: Record<string, DeviceOperation> = {
    ...Object.fromEntries(positionOperations),
    documentSymbol: lspOperations.createDocumentOperation(),
    workspaceSymbol: lspOperations.createWorkspaceOperation(),
  }
  return {
    ...operationsDevice(path, operations),
    release: async (directory) => pool.release(await resolveDirectory(directory)),
    close: () => pool.close(),
    [Symbol.asyncDispose]: () => pool.close(),
  }
}

const file = z.string().min(1, 'must not be empty').describe('A file of the workspace, such as src/main.ts.')
const oneBasedNumber = z.int().min(1, 'is counted from 1')

/** Operations of the device. */
class LspOperations {
  readonly #options: LspDeviceOptions
  readonly #pool: ServerPool

  constructor(options: LspDeviceOptions, pool: ServerPool) {
    this.#options = options
    this.#pool = pool
  }

  createPositionOperation({ description, ask }: PositionQuery): DeviceOperation {
    return defineOperation({
      description,
      schema: z.strictObject({
        file,
        line: oneBasedNumber.describe('Counted from 1.'),
        character: oneBasedNumber.describe('Counted from 1.'),
      }),
      run: ({ file: requestedFile, line, character }, call) =>
        this.#queryFile(requestedFile, call, (uri, context) => {
          const position = { line: line - 1, character: character - 1 }
          return ask({ textDocument: { uri }, position }, context)
        }),
    })
  }

  createDocumentOperation(): DeviceOperation {
    return defineOperation({
      description: 'List the symbols of a file: classes, functions, variables.',
      schema: z.strictObject({ file }),
      run: ({ file: requestedFile }, call) => this.#queryFile(requestedFile, call, listDocumentSymbols),
    })
  }

  createWorkspaceOperation(): DeviceOperation {
    const { servers = defaultServers } = this.#options
    return defineOperation({
      description: 'Find symbols of the workspace by name.',
      schema: z.strictObject({
        query: z.string().describe('A name, or a part of it.'),
        file: file.optional().describe('Any file in the language to search, such as src/main.ts.'),
      }),
      run: async ({ query, file: requestedFile }, call) => {
        const ask = (context: LspQueryContext) => findWorkspaceSymbols(query, context)
        if (requestedFile !== undefined) {
          return this.#queryFile(requestedFile, call, (_uri, context) => ask(context))
        }
        const { root = '/workspace' } = this.#options
        const spec = await findMainServer(servers, root, call.ctx)
        return this.#query(spec, call, async (server, files, signal) => ask({ server, files, signal }))
      },
    })
  }

  /** Runs a query about a file after sending the server the file as the process sees it. */
  #queryFile(
    requestedFile: string,
    call: OperationCall,
    ask: (uri: string, context: LspQueryContext) => Promise<unknown>,
  ): Promise<unknown> {
    const spec = getServerSpec(requestedFile, this.#options.servers ?? defaultServers)
    return this.#query(spec, call, async (server, files, signal) => {
      const path = files.resolvePath(requestedFile)
      const document = {
        uri: files.toFileUri(path),
        languageId: getLanguageId(path, spec),
        text: await files.read(path),
      }
      await server.show(document, signal)
      return ask(document.uri, { server, files, signal })
    })
  }

  async #query(
    spec: LanguageServerSpec,
    { ctx, signal: outer }: OperationCall,
    ask: (server: LanguageServer, files: WorkspaceFiles, signal: AbortSignal) => Promise<unknown>,
  ): Promise<unknown> {
    const { checkout, root = '/workspace', timeoutMs = DEFAULT_TIMEOUT_MS } = this.#options
    const checkedOut = await checkout(ctx)
    const files = await WorkspaceFiles.open(checkedOut.directory, root, ctx)
    const timeout = AbortSignal.timeout(timeoutMs)
    const signal = AbortSignal.any([timeout, outer, ctx.signal])
    try {
      // Resolve links, as servers do in the paths they return.
      const resolved: WorkspaceCheckout = {
        directory: files.directory,
        ...(checkedOut.id !== undefined && { id: await resolveDirectory(checkedOut.id) }),
        wrapCommand: (words) => checkedOut.wrapCommand(words),
        ...(checkedOut.changes !== undefined && { changes: checkedOut.changes }),
      }
      return await this.#pool.use(spec, resolved, async (server) => {
        await syncChanges(server, spec, resolved, files, signal)
        return ask(server, files, signal)
      })
    } catch (error) {
      if (!timeout.aborted) throw error
      const detail = `the language server did not answer within ${timeoutMs} ms; it may still be loading the project; try again`
      throw new VfsError('ETIMEDOUT', spec.name, { op: 'lsp', detail })
    }
  }
}
