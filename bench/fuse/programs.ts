import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { prepareProjects } from '../exec/projects.ts'
import type { Recorder, Settings } from '../harness/benchmark.ts'
import { WarmUpRecorder } from '../harness/recorder.ts'

const PACKAGE = fileURLToPath(new URL('../../node_modules/zod', import.meta.url))
const COPIES = 10
/** Archives and cache are on the disk for everybody: what is measured is what it unpacks. */
const INSTALL =
  'cd "$3"; npm ci --offline --ignore-scripts --no-audit --no-fund --cache "$2/npm-cache" > /dev/null'

/** Lets programs work in a directory that is empty, as a user would: once all of it unmeasured, then again. */
export async function measurePrograms(
  directory: string,
  recorder: Recorder,
  settings: Settings,
): Promise<void> {
  const source = prepareSource(settings)
  for (const [place, each] of [
    ['first', new WarmUpRecorder()],
    ['measured', recorder],
  ] as const) {
    const root = join(directory, place)
    mkdirSync(root)
    await runPrograms(root, source, each, settings)
  }
}

/** Every program has a new place, "$3", and nothing is removed in between: a disk is slow for minutes after that. */
async function runPrograms(
  root: string,
  source: string,
  recorder: Recorder,
  settings: Settings,
): Promise<void> {
  using programs = new ProgramShell(root, source)
  const once = (work: string, script: string, prepare = 'true') => {
    let place = 0
    const run = (what: string) => programs.run(what, `${work}-${place}`)
    return recorder.record(work, {
      operations: 1,
      expected: 0,
      prepare: async () => {
        place++
        await run(prepare)
      },
      pass: () => run(script),
    })
  }
  await once('tar', 'mkdir "$3"; tar xf "$2/files.tar" -C "$3"')
  await once('clone', 'git clone -q --no-hardlinks "$2/repository" "$3"')
  await once('install', INSTALL, `cp -r "${join(prepareProjects('fuse', settings), 'package')}" "$3"`)
  await programs.run('cp -r "$2/files" files; head -c 67108864 /dev/urandom > large')
  await once('copy', 'cp -r files "$3"')
  await once('grep', '! grep -rq "no such text" files')
  await once('find', 'find files -newermt 2040-01-01')
  await once('read', 'cat large > /dev/null')
  for (const [work, script] of [
    ['find-server', 'find files -newermt 2040-01-01'],
    ['read-server', 'cat large > /dev/null'],
  ] as const) {
    const before = process.cpuUsage()
    await programs.run(script)
    const { user, system } = process.cpuUsage(before)
    recorder.note(work, (user + system) / 1e6)
  }
  await once('remove', 'rm -rf "$3"', 'cp -r files "$3"')
}

/**
 * A shell that starts the programs. This process serves mounts and is large: to start each program itself would take
 * several milliseconds.
 */
class ProgramShell implements Disposable {
  readonly #root: string
  readonly #source: string
  readonly #child = spawn('sh', { stdio: ['pipe', 'pipe', 'ignore'] })
  readonly #statuses = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]()

  constructor(root: string, source: string) {
    this.#root = root
    this.#source = source
  }

  /** Runs a script in the directory; "$2" is the source, "$3" the place. Returns its status. Throws unless it is 0. */
  async run(script: string, place = ''): Promise<number> {
    const names = [this.#root, this.#source, place].map((name) => `'${name}'`).join(' ')
    this.#child.stdin.write(
      `(set -e; set -- ${names}; cd "$1"; ${script}) > /dev/null < /dev/null; echo "$?"\n`,
    )
    const { value } = await this.#statuses.next()
    if (value !== '0') throw new Error(`'${script}' failed with status ${value} in ${this.#root}`)
    return 0
  }

  [Symbol.dispose](): void {
    this.#child.kill()
  }
}

/** Creates the input of the programs on the disk, once for all subjects. */
function prepareSource({ directory, isQuick }: Settings): string {
  const source = join(directory, 'source')
  const files = join(source, 'files')
  mkdirSync(source, { recursive: true })
  const script = `test -e done && exit; mkdir -p files; cd files
    for copy in $(seq ${isQuick ? 1 : COPIES}); do cp -r ${PACKAGE} $copy; done
    cd ..; tar cf files.tar files; cp -r files repository; cd repository; git init -q .; git config gc.auto 0; git add .
    git -c user.name=b -c user.email=b@example.com commit -q -m all; touch ../done`
  shell(script, source, files)
  return source
}

function shell(script: string, directory: string, source: string): void {
  execFileSync('sh', ['-ec', `cd "$1"; ${script}`, 'sh', directory, source], { stdio: 'ignore' })
}
