import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { MergeView, unifiedMergeView } from '@codemirror/merge'
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view'

/** The texts of a merge editor. It is large, so this file is loaded when somebody edits a conflict. */
export interface MergeEditorOptions {
  /** Text to compare with, which stays as it is. */
  readonly original: string
  readonly originalLabel: string
  readonly text: string
  readonly label: string
  /** True to show both in one column. */
  readonly isNarrow: boolean
  readonly onChange: (text: string) => void
}

/** Opens an editor of a text beside another one, from which single changes can be taken. */
export function openMergeEditor(parent: HTMLElement, options: MergeEditorOptions): Disposable {
  // Styles that a script adds to a shadow root need no exception from the page's security policy.
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: 'open' })
  const view = options.isNarrow ? openOneColumn(root, options) : openTwoColumns(root, options)
  return { [Symbol.dispose]: () => view.destroy() }
}

function openTwoColumns(root: ShadowRoot, options: MergeEditorOptions): { destroy(): void } {
  const { original, originalLabel, text, label, onChange } = options
  return new MergeView({
    root,
    parent: root,
    a: { doc: original, extensions: [...createExtensions(originalLabel), EditorState.readOnly.of(true)] },
    b: { doc: text, extensions: [...createExtensions(label), reportChanges(onChange)] },
    revertControls: 'a-to-b',
    renderRevertControl: () => createButton('→', `Take this part of ${originalLabel}`),
  })
}

function openOneColumn(root: ShadowRoot, options: MergeEditorOptions): { destroy(): void } {
  const { original, originalLabel, text, label, onChange } = options
  const merge = unifiedMergeView({
    original,
    mergeControls: (type, action) => {
      const isTaking = type === 'reject'
      const button = isTaking
        ? createButton('Take', `Take this part of ${originalLabel}`)
        : createButton('Keep', 'Keep this part')
      button.addEventListener('mousedown', action)
      return button
    },
  })
  return new EditorView({
    root,
    parent: root,
    doc: text,
    extensions: [...createExtensions(label), reportChanges(onChange), merge],
  })
}

function createExtensions(label: string): Extension[] {
  return [
    lineNumbers(),
    // Shows control and bidirectional characters, which could make a text look like another one.
    highlightSpecialChars(),
    history(),
    keymap.of([...defaultKeymap, ...historyKeymap]),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
    createTheme(),
  ]
}

function reportChanges(onChange: (text: string) => void): Extension {
  return EditorView.updateListener.of(({ docChanged, state }) => {
    if (docChanged) onChange(state.doc.toString())
  })
}

function createButton(text: string, label: string): HTMLElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = text
  button.title = label
  button.setAttribute('aria-label', label)
  return button
}

/** The colours and sizes of the page, whose properties reach into the shadow root. */
function createTheme(): Extension {
  const dark = matchMedia('(prefers-color-scheme: dark)').matches
  return EditorView.theme(
    {
      '&': { color: 'var(--ink)', backgroundColor: 'var(--raised)', fontSize: 'var(--t2)' },
      '&.cm-focused': { outline: '2px solid var(--focus)' },
      '.cm-content': { fontFamily: 'var(--mono)', lineHeight: 'var(--row)', caretColor: 'var(--ink)' },
      '.cm-gutters': {
        color: 'var(--ink-soft)',
        backgroundColor: 'var(--sunken)',
        borderColor: 'var(--line)',
      },
      '&.cm-merge-a .cm-changedLine, .cm-deletedChunk': { backgroundColor: 'var(--remove)' },
      '&.cm-merge-b .cm-changedLine, .cm-inlineChangedLine': { backgroundColor: 'var(--add)' },
      '&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText': {
        background: 'var(--remove-strong)',
      },
      '&.cm-merge-b .cm-changedText': { background: 'var(--add-strong)' },
      '.cm-deletedChunk button': { color: 'var(--on-accent)', background: 'var(--accent)' },
    },
    { dark },
  )
}
