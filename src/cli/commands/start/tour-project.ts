import { spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCommandEnvironment } from '../../access/command-environment.ts'
import { CommandError } from '../../framework/errors.ts'
import { packageRoot } from '../../package-root.ts'

/** The file that the tour looks at, relative to the project. */
export const TOUR_FILE = 'src/cart.ts'

const CART = `export const total = (prices: number[]) => 0 // TODO
`
const REPAIRED_CART = `export const total = (prices: number[]) =>
  prices.reduce((sum, price) => sum + price, 0)
`
const REPAIR = `#!/bin/sh
cat > ${TOUR_FILE} <<'END'
${REPAIRED_CART}END
rm src/old.ts
echo 'repaired the cart'
`

/** A temporary project with a home of its own, in which the tour runs real commands. */
export class TourProject {
  readonly #scratch: string
  readonly #directory: string

  private constructor(scratch: string) {
    this.#scratch = scratch
    this.#directory = join(scratch, 'shop')
  }

  static async create(): Promise<TourProject> {
    const scratch = await mkdtemp(join(tmpdir(), 'coppice-tour-'))
    const project = new TourProject(scratch)
    const directory = project.#directory
    await mkdir(join(directory, 'src'), { recursive: true })
    await writeFile(join(directory, TOUR_FILE), CART)
    await writeFile(join(directory, 'src/old.ts'), '// Nothing imports this.\n')
    await writeFile(join(directory, 'repair.sh'), REPAIR)
    await chmod(join(directory, 'repair.sh'), 0o755)
    return project
  }

  /**
   * Runs a command of this program in the project. Prints its output where the tour prints, or with `isCaptured`
   * returns it. CommandError if it fails.
   */
  async run(
    args: readonly string[],
    { isCaptured, signal }: { readonly isCaptured: boolean; readonly signal: AbortSignal },
  ): Promise<string> {
    const output = isCaptured ? 'pipe' : process.stdout
    const child = spawn(process.execPath, [join(packageRoot, 'bin/coppice.js'), ...args], {
      cwd: this.#directory,
      env: { ...createCommandEnvironment([]).env, COPPICE_HOME: join(this.#scratch, 'home'), PAGER: 'cat' },
      stdio: ['ignore', output, output],
      signal,
    })
    let text = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
    const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve))
    if (code === 0) return text.trimEnd()
    throw new CommandError(
      `the tour failed: coppice ${args.join(' ')} exited with ${code}; see coppice doctor`,
    )
  }

  /** Returns the file that the tour looks at. CommandError if it is not as expected at this point. */
  async readFile({ isRepaired }: { readonly isRepaired: boolean }): Promise<string> {
    const text = await readFile(join(this.#directory, TOUR_FILE), 'utf8')
    if (text === (isRepaired ? REPAIRED_CART : CART)) return text.trimEnd()
    throw new CommandError(`the tour failed: ${TOUR_FILE} has unexpected content: ${text}`)
  }

  async remove(): Promise<void> {
    await rm(this.#scratch, { recursive: true, force: true })
  }
}
