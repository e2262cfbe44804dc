import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { projectsFor } from '../exec/projects.ts'
import type { Recorder, Settings } from '../harness/benchmark.ts'
import { WarmUpRecorder } from '../harness/recorder.ts'

const PACKAGE = fileURLToPath(new URL('../../node_modules/zod', import.meta.url))
const COPIES = 10
/** Archives and cache are on the disk for everybody: what is measured is what it unpacks. */
const INSTALL =
  'cd work; npm ci --offline --ignore-scripts --no-audit --no-fund --cache "$2/npm-cache" > /dev/null'

/** Lets programs work in a directory that is empty, as a user would: once all of it unmeasured, then again. */
export async function measurePrograms(
  directory: string,
  recorder: Recorder,
  settings: Settings,
): Promise<void> {
  const source = madeSource(settings)
  for (const each of [new WarmUpRecorder(), recorder]) {
    await runPrograms(directory, source, each, settings)
    for (const left of ['work', 'files', 'large'])
      rmSync(join(directory, left), { recursive: true, force: true })
  }
}

async function runPrograms(
  directory: string,
  source: string,
  recorder: Recorder,
  settings: Settings,
): Promise<void> {
  const fresh = async () => rmSync(join(directory, 'work'), { recursive: true, force: true })
  const once = (work: string, script: string, prepare = async () => {}) =>
    recorder.record(work, {
      operations: 1,
      expected: 0,
      prepare,
      pass: async () => shell(script, directory, source),
    })
  await once('tar', 'mkdir work; tar xf "$2/files.tar" -C work', fresh)
  await once('clone', 'git clone -q --no-hardlinks "$2/repository" work', fresh)
  const project = join(projectsFor('fuse', settings), 'package')
  await once('install', INSTALL, async () => {
    await fresh()
    shell('cp -r "$2" work', directory, project)
  })
  await fresh()
  shell('cp -r "$2/files" files; head -c 67108864 /dev/urandom > large', directory, source)
  await once('copy', 'cp -r files work', fresh)
  await once('grep', '! grep -rq "no such text" files')
  await once('find', 'find files -newermt 2040-01-01')
  await once('read', 'cat large > /dev/null')
  await once('remove', 'rm -rf work', async () => {
    await fresh()
    shell('cp -r files work', directory, source)
  })
}

/** What the programs are given, on the disk: made by whoever comes first. */
function madeSource({ directory, isQuick }: Settings): string {
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

function shell(script: string, directory: string, source: string): number {
  execFileSync('sh', ['-ec', `cd "$1"; ${script}`, 'sh', directory, source], { stdio: 'ignore' })
  return 0
}
