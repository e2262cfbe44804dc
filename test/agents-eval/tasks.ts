import {
  createCountries,
  createLog,
  createLongModule,
  createModule,
  createProject,
  createServices,
  type ProjectFiles,
} from './fixtures.ts'

/** A repair task: a project, what a person wants, and a program that decides whether it is done. */
export interface RepairTask {
  readonly name: string
  readonly intent: string
  readonly files: ProjectFiles
  /** Program for Node that runs in the project afterwards. The task is solved if it exits with 0. */
  readonly check: string
}

const bug: RepairTask = {
  name: 'bug in a long file',
  intent: 'The function `median` in `src/statistics.js` is wrong for an even number of values. Repair it.',
  files: createProject({
    'src/statistics.js': createLongModule(`/** Returns the median of the values. */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted[middle]
}
`),
  }),
  check: `const { median, scaleAbove59 } = await import(cwd + '/src/statistics.js')
assert.equal(median([4, 1, 3, 2]), 2.5)
assert.equal(median([3, 1, 2]), 2)
assert.deepEqual(scaleAbove59([118]), [2])`,
}

const rename: RepairTask = {
  name: 'rename in several files',
  intent: 'Rename the function `fetchUser` to `loadUser` in all files below `src`.',
  files: createProject({
    'src/users.js': `export function fetchUser(id) {
  return { id, name: 'user ' + id }
}

export function fetchUserName(id) {
  return fetchUser(id).name
}
`,
    ...Object.fromEntries(
      ['cart', 'order', 'refund', 'review'].map((subject) => [
        `src/${subject}.js`,
        `import { fetchUser, fetchUserName } from './users.js'

${createModule(subject)}
export function ownerOf(value) {
  return { ...fetchUser(value.owner), label: fetchUserName(value.owner) }
}
`,
      ]),
    ),
  }),
  check: `const users = await import(cwd + '/src/users.js')
assert.deepEqual(Object.keys(users).sort(), ['fetchUserName', 'loadUser'])
for (const name of ['cart', 'order', 'refund', 'review']) {
  const { ownerOf } = await import(cwd + '/src/' + name + '.js')
  assert.deepEqual(ownerOf({ owner: 7 }), { id: 7, name: 'user 7', label: 'user 7' })
}`,
}

const missingEntry: RepairTask = {
  name: 'entry missing in a large JSON file',
  intent:
    'The list in `data/countries.json` is ordered by code and lacks the country `NO`. Add it with the currency `NOK` and the calling code `+47`.',
  files: createProject({ 'data/countries.json': createCountries('NO') }),
  check: `const countries = JSON.parse(await readFile('data/countries.json', 'utf8'))
const codes = countries.map(({ code }) => code)
assert.deepEqual(codes, codes.toSorted())
assert.equal(codes.length, 234)
assert.deepEqual(countries.find(({ code }) => code === 'NO'), { code: 'NO', currency: 'NOK', calling: '+47' })`,
}

const log: RepairTask = {
  name: 'error in a long log',
  intent:
    'The import of last night lost an order. Find the error in `logs/import.log` and write it, without its time, to `report.md`.',
  files: createProject({ 'logs/import.log': createLog("order 4700: the currency 'EUX' is unknown") }),
  check: `const report = await readFile('report.md', 'utf8')
assert.match(report, /order 4700: the currency 'EUX' is unknown/)
assert.doesNotMatch(report, /WARN|2026/)`,
}

const config: RepairTask = {
  name: 'key misspelled in one of 24 files',
  intent:
    'One service does not start, because a file below `services` spells the key `timeout_ms` differently. Repair it.',
  files: createProject(createServices('timeout_ms', 'timout_ms')),
  check: `for (let number = 1; number <= 24; number++) {
  const name = 'services/service-' + String(number).padStart(2, '0') + '.yaml'
  assert.match(await readFile(name, 'utf8'), /^  timeout_ms: \\d+$/m)
}`,
}

const todo: RepairTask = {
  name: 'TODO to implement from a README',
  intent: 'Implement the TODO in `src/slug.js` as `README.md` describes it.',
  files: createProject({
    'README.md': `# Shop

A small shop, in plain modules. Each module in \`src\` has the functions for one type of value.

## Run

Start it with \`node src/main.js\`. It needs no database: all values are in memory.

## Slugs

The address of a product ends with its slug. The function \`createSlug\` makes it from the title:

- the text is in lower case
- each run of other characters than letters and digits becomes one \`-\`
- there is no \`-\` at the beginning and at the end
- it has at most 30 characters

## License

MIT
`,
    'src/slug.js': `/** Returns the slug of a title; see the README. */
export function createSlug(title) {
  // TODO: implement
  return title
}
`,
  }),
  check: `const { createSlug } = await import(cwd + '/src/slug.js')
assert.equal(createSlug('  Two Cups & a Pot! '), 'two-cups-a-pot')
assert.ok(createSlug('a'.repeat(50)).length === 30)`,
}

const FORMAT_DATE = `function formatDate(date) {
  const [day] = date.toISOString().split('T')
  return day
}
`

const duplicate: RepairTask = {
  name: 'duplicate removed',
  intent:
    'The function `formatDate` is defined twice below `src`. Keep the one in `src/dates.js` and import it in the other file.',
  files: createProject({
    'src/dates.js': `export ${FORMAT_DATE}`,
    'src/shipment.js': `${createModule('shipment')}
${FORMAT_DATE}
export function labelShipment(shipment, date) {
  return shipment.id + ' of ' + formatDate(date)
}
`,
  }),
  check: `const { labelShipment } = await import(cwd + '/src/shipment.js')
assert.equal(labelShipment({ id: 5 }, new Date(0)), '5 of 1970-01-01')
const text = await readFile('src/shipment.js', 'utf8')
assert.doesNotMatch(text, /function formatDate/)
assert.match(text, /closeShipment/)`,
}

const offByOne: RepairTask = {
  name: 'off by one',
  intent: 'A loop below `src` leaves out the last entry of its list. Find it and repair it.',
  files: createProject({
    'src/pages.js': `export function printPage(entries) {
  const lines = []
  for (let index = 0; index < entries.length - 1; index++) {
    lines.push(index + 1 + '. ' + entries[index])
  }
  return lines.join('\\n')
}
`,
    'src/steps.js': `export function listSteps(values) {
  const steps = []
  for (let index = 0; index < values.length - 1; index++) {
    steps.push(values[index + 1] - values[index])
  }
  return steps
}
`,
  }),
  check: `const { printPage } = await import(cwd + '/src/pages.js')
const { listSteps } = await import(cwd + '/src/steps.js')
assert.equal(printPage(['a', 'b']), '1. a\\n2. b')
assert.deepEqual(listSteps([1, 4, 6]), [3, 2])`,
}

const move: RepairTask = {
  name: 'file moved with its imports',
  intent: 'Move `src/money.js` to `src/lib/money.js`, and keep all imports below `src` working.',
  files: createProject({
    'src/constants.js': "export const CURRENCY = 'EUR'\n",
    'src/money.js': `import { CURRENCY } from './constants.js'

export function formatMoney(cents) {
  return (cents / 100).toFixed(2) + ' ' + CURRENCY
}
`,
    ...Object.fromEntries(
      ['cart', 'invoice', 'refund'].map((subject) => [
        `src/${subject}.js`,
        `import { formatMoney } from './money.js'

${createModule(subject)}
export function printTotal(cents) {
  return 'Total: ' + formatMoney(cents)
}
`,
      ]),
    ),
  }),
  check: `await import(cwd + '/src/lib/money.js')
await assert.rejects(readFile('src/money.js'))
for (const name of ['cart', 'invoice', 'refund']) {
  const { printTotal } = await import(cwd + '/src/' + name + '.js')
  assert.equal(printTotal(250), 'Total: 2.50 EUR')
}`,
}

const conflict: RepairTask = {
  name: 'conflict in two files',
  intent:
    'A merge left conflict markers in two files below `src`. Keep the lines of both sides, those of HEAD first.',
  files: createProject({
    'src/roles.js': `export const roles = [
  'reader',
<<<<<<< HEAD
  'editor',
=======
  'auditor',
>>>>>>> branch
  'owner',
]
`,
    'src/stock.js': `${createModule('stock')}
<<<<<<< HEAD
export function isLow(stock) {
  return stock.lines.length < 3
}
=======
export function isEmpty(stock) {
  return stock.lines.length === 0
}
>>>>>>> branch
`,
  }),
  check: `const { roles } = await import(cwd + '/src/roles.js')
assert.deepEqual(roles, ['reader', 'editor', 'auditor', 'owner'])
const stock = await import(cwd + '/src/stock.js')
assert.ok(stock.isLow({ lines: [] }) && stock.isEmpty({ lines: [] }))`,
}

export const repairTasks: readonly RepairTask[] = [
  bug,
  rename,
  missingEntry,
  log,
  config,
  todo,
  duplicate,
  offByOne,
  move,
  conflict,
]
