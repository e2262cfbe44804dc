import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { drawRecording } from './recording-svg.js'

// Runs the commands of the README's picture in a pseudo-terminal, in a new project with a new home, and draws
// their output. The drawing has no clock in it: only a change of output changes the file.
// With --check it writes nothing and fails if the picture in the repository shows something else.
const root = fileURLToPath(new URL('..', import.meta.url))
const picture = join(root, 'docs/recording.svg')

/** Columns of the terminal; longer lines would wrap. */
const COLUMNS = 92

const PROJECT = {
  'src/cart.ts': `export const total = (prices: number[]) =>
  prices.reduce((sum, price) => sum + price, 0)
`,
  'src/price.ts': `export const format = (price: number) => '$' + price.toFixed(2)
`,
  'migrate.sh': `#!/bin/sh
sed -i 's/prices/cents/; s/number/bigint/; s/price/cent/g; s/ 0)/ 0n)/' src/cart.ts
rm src/price.ts
echo 'migrated to cents'
`,
}

/** Commands to type, each with the step that the picture names above the terminal. */
const STORY = [
  { step: 'exec', command: 'coppice exec -- ./migrate.sh' },
  { step: 'exec', command: 'git status --short   # the directory is unchanged' },
  { step: 'diff', command: 'coppice diff' },
  { step: 'apply', command: 'coppice apply' },
  { step: 'apply', command: 'git status --short' },
  { step: 'undo', command: 'coppice apply --undo' },
  { step: 'undo', command: 'git status --short   # unchanged again' },
]

const scratch = mkdtempSync(join(tmpdir(), 'coppice-recording-'))
try {
  const terminal = openTerminal(makeProject())
  const svg = drawRecording({
    steps: ['exec', 'diff', 'apply', 'undo'],
    prompt: '~/shop $ ',
    columns: COLUMNS,
    commands: STORY.map(({ step, command }) => ({ step, command, output: terminal(command) })),
  })
  if (!process.argv.includes('--check')) writeFileSync(picture, svg)
  else if (readFileSync(picture, 'utf8') !== svg) {
    console.error('docs/recording.svg is not what the commands print today; run npm run recording')
    process.exitCode = 1
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

/** Makes a git repository with the project in it, and a `coppice` to call; returns its directory. */
function makeProject() {
  const project = join(scratch, 'shop')
  for (const [name, content] of Object.entries(PROJECT)) {
    mkdirSync(dirname(join(project, name)), { recursive: true })
    writeFileSync(join(project, name), content)
  }
  chmodSync(join(project, 'migrate.sh'), 0o755)
  mkdirSync(join(scratch, 'bin'))
  writeFileSync(
    join(scratch, 'bin/coppice'),
    `#!/bin/sh\nexec "${process.execPath}" "${root}/bin/coppice.js" "$@"\n`,
    { mode: 0o755 },
  )
  const git = (...args) =>
    execFileSync('git', ['-c', 'user.name=shop', '-c', 'user.email=shop@example.com', ...args], {
      cwd: project,
      env: cleanEnvironment(),
    })
  git('init', '--quiet')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'Begin')
  return project
}

/** Returns a function that runs a command in a pseudo-terminal and returns all it prints. */
function openTerminal(project) {
  // Nobody types, and the input does not end: `script` would type ^D, before the command is there to read it.
  const keyboard = join(scratch, 'keyboard')
  execFileSync('mkfifo', [keyboard])
  const input = openSync(keyboard, 'r+')
  return (command) =>
    execFileSync(
      'script',
      ['--quiet', '--return', '--command', `stty cols ${COLUMNS} rows 50; ${command}`, '/dev/null'],
      {
        cwd: project,
        env: cleanEnvironment(),
        encoding: 'utf8',
        stdio: [input, 'pipe', 'inherit'],
      },
    )
}

/** No homes or settings of this machine's user, and no variables that commands would be run without. */
function cleanEnvironment() {
  return {
    PATH: `${join(scratch, 'bin')}${delimiter}${process.env['PATH']}`,
    HOME: join(scratch, 'user'),
    SHELL: '/bin/sh',
    TERM: 'xterm-256color',
    PAGER: 'cat',
    LANG: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
  }
}
