import { setTimeout as pause } from 'node:timers/promises'
import { type Command, defineCommand } from '../../framework/command.ts'
import { applyStyle, type Terminal } from '../../framework/terminal.ts'
import { runTourScenes, type Scene } from './tour-scenes.ts'

/** Long enough to read a scene; the seven of them make the tour's twenty seconds. */
const READING_TIME_MS = 2500

export const tour: Command = defineCommand(
  {
    name: 'tour',
    summary: 'See what Coppice does in twenty seconds',
    details: `A guided run on a temporary namespace in memory: mount, write, search, stage, diff, commit, fork.
Every line it shows is the result of a real call, and is checked before it is shown.
Nothing on this machine is read or changed.`,
    scope: 'none',
    options: {
      fast: { summary: 'Do not pause between scenes (never pauses when output is not a terminal)' },
    },
    examples: ['coppice tour', 'coppice tour --fast | less'],
  },
  async (call) => {
    const { output, terminal } = call
    if (call.isJson) {
      await output.writeValue(await Array.fromAsync(runTourScenes()))
      return
    }
    for await (const scene of runTourScenes()) {
      await output.writeLine(formatScene(scene, terminal))
      if (terminal.isInteractive && !call.has('fast'))
        await pause(READING_TIME_MS, null, { signal: terminal.signal })
    }
    await output.writeLine(
      `${applyStyle(terminal, 'green', 'Every result above was checked.')} Next: README.md`,
    )
  },
)

/** A scene as text. */
export function formatScene({ title, code, result }: Scene, terminal: Terminal): string {
  const indentText = (text: string) => text.replaceAll(/^/gm, '    ')
  return [
    applyStyle(terminal, 'bold', title),
    applyStyle(terminal, 'cyan', indentText(code)),
    applyStyle(terminal, 'dim', indentText(result)),
    '',
  ].join('\n')
}
