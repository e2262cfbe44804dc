/**
 * Writes `used-modules.json`: the modules that commands load. Run it after larger changes of what they do, as root and with
 * bubblewrap: until then they start a little slower.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toModulePath, withTracedBundle } from './traced-bundle.js'

/** Commands by kind. Each goes on from those before it. One of a second is looked at for open ports. */
const COMMANDS = {
  version: [['--version']],
  exec: [
    ['exec', '--', 'true'],
    ['exec', '--', 'sleep', '1'],
  ],
  changes: [
    ['exec', '--fork', 'one', '--', 'sh', '-c', 'echo one > changed; echo new > new; sleep 1'],
    ['enter', 'one', '--', 'sh', '-c', 'echo two >> changed'],
    ['enter', 'running', '--', 'true'],
    ['exec', '--fork', 'two', '--', 'sh', '-c', 'for file in merged*; do echo line >> $file; done'],
  ],
  plain: [
    ['forks'],
    ['diff', 'one'],
    ['vault', 'create', 'notes'],
    ['write', '/note.md', '--vault', 'notes'],
    ['ls', '/', '--vault', 'notes'],
  ],
  apply: [
    ['apply', 'one'],
    ['apply', '--merge', 'two'],
  ],
}

/** Files that a merge changes: so many that a program removes the old ones where the disk is slow. */
const MERGED = Array.from({ length: 50 }, (_, index) => `merged-${index}`)
/** Long enough not to be stored inline, as most files are. */
const LINES = Array.from({ length: 100 }, (_, line) => `line ${line}\n`).join('')

const directory = mkdtempSync(join(tmpdir(), 'coppice-trace-'))
try {
  const used = await withTracedBundle(traceAll)
  writeFileSync(new URL('used-modules.json', import.meta.url), `${JSON.stringify(used, null, 2)}\n`)
} finally {
  rmSync(directory, { recursive: true, force: true })
}

/** Lists the modules that the commands of each kind load. */
function traceAll(bundle) {
  const project = join(directory, 'project')
  mkdirSync(project)
  for (const name of ['changed', ...MERGED]) writeFileSync(join(project, name), LINES)
  // The first command creates the home and probes the machine.
  trace(bundle, project, ['exec', '--', 'true'])
  using _ = startCommand(bundle, project, 'running')
  return Object.fromEntries(
    Object.entries(COMMANDS).map(([kind, commands]) => {
      // Both sides of a merge have changed.
      if (kind === 'apply') for (const name of MERGED) writeFileSync(join(project, name), `first\n${LINES}`)
      const loaded = new Set(commands.flatMap((args) => trace(bundle, project, args)))
      return [kind, [...loaded].sort()]
    }),
  )
}

/** Starts a command in a fork, which others join, and returns when it runs. Disposing ends it. */
function startCommand(bundle, project, fork) {
  const { script, env } = createProgram(bundle)
  const args = ['-e', script, '--', 'exec', '--fork', fork, '--timeout', '0', '--', 'sleep', 'infinity']
  const child = spawn(process.execPath, args, { cwd: project, env, stdio: 'ignore' })
  const record = join(env.COPPICE_HOME, 'running', `${fork}.json`)
  spawnSync('sh', ['-c', 'until grep -qs session "$1"; do sleep 0.1; done', 'sh', record], {
    timeout: 10_000,
  })
  return { [Symbol.dispose]: () => child.kill('SIGKILL') }
}

/** Lists the modules that a command loads. */
function trace(bundle, project, args) {
  const { script, env } = createProgram(bundle)
  const { status, stderr } = spawnSync(process.execPath, ['-e', script, '--', ...args], { cwd: project, env })
  if (status !== 0) throw new Error(`'${args.join(' ')}' failed: ${stderr}`)
  return readFileSync(env.LOADED, 'utf8')
    .split('\n')
    .flatMap((file) => toModulePath(file) ?? [])
}

/** Returns a script for Node that runs a command and writes down the files that it loaded, and its environment. */
function createProgram(bundle) {
  const main = JSON.stringify(join(bundle, 'main.js'))
  const script = `
    process.on('exit', () => require('node:fs').writeFileSync(process.env.LOADED, Object.keys(require.cache).join('\\n')))
    require(${main}).main(process.argv.slice(1)).then((code) => { process.exitCode = code })`
  const home = join(directory, 'home')
  const env = { ...process.env, HOME: directory, COPPICE_HOME: home, LOADED: join(directory, 'loaded') }
  return { script, env }
}
