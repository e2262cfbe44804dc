import type { Device, ModelRequest } from '../../../kernel/index.ts'
import { modelDevice } from '../request/model-device.ts'
import { withToolInstructions } from '../request/tool-instructions.ts'
import { formatTranscript } from '../request/transcript.ts'
import { AnswerEvents } from './answer-events.ts'
import { type ModelProgram, type ProgramRun, runProgram } from './run-program.ts'

/** A model that is a program of this machine. */
export interface CliModelOptions {
  /** A path, or a name that is looked up in the PATH of `env`. */
  readonly executable?: string
  /** The whole environment of the program: it signs in with what is there. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Where it runs. */
  readonly directory: string
  /** In place of what keeps it from acting on its own. */
  readonly args?: readonly string[]
}

const PATH = '/dev/llm/claude'
/** No tools, servers, settings or commands of its own: what it wants done goes through the kernel. */
const RESTRICTED_ARGS = [
  '--tools',
  '',
  '--strict-mcp-config',
  '--setting-sources',
  '',
  '--disable-slash-commands',
]
/** Linux takes no single argument of more than 128 KiB. */
const MAX_ARGUMENT_BYTES = 120_000

/** Claude Code as a model: one request, one `claude -p`. */
export function claudeDevice({
  executable = 'claude',
  env,
  directory,
  args = RESTRICTED_ARGS,
}: CliModelOptions): Device {
  const program: ModelProgram = {
    path: PATH,
    executable,
    // Within a session of its own kind it would refuse to start.
    env: { ...env, CLAUDECODE: undefined },
    directory,
    install:
      'install it with `npm install -g @anthropic-ai/claude-code`, run `claude` once to sign in, or use another provider',
  }
  return modelDevice(PATH, () => async (request, signal) => {
    const events = new AnswerEvents()
    const run = { ...createClaudeRun(request, args), onEvent: (event: object) => events.add(event) }
    return events.response(program, await runProgram(program, run, signal))
  })
}

/** The prompt goes in as input: arguments are short, and seen by everybody on the machine. */
function createClaudeRun(request: ModelRequest, args: readonly string[]): Pick<ProgramRun, 'args' | 'input'> {
  const { model, max_turns, messages } = request
  // No argument has a NUL in it.
  const system = withToolInstructions(request).replaceAll('\0', '')
  const isShort = Buffer.byteLength(system) <= MAX_ARGUMENT_BYTES
  return {
    args: [
      ...['-p', '--output-format', 'stream-json', '--verbose', '--max-turns', String(max_turns)],
      ...(model === '' ? [] : ['--model', model]),
      ...(system !== '' && isShort ? ['--system-prompt', system] : []),
      ...args,
    ],
    input: formatTranscript(messages, isShort ? '' : system),
  }
}
