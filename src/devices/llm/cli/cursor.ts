import type { Device } from '../../../kernel/index.ts'
import { VfsError } from '../../../vfs/index.ts'
import { modelDevice } from '../request/model-device.ts'
import { withToolInstructions } from '../request/tool-instructions.ts'
import { formatTranscript } from '../request/transcript.ts'
import type { CliModelOptions } from './claude.ts'
import { ResponseBuilder } from './response-builder.ts'
import { type ModelProgram, runProgram } from './run-program.ts'

const PATH = '/dev/llm/cursor'
/** Restricts it to reading: all actions go through the kernel. */
const RESTRICTED_ARGS = ['--mode', 'ask', '--trust']

/**
 * Creates the device for Cursor: one request, one `agent --print`. It has no option for a system prompt, which goes
 * into its input, and none for `max_turns`, which is ignored.
 */
export function cursorDevice({
  executable = 'agent',
  env,
  directory,
  args = RESTRICTED_ARGS,
}: CliModelOptions): Device {
  const program: ModelProgram = {
    path: PATH,
    executable,
    env,
    workingDirectory: directory,
    installHint: 'install it with `curl https://cursor.com/install -fsS | bash`, or use another provider',
  }
  return modelDevice(PATH, () => async (request, signal, onText) => {
    assertKey(env)
    const { model, messages } = request
    const response = new ResponseBuilder(program, onText)
    const run = {
      args: [
        '--print',
        '--output-format',
        'stream-json',
        ...(model === '' ? [] : ['--model', model]),
        ...args,
      ],
      input: formatTranscript(messages, withToolInstructions(request)),
      onEvent: (event: object) => response.add(event),
    }
    return response.toResponse(await runProgram(program, run, signal))
  })
}

function assertKey({ CURSOR_API_KEY: key }: CliModelOptions['env']): void {
  if (key !== undefined && key !== '') return
  const detail =
    'CURSOR_API_KEY is not set; create a key at cursor.com/dashboard, set it and restart the daemon (coppice daemon stop)'
  throw new VfsError('EACCES', PATH, { op: 'write', detail })
}
