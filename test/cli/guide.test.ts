import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../support/run-node.ts'
import { Cli } from './run-cli.ts'

/** Separates the output of two commands. */
const MARK = '\u0001'

it('the commands in docs/guide/cli.md print what the page shows', () => {
  const cli = new Cli()
  const bin = prepare(cli)
  const steps = stepsOf(readFileSync(join(root, 'docs/guide/cli.md'), 'utf8'))
  expect(steps.length).toBeGreaterThan(10)
  const script = steps.map(({ command }) => `${command}\nprintf '${MARK}'\n`).join('')
  const env = {
    ...process.env,
    NODE_OPTIONS: '',
    COPPICE_HOME: cli.home,
    PATH: `${bin}:${process.env['PATH']}`,
  }
  const output = execFileSync('bash', ['-e'], { input: script, cwd: cli.files, encoding: 'utf8', env })
  const documented = steps.map(({ command, output: text }) => `$ ${command}\n${masked(text)}`)
  const real = output.split(MARK).slice(0, -1)
  expect(real.map((text, index) => `$ ${steps[index]?.command}\n${masked(text)}`)).toEqual(documented)
})

interface Step {
  readonly command: string
  readonly output: string
}

function stepsOf(page: string): Step[] {
  const blocks = [...page.matchAll(/^```console\n(.*?)^```/gms)].map(([, block = '']) => block)
  return blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((step) => {
        const [command = '', ...lines] = step.split('\n')
        return { command, output: lines.join('\n') }
      }),
  )
}

/** Masks times, sizes, version numbers and host paths. */
function masked(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, '<time>')
    .replaceAll(/^ *\d+ /gm, '<number> ')
    .replaceAll(/ to \/\S+/g, ' to <directory>')
}

/** Creates the files that the guide assumes: a directory `shop`, a file `better-cart.ts`, and a `coppice` command. */
function prepare(cli: Cli): string {
  mkdirSync(join(cli.files, 'shop/src'), { recursive: true })
  writeFileSync(join(cli.files, 'shop/README.md'), '# Shop\n')
  writeFileSync(join(cli.files, 'shop/src/cart.ts'), 'export const total = (prices) => 0\n')
  const better = 'export const total = (prices) => prices.reduce((a, b) => a + b, 0)\n'
  writeFileSync(join(cli.files, 'better-cart.ts'), better)
  const bin = join(cli.scratch, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'coppice'), `#!/bin/sh\nexec "${process.execPath}" "${root}/bin/coppice.js" "$@"\n`)
  chmodSync(join(bin, 'coppice'), 0o755)
  return bin
}
