import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { WebQuestion } from '../../web-api/index.ts'
import { call } from '../client/api.ts'
import { useAction } from './action.ts'
import { Notice } from './notice.tsx'
import { VisibleText } from './visible-text.tsx'

type Answer = string | readonly string[]

/** Asks the questions of a process and sends the answers. */
export function QuestionForm({ question: { id, questions } }: { readonly question: WebQuestion }): VNode {
  const [answers, setAnswers] = useState<readonly Answer[]>(() =>
    questions.map(({ isMulti }) => (isMulti ? [] : '')),
  )
  const sending = useAction(() => call('answerQuestion', { id, answers }))
  const setAnswer = (index: number, answer: Answer) => setAnswers(answers.with(index, answer))
  const isComplete = answers.every((answer) => answer.length > 0)
  return (
    <form
      class="questions"
      onSubmit={(event) => {
        event.preventDefault()
        if (isComplete) sending.run()
      }}
    >
      {questions.map(({ question, options, isMulti }, index) => (
        <fieldset key={question}>
          <legend>
            <VisibleText text={question} />
          </legend>
          {options.length === 0 ? (
            <input
              class="field wide-field"
              aria-label="Answer"
              value={String(answers[index])}
              onInput={(event) => setAnswer(index, event.currentTarget.value)}
            />
          ) : (
            <Options
              name={`${id}-${index}`}
              options={options}
              isMulti={isMulti}
              answer={answers[index] ?? ''}
              onAnswer={(answer) => setAnswer(index, answer)}
            />
          )}
        </fieldset>
      ))}
      <div>
        <button type="submit" class="button main" disabled={!isComplete || sending.isRunning}>
          Answer
        </button>
      </div>
      {sending.error && <Notice title={sending.error.message} tone="bad" />}
    </form>
  )
}

interface OptionsProps {
  readonly name: string
  readonly options: readonly string[]
  readonly isMulti: boolean
  readonly answer: Answer
  readonly onAnswer: (answer: Answer) => void
}

function Options({ name, options, isMulti, answer, onAnswer }: OptionsProps): VNode {
  const isChosen = (option: string) => (Array.isArray(answer) ? answer.includes(option) : answer === option)
  const toggle = (option: string) => {
    if (typeof answer === 'string') return onAnswer(option)
    onAnswer(isChosen(option) ? answer.filter((other) => other !== option) : [...answer, option])
  }
  return (
    <div class="options">
      {options.map((option) => (
        <label key={option}>
          <input
            type={isMulti ? 'checkbox' : 'radio'}
            name={name}
            checked={isChosen(option)}
            onChange={() => toggle(option)}
          />{' '}
          <VisibleText text={option} />
        </label>
      ))}
    </div>
  )
}
