/**
 * Writes `used-modules.json`: the modules that commands load. Run it after larger changes of what they do, as root and with
 * bubblewrap: until then they start a little slower.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toModulePath, withTracedBundle } from './traced-bundle.js'

/** Commands by kind. Each goes on from those before it. */
const COMMANDS = {
  exec: [['exec', '--', 'true']],
  changes: [
    ['exec', '--fork', 'one', '--', 'sh', '-c', 'echo one > changed; echo new > new'],
    ['enter', 'one', '--', 'sh', '-c', 'echo two >> changed'],
    ['exec', '--fork', 'two', '--', 'sh', '-c', 'echo line >> merged'],
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

const directory = mkdtempSync(join(tmpdir(), 'coppice-trace-'))
try {
  const used = await withTracedBundle(traceAll)
  writeFileSync(new URL('used-modules.json', import.meta.url), `${JSON.stringify(used, null, 2)}\n`)
} finally {
  rmSync(directory, { recursive: true, force: true })
}

/** Lists the modules that the commands of each kind load, without those that every start loads. */
function traceAll(bundle) {
  const project = join(directory, 'project')
  mkdirSync(project)
  writeFileSync(join(project, 'changed'), 'zero\n')
  writeFileSync(join(project, 'merged'), 'a\nb\nc\nd\n')
  const base = new Set(trace(bundle, project, ['--version']))
  // The first command creates the home and probes the machine.
  trace(bundle, project, ['exec', '--', 'true'])
  return Object.fromEntries(
    Object.entries(COMMANDS).map(([kind, commands]) => {
      // Both sides of a merge have changed.
      if (kind === 'apply') writeFileSync(join(project, 'merged'), 'first\na\nb\nc\nd\n')
      const loaded = new Set(commands.flatMap((args) => trace(bundle, project, args)))
      return [kind, [...loaded.difference(base)].sort()]
    }),
  )
}

/** Lists the modules that a command loads. */
function trace(bundle, project, args) {
  const main = JSON.stringify(join(bundle, 'main.js'))
  const script = `
    process.on('exit', () => require('node:fs').writeFileSync(process.env.LOADED, Object.keys(require.cache).join('\\n')))
    require(${main}).main(process.argv.slice(1)).then((code) => { process.exitCode = code })`
  const list = join(directory, 'loaded')
  const env = { ...process.env, HOME: directory, COPPICE_HOME: join(directory, 'home'), LOADED: list }
  const { status, stderr } = spawnSync(process.execPath, ['-e', script, '--', ...args], { cwd: project, env })
  if (status !== 0) throw new Error(`'${args.join(' ')}' failed: ${stderr}`)
  return readFileSync(list, 'utf8')
    .split('\n')
    .flatMap((file) => toModulePath(file) ?? [])
}
