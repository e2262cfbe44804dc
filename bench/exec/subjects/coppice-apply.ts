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
import { getProcessorTime } from '../processor-time.ts'

const [MANY, SINGLE] = ['many', 'single']

/** Processor time of an apply with many small files, of one with a single file, and of a merge. */
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
  const start = Math.min(...merged.map((project) => project.measure([process.execPath, '-e', '0'])))
  const merge = Math.min(...merged.map((project) => project.measure(coppice([], 'apply', MANY, '--merge'))))
  recorder.note('apply-merge', merge - start)
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
    return getProcessorTime({ argv, cwd: this.path, env: this.#env })
  }
}
