import { setTimeout as pause } from 'node:timers/promises'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { applyStyle } from '../../framework/terminal.ts'
import type { Scene } from './scene.ts'
import { TOUR_FILE, TourProject } from './tour-project.ts'

/** Long enough to read a scene. */
const READING_TIME_MS = 3000

interface TourScene {
  readonly title: string
  readonly command: readonly string[]
  /** State of the file after the command; undefined if the scene does not show it. */
  readonly isRepaired?: boolean
}

const SCENES: readonly TourScene[] = [
  {
    title: '1. Run any command in a fork: the project stays as it is',
    command: ['exec', '--', './repair.sh'],
    isRepaired: false,
  },
  { title: '2. See what it changed', command: ['diff'] },
  {
    title: '3. Keep it: all changes or none',
    command: ['apply'],
    isRepaired: true,
  },
  {
    title: '4. Undo: the project is as it was',
    command: ['apply', '--undo'],
    isRepaired: false,
  },
]

export const tour: Command = defineCommand(
  {
    name: 'tour',
    summary: 'Watch exec, diff, apply and undo in a temporary project',
    details: `Runs the real commands in a small project with a home of its own. Both are deleted at the end; your files
and your home are not touched.`,
    scope: 'none',
    options: {
      fast: { summary: 'Do not pause between scenes (never pauses when output is not a terminal)' },
    },
    examples: ['coppice tour', 'coppice tour --fast'],
  },
  async (call) => {
    const project = await TourProject.create()
    try {
      const scenes: Scene[] = []
      for (const scene of SCENES) scenes.push(await playScene(call, project, scene))
      if (call.isJson) await call.output.writeValue(scenes)
      else await call.output.writeLine('In your own project: coppice exec -- <command>')
    } finally {
      await project.remove()
    }
  },
)

/** Runs the command of a scene, and prints all of it unless the output is JSON. */
async function playScene(
  call: CommandInvocation<'fast'>,
  project: TourProject,
  { title, command, isRepaired }: TourScene,
): Promise<Scene> {
  const { terminal, isJson, output } = call
  const show = async (text: string) => {
    if (!isJson) await output.writeLine(text)
    // The command writes to the same terminal by itself.
    await output.flush()
  }
  const formatPrompt = (line: string) =>
    `${applyStyle(terminal, 'cyan', '$')} ${applyStyle(terminal, 'bold', line)}`

  const code = [`coppice ${command.join(' ')}`]
  await show(`${applyStyle(terminal, 'green', title)}\n${formatPrompt(code.join(''))}`)
  const result = [await project.run(command, { isCaptured: isJson, signal: terminal.signal })]
  if (isRepaired !== undefined) {
    const look = `cat ${TOUR_FILE}`
    const content = await project.readFile({ isRepaired })
    code.push(look)
    result.push(content)
    await show(`${formatPrompt(look)}\n${content}`)
  }
  await show('')
  if (terminal.isInteractive && !isJson && !call.has('fast'))
    await pause(READING_TIME_MS, null, { signal: terminal.signal })
  return { title, code: code.join('\n'), result: result.join('\n') }
}
