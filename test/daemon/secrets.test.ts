import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { call, openScene, script } from '../support/agent-home.ts'

const secrets = {
  SERVICE_TOKEN: 'hush-hush-hush',
  DEPLOY_KEY: 'first "line" of it\nsecond line of it',
  DB_PASS: 'p@ss/word&more',
  SIGNING_CREDENTIALS: 'opaque-credentials-value',
}
const environment = {
  ...secrets,
  DATABASE_URL: 'postgres://app:topsecretpw@db/shop',
  GIT_AUTHOR_NAME: 'Anna Smith',
}

/** Parts that occur only in the secrets. */
const traces = [
  'hush-hush',
  'second line of it',
  'ss/word',
  'ss%2Fword',
  'opaque-cred',
  'topsecretpw',
  'nobodyknows',
]

const said = [
  ...Object.values(secrets),
  environment.DATABASE_URL,
  'https://x.example/?key=p%40ss%2Fword%26more',
  'Authorization: Bearer nobodyknowsthisone',
].join(' and ')

/** Returns every record and log of a home by file name. */
function recordsOf(directory: string): Map<string, string> {
  const data = join(directory, 'data')
  const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const kept = files
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => /\.(jsonl|log)$/.test(file))
  return new Map(kept.map((file) => [file, readFileSync(file, 'utf8')]))
}

it('no secret reaches a record, a log or a trace, whatever its way into a process', async () => {
  const { directory, agents } = await openScene(environment)
  const { signal } = new AbortController()
  const play = script(
    { action: 'plan', steps: [said] },
    call('/dev/null', { nested: { list: [said] } }),
    call('/dev/null', JSON.stringify({ twice: JSON.stringify({ said }) })),
    call(`/dev/none/${secrets.SERVICE_TOKEN}`, said),
    call(`tool ${said}`, {}),
    call('task_create', { subject: secrets.SERVICE_TOKEN, description: said }),
    { action: 'specialize', skill: secrets.SERVICE_TOKEN },
    { action: 'spawn', intent: said, agent: 'nobody' },
    { action: 'complete', result: `${'x '.repeat(32 * 1024 - 4)}${secrets.SERVICE_TOKEN} ${said}` },
  )
  const { pid } = await agents.spawn({ intent: `use ${said}`, script: play })
  expect(await agents.wait(pid)).toMatchObject({ exit_code: 0, step: 9 })
  // A script that fails, with the request in its reason.
  const strict = { name: 'strict.ndjson', text: JSON.stringify({ expect: { intent: 'else' }, say: 'x' }) }
  const failing = await agents.spawn({ intent: `fail ${said}`, script: strict })
  expect(await agents.wait(failing.pid)).toMatchObject({ exit_code: 1 })

  const kept = recordsOf(directory)
  for (const each of [pid, failing.pid]) {
    const [trace, logs] = [agents.trace(each, false, signal), agents.logs(each, false, signal)]
    kept.set(`trace ${each}`, JSON.stringify(await Array.fromAsync(trace)))
    kept.set(`logs ${each}`, JSON.stringify(await Array.fromAsync(logs)))
  }
  kept.set('ps', JSON.stringify(agents.ps(true)))
  kept.set('proc', JSON.stringify(await agents.steps(pid)))
  expect([...kept.keys()].filter((file) => file.endsWith('steps.jsonl'))).not.toEqual([])
  const leaks = [...kept].flatMap(([file, text]) =>
    traces.filter((part) => text.includes(part)).map((part) => `${file}: ${part}`),
  )
  expect(leaks).toEqual([])
  for (const text of kept.values()) expect(text).toContain('[redacted]')
})

it('a trace shows no part of a secret at the end of the examined text', async () => {
  const { agents } = await openScene(environment)
  // After its removal, the earlier text is short enough to show the part at the end.
  const key = `-----BEGIN PRIVATE KEY-----${'k'.repeat(438)}-----END PRIVATE KEY-----`
  const body = `{"a":"${key} ${secrets.SIGNING_CREDENTIALS}"}`
  const at = body.indexOf(secrets.SIGNING_CREDENTIALS)
  expect([at < 512, at + secrets.SIGNING_CREDENTIALS.length > 512]).toEqual([true, true])
  const { pid } = await agents.spawn({ intent: 'x', script: script(call('/dev/null', body), 'over') })
  await agents.wait(pid)
  const lines = await Array.fromAsync(agents.trace(pid, false, new AbortController().signal))
  expect(JSON.stringify(lines)).toContain('[redacted]')
  expect(JSON.stringify(lines)).not.toMatch(/opaque-/)
})

it('ordinary text is not redacted', async () => {
  const { agents } = await openScene({
    ...environment,
    EDITOR: 'vim',
    HOME: '/home/anna',
    AUTHOR: 'Anna Smith',
  })
  const plain = 'Anna Smith in /home/anna asks http://localhost:8080/a@b for the monkey'
  const { pid } = await agents.spawn({ intent: plain, script: script('over') })
  await agents.wait(pid)
  expect(agents.ps(true)).toMatchObject([{ intent: plain }])
})
