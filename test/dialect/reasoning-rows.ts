/** Test cases for the dialect words of the group `reasoning`; see rows.ts. */

import { expect } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import {
  both,
  budget,
  budgetIn,
  CHAT,
  effort,
  effortIn,
  LEVELS,
  MESSAGES,
  OFF,
  perWire,
  placesOfThought,
  RESPONSES,
  type Row,
  reasons,
  same,
  TEXTS,
  THOUGHT,
  withCall,
  withTool,
} from './row-parts.ts'

const budgetRow = (level: 'low' | 'medium' | 'high', tokens: number): Row => ({
  base: {
    [MESSAGES]: { reasoning: { parameter: 'budget' } },
    [CHAT]: { reasoning: { parameter: 'enable_thinking', budget_field: 'thinking_budget' } },
  },
  set: [{ reasoning: { budgets: { [level]: tokens } } }],
  asks: effort(level),
  check: seen => {
    const { parameter, budgetField } = seen.dialect.reasoning
    const isTold = parameter === 'budget' || (parameter === 'enable_thinking' && budgetField !== null)
    if (isTold) expect(budgetIn(seen)).toBe(seen.dialect.reasoning.budgets[level])
  },
})

const floorRow = (floor: 'medium' | 'high', tokens: number, asked: number): Row => ({
  base: perWire(wire => reasons(wire, wire === MESSAGES ? { budget_accepted: false } : {})),
  set: [{ reasoning: { budget_floors: { [floor]: tokens } } }],
  asks: budget(asked),
  check: seen => {
    const { budgetFloors, parameter, levels } = seen.dialect.reasoning
    if (parameter !== 'reasoning_effort' || levels === null) return
    const level = asked < budgetFloors.medium ? 'low' : asked < budgetFloors.high ? 'medium' : 'high'
    if (levels.includes(level)) expect(effortIn(seen)).toBe(level)
  },
})

export const REASONING_ROWS: Readonly<Record<string, Row>> = {
  'reasoning.parameter': {
    set: {
      [MESSAGES]: [{ reasoning: { parameter: 'budget' } }, { reasoning: { parameter: 'adaptive' } }],
      [CHAT]: [
        { reasoning: { parameter: 'reasoning_effort', levels: [...LEVELS] } },
        { reasoning: { parameter: 'thinking_type' } },
        { reasoning: { parameter: 'enable_thinking' } },
      ],
      [RESPONSES]: [{ reasoning: { parameter: 'reasoning_effort', levels: [...LEVELS] } }],
    },
    asks: effort('medium'),
    check({ wire, sent, dialect: { reasoning } }) {
      const thinking = sent.thinking as JsonObject | undefined
      switch (reasoning.parameter) {
        case 'budget':
          return expect(thinking?.type).toBe('enabled')
        case 'adaptive':
          return expect(thinking?.type).toBe('adaptive')
        case 'enable_thinking':
          return expect(typeof sent.enable_thinking).toBe('boolean')
        case 'thinking_type':
          if (wire === CHAT && reasoning.disable !== 'refused') expect(thinking).toEqual({ type: 'enabled' })
          return
        case 'reasoning_effort':
          if (wire === CHAT && reasoning.levels !== null) expect(reasoning.levels).toContain(sent.reasoning_effort)
          return expect(thinking).toBeUndefined()
        default:
          expect([thinking, sent.reasoning_effort, sent.reasoning, sent.output_config]).toEqual(
            Array(4).fill(undefined),
          )
      }
    },
  },
  'reasoning.levels': {
    base: perWire(wire => reasons(wire)),
    set: [{ reasoning: { levels: ['high'] } }],
    asks: effort('low'),
    check(seen) {
      const { levels, parameter } = seen.dialect.reasoning
      const sent = effortIn(seen)
      if (levels === null) expect(sent).toBeUndefined()
      else if (parameter === 'reasoning_effort' || parameter === 'adaptive') expect(levels).toContain(sent)
    },
  },
  'reasoning.by_default': {
    base: perWire(wire => ({ ...reasons(wire), sampling: { parameters: 'all_unless_thinking' } })),
    set: [{ reasoning: { by_default: true } }],
    asks: same({ temperature: 0.5 }),
    check({ sent, dialect: { sampling, reasoning } }) {
      if (sampling.parameters === 'all_unless_thinking')
        expect(sent.temperature).toBe(reasoning.byDefault ? undefined : 0.5)
    },
  },
  'reasoning.disable': {
    base: {
      [MESSAGES]: reasons(MESSAGES),
      [CHAT]: { reasoning: { parameter: 'thinking_type', levels: [...LEVELS] } },
      [RESPONSES]: { reasoning: { parameter: 'thinking_type', levels: [...LEVELS] } },
    },
    set: [{ reasoning: { disable: 'refused' } }],
    asks: OFF,
    check(seen) {
      const { disable, levels } = seen.dialect.reasoning
      if (disable !== 'refused') return
      expect(seen.text).not.toContain('"disabled"')
      expect(seen.sent.enable_thinking).not.toBe(false)
      if (levels !== null && !levels.includes('none')) expect(effortIn(seen)).not.toBe('none')
    },
  },
  'reasoning.display': {
    base: reasons(MESSAGES, { budget_accepted: false }),
    set: [{ reasoning: { display: 'on_request' } }],
    asks: { ...effort('high'), [MESSAGES]: { thinking: { type: 'enabled', budget_tokens: 2000 } } },
    check({ sent, dialect: { reasoning } }) {
      const thinking = sent.thinking as JsonObject | undefined
      if (thinking?.type === 'adaptive')
        expect(thinking.display).toBe(reasoning.display === 'on_request' ? 'summarized' : undefined)
    },
  },
  'reasoning.budget_accepted': {
    base: reasons(MESSAGES),
    set: [{ reasoning: { budget_accepted: false } }],
    asks: budget(2000),
    check({ sent, dialect: { reasoning } }) {
      if (reasoning.parameter !== 'adaptive') return
      expect((sent.thinking as JsonObject).type).toBe(reasoning.budgetAccepted ? 'enabled' : 'adaptive')
    },
  },
  'reasoning.budget_field': {
    base: { reasoning: { parameter: 'enable_thinking' } },
    set: [{ reasoning: { budget_field: 'thinking_budget' } }],
    asks: effort('low'),
    check: ({ sent, dialect: { reasoning } }) =>
      expect(sent.thinking_budget).toBe(reasoning.budgetField === null ? undefined : reasoning.budgets.low),
  },
  'reasoning.stream_only': {
    base: { reasoning: { parameter: 'enable_thinking' } },
    set: [{ reasoning: { stream_only: true } }],
    asks: effort('low'),
    check: ({ sent, dialect }) => expect(sent.enable_thinking).toBe(!dialect.reasoning.streamOnly),
  },
  'reasoning.beside_tools': {
    base: perWire(wire => reasons(wire)),
    set: [{ reasoning: { beside_tools: 'refused' } }, { reasoning: { beside_tools: 'explicit_none' } }],
    asks: both(withTool(), effort('low')),
    check(seen) {
      const { besideTools } = seen.dialect.reasoning
      if (besideTools !== 'accepted') expect(effortIn(seen)).toBe(besideTools === 'refused' ? undefined : 'none')
    },
  },
  'reasoning.budgets.low': budgetRow('low', 3000),
  'reasoning.budgets.medium': budgetRow('medium', 4000),
  'reasoning.budgets.high': budgetRow('high', 4500),
  'reasoning.budget_floors.medium': floorRow('medium', 3000, 3500),
  'reasoning.budget_floors.high': floorRow('high', 4200, 4500),
  'reasoning.field': {
    base: { reasoning: { echo: 'if_present' } },
    set: {
      [CHAT]: [{ reasoning: { field: 'reasoning' } }, { reasoning: { field: 'content_parts' } }],
      [RESPONSES]: [TEXTS],
    },
    asks: THOUGHT,
    check(seen) {
      const { echo, field } = seen.dialect.reasoning
      const places = Object.entries(placesOfThought(seen)).flatMap(([place, isThere]) => (isThere ? [place] : []))
      if (echo !== 'never' && (seen.wire === CHAT || field === 'item_content')) expect(places).toEqual([field])
    },
  },
  'reasoning.tag': {
    set: [{ reasoning: { tag: 'think' } }],
    asks: same({}),
    check: seen => expect(seen.reply?.tag).toBe(seen.dialect.reasoning.tag),
  },
  'reasoning.echo': {
    base: { [RESPONSES]: TEXTS },
    set: [{ reasoning: { echo: 'always' } }, { reasoning: { echo: 'if_present' } }],
    asks: THOUGHT,
    check(seen) {
      const { echo, field } = seen.dialect.reasoning
      if (seen.wire === CHAT || field === 'item_content') expect(placesOfThought(seen)[field]).toBe(echo !== 'never')
    },
  },
  'reasoning.echo_placeholder': {
    base: {
      [CHAT]: { reasoning: { echo: 'always' } },
      [RESPONSES]: { reasoning: { echo: 'always', field: 'item_content' } },
    },
    set: [{ reasoning: { echo_placeholder: '(none)' } }],
    asks: both(withTool(), withCall('call_1')),
    check(seen) {
      const { echo, echoPlaceholder } = seen.dialect.reasoning
      if (echo === 'always' && echoPlaceholder !== null) expect(seen.text).toContain(`:"${echoPlaceholder}"`)
    },
  },
}
