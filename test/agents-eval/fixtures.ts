/** Texts for the projects of the tasks. They are the same in each run. */

const SUBJECTS = [
  'cart',
  'order',
  'invoice',
  'customer',
  'shipment',
  'stock',
  'coupon',
  'refund',
  'supplier',
  'review',
  'session',
  'audit',
] as const

/** Files of a project, by path. */
export type ProjectFiles = Readonly<Record<string, string>>

/** Creates a project with one module per subject, and the files of a task in addition to these or in place of them. */
export function createProject(files: ProjectFiles): ProjectFiles {
  const modules = SUBJECTS.map((subject): [string, string] => [`src/${subject}.js`, createModule(subject)])
  return {
    'package.json': '{ "name": "shop", "type": "module" }\n',
    ...Object.fromEntries(modules),
    ...files,
  }
}

/** Creates a module with four functions. */
export function createModule(subject: string): string {
  const name = subject.charAt(0).toUpperCase() + subject.slice(1)
  return `/** Functions for values of the type ${name}. */
export function create${name}(id, lines = []) {
  return { id, lines: [...lines], isClosed: false }
}

export function total${name}(${subject}) {
  let total = 0
  for (let index = 0; index < ${subject}.lines.length; index++) {
    total += ${subject}.lines[index].amount
  }
  return total
}

export function describe${name}(${subject}) {
  if (${subject}.lines.length === 0) return '${name} ' + ${subject}.id + ' is empty'
  return '${name} ' + ${subject}.id + ' has ' + ${subject}.lines.length + ' lines'
}

export function close${name}(${subject}) {
  if (${subject}.isClosed) throw new Error('${name} ' + ${subject}.id + ' is closed already')
  return { ...${subject}, isClosed: true }
}
`
}

/** Creates a module of 60 functions, with one of them in the middle. */
export function createLongModule(middle: string): string {
  const functions = Array.from(
    { length: 59 },
    (_, index) => `/** Returns the values above the limit ${index + 1}, each divided by it. */
export function scaleAbove${index + 1}(values) {
  const limit = ${index + 1}
  const above = values.filter((value) => value > limit)
  return above.map((value) => value / limit)
}
`,
  )
  return [...functions.slice(0, 31), middle, ...functions.slice(31)].join('\n')
}

/** Creates a list of countries as JSON, ordered by code, without one of them. */
export function createCountries(missing: string): string {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const codes = letters.flatMap((first) => [...'ADEGLMORU'].map((second) => first + second))
  const countries = codes
    .filter((code) => code !== missing)
    .map((code, index) => ({ code, currency: `${code}D`, calling: `+${200 + index}` }))
  return `${JSON.stringify(countries, null, 2)}\n`
}

/** Creates a log of 1,200 lines with warnings, and with one error after 700 lines. */
export function createLog(error: string): string {
  const lines = Array.from({ length: 1200 }, (_, index) => {
    const time = new Date(Date.UTC(2026, 0, 5, 2, 0, index)).toISOString()
    const order = 4000 + index
    if (index === 700) return `${time} ERROR ${error}`
    if (index % 40 === 7) return `${time} WARN  order ${order}: the address has no house number`
    return `${time} INFO  order ${order}: imported ${1 + (index % 9)} lines in ${3 + (index % 17)} ms`
  })
  return `${lines.join('\n')}\n2026-01-05T02:20:01.000Z INFO  import ended: 1199 of 1200 orders\n`
}

/** Creates the configuration of 24 services; one of them spells a key differently. */
export function createServices(key: string, wrongKey: string): ProjectFiles {
  const services = Array.from({ length: 24 }, (_, index): [string, string] => {
    const name = `service-${String(index + 1).padStart(2, '0')}`
    return [`services/${name}.yaml`, createService(name, index, index === 16 ? wrongKey : key)]
  })
  return Object.fromEntries(services)
}

function createService(name: string, index: number, timeoutKey: string): string {
  return `name: ${name}
image: registry.example/${name}:1.${index}
replicas: ${1 + (index % 3)}
ports:
  - ${8000 + index}
limits:
  memory_mb: ${256 + 64 * (index % 4)}
  cpu: 0.5
health:
  path: /health
  interval_ms: 10000
  ${timeoutKey}: ${1000 + 100 * index}
environment:
  LOG_LEVEL: info
  REGION: eu-west
`
}
