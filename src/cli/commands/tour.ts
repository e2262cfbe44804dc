import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Command } from '../command.ts'
import { styled, type Terminal } from '../terminal.ts'
import { type Scene, scenes } from './tour-scenes.ts'

/** Long enough to read a scene; the seven of them make the tour's twenty seconds. */
const READING_TIME_MS = 2500

export const tour: Command = {
  name: 'tour',
  summary: 'See what Coppice does in twenty seconds, on a namespace in memory',
  help: `Usage: coppice tour [--fast] [--json]

A guided run on a temporary namespace in memory: mount, write, search, stage, diff, commit, fork.
Every line it shows is the result of a real call, and is checked before it is shown.
Nothing on this machine is read or changed.

Options:
  --fast    Do not pause between scenes (never pauses when output is not a terminal)
  --json    Print the scenes as JSON

Examples:
  coppice tour
  coppice tour --fast | less`,

  async run(args, terminal) {
    const { values } = parseArgs({
      args: [...args],
      options: { fast: { type: 'boolean' }, json: { type: 'boolean' } },
    })
    if (values.json) {
      terminal.out.write(`${JSON.stringify(await Array.fromAsync(scenes()), null, 2)}\n`)
      return 0
    }
    for await (const scene of scenes()) {
      terminal.out.write(render(scene, terminal))
      if (terminal.isInteractive && !values.fast)
        await pause(READING_TIME_MS, null, { signal: terminal.signal })
    }
    terminal.out.write(`${styled(terminal, 'green', 'Every result above was checked.')} Next: README.md\n`)
    return 0
  },
}

function render({ title, code, result }: Scene, terminal: Terminal): string {
  const indented = (text: string) => text.replaceAll(/^/gm, '    ')
  return [
    styled(terminal, 'bold', title),
    styled(terminal, 'cyan', indented(code)),
    styled(terminal, 'dim', indented(result)),
    '\n',
  ].join('\n')
}
