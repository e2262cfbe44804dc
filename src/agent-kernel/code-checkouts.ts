import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Home, Vault } from '../backends/vault/index.ts'
import type { WorkspaceCheckout } from '../devices/lsp/index.ts'
import { makePrivateDirectory, PRIVATE_FILE_MODE } from '../machine/index.ts'
import { type CommandSettings, findForkDirectory } from '../namespace/index.ts'
import { VfsError } from '../vfs/index.ts'
import { createLaunch, defaultLimits, isolationEnvironment, quoteWord } from '../workspace/isolation/index.ts'
import { CodeCheckout } from './code-checkout.ts'

/**
 * Files of processes in host directories for language servers, current at each query,
 * including changes of others. Servers run code of the project, so they are sandboxed like
 * commands, without a network, and cannot write there.
 */
export class CodeCheckouts {
  readonly #home: Home
  readonly #directory: string
  readonly #commands: CommandSettings
  readonly #checkouts = new Map<string, Promise<CodeCheckout>>()

  constructor(home: Home, directory: string, commands: CommandSettings) {
    this.#home = home
    this.#directory = directory
    this.#commands = commands
  }

  /** Opens a checkout. Throws ENOTSUP for a process without a workspace, and if `strict` isolation is not available. */
  async open(fork: string | null | undefined): Promise<WorkspaceCheckout> {
    if (fork === null || fork === undefined) {
      const detail = 'the process has no workspace with code'
      throw new VfsError('ENOTSUP', '/dev/lsp', { op: 'lsp', detail })
    }
    if ((await findForkDirectory(this.#home, fork)) !== undefined) {
      const detail =
        'language servers work on vaults only, and this process works on a directory; use shell_exec for its tools'
      throw new VfsError('ENOTSUP', '/dev/lsp', { op: 'lsp', detail })
    }
    const known = this.#checkouts.get(fork) ?? this.#createCheckout(fork)
    this.#checkouts.set(fork, known)
    known.catch(() => this.#checkouts.delete(fork))
    const checkout = await known
    await checkout.refresh()
    return checkout
  }

  /** Removes leftovers of a killed program. Call once at start, before any process. */
  async sweep(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true })
  }

  /** Returns the directory of a fork, if it has one. */
  findDirectory(fork: string): string | undefined {
    return this.#checkouts.has(fork) ? this.#getTreePath(fork) : undefined
  }

  async drop(fork: string): Promise<void> {
    const made = this.#checkouts.get(fork)
    if (made === undefined) return
    this.#checkouts.delete(fork)
    await (await made.catch(() => undefined))?.[Symbol.asyncDispose]()
    await rm(join(this.#directory, fork), { recursive: true, force: true })
  }

  #getTreePath(fork: string): string {
    return join(this.#directory, fork, 'tree')
  }

  async #createCheckout(fork: string): Promise<CodeCheckout> {
    const directory = join(this.#directory, fork)
    const tree = this.#getTreePath(fork)
    await rm(directory, { recursive: true, force: true })
    makePrivateDirectory(tree)
    const vault = await this.#home.vault(fork)
    // Before the files, so that a concurrent change is applied twice rather than never.
    const token = await readLastToken(vault)
    await this.#home.export(fork, tree)
    const { userHome, isolation: level = 'auto', env, hidden: further = [] } = this.#commands
    const { path: home } = this.#home
    const hidden = home === undefined ? further : [home, ...further]
    const plan = { level, network: false, hidden, ...(userHome !== undefined && { userHome }) }
    const { argv } = await createLaunch({
      plan,
      limits: defaultLimits,
      directory,
      workspace: tree,
      isReadonly: true,
      mountLines: [],
    })
    const script = join(directory, 'server.sh')
    const settings = Object.entries(env).map(([name, value]) => quoteWord(`${name}=${value}`))
    // A launch reads its command from descriptor 3, and its errors go to descriptor 4.
    const line = `cd -- ${quoteWord(tree)} || exit 126\nexec env -i -- ${settings.join(' ')} "$@"\n`
    await writeFile(script, line, { mode: PRIVATE_FILE_MODE })
    const path = quoteWord(`PATH=${isolationEnvironment['PATH']}`)
    const start = `cd -- ${quoteWord(directory)} || exit 126; exec 3<"$0" 4>&2; export ${path}; exec "$@"`
    // The words after a launch are the arguments of the shell that reads the script.
    const wrapCommand = (words: readonly string[]) => ['sh', '-c', start, script, ...argv, 'sh', ...words]
    return new CodeCheckout({ vault, token, directory: tree, wrapCommand })
  }
}

async function readLastToken(vault: Vault): Promise<string | undefined> {
  let last: string | undefined
  for await (const { token } of vault.changes()) last = token
  return last
}
