import type { Device, ModelRequest } from '../../../kernel/index.ts'
import { modelDevice } from '../request/model-device.ts'
import { withToolInstructions } from '../request/tool-instructions.ts'
import { formatTranscript } from '../request/transcript.ts'
import { ResponseBuilder } from './response-builder.ts'
import { type ModelProgram, type ProgramRun, runProgram } from './run-program.ts'

/** Options of a model that is a local program. */
export interface CliModelOptions {
  /** Path, or a name to look up in the PATH of `env`. */
  readonly executable?: string
  /** Complete environment of the program, including its credentials. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Working directory of the program. */
  readonly directory: string
  /** Replaces the arguments that keep the program from acting on its own. */
  readonly args?: readonly string[]
}

const PATH = '/dev/llm/claude'
/** Disables its own tools, servers, settings and commands: all actions go through the kernel. */
const RESTRICTED_ARGS = [
  '--tools',
  '',
  '--strict-mcp-config',
  '--setting-sources',
  '',
  '--disable-slash-commands',
]
/** Limit of the system prompt as an argument: Linux allows 128 KiB. */
const MAX_ARGUMENT_BYTES = 120_000

/** Creates the device for Claude Code: one request, one `claude -p`. */
export function claudeDevice({
  executable = 'claude',
  env,
  directory,
  args = RESTRICTED_ARGS,
}: CliModelOptions): Device {
  const program: ModelProgram = {
    path: PATH,
    executable,
    // It refuses to start inside a session of its own kind.
    env: { ...env, CLAUDECODE: undefined },
    workingDirectory: directory,
    installHint:
      'install it with `npm install -g @anthropic-ai/claude-code`, run `claude` once to sign in, or use another provider',
  }
  return modelDevice(PATH, () => async (request, signal, onText) => {
    const response = new ResponseBuilder(program, onText)
    const run = { ...createClaudeRun(request, args), onEvent: (event: object) => response.add(event) }
    return response.toResponse(await runProgram(program, run, signal))
  })
}

/**
 * Creates the arguments and the input of a run. The conversation is input: arguments are limited in length and visible
 * to every user of the machine. The system prompt is an argument, unless it is too long.
 */
function createClaudeRun(request: ModelRequest, args: readonly string[]): Pick<ProgramRun, 'args' | 'input'> {
  const { model, max_turns, messages } = request
  // An argument cannot contain NUL.
  const system = withToolInstructions(request).replaceAll('\0', '')
  const isShort = Buffer.byteLength(system) <= MAX_ARGUMENT_BYTES
  return {
    args: [
      ...['-p', '--output-format', 'stream-json', '--verbose', '--include-partial-messages'],
      ...['--max-turns', String(max_turns)],
      ...(model === '' ? [] : ['--model', model]),
      ...(system !== '' && isShort ? ['--system-prompt', system] : []),
      ...args,
    ],
    input: formatTranscript(messages, isShort ? '' : system),
  }
}
