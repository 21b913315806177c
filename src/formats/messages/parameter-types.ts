/** The expected types of the messages request parameters that conversion interprets. */

import { REASONING_TYPES, SAMPLING_TYPES, typeChecker } from '../../conversation/parameter-types.ts'

export const refuseWrongTypes = typeChecker(
  {
    ...SAMPLING_TYPES,
    ...REASONING_TYPES,
    system: 'text or list',
    stop_sequences: 'list',
    'stop_sequences.*': 'text',
    tools: 'list',
    'tools.*.name': 'text',
    'tools.*.description': 'text',
    'tools.*.input_schema': 'object',
    'tools.*.strict': 'boolean',
    tool_choice: 'object',
    'tool_choice.name': 'text',
    'tool_choice.disable_parallel_tool_use': 'boolean',
    metadata: 'object',
    'metadata.user_id': 'text',
    output_config: 'object',
    'output_config.effort': 'text',
    'output_config.format': 'object',
    output_format: 'object',
  },
  'dots',
)
