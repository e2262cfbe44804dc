import { escapeName } from '../../../text/index.ts'
import { withDaemon } from '../../access/daemon-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { CommandError } from '../../framework/errors.ts'
import { formatQuestions, parseReply } from './process-follower.ts'

export const answer: Command = defineCommand(
  {
    name: 'answer',
    summary: 'Answer the questions of a process, or list them',
    details: `A process asks while it is followed: coppice spawn --follow, coppice attach.
Give one word or quoted text per question; a number selects an option, and so do its first words.`,
    scope: 'home',
    arguments: {
      id: { summary: 'Number of the question, in brackets after "asks"', isOptional: true },
      answers: { summary: 'An answer for each question', isOptional: true, isList: true },
    },
    examples: ['coppice answer', 'coppice answer 1 yes', 'coppice answer 2 1 "as it was before"'],
  },
  (call) =>
    withDaemon(call, async (client) => {
      const waiting = await client.call('questions', {}, call.terminal.signal)
      const id = call.optionalArgument('id')
      if (id === undefined) {
        const text = waiting.map(formatQuestions).join('\n')
        return call.output.writeValue(waiting, text || 'no question waits for an answer')
      }
      const pendingQuestions = waiting.find((questions) => questions.id === id)
      if (pendingQuestions === undefined)
        throw new CommandError(`there is no question ${id}; coppice answer lists open questions`)
      const answers = call.argumentList('answers').map((words, index) => {
        const question = pendingQuestions.questions[index]
        return question === undefined ? words : parseReply(question, words)
      })
      await client.call('answer', { id, answers }, call.terminal.signal)
      const given = answers.flat().map(escapeName).join('; ')
      return call.output.writeValue({ id, answers }, `answered question ${id}: ${given}`)
    }),
)
