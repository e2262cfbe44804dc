import { text } from 'node:stream/consumers'
import { type GitContext, startGit, waitForExit } from './git-command.ts'

/** Runs Git in a directory, and returns its whole output. */
export class GitQuery {
  readonly directory: string
  readonly #context: GitContext

  constructor(directory: string, context: GitContext) {
    this.directory = directory
    this.#context = context
  }

  /** Returns the output of a run; undefined if it fails. */
  async read(args: readonly string[], input = ''): Promise<string | undefined> {
    const child = startGit(['-C', this.directory, ...args], this.#context)
    // Git may exit without reading its input; its exit code says more.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
    const [code, output] = await Promise.all([waitForExit(child), text(child.stdout), text(child.stderr)])
    return code === 0 ? output : undefined
  }

  /** Returns the output of a run without its last line feed; undefined if it fails. */
  async readLine(...args: readonly string[]): Promise<string | undefined> {
    return (await this.read(args))?.replace(/\n$/, '')
  }
}
