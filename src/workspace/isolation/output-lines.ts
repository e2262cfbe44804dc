import { quoteWord } from './quote.ts'

/** Named pipes for the output of a command, in the directory of its session. */
export const outputPipes = ['stdout', 'stderr'] as const

/** Message on descriptor 3: the pipes exist, and the launch waits until they are opened for reading. */
export const PIPES_MESSAGE = 'pipes'

/** Descriptor 4 is the command's standard error. */
export const REDIRECT_STDERR = 'exec 2>&4 4>&-'

const [stdout, stderr] = outputPipes

/**
 * Creates the pipes, in the directory of the session. It blocks until this program opens them, so it must run in a process
 * that ends with this program.
 */
const CREATE_LINES: readonly string[] = [
  `[ -p ${stderr} ] || mkfifo -m 600 ${stdout} ${stderr} 2>&3`,
  `echo ${quoteWord(PIPES_MESSAGE)} >&3`,
]

/** Lines that create the pipes and write to them from then on. A shell does this sooner than Node starts a program. */
export const OUTPUT_LINES: readonly string[] = [...CREATE_LINES, `exec >${stdout} 2>${stderr}`]

/** Returns the arguments that create the pipes and start a program with descriptor 4 as its standard error. */
export function createOutputArgs(argv: readonly string[]): string[] {
  const script = ['set -e', ...CREATE_LINES, `exec "$@" >${stdout} 4>${stderr}`].join('\n')
  return ['sh', '-c', script, 'coppice', ...argv]
}
