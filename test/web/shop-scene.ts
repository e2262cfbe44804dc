import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { DaemonCli } from '../cli/daemon-cli.ts'

const CART = `import { round } from './money.ts'

export interface Item {
  price: number
  count: number
}

/** Adds up a cart. */
export function total(items) {
  let sum = ''
  for (const item of items) sum += item.price
  return round(sum)
}

/** Counts the pieces in a cart. */
export function count(items: readonly Item[]): number {
  let pieces = 0
  for (const item of items) pieces += item.count
  return pieces
}

/** Formats an amount for a receipt. */
export function format(amount: number): string {
  return \`\${amount} EUR\`
}

/** Finds the most expensive item. */
export function findDearest(items: readonly Item[]): Item | undefined {
  return items.toSorted((one, other) => other.price - one.price)[0]
}

/** A cart without anything in it. */
export const empty: Item[] = []
`
const REPAIRED = CART.replace('total(items) {', 'total(items: readonly Item[]): number {')
  .replace("let sum = ''", 'let sum = 0')
  .replace('sum += item.price\n', 'sum += item.price * item.count\n')
  .replace('{amount} EUR', '{amount.toFixed(2)} EUR')
  .replace('empty: Item[]', 'empty: readonly Item[]')
const TEST = `import assert from 'node:assert/strict'
import { empty, format, total } from '../src/cart.ts'

assert.equal(total([{ price: 2, count: 3 }]), 6)
assert.equal(total(empty), 0)
assert.equal(format(6), '6.00 EUR')
`

const tool = (name: string, input: unknown) => ({ name, input })

/** A project in which agents work: one has finished, one asks, and a command waits for an approval. */
export class ShopScene extends DaemonCli {
  override readonly files: string = join(this.scratch, 'shop')

  constructor() {
    super()
    for (const name of ['', 'src', 'test']) mkdirSync(join(this.files, name))
    const write = (name: string, content: string) => writeFileSync(join(this.files, name), content)
    write('README.md', '# Shop\n\nA cart adds up prices.\n')
    write('src/cart.ts', CART)
    write('src/money.ts', 'export const round = (amount: number) => Math.round(amount * 100) / 100\n')
    write('test/cart.ts', TEST)
  }

  /** Lets an agent repair the cart in a fork, and returns the name of the fork. */
  async repair(): Promise<string> {
    const script = this.script(
      say('I look at the cart before I change anything.', 2100, tool('file_read', { path: 'src/cart.ts' })),
      say(
        'The sum begins as a text, and the count is missing. I repair both, and the format.',
        3400,
        tool('write_file', { path: 'src/cart.ts', content: REPAIRED }),
      ),
      say(
        'Now the notes, and a test for an empty cart.',
        1800,
        tool('write_file', { path: 'README.md', content: '# Shop\n\nA cart adds up prices times counts.\n' }),
        tool('write_file', { path: 'test/empty.ts', content: TEST.replace('6)', '6) // two decimals') }),
      ),
      { say: 'The cart adds up prices times counts, and a receipt has two decimals.', tokens: 900 },
    )
    await this.ok(
      'spawn',
      'make the cart add up, with a test',
      '--script',
      script,
      '--budget',
      '20000',
      '--follow',
    )
    const [{ fork }] = JSON.parse(await this.ok('ps', '--all', '--json'))
    return fork
  }

  /** Starts an agent that waits for an answer. Somebody must look at the page. */
  async ask(): Promise<void> {
    const question = {
      question: 'The old receipts have no decimals. Should I convert them?',
      options: ['Convert them', 'Leave them'],
    }
    const script = this.script(
      say('I found receipts of the old format.', 700, tool('ask_user', { questions: [question] })),
      { say: 'Done.' },
    )
    await this.ok('spawn', 'convert the old receipts', '--script', script, '--budget', '5000')
  }

  /** Runs a command in a fork, and another one that policy holds back. */
  async runCommands(): Promise<void> {
    const edit = ['sed', '-i', "s/let sum = ''/let sum = 0n/", 'src/cart.ts']
    expect(await this.run(['exec', '--fork', 'try-2', '--', ...edit])).toMatchObject({ code: 0 })
    await this.run(['exec', '--fork', 'try-3', '--shell', '--', 'echo 1.1.0 > VERSION; git push origin main'])
  }
}

function say(text: string, tokens: number, ...calls: readonly object[]): object {
  return { say: { text, tool_calls: calls }, tokens }
}
