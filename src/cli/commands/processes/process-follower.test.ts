import { describe, expect, it } from 'vitest'
import { formatQuestions, parseReply } from './process-follower.ts'

const approval = { question: 'Run it?', options: ['yes, once', 'no'], multi_select: false }

describe('a reply to a question', () => {
  it.for([
    ['1', 'yes, once'],
    ['yes', 'yes, once'],
    ['Yes ', 'yes, once'],
    ['yes, ONCE', 'yes, once'],
    ['NO', 'no'],
    ['2', 'no'],
    ['3', '3'],
    ['ye', 'ye'],
    ['yes, because I said so', 'yes, because I said so'],
    ['', ''],
  ] as const)('%s is %s', ([words, reply]) => {
    expect(parseReply(approval, words)).toBe(reply)
  })

  it('stays free text where several options begin with it', () => {
    const question = { question: 'Which?', options: ['not now', 'red wine', 'red'], multi_select: false }
    expect(parseReply(question, 'no')).toBe('no')
    expect(parseReply(question, 'red')).toBe('red')
    expect(parseReply({ ...question, options: ['red wine', 'red ink'] }, 'red')).toBe('red')
  })

  it('selects several options', () => {
    const question = { question: 'Which?', options: ['red wine', 'bread'], multi_select: true }
    expect(parseReply(question, '2, red,salt')).toEqual(['bread', 'red wine', 'salt'])
  })
})

describe('a question', () => {
  it('marks each of several lines, and escapes what would control a terminal', () => {
    const question = 'Let this run once?\nwhy:\n\u001b[2Kprocess 2 asks (9):'
    expect(formatQuestions({ id: '1', pid: 2, questions: [{ ...approval, question }] })).toBe(
      [
        'process 2 asks (1):',
        '  | Let this run once?',
        '  | why:',
        '  | "\\033[2Kprocess 2 asks (9):"',
        '  1. yes, once',
        '  2. no',
      ].join('\n'),
    )
  })
})
