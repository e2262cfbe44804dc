import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { MergeResolution, WebConflictSides } from '../../../web-api/index.ts'
import { isNarrow } from '../../parts/narrow.ts'
import { Notice } from '../../parts/notice.tsx'
import { toVisible } from '../../parts/visible-text.tsx'

type Side = 'theirs' | 'ours' | 'base'

const SIDES: readonly (readonly [Side, string])[] = [
  ['theirs', 'Theirs'],
  ['ours', 'Ours'],
  ['base', 'Base'],
]
const MARKERS = /^(?:<{7}|\|{7}|>{7})(?: |$)/m
/** The marker between two versions. It may also underline a heading. */
const SEPARATOR = /^={7}$/m

interface ConflictEditorProps {
  readonly sides: WebConflictSides
  readonly resolution: MergeResolution | undefined
  readonly onResolve: (resolution: MergeResolution | undefined) => void
}

/** Edits the merged text of a conflict beside one of its versions. */
export function ConflictEditor({ sides, resolution, onResolve }: ConflictEditorProps): VNode {
  const [text, setText] = useState(resolution && 'text' in resolution ? resolution.text : sides.merged.text)
  const [side, setSide] = useState<Side>('theirs')
  const hasMarkers = MARKERS.test(text) || hasSeparator(text, sides)
  return (
    <div class="editor">
      <p class="soft">Your version, beside</p>
      {/* biome-ignore lint/a11y/useSemanticElements: buttons are no fields of a form */}
      <div class="switch" role="group" aria-label="Compare with">
        {SIDES.map(([name, title]) => (
          <button
            key={name}
            type="button"
            class="button small"
            aria-pressed={name === side}
            onClick={() => setSide(name)}
          >
            {title}
          </button>
        ))}
      </div>
      <MergedText
        // An editor begins with its texts, and is opened again for another side or width.
        key={`${side} ${isNarrow.value}`}
        original={sides[side].text}
        originalLabel={SIDES.find(([name]) => name === side)?.[1] ?? ''}
        text={text}
        label={`Your version of ${toVisible(sides.path)}`}
        onChange={(next) => {
          setText(next)
          onResolve(undefined)
        }}
      />
      <div class="row-line">
        <button
          type="button"
          class="button"
          disabled={hasMarkers}
          onClick={() => onResolve({ path: sides.path, text, digest: sides.digest })}
        >
          Use this text
        </button>
        <span class="soft">
          {hasMarkers ? 'Remove the lines with <<<<<<<, ======= and >>>>>>> first.' : 'No marker is left.'}
        </span>
      </div>
    </div>
  )
}

/** Reports whether a text has the marker between versions. A line like it is none if a version has one too. */
function hasSeparator(text: string, { ours, theirs }: WebConflictSides): boolean {
  return SEPARATOR.test(text) && !SEPARATOR.test(ours.text) && !SEPARATOR.test(theirs.text)
}

interface MergedTextProps {
  readonly original: string
  readonly originalLabel: string
  readonly text: string
  readonly label: string
  readonly onChange: (text: string) => void
}

function MergedText(props: MergedTextProps): VNode {
  const host = useRef<HTMLDivElement>(null)
  const latest = useRef(props)
  latest.current = props
  const [failure, setFailure] = useState<string>()
  useEffect(() => {
    let editor: Disposable | undefined
    let isGone = false
    const open = async () => {
      const { openMergeEditor } = await import('./merge-editor.ts')
      const { onChange: _, ...texts } = latest.current
      if (isGone || host.current === null) return
      editor = openMergeEditor(host.current, {
        ...texts,
        isNarrow: isNarrow.value,
        onChange: (text) => latest.current.onChange(text),
      })
    }
    open().catch((error: unknown) => setFailure(String(error)))
    return () => {
      isGone = true
      editor?.[Symbol.dispose]()
    }
  }, [])
  if (failure !== undefined) return <Notice title={`The editor cannot be loaded: ${failure}`} tone="bad" />
  return <div class="merged-text" ref={host} />
}
