import type { ReadOptions } from '../../../vfs/index.ts'
import { findDevicePath, printDevice } from '../../access/device-paths.ts'
import { getVaultView, withVault } from '../../access/home-access.ts'
import { parseVaultPath } from '../../access/parse-vault-path.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { at } from '../shared-options.ts'

export const cat: Command = defineCommand(
  {
    name: 'cat',
    summary: 'Print a file',
    details:
      'With --json the content is one UTF-8 string.\nPaths in /dev, /proc and /mnt/mcp belong to the daemon, unless --vault is given.',
    scope: 'vault',
    options: {
      lines: { summary: 'Print only these lines: 3-10, 7, or 20- to the end', value: 'range' },
      at,
      rev: { summary: 'Print this version, from coppice versions', value: 'version' },
    },
    arguments: { path: { summary: 'The file', offers: 'path' } },
    examples: [
      'coppice cat /README.md',
      'coppice cat /src/cart.ts --lines 3-10',
      'coppice cat /plan.md --at before',
      'coppice cat /proc/1/status',
    ],
  },
  (call) => {
    const device = findDevicePath(call, call.argument('path'))
    if (device !== undefined) return printDevice(call, device)
    return withVault(call, async ({ vault, ctx }) => {
      const path = parseVaultPath(call.argument('path'))
      const rev = call.option('rev')
      if (rev !== undefined && (call.has('at') || call.has('lines'))) {
        throw new UsageError('--rev excludes --at and --lines; leave one out')
      }
      const range = parseLineRange(call.option('lines'))
      const content =
        rev === undefined ? getVaultView(call, vault).read(path, range, ctx) : vault.readVersion(path, rev)
      if (call.isJson) {
        const bytes = Buffer.concat(await Array.fromAsync(content))
        await call.output.writeValue({ path, content: bytes.toString('utf8') })
        return
      }
      const size = await call.output.writeBytes(content)
      // A range does not include the end of its last line.
      if (size > 0 && range.lineRange !== undefined && range.lineRange[1] !== 'end')
        await call.output.writeLine('')
    })
  },
)

function parseLineRange(text: string | undefined): ReadOptions {
  if (text === undefined) return {}
  const { first, dash, last } = text.match(/^(?<first>\d+)(?:(?<dash>-)(?<last>\d*))?$/)?.groups ?? {}
  const from = Number(first)
  const to = dash === undefined ? from : last === '' ? 'end' : Number(last)
  if (first === undefined) throw new UsageError(`--lines takes a range such as 3-10, not '${text}'`)
  if (from === 0) throw new UsageError('--lines counts from 1')
  if (to !== 'end' && to < from) throw new UsageError(`--lines ${text} ends before it begins`)
  return { lineRange: [from, to] }
}
