import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import {
  APPLIED_FILES,
  APPLY_PASSES,
  CHANGE_FILES,
  CHANGE_LINES,
  changeFirstLines,
  createAppliedProject,
  createMergedProject,
  MERGED_FILES,
} from '../applied-files.ts'
import { coppice, withHome } from '../coppice-program.ts'
import { getProcessorTime, measureProgram, type TimedProgram } from '../processor-time.ts'

const [MANY, SINGLE] = ['many', 'single']

/** Processor time of an apply with many small files and of one with a single file; both times of a merge. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  recorder.progress(`an apply of ${APPLIED_FILES} files`)
  const applied = createProjects('applied', settings, (project) => {
    createAppliedProject(project.path)
    project.run('exec', '--fork', MANY, '--shell', '--', CHANGE_FILES)
    project.run('exec', '--fork', SINGLE, '--shell', '--', 'echo new > single')
  })
  const single = Math.min(...applied.map((project) => project.measure(coppice([], 'apply', SINGLE))))
  const many = Math.min(...applied.map((project) => project.measure(coppice([], 'apply', MANY))))
  recorder.note('apply-start', single)
  recorder.note('apply', many - single)

  recorder.progress(`a merge of ${MERGED_FILES} files`)
  const merged = createProjects('merged', settings, (project) => {
    createMergedProject(project.path)
    project.run('exec', '--fork', MANY, '--shell', '--', CHANGE_LINES)
    changeFirstLines(project.path)
  })
  const starts = merged.map((project) => measureProgram(project.toProgram([process.execPath, '-e', '0'])))
  const merges = merged.map((project) =>
    measureProgram(project.toProgram(coppice([], 'apply', MANY, '--merge'))),
  )
  for (const [work, kind] of [
    ['apply-merge', 'elapsed'],
    ['apply-merge-processor', 'processor'],
  ] as const)
    recorder.note(
      work,
      Math.min(...merges.map((time) => time[kind])) - Math.min(...starts.map((time) => time[kind])),
    )
}

/** Creates a project for each pass: a disk is slow for a minute after an undo has removed many files. */
function createProjects(
  name: string,
  settings: Settings,
  create: (project: AppliedProject) => void,
): AppliedProject[] {
  const projects = Array.from({ length: APPLY_PASSES }, (_, pass) => {
    const path = join(settings.directory, `${name}-${process.pid}-${pass}`)
    const project = new AppliedProject(path, withHome(settings, `home-${name}-${process.pid}-${pass}`))
    create(project)
    return project
  })
  execFileSync('sync')
  return projects
}

class AppliedProject {
  readonly path: string
  readonly #env: NodeJS.ProcessEnv

  constructor(path: string, env: NodeJS.ProcessEnv) {
    this.path = path
    this.#env = env
  }

  run(...words: readonly string[]): void {
    const [file = '', ...args] = coppice([], ...words)
    const { status, stderr } = spawnSync(file, args, { cwd: this.path, env: this.#env, encoding: 'utf8' })
    if (status !== 0) throw new Error(`'coppice ${words.join(' ')}' failed: ${stderr}`)
  }

  measure(argv: readonly string[]): number {
    return getProcessorTime(this.toProgram(argv))
  }

  toProgram(argv: readonly string[]): TimedProgram {
    return { argv, cwd: this.path, env: this.#env }
  }
}
