import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { WorkspaceCheckout } from '../devices/lsp/index.ts'
import { PRIVATE_FILE_MODE } from '../machine/index.ts'
import type { CommandSettings } from '../namespace/index.ts'
import { createLaunch, defaultLimits, isolationEnvironment, quoteWord } from '../workspace/isolation/index.ts'

export interface ServerPlace {
  /** Directory of the home, which servers do not see. */
  readonly home: string | undefined
  /** Directory for the files of the launch, in which it starts. */
  readonly directory: string
  /** Directory with the code, as servers see it. */
  readonly workspace: string
  /** Shell lines that mount the workspace, and further files over it. */
  readonly mountLines?: readonly string[]
  readonly placingLines?: readonly string[]
  /** Files to hide at their own paths. */
  readonly hiddenOutside?: readonly string[]
}

/**
 * Creates the function that returns the command line of a language server. Servers run code of the project, so they are
 * sandboxed like commands, without a network, and cannot write there. ENOTSUP if `strict` isolation is not available.
 */
export async function createServerLaunch(
  { home, directory, workspace, mountLines = [], placingLines = [], hiddenOutside = [] }: ServerPlace,
  { userHome, isolation: level = 'auto', env, hidden: further = [] }: CommandSettings,
): Promise<WorkspaceCheckout['wrapCommand']> {
  const hidden = home === undefined ? further : [home, ...further]
  const plan = { level, network: false, hidden, hiddenOutside, ...(userHome !== undefined && { userHome }) }
  const { argv } = await createLaunch({
    plan,
    limits: defaultLimits,
    directory,
    workspace,
    isReadonly: true,
    mountLines,
    placingLines,
  })
  const script = join(directory, 'server.sh')
  const settings = Object.entries(env).map(([name, value]) => quoteWord(`${name}=${value}`))
  // A launch reads its command from descriptor 3, and its errors go to descriptor 4.
  const line = `cd -- ${quoteWord(workspace)} || exit 126\nexec env -i -- ${settings.join(' ')} "$@"\n`
  await writeFile(script, line, { mode: PRIVATE_FILE_MODE })
  const path = quoteWord(`PATH=${isolationEnvironment['PATH']}`)
  const start = `cd -- ${quoteWord(directory)} || exit 126; exec 3<"$0" 4>&2; export ${path}; exec "$@"`
  // The words after a launch are the arguments of the shell that reads the script.
  return (words) => ['sh', '-c', start, script, ...argv, 'sh', ...words]
}
