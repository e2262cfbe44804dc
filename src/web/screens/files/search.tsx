import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { TreeName } from '../../../web-api/index.ts'
import { call } from '../../client/api.ts'
import { formatCount } from '../../parts/format.ts'
import { useKeys } from '../../parts/keyboard.ts'
import { Notice } from '../../parts/notice.tsx'
import { useResource } from '../../parts/resource.ts'
import { VisiblePath, VisibleText } from '../../parts/visible-text.tsx'
import { updateQuery } from '../../router.ts'

const MAX_MATCHES = 500

export interface SearchFormProps {
  readonly text: string
  readonly onSearch: (text: string) => void
}

/** The field for a text to look for in all files. */
export function SearchForm({ text, onSearch }: SearchFormProps): VNode {
  const [value, setValue] = useState(text)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => setValue(text), [text])
  useKeys([{ key: '/', label: 'Search in these files', run: () => field.current?.focus() }])
  return (
    <search class="search">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          onSearch(value)
        }}
      >
        <input
          ref={field}
          type="search"
          class="field"
          aria-label="Search in these files"
          placeholder="Search in these files"
          value={value}
          onInput={(event) => setValue(event.currentTarget.value)}
        />
      </form>
    </search>
  )
}

/** Lines with a text, at the moment that is shown. */
export function SearchResults({ tree, text }: { readonly tree: TreeName; readonly text: string }): VNode {
  const found = useResource(`${tree} ${text}`, (signal) =>
    call('searchFiles', { tree, path: '/', query: text, ignoreCase: true, limit: MAX_MATCHES }, signal),
  )
  const matches = found.value.value?.matches
  return (
    <section class="file" aria-label="Search results">
      <header class="file-head">
        <h2>
          <VisibleText text={`“${text}”`} />
        </h2>
        {matches && (
          <span class="soft" role="status">
            {formatCount(matches.length, 'line')}
            {found.value.value?.isCut && ' and more'}
          </span>
        )}
        <button
          type="button"
          class="button small push-end"
          onClick={() => updateQuery({ search: undefined })}
        >
          Close
        </button>
      </header>
      {found.error.value && <Notice title={found.error.value.message} tone="bad" />}
      {matches?.length === 0 && <Notice title="No line has this text at this moment" />}
      <ul class="matches">
        {matches?.map(({ path, line, text: content }) => (
          <li key={`${path}:${line}`}>
            <button
              type="button"
              class="change-name"
              onClick={() => updateQuery({ path, line, search: undefined, view: undefined })}
            >
              <span class="mono match-place">
                <VisiblePath path={path} />:{line}
              </span>
              <span class="mono change-path soft">
                <VisibleText text={content.trim()} />
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
