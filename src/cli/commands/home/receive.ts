import { createReadStream } from 'node:fs'
import { addAbortSignal } from 'node:stream'
import { engines } from '../../../config/index.ts'
import { type OpenHome, withHome } from '../../access/home-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { formatBytes, formatCount } from '../../render/format-values.ts'
import { withProgress } from '../../render/progress.ts'
import { engine } from '../shared-options.ts'

export const receive: Command = defineCommand(
  {
    name: 'receive',
    summary: 'Create or update a vault from a coppice send stream',
    details: `Receives all or nothing: a truncated or damaged stream changes nothing.
Changes of send --since go into the vault that has received the earlier state.`,
    scope: 'home',
    options: {
      from: { summary: 'File to read (default: standard input)', value: 'file', offers: 'file' },
      as: { summary: 'Name of the vault here (default: its name in the stream)', value: 'name' },
      engine,
    },
    examples: ['coppice receive < base.coppice', 'coppice receive --from base.coppice --as copy'],
  },
  (call) => {
    const { terminal, output } = call
    const [file, as] = [call.option('from'), call.option('as')]
    const receiveVault = async ({ home, ctx }: OpenHome) => {
      const source = file === undefined ? terminal.in : createReadStream(file)
      const stream = addAbortSignal(terminal.signal, source)
      const report = await withProgress(terminal, 'receive', 'operation', (onProgress) =>
        home.receive(stream, { ...ctx, ...(as !== undefined && { as }), onProgress }),
      )
      const { vault, checkpoint, since } = report
      const what = since === undefined ? `vault ${vault}` : `changes of ${vault} since ${since}`
      const point = checkpoint === undefined ? '' : `, checkpoint ${checkpoint}`
      // The totals of the vault: the stream omits content that the home already has.
      const { files, bytes } = await home.info(vault)
      const holds = `it holds ${formatCount(files, 'file')}, ${formatBytes(bytes)}`
      await output.writeValue(report, `received ${what}${point}; ${holds}`)
    }
    return withHome(call, receiveVault, { create: true, engine: call.choiceOption('engine', engines) })
  },
)
