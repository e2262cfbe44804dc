import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Redactor } from '../kernel/index.ts'
import { type ProcessRecord, ProcessRecords } from './process-records.ts'

function recordOf(pid: number): ProcessRecord {
  const names = { intent: 'x', agent: null, provider: 'p', model: 'm', fork: null, vault: null }
  const end = { ended_at: null, exit_code: null, reason: '', result: '', tokens_used: 0 }
  const begun = { ppid: 0, started_at: '2026-01-01T00:00:00.000Z', state: 'running' } as const
  return { pid, uuid: `uuid-${pid}`, ...names, ...begun, ...end }
}

it('keeps the last thousand processes in memory and in a bounded file, and reports removed ones', () => {
  const directory = mkdtempSync(join(tmpdir(), 'coppice-records-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'processes.jsonl')
  const forgotten: string[] = []
  const redactor = new Redactor()
  const records = ProcessRecords.open(file, { redactor, onForget: ({ uuid }) => forgotten.push(uuid) })
  for (let pid = 1; pid <= 5000; pid++) {
    records.add(recordOf(pid))
    records.setProgress(pid, { step: 1, total: 2 })
    records.end(pid, { exit_code: 0, reason: '', result: '', tokens_used: 1 })
    if (pid % 500 === 0) expect(readFileSync(file, 'utf8').split('\n').length).toBeLessThanOrEqual(4001)
  }
  expect(records.all()).toHaveLength(1000)
  expect([1, 4000, 4001, 5000].map((pid) => records.getProgress(pid).step)).toEqual([0, 0, 1, 1])
  expect(forgotten).toEqual(Array.from({ length: 4000 }, (_, at) => `uuid-${at + 1}`))
  const again = ProcessRecords.open(file, { redactor })
  expect(again.all()).toEqual(records.all())
})
