import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { LeaseNotes } from './lease-notes.ts'

function createNotes(): { readonly notes: LeaseNotes; readonly directory: string } {
  const directory = mkdtempSync(join(tmpdir(), 'coppice-notes-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return { notes: new LeaseNotes(directory), directory }
}

it('finds and lists what was written, until it is removed', () => {
  const { notes } = createNotes()
  notes.write('base', 'lease-1')
  expect(notes.find('base')).toMatchObject({ vault: 'base', lease: 'lease-1' })
  expect(notes.list()).toEqual([notes.find('base')])
  expect(notes.listAbandoned()).toEqual([])
  notes.remove('base')
  expect([notes.find('base'), notes.list()]).toEqual([undefined, []])
})

it('replaces a note in one step, and leaves nothing else', () => {
  const { notes, directory } = createNotes()
  notes.write('base', 'lease-1')
  const old = openSync(join(directory, 'base.json'), 'r')
  onTestFinished(() => closeSync(old))
  notes.write('base', 'lease-2')
  expect(JSON.parse(readFileSync(old, 'utf8'))).toMatchObject({ lease: 'lease-1' })
  expect(notes.find('base')).toMatchObject({ lease: 'lease-2' })
  expect(readdirSync(directory)).toEqual(['base.json'])
})

it('has no note of a name that no vault can have', () => {
  const { notes, directory } = createNotes()
  writeFileSync(`${directory}.json`, '{}')
  onTestFinished(() => rmSync(`${directory}.json`))
  const names = ['', 'a'.repeat(300), 'a\0b', `../${directory.slice(directory.lastIndexOf('/') + 1)}`]
  expect(names.map((name) => notes.find(name))).toEqual(names.map(() => undefined))
})

it('takes an empty note for none, and throws for one that cannot be read', () => {
  const { notes, directory } = createNotes()
  writeFileSync(join(directory, 'empty.json'), '')
  expect([notes.find('empty'), notes.list()]).toEqual([undefined, []])
  mkdirSync(join(directory, 'unreadable.json'))
  expect(() => notes.find('unreadable')).toThrow('EISDIR')
  expect(() => notes.list()).toThrow('EISDIR')
})
