import { describe, expect, it } from 'vitest'
import { searchTools } from './search-tools.ts'

const tools = Object.entries({
  web_fetch: 'Fetch a web page and return its text.',
  web_search: 'Search the web.',
  lsp_rename: 'Rename a symbol in all files of the project.',
  file_tail: 'Read the last lines of a file; a page at a time.',
  cron_add: 'Run a task again and again.',
}).map(([name, description]) => ({ name, description, input_schema: {} }))

const search = (query: string) => searchTools(query, tools).map(({ name }) => name)

describe('searchTools', () => {
  it('returns the tool that matches most words first, and none that matches much fewer', () => {
    expect(search('fetch a web page')).toEqual(['web_fetch'])
    expect(search('the web')).toEqual(['web_fetch', 'web_search'])
  })

  it('prefers words of the name', () => {
    expect(search('search web pages')[0]).toBe('web_search')
    expect(search('file')).toEqual(['file_tail', 'lsp_rename'])
  })

  it('finds other forms of a word, and no parts inside of words', () => {
    expect(search('renaming symbols')).toEqual(['lsp_rename'])
    expect(search('renames')).toEqual(['lsp_rename'])
    expect(search('ask')).toEqual([])
  })

  it('returns nothing for words that all texts have', () => {
    expect(search('with the tool for a')).toEqual([])
    expect(search('')).toEqual([])
  })
})
